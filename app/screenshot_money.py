"""Scenes of money in doubt and money that goes back: the inbox, an item, the daily comparison, orders, refunds."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QApplication

from app.i18n import _
from app.screens.orders_screen import OrdersScreen
from app.screens.reconciliation_screen import ReconciliationScreen
from app.screens.refund_dialog import RefundDialog
from app.screenshot_steps import ScreenshotError, Steps
from app.showcase_money import fill_inbox, sell_orders
from backend_client.testing import Fault
from backend_client.wire import ItemAction, ItemId, OperationStatus


@dataclass(slots=True)
class MoneyScenes(Steps):
    """See the module."""

    async def _money(self, name: str) -> None:
        """A supervisor's inbox: empty, full, an item with its evidence, a second person, the day, the server away."""
        await self._sign_in(name)
        console, screen = self._open.console, self._reconciliation
        console.window.screen_requested.emit("reconciliation")
        await self._until(lambda: self._store.inbox.as_of is not None, "the empty inbox")
        await self._rest()
        self.take("inbox-empty")
        items = fill_inbox(self._open.server)
        await self._read_inbox(len(items))
        self.take("inbox")
        await self._open_item(items[3])
        screen.item.form.acts[ItemAction.SETTLED_OUTSIDE].click()
        await self._turn()
        self.take("item")
        screen.item.form.acts[ItemAction.SETTLED_OUTSIDE].click()
        screen.item.unfold.click()
        await self._turn()
        screen.item.timeline.scrollToTop()
        screen.item.show_evidence()
        await self._turn()
        self.take("item-evidence")
        await self._open_item(items[-3])
        self.take("item-second-person")
        await self._acts_with_a_choice(items)
        await self._open_item(items[-3])
        self._open.server.items.change(items[-3], amount_minor=61_000)
        console.desk.inbox_wake.set()
        await self._until(screen.item.changed.isVisible, "what changed")
        await self._turn()
        self.take("item-changed")
        screen.item.back.click()
        await self._comparison()

    async def _comparison(self) -> None:
        """The day compared, and the list while the server is away."""
        console, screen = self._open.console, self._reconciliation
        screen.show_tab(1)
        await self._until(lambda: bool(self._store.inbox.runs), "the comparisons")
        await self._turn()
        self.take("daily-comparison")
        screen.show_tab(0)
        self._open.server.fail(Fault.UNREACHABLE, "/reconciliation", times=500)
        console.desk.inbox_wake.set()
        await self._until(screen.inbox.banner.isVisible, "the list to be old")
        await self._turn()
        self.take("inbox-out-of-date")
        self._open.server.heal()

    async def _acts_with_a_choice(self, items: list[ItemId]) -> None:
        """Taking an order back, and handing money to a till."""
        form = self._reconciliation.item.form
        await self._open_item(items[6])
        form.acts[ItemAction.TAKE_BACK].click()
        await self._turn()
        self.take("item-take-back")
        form.acts[ItemAction.TAKE_BACK].click()
        await self._open_item(items[4])
        form.acts[ItemAction.HAND_TO_TILL].click()
        await self._until(lambda: bool(self._store.inbox.tills), "the tills")
        form.tills.tills.setCurrentIndex(0)
        await self._turn()
        self.take("item-hand-to-till")
        form.acts[ItemAction.HAND_TO_TILL].click()

    async def _order_desk(self, name: str) -> None:
        """A clerk looks an order up, gives money of it back, and reads that it is not decided yet."""
        server = self._open.server
        orders = sell_orders(server, 7)
        await self._sign_in(name)
        console, screen = self._open.console, self._orders_screen
        console.window.screen_requested.emit("orders")
        await self._until(lambda: bool(self._store.orders.found), "the orders")
        await self._rest()
        self.take("orders")
        screen.order_opened.emit(orders[4].order_id)
        await self._until(lambda: self._store.orders.detail is not None, "an order")
        await self._turn()
        self.take("order")
        dialog = await self._refund_dialog(screen)
        dialog.tickets[0].click()
        dialog.reason.setText(_("The buyer cannot come"))
        await self._turn()
        self.take("refund", dialog)
        server.order_book.outcome = OperationStatus.SENT
        dialog.send.click()
        await self._until(screen.page.outcome.isVisible, "the refund to be under way")
        await self._turn()
        self.take("refund-not-decided")
        server.fail(Fault.UNREACHABLE, "/refunds", times=50)
        dialog = await self._refund_dialog(screen)
        dialog.tickets[1].click()
        dialog.reason.setText(_("The buyer cannot come"))
        dialog.send.click()
        await self._until(dialog.banner.isVisible, "the refund to fail")
        await self._turn()
        self.take("refund-not-sent", dialog)
        dialog.reject()
        server.heal()
        screen.page.back.click()
        screen.finder.setText("zzz")
        await self._until(lambda: not self._store.orders.found, "nothing to be found")
        await self._turn()
        self.take("orders-none")

    async def _read_inbox(self, count: int) -> None:
        self._open.console.desk.inbox_wake.set()
        await self._until(lambda: len(self._store.inbox.items) == count, "the items")
        await self._turn()

    async def _open_item(self, item_id: ItemId) -> None:
        self._reconciliation.inbox.item_opened.emit(item_id)
        await self._until(
            lambda: self._store.inbox.detail is not None and self._store.inbox.detail.item.item_id == item_id, "an item"
        )
        await self._turn()

    async def _refund_dialog(self, screen: OrdersScreen) -> RefundDialog:
        self._press(screen.page.refund)
        await self._until(lambda: isinstance(QApplication.activeModalWidget(), RefundDialog), "the refund's dialog")
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, RefundDialog):
            raise ScreenshotError("another dialog is open")
        return dialog

    @property
    def _reconciliation(self) -> ReconciliationScreen:
        return self._open.console.window.screens.reconciliation

    @property
    def _orders_screen(self) -> OrdersScreen:
        return self._open.console.window.screens.orders
