"""Card terminals at the till: reports, declines, silence, and what comes too late (R24, R25)."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.model import Advice
from booking.domain.states import (
    OperationStatus,
    OrderStatus,
    SeatStatus,
)
from booking.services.orders import cancel_order, read_order
from booking.services.take_payment import due_operations
from booking.store.database import Database
from tests.server.box_office import (
    ADULT_PRICE,
    Clock,
    Desk,
    count,
    fan,
    make_event,
    reported,
    seat_states,
    till,
)
from tests.server.payment_results import CASH, DECLINED, SALE, UNKNOWN, items, paid, sweep


async def test_a_terminal_sale_confirms_when_its_device_reports_it(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, 2, kind=SALE)
    assert (step.operation.status, step.order.status) == (OperationStatus.SENT, OrderStatus.PENDING)

    done = await reported(sound_database, desk.caller, step.operation.operation_id, paid(step.order.amount_minor))
    assert (done.advice, done.order.status) == (Advice.GOODS_ISSUED, OrderStatus.CONFIRMED)
    assert done.operation.provider_ref == "ref-1"


async def test_only_the_device_that_opened_an_operation_reports_it(sound_database: Database) -> None:
    event = await make_event(sound_database)
    step = await Desk(sound_database, till(), event).sell(1, kind=SALE)
    for stranger in (till(), till(Role.SUPERVISOR), fan()):
        with pytest.raises(errors.OperationNotYoursError):
            await reported(sound_database, stranger, step.operation.operation_id, paid(ADULT_PRICE))
    with pytest.raises(errors.OperationNotFoundError):
        await reported(sound_database, till(), uuid4(), paid(ADULT_PRICE))


async def test_a_repeated_report_gets_the_same_answer_and_a_contradiction_a_supervisor(
    sound_database: Database,
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    operation = step.operation.operation_id
    first = await reported(sound_database, desk.caller, operation, paid(ADULT_PRICE))
    again = await reported(sound_database, desk.caller, operation, paid(ADULT_PRICE))
    unknown = await reported(sound_database, desk.caller, operation, UNKNOWN)
    assert first.advice is again.advice is unknown.advice is Advice.GOODS_ISSUED
    assert unknown.operation.status is OperationStatus.SUCCEEDED
    assert await count(sound_database, "SELECT count(*) FROM outbox WHERE type = 'order-confirmed'") == 1

    for _ in range(2):
        with pytest.raises(errors.ResultConflictError):
            await reported(sound_database, desk.caller, operation, DECLINED)
    assert await items(sound_database) == [("result-conflict", operation)]


async def test_a_decline_gives_the_seats_back_to_the_hold_with_the_grace_spent(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1, 2)
    await clock.stand_at(hold.expires_at - timedelta(seconds=30))
    order = await desk.check_out(hold)
    step = await desk.pay(order, SALE)
    declined = await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)

    assert (declined.operation.status, declined.operation.decline_code) == (OperationStatus.DECLINED, "05")
    assert (declined.advice, declined.order.status) == (Advice.REVERSE, OrderStatus.PENDING)
    assert declined.order.pay_until == order.pay_until
    assert (await seat_states(sound_database, event))[1] == (SeatStatus.HELD, hold.hold_id, None)
    with pytest.raises(errors.HoldNotOpenError):  # it has its order: pay that one
        await desk.check_out(hold)

    second = await desk.pay(declined.order, CASH)
    assert second.order.status is OrderStatus.CONFIRMED
    assert [operation.status for operation in second.order.operations] == ["DECLINED", "SUCCEEDED"]


async def test_after_a_decline_a_new_card_attempt_gets_no_more_time(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    again = await desk.pay(step.order, SALE)
    assert again.order.pay_until == step.order.pay_until
    assert (await seat_states(sound_database, event))[1][0] == SeatStatus.PAYING


async def test_after_a_decline_the_seats_can_be_lost_like_any_held_seat(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    declined = await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    assert declined.order.pay_until is not None
    await clock.stand_at(declined.order.pay_until)
    taken = await Desk(sound_database, fan(), event).hold(1)
    with pytest.raises(errors.HoldExpiredError):
        await desk.pay(step.order, CASH)
    await sweep(sound_database)
    assert (await seat_states(sound_database, event))[1][1] == taken.hold_id
    assert (await read_order(sound_database, desk.caller, step.order.order_id)).status is OrderStatus.EXPIRED


async def test_a_decline_after_the_time_is_over_frees_the_seats(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    assert step.order.pay_until is not None
    await clock.stand_at(step.order.pay_until)
    declined = await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    assert declined.order.status is OrderStatus.EXPIRED
    assert (await seat_states(sound_database, event))[1] == (SeatStatus.AVAILABLE, None, None)


async def test_r24_unknown_keeps_the_seats_even_after_grace_and_a_late_success_confirms(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, 2, kind=SALE)
    operation = step.operation.operation_id
    unknown = await reported(sound_database, desk.caller, operation, UNKNOWN)
    assert (unknown.operation.status, unknown.order.status) == (OperationStatus.UNKNOWN, OrderStatus.RECONCILING)
    assert unknown.advice is Advice.REVERSE

    await clock.move(seconds=10_000)
    assert await sweep(sound_database) == 0
    with pytest.raises(errors.SeatsTakenError):
        await Desk(sound_database, fan(), event).hold(1)
    with pytest.raises(errors.PaymentRunningError):
        await desk.pay(step.order, SALE)
    with pytest.raises(errors.PaymentRunningError):
        await cancel_order(sound_database, desk.caller, step.order.order_id, "gave up", False)

    late = await reported(sound_database, desk.caller, operation, paid(step.order.amount_minor))
    assert (late.advice, late.order.status) == (Advice.GOODS_ISSUED, OrderStatus.CONFIRMED)


async def test_unknown_that_turns_out_negative_in_time_can_be_paid_again(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    await reported(sound_database, desk.caller, step.operation.operation_id, UNKNOWN)
    back = await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    assert back.order.status is OrderStatus.PENDING
    assert (await desk.pay(step.order, CASH)).order.status is OrderStatus.CONFIRMED


async def test_an_amount_that_differs_is_an_item_never_a_guess(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    operation = step.operation.operation_id
    for _ in range(2):
        told = await reported(sound_database, desk.caller, operation, paid(ADULT_PRICE - 1))
        assert (told.advice, told.operation.status) == (Advice.REVERSE, OperationStatus.UNKNOWN)
        assert told.order.status is OrderStatus.RECONCILING
    assert await items(sound_database) == [("amount-mismatch", operation)]
    await clock.move(seconds=10_000)
    assert await sweep(sound_database) == 0
    reversed_ = await reported(sound_database, desk.caller, operation, DECLINED)
    assert reversed_.order.status is OrderStatus.EXPIRED


async def test_a_sale_that_comes_too_late_for_its_seats_is_reversed_and_frees_nothing(
    sound_database: Database, clock: Clock
) -> None:
    """B10 at a terminal: A was declared dead, B bought the seat, A's success arrives."""
    event = await make_event(sound_database)
    first, second = Desk(sound_database, till(), event), Desk(sound_database, till(), event)
    step = await first.sell(1, kind=SALE)
    operation = step.operation.operation_id
    # What only a supervisor's hand can do: the hold ends under a running charge.
    await sound_database.fetch("UPDATE holds SET status = 'RELEASED', ended_at = booking_now()")
    await sound_database.fetch(
        "UPDATE seats SET status = 0, holder = 0, hold_id = NULL, hold_expires_at = NULL, order_id = NULL,"
        " version = version + 1 WHERE status = 2"
    )
    sold = await second.sell(1)

    told = await reported(sound_database, first.caller, operation, paid(ADULT_PRICE))
    again = await reported(sound_database, first.caller, operation, paid(ADULT_PRICE))

    assert (told.advice, told.order.status, told.operation.status) == (
        Advice.REVERSE, OrderStatus.CANCELLED, OperationStatus.SUCCEEDED,
    )  # fmt: skip
    assert again.advice is Advice.REVERSE
    assert await items(sound_database) == [("paid-not-confirmed", operation)]
    assert (await seat_states(sound_database, event))[1] == (SeatStatus.SOLD, None, sold.order.order_id)


async def test_a_silent_terminal_becomes_an_item_once(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    assert await due_operations(sound_database, 10) == []
    assert await items(sound_database) == []
    await clock.move(seconds=301)
    for _ in range(2):
        assert await due_operations(sound_database, 10) == []
    assert await items(sound_database) == [("no-result", step.operation.operation_id)]
