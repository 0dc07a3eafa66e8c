"""The cap of seats being paid, and the time that a payment needs (R7): nobody overshoots it, whoever meets whom."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.control import SettingsChange
from booking.domain.model import Hold, OperationResult, Order, ResultOutcome
from booking.domain.states import OperationKind
from booking.services.control_event import change_settings
from booking.services.take_payment import record_result
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, fan, make_event, till
from tests.server.test_authority_races import outcome_of

PAYING = "SELECT coalesce(sum(cardinality(seats) + places), 0) FROM holds WHERE status = 'PAYMENT_PENDING'"
CLAIM = "SELECT claim_paying_slot(e, $2, booking_now(), $3) AS slot FROM events e WHERE e.event_id = $1"


async def held_by_fans(db: Database, event: int, holds: int, seats_each: int) -> list[tuple[Desk, Hold]]:
    """Holds of as many fans, side by side."""
    desks = [Desk(db, fan(), event) for _ in range(holds)]
    made = await asyncio.gather(
        *(desk.hold(*range(n * seats_each, (n + 1) * seats_each)) for n, desk in enumerate(desks))
    )
    return list(zip(desks, made, strict=True))


async def all_at_once(sales: list[tuple[Desk, Hold]], other: Database) -> list[Order | errors.BookingError]:
    """Everybody checks out in the same moment, through two processes."""

    async def one(n: int, desk: Desk, hold: Hold) -> Order:
        db = other if n % 2 else desk.db
        return await Desk(db, desk.caller, desk.event_id).check_out(hold)

    return await asyncio.gather(*(outcome_of(one(n, desk, hold)) for n, (desk, hold) in enumerate(sales)))


async def test_b1_a_small_cap_is_filled_to_the_last_seat_and_never_beyond(
    sound_database: Database, other_database: Database
) -> None:
    event = await make_event(sound_database, paying_cap=7)
    sales = await held_by_fans(sound_database, event, 40, 1)
    answers = await all_at_once(sales, other_database)
    assert sum(isinstance(answer, Order) for answer in answers) == 7
    assert sum(isinstance(answer, errors.PayingCapReachedError) for answer in answers) == 33
    assert await count(sound_database, PAYING) == 7
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status = 1") == 33  # losers keep their holds


async def test_a_large_cap_in_parts_is_never_passed_and_nearly_filled(
    sound_database: Database, other_database: Database
) -> None:
    event = await make_event(sound_database, seats=900, paying_cap=750)
    sales = await held_by_fans(sound_database, event, 180, 5)
    answers = await all_at_once(sales, other_database)
    refused = [answer for answer in answers if not isinstance(answer, Order)]
    assert {type(answer) for answer in refused} <= {errors.PayingCapReachedError}
    assert 750 - 15 * 4 <= await count(sound_database, PAYING) <= 750
    slots = await sound_database.fetch("SELECT DISTINCT paying_slot FROM holds WHERE status = 'PAYMENT_PENDING'")
    assert {row["paying_slot"] for row in slots} == set(range(1, 16))


async def test_who_leaves_makes_room_for_who_comes(sound_database: Database) -> None:
    event = await make_event(sound_database, paying_cap=2)
    first, second = [Desk(sound_database, fan(), event) for _ in range(2)]
    order = await first.check_out(await first.hold(1, 2))
    hold = await second.hold(3)
    with pytest.raises(errors.PayingCapReachedError):
        await second.check_out(hold)
    step = await first.pay(order, OperationKind.AUTHORIZE)
    told = OperationResult(ResultOutcome.SUCCEEDED, order.amount_minor, provider_ref="auth")
    await record_result(sound_database, step.operation.operation_id, told, source="provider:sandbox")
    await second.check_out(hold)


async def test_a_second_attempt_after_a_decline_needs_room_again_and_cash_needs_none(sound_database: Database) -> None:
    event = await make_event(sound_database, paying_cap=2)
    desk, other = Desk(sound_database, till(), event), Desk(sound_database, fan(), event)
    order = await desk.check_out(await desk.hold(1, 2))
    attempt = await desk.pay(order, OperationKind.AUTHORIZE)
    declined = OperationResult(ResultOutcome.DECLINED, 0, decline_code="card-declined")
    await record_result(sound_database, attempt.operation.operation_id, declined, source="provider:sandbox")
    await other.check_out(await other.hold(3, 4))  # the seats went back to their hold: there was room
    with pytest.raises(errors.PayingCapReachedError):
        await desk.pay(order, OperationKind.AUTHORIZE)
    assert await count(sound_database, PAYING) == 2
    assert (await desk.pay(order, OperationKind.CASH)).order.status == "CONFIRMED"


async def test_a_raised_cap_counts_what_the_small_one_let_in(sound_database: Database) -> None:
    event = await make_event(sound_database, seats=60, paying_cap=40)
    for desk, hold in await held_by_fans(sound_database, event, 8, 5):
        await desk.check_out(hold)
    change = SettingsChange(paying_cap=750)
    await change_settings(sound_database, till(Role.OPS), event, 1, change, "more tills", key="k1", digest=b"")
    # (750 - 40) / 15 = 47 places in each part: fifteen parts and the forty of before stay within 750.
    assert await count(sound_database, CLAIM, event, 47, False) in range(1, 16)
    assert await count(sound_database, CLAIM, event, 48, False) == -1
    change = SettingsChange(paying_cap=45)
    await change_settings(sound_database, till(Role.OPS), event, 2, change, "enough", key="k2", digest=b"")
    assert await count(sound_database, CLAIM, event, 5, False) == 0
    assert await count(sound_database, CLAIM, event, 6, False) == -1


async def test_who_meets_a_claim_under_way_waits_for_it_and_is_not_refused(sound_database: Database) -> None:
    event = await make_event(sound_database, paying_cap=10)
    desk = Desk(sound_database, fan(), event)
    hold = await desk.hold(1)
    async with sound_database.transaction() as connection:
        assert await connection.fetchval(CLAIM, event, 1, True) == 0
        assert await count(sound_database, "SELECT coalesce((" + CLAIM + "), -2)", event, 1, False) == -2  # busy
        waiting = asyncio.create_task(desk.check_out(hold))
        while not await connection.fetchval(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        ):
            assert not waiting.done()
    assert (await waiting).status == "PENDING"


async def test_places_of_dead_sales_are_not_counted(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database, paying_cap=750)
    desk = Desk(sound_database, fan(), event)
    await desk.check_out(await desk.hold(1, 2, 3))
    paying = "SELECT paying_in_slots($1, 0, 15, booking_now())"
    assert await count(sound_database, paying, event) == 3
    await clock.move(seconds=1_000)
    assert await count(sound_database, paying, event) == 0


@pytest.mark.parametrize(
    ("least_s", "left_s", "may"), [(60, 59.9, False), (60, 60, True), (0, 0.1, True), (10, 9, False)]
)
async def test_too_little_time_is_what_the_event_says(
    sound_database: Database, clock: Clock, least_s: int, left_s: float, may: bool
) -> None:
    event = await make_event(sound_database, min_time_to_pay_s=least_s, grace_s=0)
    desk = Desk(sound_database, fan(), event)
    first, second = await desk.hold(1), await Desk(sound_database, fan(), event).hold(2)
    assert second.status == "HELD"
    await clock.stand_at(first.expires_at - timedelta(seconds=left_s))
    if not may:
        with pytest.raises(errors.TooLittleTimeError):
            await desk.check_out(first)
        return
    order = await desk.check_out(first)
    assert (await desk.pay(order, OperationKind.AUTHORIZE)).operation.amount_minor == order.amount_minor


async def test_too_little_time_for_a_card_is_time_enough_for_cash(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database, min_time_to_pay_s=30, grace_s=60)
    desk = Desk(sound_database, till(), event)
    order = await desk.check_out(await desk.hold(1))
    assert order.pay_until is not None
    await clock.stand_at(order.pay_until - timedelta(seconds=29))
    with pytest.raises(errors.TooLittleTimeError):
        await desk.pay(order, OperationKind.AUTHORIZE)
    assert (await desk.pay(order, OperationKind.CASH)).order.status == "CONFIRMED"
