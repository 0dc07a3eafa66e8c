"""What both shifts share: signing in, waiting for the opening, ending well, and telling about it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from pathlib import Path
from time import time
from typing import Final

from app import hands
from app.core.errors import ConsoleError
from app.hands import HandsError
from app.main import DONE, FOUND_WRONG, Console
from app.shift.joining import JoinFile, Joining
from app.shift.reports import ReportFile

LOOK_S: Final = 0.1
START_S: Final = 60.0


class Shift(ABC):
    """One person's shift at one console. `drive` is given to `run_console`; its code says whether all went well."""

    def __init__(self, join: JoinFile, report: Path) -> None:
        self.join = join
        self.file = ReportFile(report)
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """The console that is driven."""
        if self._console is None:
            raise HandsError("the shift has not begun")
        return self._console

    async def drive(self, console: Console) -> int:
        """The shift from signing in to its end."""
        self._console = console
        report = self.file.report
        try:
            await self._begin(self.join.read())
            self.file.reach("ready")
            await self._until_open()
            self.file.reach("open")
            await self._work()
            self.file.reach("closing")
            await self._finish()
        except (HandsError, ConsoleError, ValueError) as error:
            report.problems.append(f"{type(error).__name__}: {error}")
        finally:
            report.problems += [f"unexpected failure: {failure}" for failure in console.crash.seen]
            report.done = True
            self.file.reach("end")
        return FOUND_WRONG if report.problems else DONE

    async def _begin(self, joining: Joining) -> None:
        deeds = self.console.deeds
        await hands.until(lambda: "start" not in deeds.running, "the console to start", START_S)
        await hands.sign_in(self.console, joining.credentials, START_S)
        await hands.until(lambda: not {"start", "sign-in"} & deeds.running, "what comes with the sign-in", START_S)
        await self._prepare(joining)

    async def _until_open(self) -> None:
        """Until the opening that the file tells, or until it says that everything is over."""
        while (joining := self.join.now()) is not None:
            if joining.starts_at is not None and time() >= joining.starts_at:
                return
            await asyncio.sleep(LOOK_S)

    @abstractmethod
    async def _prepare(self, joining: Joining) -> None:
        """Everything up to the opening, once somebody is signed in."""

    @abstractmethod
    async def _work(self) -> None:
        """From the opening until the file says that it is over."""

    @abstractmethod
    async def _finish(self) -> None:
        """What is left to do then."""
