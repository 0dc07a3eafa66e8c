"""`/metrics` as another program's parser reads it (R32)."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from booking.domain.figures import Figure
from booking.figures.meter import Meter, RequestEnd, RequestKind
from booking.figures.model import AlarmPart, EventPart, ProcessKind, ProcessReport, Second
from booking.figures.standing import Standing
from booking.web.exposition import MOST_EVENTS, OLD_AFTER_S, exposition

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)


def standing_of(second: Second) -> Standing:
    standing = Standing(UUID(int=1))
    report = ProcessReport(
        process_id=UUID(int=1), kind=ProcessKind.API, name="api", host="box", pid=1, started_at=NOW, at_s=0.0, counts={}
    )
    standing.heard(report, NOW, second)
    return standing


def second_of(house: dict[str, float], events: int = 0) -> Second:
    parts = {
        number: EventPart(event_id=number, name='A "quoted"\nname', status="ON_SALE", figures={"seats_free": number})
        for number in range(1, events + 1)
    }
    alarm = AlarmPart(
        alarm_id=UUID(int=2), rule="locks-waiting", figure="lock_waits", severity="warning", raised_at=NOW, value=9.0,
        worst=9.0, raise_at=8.0, clear_at=2.0,
    )  # fmt: skip
    return Second(second=1, measured_at=NOW, watcher=UUID(int=1), house=house, events=parts, alarms=(alarm,))


def families_of(text: str) -> dict[str, Metric]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_an_empty_process_has_a_page_that_reads() -> None:
    families = families_of(exposition(Meter(), None))
    assert families["taquilla_requests"].type == "counter"
    assert {sample.value for sample in families["taquilla_requests"].samples} == {0}


@pytest.mark.parametrize("told", [0, 3, 6])
def test_histograms_are_cumulative_and_agree_with_their_counts_and_sums(told: int) -> None:
    """Whether anybody has asked the process for its second meanwhile, or never."""
    meter = Meter()
    for number, seconds in enumerate((0.0004, 0.004, 0.04, 0.4, 4.0, 40.0)):
        if number == told:
            meter.latencies()
        meter.request(RequestKind.HOLD, RequestEnd.DONE, seconds)
    samples = [
        one for one in families_of(exposition(meter, None))["taquilla_request_duration_seconds"].samples
        if one.labels["kind"] == "hold"
    ]  # fmt: skip
    buckets = {one.labels["le"]: one.value for one in samples if one.name.endswith("_bucket")}
    assert [buckets[bound] for bound in ("0.001", "0.005", "0.05", "0.5", "5", "10", "+Inf")] == [
        1,
        2,
        3,
        4,
        5,
        5,
        6,
    ]
    (total,) = [one.value for one in samples if one.name.endswith("_sum")]
    (count,) = [one.value for one in samples if one.name.endswith("_count")]
    assert total == pytest.approx(44.4444)
    assert count == 6


def test_every_figure_of_the_house_has_one_name_in_base_units() -> None:
    house = {str(figure): 250.0 for figure in Figure}
    families = families_of(exposition(Meter(), standing_of(second_of(house))))
    names = [name for name in families if name.startswith("taquilla_house_")]
    assert len(names) == len(Figure), "two figures share a name"
    assert families["taquilla_house_hold_p99_seconds"].samples[0].value == 0.25
    assert families["taquilla_house_memory_bytes"].samples[0].value == 250 * 2**20
    assert families["taquilla_house_hold_conflict_ratio"].samples[0].value == 250
    assert families["taquilla_house_hold_attempts_per_s"].samples[0].value == 250
    assert families["taquilla_alarm"].samples[0].labels == {"rule": "locks-waiting", "severity": "warning"}


def test_figures_of_long_ago_are_left_out_and_open_alarms_stay() -> None:
    """A database that was away for an hour would else be as fast and as full, over there, as just before."""
    second = second_of({"lock_waits": 9.0}, events=2)
    fresh = families_of(exposition(Meter(), standing_of(second)))
    assert {"taquilla_house_lock_waits", "taquilla_event_seats_free"} <= fresh.keys()
    old = msgspec.structs.replace(second, measured_at=NOW - timedelta(seconds=OLD_AFTER_S))
    families = families_of(exposition(Meter(), standing_of(old)))
    assert not [name for name in families if name.startswith(("taquilla_house_", "taquilla_event_"))]
    assert families["taquilla_figures_age_seconds"].samples[0].value >= OLD_AFTER_S
    assert families["taquilla_alarm"].samples[0].labels["rule"] == "locks-waiting"


def test_labels_do_not_grow_without_end_and_names_of_people_and_events_are_not_among_them() -> None:
    text = exposition(Meter(), standing_of(second_of({}, events=500)))
    assert len(families_of(text)["taquilla_event_seats_free"].samples) == MOST_EVENTS
    assert "quoted" not in text


@pytest.mark.parametrize(("value", "shown"), [(math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "-Inf"), (0.1, "0.1")])
def test_numbers_that_are_none_are_written_as_the_format_says(value: float, shown: str) -> None:
    text = exposition(Meter(), standing_of(second_of({"lock_waits": value})))
    assert f"taquilla_house_lock_waits {shown}\n" in text
    assert families_of(text)


def test_each_line_has_the_form_of_the_format() -> None:
    line = re.compile(r'(# (HELP|TYPE) [a-z_:]+ .+|[a-z_:]+(\{([a-z_]+="[^"\\\n]*",?)+\})? (\S+))')
    for text in exposition(Meter(), standing_of(second_of({"lock_waits": 1.0}, events=2))).splitlines():
        assert line.fullmatch(text), text
