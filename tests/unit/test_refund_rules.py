"""What of an order can be given back, what is chosen, what keeps it from being sent, and how it stands (R25, R33)."""

from __future__ import annotations

from dataclasses import replace as put
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from msgspec.structs import replace

from app.core.order_search import OrderDesk, OrderQuery
from app.core.refund import (
    RefundChoice,
    RefundFault,
    RefundState,
    cancel_request,
    cancellable_tickets,
    chosen_minor,
    detail_after,
    has_pending_refund,
    needs_second_person,
    order_steps,
    refund_faults,
    refund_request,
    refund_state,
    refundable_tickets,
    returns_here,
)
from backend_client.wire import (
    DeviceId,
    EventId,
    OperationId,
    OperationKind,
    OperationStatus,
    Order,
    OrderId,
    OrderList,
    OrderStatus,
    OrderSummary,
    PaymentOperation,
    RefundableCharge,
    RefundableOrder,
    RefundableTicket,
    RefundAnswer,
    RefundWay,
    SeatRef,
    Ticket,
    TicketId,
    TicketStatus,
)

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ORDER = OrderId(UUID(int=1))


def ticket(
    number: int, amount_minor: int = 2_000, status: TicketStatus = TicketStatus.ISSUED, why_not: str = ""
) -> RefundableTicket:
    made = Ticket(
        ticket_id=TicketId(UUID(int=number)), order_id=ORDER, seat=SeatRef(seat_no=number), price_type_name="Adult",
        amount_minor=amount_minor, currency="EUR", code=f"T-{number}", status=status,
    )  # fmt: skip
    return RefundableTicket(ticket=made, why_not=why_not)


def operation(number: int, kind: OperationKind, status: OperationStatus, **members: object) -> PaymentOperation:
    made = PaymentOperation(
        operation_id=OperationId(UUID(int=number)), order_id=ORDER, part=1, kind=kind, status=status, provider="zvt",
        amount_minor=2_000, currency="EUR", created_at=NOON, updated_at=NOON + timedelta(seconds=number),
    )  # fmt: skip
    return replace(made, **members)


def order(*operations: PaymentOperation) -> Order:
    return Order(
        order_id=ORDER, event_id=EventId(1), number="T-1", status=OrderStatus.CONFIRMED, amount_minor=6_000,
        currency="EUR", price_version=1, lines=(), hold_ids=(), operations=operations, pay_until=None,
        created_at=NOON - timedelta(minutes=5), server_time=NOON,
    )  # fmt: skip


DETAIL = RefundableOrder(
    order=order(), tickets=(ticket(1), ticket(2), ticket(3, why_not="used", status=TicketStatus.USED)), charges=(),
    refundable_minor=6_000, approval_above_minor=3_000,
)  # fmt: skip
GOOD = RefundChoice(tickets=frozenset({TicketId(UUID(int=1))}), reason="The buyer is ill")


def test_what_is_chosen_is_asked_for_with_the_sum_that_was_seen() -> None:
    choice = GOOD.with_ticket(TicketId(UUID(int=2)), True)
    assert chosen_minor(DETAIL, choice) == 4_000
    assert refund_faults(DETAIL, choice) == ()
    request = refund_request(DETAIL, put(choice, way=RefundWay.CASH, seats_to_sale=False, reason="  ill  "))
    assert [one.int for one in request.ticket_ids] == [1, 2]
    assert (request.expected_minor, request.way, request.seats_to_sale, request.reason) == (
        4_000,
        RefundWay.CASH,
        False,
        "ill",
    )
    assert [one.int for one in cancel_request(DETAIL, GOOD).ticket_ids] == [1]


def test_what_keeps_a_choice_from_being_sent_is_named() -> None:
    assert refund_faults(DETAIL, RefundChoice()) == (RefundFault.NO_TICKETS, RefundFault.NO_REASON)
    assert refund_faults(DETAIL, put(GOOD, reason="  x ")) == (RefundFault.NO_REASON,)
    assert refund_faults(replace(DETAIL, refundable_minor=1_999), GOOD) == (RefundFault.TOO_MUCH,)


def test_a_second_person_is_needed_above_the_limit_and_not_at_it() -> None:
    assert [needs_second_person(DETAIL, amount) for amount in (2_999, 3_000, 3_001)] == [False, False, True]
    assert not needs_second_person(replace(DETAIL, approval_above_minor=None), 10**9)


def test_used_void_and_pending_tickets_are_not_offered() -> None:
    tickets = (ticket(1), ticket(2, status=TicketStatus.VOID), ticket(3, why_not="refund-pending"))
    detail = replace(DETAIL, tickets=tickets)
    assert [one.ticket_id.int for one in cancellable_tickets(detail)] == [1]
    assert [one.ticket.ticket_id.int for one in refundable_tickets(detail)] == [1, 2]


@pytest.mark.parametrize(
    ("statuses", "state"),
    [
        ((), RefundState.NONE),
        ((OperationStatus.SUCCEEDED,), RefundState.ACCEPTED),
        ((OperationStatus.SENT,), RefundState.PENDING),
        ((OperationStatus.UNKNOWN, OperationStatus.SUCCEEDED), RefundState.PENDING),
        ((OperationStatus.DECLINED,), RefundState.REFUSED),
        ((OperationStatus.DECLINED, OperationStatus.SUCCEEDED), RefundState.PARTLY),
    ],
)
def test_money_that_is_on_its_way_is_never_called_given_back(
    statuses: tuple[OperationStatus, ...], state: RefundState
) -> None:
    made = [operation(number, OperationKind.REFUND, status) for number, status in enumerate(statuses)]
    assert refund_state(made) is state


def test_a_pending_refund_is_seen_among_what_was_paid() -> None:
    paid = operation(1, OperationKind.SALE, OperationStatus.SUCCEEDED)
    assert not has_pending_refund(order(paid))
    assert has_pending_refund(order(paid, operation(2, OperationKind.REFUND, OperationStatus.SENT)))
    assert not has_pending_refund(order(paid, operation(2, OperationKind.REFUND, OperationStatus.SUCCEEDED)))


def test_only_what_this_till_has_to_give_back_is_offered_here() -> None:
    here, there = DeviceId(UUID(int=5)), DeviceId(UUID(int=6))
    made = (
        operation(1, OperationKind.SALE, OperationStatus.SENT, device_id=here),
        operation(2, OperationKind.REFUND, OperationStatus.SENT, device_id=here),
        operation(3, OperationKind.REFUND, OperationStatus.SENT, device_id=there),
        operation(4, OperationKind.REFUND, OperationStatus.SUCCEEDED, device_id=here),
    )
    assert [one.operation_id.int for one in returns_here(order(*made), here)] == [2]


def test_the_past_of_an_order_is_told_in_the_order_of_time() -> None:
    card = operation(9, OperationKind.SALE, OperationStatus.SUCCEEDED)
    open_refund = operation(0, OperationKind.REFUND, OperationStatus.SENT, created_at=NOON + timedelta(minutes=1),
                            updated_at=NOON + timedelta(minutes=1))  # fmt: skip
    steps = [
        (step.what, None if step.operation is None else step.operation.kind)
        for step in order_steps(order(card, open_refund))
    ]
    assert steps == [
        ("ordered", None), ("opened", OperationKind.SALE), ("decided", OperationKind.SALE),
        ("opened", OperationKind.REFUND),
    ]  # fmt: skip


# ---------------------------------------------------------------- the list of orders


def summary(number: int) -> OrderSummary:
    return OrderSummary(
        order_id=OrderId(UUID(int=number)), event_id=EventId(1), event_name="x", number=f"T-{number}",
        status=OrderStatus.CONFIRMED, amount_minor=1, currency="EUR", seats=(), created_at=NOON,
    )  # fmt: skip


def test_an_answer_to_other_words_comes_too_late() -> None:
    desk = OrderDesk()
    desk.ask(OrderQuery("first"))
    desk.ask(OrderQuery("second"))
    desk.put_found(OrderQuery("first"), OrderList(orders=(summary(1),), server_time=NOON))
    assert not desk.found
    desk.put_trouble(OrderQuery("first"), "busy")
    assert desk.trouble == ""
    desk.put_found(OrderQuery("second"), OrderList(orders=(summary(2),), next="50", server_time=NOON))
    desk.put_found(OrderQuery("second"), OrderList(orders=(summary(2), summary(3)), server_time=NOON), more=True)
    assert [one.number for one in desk.found] == ["T-2", "T-3"]
    assert desk.next == ""


def test_the_open_order_is_fresh_in_the_list_too_and_nothing_stays_for_the_next_person() -> None:
    desk = OrderDesk()
    desk.ask(OrderQuery())
    desk.put_found(OrderQuery(), OrderList(orders=(summary(1), summary(2)), server_time=NOON))
    desk.open(ORDER)
    desk.put_detail(replace(DETAIL, order=replace(order(), status=OrderStatus.PARTLY_REFUNDED)))
    assert [one.status for one in desk.found] == [OrderStatus.PARTLY_REFUNDED, OrderStatus.CONFIRMED]
    desk.clear()
    assert (desk.found, desk.detail, desk.order_id, desk.query, desk.as_of) == ((), None, None, OrderQuery(), None)


def test_the_same_refund_keeps_its_key_until_its_answer_is_known() -> None:
    desk, made = OrderDesk(), iter("abc")
    request = refund_request(DETAIL, GOOD)
    other = refund_request(DETAIL, put(GOOD, way=RefundWay.CASH))
    keys = [desk.key_for(ORDER, sent, lambda: next(made)) for sent in (request, request, other)]
    assert keys == ["a", "a", "b"]
    desk.settle_key(ORDER)
    assert desk.key_for(ORDER, other, lambda: next(made)) == "c"


CHARGE = RefundableCharge(
    operation_id=OperationId(UUID(int=50)), kind=OperationKind.SALE, provider="zvt", charged_minor=6_000,
    refunded_minor=0, pending_minor=0, refundable_minor=6_000,
)  # fmt: skip


@pytest.mark.parametrize(
    ("status", "why_not", "left", "back", "pending"),
    [
        (OperationStatus.SUCCEEDED, "refunded", 4_000, 2_000, 0),
        (OperationStatus.SENT, "refund-pending", 4_000, 0, 2_000),
        (OperationStatus.DECLINED, "", 6_000, 0, 0),
    ],
)
def test_an_order_that_cannot_be_read_again_is_shown_as_its_refund_left_it(
    status: OperationStatus, why_not: str, left: int, back: int, pending: int
) -> None:
    """What was just given is not offered again."""
    refund = operation(60, OperationKind.REFUND, status, parent_id=CHARGE.operation_id)
    gone = replace(ticket(1).ticket, status=TicketStatus.VOID if why_not == "refunded" else TicketStatus.ISSUED)
    answer = RefundAnswer(order=order(refund), refunds=(refund,), tickets=(gone,))
    after = detail_after(replace(DETAIL, charges=(CHARGE,)), answer, refunded=True)
    assert after.tickets == (RefundableTicket(ticket=gone, why_not=why_not), *DETAIL.tickets[1:])
    (charge,) = after.charges
    assert (charge.refunded_minor, charge.pending_minor, charge.refundable_minor) == (back, pending, left)
    assert (after.refundable_minor, after.order.operations) == (left, (refund,))
    assert after.approval_above_minor == (3_000 if status is OperationStatus.DECLINED else 1_000)
    assert (ticket(1) in refundable_tickets(after)) is (status is OperationStatus.DECLINED)


def test_a_charge_that_brought_nothing_gives_nothing_back_afterwards() -> None:
    lost = replace(CHARGE, refundable_minor=0)
    answer = RefundAnswer(order=order(), refunds=(), tickets=())
    assert detail_after(replace(DETAIL, charges=(lost,)), answer, refunded=True).refundable_minor == 0


def test_a_ticket_that_was_made_void_can_still_be_refunded() -> None:
    gone = replace(ticket(1).ticket, status=TicketStatus.VOID)
    answer = RefundAnswer(order=order(), refunds=(), tickets=(gone,))
    after = detail_after(replace(DETAIL, charges=(CHARGE,), approval_above_minor=None), answer, refunded=False)
    assert after.tickets[0] == RefundableTicket(ticket=gone)
    assert [one.ticket_id.int for one in cancellable_tickets(after)] == [2]
    assert (after.refundable_minor, after.approval_above_minor) == (6_000, None)
