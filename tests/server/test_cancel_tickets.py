"""Tickets that are called off without money: a refund is another act (R25, R33; B4, B5)."""

from __future__ import annotations

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.money_back import CancelWish
from booking.domain.states import OperationKind, OrderStatus, SeatStatus, TicketStatus
from booking.services import issue_tickets, money_back
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Desk, count, make_event, seat_states, till
from tests.server.general_admission import Counter, make_standing, tier
from tests.server.refund_desk import call_off, issued, order_now, refund


async def test_some_tickets_called_off_leave_a_confirmed_order(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = (await desk.sell(1, 2, 3)).order
    tickets = await issued(database, desk.caller, order.order_id)
    step = (await call_off(database, desk.caller, order.order_id, tickets[:2])).value
    assert (step.order.status, step.refunds) == (OrderStatus.CONFIRMED, ())
    assert [one.status for one in step.tickets] == [TicketStatus.VOID] * 2
    states = await seat_states(database, event)
    assert [states[seat][0] for seat in (1, 2, 3)] == [SeatStatus.AVAILABLE] * 2 + [SeatStatus.SOLD]
    assert await count(database, "SELECT count(*) FROM cash_movements") == 0
    assert await count(database, "SELECT count(*) FROM audit_log WHERE action = 'tickets-cancelled'") == 1
    assert await issue_tickets.issue_for(database, [order.order_id]) == 0  # no new ticket for a line that ended
    await Desk(database, till(), event).sell(1, 2)
    assert await count(database, "SELECT sold FROM account_limits WHERE principal = $1", desk.caller.principal) == 1


async def test_all_called_off_cancels_the_order_and_its_money_can_still_go_back(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = (await desk.sell(1, 2)).order
    tickets = await issued(database, desk.caller, order.order_id)
    await call_off(database, desk.caller, order.order_id, tickets, seats_to_sale=False)
    assert (await order_now(database, order.order_id)).status is OrderStatus.CANCELLED
    assert (await seat_states(database, event))[1][0] == SeatStatus.BLOCKED
    found = await money_back.refundable_order(database, desk.caller, order.order_id)
    assert [one.why_not for one in found.tickets] == ["", ""]
    step = (await refund(database, desk.caller, order.order_id, tickets)).value
    assert [one.amount_minor for one in step.refunds] == [2 * ADULT_PRICE]
    assert step.order.status is OrderStatus.CANCELLED  # nothing leaves CANCELLED
    with pytest.raises(errors.TicketNotRefundableError, match="refunded"):
        await refund(database, desk.caller, order.order_id, tickets)
    assert (await seat_states(database, event))[1][0] == SeatStatus.BLOCKED


async def test_a_mixed_order_is_partly_refunded_and_then_refunded(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    order = (await desk.sell(1, 2)).order
    tickets = await issued(database, desk.caller, order.order_id)
    await call_off(database, desk.caller, order.order_id, tickets[:1])
    step = (await refund(database, desk.caller, order.order_id, tickets[1:])).value
    assert step.order.status is OrderStatus.PARTLY_REFUNDED
    step = (await refund(database, desk.caller, order.order_id, tickets[:1])).value
    assert step.order.status is OrderStatus.REFUNDED


async def test_what_cannot_be_called_off_is_named_and_left_alone(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    order = (await desk.sell(1, 2)).order
    tickets = await issued(database, desk.caller, order.order_id)
    await call_off(database, desk.caller, order.order_id, tickets[:1], key="k")
    assert (await call_off(database, desk.caller, order.order_id, tickets[:1], key="k")).replayed
    with pytest.raises(errors.KeyReusedError):
        await call_off(database, desk.caller, order.order_id, tickets[1:], key="k")
    with pytest.raises(errors.TicketNotRefundableError, match="void"):
        await call_off(database, desk.caller, order.order_id, tickets)
    with pytest.raises(errors.OrderNotFoundError):
        await call_off(database, till(), order.order_id, tickets[1:])
    await database.fetch("UPDATE tickets SET status = 'USED', used_at = booking_now() WHERE status = 'ISSUED'")
    with pytest.raises(errors.TicketNotRefundableError, match="used"):
        await call_off(database, desk.caller, order.order_id, tickets[1:])
    for reason in ("", "  "):
        wish = CancelWish((tickets[1].ticket_id,), True, reason)
        with pytest.raises(errors.InvalidRequestError) as refused:
            await money_back.cancel_tickets(database, desk.caller, order.order_id, wish, key="w", digest=b"d")
        assert [fault.pointer for fault in refused.value.fields] == ["/reason"]
    await call_off(database, till(Role.SUPERVISOR), order.order_id, tickets[1:])
    assert (await order_now(database, order.order_id)).status is OrderStatus.CANCELLED


@pytest.mark.parametrize("to_sale", [True, False])
async def test_places_come_back_to_their_tier_or_lessen_it(database: Database, to_sale: bool) -> None:
    """R11: counts agree (B4: the checker looks at the end), and each place is a ticket of its own."""
    event = await make_standing(database, 5, buckets=2)
    counter = Counter(database, till(), event)
    order = await counter.check_out(await counter.hold(3))
    await counter.pay(order, OperationKind.CASH)
    tickets = await issued(database, counter.caller, order.order_id)
    assert len(tickets) == 3
    await refund(database, counter.caller, order.order_id, tickets[:2], seats_to_sale=to_sale)
    now = await tier(database, event)
    assert (now.sold, now.available, now.capacity) == ((1, 4, 5) if to_sale else (1, 2, 3))
    await call_off(database, counter.caller, order.order_id, tickets[2:], seats_to_sale=to_sale)
    now = await tier(database, event)
    assert (now.sold, now.available) == ((0, 5) if to_sale else (0, 2))
    assert (await order_now(database, order.order_id)).status is OrderStatus.PARTLY_REFUNDED
    assert await count(database, "SELECT count(*) FROM tickets WHERE status <> 'VOID'") == 0
    told = await database.fetch("SELECT payload FROM outbox WHERE payload ->> 'change' = 'refunded'")
    assert len(told) == 2
