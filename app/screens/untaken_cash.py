"""Cash that was paid out here and that the booking system does not take: over the list of orders until it is settled.

Whoever works here sees it; a supervisor who has compared the order with the drawer says so.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.core.order_search import OrderPart, UntakenCash
from app.core.session import Permission
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.screens.words import Advice
from widgets.async_button import AsyncButton
from widgets.build import column
from widgets.status_banner import StatusBanner
from widgets.theme import Theme


class UntakenBanner(QWidget):
    """Shows the first of them; hidden while there is none."""

    order_wanted = Signal(object)
    """The id of an order."""
    compared = Signal(object)
    """An `UntakenCash` of which somebody wants to say that it is compared."""

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._first: UntakenCash | None = None
        self.banner = StatusBanner(theme)
        self.settle = AsyncButton(_("Compared with the drawer…"))
        self.banner.action_requested.connect(self._on_order_requested)
        self.settle.action_requested.connect(self._on_settle_requested)
        page = column(theme, gap="tight", parent=self)
        page.addWidget(self.banner)
        page.addWidget(self.settle, 0, Qt.AlignmentFlag.AlignLeading)
        self.hide()

    def show_change(self, part: OrderPart) -> None:
        """Show what waits now, when that has changed."""
        if OrderPart.UNTAKEN in part:
            self.show_untaken()

    def show_untaken(self) -> None:
        """Show what waits now, and to whom."""
        session, waiting = self._store.session, self._store.orders.untaken
        self._first = waiting[0] if waiting else None
        self.setVisible(self._first is not None)
        self.settle.setVisible(session is not None and session.may(Permission.RECONCILE))
        if self._first is None:
            self.banner.clear()
            return
        detail = untaken_detail(self._first, "UTC" if self._store.event is None else self._store.event.zone)
        if len(waiting) > 1:
            more = ngettext(
                "{count} more payout waits to be compared.", "{count} more payouts wait to be compared.",
                len(waiting) - 1,
            )  # fmt: skip
            detail = f"{detail} {more.format(count=figures().number(len(waiting) - 1))}"
        self.banner.tell("danger", untaken_title(self._first), detail, _("Open the order"))

    def _on_order_requested(self) -> None:
        if self._first is not None:
            self.order_wanted.emit(self._first.order_id)

    def _on_settle_requested(self) -> None:
        if self._first is None:
            self.settle.set_busy(False)
        else:
            self.compared.emit(self._first)


def untaken_title(one: UntakenCash) -> str:
    """What happened."""
    amount = figures().money(one.amount_minor, one.currency)
    return _("{amount} was paid out in cash, and the booking system does not take it").format(amount=amount)


def untaken_detail(one: UntakenCash, zone: str) -> str:
    """Which order, and what to do."""
    words = _("Order {number}, paid out {when}. Do not pay it out again: a supervisor compares it with the drawer.")
    number = one.order_number or str(one.order_id)
    return words.format(number=number, when=figures().date_time(one.paid_at, zone))


def compared_question(one: UntakenCash) -> Advice:
    """What a person is asked who says that it is compared."""
    number = one.order_number or str(one.order_id)
    return Advice(
        _("Is order {number} compared with the drawer?").format(number=number),
        _("This till then shows it no longer. The booking system is told nothing by it: settle it there as well."),
    )
