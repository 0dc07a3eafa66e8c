"""Ends of holds in a crowd: sweepers, messages, takeovers and owners at the same seats, at the exact instant too.

R4, R5, R7, R8, B10.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar

import pytest

from booking.domain import errors
from booking.domain.errors import BookingError
from booking.domain.model import Hold, OperationResult, Order, ResultOutcome
from booking.domain.states import HoldStatus, OperationKind
from booking.services.hold_seats import read_hold
from booking.services.sweep_expired import sweep_once
from booking.store import expiry_queries
from booking.store.database import Database
from booking.store.expiry_queries import HoldEnds
from tests.server.box_office import (
    ADULT_PRICE,
    Clock,
    Desk,
    count,
    fan,
    make_event,
    released,
    reported,
    seat_states,
    till,
)

T = TypeVar("T")
TTL_S, GRACE_S = 300, 120
ATOM = timedelta(microseconds=1)
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


async def outcome_of(step: Awaitable[T]) -> T | BookingError:
    """A step's answer, or its refusal; anything else is a failure of the test."""
    try:
        return await step
    except BookingError as error:
        return error


@pytest.fixture
async def event_id(sound_database: Database, clock: Clock) -> int:
    return await make_event(sound_database, seats=200, min_time_to_pay_s=0, grace_s=0, max_open_holds_till=1_000)


@pytest.fixture
def desk(sound_database: Database, event_id: int) -> Desk:
    return Desk(sound_database, till(), event_id)


def end_of(hold: Hold) -> HoldEnds:
    return HoldEnds(hold.expires_at, hold.hold_id)


async def test_b10_sweeper_messages_and_takeovers_race_on_the_same_seats_200_times(
    desk: Desk, clock: Clock, other_database: Database
) -> None:
    """Of seats {a, b} held too long and {b, c} wanted anew: the newer hold is whole, the older one owns nothing."""
    db, rounds, at_once = desk.db, 40, 5
    for _ in range(rounds):
        old = [await Desk(db, fan(), desk.event_id).hold(3 * n, 3 * n + 1) for n in range(at_once)]
        await clock.move(seconds=TTL_S)
        buyers = [Desk((db, other_database)[n % 2], fan(), desk.event_id) for n in range(at_once)]
        messages = [end_of(hold) for hold in old]
        await asyncio.gather(
            sweep_once(db),
            sweep_once(other_database),
            expiry_queries.expire_holds(db, messages),
            expiry_queries.expire_holds(other_database, messages[::-1]),
            *(buyer.hold(3 * n + 1, 3 * n + 2, key="new") for n, buyer in enumerate(buyers)),
        )
        newer = [await buyer.hold(3 * n + 1, 3 * n + 2, key="new") for n, buyer in enumerate(buyers)]
        while await sweep_once(db):
            pass
        states = await seat_states(db, desk.event_id)
        for n, hold in enumerate(newer):
            assert hold.status is HoldStatus.HELD
            owners = [states[3 * n + seat][:2] for seat in range(3)]
            assert owners == [(0, None), (1, hold.hold_id), (1, hold.hold_id)]
        await db.fetch("SELECT release_hold('', true, hold_id) FROM holds WHERE status = 'HELD'")
    ended = await db.fetch("SELECT status, count(*) AS n FROM holds GROUP BY status")
    assert {row["status"]: row["n"] for row in ended} == {"EXPIRED": 200, "RELEASED": 200}
    assert await count(db, DEADLOCKS) == 0


@pytest.mark.parametrize("early", [ATOM, timedelta()], ids=["an atom before", "the exact instant"])
async def test_r4_owner_and_next_buyer_and_message_at_the_edge_of_a_hold(
    desk: Desk, clock: Clock, other_database: Database, early: timedelta
) -> None:
    """Up to the last microsecond the hold is its owner's and nobody else's; at its instant it is anybody's but his."""
    owner = Desk(desk.db, fan(), desk.event_id)
    for seat in range(20):
        held = await Desk(desk.db, owner.caller, desk.event_id).hold(seat)
        await clock.stand_at(held.expires_at - early)
        paid, taken, _ = await asyncio.gather(
            outcome_of(owner.check_out(held)),
            outcome_of(Desk(other_database, fan(), desk.event_id).hold(seat)),
            expiry_queries.expire_holds(other_database, [end_of(held)]),
        )
        if early:
            assert isinstance(paid, Order), paid
            assert isinstance(taken, errors.SeatsTakenError)
        else:
            assert isinstance(paid, errors.HoldExpiredError)
            assert isinstance(taken, Hold), taken
        owner = Desk(desk.db, fan(), desk.event_id)
        await clock.move(seconds=10_000)


async def test_r8_an_accounts_own_hold_stands_in_its_way_to_the_last_moment_and_not_at_its_end(
    desk: Desk, clock: Clock, other_database: Database
) -> None:
    """At the exact instant two holds of the account race for the one that it may have."""
    caller = fan()
    for seat in range(0, 60, 3):
        held = await Desk(desk.db, caller, desk.event_id).hold(seat)
        await clock.stand_at(held.expires_at - ATOM)
        refused = await outcome_of(Desk(desk.db, caller, desk.event_id).hold(seat + 1))
        assert isinstance(refused, errors.OpenHoldExistsError)
        await clock.stand_at(held.expires_at)
        answers = await asyncio.gather(
            outcome_of(Desk(desk.db, caller, desk.event_id).hold(seat + 1)),
            outcome_of(Desk(other_database, caller, desk.event_id).hold(seat + 2)),
        )
        assert Counter(type(answer).__name__ for answer in answers) == {"Hold": 1, "OpenHoldExistsError": 1}
        await clock.move(seconds=TTL_S)


async def test_r7_at_the_exact_end_of_grace_no_payment_begins_but_one_that_runs_confirms(
    desk: Desk, clock: Clock
) -> None:
    await desk.db.fetch("UPDATE events SET grace_s = $1", GRACE_S)
    running, late = await desk.check_out(await desk.hold(1)), await desk.check_out(await desk.hold(2))
    step = await desk.pay(running, OperationKind.SALE)
    assert running.pay_until is not None
    assert late.pay_until is not None
    await clock.stand_at(running.pay_until)
    await sweep_once(desk.db)
    done = await reported(
        desk.db, desk.caller, step.operation.operation_id, OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE)
    )
    assert done.order.status == "CONFIRMED"
    await clock.stand_at(late.pay_until)
    with pytest.raises(errors.HoldExpiredError):
        await desk.pay(late, OperationKind.CASH)
    await sweep_once(desk.db)
    assert [(await seat_states(desk.db, desk.event_id))[seat][0] for seat in (1, 2)] == [3, 0]


async def test_r7_cash_an_atom_before_the_end_of_grace_is_taken_while_sweepers_wait(
    desk: Desk, clock: Clock, other_database: Database
) -> None:
    for seat in range(20):
        order = await desk.check_out(await desk.hold(seat))
        assert order.pay_until is not None
        await clock.stand_at(order.pay_until - ATOM)
        step, *_ = await asyncio.gather(
            desk.pay(order, OperationKind.CASH), sweep_once(other_database), sweep_once(desk.db)
        )
        assert step.order.status == "CONFIRMED"
        await clock.move(seconds=1)
    assert await count(desk.db, "SELECT count(*) FROM seats WHERE status = 3") == 20


async def test_releases_checkouts_sweeps_and_messages_of_one_hold_have_one_end(
    desk: Desk, clock: Clock, other_database: Database
) -> None:
    """The hold runs out while its owner decides: whoever is first decides, and the seat tells the same story."""
    ends: Counter[str] = Counter()
    for seat in range(40):
        owner = Desk(desk.db, fan(), desk.event_id)
        held = await owner.hold(seat)
        await clock.move(seconds=TTL_S - (0.004 if seat % 2 else 0))
        answers = await asyncio.gather(
            outcome_of(released(desk.db, owner.caller, held.hold_id)),
            outcome_of(Desk(other_database, owner.caller, desk.event_id).check_out(held)),
            sweep_once(other_database),
            expiry_queries.expire_holds(desk.db, [end_of(held)]),
        )
        status = (await read_hold(desk.db, owner.caller, held.hold_id)).status
        seat_status = (await seat_states(desk.db, desk.event_id))[seat][0]
        assert (status, seat_status) in {
            (HoldStatus.RELEASED, 0), (HoldStatus.EXPIRED, 0), (HoldStatus.PAYMENT_PENDING, 2),
        }, answers  # fmt: skip
        ends[status] += 1
        await clock.move(seconds=10_000)
        while await sweep_once(desk.db):
            pass
    assert await count(desk.db, "SELECT count(*) FROM seats WHERE status <> 0") == 0
    assert await count(desk.db, DEADLOCKS) == 0
    assert sum(ends.values()) == 40
