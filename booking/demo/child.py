"""One process of the demo: started until it is ready, watched, started again when it dies, stopped in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from booking import child_process
from booking.demo.progress import say

READY_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
FIRST_BACK_OFF_S = 0.5
LONGEST_BACK_OFF_S = 30.0
# A process that ran this long was well: its next death starts the back-off from the beginning.
WELL_AFTER_S = 60.0
_READY_POLL_S = 0.02
LARGEST_LOG_BYTES = 4 * 1024 * 1024


class ChildError(Exception):
    """A process did not become ready. The text names its log."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What a process wrote once it really worked. Ports are on loopback."""

    pid: int
    port: int | None = None
    control_port: int | None = None
    url: str | None = None

    def address(self) -> str:
        """The base URL of an HTTP process."""
        return self.url or f"http://127.0.0.1:{self.port}"


class Child:
    """A child process with a ready file and a log file.

    After the first start its ports are named on the command line, so that a restart is found at the same address.
    """

    def __init__(
        self,
        name: str,
        module: Sequence[str],
        folder: Path,
        *,
        ports: Sequence[str] | Mapping[str, int] = (),
        environment: dict[str, str] | None = None,
    ) -> None:
        """Nothing runs before `start`.

        Args:
            name: what people read, and the name of its log.
            module: `-m` and what follows.
            folder: the demo's data folder.
            ports: which of `--port` and `--control-port` it takes; a mapping names the ports of the first start.
            environment: added to ours; secrets go here, never on the command line.
        """
        self.name = name
        self.log_file = folder / "logs" / f"{name}.log"
        self._module = list(module)
        self._ready_file = folder / "run" / f"{name}.json"
        self._environment = environment
        self._ports: dict[str, int] = dict(ports) if isinstance(ports, Mapping) else dict.fromkeys(ports, 0)
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self._ready: Ready | None = None

    @property
    def ready(self) -> Ready:
        """What it told when it became ready last."""
        if self._ready is None:
            raise ChildError(f"{self.name} is not started")
        return self._ready

    async def start(self) -> Ready:
        """Start the process and wait until it says that it works."""
        self._ready_file.unlink(missing_ok=True)
        words = [*self._module]
        for option, port in self._ports.items():
            words += [option, str(port)]
        words += ["--ready-file", str(self._ready_file), "--parent-pid", str(os.getpid())]
        self._process = await spawn(words, self.log_file, environment=self._environment)
        self._ready = await self._wait_until_ready(self._process)
        given = {"--port": self._ready.port, "--control-port": self._ready.control_port}
        self._ports = {option: given.get(option) or port for option, port in self._ports.items()}
        return self._ready

    def add_words(self, *words: str) -> None:
        """Words of its command line from its next start on: what was not known at the first."""
        self._module += words

    async def keep_alive(self) -> None:
        """Report each death and start it again, waiting longer each time. Runs until cancelled or stopped."""
        pause_s = FIRST_BACK_OFF_S
        while self._process is not None and not self._stopping.is_set():
            started = time.monotonic()
            code = await self._process.wait()
            if self._stopping.is_set():
                return
            if time.monotonic() - started > WELL_AFTER_S:
                pause_s = FIRST_BACK_OFF_S
            say(f"{self.name} ended ({exit_words(code)}); starting it again in {pause_s:g} s. Log: {self.log_file}")
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_BACK_OFF_S)
            try:
                ready = await self.start()
                say(f"{self.name} is back (process {ready.pid})")
            except Exception as error:  # noqa: BLE001 - no memory, a full disk: a keeper that ends keeps nothing
                say(f"{self.name} could not be started again: {str(error) or type(error).__name__}")

    async def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """SIGTERM, and SIGKILL to its whole group after the deadline."""
        self._stopping.set()
        if self._process is not None:
            await end_process(self._process, self.name, timeout_s)

    async def _wait_until_ready(self, process: asyncio.subprocess.Process) -> Ready:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while True:
            with contextlib.suppress(FileNotFoundError, ValueError):  # ValueError: written by half
                facts = json.loads(self._ready_file.read_text(encoding="utf-8"))
                return Ready(facts["pid"], facts.get("port"), facts.get("control_port"), facts.get("url"))
            if process.returncode is not None:
                words = exit_words(process.returncode)
                raise ChildError(f"{self.name} did not start ({words}). {last_words(self.log_file)}")
            if time.monotonic() > deadline:
                await end_process(process, self.name, timeout_s=1.0)
                raise ChildError(
                    f"{self.name} was not ready after {READY_TIMEOUT_S:.0f} s. {last_words(self.log_file)}"
                )
            await asyncio.sleep(_READY_POLL_S)


async def spawn(
    module: Sequence[str],
    log_file: Path,
    *,
    stdin: int = asyncio.subprocess.DEVNULL,
    environment: dict[str, str] | None = None,
) -> asyncio.subprocess.Process:
    """Start `python -m MODULE` with its output in a log file."""
    with _open_log(log_file) as log:
        return await child_process.spawn(
            module, stdout=log.fileno(), stderr=log.fileno(), stdin=stdin, environment=environment
        )


def _open_log(log_file: Path) -> IO[bytes]:
    log_file.parent.mkdir(parents=True, exist_ok=True)
    turn_log(log_file)
    return log_file.open("ab")


def turn_log(log_file: Path) -> None:
    """Once it is large, keep what it holds as the one older log and begin again.

    A process may be writing to it: the file stays the same and is emptied, and whoever appends goes on at its start.
    """
    if log_file.exists() and log_file.stat().st_size > LARGEST_LOG_BYTES:
        shutil.copyfile(log_file, log_file.with_suffix(".log.1"))
        os.truncate(log_file, 0)


async def end_process(process: asyncio.subprocess.Process, name: str, timeout_s: float) -> None:
    """Ask the process to stop; end it and its group when it does not."""
    if not await child_process.end(process, timeout_s):
        say(f"{name} did not stop within {timeout_s:g} s; it was ended")


def exit_words(code: int) -> str:
    """`exit code 1`, or the signal's name."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


def last_words(log_file: Path, lines: int = 8) -> str:
    """The end of a log, for a message about a failure."""
    try:
        text = log_file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"It wrote nothing to {log_file}."
    tail = "\n".join(text.rstrip().splitlines()[-lines:])
    return f"Its last words in {log_file}:\n{tail}" if tail else f"It wrote nothing to {log_file}."
