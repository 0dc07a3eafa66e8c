"""How it stands, as one process knows it: the newest second, its own part, and since when it has heard nothing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

from booking.figures.model import HeardReport, ProcessPart, ProcessReport, Second
from booking.figures.sums import Sums


class Standing:
    """Written by the process's watcher, read by whoever shows it. Used from one event loop."""

    def __init__(self, process_id: UUID) -> None:
        self.process_id = process_id
        self.second: Second | None = None
        self.own: ProcessPart | None = None
        self.heard_at: datetime | None = None
        """When the database answered last, by its own time."""
        self.is_away = True
        self.number = 0
        """Rises with each word, also with those that say that nothing was heard."""
        self._offset = timedelta()
        self._sums = Sums()
        self._told = asyncio.Event()

    def server_time(self) -> datetime:
        """The database's time, as near as its last answer tells."""
        return datetime.now(UTC) + self._offset

    def heard(self, report: ProcessReport, now: datetime, second: Second | None) -> None:
        """The database has taken the process's report, and given the newest second."""
        self._offset = now - datetime.now(UTC)
        self.heard_at, self.is_away = now, False
        self.second = second or self.second
        self._put_own(report, now)
        self._tell()

    def heard_nothing(self, report: ProcessReport) -> None:
        """It did not answer: what is known stays, the process's own part goes on."""
        self.is_away = True
        self._put_own(report, self.server_time())
        self._tell()

    def _put_own(self, report: ProcessReport, now: datetime) -> None:
        summed = self._sums.add([HeardReport(heard_at=now, report=report)], int(now.timestamp()), now)
        self.own = summed.parts[0]

    def _tell(self) -> None:
        self.number += 1
        told, self._told = self._told, asyncio.Event()
        told.set()

    async def wait(self, timeout_s: float) -> None:
        """Until there is another word, or for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._told.wait()
