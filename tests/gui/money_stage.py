"""A console with money in doubt, for tests of the inbox and of the orders."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.screens.orders_screen import OrdersScreen
from app.screens.reconciliation_screen import ReconciliationScreen
from app.screens.refund_dialog import RefundDialog
from app.showcase import Showcase
from app.showcase_money import fill_inbox, sell_orders
from backend_client.wire import ItemAction, ItemId, Order
from tests.gui.conftest import counter_of, rest, until


@asynccontextmanager
async def inbox_of(folder: Path, name: str = "sofia") -> AsyncIterator[tuple[Showcase, list[ItemId]]]:
    """A console at the inbox, with its items."""
    async with counter_of(folder, name, open_event=False) as showcase:
        items = fill_inbox(showcase.server)
        go(showcase, "reconciliation")
        await until(lambda: len(store_of(showcase).inbox.items) == len(items), "the inbox")
        await rest(showcase)
        yield showcase, items


@asynccontextmanager
async def orders_of(folder: Path, name: str = "carla", count: int = 4) -> AsyncIterator[tuple[Showcase, list[Order]]]:
    """A console at the orders, with some that are paid."""
    async with counter_of(folder, name, open_event=False) as showcase:
        orders = sell_orders(showcase.server, count)
        go(showcase, "orders")
        await until(lambda: len(store_of(showcase).orders.found) == count, "the orders")
        await rest(showcase)
        yield showcase, orders


def go(showcase: Showcase, code: str) -> None:
    showcase.console.window.screen_requested.emit(code)


def store_of(showcase: Showcase) -> Any:
    return showcase.console.desk.store


def reconciliation(showcase: Showcase) -> ReconciliationScreen:
    return showcase.console.window.screens.reconciliation


def orders_screen(showcase: Showcase) -> OrdersScreen:
    return showcase.console.window.screens.orders


async def open_item(showcase: Showcase, item_id: ItemId) -> None:
    """Open an item as Enter does, and wait for its evidence."""
    reconciliation(showcase).inbox.item_opened.emit(item_id)
    inbox = store_of(showcase).inbox
    await until(lambda: inbox.detail is not None and inbox.detail.item.item_id == item_id, "the evidence")
    await rest(showcase)


async def open_order(showcase: Showcase, order: Order) -> None:
    orders_screen(showcase).order_opened.emit(order.order_id)
    desk = store_of(showcase).orders
    await until(lambda: desk.detail is not None and desk.detail.order.order_id == order.order_id, "the order")
    await rest(showcase)


async def choose(showcase: Showcase, action: ItemAction, reason: str = "The bank has said so") -> None:
    """Choose an act and type its reason."""
    form = reconciliation(showcase).item.form
    form.acts[action].click()
    await until(lambda: store_of(showcase).inbox.draft.action is action, "the act")
    form.reason.setText(reason)


async def refund_dialog(showcase: Showcase, *, cancel: bool = False) -> RefundDialog:
    """Press the button, wait for the dialog."""
    page = orders_screen(showcase).page
    button = page.cancel if cancel else page.refund
    button.click()
    await until(lambda: isinstance(QApplication.activeModalWidget(), RefundDialog), "the dialog")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, RefundDialog)
    return dialog


def press(key: Qt.Key, widget: QWidget, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(widget, key, modifier)


def sent_posts(showcase: Showcase, part: str) -> list[str]:
    """Keys of the mutating calls about `part` that reached the server, replays left out."""
    return [call.key for call in showcase.server.calls if part in call.path and call.key and not call.replayed]
