"""Tickets and print jobs as the database has them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from booking.domain.model import OrderId, PrintJob, PrintJobId, SeatRef, Ticket, TicketId
from booking.domain.states import PrintJobStatus, TicketStatus
from booking.sql import query
from booking.store.database import Database


@dataclass(frozen=True, slots=True)
class TicketCount:
    """How many lines of an order need a ticket, and how many have one."""

    principal: str
    confirmed: bool
    lines: int
    tickets: int


async def count_tickets(db: Database, order_id: UUID) -> TicketCount | None:
    """None when there is no such order."""
    row = await db.fetchrow(query("read_ticket_count"), order_id)
    if row is None:
        return None
    confirmed = row["status"] in ("CONFIRMED", "PARTLY_REFUNDED", "REFUNDED")
    return TicketCount(row["principal"], confirmed, row["lines"], row["tickets"])


async def read_tickets(db: Database, order_id: UUID) -> tuple[Ticket, ...]:
    """An order's tickets, by seat, then those of places."""
    return tuple(
        Ticket(
            ticket_id=TicketId(row["ticket_id"]),
            order_id=OrderId(row["order_id"]),
            seat=SeatRef(row["seat_no"], row["section"], row["row_label"], row["number"], row["row_kind"]),
            price_type_name=row["price_type_name"],
            amount_minor=row["amount_minor"],
            currency=row["currency"],
            code=row["code"],
            status=TicketStatus(row["status"]),
            tier_id=row["tier_id"],
            refund_pending=row["refund_pending"],
        )
        for row in await db.fetch(query("read_tickets_of_order"), order_id)
    )


async def read_print_job(db: Database, print_job_id: UUID) -> PrintJob | None:
    """One print job."""
    row = await db.fetchrow(query("read_print_job"), print_job_id)
    if row is None:
        return None
    return PrintJob(
        print_job_id=PrintJobId(row["print_job_id"]),
        order_id=OrderId(row["order_id"]),
        ticket_ids=tuple(TicketId(ticket_id) for ticket_id in row["ticket_ids"]),
        printer=row["printer"],
        status=PrintJobStatus(row["status"]),
        detail=row["detail"],
        created_at=row["created_at"],
    )
