"""Tickets of an order. They are issued from the committed confirmation alone, by the worker (R28)."""

from __future__ import annotations

from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import OrderNotFoundError
from booking.domain.model import OrderId, TicketList
from booking.store import ticket_queries
from booking.store.database import Database


async def tickets_of_order(db: Database, caller: Caller, order_id: UUID) -> TicketList:
    """The tickets that are issued so far; `complete` once every seat and place of the confirmed order has one.

    Raises:
        OrderNotFoundError: there is none that the caller may see.
    """
    count = await ticket_queries.count_tickets(db, order_id)
    if count is None or not (caller.sees_all or count.principal == caller.principal):
        raise OrderNotFoundError("There is no such order.")
    tickets = await ticket_queries.read_tickets(db, order_id)
    return TicketList(OrderId(order_id), count.confirmed and count.tickets >= count.lines, tickets)
