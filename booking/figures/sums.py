"""Adds up what processes have reported: rates, shares, latencies, of each and of all together.

Counts run since a process began, so its rates are differences by its own steady clock; nothing is lost when a report
was missed. Latencies are counts in buckets and add up. A process that has not reported for `SILENT_AFTER_S` is shown
as it was, silent, and belongs to no sum; once another one has its place (`successors`), it is shown no more.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from booking.domain.figures import FIGURES, Figure, Scope
from booking.figures.meter import FEED, RequestEnd, RequestKind
from booking.figures.model import (
    Counts,
    HeardReport,
    LanePart,
    LaneReport,
    PoolPart,
    ProcessPart,
    ProcessReport,
    SeatCounts,
)
from booking.figures.successors import replaced
from booking.histogram import add_counts, quantile_ms

SILENT_AFTER_S = 5.0
LATENCIES_OF_S = 5
CONFLICTS_OF_S = 10
KEPT_S = 60

QUANTILES: Mapping[Figure, tuple[str, float]] = {
    Figure.HOLD_P50_MS: (RequestKind.HOLD, 0.5),
    Figure.HOLD_P99_MS: (RequestKind.HOLD, 0.99),
    Figure.CHECKOUT_P99_MS: (RequestKind.CHECKOUT, 0.99),
    Figure.PAYMENT_P99_MS: (RequestKind.PAYMENT, 0.99),
    Figure.RESULT_P99_MS: (RequestKind.RESULT, 0.99),
    Figure.ORDER_P99_MS: (RequestKind.ORDER, 0.99),
    Figure.MAP_P99_MS: (RequestKind.MAP, 0.99),
    Figure.FEED_LAG_P50_MS: (FEED, 0.5),
    Figure.FEED_LAG_P99_MS: (FEED, 0.99),
}
"""Which figures are quantiles: of the latencies of what, and which."""

_SUMMED = (Figure.CPU_SHARE, Figure.MEMORY_MB, Figure.FEED_CLIENTS, Figure.QUEUE_WAITING)
_WORST = (Figure.LOOP_LAG_MS, Figure.DATABASE_ANSWER_MS, Figure.POOL_USE_SHARE, Figure.QUEUE_AGE_MS)
_EVENT_WORST = frozenset({Figure.ROOM_WAIT_S})


@dataclass(frozen=True, slots=True)
class Slice:
    """What was counted between two reports."""

    second: int
    counts: Counter[str]
    latencies: Mapping[str, Counts]
    per_s: Mapping[str, float]


@dataclass
class Window:
    """The slices of the last `KEPT_S` seconds, of a process or of all."""

    slices: deque[Slice] = field(default_factory=deque)

    def put(self, one: Slice) -> None:
        """One more; those that are too old go."""
        self.slices.append(one)
        while self.slices and self.slices[0].second <= one.second - KEPT_S:
            self.slices.popleft()

    def counts(self, second: int, length_s: int) -> Counter[str]:
        """All counts of the last `length_s` seconds before the end of `second`."""
        found: Counter[str] = Counter()
        for one in self._last(second, length_s):
            found.update(one.counts)
        return found

    def latencies(self, second: int, length_s: int) -> dict[str, Counts]:
        """All latencies of the last `length_s` seconds."""
        return merged(one.latencies for one in self._last(second, length_s))

    def per_s(self, second: int) -> Counter[str]:
        """Counts a second, of the slices that end in `second`."""
        found: Counter[str] = Counter()
        for one in self._last(second, 1):
            for name, rate in one.per_s.items():
                found[name] += rate  # type: ignore[assignment]
        return found

    def _last(self, second: int, length_s: int) -> Iterable[Slice]:
        for one in reversed(self.slices):
            if one.second <= second - length_s:
                return
            yield one


def merged(latencies: Iterable[Mapping[str, Counts]]) -> dict[str, Counts]:
    """Latencies by kind, added up."""
    found: dict[str, Counts] = {}
    for kinds in latencies:
        for kind, counts in kinds.items():
            add_counts(found.setdefault(kind, {}), counts)
    return found


class _Track:
    """What is remembered of one process."""

    def __init__(self, report: ProcessReport) -> None:
        self.report = report
        self.taken = max((one.number for one in report.latencies), default=0)
        self.window = Window()
        self.lanes = tuple(_lane(name, lane, None, 0.0) for name, lane in report.lanes.items())
        self.part: ProcessPart | None = None

    def take(self, report: ProcessReport, second: int) -> Slice | None:
        """What a newer report adds; None when it is the one that is known."""
        before = self.report
        elapsed = report.at_s - before.at_s
        if elapsed <= 0:
            return None
        counts = Counter(report.counts)
        counts.subtract(before.counts)
        fresh = [one for one in report.latencies if one.number > self.taken]
        self.taken = max((one.number for one in fresh), default=self.taken)
        one = Slice(
            second, +counts, merged(each.kinds for each in fresh), {name: n / elapsed for name, n in (+counts).items()}
        )
        self.lanes = tuple(_lane(name, lane, before.lanes.get(name), elapsed) for name, lane in report.lanes.items())
        self.report = report
        self.window.put(one)
        return one


@dataclass(frozen=True, slots=True)
class Summed:
    """One second of all processes. `seats`: of each event that an API process keeps a map of."""

    house: dict[str, float]
    parts: tuple[ProcessPart, ...]
    latencies: dict[str, Counts]
    seats: dict[int, SeatCounts]
    events: dict[int, dict[str, float]]


class Sums:
    """See the module. `add` is called once a second with all reports that there are."""

    def __init__(self) -> None:
        self._tracks: dict[UUID, _Track] = {}
        self._all = Window()

    def add(self, reports: Sequence[HeardReport], second: int, now: datetime) -> Summed:
        """Bring everything up to `second`; `now` is the database's time."""
        known = {heard.report.process_id for heard in reports}
        self._tracks = {one: track for one, track in self._tracks.items() if one in known}
        gone = {one.report.process_id for one in reports if _is_silent(one, now)}
        over = replaced(reports, gone) if gone else frozenset()
        parts, live, slices = [], [], []
        for heard in reports:
            track, one = self._taken(heard.report, second)
            silent = heard.report.process_id in gone
            if one is not None:
                slices.append(one)
            if heard.report.process_id in over:
                continue
            if one is not None or track.part is None or silent:
                track.part = _part(track, heard.heard_at, silent=silent)
            parts.append(track.part)
            if not silent:
                live.append(track.part)
        mine = _joined(slices, second)
        self._all.put(mine)
        reported = [heard.report for heard in reports if heard.report.process_id not in gone]
        return Summed(
            house=self._house(live, second, len(parts) - len(live)),
            parts=tuple(sorted(parts, key=lambda part: (part.kind, part.started_at))),
            latencies=dict(mine.latencies),
            seats=_newest_seats(reported),
            events=_event_gauges(reported),
        )

    def _taken(self, report: ProcessReport, second: int) -> tuple[_Track, Slice | None]:
        track = self._tracks.get(report.process_id)
        if track is None:
            track = self._tracks[report.process_id] = _Track(report)
            return track, None
        return track, track.take(report, second)

    def _house(self, live: Sequence[ProcessPart], second: int, silent: int) -> dict[str, float]:
        found = counted(self._all, second)
        # Rates are the sum of what each process says of its own last second, whenever in ours that ended.
        for name in found.keys() & _RATES:
            told = [part.figures[name] for part in live if name in part.figures]
            if told:
                found[name] = sum(told)
            else:  # whoever adds up is new, and rates have two ends: none is known yet
                del found[name]
        for name in _SUMMED:
            values = [part.figures[name] for part in live if name in part.figures]
            if values:
                found[name] = sum(values)
        for name in _WORST:
            values = [part.figures[name] for part in live if name in part.figures]
            if values:
                found[name] = max(values)
        found[Figure.PROCESSES_SILENT] = silent
        return found


def _is_silent(heard: HeardReport, now: datetime) -> bool:
    return (now - heard.heard_at).total_seconds() > SILENT_AFTER_S


def _joined(slices: Sequence[Slice], second: int) -> Slice:
    counts: Counter[str] = Counter()
    rates: Counter[str] = Counter()
    for one in slices:
        counts.update(one.counts)
        for name, rate in one.per_s.items():
            rates[name] += rate  # type: ignore[assignment]
    return Slice(second, counts, merged(one.latencies for one in slices), rates)


def _part(track: _Track, heard_at: datetime, *, silent: bool) -> ProcessPart:
    report = track.report
    figures = dict(report.gauges)
    if track.window.slices:
        figures |= counted(track.window, track.window.slices[-1].second)
    if report.lanes:
        figures[Figure.QUEUE_AGE_MS] = max(lane.queue_age_ms for lane in report.lanes.values())
        figures[Figure.QUEUE_WAITING] = sum(lane.waiting for lane in report.lanes.values())
    if report.pools:
        figures[Figure.POOL_USE_SHARE] = max(pool.in_use / pool.most for pool in report.pools.values())
    return ProcessPart(
        process_id=report.process_id, kind=report.kind, name=report.name, host=report.host, pid=report.pid,
        started_at=report.started_at, heard_at=heard_at, silent=silent,
        figures={str(name): value for name, value in figures.items()},
        lanes=track.lanes,
        pools=tuple(
            PoolPart(name=name, in_use=pool.in_use, open=pool.open, most=pool.most)
            for name, pool in report.pools.items()
        ),
    )  # fmt: skip


def counted(window: Window, second: int) -> dict[str, float]:
    """The figures that come from counts and latencies alone."""
    now, minute = window.per_s(second), window.counts(second, KEPT_S)
    found: dict[str, float] = {
        Figure.REQUESTS_PER_S: _ends(now, *RequestEnd),
        Figure.FAILURES_PER_S: _ends(now, RequestEnd.FAILED, RequestEnd.AWAY),
        Figure.SHED_PER_S: _ends(now, RequestEnd.SHED),
        Figure.RATE_LIMITED_PER_S: _ends(now, RequestEnd.LIMITED),
        Figure.HOLD_ATTEMPTS_PER_S: sum(now[f"{RequestKind.HOLD}:{end}"] for end in RequestEnd),
        Figure.PAYMENT_ANSWERS_PER_S: now["provider:done"] + now["provider:error"],
        Figure.FEED_MESSAGES_PER_S: now["feed:sent"],
        Figure.FEED_DROPPED_PER_MIN: minute["feed:dropped"],
    }
    lately = window.counts(second, CONFLICTS_OF_S)
    attempts = sum(lately[f"{RequestKind.HOLD}:{end}"] for end in RequestEnd)
    if attempts:
        found[Figure.HOLD_CONFLICT_SHARE] = lately[f"{RequestKind.HOLD}:{RequestEnd.CONFLICT}"] / attempts
    asked = minute["provider:done"] + minute["provider:error"]
    if asked:
        found[Figure.PAYMENT_ERROR_SHARE] = minute["provider:error"] / asked
    return found | quantiles_of(window.latencies(second, LATENCIES_OF_S))


def quantiles_of(latencies: Mapping[str, Counts]) -> dict[str, float]:
    """The figures that are quantiles, of those kinds that there are latencies of."""
    found: dict[str, float] = {}
    for name, (kind, share) in QUANTILES.items():
        value = quantile_ms(latencies.get(kind, {}), share)
        if value is not None:
            found[name] = value
    return found


_RATES = frozenset(str(name) for name, one in FIGURES.items() if one.scope is Scope.PROCESS and name.endswith("_per_s"))


def _ends(now: Mapping[str, float], *ends: RequestEnd) -> float:
    return sum(now.get(f"{kind}:{end}", 0) for kind in RequestKind for end in ends)


def _lane(name: str, lane: LaneReport, before: LaneReport | None, elapsed: float) -> LanePart:
    known = LanePart(name=name, queue_age_ms=lane.queue_age_ms, waiting=lane.waiting)
    if before is None:
        return known
    requests, batches = lane.requests - before.requests, lane.batches - before.batches
    return LanePart(
        name=name, queue_age_ms=lane.queue_age_ms, waiting=lane.waiting, requests_per_s=requests / elapsed,
        batch_size=requests / batches if batches else None, alone_per_s=(lane.alone - before.alone) / elapsed,
        shed_per_s=(lane.shed - before.shed) / elapsed,
    )  # fmt: skip


def _newest_seats(reports: Iterable[ProcessReport]) -> dict[int, SeatCounts]:
    found: dict[int, SeatCounts] = {}
    for report in reports:
        for event_id, seats in report.seats.items():
            if event_id not in found or seats.version > found[event_id].version:
                found[event_id] = seats
    return found


def _event_gauges(reports: Iterable[ProcessReport]) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    for report in reports:
        for event_id, gauges in report.event_gauges.items():
            mine = found.setdefault(event_id, {})
            for name, value in gauges.items():
                mine[name] = max(mine.get(name, 0.0), value) if name in _EVENT_WORST else mine.get(name, 0.0) + value
    return found
