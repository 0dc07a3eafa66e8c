"""Orders in words: how they stand, and their tickets."""

from __future__ import annotations

from typing import Final

from app.i18n import _, marked
from backend_client.wire import OrderStatus, TicketStatus

_STATUSES: Final[dict[OrderStatus, tuple[str, str, str]]] = {
    OrderStatus.PENDING: (marked("Not paid yet"), "warn", "○"),
    OrderStatus.RECONCILING: (marked("Being cleared up"), "danger", "▲"),
    OrderStatus.CONFIRMED: (marked("Paid"), "success", "✓"),
    OrderStatus.PARTLY_REFUNDED: (marked("Partly refunded"), "accent", "◐"),
    OrderStatus.REFUNDED: (marked("Refunded"), "", "↩"),
    OrderStatus.CANCELLED: (marked("Cancelled"), "", "✕"),
    OrderStatus.EXPIRED: (marked("Ran out"), "", "–"),
}
_TICKETS: Final[dict[TicketStatus, tuple[str, str]]] = {
    TicketStatus.ISSUED: (marked("issued"), ""),
    TicketStatus.PRINTED: (marked("printed"), ""),
    TicketStatus.USED: (marked("used"), "warn"),
    TicketStatus.VOID: (marked("void"), "danger"),
}


def order_status(status: OrderStatus) -> tuple[str, str]:
    """How an order stands, and the tone of that (a tone of a label)."""
    words, tone, _mark = _STATUSES[status]
    return _(words), tone


def order_mark(status: OrderStatus) -> str:
    """A sign for it."""
    return _STATUSES[status][2]


def order_token(status: OrderStatus) -> str:
    """The token of the theme for it."""
    tone = _STATUSES[status][1]
    return "accent_text" if tone == "accent" else tone or "text_muted"


def ticket_status(status: TicketStatus) -> tuple[str, str]:
    """How a ticket stands, and the tone of that."""
    words, tone = _TICKETS[status]
    return _(words), tone
