"""One process's part, once a second: what it counted, its lanes and pools, its CPU time, how late its loop is."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from time import monotonic
from uuid import UUID

import psutil
from uuid_utils.compat import uuid7

from booking.domain.figures import Figure
from booking.figures.meter import Meter
from booking.figures.model import LaneReport, PoolReport, ProcessKind, ProcessReport, SeatCounts
from booking.store.database import Database

Gauges = Callable[[], Mapping[str, float]]
SeatsNow = Callable[[], Mapping[int, SeatCounts]]
EventGauges = Callable[[], Mapping[int, Mapping[str, float]]]
_MB = 1 << 20


class Collector:
    """See the module. `db`: whose lanes and pools are looked at. The callables are asked at each report."""

    def __init__(
        self,
        kind: ProcessKind,
        meter: Meter,
        *,
        db: Database | None = None,
        gauges: Gauges = dict,
        seats: SeatsNow = dict,
        event_gauges: EventGauges = dict,
        tasks: Iterable[str] = (),
    ) -> None:
        self.process_id: UUID = uuid7()
        self.kind = kind
        self.meter = meter
        self._tasks = tuple(sorted(tasks))
        self._db, self._gauges, self._seats, self._event_gauges = db, gauges, seats, event_gauges
        self._started_at, self._began_s = datetime.now(UTC), monotonic()
        self._host = socket.gethostname()
        self._process = psutil.Process()
        self._cpu = (monotonic(), _cpu_s(self._process))
        self.loop_lag_s = 0.0
        """How late a timer of the loop was at worst since the last report; whoever waits for the next one sets it."""
        self.answer_s: float | None = None
        """How long the last report took to be stored."""

    @property
    def name(self) -> str:
        """What people call the process."""
        return f"{self.kind} {self._process.pid}"

    def report(self) -> ProcessReport:
        """The part as it is now; ends the stretch that worst values and latencies are of."""
        now_s = monotonic()
        return ProcessReport(
            process_id=self.process_id,
            kind=self.kind,
            name=self.name,
            host=self._host,
            pid=os.getpid(),
            started_at=self._started_at,
            at_s=now_s,
            up_s=now_s - self._began_s,
            tasks=self._tasks,
            counts=dict(self.meter.counts),
            gauges=self._own_gauges(),
            event_gauges={event_id: dict(found) for event_id, found in self._event_gauges().items()},
            latencies=self.meter.latencies(),
            lanes={} if self._db is None else _lanes(self._db),
            pools={} if self._db is None else _pools(self._db),
            seats=dict(self._seats()),
        )

    def _own_gauges(self) -> dict[str, float]:
        found = {
            **self._gauges(),
            Figure.CPU_SHARE: self._cpu_share(),
            Figure.MEMORY_MB: self._process.memory_info().rss / _MB,
            Figure.LOOP_LAG_MS: self.loop_lag_s * 1000,
        }
        if self.answer_s is not None:
            found[Figure.DATABASE_ANSWER_MS] = self.answer_s * 1000
        return {str(name): value for name, value in found.items()}

    def _cpu_share(self) -> float:
        now, used = monotonic(), _cpu_s(self._process)
        (before, used_before), self._cpu = self._cpu, (now, used)
        return max(0.0, used - used_before) / max(now - before, 0.001)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _lanes(db: Database) -> dict[str, LaneReport]:
    return {
        name: LaneReport(
            queue_age_ms=lane.take_worst_age_s() * 1000,
            waiting=lane.waiting,
            requests=lane.figures.requests,
            batches=lane.figures.batches,
            alone=lane.figures.alone,
            shed=lane.figures.shed,
        )
        for name, lane in db.running_lanes().items()
    }


def _pools(db: Database) -> dict[str, PoolReport]:
    return {
        name: PoolReport(in_use=pool.take_most_in_use(), open=pool.open_now, most=pool.most)
        for name, pool in db.pools().items()
    }
