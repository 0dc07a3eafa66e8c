"""The real processes, as a person or a script would start them, and the folder they live in."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil

ROOT = Path(__file__).parents[2]
START_TIMEOUT_S = 150.0
STOP_TIMEOUT_S = 45.0


async def until(condition: Callable[[], bool], within_s: float, what: str) -> None:
    """Poll until the condition holds."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        await asyncio.sleep(0.02)


async def until_async(condition: Callable[[], Awaitable[bool]], within_s: float, what: str) -> None:
    """As `until`, for a condition that asks somebody."""
    deadline = time.monotonic() + within_s
    while not await condition():
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        await asyncio.sleep(0.05)


def lives(pid: int) -> bool:
    """Whether the process runs; remains that nobody collects do not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill(pid: int) -> None:
    """SIGKILL: no handler, no clean-up, no last word."""
    os.kill(pid, signal.SIGKILL)


def environment() -> dict[str, str]:
    """What a process gets: our code, no screen, no keyring of this machine."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }


class Process:
    """A process of ours with its output in a file. Killed at the latest when the test ends."""

    def __init__(
        self, words: list[str], log: Path, *, stdin: str | None = None, secrets: Mapping[str, str] | None = None
    ) -> None:
        """Start `python -m WORDS`; `stdin` is written to it, without it its input stays open until `close_input`.

        `secrets`: further variables of its environment.
        """
        self.log = log
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=ROOT,
                env={**environment(), **(secrets or {})},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        if stdin is not None:
            assert self._popen.stdin is not None
            self._popen.stdin.write(stdin.encode())
            self._popen.stdin.close()

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def running(self) -> bool:
        return self._popen.poll() is None

    def words(self) -> str:
        """What it said so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def close_input(self) -> None:
        if self._popen.stdin is not None and not self._popen.stdin.closed:
            self._popen.stdin.close()

    def tell(self, number: int) -> None:
        self._popen.send_signal(number)

    async def ended(self, within_s: float) -> int:
        """Its exit code; negative is the signal that ended it."""
        await until(lambda: not self.running, within_s, f"the end of {self.log.name}\n{self.words()[-3000:]}")
        code = self._popen.wait()
        self.close_input()
        return code

    async def end(self) -> None:
        if self.running:
            self._popen.kill()
        await self.ended(10)


@dataclass(frozen=True)
class StackFacts:
    """`stack.json` of a demo that stays."""

    data: Path
    console_data: Path
    dsn: str
    api_url: str
    sandbox_url: str
    terminal: str
    terminal_control_port: int
    database_socket: Path | None
    pids: Mapping[str, int]
    passwords: Mapping[str, str]
    page_url: str = ""

    @classmethod
    def read(cls, path: Path) -> Self:
        found = json.loads(path.read_text(encoding="utf-8"))
        socket = found["database_socket"]
        return cls(
            data=Path(found["data"]),
            console_data=Path(found["console_data"]),
            dsn=found["dsn"],
            api_url=found["api_url"],
            sandbox_url=found["sandbox_url"],
            terminal=found["terminal"],
            terminal_control_port=found["terminal_control_port"],
            database_socket=Path(socket) if socket else None,
            pids=found["pids"],
            passwords=found["passwords"],
            page_url=found["page_url"],
        )


class Demo(Process):
    """`python -m booking demo … --stay` on a folder."""

    def __init__(self, data: Path, *words: str) -> None:
        data.mkdir(mode=0o711, exist_ok=True)
        self.data = data
        log = data / f"demo-{time.monotonic_ns()}.txt"
        super().__init__(["booking", "demo", "--data", str(data), "--stay", *words], log)

    async def is_up(self) -> StackFacts:
        """Wait until it says that the stack is up."""
        path = self.data / "stack.json"

        def there() -> bool:
            assert self.running, self.words()
            return path.exists() and StackFacts.read(path).pids["demo"] == self.pid

        await until(there, START_TIMEOUT_S, f"{path}\n{self.words()[-3000:]}")
        return StackFacts.read(path)

    async def stop(self) -> int:
        """End it as a script does: close its standard input."""
        self.close_input()
        return await self.ended(STOP_TIMEOUT_S)


def demo_folder() -> Path:
    """A new folder that the database's account may pass through; pytest's own folders are closed to it."""
    folder = Path(tempfile.mkdtemp(prefix="taquilla-e2e-"))
    folder.chmod(0o711)
    return folder / "data"


async def ready(path: Path, process: Process, within_s: float = 60.0) -> dict[str, Any]:
    """The content of a ready file, once its process works."""

    def there() -> bool:
        assert process.running, process.words()
        return path.exists()

    await until(there, within_s, f"{path}\n{process.words()[-3000:]}")
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


@asynccontextmanager
async def api_process(dsn: str, sandbox_url: str, folder: Path, *, port: int = 0) -> AsyncIterator[tuple[Process, str]]:
    """One more API process on the same authority. Yields it and its base URL."""
    mark = time.monotonic_ns()
    ready_file = folder / f"api-{mark}.json"
    words = ["booking", "serve", "--dsn", dsn, "--sandbox-url", sandbox_url, "--port", str(port)]
    process = Process([*words, "--ready-file", str(ready_file), "--parent-pid", str(os.getpid())],
                      folder / f"api-{mark}.txt")  # fmt: skip
    try:
        facts = await ready(ready_file, process)
        yield process, f"http://127.0.0.1:{facts['port']}"
    finally:
        await process.end()


async def check_invariants(dsn: str) -> list[dict[str, Any]]:
    """The breaches that `check --json` finds (R39)."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "booking", "check", "--dsn", dsn, "--json",
        cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, words = await process.communicate()
    assert process.returncode in {0, 1}, words.decode()
    breaches: list[dict[str, Any]] = json.loads(output)["breaches"]
    assert (process.returncode == 1) == bool(breaches)
    return breaches
