"""How often who waits is told to ask: bearable for one process, never too seldom for who keeps to it."""

from __future__ import annotations

import pytest

from booking.room.asking import LATEST_S, POLLS_PER_S, SPREAD
from booking.room.estimate import Basis, Estimate
from booking.room.event_room import EventRoom, Phase, Standing
from booking.room.places import PlaceRow, Places, State
from booking.room.status import ask_again_after_s, instant
from tests.room.people import OPENS_AT, account, join_all, make_room


def open_room(**settings: int) -> EventRoom:
    room = make_room(total_active_users=0, **settings)
    join_all(room, 4)
    room.tick(OPENS_AT)
    assert room.phase is Phase.OPEN
    return room


def standing(waiting: int, to_turn_s: int | None = None) -> Standing:
    estimate = None if to_turn_s is None else Estimate(to_turn_s, to_turn_s, to_turn_s, Basis.MEASURED)
    return Standing(State.WAITING, 1, waiting, estimate, None)


@pytest.mark.parametrize("waiting", [80_000, 500_000, 2_000_000])
@pytest.mark.parametrize("to_turn_s", [None, 100_000])
def test_a_line_of_any_length_asks_no_more_often_than_one_process_bears(waiting: int, to_turn_s: int | None) -> None:
    room, told = open_room(), standing(waiting, to_turn_s)
    numbers = range(0, waiting, waiting // 1_000)
    per_s = sum(1 / ask_again_after_s(room, told, number, OPENS_AT) for number in numbers) * waiting / len(numbers)
    most = max(POLLS_PER_S, waiting / 15) if to_turn_s is None else max(POLLS_PER_S, waiting / 40)
    assert per_s <= 1.05 * min(most, max(POLLS_PER_S, waiting / 15))
    if waiting >= 40 * POLLS_PER_S:
        assert per_s <= 1.05 * POLLS_PER_S


def test_an_opening_beyond_the_calendar_is_told_as_its_end() -> None:
    assert instant(253_402_304_400.0).year == 9999


def test_before_the_opening_too() -> None:
    room = make_room()
    told = [ask_again_after_s(room, standing(700_000), number, OPENS_AT - 1) for number in range(1_000)]
    assert 700_000 * sum(1 / seconds for seconds in told) / len(told) <= 1.05 * POLLS_PER_S


def test_who_is_near_comes_in_time_for_his_turn_in_the_longest_line() -> None:
    room = open_room(collect_within_s=60)
    assert max(ask_again_after_s(room, standing(2_000_000, 5), number, OPENS_AT) for number in range(100)) <= 30


def test_a_short_line_is_told_what_it_always_was() -> None:
    room = open_room(away_after_s=120)
    assert max(ask_again_after_s(room, standing(100, 10_000), number, OPENS_AT) for number in range(100)) <= 48
    assert min(ask_again_after_s(room, standing(100, 4), number, OPENS_AT) for number in range(100)) == 2
    assert max(ask_again_after_s(room, standing(100), number, OPENS_AT) for number in range(100)) <= 18
    assert LATEST_S * (1 + SPREAD) > 48


def test_who_keeps_to_what_he_was_told_is_never_passed_over_and_who_does_not_is() -> None:
    room = open_room(away_after_s=120)
    told = ask_again_after_s(room, standing(2_000_000, 100_000), 1, OPENS_AT)
    assert told > 600
    room.seen(1, OPENS_AT)
    room.told_to_wait(1, OPENS_AT, told)
    room.tick(OPENS_AT + 0.25)
    for later in range(10, 2 * told, 10):
        room.tick(OPENS_AT + later)
    assert room.places.state(1) is State.WAITING, "one answer may be lost, too"
    assert room.places.state(0) is State.AWAY, "who was told nothing of the kind"
    for later in range(2 * told, 3 * told, 10):
        room.tick(OPENS_AT + later)
    assert room.places.state(1) is State.AWAY


def test_after_a_new_start_nobody_is_gone_who_was_told_to_wait_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("booking.room.asking.POLLS_PER_S", 0.01)
    before = open_room(away_after_s=120)
    rows = [PlaceRow(n, account(n), State.WAITING, n, OPENS_AT, 0) for n in range(4)]
    places = Places()
    places.restore(rows, before.seed, 0, OPENS_AT)
    room = EventRoom(before.facts, places)
    room.forgive()
    for later in range(0, 800, 10):
        room.tick(OPENS_AT + later)
    assert room.places.count(State.WAITING) == 4
    for later in range(800, 1_300, 10):
        room.tick(OPENS_AT + later)
    assert room.places.count(State.AWAY) == 4
