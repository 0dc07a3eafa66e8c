"""What runs in processes of their own: the sandbox, the terminal, the API, the worker, the console.

The short form forks each from a server that has everything imported: a real process, started in some hundredths of a
second. With `anew` it is started as any Python process is, which the long form does.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.devices.zvt.simulator import __main__ as terminal_program
from booking.payments import sandbox_server
from booking.payments.sandbox_client import SandboxProvider
from booking.store.database import Database
from booking.web import serve as api_program
from booking.workers import work as worker_program
from booking.workers.payment_worker import PaymentWorker
from tests.matrix import consoles
from tests.matrix.deaths import Death, Step, arm, arm_before_opening

ROOT = Path(__file__).parents[2]
STARTS_WITHIN_S = 60.0
ENDS_WITHIN_S = 60.0
SLOW_S = 0.25
"""What a slow answer of the provider takes."""


def sandbox(ready_file: str, ledger: str, parent: int, port: int = 0, secret_file: str = "") -> None:
    """The provider."""
    words = ["--ready-file", ready_file, "--ledger", ledger, "--port", str(port), "--slow", str(SLOW_S)]
    words += ["--webhook-secret-file", secret_file] if secret_file else []
    sys.exit(sandbox_server.main([*words, "--parent-pid", str(parent)]))


def terminal(ready_file: str, state: str, parent: int, port: int = 0, control_port: int = 0) -> None:
    """The card terminal; it answers at once."""
    words = ["--ready-file", ready_file, "--state", state, "--port", str(port), "--control-port", str(control_port)]
    sys.exit(terminal_program.main([*words, "--delay", "0", "--parent-pid", str(parent)]))


def api(
    ready_file: str, dsn: str, parent: int, sandbox_url: str = "", port: int = 0,
    death: Mapping[str, str] | None = None, dies_before: str = "",
) -> None:  # fmt: skip
    """The API, whole; with `death` it dies there, with `dies_before` when a payment of `death`'s kind arrives."""
    if death is not None:
        wanted = Death(Step(death["step"]), death["kind"], death["mark"])
        if dies_before:
            arm_before_opening(wanted.kind, wanted.mark)
        else:
            arm(wanted)
    words = ["--dsn", dsn, "--ready-file", ready_file, "--port", str(port), "--rate-limits", "off"]
    words += ["--sandbox-url", sandbox_url] if sandbox_url else []
    sys.exit(api_program.main([*words, "--parent-pid", str(parent)]))


def worker_round(dsn: str, sandbox_url: str, death: Mapping[str, str]) -> None:
    """A payment worker that dies in its round."""
    arm(Death(Step(death["step"]), death["kind"], death["mark"]))
    asyncio.run(_one_round(dsn, sandbox_url))


async def _one_round(dsn: str, sandbox_url: str) -> None:
    db = await Database.open(dsn, lanes=False, application="matrix worker")
    provider = SandboxProvider(sandbox_url)
    try:
        await PaymentWorker(db, {"sandbox": provider}).work_once()
    finally:
        await provider.close()
        await db.close()


def worker(ready_file: str, dsn: str, sandbox_url: str, parent: int) -> None:
    """All workers, at their own pace."""
    words = ["--dsn", dsn, "--sandbox-url", sandbox_url, "--ready-file", ready_file, "--parent-pid", str(parent)]
    sys.exit(worker_program.main(words))


def console(**told: Any) -> None:
    """A console without a screen: it does one thing, and dies at a step of its journal."""
    asyncio.run(consoles.run(**told))


PROGRAMS: Mapping[str, Callable[..., None]] = {
    one.__name__: one for one in (sandbox, terminal, api, worker_round, worker, console)
}


def run(name: str, told: Mapping[str, Any], log: str) -> None:
    """Become one of the programs; what it says goes into `log`."""
    with Path(log).open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    PROGRAMS[name](**told)


class Started:
    """A running program."""

    def __init__(self, name: str, where: Path, *, anew: bool, **told: Any) -> None:
        self.log = where / f"{name}-{time.monotonic_ns()}.txt"
        self.log.touch()
        self._forked: Any = None
        self._popen: subprocess.Popen[bytes] | None = None
        if anew:
            told_as_text = json.dumps([name, told, str(self.log)])
            words = "import json, sys; from tests.matrix.processes import run; run(*json.loads(sys.argv[1]))"
            self._popen = subprocess.Popen(
                [sys.executable, "-c", words, told_as_text], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
            )
            return
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._forked = context.Process(target=run, args=(name, told, str(self.log)), daemon=True)
        self._forked.start()

    @property
    def pid(self) -> int:
        number: int = self._popen.pid if self._popen is not None else self._forked.pid
        return number

    @property
    def exit_code(self) -> int | None:
        """Negative is the signal that ended it; None while it runs."""
        code: int | None = self._popen.poll() if self._popen is not None else self._forked.exitcode
        return code

    def words(self) -> str:
        return self.log.read_text("utf-8", errors="replace")[-3_000:]

    async def ready(self, file: Path) -> dict[str, Any]:
        """What it says once it works."""
        async with asyncio.timeout(STARTS_WITHIN_S):
            while not file.exists():
                assert self.exit_code is None, self.words()
                await asyncio.sleep(0.005)
        facts: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return facts

    async def ended(self) -> int:
        """Wait for its end; its exit code."""
        async with asyncio.timeout(ENDS_WITHIN_S):
            while (code := self.exit_code) is None:
                await asyncio.sleep(0.005)
        return code

    async def kill(self) -> None:
        """SIGKILL, and wait for the end of it."""
        (self._popen if self._popen is not None else self._forked).kill()
        await self.ended()
