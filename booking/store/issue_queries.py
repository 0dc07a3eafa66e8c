"""Queries of the ticket issuer: what the outbox says is confirmed, and the tickets made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from booking import sql
from booking.store.connection import Connection
from booking.store.database import Database


@dataclass(frozen=True, slots=True)
class Line:
    """A sold seat, or a place of a tier, of an order that has no ticket yet; the other number is None."""

    order_id: UUID
    event_id: int
    seat_no: int | None
    place_no: int | None = None


@dataclass(frozen=True, slots=True)
class NewTicket:
    """A ticket about to be stored."""

    ticket_id: UUID
    line: Line
    code: str


async def read_consumer(db: Database, consumer: str) -> str | None:
    """The snapshot that `consumer` has read up to."""
    row = await db.fetchrow(sql.query("read_consumer"), consumer)
    return row[0] if row else None


async def advance_consumer(connection: Connection, consumer: str, before: str, after: str) -> None:
    """Move the cursor, unless somebody moved it in between."""
    await connection.execute(sql.query("advance_consumer"), consumer, before, after)


async def scan_confirmed_orders(db: Database, after: str) -> tuple[str, list[UUID]]:
    """The snapshot of the scan, and the orders confirmed since `after`."""
    rows = await db.fetch(sql.query("scan_confirmed_orders"), after)
    return rows[0]["snap"], [row["order_id"] for row in rows if row["order_id"] is not None]


async def read_lines_without_ticket(connection: Connection, order_ids: Sequence[UUID]) -> list[Line]:
    """Valid lines of these orders for which no valid ticket exists."""
    rows = await connection.fetch(sql.query("read_lines_without_ticket"), list(order_ids))
    return [Line(row["order_id"], row["event_id"], row["seat_no"], row["place_no"]) for row in rows]


async def insert_tickets(connection: Connection, tickets: Sequence[NewTicket]) -> int:
    """Store tickets; a line that got one meanwhile keeps it. Returns how many are new."""
    rows = await connection.fetch(
        sql.query("insert_tickets"),
        [ticket.ticket_id for ticket in tickets],
        [ticket.line.event_id for ticket in tickets],
        [ticket.line.order_id for ticket in tickets],
        [ticket.line.seat_no for ticket in tickets],
        [ticket.line.place_no for ticket in tickets],
        [ticket.code for ticket in tickets],
    )
    return len(rows)
