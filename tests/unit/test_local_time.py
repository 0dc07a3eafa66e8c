"""Local times of a venue become instants, or are refused; never guessed (cases W8–W10)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from booking.domain.errors import InvalidRequestError
from booking.domain.local_time import instant_of, zone_of


def test_w9_ten_in_singapore_is_two_in_utc() -> None:
    assert instant_of(datetime.fromisoformat("2026-12-01T10:00"), "Asia/Singapore") == datetime(
        2026, 12, 1, 2, 0, tzinfo=UTC
    )


def test_w10_a_time_that_comes_twice_is_refused_with_both_instants() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        instant_of(datetime.fromisoformat("2026-10-25T02:30"), "Europe/Berlin")
    assert refused.value.fields[0].pointer == "/starts_at"
    assert "00:30 or 01:30 UTC" in refused.value.fields[0].message


@pytest.mark.parametrize(("fold", "hour"), [(0, 0), (1, 1)])
def test_w10_a_time_that_comes_twice_is_taken_when_it_is_said_which(fold: int, hour: int) -> None:
    instant = instant_of(datetime.fromisoformat("2026-10-25T02:30"), "Europe/Berlin", fold=fold)
    assert instant == datetime(2026, 10, 25, hour, 30, tzinfo=UTC)


@pytest.mark.parametrize("fold", [None, 0, 1])
def test_w10_a_time_that_the_clocks_skip_is_refused_whatever_is_said(fold: int | None) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        instant_of(datetime.fromisoformat("2026-03-29T02:30"), "Europe/Berlin", fold=fold)
    assert "does not exist" in refused.value.fields[0].message


def test_a_local_time_with_an_offset_is_refused() -> None:
    with pytest.raises(InvalidRequestError):
        instant_of(datetime(2026, 6, 1, 20, 0, tzinfo=UTC), "Europe/Lisbon")


@pytest.mark.parametrize("name", ["Europe/Atlantis", "", "../../etc/passwd", "/etc/localtime", "Europe"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequestError):
        zone_of(name)


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Tokyo"])
def process_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("process_zone")
def test_w8_the_instant_is_unchanged_after_five_loads_and_saves_in_any_process_zone() -> None:
    instant = instant_of(datetime.fromisoformat("2026-07-01T19:30"), "Europe/Lisbon")
    for _ in range(5):
        shown = instant.astimezone(ZoneInfo("Europe/Lisbon")).replace(tzinfo=None)
        instant = instant_of(shown, "Europe/Lisbon")
    assert instant == datetime(2026, 7, 1, 18, 30, tzinfo=UTC)
