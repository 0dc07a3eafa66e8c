"""How a steered rush is judged: when the rate was halved, how far it overshot, when holds were fast again (R20)."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from booking.rush import command, through_room
from booking.rush.conductor import Run, Second
from booking.rush.counter import CounterSales
from booking.rush.plan import Sale, Server
from booking.rush.popularity import SeatPicker
from booking.rush.report import Verdict
from booking.rush.steered import RateTold, Steered, around, rate_at
from booking.rush.through_room import Slowness, beside


def told(*rates: tuple[float, float]) -> tuple[RateTold, ...]:
    return tuple(RateTold(at, rate, "strain", "") for at, rate in rates)


def second(at: int, p99: float, admitted: int = 0) -> Second:
    return Second(at, 0, 0, 0, 0, 0.0, 0.0, 0, p99 / 2, p99, admitted, 0)


def judged(rates: tuple[RateTold, ...], seconds: list[Second] | None = None) -> Steered:
    return around(rates, seconds or [second(at, 50.0) for at in range(120)], 60.0, 80.0, {"tickets": 7, "orders": 3})


def test_a_rate_that_falls_and_comes_back() -> None:
    seen = judged(told((1, 600), (61.5, 400), (62.5, 300), (63.5, 150), (90, 400), (95, 570)))
    assert (seen.before_per_minute, seen.half_after_s, seen.lowest_per_minute) == (600, 2.5, 150)
    assert seen.overshoot == pytest.approx(-0.05)
    assert (seen.tickets, seen.orders) == (7, 3)


def test_a_fixed_rate_is_never_halved_and_too_high_a_one_is_seen() -> None:
    assert judged(told((1, 600))).half_after_s is None
    assert judged(told((1, 600), (70, 100), (90, 780))).overshoot == pytest.approx(0.3)


def test_people_really_let_in_are_judged_over_fifteen_seconds() -> None:
    seconds = [second(at, 50.0, admitted=10 if at < 100 else 15) for at in range(120)]
    assert judged(told((1, 600)), seconds).let_in_overshoot == pytest.approx(0.5)


def test_holds_have_recovered_when_three_seconds_in_a_row_are_fast() -> None:
    slow = {*range(60, 84), 85}
    seconds = [second(at, 900.0 if at in slow else 40.0) for at in range(120)]
    seen = judged(told((1, 600)), seconds)
    assert seen.recovered_after_s == 6.0
    assert (seen.hold_p99_before_ms, seen.hold_p99_during_ms, seen.hold_p99_after_ms) == (40.0, 900.0, 40.0)
    never = judged(told((1, 600)), [second(at, 900.0) for at in range(120)])
    assert never.recovered_after_s is None


def test_seconds_without_holds_say_nothing_of_recovery() -> None:
    """After a slowness the rate is at its least: most seconds are empty, and none of them is fast."""
    never = [second(at, 0.0 if 80 <= at < 83 or at >= 103 else 900.0) for at in range(120)]
    assert judged(told((1, 600)), never).recovered_after_s is None
    fast = {83: 40.0, 85: 40.0, 88: 40.0}
    thin = [second(at, fast.get(at, 0.0) if at >= 80 else 900.0) for at in range(120)]
    assert judged(told((1, 600)), thin).recovered_after_s == 3.0


async def test_what_fails_beside_a_rush_is_seen() -> None:
    """A database that takes no more connections: no slowness, and so no proof of anything."""
    nobody, api = "postgresql://nobody@127.0.0.1:1/nothing", Server(host="127.0.0.1", port=1, tls=False)
    sale = Sale(event_id=1, prices=(1, 1), price_type_id=1)
    async with beside(nobody, api, sale, None, Slowness(0.0, 60.0), 0.0) as seen, asyncio.timeout(60):
        while any(task.get_name() == "slow" for task in asyncio.all_tasks()):
            await asyncio.sleep(0.01)
    assert seen.slow_from is None
    assert [fault.split(":")[0] for fault in seen.faults] == ["slow"]
    assert not Verdict(Run(), 0, (), {}, faults=seen.faults).good


async def test_a_till_that_is_refused_waits_as_long_as_one_that_sells(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object) -> bool:
        await asyncio.sleep(0.2)
        return False

    monkeypatch.setattr(through_room, "_sell_two", refused)
    api = Server(host="127.0.0.1", port=1, tls=False)
    sales = CounterSales()
    await through_room._sell(api, Sale(event_id=1, prices=(1, 1, 1), price_type_id=1), "a clerk", sales)
    assert (sales.orders, sales.refused) == (0, 1)
    assert sales.worst_s >= 0.2


def test_the_rate_in_force_is_the_last_one_told() -> None:
    rates = told((10, 100), (20, 200))
    assert [rate_at(rates, at) for at in (5, 10, 19.9, 25)] == [0.0, 100, 100, 200]


def test_the_same_fan_wants_the_same_seats_whoever_drew_before() -> None:
    picker = SeatPicker(1_000, 0.8, Random(1))
    first = picker.of(Random("7")).popular()
    picker.popular()
    assert picker.of(Random("7")).popular() == first


@pytest.mark.parametrize(
    ("words", "told_words"),
    [
        (["--slow", "5:5"], "--slow goes with --fans"), (["--fans", "9", "--slow", "5"], "two numbers"),
        (["--fans", "9", "--slow", "5:0"], "seconds"), (["--fans", "9", "--cap", "10", "--least", "11"], "--least"),
        (["--fans", "9", "--look", "5:1"], "the lesser first"), (["--fans", "9", "--target", "waits=3"], "NAME=VALUE"),
        (["--fans", "9", "--target", "lock_waits=0"], "NAME=VALUE"),
        (["--fans", "9", "--server", "http://127.0.0.1:1"], "leave --server out"),
    ],
)  # fmt: skip
def test_wrong_use_is_told(words: list[str], told_words: str, capsys: pytest.CaptureFixture[Any]) -> None:
    with pytest.raises(SystemExit) as left:
        command.main(words)
    assert left.value.code == 2
    assert told_words in capsys.readouterr().err
