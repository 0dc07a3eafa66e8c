"""What people do with orders in the tests of windows."""

from __future__ import annotations

from typing import Any

from app.screens.refund_dialog import RefundDialog
from backend_client.wire import TicketStatus


def tickets_of(showcase: Any, order: Any) -> list[TicketStatus]:
    return [ticket.status for ticket in showcase.server.house.orders[order.order_id].tickets]


async def fill(dialog: RefundDialog, *places: int, reason: str = "The buyer is ill") -> None:
    """Choose tickets by their places and say why."""
    for place in places:
        dialog.tickets[place].click()
    dialog.reason.setText(reason)
