"""Refunds: the money goes back once, the ticket dies with it, the seat returns to sale (R25; B4, B5, P15, P17–P19)."""

from __future__ import annotations

import pytest

from booking.domain import errors
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, SeatStatus, TicketStatus
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Desk, count, make_event, seat_states, till
from tests.server.refund_desk import issued, refund

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
