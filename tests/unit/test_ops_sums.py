"""Parts of processes added up: rates, shares, latencies, silence; minutes out of seconds (R32, R42)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID, uuid4

import msgspec
import pytest

from booking.domain.figures import Figure
from booking.figures.meter import Meter, RequestEnd, RequestKind, end_of
from booking.figures.minutes import HOUSE, minute_of
from booking.figures.model import (
    EventPart,
    HeardReport,
    LaneReport,
    PoolReport,
    ProcessKind,
    ProcessReport,
    SeatCounts,
    Second,
    pack,
    unpack_known,
)
from booking.figures.sums import SILENT_AFTER_S, Summed, Sums
from booking.histogram import Histogram, quantile_ms

BEGAN = datetime(2026, 11, 30, 10, tzinfo=UTC)


class Process:
    """One process as it reports, second by second of its own clock."""

    def __init__(self) -> None:
        self.process_id, self.meter, self.at_s = uuid4(), Meter(), 0.0

    def report(self, seconds: float = 1.0, **members: object) -> ProcessReport:
        self.at_s += seconds
        found = ProcessReport(
            process_id=self.process_id, kind=ProcessKind.API, name="api", host="box", pid=1, started_at=BEGAN,
            at_s=self.at_s, counts=dict(self.meter.counts), latencies=self.meter.latencies(),
            **members,  # type: ignore[arg-type]
        )  # fmt: skip
        self.meter.were_taken()
        stored = unpack_known(pack(found), ProcessReport)  # as it comes out of the database
        assert stored is not None
        return stored

    def hold(self, end: RequestEnd = RequestEnd.DONE, seconds: float = 0.01, times: int = 1) -> None:
        for _ in range(times):
            self.meter.request(RequestKind.HOLD, end, seconds)


def added(sums: Sums, second: int, *reports: ProcessReport, age_s: float = 0.0) -> Summed:
    now = BEGAN + timedelta(seconds=second)
    return sums.add([HeardReport(heard_at=now - timedelta(seconds=age_s), report=one) for one in reports], second, now)


def test_rates_are_of_each_process_own_time_and_add_up() -> None:
    sums, one, other = Sums(), Process(), Process()
    added(sums, 1, one.report(), other.report())
    one.hold(times=30)
    other.hold(times=10)
    other.hold(RequestEnd.CONFLICT, times=10)
    summed = added(sums, 2, one.report(1.5), other.report(0.5))
    assert summed.house[Figure.HOLD_ATTEMPTS_PER_S] == pytest.approx(30 / 1.5 + 20 / 0.5)
    assert summed.house[Figure.HOLD_CONFLICT_SHARE] == 10 / 50


def test_nothing_is_known_of_rates_before_two_reports_and_nothing_is_counted_twice() -> None:
    sums, one = Sums(), Process()
    one.hold(times=500)
    first = one.report()
    summed = added(sums, 1, first)
    assert Figure.HOLD_ATTEMPTS_PER_S not in summed.parts[0].figures
    assert Figure.HOLD_ATTEMPTS_PER_S not in summed.house, "a chart would fall to 0 whenever another one adds up"
    assert Figure.HOLD_ATTEMPTS_PER_S not in added(sums, 2, first).house
    one.hold(times=3)
    second = one.report()
    assert added(sums, 3, second).house[Figure.HOLD_ATTEMPTS_PER_S] == 3
    still = added(sums, 4, second)
    assert sum(sum(counts.values()) for counts in still.latencies.values()) == 0


def test_a_report_that_was_missed_loses_neither_counts_nor_latencies() -> None:
    sums, one = Sums(), Process()
    added(sums, 1, one.report())
    one.hold(seconds=0.1, times=4)
    one.report()
    one.hold(seconds=0.2, times=4)
    summed = added(sums, 3, one.report())
    assert summed.house[Figure.HOLD_ATTEMPTS_PER_S] == 4
    assert sum(summed.latencies["hold"].values()) == 8


def test_quantiles_of_all_are_those_of_all_latencies_together() -> None:
    draw, whole = Random(7), Histogram()
    sums, processes = Sums(), [Process() for _ in range(3)]
    added(sums, 1, *(process.report() for process in processes))
    for process in processes:
        for _ in range(200):
            seconds = draw.expovariate(20)
            process.hold(seconds=seconds)
            whole.record(seconds)
    house = added(sums, 2, *(process.report() for process in processes)).house
    assert house[Figure.HOLD_P99_MS] == pytest.approx(whole.quantile_ms(0.99), rel=0.02)
    assert house[Figure.HOLD_P50_MS] == pytest.approx(whole.quantile_ms(0.5), rel=0.02)
    assert house[Figure.HOLD_P99_MS] > house[Figure.HOLD_P50_MS] > 10


def test_latencies_are_of_the_last_five_seconds_and_shares_of_ten() -> None:
    sums, one = Sums(), Process()
    added(sums, 1, one.report())
    one.hold(RequestEnd.CONFLICT, seconds=3.0)
    assert added(sums, 2, one.report()).house[Figure.HOLD_P99_MS] == pytest.approx(3_000, rel=0.02)
    found = [added(sums, second, one.report()).house for second in range(3, 14)]
    assert [Figure.HOLD_P99_MS in house for house in found] == [True] * 4 + [False] * 7
    assert [Figure.HOLD_CONFLICT_SHARE in house for house in found] == [True] * 9 + [False] * 2


def test_who_is_silent_is_shown_as_it_was_and_belongs_to_no_sum() -> None:
    sums, one, gone = Sums(), Process(), Process()
    gauges = {str(Figure.FEED_CLIENTS): 5.0}
    added(sums, 1, one.report(gauges=gauges), gone.report(gauges=gauges))
    last = gone.report(gauges=gauges)
    now = BEGAN + timedelta(seconds=9)
    heard = [
        HeardReport(heard_at=now, report=one.report(gauges=gauges)),
        HeardReport(heard_at=now - timedelta(seconds=SILENT_AFTER_S + 0.1), report=last),
    ]
    summed = sums.add(heard, 9, now)
    assert {part.process_id: part.silent for part in summed.parts} == {one.process_id: False, gone.process_id: True}
    assert (summed.house[Figure.FEED_CLIENTS], summed.house[Figure.PROCESSES_SILENT]) == (5, 1)
    assert next(part for part in summed.parts if part.silent).figures[Figure.FEED_CLIENTS] == 5


class Host:
    """Processes of one database, as they were heard: seconds after `BEGAN`, by the database's clock."""

    def __init__(self) -> None:
        self.heard: dict[UUID, HeardReport] = {}

    def hear(
        self, began_s: float, heard_s: float, kind: ProcessKind = ProcessKind.API, host: str = "box",
        process_id: UUID | None = None, clock_s: float = 0.0, tasks: tuple[str, ...] = (),
        events: tuple[int, ...] = (),
    ) -> UUID:  # fmt: skip
        """`clock_s`: how far the host's own clock is ahead."""
        report = ProcessReport(
            process_id=process_id or uuid4(), kind=kind, name=kind, host=host, pid=1, counts={},
            started_at=BEGAN + timedelta(seconds=began_s + clock_s), at_s=heard_s, up_s=heard_s - began_s,
            tasks=tasks, event_gauges={event: {Figure.ROOM_WAITING: 3.0} for event in events},
        )  # fmt: skip
        self.heard[report.process_id] = HeardReport(heard_at=BEGAN + timedelta(seconds=heard_s), report=report)
        return report.process_id

    def at(self, second: int) -> tuple[set[UUID], float]:
        """Who is shown as silent, and how many are counted."""
        summed = Sums().add(list(self.heard.values()), second, BEGAN + timedelta(seconds=second))
        return {part.process_id for part in summed.parts if part.silent}, summed.house[Figure.PROCESSES_SILENT]


def test_who_was_killed_is_silent_until_another_one_has_its_place() -> None:
    """Its own clock is 40 s behind, or ahead: what counts is when it was heard."""
    for clock_s in (-40, 0, 40):
        host = Host()
        killed, other = host.hear(0, 100, clock_s=clock_s), host.hear(0, 106, clock_s=clock_s)
        assert host.at(106) == ({killed}, 1), "the other one was there before"
        host.hear(107, 108, clock_s=clock_s)
        host.hear(0, 108, process_id=other, clock_s=clock_s)
        assert host.at(108) == (set(), 0)
        host.hear(0, 109, process_id=killed, clock_s=clock_s)
        assert host.at(109) == (set(), 0)
        assert len(Sums().add(list(host.heard.values()), 109, BEGAN + timedelta(seconds=109)).parts) == 3, "it is back"


@pytest.mark.parametrize(("kind", "host"), [(ProcessKind.WORKER, "box"), (ProcessKind.API, "another")])
def test_a_process_of_another_kind_or_host_takes_nobodys_place(kind: ProcessKind, host: str) -> None:
    house = Host()
    killed = house.hear(0, 100)
    house.hear(101, 110, kind, host)
    assert house.at(110) == ({killed}, 1)


def test_a_worker_with_other_tasks_takes_nobodys_place() -> None:
    host = Host()
    killed = host.hear(0, 100, ProcessKind.WORKER, tasks=("payments", "sequencer"))
    host.hear(101, 110, ProcessKind.WORKER, tasks=("reconciliation",))
    assert host.at(110) == ({killed}, 1)
    host.hear(108, 111, ProcessKind.WORKER, tasks=("payments", "sequencer"))
    assert host.at(111) == (set(), 0)


def test_a_waiting_room_of_other_events_takes_nobodys_place() -> None:
    host = Host()
    killed = host.hear(0, 100, ProcessKind.ROOM, events=(7,))
    host.hear(101, 110, ProcessKind.ROOM, events=(8,))
    assert host.at(110) == ({killed}, 1), "40,000 people wait for it"
    again = host.hear(108, 111, ProcessKind.ROOM, events=(7, 9))
    assert host.at(111) == (set(), 0), "its own again, with an event that was added since"
    host.hear(112, 120, ProcessKind.ROOM, events=(7,))
    assert host.at(120)[0] >= {again}


def test_each_takes_one_place_and_keeps_it_for_who_comes_next() -> None:
    host = Host()
    first, second = host.hear(0, 100), host.hear(0, 101)
    assert host.at(110) == ({first, second}, 2)
    third = host.hear(103, 112)
    assert host.at(112)[1] == 1, "two were killed, one was started"
    assert third not in host.at(112)[0]
    assert host.at(130)[1] == 2, "and was killed as well"
    for began_s in (131, 132):
        host.hear(began_s, 140)
    assert host.at(140) == (set(), 0)


def test_a_report_of_an_older_release_says_when_it_began_by_its_own_clock() -> None:
    host = Host()
    killed, newer = host.hear(0, 100), host.hear(101, 110)
    host.heard[newer] = msgspec.structs.replace(
        host.heard[newer], report=msgspec.structs.replace(host.heard[newer].report, up_s=None)
    )
    assert host.at(110) == (set(), 0)
    host.heard.pop(newer)
    assert host.at(110) == ({killed}, 1)


def test_the_worst_lane_and_the_fullest_pool_speak_for_all() -> None:
    sums, one, other = Sums(), Process(), Process()
    lane = LaneReport(queue_age_ms=12.0, waiting=3, requests=0, batches=0, alone=0, shed=0)
    slow = LaneReport(queue_age_ms=180.0, waiting=9, requests=0, batches=0, alone=0, shed=0)
    pools = {"sales": PoolReport(in_use=12, open=8, most=8), "general": PoolReport(in_use=1, open=1, most=6)}
    summed = added(
        sums, 1, one.report(lanes={"holds": lane, "results": slow}), other.report(lanes={"holds": lane}, pools=pools)
    )
    assert (summed.house[Figure.QUEUE_AGE_MS], summed.house[Figure.QUEUE_WAITING]) == (180, 15)
    assert summed.house[Figure.POOL_USE_SHARE] == 1.5
    more = LaneReport(queue_age_ms=0.0, waiting=0, requests=90, batches=3, alone=1, shed=2)
    lanes = {part.name: part for part in added(sums, 2, one.report(lanes={"holds": more})).parts[0].lanes}
    assert (lanes["holds"].requests_per_s, lanes["holds"].batch_size) == (90, 30)
    assert (lanes["holds"].alone_per_s, lanes["holds"].shed_per_s) == (1, 2)


def test_of_two_maps_the_newer_one_counts() -> None:
    old, new = SeatCounts(version=4, free=10, held=0, sold=0), SeatCounts(version=5, free=9, held=1, sold=0)
    one, other = Process(), Process()
    assert added(Sums(), 1, one.report(seats={7: new}), other.report(seats={7: old})).seats == {7: new}


@pytest.mark.parametrize(
    ("status", "code", "end"),
    [
        (201, "", RequestEnd.DONE), (304, "", RequestEnd.DONE), (409, "seats-taken", RequestEnd.CONFLICT),
        (409, "no-block-left", RequestEnd.CONFLICT), (409, "account-limit", RequestEnd.REFUSED),
        (429, "rate-limited", RequestEnd.LIMITED), (503, "busy", RequestEnd.SHED),
        (503, "authority-away", RequestEnd.AWAY), (500, "internal", RequestEnd.FAILED), (404, "", RequestEnd.REFUSED),
    ],
)  # fmt: skip
def test_how_a_request_ended(status: int, code: str, end: RequestEnd) -> None:
    assert end_of(status, code) is end


def test_who_is_refused_at_the_door_does_not_make_latencies_look_good() -> None:
    meter = Meter()
    meter.request(RequestKind.HOLD, RequestEnd.SHED, 0.0001)
    meter.request(RequestKind.HOLD, RequestEnd.DONE, 0.5)
    (stretch,) = meter.latencies()
    assert quantile_ms(stretch.kinds["hold"], 0.5) == pytest.approx(500, rel=0.02)
    assert meter.counts["hold:shed"] == 1


def second_of(
    number: int, house: dict[str, float], events: dict[int, dict[str, float]], holds: dict[int, int]
) -> Second:
    return Second(
        second=number, measured_at=BEGAN + timedelta(seconds=number), watcher=UUID(int=1), house=house,
        events={
            event_id: EventPart(event_id=event_id, name="x", status="ON_SALE", figures=figures)
            for event_id, figures in events.items()
        },
        latencies={"hold": holds},
    )  # fmt: skip


def test_a_minute_is_made_by_each_figures_own_rule() -> None:
    seconds = [
        second_of(0, {"holds_made_per_s": 10, "seats_free": 50, "hold_p99_ms": 40}, {7: {"seats_free": 50}}, {999: 99}),
        second_of(1, {"holds_made_per_s": 30, "seats_free": 30, "hold_p99_ms": 90}, {7: {"seats_free": 30}}, {1500: 1}),
        second_of(2, {"seats_free": 40, "a_figure_of_tomorrow": 2.0}, {}, {}),
    ]  # fmt: skip
    minutes = minute_of(seconds)
    house = minutes[HOUSE]
    assert (house.values["holds_made_per_s"], house.worst["holds_made_per_s"]) == (20, 30)
    assert (house.values["seats_free"], house.worst["seats_free"]) == (40, 30), "its last; the least is the worst"
    assert house.values["hold_p99_ms"] == quantile_ms({999: 99, 1500: 1}, 0.99)
    assert house.worst["hold_p99_ms"] == 90
    assert house.values["a_figure_of_tomorrow"] == 2
    assert minutes[7].values == {"seats_free": 30}
    assert minute_of([]) == {}
