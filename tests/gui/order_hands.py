"""What people do with orders in the tests of windows."""

from __future__ import annotations

from typing import Any

from app.screens.order_page import OrderPage
from app.screens.refund_dialog import RefundDialog
from app.showcase import Showcase
from backend_client.wire import Order, TicketStatus
from tests.gui.conftest import rest, until
from tests.gui.money_stage import open_order, orders_screen, refund_dialog


def tickets_of(showcase: Any, order: Any) -> list[TicketStatus]:
    return [ticket.status for ticket in showcase.server.house.orders[order.order_id].tickets]


async def fill(dialog: RefundDialog, *places: int, reason: str = "The buyer is ill") -> None:
    """Choose tickets by their places and say why."""
    for place in places:
        dialog.tickets[place].click()
    dialog.reason.setText(reason)


async def filled(showcase: Showcase, order: Order, *places: int) -> RefundDialog:
    """The dialog of an order, with these tickets chosen and a reason."""
    await open_order(showcase, order)
    dialog = await refund_dialog(showcase)
    await fill(dialog, *places)
    return dialog


async def sent(showcase: Showcase, dialog: RefundDialog) -> OrderPage:
    """Send what is chosen; the page once it tells the outcome."""
    dialog.send.click()
    page = orders_screen(showcase).page
    await until(page.outcome.isVisible, "the outcome")
    await rest(showcase)
    return page
