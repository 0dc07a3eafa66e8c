"""Starts the referee and what stands before it, and stops them again."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

import httpx

ROOT = Path(__file__).parents[2]
KEY = "sk_test_of_the_referee"
HOOK_SECRET = "whsec_of_the_tests"
_WITHIN_S = 60.0


@dataclass(frozen=True)
class Lab:
    """Addresses: of the proxy (what the provider under test speaks to), the readers, and the referee itself."""

    api: str
    readers: str
    referee: str

    def control(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """A control call of the proxy."""
        answer = httpx.request(method, f"{self.api}/control/{path}", json=body)
        answer.raise_for_status()
        told: dict[str, object] = answer.json()
        return told

    def reader(self, name: str, mode: str = "approve", seconds: float = 0.05) -> None:
        httpx.post(f"{self.readers}/control/readers/{name}", json={"mode": mode, "seconds": seconds}).raise_for_status()

    def ask(self, method: str, path: str, data: dict[str, str] | None = None) -> dict[str, object]:
        """A call of the referee itself, past the proxy: the money as it really is."""
        answer = httpx.request(method, f"{self.referee}{path}", data=data, headers={"Authorization": f"Bearer {KEY}"})
        answer.raise_for_status()
        told: dict[str, object] = answer.json() if answer.content else {}
        return told


@contextmanager
def payments_lab(folder: Path) -> Iterator[Lab]:
    """localstripe, card readers before it, the fault proxy before both. One at a time on this machine.

    localstripe keeps one fixed file in the temporary folder, whoever runs it: hence the lock, and `--from-scratch`.
    """
    with (Path(gettempdir()) / "taquilla-payments-lab.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        port = _free_port()
        with _running(
            [sys.executable, "-m", "localstripe", "--port", str(port), "--from-scratch"], folder / "referee.log"
        ):
            referee = f"http://127.0.0.1:{port}"
            _wait_for(referee)
            with _own("reader_simulator", ["--upstream", referee], folder) as readers:
                words = ["--upstream", readers, "--secret", HOOK_SECRET]
                with _own("fault_proxy", words, folder) as proxy:
                    lab = Lab(proxy, readers, referee)
                    hook = {"url": f"{proxy}/hooks", "secret": HOOK_SECRET}
                    lab.ask("POST", "/_config/webhooks/lab", hook)
                    yield lab


@contextmanager
def _own(name: str, words: list[str], folder: Path) -> Iterator[str]:
    ready = folder / f"{name}.json"
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-m", f"tests.payments_lab.{name}", *words]
    command += ["--ready-file", str(ready), "--parent-pid", str(os.getpid())]
    with _running(command, folder / f"{name}.log"):
        until = time.monotonic() + _WITHIN_S
        while not ready.exists():
            if time.monotonic() > until:
                raise TimeoutError((folder / f"{name}.log").read_text())
            time.sleep(0.02)
        yield str(json.loads(ready.read_text())["url"])


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


def _free_port() -> int:
    with socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str) -> None:
    until = time.monotonic() + _WITHIN_S
    while True:
        try:
            httpx.get(url)
        except httpx.HTTPError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return
