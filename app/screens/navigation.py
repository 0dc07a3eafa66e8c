"""From screen to screen by role, and the list of keys of the screen that is in front."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.actions.desk import Desk
from app.bridge.deeds import Deeds
from app.bridge.dialogs import ask
from app.core.session import Permission
from app.screens.keys_dialog import KeysDialog, ListKeysDialog, OpsKeysDialog, ScreenKeysDialog
from app.screens.main_window import MainWindow
from app.screens.ops_bindings import OpsBindings
from app.screens.ops_screen import OpsScreen
from app.screens.order_bindings import OrderBindings
from app.screens.orders_screen import OrdersScreen
from app.screens.plan_dialogs import PlanKeysDialog
from app.screens.plan_editor import PlanEditorScreen
from app.screens.reconciliation_bindings import ReconciliationBindings
from app.screens.reconciliation_screen import ReconciliationScreen
from app.screens.settings_bindings import SettingsBindings
from app.screens.settings_screen import SettingsScreen
from widgets.answer_dialog import AnswerDialog
from widgets.theme import Theme

_KEYS_OF: tuple[tuple[type[QWidget], Callable[[Theme, QWidget], AnswerDialog]], ...] = (
    (OpsScreen, OpsKeysDialog), (OrdersScreen, ListKeysDialog), (ReconciliationScreen, ListKeysDialog),
    (SettingsScreen, ScreenKeysDialog), (PlanEditorScreen, PlanKeysDialog),
)  # fmt: skip
"""The keys of the screen that is in front; the counter's for its own screens, and for who is about to go there."""


class Navigation(QObject):
    """Goes where the person wants and may; lives as long as the window."""

    def __init__(
        self,
        window: MainWindow,
        desk: Desk,
        deeds: Deeds,
        orders: OrderBindings,
        reconciliation: ReconciliationBindings,
        ops: OpsBindings,
        settings: SettingsBindings,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._orders = orders
        self._reconciliation = reconciliation
        self._ops = ops
        self._settings = settings
        self._was_at_counter = False
        window.screen_requested.connect(self._on_screen_requested)
        window.keys_requested.connect(self._on_keys_requested)
        orders.items_wanted.connect(self._on_items_wanted)
        reconciliation.order_wanted.connect(self._on_order_wanted)

    def show_session(self) -> None:
        """Somebody else works here: where the one before was is nowhere to go back to."""
        self._was_at_counter = False

    def _on_screen_requested(self, code: str) -> None:
        """Go to a screen, if the role may; a sale at the counter goes on meanwhile."""
        screens, session = self._window.screens, self._desk.store.session
        if session is None or screens.current is screens.sign_in or QApplication.activeModalWidget() is not None:
            return
        if code == "counter":
            sale = self._desk.store.sale
            busy = sale is not None and not sale.ended
            screens.go_to(screens.counter if busy or self._was_at_counter else screens.events)
            return
        self._was_at_counter = screens.current is screens.counter or (
            self._was_at_counter and screens.current is not screens.events
        )
        if code == "orders" and session.may(Permission.FIND_ORDERS):
            self._orders.enter()
        elif code == "reconciliation" and session.may(Permission.READ_ITEMS):
            self._reconciliation.enter()
        elif code == "ops" and session.may(Permission.SEE_OPS):
            self._ops.enter()
        elif code == "settings" and session.may(Permission.READ_SETTINGS):
            self._settings.enter()

    def _on_order_wanted(self, order_id: object) -> None:
        self._on_screen_requested("orders")
        self._orders.open(order_id)

    def _on_items_wanted(self, number: str) -> None:
        self._on_screen_requested("reconciliation")
        self._reconciliation.find(number)

    def _on_keys_requested(self) -> None:
        self._deeds.start("keys", self._show_keys)

    async def _show_keys(self) -> None:
        current = self._window.screens.current
        kind = next((dialog for screen, dialog in _KEYS_OF if isinstance(current, screen)), KeysDialog)
        await ask(kind(self._window.theme, self._window))
