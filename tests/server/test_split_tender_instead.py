"""Paying otherwise while a card attempt is not decided: its late success is only given back (design §3; R24, R25)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from booking.domain import errors
from booking.domain.model import Advice, OperationResult, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, SeatStatus
from booking.services import take_payment
from booking.services.orders import cancel_order
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, reported, seat_states, till
from tests.server.refund_desk import follow_up, items, order_now, pay_part, provider_says

CASH, SALE, AUTHORIZE = OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE
DECLINED = OperationResult(ResultOutcome.DECLINED, 0, decline_code="05")
UNKNOWN = OperationResult(ResultOutcome.UNKNOWN, 0)
BOOKED = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE, "0007")


@pytest.mark.parametrize("known", [False, True])
async def test_cash_while_the_terminal_is_silent_and_its_late_success_is_reversed(
    database: Database, known: bool
) -> None:
    desk = Desk(database, till(), await make_event(database))
    step = await desk.sell(1, kind=SALE)
    if known:
        await reported(database, desk.caller, step.operation.operation_id, UNKNOWN)
    with pytest.raises(errors.PaymentRunningError):
        await desk.pay(step.order, CASH)
    paid = await pay_part(
        desk, step.order, CASH, ADULT_PRICE, in_parts=False, instead_of=step.operation.operation_id
    )  # fmt: skip
    assert (paid.order.status, paid.order.paid_minor) == (OrderStatus.CONFIRMED, ADULT_PRICE)
    (card,) = (one for one in paid.order.operations if one.kind is SALE)
    assert card.void_requested
    told = await reported(database, desk.caller, card.operation_id, BOOKED)
    assert (told.advice, told.order.status, told.order.paid_minor) == (
        Advice.REVERSE, OrderStatus.CONFIRMED, ADULT_PRICE,
    )  # fmt: skip
    await reported(database, desk.caller, card.operation_id, DECLINED)
    assert [(one.kind, one.status) for one in (await order_now(database, step.order.order_id)).operations] == [
        (SALE, "SUCCEEDED"), (CASH, "SUCCEEDED"), (OperationKind.VOID, "SUCCEEDED"),
    ]  # fmt: skip
    assert await items(database) == []  # a supervisor sees nothing of it


async def test_a_till_that_does_not_reverse_what_came_late_becomes_an_item(database: Database, clock: Clock) -> None:
    desk = Desk(database, till(), await make_event(database))
    step = await desk.sell(1, kind=SALE)
    await pay_part(desk, step.order, CASH, ADULT_PRICE, in_parts=False, instead_of=step.operation.operation_id)
    await reported(database, desk.caller, step.operation.operation_id, BOOKED)
    await clock.move(seconds=301)
    await take_payment.due_operations(database, 10)
    assert await items(database) == [("reversal-overdue", step.operation.operation_id)]
    await reported(database, desk.caller, step.operation.operation_id, DECLINED)
    assert await items(database) == []


async def test_a_provider_that_grants_late_is_voided_and_only_a_failed_void_is_told(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    step = await desk.sell(1, kind=AUTHORIZE)
    assert await take_payment.mark_sent(database, step.operation.operation_id)
    await take_payment.record_result(database, step.operation.operation_id, UNKNOWN, source="provider:sandbox")
    assert (await order_now(database, step.order.order_id)).status is OrderStatus.RECONCILING
    paid = await pay_part(desk, step.order, CASH, ADULT_PRICE, in_parts=False, instead_of=step.operation.operation_id)
    assert paid.order.status is OrderStatus.CONFIRMED
    late = await take_payment.read_operation(database, step.operation.operation_id)
    after = await provider_says(database, late)
    void = follow_up(after, late.operation_id, OperationKind.VOID)
    assert (after.status, void.status, await items(database)) == (OrderStatus.CONFIRMED, "CREATED", [])
    await provider_says(database, void, ResultOutcome.DECLINED, code="gone")
    assert await items(database) == [("void-failed", void.operation_id)]


async def test_an_attempt_that_was_never_sent_ends_at_once(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    step = await desk.sell(1, kind=AUTHORIZE)
    await pay_part(desk, step.order, CASH, ADULT_PRICE, in_parts=False, instead_of=step.operation.operation_id)
    ended = await take_payment.read_operation(database, step.operation.operation_id)
    assert (ended.status, ended.decline_code, ended.void_requested) == (OperationStatus.DECLINED, "cancelled", False)
    assert not await take_payment.mark_sent(database, step.operation.operation_id)


async def test_another_card_instead_and_both_answers_in_either_order(database: Database) -> None:
    """R24: of two successes one pays, whatever comes first; the one that was given up never does."""
    for late_first in (False, True):
        event = await make_event(database)
        desk = Desk(database, till(), event)
        step = await desk.sell(1, kind=SALE)
        second = await pay_part(
            desk, step.order, SALE, ADULT_PRICE, in_parts=False, instead_of=step.operation.operation_id
        )  # fmt: skip
        order = [step.operation.operation_id, second.operation.operation_id]
        told = {
            operation: await reported(database, desk.caller, operation, BOOKED)
            for operation in (order if late_first else order[::-1])
        }
        assert [told[operation].advice for operation in order] == [Advice.REVERSE, Advice.GOODS_ISSUED]
        now = await order_now(database, step.order.order_id)
        assert (now.status, now.paid_minor) == (OrderStatus.CONFIRMED, ADULT_PRICE)
        await reported(database, desk.caller, order[0], DECLINED)
    assert await items(database) == []


async def test_the_given_up_attempt_does_not_hold_up_the_end_of_the_sale(database: Database, clock: Clock) -> None:
    """Given up, then the other attempt is declined: the seats go back to the hold, and away with its time."""
    event = await make_event(database)
    desk = Desk(database, till(), event)
    step = await desk.sell(1, kind=SALE)
    second = await pay_part(
        desk, step.order, SALE, ADULT_PRICE, in_parts=False, instead_of=step.operation.operation_id
    )  # fmt: skip
    await reported(database, desk.caller, second.operation.operation_id, DECLINED)
    assert (await seat_states(database, event))[1][0] == SeatStatus.HELD
    await clock.move(seconds=1_000)
    taken = await Desk(database, fan(), event).hold(1)
    before = await count(database, "SELECT count(*) FROM outbox")
    await reported(database, desk.caller, step.operation.operation_id, DECLINED)
    assert (await seat_states(database, event))[1][1] == taken.hold_id
    assert await count(database, "SELECT count(*) FROM outbox") == before  # nothing is told of another's seat


async def test_the_sale_may_be_cancelled_once_the_attempt_is_given_up(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    step = await desk.sell(1, 2, kind=SALE)
    await pay_part(desk, step.order, CASH, 1_000, instead_of=step.operation.operation_id)
    ended = (await cancel_order(database, desk.caller, step.order.order_id, "left", False)).value
    assert ended.status is OrderStatus.CANCELLED
    late = OperationResult(ResultOutcome.SUCCEEDED, 2 * ADULT_PRICE, "0007")
    told = await reported(database, desk.caller, step.operation.operation_id, late)
    assert (told.advice, told.order.status) == (Advice.REVERSE, OrderStatus.CANCELLED)


async def test_cash_for_all_that_is_left_is_taken_after_the_time_while_the_seats_are_kept(
    database: Database, clock: Clock
) -> None:
    """The seats of a charge that is not known are nobody else's, so cash still buys them; a card would begin anew."""
    event = await make_event(database)
    desk = Desk(database, till(), event)
    step = await desk.sell(1, kind=SALE)
    await reported(database, desk.caller, step.operation.operation_id, UNKNOWN)
    await clock.move(seconds=1_000)
    given_up = {"in_parts": False, "instead_of": step.operation.operation_id}
    with pytest.raises(errors.HoldExpiredError):
        await pay_part(desk, step.order, SALE, ADULT_PRICE, **given_up)  # type: ignore[arg-type]
    with pytest.raises(errors.HoldExpiredError):
        await pay_part(desk, step.order, CASH, 1_000, instead_of=step.operation.operation_id)
    assert not (await take_payment.read_operation(database, step.operation.operation_id)).void_requested
    paid = await pay_part(desk, step.order, CASH, ADULT_PRICE, **given_up)  # type: ignore[arg-type]
    assert paid.order.status is OrderStatus.CONFIRMED


async def test_what_is_not_a_card_payment_of_this_order_is_refused_and_nothing_changes(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    step, other = await desk.sell(1, kind=SALE), await desk.sell(2, kind=SALE)
    for wrong in (other.operation.operation_id, uuid4()):
        with pytest.raises(errors.OperationNotFoundError):
            await pay_part(desk, step.order, CASH, ADULT_PRICE, in_parts=False, instead_of=wrong)
    with pytest.raises(errors.AmountMismatchError):
        await pay_part(desk, step.order, CASH, 1, in_parts=False, instead_of=step.operation.operation_id)
    assert await count(database, "SELECT count(*) FROM payment_operations WHERE void_requested") == 0
    assert await count(database, "SELECT count(*) FROM payment_operations") == 2


async def test_a_success_that_comes_first_wins_over_the_cash(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    step = await desk.sell(1, kind=SALE)
    await reported(database, desk.caller, step.operation.operation_id, BOOKED)
    with pytest.raises(errors.OrderNotPayableError):
        await pay_part(desk, step.order, CASH, ADULT_PRICE, in_parts=False, instead_of=step.operation.operation_id)
