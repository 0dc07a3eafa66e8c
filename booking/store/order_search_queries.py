"""Orders by what staff know of them: a page, newest first."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from booking.domain.model import EventId, OrderId, SeatRef
from booking.domain.order_search import OrderQuestion, OrderSummary
from booking.domain.states import OrderStatus
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database


async def find_orders(db: Database, principal: str | None, asked: OrderQuestion, limit: int) -> list[OrderSummary]:
    """Orders of `principal`, or of everybody; at most `limit`."""
    rows = await db.fetch(
        query("find_orders"), principal, asked.event_id, asked.status, asked.text, asked.after, limit, None
    )
    return [await _summary(db, row) for row in rows]


async def find_returns(db: Database, device_id: UUID, limit: int) -> list[OrderSummary]:
    """Orders of which the till has to give money back; at most `limit`."""
    rows = await db.fetch(query("find_orders"), None, None, None, "", None, limit, device_id)
    return [await _summary(db, row) for row in rows]


async def owes_at(db: Database, order_id: UUID, device_id: UUID) -> bool:
    """Whether the till has to give back money of the order."""
    owes: bool = (await db.fetch(query("owes_at"), order_id, device_id))[0]["owes"]
    return owes


async def server_time(db: Database) -> datetime:
    """What the database takes the time to be."""
    now: datetime = (await db.fetch(query("read_time")))[0][0]
    return now


async def _summary(db: Database, row: Record) -> OrderSummary:
    refs = await db.seat_labels.refs(row["plan_id"], row["plan_version"], row["seats"])
    return OrderSummary(
        order_id=OrderId(row["order_id"]),
        event_id=EventId(row["event_id"]),
        event_name=row["event_name"],
        number=row["number"],
        status=OrderStatus(row["status"]),
        amount_minor=row["amount_minor"],
        currency=row["currency"],
        seats=(*(_label(ref) for ref in refs), *row["places"]),
        buyer=row["buyer"],
        open_items=row["open_items"],
        created_at=row["created_at"],
    )


def _label(seat: SeatRef) -> str:
    words = (seat.section, seat.row, seat.number)
    return " ".join(word for word in words if word) or f"#{seat.seat_no}"
