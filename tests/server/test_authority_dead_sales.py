"""R5, R7, B13 with the sweeper stopped: a sale that nobody can finish is in nobody's way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.model import OperationResult, Order, ResultOutcome
from booking.domain.states import HoldStatus, OperationKind, OrderStatus, SeatStatus
from booking.services.hold_seats import read_hold
from booking.services.orders import read_order
from booking.services.take_payment import mark_sent, record_result
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, fan, make_event, reported, seat_states, till

SALE, AUTHORIZE, CASH = OperationKind.SALE, OperationKind.AUTHORIZE, OperationKind.CASH
DECLINED = OperationResult(ResultOutcome.DECLINED, 0, decline_code="05")
UNKNOWN = OperationResult(ResultOutcome.UNKNOWN, 0)
ACTION = OperationResult(ResultOutcome.ACTION_REQUIRED, 0)


Dying = Callable[..., Awaitable[Order]]


async def at_the_deadline(clock: Clock, order: Order) -> None:
    assert order.pay_until is not None
    await clock.stand_at(order.pay_until)


async def never_paid(desk: Desk, *seats: int) -> Order:
    return await desk.check_out(await desk.hold(*seats))


async def declined_twice(desk: Desk, *seats: int) -> Order:
    """PAYING with charges that all failed: the second one ended without its till having said so to the order."""
    order = await never_paid(desk, *seats)
    for _ in range(2):
        step = await desk.pay(order, SALE)
        await reported(desk.db, desk.caller, step.operation.operation_id, DECLINED)
    await desk.pay(order, SALE)
    await desk.db.fetch("UPDATE payment_operations SET status = 'DECLINED', decided_by = 'device:' || device_id")
    return order


@pytest.mark.parametrize("dying", [never_paid, declined_twice])
@pytest.mark.parametrize("lanes", [True, False])
async def test_b13_a_dead_sale_gives_its_seats_to_the_next_buyer(
    sound_database: Database, dsn: str, clock: Clock, dying: Dying, lanes: bool
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    order = await dying(desk, 4, 5, 9)
    assert order.pay_until is not None
    db = await Database.open(dsn, lanes=lanes)
    buyer = Desk(db, fan(), event)
    await clock.stand_at(order.pay_until - timedelta(microseconds=1))
    with pytest.raises(errors.SeatsTakenError):
        await buyer.hold(3, 4)
    await at_the_deadline(clock, order)

    taken = await buyer.hold(3, 4)

    await db.close()
    states = await seat_states(sound_database, event)
    assert states[4] == (SeatStatus.HELD, taken.hold_id, None)
    assert states[5] == states[9] == (SeatStatus.AVAILABLE, None, None)
    ended = await read_order(sound_database, desk.caller, order.order_id)
    assert (ended.status, ended.pay_until) == (OrderStatus.EXPIRED, None)
    assert (await read_hold(sound_database, desk.caller, order.hold_ids[0])).status is HoldStatus.EXPIRED
    with pytest.raises(errors.HoldExpiredError):
        await desk.pay(order, CASH)
    rows = await sound_database.fetch("SELECT type, seats FROM outbox ORDER BY id DESC LIMIT 2")
    assert [(row["type"], row["seats"]) for row in rows] == [("seats-held", [3, 4]), ("seats-released", [4, 5, 9])]


async def test_r8_the_owner_of_a_dead_sale_may_hold_again(sound_database: Database, clock: Clock) -> None:
    """A fan's only hold and a till's last parked sale count no longer, wherever the new seats are."""
    event = await make_event(sound_database, max_open_holds_till=1, max_per_account=2)
    for caller, seat in ((fan(), 1), (till(), 11)):
        desk = Desk(sound_database, caller, event)
        order = await never_paid(desk, seat, seat + 1)
        with pytest.raises(errors.OpenHoldExistsError):
            await desk.hold(seat + 3)
        await clock.move(seconds=10_000)
        assert (await desk.hold(seat + 3, seat + 4)).status is HoldStatus.HELD
        assert (await read_order(sound_database, caller, order.order_id)).status is OrderStatus.EXPIRED


async def test_r7_dead_sales_do_not_count_against_the_seats_being_paid(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database, paying_cap=2)
    order = await never_paid(Desk(sound_database, till(), event), 1, 2)
    other = Desk(sound_database, till(), event)
    with pytest.raises(errors.PayingCapReachedError):
        await other.check_out(await other.hold(5))
    await at_the_deadline(clock, order)
    assert (await other.check_out(await other.hold(6))).status is OrderStatus.PENDING


@pytest.mark.parametrize("living", ["created", "sent", "action", "unknown", "sale", "mismatch"])
async def test_r7_a_payment_that_may_still_come_keeps_its_seats(
    sound_database: Database, clock: Clock, living: str
) -> None:
    event = await make_event(sound_database)
    caller = till() if living in ("sale", "mismatch") else fan()
    desk = Desk(sound_database, caller, event)
    step = await desk.sell(1, 2, kind=SALE if living in ("sale", "mismatch") else AUTHORIZE)
    operation = step.operation.operation_id
    if living in ("sent", "action", "unknown"):
        assert await mark_sent(sound_database, operation)
    if living in ("action", "unknown"):
        told = ACTION if living == "action" else UNKNOWN
        await record_result(sound_database, operation, told, source="provider:sandbox")
    if living == "mismatch":
        await reported(sound_database, caller, operation, OperationResult(ResultOutcome.SUCCEEDED, 1))
    await clock.move(seconds=10_000)
    before = await seat_states(sound_database, event)
    with pytest.raises(errors.SeatsTakenError) as refused:
        await Desk(sound_database, fan(), event).hold(2, 3)
    assert [seat.seat_no for seat in refused.value.seats] == [2]
    if living not in ("sale", "mismatch"):
        with pytest.raises(errors.OpenHoldExistsError):
            await desk.hold(7)
    assert await seat_states(sound_database, event) == before
    assert before[1][0] == before[2][0] == SeatStatus.PAYING


async def test_one_of_a_crowd_gets_the_seats_of_a_dead_sale(sound_database: Database, clock: Clock) -> None:
    """Twenty buyers, with overlapping wishes, through the lanes at once: each seat goes to one."""
    event = await make_event(sound_database)
    orders = [await never_paid(Desk(sound_database, till(), event), seat, seat + 10) for seat in (1, 2, 3)]
    await clock.move(seconds=10_000)
    buyers = [Desk(sound_database, fan(), event) for _ in range(20)]
    answers = await asyncio.gather(
        *(buyer.hold(1 + n % 3, 11 + (n + 1) % 3) for n, buyer in enumerate(buyers)), return_exceptions=True
    )
    won = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert 1 <= len(won) <= 3
    assert all(
        isinstance(answer, errors.SeatsTakenError | errors.BusyError)
        for answer in answers if isinstance(answer, BaseException)
    )  # fmt: skip
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status = 1") == 2 * len(won)
    for order in orders:
        assert (await read_order(sound_database, till(Role.SUPERVISOR), order.order_id)).status is OrderStatus.EXPIRED


async def test_a_payment_and_a_new_hold_at_the_deadline_agree(sound_database: Database, clock: Clock) -> None:
    """Whoever has the order's lock first decides: either the payment runs and keeps the seats, or the sale is over."""
    event = await make_event(sound_database)
    for seat in range(8):
        desk, buyer = Desk(sound_database, till(), event), Desk(sound_database, fan(), event)
        order = await never_paid(desk, seat)
        assert order.pay_until is not None
        await clock.stand_at(order.pay_until - timedelta(seconds=11) if seat % 2 else order.pay_until)
        paid, held = await asyncio.gather(desk.pay(order, CASH), buyer.hold(seat), return_exceptions=True)
        assert isinstance(paid, errors.HoldExpiredError) is (seat % 2 == 0)
        assert isinstance(held, errors.SeatsTakenError) is (seat % 2 == 1)
