"""The rules of one room: places, order, slots, what is told (R16–R19, W1, W3, W4, W6, W7)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.domain.admission_token import SKEW_S
from booking.domain.errors import EventStateConflictError, QueueClosedError
from booking.room.estimate import Basis
from booking.room.event_room import Availability, EventRoom, Phase
from booking.room.places import PlaceRow, Places, State
from booking.room.settings import Queueing
from tests.room.people import OPENS_AT, SEED, account, join_all, make_room


def states(room: EventRoom, numbers: list[int]) -> list[State]:
    return [room.places.state(number) for number in numbers]


def admitted(room: EventRoom) -> set[int]:
    return set(room.places.slots)


def poll_all(room: EventRoom, numbers: list[int], now: float) -> None:
    for number in numbers:
        room.seen(number, now)


def test_twenty_reloads_give_the_same_place() -> None:
    """W6."""
    room = make_room()
    join_all(room, 10)
    assert {room.join(account(4), OPENS_AT - 50 + reload) for reload in range(20)} == {4}
    assert (len(room.places), room.standing(4, OPENS_AT - 20).ahead) == (10, 4)


def test_nobody_is_let_in_before_the_opening() -> None:
    room = make_room()
    join_all(room, 3)
    assert [room.tick(OPENS_AT - left) for left in (30, 1, 0.001)] == [0, 0, 0]
    assert room.phase is Phase.EARLY
    assert room.tick(OPENS_AT) + room.tick(OPENS_AT + 1) == 3


def test_first_come_first_served() -> None:
    room = make_room(total_active_users=3)
    numbers = join_all(room, 10)
    room.tick(OPENS_AT)
    room.tick(OPENS_AT + 1)
    assert admitted(room) == set(numbers[:3])
    assert [room.standing(n, OPENS_AT).ahead for n in numbers[3:]] == list(range(7))


def test_the_lot_orders_who_came_early_and_nobody_after() -> None:
    """R17: random for those before the opening, FIFO after; whoever has the seed can draw again."""
    room = make_room(queueing=Queueing.RANDOM, total_active_users=0)
    early = join_all(room, 50)
    assert room.standing(3, OPENS_AT - 1).ahead is None
    assert (room.places.waiting, hashlib.sha256(SEED).hexdigest()) == (50, room.commitment)
    room.tick(OPENS_AT)
    late = join_all(room, 5, OPENS_AT + 1, first=50)
    by_position = sorted(early, key=lambda number: room.standing(number, OPENS_AT + 2).ahead or 0)
    assert by_position == sorted(early, key=lambda number: hashlib.sha256(SEED + account(number)).digest()) != early
    assert [room.standing(n, OPENS_AT + 2).ahead for n in late] == [50, 51, 52, 53, 54]


def test_the_way_of_queueing_is_fixed_once_people_have_come() -> None:
    room = make_room()
    other = make_room(queueing=Queueing.RANDOM).settings
    room.change_settings(other)
    join_all(room, 1)
    with pytest.raises(EventStateConflictError):
        room.change_settings(make_room().settings)
    assert room.settings.queueing is Queueing.RANDOM


def test_who_is_away_is_passed_over_and_keeps_the_place() -> None:
    room = make_room(total_active_users=1, away_after_s=100, collect_within_s=600)
    numbers = join_all(room, 5, OPENS_AT - 10)
    room.tick(OPENS_AT)
    for seconds in range(1, 95):
        room.tick(OPENS_AT + seconds)
    poll_all(room, [0, 2, 3, 4], OPENS_AT + 95)
    room.tick(OPENS_AT + 96)
    assert states(room, numbers)[1:] == [State.AWAY, State.WAITING, State.WAITING, State.WAITING]
    assert room.standing(2, OPENS_AT + 96).ahead == 0
    room.seen(1, OPENS_AT + 97)
    assert [room.standing(n, OPENS_AT + 97).ahead for n in (1, 2)] == [0, 1]


@pytest.mark.parametrize("step_s", [3_600.0, -3_600.0])
def test_nobody_was_away_because_the_clock_was_set(step_s: float) -> None:
    """The host's clock is set, or the host sleeps: who asked just before is there, and still has to ask."""
    room = make_room(total_active_users=0, away_after_s=100)
    numbers = join_all(room, 5, OPENS_AT - 1)
    for seconds in range(5):
        room.tick(OPENS_AT + seconds)
    now = OPENS_AT + 4 + step_s
    room.tick(now)
    assert set(states(room, numbers)) == {State.WAITING}
    for _ in range(20):
        now += 6
        room.tick(now)
    assert set(states(room, numbers)) == {State.AWAY}


def test_a_crowd_that_is_gone_at_once_is_passed_over_in_steps() -> None:
    room = make_room(total_active_users=0, away_after_s=100)
    join_all(room, 12_000, OPENS_AT - 20)
    waiting = []
    for step in range(4):
        room.tick(OPENS_AT + 200 + step / 4)
        waiting.append(room.places.waiting)
    assert waiting == [7_000, 2_000, 0, 0]


def test_who_leaves_and_comes_back_stands_at_the_end() -> None:
    room = make_room(total_active_users=0)
    join_all(room, 4)
    room.leave(1, OPENS_AT)
    assert room.standing(2, OPENS_AT).ahead == 1
    assert room.join(account(1), OPENS_AT) == 1
    assert room.standing(1, OPENS_AT).ahead == 3


def test_the_next_ten_get_in_when_ten_have_gone_and_ten_have_bought() -> None:
    """W1: limit 10, 30 queued, 10 in, the next 10 leave, the first 10 finish → 21–30 within the time of grace."""
    room = make_room(total_active_users=10, collect_within_s=20)
    numbers = join_all(room, 30)
    room.tick(OPENS_AT)
    room.tick(OPENS_AT + 1)
    turns = [room.collect(n, f"s{n}", OPENS_AT + 2) for n in numbers[:10]]
    # The next ten close their browsers without a word; then the first ten buy.
    for turn in turns:
        assert turn is not None
        assert room.bought(turn.account, turn.slot_id)
    room.tick(OPENS_AT + 3)
    assert admitted(room) == set(numbers[10:20])
    poll_all(room, numbers[20:], OPENS_AT + 4)
    room.tick(OPENS_AT + 3 + 20)
    assert admitted(room) == set(numbers[20:])
    assert states(room, numbers[10:20]) == [State.AWAY] * 10


def test_a_purchase_frees_its_slot_at_once_and_only_once() -> None:
    """W3."""
    room = make_room(total_active_users=1)
    join_all(room, 2)
    room.tick(OPENS_AT)
    room.tick(OPENS_AT + 1)
    turn = room.collect(0, "s", OPENS_AT + 1)
    assert turn is not None
    assert not room.bought(account(0), UUID(int=99))
    assert room.bought(account(0), turn.slot_id)
    assert not room.bought(account(0), turn.slot_id)
    assert room.active == 0
    room.tick(OPENS_AT + 1.25)
    assert admitted(room) == {1}
    assert room.collect(0, "s", OPENS_AT + 2) is None


def test_one_session_has_the_turn_until_another_takes_it_over() -> None:
    room = make_room()
    join_all(room, 1)
    room.tick(OPENS_AT)
    room.tick(OPENS_AT + 1)
    first, again = room.collect(0, "phone", OPENS_AT + 1), room.collect(0, "phone", OPENS_AT + 2)
    assert first is not None
    assert again is not None
    assert first.generation == again.generation
    assert room.collect(0, "laptop", OPENS_AT + 3) is None
    taken = room.collect(0, "laptop", OPENS_AT + 3, take_over=True)
    assert taken is not None
    assert (taken.generation, taken.slot_id) > (first.generation, first.slot_id)
    assert room.collect(0, "phone", OPENS_AT + 4) is None


def test_a_slot_is_renewed_once_in_its_last_half() -> None:
    room = make_room(session_renewal=True, session_duration_s=100, token_life_s=30)
    join_all(room, 1)
    room.tick(OPENS_AT)
    room.tick(OPENS_AT + 1)
    ends = [turn.slot_ends_at - OPENS_AT for at in (1, 40, 60, 120, 159)
            if (turn := room.collect(0, "s", OPENS_AT + at)) is not None]  # fmt: skip
    assert ends == [101, 101, 160, 160, 160]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["join", "collect", "take", "buy", "leave", "go", "return", "wait", "long"]),
        min_size=10,
        max_size=80,
    ),
    st.integers(1, 4),
    st.booleans(),
)
def test_tokens_never_outlive_their_slot_and_capacity_holds(steps: list[str], capacity: int, renews: bool) -> None:
    """W4: at every instant those who could use a token, on a clock that is late, are no more than the capacity."""
    room = make_room(total_active_users=capacity, session_duration_s=60, token_life_s=30, session_renewal=renews)
    now, people = OPENS_AT, 0
    live: dict[bytes, float] = {}
    for index, step in enumerate(steps):
        now += {"wait": 5.0, "long": 37.0}.get(step, 0.1)
        target = min(room.places.slots, default=None)
        if step == "join":
            room.join(account(people), now)
            people += 1
        elif step in ("collect", "take") and target is not None:
            turn = room.collect(target, f"s{index if step == 'take' else 0}", now, take_over=step == "take")
            if turn is not None:
                assert now < turn.expires_at <= turn.slot_ends_at
                live[turn.account] = max(turn.expires_at, live.get(turn.account, 0.0))
        elif step == "buy" and target is not None:
            buyer = room.places.account(target)
            assert room.bought(buyer, room.places.slots[target].slot_id)
            live.pop(buyer, None)
        elif step == "leave" and people:
            waiting = room.places.next_in_line()
            if waiting is not None:
                room.leave(waiting, now)
        elif step == "go" and target is not None:
            room.leave(target, now)
        elif step == "return" and target is not None:
            room.join(room.places.account(target), now)
        room.tick(now)
        assert room.active <= capacity
        usable = {shopper for shopper, ends in live.items() if now < ends + 2 * SKEW_S}
        assert usable <= {room.places.account(number) for number in room.places.slots}


def test_who_comes_back_and_leaves_again_keeps_the_slot_taken_as_long() -> None:
    """W4: the second turn was never come for, but a token of the first one may still be good."""
    room = make_room(total_active_users=2, token_life_s=30, session_duration_s=60)
    [visitor] = join_all(room, 1)
    room.tick(OPENS_AT)
    room.tick(OPENS_AT + 1)
    assert room.collect(visitor, "s", OPENS_AT + 1) is not None
    room.leave(visitor, OPENS_AT + 2)
    room.join(account(0), OPENS_AT + 3)
    room.tick(OPENS_AT + 3)
    assert room.places.state(visitor) is State.ADMITTED
    room.leave(visitor, OPENS_AT + 4)
    room.tick(OPENS_AT + 5)
    assert room.active == 1
    room.tick(OPENS_AT + 2 + 30 + 2 * SKEW_S)
    assert room.active == 0


def test_who_leaves_with_a_token_keeps_the_slot_taken_until_the_token_ends() -> None:
    """W4. Booking hears nothing of who leaves: there would be two inside where one may be."""
    room = make_room(total_active_users=1, token_life_s=30)
    join_all(room, 2)
    room.tick(OPENS_AT)
    turn = room.collect(0, "s", OPENS_AT)
    assert turn is not None
    room.leave(0, OPENS_AT + 5)
    assert (room.standing(0, OPENS_AT + 6).state, room.active) == (State.LEFT, 1)
    assert room.collect(0, "s", OPENS_AT + 6) is None, "no new token for who has left"
    until = OPENS_AT + 35 + 2 * SKEW_S
    for second in range(6, int(until - OPENS_AT)):
        assert room.tick(OPENS_AT + second) == 0
    assert turn.expires_at <= until
    assert room.tick(until) + room.tick(until + 1) == 1
    assert admitted(room) == {1}


def test_who_leaves_before_coming_for_the_turn_frees_it_at_once() -> None:
    room = make_room(total_active_users=1)
    join_all(room, 2)
    room.tick(OPENS_AT)
    room.leave(0, OPENS_AT + 1)
    assert room.tick(OPENS_AT + 1) == 1
    assert admitted(room) == {1}


def test_who_buys_with_a_turn_that_was_left_has_bought_and_one_back_in_line_stays_there() -> None:
    room = make_room(total_active_users=2)
    join_all(room, 3)
    room.tick(OPENS_AT)
    room.tick(OPENS_AT + 1)
    slots = {}
    for number in (0, 1):
        assert room.collect(number, "s", OPENS_AT + 1)
        slots[number] = room.places.slots[number].slot_id
        room.leave(number, OPENS_AT + 2)
    assert room.join(account(1), OPENS_AT + 3) == 1
    assert room.bought(account(0), slots[0])
    assert room.bought(account(1), slots[1])
    assert states(room, [0, 1]) == [State.BOUGHT, State.WAITING]
    assert room.active == 0


@pytest.mark.parametrize(("per_minute", "most"), [(0, 0), (6, 5)])
def test_coming_and_going_of_what_is_left_lets_nobody_in_by_itself(per_minute: int, most: int) -> None:
    """At the end of a sale seats come back and go every second: four people for nothing in each ten seconds it was."""
    room = make_room(new_users_per_minute=per_minute, total_active_users=100)
    join_all(room, 50)
    let_in = room.tick(OPENS_AT)
    for step in range(1, 241):
        flips = Availability.AVAILABLE if (step // 4) % 2 else Availability.MAY_COME_BACK
        room.set_availability(flips)
        let_in += room.tick(OPENS_AT + step / 4, authority_is_there=step % 3 > 0)
    assert let_in <= most


def test_an_estimate_does_not_count_the_time_in_which_nobody_waited() -> None:
    """R19. Ten came in five minutes, then a thousand at once: the last one waits eight minutes, not six hours."""
    room = make_room(new_users_per_minute=120, total_active_users=100_000, away_after_s=3600)
    now, last, who = OPENS_AT, 0, 0
    for step in range(1200):
        now = OPENS_AT + step / 4
        if step % 120 == 0:
            room.join(account(who), now)
            who += 1
        room.tick(now)
    for _ in range(1000):
        last, who = room.join(account(who), now), who + 1
    for _ in range(240):
        now += 0.25
        room.tick(now)
        standing = room.standing(last, now)
        assert standing.estimate is not None
        assert standing.ahead is not None
        takes_s = (standing.ahead + 1) / 2
        assert takes_s / 1.5 <= standing.estimate.expected_s <= takes_s * 1.5


def test_the_rate_is_kept() -> None:
    room = make_room(new_users_per_minute=120, total_active_users=10_000)
    join_all(room, 500)
    room.tick(OPENS_AT)
    let_in = sum(room.tick(OPENS_AT + step / 4) for step in range(1, 241))
    assert 119 <= let_in <= 122


def test_nobody_is_let_in_while_booking_is_away_and_gently_afterwards() -> None:
    """R20; what was not used meanwhile is not made up for."""
    room = make_room(new_users_per_minute=60, total_active_users=1000)
    join_all(room, 100)
    room.tick(OPENS_AT)
    room.tick(OPENS_AT + 10)
    before = room.active
    assert sum(room.tick(OPENS_AT + 10 + step, authority_is_there=False) for step in range(60)) == 0
    assert room.standing(50, OPENS_AT + 60).estimate is None
    assert room.tick(OPENS_AT + 80) <= 1
    assert room.active <= before + 1


def test_may_come_back_is_not_sold_out() -> None:
    """W7: nobody is let in, nobody is sent away, everybody is told, and it goes on when something came back."""
    room = make_room(total_active_users=2)
    join_all(room, 3)
    assert room.tick(OPENS_AT) == 1
    room.all_told = False
    room.set_availability(Availability.MAY_COME_BACK)
    assert room.all_told
    assert room.tick(OPENS_AT + 1) == 0
    assert room.join(account(9), OPENS_AT + 2) == 3
    room.set_availability(Availability.AVAILABLE)
    assert room.tick(OPENS_AT + 3) + room.tick(OPENS_AT + 4) == 1


def test_sold_out_is_told_to_all_and_takes_nobody_more() -> None:
    room = make_room()
    join_all(room, 3)
    room.tick(OPENS_AT)
    room.all_told = False
    room.set_availability(Availability.SOLD_OUT)
    assert room.all_told
    with pytest.raises(QueueClosedError):
        room.join(account(77), OPENS_AT + 1)
    assert room.join(account(1), OPENS_AT + 1) == 1
    room.set_availability(Availability.AVAILABLE)
    assert room.join(account(77), OPENS_AT + 2) == 3


def test_an_estimate_is_measured_has_a_spread_and_is_absent_while_paused() -> None:
    """R19."""
    room = make_room(new_users_per_minute=120, total_active_users=10_000, away_after_s=3600)
    join_all(room, 2000)
    room.tick(OPENS_AT)
    early = room.standing(1000, OPENS_AT).estimate
    assert early is not None
    assert early.basis is Basis.SET
    for step in range(1, 480):
        room.tick(OPENS_AT + step / 4)
    now = OPENS_AT + 120
    measured = room.standing(1240, now).estimate
    assert measured is not None
    assert measured.basis is Basis.MEASURED
    assert measured.low_s < 500 < measured.high_s
    assert 450 <= measured.expected_s <= 550
    assert (measured.high_s - measured.low_s) < (early.high_s - early.low_s) * 2
    room.change_settings(make_room(paused=True).settings)
    room.tick(now + 1)
    assert room.standing(1240, now + 1).estimate is None


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([Queueing.FIFO, Queueing.RANDOM]),
    st.lists(st.tuples(st.sampled_from(["join", "leave", "seen", "tick", "collect"]), st.integers(0, 12)), max_size=60),
)
def test_a_restart_finds_everybody_where_they_stood(queueing: Queueing, steps: list[tuple[str, int]]) -> None:
    """What `changed` named, stored as rows, gives the same room again: states, positions, slots, next in line."""
    room = make_room(queueing=queueing, total_active_users=2, away_after_s=30)
    now = OPENS_AT - 20
    stored: dict[int, PlaceRow] = {}
    for step, who in steps:
        now += 3
        number = room.places.find(account(who))
        if step == "join":
            room.join(account(who), now)
        elif step == "tick":
            room.tick(now)
        elif number is not None and step == "leave":
            room.leave(number, now)
        elif number is not None and step == "seen":
            room.seen(number, now)
        elif number is not None:
            room.collect(number, "s", now)
        stored |= {n: room.places.row(n) for n in room.changed}
        room.changed = set()
    places = Places()
    places.restore([stored[n] for n in sorted(stored)], SEED, room.drawn, now)
    again = EventRoom(room.facts, places)
    numbers = list(range(len(room.places)))
    assert len(places) == len(numbers)
    # How fast it goes is measured anew.
    assert [replace(again.standing(n, now), estimate=None) for n in numbers] == [
        replace(room.standing(n, now), estimate=None) for n in numbers
    ]
    assert again.places.next_in_line() == room.places.next_in_line()
    assert again.places.slots == room.places.slots
