"""Many buyers at once: one winner, all or nothing, no deadlock outside, one execution for a key (B1, B9, G6, P6)."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from uuid import uuid4

import asyncpg
from uuid_utils.compat import uuid7

from booking.domain import errors
from booking.domain.errors import BookingError
from booking.domain.model import CheckoutLine, Hold, PaymentIntent
from booking.domain.states import OperationKind
from booking.services.check_out import check_out
from booking.services.hold_seats import hold_seats
from booking.services.take_payment import open_payment
from booking.sql import query
from booking.store.database import Database
from booking.store.hold_lane import HoldAsk, columns
from tests.server.box_office import ADULT, ADULT_PRICE, Desk, count, fan, make_event, till

T = TypeVar("T")


async def outcome_of(step: Awaitable[T]) -> T | BookingError:
    """A step's answer, or its refusal; anything else is a failure of the test."""
    try:
        return await step
    except BookingError as error:
        return error


async def test_b1_two_buyers_of_one_seat_200_times(sound_database: Database, other_database: Database) -> None:
    event = await make_event(sound_database, seats=200, max_open_holds_till=1_000)

    async def race(seat: int) -> None:
        desks = [Desk(sound_database, till(), event), Desk(other_database, till(), event)]
        barrier = asyncio.Barrier(2)

        async def buy(desk: Desk) -> Any:
            await barrier.wait()
            return await desk.sell(seat)

        first, second = await asyncio.gather(*(outcome_of(buy(desk)) for desk in desks))
        lost, won = (first, second) if isinstance(first, errors.SeatsTakenError) else (second, first)
        assert isinstance(lost, errors.SeatsTakenError)
        assert [taken.seat_no for taken in lost.seats] == [seat]
        assert not isinstance(won, BookingError), won
        assert won.order.status == "CONFIRMED"

    for first in range(0, 200, 4):
        await asyncio.gather(*map(race, range(first, first + 4)))
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status = 3") == 200
    assert await count(sound_database, "SELECT count(*) FROM order_seats WHERE valid") == 200
    assert await count(sound_database, "SELECT count(*) FROM orders") == 200


async def test_one_hundred_connections_want_the_last_seat(sound_database: Database, dsn: str) -> None:
    """One session each, one function call each, all waiting for locks: no lane that could help."""
    event = await make_event(sound_database, seats=1)
    settings = {"lock_timeout": "20s", "statement_timeout": "30s"}
    connections: list[asyncpg.Connection[asyncpg.Record]] = []
    for start in range(0, 100, 20):
        connections += await asyncio.gather(
            *(asyncpg.connect(dsn, server_settings=settings, timeout=30) for _ in range(start, start + 20))
        )
    try:
        barrier = asyncio.Barrier(100)

        async def want(connection: asyncpg.Connection[asyncpg.Record]) -> tuple[str, list[int]]:
            caller = fan()
            ask = HoldAsk(event, caller.principal, "online", str(uuid4()), b"d", uuid7(), None, None, (0,))
            await barrier.wait()
            (row,) = await connection.fetch(query("hold_seats_batch"), *columns([ask]), True, False)
            return row["code"], row["lost"]

        answers = await asyncio.gather(*map(want, connections))
    finally:
        await asyncio.gather(*(connection.close() for connection in connections))
    assert Counter(code for code, _ in answers) == {"": 1, "seats-taken": 99}
    assert all(lost == [0] for code, lost in answers if code)


async def test_a_crowd_on_one_seat_through_two_processes(sound_database: Database, other_database: Database) -> None:
    event = await make_event(sound_database, seats=3)
    desks = [Desk((sound_database, other_database)[n % 2], fan(), event) for n in range(100)]
    answers = await asyncio.gather(*(outcome_of(desk.hold(1)) for desk in desks))
    kinds = Counter(type(answer).__name__ for answer in answers)
    assert kinds == {"Hold": 1, "SeatsTakenError": 99}
    assert all([seat.seat_no for seat in answer.seats] == [1] for answer in answers)


async def test_g6_overlapping_groups_storm_without_an_error_outside(
    sound_database: Database, other_database: Database
) -> None:
    event = await make_event(sound_database, seats=4)
    groups = [(0, 1), (1, 0), (0, 2)]
    for _ in range(6):
        desks = [Desk((sound_database, other_database)[n % 2], fan(), event) for n in range(50)]
        answers = await asyncio.gather(*(outcome_of(desk.hold(*groups[n % 3])) for n, desk in enumerate(desks)))
        kinds = Counter(type(answer).__name__ for answer in answers)
        assert kinds == {"Hold": 1, "SeatsTakenError": 49}
        await sound_database.fetch("SELECT release_hold('', true, hold_id) FROM holds WHERE status = 'HELD'")
    deadlocks = await count(sound_database, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert deadlocks == 0


async def test_random_groups_never_overlap(sound_database: Database, other_database: Database) -> None:
    """1–6 seats of 60 from two processes: what is held is held once, each hold has all it asked for."""
    event = await make_event(sound_database, seats=60)
    draw = random.Random(20)
    wants = [draw.sample(range(60), draw.randint(1, 6)) for _ in range(240)]
    desks = [Desk((sound_database, other_database)[n % 2], fan(), event) for n in range(240)]
    answers = await asyncio.gather(*(outcome_of(desk.hold(*want)) for desk, want in zip(desks, wants, strict=True)))
    held = [answer for answer in answers if isinstance(answer, Hold)]
    seats = [seat.seat_no for hold in held for seat in hold.seats]
    assert len(seats) == len(set(seats)) == await count(sound_database, "SELECT count(*) FROM seats WHERE status = 1")
    for answer, want in zip(answers, wants, strict=True):
        if isinstance(answer, Hold):
            assert [seat.seat_no for seat in answer.seats] == sorted(want)
        else:
            assert isinstance(answer, errors.SeatsTakenError)
            assert {seat.seat_no for seat in answer.seats} <= set(want)
            assert answer.seats


async def test_p6_ten_parallel_holds_with_one_key_make_one_hold(
    sound_database: Database, other_database: Database
) -> None:
    event = await make_event(sound_database)
    caller = fan()
    outcomes = await asyncio.gather(
        *(
            hold_seats((sound_database, other_database)[n % 2], caller, event, [1, 2], key="one", digest=b"d")
            for n in range(10)
        )
    )
    assert len({outcome.value.hold_id for outcome in outcomes}) == 1
    assert sum(not outcome.replayed for outcome in outcomes) == 1
    assert await count(sound_database, "SELECT count(*) FROM outbox") == 1


async def test_p6_and_p1_ten_parallel_checkouts_and_payments_with_one_key(
    sound_database: Database, other_database: Database
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1, 2)
    lines = [CheckoutLine(1, ADULT), CheckoutLine(2, ADULT)]

    async def ten(call: Callable[[Database], Awaitable[Any]]) -> list[Any]:
        return list(await asyncio.gather(*(call((sound_database, other_database)[n % 2]) for n in range(10))))

    orders = await ten(
        lambda db: check_out(db, desk.caller, hold.hold_id, lines, 2 * ADULT_PRICE, key="c", digest=b"d")
    )
    order = orders[0].value
    assert {each.value.order_id for each in orders} == {order.order_id}
    assert sum(not each.replayed for each in orders) == 1

    intent = PaymentIntent(OperationKind.CASH, "drawer", order.amount_minor, 10_000)
    steps = await ten(lambda db: open_payment(db, desk.caller, order.order_id, intent, key="p", digest=b"d"))
    assert len({step.value.operation.operation_id for step in steps}) == 1
    assert sum(not step.replayed for step in steps) == 1
    assert {(step.value.operation.change_minor, step.value.order.status) for step in steps} == {(2_000, "CONFIRMED")}
    assert await count(sound_database, "SELECT count(*) FROM outbox WHERE type = 'order-confirmed'") == 1


async def test_p1_two_payments_with_keys_of_their_own_are_one_charge(
    sound_database: Database, other_database: Database
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    other = Desk(other_database, desk.caller, event)
    order = await desk.check_out(await desk.hold(1))
    answers = await asyncio.gather(*(outcome_of((desk, other)[n % 2].pay(order, OperationKind.SALE)) for n in range(6)))
    kinds = Counter(type(answer).__name__ for answer in answers)
    assert kinds == {"PaymentStep": 1, "PaymentRunningError": 5}
    assert await count(sound_database, "SELECT count(*) FROM payment_operations") == 1


async def test_one_account_cannot_race_past_its_limits(sound_database: Database, other_database: Database) -> None:
    event = await make_event(sound_database)
    caller = fan()
    answers = await asyncio.gather(
        *(outcome_of(Desk((sound_database, other_database)[n % 2], caller, event).hold(n)) for n in range(12))
    )
    kinds = Counter(type(answer).__name__ for answer in answers)
    assert kinds == {"Hold": 1, "OpenHoldExistsError": 11}


async def test_a_winners_retry_in_the_crowd_is_its_own_hold(sound_database: Database) -> None:
    """A loser's answer comes only after its key was looked up: the retry of the winner is no loser."""
    event = await make_event(sound_database)
    winner = fan()
    calls = [hold_seats(sound_database, winner, event, [1], key="w", digest=b"d") for _ in range(4)]
    crowd = [Desk(sound_database, fan(), event).hold(1) for _ in range(20)]
    answers = await asyncio.gather(*calls, *(outcome_of(call) for call in crowd))
    held = {answer.value.hold_id for answer in answers[:4] if not isinstance(answer, BookingError | Hold)}
    assert len(held) == 1
    assert all(isinstance(answer, errors.SeatsTakenError) for answer in answers[4:])
