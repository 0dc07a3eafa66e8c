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
from booking.domain.admission_causes import Cause, CauseCode
from booking.domain.errors import AuthorityAwayError, BusyError, UnavailableError
from booking.domain.figures import Figure
from booking.figures.alarm_keeper import AlarmKeeper
from booking.figures.collector import Collector
from booking.figures.history import keep_minute, keep_second, minute_before, missing_minute
from booking.figures.house import HouseReader
from booking.figures.loop_lag import LoopLag
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
        self._silence: tuple[datetime, datetime] | None = None
        """From when to when nobody was heard, as long as the log has not got it."""

    async def run(self) -> None:
        """Once a second until cancelled; then the process's part is taken away."""
        lag = LoopLag(self._clock)
        looking = asyncio.create_task(lag.run(), name="loop-lag")
        try:
            while True:
                began = self._clock()
                self._collector.loop_lag_s = lag.take_worst_s()
                try:
                    await self.once()
                except Exception:  # the one task that must go on, whatever is wrong in a second
                    log.exception("figures failed")
                planned = self._next_at(began)
                await asyncio.sleep(max(0.0, planned - self._clock()))
        finally:
            looking.cancel()
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
        if self.standing.is_away and self.standing.heard_at is not None:
            self._silence = self._silence or (self.standing.heard_at, now)
        try:
            await self._tell_silence()
            second = await self._adder.add_up(now) if self.watches else await newest_second(self._db)
        except UnavailableError as error:  # it has answered once: what there is is shown, with its age
            log.info("figures: no sum in this second: %s", error.detail or error.code)
            second = None
        self.standing.heard(report, now, second)
        self.cpu_s += process_time() - used

    async def _tell_silence(self) -> None:
        """The log says when the authority could not be heard: afterwards, since it is the log's home, and once."""
        if self._silence is None:
            return
        since, until = self._silence
        silent_s = (until - since).total_seconds()
        if self.watches and silent_s >= SILENCE_TOLD_AFTER_S:
            cause = Cause(CauseCode.AUTHORITY_SILENT, numbers={"silent_s": silent_s})
            await self._db.call(sql.query("note_authority_silence"), self._collector.name, cause.words, since, until)
        self._silence = None

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
            self._adder.take_over()
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
        """No minute up to this one is missing that could still be made."""
        self._open_alarms: tuple[AlarmPart, ...] = ()
        self._is_new = False
        self._maps_are_true = False

    def take_over(self) -> None:
        """Another process has watched before."""
        self._sums, self._sales, self._deadlocks = Sums(), Sales(), []
        self._house.restart()
        self._kept_minute, self._open_alarms, self._is_new = None, (), True
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
        try:
            await keep_second(self._db, second)
        except BusyError as error:  # it is told all the same
            log.info("figures: the second is not kept: %s", error.detail)
        await self._tidy(now)
        return second

    async def _alarms_of(self, house: dict[str, float], now: datetime) -> tuple[AlarmPart, ...]:
        """Those that are open; when they cannot be asked for in time, those that were, and the second goes on."""
        try:
            if self._is_new:
                last = await newest_second(self._db)
                self._open_alarms = () if last is None else last.alarms
                self._alarms.restart(self._open_alarms)
                self._is_new = False
            self._open_alarms = await self._alarms.look(house, now.timestamp())
        except BusyError as error:
            log.warning("figures: alarms are not looked at in this second: %s", error.detail)
        return self._open_alarms

    def _count_deadlocks(self, figures: dict[str, float], second: int) -> None:
        """The server counts since its start; what is told is the last minute."""
        counted = figures.pop(Figure.DEADLOCKS_PER_MIN, None)
        if counted is not None:
            self._deadlocks = [one for one in self._deadlocks if one[0] > second - 60] + [(second, counted)]
            figures[Figure.DEADLOCKS_PER_MIN] = max(0.0, counted - self._deadlocks[0][1])

    async def _tidy(self, now: datetime) -> None:
        """Keep minutes that are over, one a second, the oldest first; forget processes that were killed long ago."""
        last = minute_before(now)
        if self._kept_minute is not None and last <= self._kept_minute:
            return
        try:
            missing = await missing_minute(self._db, self._kept_minute, last)
            if missing is not None:
                await keep_minute(self._db, missing)
            await self._db.fetch(sql.query("forget_silent_processes"), timedelta(seconds=FORGOTTEN_AFTER_S))
        except AuthorityAwayError:
            raise
        except UnavailableError as error:
            log.info("figures: the minute is kept later: %s", error.detail)
            return
        self._kept_minute = last if missing is None else missing
