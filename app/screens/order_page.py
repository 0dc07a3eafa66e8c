"""One order: the facts, its tickets, its payments and its past, and the two acts that undo a part of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QPushButton, QTabWidget, QWidget

from app.core.order_search import OrderDesk
from app.core.refund import (
    PENDING,
    cancellable_tickets,
    has_pending_refund,
    order_steps,
    refundable_tickets,
    returns_here,
)
from app.core.session import Permission
from app.core.settlement import with_paid_out
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.models.cell_table import Cell, CellColumn, CellRow, CellTableModel
from app.models.place_words import seat_name
from app.models.provider_words import provider_name
from app.screens.inbox_page import event_zone
from app.screens.item_words import operation_name, operation_status
from app.screens.order_words import order_status, ticket_status
from app.screens.refund_words import charge_line, give_words, why_not_refundable
from app.screens.timeline_words import order_lines
from app.screens.words import Advice, advice_for
from backend_client.wire import OperationStatus, OrderSummary, PaymentOperation, RefundableOrder, RefundableTicket
from widgets.async_button import AsyncButton
from widgets.build import column, label, row, scrolling, set_tone
from widgets.data_table import ColumnPlan, DataTable
from widgets.facts_grid import FactsGrid
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme
from widgets.timeline_view import TimelineView

_TABS_PX = 190
_TONES = {"warn": "warn", "danger": "danger", "success": "success"}


class OrderPage(QFrame):
    """Reads the order that is open in the store; hidden while none is."""

    closed = Signal()
    refund_requested = Signal()
    cancel_requested = Signal()
    give_requested = Signal()
    """Give money back at this till's terminal, or say that it was paid out."""
    give_up_requested = Signal()
    items_wanted = Signal(str)
    """The number of an order: show what waits about it."""
    reload_requested = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._store = store
        self.setProperty("surface", "card")
        self.title = label(kind="title", wrap=True)
        self.state = label(tone="muted")
        self.banner = StatusBanner(theme)
        self.outcome = StatusBanner(theme)
        self.facts = FactsGrid(theme)
        self.refund = AsyncButton(_("Give money back…"), "primary")
        self.cancel = AsyncButton(_("Make tickets void…"))
        self.give = AsyncButton("", "primary")
        self.offered: PaymentOperation | None = None
        """What `give` and `give_up` are about."""
        self.give_up = AsyncButton(_("It cannot be given back here"))
        self.items = QPushButton(_("What waits about it"))
        self.reload = AsyncButton(_("Load again"))
        self.back = QPushButton(_("Close"))
        self.copy_button = QPushButton(_("Copy the number"))
        self.tabs = QTabWidget()
        self._tickets = CellTableModel((
            CellColumn(_("Seat"), bold=True), CellColumn(_("Price type")), CellColumn(_("Amount"), trailing=True),
            CellColumn(_("State")), CellColumn(_("Code")),
        ), self)  # fmt: skip
        self._payments = CellTableModel((
            CellColumn(_("Payment"), bold=True), CellColumn(_("By")), CellColumn(_("Amount"), trailing=True),
            CellColumn(_("State")), CellColumn(_("Reference")),
        ), self)  # fmt: skip
        self.tickets = DataTable(theme, (
            ColumnPlan(232, 2, 0), ColumnPlan(84, 1, 3), ColumnPlan(80, 1, 1), ColumnPlan(140, 3, 2),
            ColumnPlan(150, 2, 4),
        ))  # fmt: skip
        self.payments = DataTable(theme, (
            ColumnPlan(150, 2, 0), ColumnPlan(84, 1, 3), ColumnPlan(84, 1, 1), ColumnPlan(110, 1, 2),
            ColumnPlan(110, 1, 4),
        ))  # fmt: skip
        self.past = TimelineView(theme)
        self._build()
        self._connect()
        self.hide()

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {
            "return-money": [self.give],
            "give-up-return": [self.give_up],
            "refund": [self.refund],
            "cancel-tickets": [self.cancel],
            "load-order": [self.reload],
        }

    def show_order(self) -> None:
        """Show the open order as it stands."""
        desk = self._orders
        self.setVisible(desk.order_id is not None)
        if desk.order_id is None:
            self.banner.clear()
            self.outcome.clear()
            return
        if desk.detail_trouble:
            words = advice_for(desk.detail_trouble)
            self.banner.tell("warn", words.title, words.detail)
        else:
            self.banner.clear()
        found = next((order for order in desk.found if order.order_id == desk.order_id), None)
        if desk.detail is None:
            self._show_summary(found)
        else:
            self._show_detail(desk.detail, found)

    def tell(self, words: Advice) -> None:
        """Say how something went."""
        self.outcome.tell(words.tone, words.title, words.detail)

    def clear_outcome(self) -> None:
        """Another order is open: what was told was about the one before."""
        self.outcome.clear()

    def focus_first(self) -> None:
        """Put the keyboard on the tickets."""
        take_focus(self.tickets)

    def _show_summary(self, found: OrderSummary | None) -> None:
        self.title.setText(
            _("Order {number}").format(number=found.number) if found is not None else _("Reading the order…")
        )
        self.state.setText(order_status(found.status)[0] if found is not None else "")
        self.offered = None
        for button in (self.refund, self.cancel, self.items, self.give, self.give_up):
            button.setVisible(False)
        self.facts.show_facts(())
        self._tickets.show_rows(())
        self._payments.show_rows(())
        self.past.show_lines(())

    def _show_detail(self, detail: RefundableOrder, found: OrderSummary | None) -> None:
        order, shown = detail.order, figures()
        zone = event_zone(self._store, order.event_id)
        words, tone = order_status(order.status)
        self.title.setText(_("Order {number}").format(number=order.number))
        self.state.setText(words)
        set_tone(self.state, tone or "muted")
        names = {event.event_id: event.name for event in self._store.events}
        facts = [
            (_("Amount"), shown.money(order.amount_minor, order.currency), ""),
            (_("Event"), found.event_name if found is not None else names.get(order.event_id, ""), ""),
            (_("Buyer or counter"), found.buyer if found is not None else "", ""),
            (_("Made"), shown.date_time(order.created_at, zone), ""),
        ]
        facts += [(_("Can go back"), charge_line(charge, order.currency), "") for charge in detail.charges]
        if has_pending_refund(order):
            facts.append((_("Refund"), _("on the way, and not decided yet"), "warn"))
        self.facts.show_facts(facts)
        self._tickets.show_rows([self._ticket_row(one) for one in detail.tickets])
        self._payments.show_rows([self._payment_row(operation) for operation in order.operations])
        self.past.show_lines(order_lines(order_steps(order), zone))
        self._show_acts(detail, 0 if found is None else found.open_items)

    def _show_acts(self, detail: RefundableOrder, open_items: int) -> None:
        session = self._store.session
        may_refund = session is not None and session.may(Permission.REFUND)
        back, gone = refundable_tickets(detail), cancellable_tickets(detail)
        self.refund.setVisible(may_refund and bool(detail.tickets))
        self.refund.setEnabled(bool(back) and detail.refundable_minor > 0)
        self.refund.setToolTip("" if self.refund.isEnabled() else _("No ticket's money can go back now."))
        self.cancel.setVisible(may_refund and bool(detail.tickets))
        self.cancel.setEnabled(bool(gone))
        self.cancel.setToolTip("" if gone else _("Every ticket is used or void."))
        order = with_paid_out(detail.order, self._store.paid_out)
        waiting = () if session is None or not may_refund else returns_here(order, session.device_id)
        self.offered = waiting[0] if waiting else None
        self.give.setVisible(self.offered is not None)
        self.give_up.setVisible(self.offered is not None and self.offered.status is OperationStatus.SENT)
        if self.offered is not None:
            self.give.set_label(give_words(self.offered))
        may_read = session is not None and session.may(Permission.READ_ITEMS)
        self.items.setVisible(may_read and open_items > 0)
        words = ngettext("{count} item waits about it", "{count} items wait about it", open_items)
        self.items.setText(words.format(count=figures().number(open_items)))
        self.items.setAccessibleName(self.items.text())

    @staticmethod
    def _ticket_row(one: RefundableTicket) -> CellRow:
        ticket = one.ticket
        words, tone = ticket_status(ticket.status)
        why = why_not_refundable(one.why_not)
        if one.why_not == PENDING:
            words, tone = why, "warn"
        return CellRow(
            ticket.ticket_id,
            (
                Cell(seat_name(ticket.seat)),
                Cell(ticket.price_type_name, "text_muted"),
                Cell(figures().money(ticket.amount_minor, ticket.currency)),
                Cell(words, _TONES.get(tone, "text_muted")),
                Cell(ticket.code, "text_muted"),
            ),
        )

    @staticmethod
    def _payment_row(operation: PaymentOperation) -> CellRow:
        words, tone = operation_status(operation.status)
        way = operation.card_brand or provider_name(operation.provider)
        return CellRow(
            operation.operation_id,
            (
                Cell(operation_name(operation.kind)),
                Cell(way, "text_muted", tip=figures().joined((way, operation.provider))),
                Cell(figures().money(operation.amount_minor, operation.currency)),
                Cell(words, _TONES.get(tone, "text_muted")),
                Cell(operation.provider_ref, "text_muted"),
            ),
        )

    @property
    def _orders(self) -> OrderDesk:
        return self._store.orders

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        theme = self._theme
        for button in (self.back, self.items, self.copy_button):
            button.setAccessibleName(button.text())
            button.setAutoDefault(False)
        for table, model, name in (
            (self.tickets, self._tickets, _("Tickets")), (self.payments, self._payments, _("Payments")),
        ):  # fmt: skip
            table.setModel(model)
            table.setAccessibleName(name)
        self.past.setAccessibleName(_("History"))
        self.tabs.setAccessibleName(_("Parts of the order"))
        self.tabs.tabBar().setAccessibleName(_("Parts of the order"))
        self.tabs.addTab(self.tickets, _("Tickets"))
        self.tabs.addTab(self.payments, _("Payments"))
        self.tabs.addTab(self.past, _("History"))
        names = column(theme, gap="hair")
        names.addWidget(self.title)
        names.addWidget(self.state)
        head = row(theme, gap="medium")
        head.addLayout(names, 1)
        for button in (self.copy_button, self.reload, self.back):
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        acts = row(theme)
        acts.addWidget(self.refund)
        acts.addWidget(self.cancel)
        acts.addWidget(self.items)
        acts.addStretch(1)
        giving = row(theme)
        giving.addWidget(self.give)
        giving.addWidget(self.give_up)
        giving.addStretch(1)
        self.tabs.setMinimumHeight(_TABS_PX)
        inner = QWidget()
        inside = column(theme, gap="medium", parent=inner)
        inside.addWidget(self.facts)
        inside.addLayout(giving)
        inside.addLayout(acts)
        inside.addWidget(self.tabs, 1)
        page = column(theme, margin="medium", gap="medium", parent=self)
        page.addLayout(head)
        page.addWidget(self.banner)
        page.addWidget(self.outcome)
        page.addWidget(scrolling(inner), 1)

    def _connect(self) -> None:
        self.back.clicked.connect(self.closed)
        self.refund.action_requested.connect(self.refund_requested)
        self.cancel.action_requested.connect(self.cancel_requested)
        self.reload.action_requested.connect(self.reload_requested)
        self.give.action_requested.connect(self.give_requested)
        self.give_up.action_requested.connect(self.give_up_requested)
        self.items.clicked.connect(self._on_items_clicked)
        self.copy_button.clicked.connect(self._on_copy_clicked)

    def _on_items_clicked(self) -> None:
        if self._orders.detail is not None:
            self.items_wanted.emit(self._orders.detail.order.number)

    def _on_copy_clicked(self) -> None:
        if self._orders.detail is not None:
            QGuiApplication.clipboard().setText(self._orders.detail.order.number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            event.accept()
        else:
            super().keyPressEvent(event)
