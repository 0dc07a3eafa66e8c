"""The once-a-second task of every process: leave its part, and add everything up if it is its turn.

The turn is a lease in the database: whoever has it keeps it by reporting, and another process takes it over
`LEASE_S` after its last report. Reports are due in the middle of a second of the database's clock, sums at its
beginning, so that a sum has parts that are half a second old at most, and everybody reads it half a second later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from time import perf_counter, process_time

from booking import sql
from booking.domain.errors import AuthorityAwayError, UnavailableError
from booking.domain.figures import Figure
from booking.figures.alarm_keeper import AlarmKeeper
from booking.figures.collector import Collector
from booking.figures.history import keep_minute, keep_second, minute_before, newest_minute
from booking.figures.house import HouseReader
from booking.figures.model import AlarmPart, HeardReport, ProcessReport, Second, pack, unpack_known
from booking.figures.sales import Sales
from booking.figures.signals import newest_second
from booking.figures.standing import Standing
from booking.figures.sums import Sums
from booking.store.connection import Limits
from booking.store.database import Database

EVERY_S = 1.0
LEASE_S = 3.0
FORGOTTEN_AFTER_S = 600.0
SILENCE_TOLD_AFTER_S = 5.0
MAPS_OLD_AFTER_S = 5.0
"""A sequencer that is silent for longer: maps are old, and seats are counted in the database."""
OTHERS_LATER_S = 0.5
# What comes later than the next second is of no use to anybody.
FIGURE_LIMITS = Limits(lock_ms=300, statement_ms=800, idle_in_transaction_ms=2_000, transaction_ms=2_000)

log = logging.getLogger(__name__)


async def open_for_figures(dsn: str, program: str) -> Database:
    """Connections for figures alone: a process whose pools are full still tells that they are.

    Raises:
        AuthorityAwayError: nobody answers there.
    """
    return await Database.open(
        dsn, lanes=False, application=f"{program} figures", general_size=2, sale_size=1, limits=FIGURE_LIMITS
    )


class Watch:
    """See the module. `db` is the task's own, so that a full pool of the process keeps no figure from being told."""

    def __init__(
        self,
        db: Database,
        collector: Collector,
        *,
        may_watch: bool = True,
        clock: Callable[[], float] = lambda: asyncio.get_running_loop().time(),
    ) -> None:
        self.standing = Standing(collector.process_id)
        self.meter = collector.meter
        self.watches = False
        self.cpu_s = 0.0
        """CPU time that the task has taken of its process, in all."""
        self._db, self._collector, self._may_watch, self._clock = db, collector, may_watch, clock
        self._adder = _Adder(db, collector)

    async def run(self) -> None:
        """Once a second until cancelled; then the process's part is taken away."""
        try:
            while True:
                began = self._clock()
                try:
                    await self.once()
                except Exception:  # the one task that must go on, whatever is wrong in a second
                    log.exception("figures failed")
                planned = self._next_at(began)
                await asyncio.sleep(max(0.0, planned - self._clock()))
                self._collector.loop_lag_s = max(0.0, self._clock() - planned)
        finally:
            with suppress(UnavailableError):
                await self._db.fetch(sql.query("forget_process"), self._collector.process_id)

    async def once(self) -> None:
        """One second: report, and add up or read what another one has."""
        used = process_time()
        report = self._collector.report()
        try:
            now = await self._report(report)
        except UnavailableError as error:
            if not self.standing.is_away:
                log.warning("figures: %s", error.detail or error.code)
            self._collector.meter.were_not_taken()
            self.standing.heard_nothing(report)
            return
        silent_since = self.standing.heard_at if self.standing.is_away else None
        try:
            await self._tell_silence(silent_since, now)
            second = await self._adder.add_up(now) if self.watches else await newest_second(self._db)
        except UnavailableError as error:  # it has answered once: what there is is shown, with its age
            log.info("figures: no sum in this second: %s", error.detail or error.code)
            second = None
        self.standing.heard(report, now, second)
        self.cpu_s += process_time() - used

    async def _tell_silence(self, since: datetime | None, now: datetime) -> None:
        """The log says when the authority could not be heard: afterwards, since it is the log's home."""
        if since is None or not self.watches or (now - since).total_seconds() < SILENCE_TOLD_AFTER_S:
            return
        words = f"not heard for {(now - since).total_seconds():.0f} s"
        await self._db.fetch(sql.query("note_authority_silence"), self._collector.name, words, since, now)

    async def _report(self, report: ProcessReport) -> datetime:
        began = perf_counter()
        rows = await self._db.fetch(
            sql.query("note_figures"), report.process_id, report.kind, pack(report), self._may_watch,
            timedelta(seconds=LEASE_S),
        )  # fmt: skip
        self._collector.answer_s = perf_counter() - began
        self._collector.meter.were_taken()
        watches: bool = rows[0]["watches"]
        if watches and not self.watches:
            await self._adder.take_over()
        self.watches = watches
        now: datetime = rows[0]["now"]
        return now

    def _next_at(self, began: float) -> float:
        """When the next one is due, in the clock's time."""
        phase = 0.0 if self.watches else OTHERS_LATER_S
        into = (self.standing.server_time().timestamp() - phase) % EVERY_S
        due = self._clock() + EVERY_S - into
        # Not twice in one second: a report of a moment says nothing about rates.
        return due if due - began > EVERY_S / 4 else due + EVERY_S


class _Adder:
    """What the process does whose turn it is."""

    def __init__(self, db: Database, collector: Collector) -> None:
        self._db, self._collector = db, collector
        self._house, self._alarms = HouseReader(db), AlarmKeeper(db)
        self._sums, self._sales = Sums(), Sales()
        self._deadlocks: list[tuple[int, float]] = []
        self._kept_minute: datetime | None = None
        self._maps_are_true = False

    async def take_over(self) -> None:
        """Another process has watched before."""
        self._sums, self._sales, self._deadlocks = Sums(), Sales(), []
        self._house.restart()
        self._alarms.restart()
        self._kept_minute = await newest_minute(self._db)
        log.info("figures: %s adds up from now on", self._collector.name)

    async def add_up(self, now: datetime) -> Second:
        """Make and keep the second of `now`."""
        number = int(now.timestamp())
        rows = await self._db.fetch(sql.query("read_reports"))
        known = [(row["heard_at"], unpack_known(row["body"], ProcessReport)) for row in rows]
        heard = [HeardReport(heard_at=heard_at, report=report) for heard_at, report in known if report is not None]
        summed = self._sums.add(heard, number, now)
        if not self._maps_are_true:
            summed = replace(summed, seats={})
        reading = await self._house.read(frozenset(summed.seats))
        silent_s = reading.figures.get(Figure.SEQUENCER_SILENT_S)
        self._maps_are_true = silent_s is not None and silent_s <= MAPS_OLD_AFTER_S
        self._count_deadlocks(reading.figures, number)
        events = self._sales.add(reading, summed, number)
        house = {
            str(name): value for name, value in (summed.house | self._sales.house(events) | reading.figures).items()
        }
        second = Second(
            second=number, measured_at=now, watcher=self._collector.process_id, house=house, events=events,
            processes=summed.parts, consumers=reading.consumers, unknown_payments=reading.unknown,
            lock_waits=reading.lock_waits.waits, alarms=await self._alarms_of(house, now),
            latencies=summed.latencies,
        )  # fmt: skip
        await keep_second(self._db, second)
        await self._tidy(now)
        return second

    async def _alarms_of(self, house: dict[str, float], now: datetime) -> tuple[AlarmPart, ...]:
        return await self._alarms.look(house, now.timestamp())

    def _count_deadlocks(self, figures: dict[str, float], second: int) -> None:
        """The server counts since its start; what is told is the last minute."""
        counted = figures.pop(Figure.DEADLOCKS_PER_MIN, None)
        if counted is not None:
            self._deadlocks = [one for one in self._deadlocks if one[0] > second - 60] + [(second, counted)]
            figures[Figure.DEADLOCKS_PER_MIN] = max(0.0, counted - self._deadlocks[0][1])

    async def _tidy(self, now: datetime) -> None:
        """Once a minute: keep the one that is over, forget processes that were killed long ago."""
        minute = minute_before(now)
        if self._kept_minute is not None and minute <= self._kept_minute:
            return
        try:
            await keep_minute(self._db, minute)
            await self._db.fetch(sql.query("forget_silent_processes"), timedelta(seconds=FORGOTTEN_AFTER_S))
        except AuthorityAwayError:
            raise
        except UnavailableError as error:
            log.info("figures: the minute is kept later: %s", error.detail)
            return
        self._kept_minute = minute
