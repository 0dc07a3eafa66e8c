"""After the sale: tickets and their printing."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from backend_client.wire.base import Message, OrderId, PrintJobId, RequestMessage, ShortText, TicketId
from backend_client.wire.problems import SeatRef
from backend_client.wire.states import PrintJobStatus, TicketStatus


class Ticket(Message, frozen=True, kw_only=True):
    """`code` is what the QR says; it is not guessable (80 random bits or more).

    A general-admission ticket has a `tier_id`; its `seat` names the tier as its section and has the number -1.
    `refund_pending`: its money is on its way back. It neither scans nor reprints, unless that is refused.
    """

    ticket_id: TicketId
    order_id: OrderId
    seat: SeatRef
    price_type_name: str
    amount_minor: int
    currency: str
    code: str
    status: TicketStatus
    tier_id: int | None = None
    refund_pending: bool = False


class TicketList(Message, frozen=True, kw_only=True):
    """`complete` is false while the issuer is still behind the confirmation (R28)."""

    order_id: OrderId
    complete: bool
    tickets: tuple[Ticket, ...]


class PrintJobRequest(RequestMessage, frozen=True, kw_only=True):
    ticket_ids: Annotated[tuple[TicketId, ...], Meta(min_length=1, max_length=100)]
    printer: ShortText


class PrintJobReport(RequestMessage, frozen=True, kw_only=True):
    status: PrintJobStatus
    detail: Annotated[str, Meta(max_length=500)] = ""


class PrintJob(Message, frozen=True, kw_only=True):
    print_job_id: PrintJobId
    order_id: OrderId
    ticket_ids: tuple[TicketId, ...]
    printer: str
    status: PrintJobStatus
    detail: str = ""
    created_at: datetime
