"""Refunds: the money goes back once, the ticket dies with it, the seat returns to sale (R25; B4, B5, P15, P17–P19)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.model import CheckoutLine, ResultOutcome
from booking.domain.money_back import RefundWay
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, SeatStatus, TicketStatus
from booking.services import money_back, take_payment
from booking.services.check_out import check_out
from booking.services.print_tickets import open_print_job
from booking.store.database import Database
from tests.server.box_office import ADULT, ADULT_PRICE, Desk, count, fan, make_event, seat_states, till
from tests.server.refund_desk import captured, follow_up, issued, items, order_now, provider_says, refund, take_back

CASH, SALE, AUTHORIZE = OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE
SOLD, FREE, BLOCKED = SeatStatus.SOLD, SeatStatus.AVAILABLE, SeatStatus.BLOCKED


async def test_b5_two_of_five_tickets_come_back_and_are_sold_again(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = (await desk.sell(1, 2, 3, 4, 5)).order
    tickets = await issued(database, desk.caller, order.order_id)
    before = await count(database, "SELECT max(id) FROM outbox")
    step = (await refund(database, desk.caller, order.order_id, tickets[:2])).value

    assert step.order.status is OrderStatus.PARTLY_REFUNDED
    assert [(one.kind, one.status, one.provider, one.amount_minor) for one in step.refunds] == [
        (OperationKind.REFUND, OperationStatus.SUCCEEDED, "cash", 2 * ADULT_PRICE)
    ]
    assert [one.status for one in step.tickets] == [TicketStatus.VOID] * 2
    states = await seat_states(database, event)
    assert [states[seat][0] for seat in range(1, 6)] == [FREE, FREE, SOLD, SOLD, SOLD]
    rows = await database.fetch("SELECT seats, seat_states FROM outbox WHERE id > $1 AND seats <> '{}'", before)
    assert [(row["seats"], row["seat_states"]) for row in rows] == [([1, 2], [0, 0])]
    assert await count(database, "SELECT sold FROM account_limits WHERE principal = $1", desk.caller.principal) == 3
    again = await Desk(database, till(), event).sell(1, 2)
    assert again.order.status is OrderStatus.CONFIRMED
    assert await count(database, "SELECT amount_minor FROM cash_movements") == -2 * ADULT_PRICE


async def test_all_tickets_at_once_and_the_seats_stay_with_the_house(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = (await desk.sell(1, 2)).order
    tickets = await issued(database, desk.caller, order.order_id)
    step = (await refund(database, desk.caller, order.order_id, tickets, seats_to_sale=False)).value
    assert step.order.status is OrderStatus.REFUNDED
    states = await seat_states(database, event)
    assert [states[seat][0] for seat in (1, 2)] == [BLOCKED, BLOCKED]
    with pytest.raises(errors.SeatsTakenError):
        await Desk(database, till(), event).hold(1)
    assert await count(database, "SELECT count(*) FROM house_holds WHERE reason = 'the customer asked'") == 1
    assert await count(database, "SELECT count(*) FROM audit_log WHERE action = 'tickets-refunded'") == 1


async def test_b4_the_counts_of_account_and_card_follow(database: Database) -> None:
    event = await make_event(database)
    buyer = fan()
    charge = (await Desk(database, buyer, event).sell(1, 2, 3, kind=AUTHORIZE)).operation
    order = await captured(database, charge, card="visa-1")
    tickets = await issued(database, buyer, order.order_id)
    step = (await refund(database, till(Role.SUPERVISOR), order.order_id, tickets[:1])).value
    assert await count(database, "SELECT sold FROM account_limits WHERE principal = $1", buyer.principal) == 3
    await provider_says(database, step.refunds[0])
    assert await count(database, "SELECT sold FROM account_limits WHERE principal = $1", buyer.principal) == 2
    assert await count(database, "SELECT sold FROM card_limits WHERE fingerprint = 'sandbox:visa-1'") == 2
    again = await Desk(database, buyer, event).hold(11, 12, 13, 14)
    assert len(again.seats) == 4  # six for each account: two are left to him, four are free again


async def test_p15_p17_one_of_four_tickets_on_one_payment(database: Database) -> None:
    """One is void and three are valid; the charge "completed" once more changes nothing."""
    event = await make_event(database)
    buyer, leader = fan(), till(Role.SUPERVISOR)
    charge = (await Desk(database, buyer, event).sell(1, 2, 3, 4, kind=AUTHORIZE)).operation
    order = await captured(database, charge)
    tickets = await issued(database, buyer, order.order_id)
    step = (await refund(database, leader, order.order_id, tickets[:1])).value
    assert (step.order.status, step.refunds[0].status) == (OrderStatus.CONFIRMED, OperationStatus.CREATED)
    assert [one.refund_pending for one in step.tickets] == [True]
    with pytest.raises(errors.TicketNotFoundError):  # it does not reprint while its money is on its way
        await open_print_job(
            database, leader, order.order_id, [tickets[0].ticket_id], "PDF", key=str(uuid4()), digest=b"d"
        )
    assert await standing(database, tickets[0].code) == "refund-pending"

    after = await provider_says(database, step.refunds[0])
    assert after.status is OrderStatus.PARTLY_REFUNDED
    now = await issued(database, buyer, order.order_id)
    assert sorted(one.status for one in now) == [TicketStatus.ISSUED] * 3 + [TicketStatus.VOID]
    (dead,) = [one for one in now if one.status is TicketStatus.VOID]
    assert (dead.ticket_id, await standing(database, dead.code)) == (tickets[0].ticket_id, "void")

    rest = [one for one in now if one.status is not TicketStatus.VOID]
    step = (await refund(database, leader, order.order_id, rest)).value
    assert (await provider_says(database, step.refunds[0])).status is OrderStatus.REFUNDED
    # P15: everything said again, in any order.
    for operation in (charge, follow_up(order, charge.operation_id), *step.refunds):
        await provider_says(database, await take_payment.read_operation(database, operation.operation_id))
    assert (await order_now(database, order.order_id)).status is OrderStatus.REFUNDED
    assert {one.status for one in await issued(database, buyer, order.order_id)} == {TicketStatus.VOID}
    assert await items(database) == []


async def standing(database: Database, code: str) -> str:
    """What a gate is told of a ticket."""
    rows = await database.fetch("SELECT why_ticket_is_no_good(t) AS why FROM tickets t WHERE t.code = $1", code)
    return str(rows[0]["why"])


async def test_p17_a_refund_without_a_ticket_changes_none_and_asks_a_person(database: Database) -> None:
    event = await make_event(database)
    buyer = fan()
    charge = (await Desk(database, buyer, event).sell(1, 2, kind=AUTHORIZE)).operation
    order = await captured(database, charge)
    await issued(database, buyer, order.order_id)
    operation = uuid4()
    async with database.transaction() as connection:
        await connection.fetch("SELECT lock_order_for_money($1)", order.order_id)
        code = await connection.fetchval(
            "SELECT (open_money_back($1, 'refund', $2, 'same', $3, 'supervisor', NULL, 'by hand', booking_now())).code",
            charge.operation_id, ADULT_PRICE, operation,
        )  # fmt: skip
    assert code == ""
    after = await provider_says(database, await take_payment.read_operation(database, operation))
    assert after.status is OrderStatus.CONFIRMED
    assert {one.status for one in await issued(database, buyer, order.order_id)} == {TicketStatus.ISSUED}
    assert await items(database) == [("refund-without-ticket", operation)]


async def test_p19_cancel_on_authorized_is_a_void(database: Database) -> None:
    event = await make_event(database)
    buyer, leader = fan(), till(Role.SUPERVISOR)
    charge = (await Desk(database, buyer, event).sell(1, 2, kind=AUTHORIZE)).operation
    order = await provider_says(database, charge)
    capture = follow_up(order, charge.operation_id)
    tickets = await issued(database, buyer, order.order_id)
    step = (await refund(database, leader, order.order_id, tickets)).value
    assert [(one.kind, one.status) for one in step.refunds] == [(OperationKind.VOID, OperationStatus.CREATED)]
    assert not await take_payment.mark_sent(database, capture.operation_id)  # parked meanwhile
    after = await provider_says(database, step.refunds[0])
    assert after.status is OrderStatus.REFUNDED
    assert follow_up(after, charge.operation_id).decline_code == "voided"
    assert await items(database) == []
    assert (await seat_states(database, event))[1][0] == FREE


async def test_p19_a_void_that_is_refused_leaves_all_as_it_was_and_the_capture_goes_on(database: Database) -> None:
    event = await make_event(database)
    buyer, leader = fan(), till(Role.SUPERVISOR)
    charge = (await Desk(database, buyer, event).sell(1, kind=AUTHORIZE)).operation
    order = await provider_says(database, charge)
    tickets = await issued(database, buyer, order.order_id)
    step = (await refund(database, leader, order.order_id, tickets)).value
    after = await provider_says(database, step.refunds[0], ResultOutcome.DECLINED, code="too-late")
    assert (after.status, (await issued(database, buyer, order.order_id))[0].refund_pending) == ("CONFIRMED", False)
    assert [kind for kind, _ in await items(database)] == ["void-failed"]
    capture = follow_up(after, charge.operation_id)
    await provider_says(database, capture)
    # Asked for again it is a refund: a charge is voided once.
    step = (await refund(database, leader, order.order_id, tickets)).value
    assert [one.kind for one in step.refunds] == [OperationKind.REFUND]
    after = await provider_says(database, step.refunds[0], ResultOutcome.DECLINED, code="card-closed")
    assert (after.status, await standing(database, tickets[0].code)) == (OrderStatus.CONFIRMED, "")
    assert (await seat_states(database, event))[1][0] == SOLD
    # And in cash, because the card does not take it.
    step = (await refund(database, leader, order.order_id, tickets, way=RefundWay.CASH)).value
    assert step.order.status is OrderStatus.REFUNDED


async def test_a_part_of_what_is_not_captured_waits_for_the_capture(database: Database) -> None:
    """P19: no capture is lessened silently."""
    event = await make_event(database)
    buyer, leader = fan(), till(Role.SUPERVISOR)
    charge = (await Desk(database, buyer, event).sell(1, 2, kind=AUTHORIZE)).operation
    order = await provider_says(database, charge)
    tickets = await issued(database, buyer, order.order_id)
    (waiting,) = (await refund(database, leader, order.order_id, tickets[:1])).value.refunds
    assert not await take_payment.mark_sent(database, waiting.operation_id)
    assert await standing(database, tickets[0].code) == "refund-pending"
    await provider_says(database, follow_up(order, charge.operation_id))
    after = await provider_says(database, waiting)
    assert after.status is OrderStatus.PARTLY_REFUNDED


async def test_a_refund_ends_with_the_capture_that_it_waited_for(database: Database) -> None:
    """Nothing was taken: the ticket lives on until a supervisor has settled the capture (R25)."""
    event = await make_event(database)
    buyer, leader = fan(), till(Role.SUPERVISOR)
    charge = (await Desk(database, buyer, event).sell(1, 2, kind=AUTHORIZE)).operation
    order = await provider_says(database, charge)
    tickets = await issued(database, buyer, order.order_id)
    (waiting,) = (await refund(database, leader, order.order_id, tickets[:1])).value.refunds
    await provider_says(database, follow_up(order, charge.operation_id), ResultOutcome.DECLINED, code="no-money")
    assert not await take_payment.mark_sent(database, waiting.operation_id)
    ended = await take_payment.read_operation(database, waiting.operation_id)
    assert (ended.status, ended.decline_code) == (OperationStatus.DECLINED, "capture-failed")
    assert await standing(database, tickets[0].code) == ""
    assert [kind for kind, _ in await items(database)] == ["capture-failed", "refund-failed"]
    with pytest.raises(errors.RefundTooMuchError, match="at most 0"):
        await refund(database, leader, order.order_id, tickets[:1])
    assert (await take_back(database, leader)).status is OrderStatus.CANCELLED
    assert {one.status for one in await issued(database, buyer, order.order_id)} == {TicketStatus.VOID}
    assert (await seat_states(database, event))[1][0] == FREE


async def test_an_unknown_refund_keeps_the_ticket_waiting_until_it_is_known(database: Database) -> None:
    event = await make_event(database)
    buyer, leader = fan(), till(Role.SUPERVISOR)
    charge = (await Desk(database, buyer, event).sell(1, kind=AUTHORIZE)).operation
    order = await captured(database, charge)
    tickets = await issued(database, buyer, order.order_id)
    (asked,) = (await refund(database, leader, order.order_id, tickets)).value.refunds
    await provider_says(database, asked, ResultOutcome.UNKNOWN)
    with pytest.raises(errors.TicketNotRefundableError, match="refund-pending"):
        await refund(database, leader, order.order_id, tickets)
    assert (await seat_states(database, event))[1][0] == SOLD
    found = await money_back.refundable_order(database, leader, order.order_id)
    assert [(one.pending_minor, one.refundable_minor) for one in found.charges] == [(ADULT_PRICE, 0)]
    assert [one.why_not for one in found.tickets] == ["refund-pending"]
    after = await provider_says(database, await take_payment.read_operation(database, asked.operation_id))
    assert after.status is OrderStatus.REFUNDED


async def test_a_free_ticket_goes_back_without_money(database: Database) -> None:
    event = await make_event(database)
    await database.fetch("INSERT INTO prices VALUES ($1, 2, 0, 1, 0)", event)
    await database.fetch("UPDATE events SET price_version = 2")
    desk = Desk(database, till(), event)
    hold = await desk.hold(1)
    order = (
        await check_out(database, desk.caller, hold.hold_id, [CheckoutLine(1, ADULT)], 0, key="c", digest=b"c")
    ).value
    await desk.pay(order, CASH)
    tickets = await issued(database, desk.caller, order.order_id)
    step = (await refund(database, desk.caller, order.order_id, tickets)).value
    assert (step.refunds, step.order.status) == ((), OrderStatus.REFUNDED)
