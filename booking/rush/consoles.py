"""Real consoles beside the fans, as processes whose windows nobody sees: a clerk's, an operator's, one on the wall."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from booking.child_process import end, spawn
from booking.rush.announced import Announcement
from booking.rush.own_stack import STOPS_WITHIN_S, StackError

COUNTER, OPERATIONS, WALL = "counter", "operations", "wall"
_READY_WITHIN_S = 120.0
_ENDS_WITHIN_S = 150.0
"""Payments that are unclear, and the last pictures, take their time on a machine that is busy."""
_LOOK_S = 0.1
_LAST_WORDS = 1_500
_LOOKS = {
    COUNTER: ("--theme", "light", "--size", "1280x800"),
    OPERATIONS: ("--theme", "light", "--size", "1280x800"),
    WALL: ("--theme", "dark", "--size", "1920x1080"),
}
_UNSEEN = {"QT_QPA_PLATFORM": "offscreen", "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
"""No screen, and no keyring of this machine."""


@dataclass(frozen=True, slots=True)
class RunningConsole:
    """One console: its process, its report as it goes, its words."""

    name: str
    process: asyncio.subprocess.Process
    report: Path
    log: Path

    def told(self) -> dict[str, Any]:
        """What it reported last; empty before that."""
        try:
            found: dict[str, Any] = json.loads(self.report.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return found

    async def reached(self, step: str) -> None:
        """Wait until its report says so.

        Raises:
            StackError: it ended before, or does not get there.
        """
        until = time.monotonic() + _READY_WITHIN_S
        while self.told().get("step") != step:
            if self.process.returncode is not None or time.monotonic() > until:
                raise StackError(f"the console ({self.name}) is not {step}. {self._last_words()}")
            await asyncio.sleep(_LOOK_S)

    async def ended(self) -> dict[str, Any]:
        """Wait for its own end: its report, with a problem in it where it did not end well."""
        try:
            async with asyncio.timeout(_ENDS_WITHIN_S):
                await self.process.wait()
        except TimeoutError:
            await end(self.process, STOPS_WITHIN_S)
        told = {"sales": [], "pictures": [], "problems": [], **self.told()}
        if not told.get("done") or (self.process.returncode != 0 and not told["problems"]):
            words = f"the console ({self.name}) ended with code {self.process.returncode}. {self._last_words()}"
            told["problems"] = [*told["problems"], words]
        return told

    def _last_words(self) -> str:
        problems = "; ".join(self.told().get("problems", []))
        return f"{problems}\n{self.log.read_text(encoding='utf-8', errors='replace')[-_LAST_WORDS:]}".strip()


@asynccontextmanager
async def consoles(announcement: Announcement, folder: Path) -> AsyncIterator[dict[str, RunningConsole]]:
    """All of them, ready for the opening; their reports and pictures go to `folder`. At the end they are gone.

    Raises:
        StackError: one of them did not get ready.
    """
    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="taquilla-consoles-")))
        running = {}
        for name, looks in _LOOKS.items():
            words = ["app", "--shift", name, "--join", str(announcement.path), "--data", str(data / name)]
            report, log = folder / f"{name}.json", data / f"{name}.log"
            report.unlink(missing_ok=True)
            words += ["--report", str(report), "--pictures", str(folder), "--language", "en", *looks]
            words += ["--parent-pid", str(os.getpid())]
            with log.open("wb") as file:
                process = await spawn(words, stdout=file.fileno(), stderr=file.fileno(), environment=_UNSEEN)
            stack.push_async_callback(end, process, STOPS_WITHIN_S)
            running[name] = RunningConsole(name, process, report, log)
        await asyncio.gather(*(console.reached("ready") for console in running.values()))
        yield running
