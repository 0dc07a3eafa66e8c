"""Where refunded money goes: newest card first, cash in cash, at the terminal of a till, out of a drawer (R25, R33)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from booking.domain import errors
from booking.domain.caller import Caller, Role
from booking.domain.control import SettingsChange
from booking.domain.model import Advice, OperationResult, ResultOutcome
from booking.domain.money_back import RefundWay
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, TicketStatus
from booking.services import money_back, take_payment
from booking.services.control_event import change_settings
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, reported, till
from tests.server.refund_desk import captured, issued, items, order_now, pay_part, provider_says, refund

CASH, SALE, AUTHORIZE = OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE
REFUND = OperationKind.REFUND


def said(amount: int, outcome: ResultOutcome = ResultOutcome.SUCCEEDED) -> OperationResult:
    return OperationResult(outcome, amount if outcome is ResultOutcome.SUCCEEDED else 0, "0007")


async def test_a_sum_is_divided_newest_card_first_and_cash_last(database: Database) -> None:
    """Cash 3,000, then a card 4,000, then a card 5,000: 10,000 go back as 5,000, 4,000 and 1,000 of cash."""
    event = await make_event(database, max_refund_by_clerk_minor=1_000_000)
    desk = Desk(database, till(), event)
    order = await desk.check_out(await desk.hold(1, 2, 3))
    await pay_part(desk, order, CASH, 3_000)
    first = (await pay_part(desk, order, AUTHORIZE, 4_000)).operation
    await provider_says(database, first)
    second = (await pay_part(desk, order, AUTHORIZE, 5_000, in_parts=False)).operation
    order = await provider_says(database, second)
    assert (order.status, order.paid_minor) == (OrderStatus.CONFIRMED, 3 * ADULT_PRICE)
    for capture in [one for one in order.operations if one.kind is OperationKind.CAPTURE]:
        await provider_says(database, capture)
    tickets = await issued(database, desk.caller, order.order_id)
    found = await money_back.refundable_order(database, desk.caller, order.order_id)
    assert [(one.kind, one.refundable_minor) for one in found.charges] == [
        (AUTHORIZE, 5_000), (AUTHORIZE, 4_000), (CASH, 3_000),
    ]  # fmt: skip
    step = (await refund(database, desk.caller, order.order_id, tickets[:2])).value
    assert [(one.provider, one.amount_minor, one.parent_id) for one in step.refunds] == [
        ("sandbox", 5_000, second.operation_id), ("sandbox", 3_000, first.operation_id),
    ]  # fmt: skip
    step = (await refund(database, desk.caller, order.order_id, tickets[2:])).value
    assert [(one.provider, one.amount_minor, one.status) for one in step.refunds] == [
        ("sandbox", 1_000, "CREATED"), ("cash", 3_000, "SUCCEEDED"),
    ]  # fmt: skip
    # The cash is out: the ticket is dead, whatever becomes of the card's part (nobody has both).
    assert [one.status for one in step.tickets] == [TicketStatus.VOID]
    await provider_says(database, step.refunds[0], ResultOutcome.DECLINED, code="card-closed")
    assert await items(database) == [("refund-failed", step.refunds[0].operation_id)]


async def test_out_of_the_drawer_whatever_paid(database: Database) -> None:
    event = await make_event(database)
    buyer, leader = fan(), till(Role.SUPERVISOR)
    charge = (await Desk(database, buyer, event).sell(1, kind=AUTHORIZE)).operation
    order = await provider_says(database, charge)
    tickets = await issued(database, buyer, order.order_id)
    with pytest.raises(errors.RefundTooMuchError, match="at most 0"):  # nothing is captured yet
        await refund(database, leader, order.order_id, tickets, way=RefundWay.CASH)
    for capture in [one for one in order.operations if one.kind is OperationKind.CAPTURE]:
        await provider_says(database, capture)
    step = (await refund(database, leader, order.order_id, tickets, way=RefundWay.CASH)).value
    assert [(one.provider, one.status, one.device_id) for one in step.refunds] == [
        ("cash", OperationStatus.SUCCEEDED, leader.device_id)
    ]
    (moved,) = await database.fetch("SELECT device_id, staff_id, amount_minor, currency FROM cash_movements")
    assert tuple(moved) == (leader.device_id, leader.staff_id, -ADULT_PRICE, "EUR")
    assert step.order.status is OrderStatus.REFUNDED


async def sold_at_terminal(database: Database, *seats: int) -> tuple[Desk, Caller]:
    desk = Desk(database, till(), await make_event(database))
    step = await desk.sell(*seats, kind=SALE)
    await reported(database, desk.caller, step.operation.operation_id, said(step.order.amount_minor))
    return desk, desk.caller


async def test_a_sale_at_a_terminal_is_refunded_at_a_terminal_by_the_till_that_asked(database: Database) -> None:
    desk, caller = await sold_at_terminal(database, 1, 2)
    (row,) = await database.fetch("SELECT order_id FROM orders")
    tickets = await issued(database, caller, row["order_id"])
    (asked,) = (await refund(database, caller, row["order_id"], tickets[:1])).value.refunds
    assert (asked.kind, asked.provider, asked.status, asked.device_id) == (REFUND, "zvt", "SENT", caller.device_id)
    assert asked.provider_ref == "0007"
    assert asked.parent_id is not None
    for other in (till(), till(Role.SUPERVISOR)):
        with pytest.raises(errors.OperationNotYoursError):
            await reported(database, other, asked.operation_id, said(ADULT_PRICE))
    with pytest.raises(errors.OperationNotYoursError):
        await take_payment.record_result(database, asked.operation_id, said(ADULT_PRICE), source="provider:zvt")
    assert await take_payment.due_operations(database, 10) == []  # no worker drives it
    told = await reported(database, caller, asked.operation_id, said(ADULT_PRICE, ResultOutcome.UNKNOWN))
    assert (told.operation.status, told.order.status) == (OperationStatus.UNKNOWN, OrderStatus.CONFIRMED)
    told = await reported(database, caller, asked.operation_id, said(ADULT_PRICE))
    assert (told.operation.status, told.order.status) == (OperationStatus.SUCCEEDED, OrderStatus.PARTLY_REFUNDED)
    assert told.advice is Advice.GOODS_ISSUED  # what went back stays back
    assert desk.caller == caller


async def test_p19_a_terminal_that_refuses_leaves_the_ticket_alive_and_the_clerk_knows(database: Database) -> None:
    _, caller = await sold_at_terminal(database, 1)
    (row,) = await database.fetch("SELECT order_id FROM orders")
    tickets = await issued(database, caller, row["order_id"])
    (asked,) = (await refund(database, caller, row["order_id"], tickets)).value.refunds
    told = await reported(database, caller, asked.operation_id, said(0, ResultOutcome.DECLINED))
    assert (told.operation.status, told.order.status) == (OperationStatus.DECLINED, OrderStatus.CONFIRMED)
    assert [(one.status, one.refund_pending) for one in await issued(database, caller, row["order_id"])] == [
        (TicketStatus.ISSUED, False)
    ]
    assert await items(database) == []
    step = (await refund(database, caller, row["order_id"], tickets, way=RefundWay.CASH)).value
    assert step.order.status is OrderStatus.REFUNDED


async def test_a_till_that_is_silent_about_a_refund_becomes_an_item(database: Database, clock: Clock) -> None:
    _, caller = await sold_at_terminal(database, 1)
    (row,) = await database.fetch("SELECT order_id FROM orders")
    tickets = await issued(database, caller, row["order_id"])
    (asked,) = (await refund(database, caller, row["order_id"], tickets)).value.refunds
    await clock.move(seconds=299)
    assert await take_payment.due_operations(database, 10) == []
    assert await items(database) == []
    await clock.move(seconds=2)
    for _ in range(2):
        assert await take_payment.due_operations(database, 10) == []
    assert await items(database) == [("no-result", asked.operation_id)]
    await reported(database, caller, asked.operation_id, said(ADULT_PRICE))  # late is not never
    assert await items(database) == []
    assert (await order_now(database, row["order_id"])).status is OrderStatus.REFUNDED


async def test_a_clerk_gives_back_up_to_the_events_amount_over_the_whole_order(database: Database) -> None:
    event = await make_event(database, max_refund_by_clerk_minor=2 * ADULT_PRICE)
    desk = Desk(database, till(), event)
    order = (await desk.sell(1, 2, 3)).order
    tickets = await issued(database, desk.caller, order.order_id)
    found = await money_back.refundable_order(database, desk.caller, order.order_id)
    assert (found.approval_above_minor, found.refundable_minor) == (2 * ADULT_PRICE, 3 * ADULT_PRICE)
    with pytest.raises(errors.ForbiddenError):
        await refund(database, desk.caller, order.order_id, tickets)
    for ticket in tickets[:2]:
        await refund(database, desk.caller, order.order_id, [ticket])
    with pytest.raises(errors.ForbiddenError):  # not in slices either
        await refund(database, desk.caller, order.order_id, tickets[2:])
    assert (await money_back.refundable_order(database, desk.caller, order.order_id)).approval_above_minor == 0
    leader = till(Role.SUPERVISOR)
    assert (await money_back.refundable_order(database, leader, order.order_id)).approval_above_minor is None
    assert (await refund(database, leader, order.order_id, tickets[2:])).value.order.status is OrderStatus.REFUNDED


async def test_a_used_ticket_is_a_supervisors(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    order = (await desk.sell(1)).order
    tickets = await issued(database, desk.caller, order.order_id)
    await database.fetch("UPDATE tickets SET status = 'USED', used_at = booking_now()")
    await database.fetch("UPDATE seats SET used = true WHERE seat_no = 1")
    with pytest.raises(errors.TicketNotRefundableError, match="used") as refused:
        await refund(database, desk.caller, order.order_id, tickets)
    assert [seat.number for seat in refused.value.seats] == ["2"]
    found = await money_back.refundable_order(database, desk.caller, order.order_id)
    assert [one.why_not for one in found.tickets] == ["used"]
    await refund(database, till(Role.SUPERVISOR), order.order_id, tickets)
    assert await count(database, "SELECT count(*) FROM seats WHERE used OR printed") == 0


async def test_wrong_words_change_nothing_and_are_named(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order, other = (await desk.sell(1, 2)).order, (await desk.sell(3)).order
    tickets = await issued(database, desk.caller, order.order_id)
    (strange,) = await issued(database, desk.caller, other.order_id)
    for wrong in ([], [tickets[0], tickets[0]]):
        with pytest.raises(errors.InvalidRequestError) as refused:
            await refund(database, desk.caller, order.order_id, wrong)
        assert [fault.pointer for fault in refused.value.fields] == ["/ticket_ids"]
    with pytest.raises(errors.TicketNotFoundError):
        await refund(database, desk.caller, order.order_id, [tickets[0], strange])
    with pytest.raises(errors.AmountMismatchError, match=str(ADULT_PRICE)):
        await refund(database, desk.caller, order.order_id, tickets[:1], expected=1)
    for stranger in (till(), till(Role.OPS)):
        with pytest.raises(errors.OrderNotFoundError):
            await refund(database, stranger, order.order_id, tickets)
    with pytest.raises(errors.OrderNotFoundError):
        await refund(database, desk.caller, uuid4(), tickets)
    with pytest.raises(errors.OrderNotFoundError):
        await money_back.refundable_order(database, till(), order.order_id)
    assert (await money_back.refundable_order(database, till(Role.OPS), order.order_id)).order.number == order.number
    assert await count(database, "SELECT count(*) FROM money_backs") == 0
    assert await count(database, "SELECT count(*) FROM payment_operations WHERE kind = 'refund'") == 0
    assert await count(database, "SELECT count(*) FROM idempotency WHERE route = 'refunds'") == 0


async def test_one_key_one_refund(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    order = (await desk.sell(1, 2)).order
    tickets = await issued(database, desk.caller, order.order_id)
    first = await refund(database, desk.caller, order.order_id, tickets[:1], key="k")
    again = await refund(database, desk.caller, order.order_id, tickets[:1], key="k")
    assert (first.replayed, again.replayed) == (False, True)
    assert again.value.money_back_id == first.value.money_back_id
    with pytest.raises(errors.KeyReusedError):
        await refund(database, desk.caller, order.order_id, tickets[1:], key="k")
    assert await count(database, "SELECT count(*) FROM cash_movements") == 1


async def test_refunds_of_a_captured_order_paid_by_one_card_go_to_that_card(database: Database) -> None:
    event = await make_event(database)
    buyer, leader = fan(), till(Role.SUPERVISOR)
    charge = (await Desk(database, buyer, event).sell(1, kind=AUTHORIZE)).operation
    order = await captured(database, charge)
    (asked,) = (
        await refund(database, leader, order.order_id, await issued(database, buyer, order.order_id))
    ).value.refunds
    assert (asked.provider_ref, asked.idempotency_key) == ("ch_1", str(asked.operation_id))
    assert [one.operation_id for one in await take_payment.due_operations(database, 10)] == []
    await database.fetch("UPDATE payment_operations SET next_attempt_at = booking_now() WHERE kind = 'refund'")
    assert [one.operation_id for one in await take_payment.due_operations(database, 10)] == [asked.operation_id]
    with pytest.raises(errors.OperationNotYoursError):
        await reported(database, leader, asked.operation_id, said(ADULT_PRICE))


async def test_what_a_clerk_may_give_back_is_a_setting_of_the_event_and_a_supervisors_word(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = (await desk.sell(1)).order
    tickets = await issued(database, desk.caller, order.order_id)
    less = SettingsChange(max_refund_by_clerk_minor=ADULT_PRICE - 1)
    with pytest.raises(errors.ForbiddenError):
        await change_settings(database, till(Role.OPS), event, 1, less, "why", key="k", digest=b"d")
    for wrong in (-1, 10**12 + 1):
        with pytest.raises(errors.InvalidRequestError) as refused:
            await change_settings(
                database, till(Role.ADMIN), event, 1, SettingsChange(max_refund_by_clerk_minor=wrong), "why",
                key="k", digest=b"d",
            )  # fmt: skip
        assert [fault.pointer for fault in refused.value.fields] == ["/max_refund_by_clerk_minor"]
    told = await change_settings(database, till(Role.ADMIN), event, 1, less, "a fraud", key="k", digest=b"d")
    assert told.value.max_refund_by_clerk_minor == ADULT_PRICE - 1
    with pytest.raises(errors.ForbiddenError):
        await refund(database, desk.caller, order.order_id, tickets)
    await refund(database, till(Role.SUPERVISOR), order.order_id, tickets)
