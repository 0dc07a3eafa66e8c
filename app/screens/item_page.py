"""One item: the facts, what changed meanwhile, what waits for a second person, what may be done, and the evidence."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from app.core.inbox import Inbox, InboxPart
from app.core.session import Permission
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.models.place_words import grouped_seats
from app.models.provider_words import provider_and_code
from app.screens.inbox_page import age_between, event_zone
from app.screens.item_approval import ApprovalCard
from app.screens.item_form import ItemForm
from app.screens.item_words import (
    difference_words,
    item_money,
    kind_name,
    kind_words,
    operation_line,
    resolver_words,
    state_tone,
    state_words,
)
from app.screens.order_words import order_status
from app.screens.timeline_words import evidence_lines
from app.screens.words import Advice, advice_for
from backend_client.wire import ItemDetail, ItemId, ReconciliationItem
from widgets.async_button import AsyncButton
from widgets.build import column, label, row, scrolling, set_tone
from widgets.facts_grid import FactsGrid
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme
from widgets.timeline_view import TimelineView

_EVIDENCE_PX = 220


class ItemPage(QFrame):
    """Reads the inbox's open item; hidden while none is open."""

    closed = Signal()
    order_wanted = Signal(object)
    reload_requested = Signal()
    changes_read = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._store = store
        self._shown: ItemId | None = None
        self.setProperty("surface", "card")
        self.title = label(kind="title", wrap=True)
        self.state = label(tone="muted")
        self.words = label(wrap=True)
        self.banner = StatusBanner(theme)
        self.changed = StatusBanner(theme)
        self.facts = FactsGrid(theme)
        self.approval = ApprovalCard(theme)
        self.form = ItemForm(theme)
        self.timeline = TimelineView(theme)
        self.back = QPushButton(_("Close"))
        self.reload = AsyncButton(_("Load again"))
        self.order = QPushButton(_("Open the order"))
        self.copy_button = QPushButton(_("Copy everything"))
        self.unfold = QPushButton(_("Open all"))
        self._evidence = label(_("Evidence"), kind="lead")
        self._build()
        self._connect()
        self.hide()

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {
            "act-on-item": [self.form.do], "decide-item": [self.approval.approve, self.approval.refuse],
            "load-item": [self.reload], "load-tills": [self.form.tills.reload],
        }  # fmt: skip

    def show_part(self, part: InboxPart) -> None:
        """Show what changed."""
        if InboxPart.DETAIL in part:
            self._show_detail()
        elif InboxPart.DRAFT in part:
            self.form.show_draft(self._inbox.draft)
        if InboxPart.TILLS in part:
            self._show_tills()
            self._show_detail()

    def show_time(self) -> None:
        """Ages go on."""
        if self.isVisible() and self._inbox.detail is not None:
            self._show_facts(self._inbox.detail)

    def set_busy(self, busy: bool) -> None:  # said by what it sets
        """An act or a decision was sent."""
        self.form.set_busy(busy)
        self.approval.set_busy(busy)

    def tell(self, words: Advice) -> None:
        """Say how an act went."""
        self.banner.tell(words.tone, words.title, words.detail)

    def focus_first(self) -> None:
        """Put the keyboard where one reads on: the evidence."""
        take_focus(self.timeline)
        if self.timeline.lines.rowCount() and not self.timeline.currentIndex().isValid():
            self.timeline.setCurrentIndex(self.timeline.lines.index(0))

    def show_evidence(self) -> None:
        """Scroll to the evidence."""
        self._area.ensureWidgetVisible(self.timeline, 0, 0)

    def _show_tills(self) -> None:
        session, inbox = self._store.session, self._inbox
        self.form.tills.show_tills(inbox.tills, None if session is None else session.device_id, inbox.tills_trouble)

    def _show_detail(self) -> None:
        inbox = self._inbox
        item = inbox.item(inbox.item_id) if inbox.item_id is not None else None
        detail = inbox.detail
        if inbox.item_id != self._shown:
            self._shown = inbox.item_id
            self._area.verticalScrollBar().setValue(0)
            self.timeline.setCurrentIndex(QModelIndex())
        self.setVisible(inbox.item_id is not None)
        if inbox.item_id is None:
            self.banner.clear()
            return
        known = detail.item if detail is not None else item
        if known is not None:
            self._show_head(known)
        if inbox.detail_trouble:
            advice = advice_for(inbox.detail_trouble)
            self.banner.tell("warn", advice.title, advice.detail)
        self._show_changes(inbox)
        session = self._store.session
        may_act = session is not None and session.may(Permission.RECONCILE)
        own = "" if session is None else session.name
        self.approval.show_asked(detail, self._store.clock.now(), own, may_act=may_act, tills=inbox.tills)
        self.form.show_item(detail, inbox.draft, may_act=may_act)
        self.order.setVisible(known is not None and known.order_id is not None)
        self._evidence.setText(_("Evidence") if detail is not None else _("Reading the evidence…"))
        if detail is None:
            self.facts.show_facts(() if item is None else self._item_facts(item))
            self.timeline.show_lines(())
            return
        self._show_facts(detail)
        self.timeline.show_lines(evidence_lines(detail.timeline, event_zone(self._store, detail.item.event_id)))

    def _show_head(self, item: ReconciliationItem) -> None:
        self.title.setText(kind_name(item.kind))
        self.state.setText(state_words(item.state))
        set_tone(self.state, state_tone(item.state) or "muted")
        self.words.setText(kind_words(item))
        self.words.setVisible(bool(kind_words(item)))

    def _show_changes(self, inbox: Inbox) -> None:
        if not inbox.changes or inbox.detail is None:
            self.changed.clear()
            return
        currency = inbox.detail.item.currency
        told = "\n".join(difference_words(found, currency) for found in inbox.changes)
        kept = "" if inbox.draft.reason == "" else _("What you have typed is kept.")
        self.changed.tell(
            "warn", _("This item has changed while you were reading"), "\n".join(part for part in (told, kept) if part),
            _("I have read it"),
        )  # fmt: skip

    def _show_facts(self, detail: ItemDetail) -> None:
        facts = self._item_facts(detail.item)
        if detail.order is not None:
            order = detail.order
            amount = figures().money(order.amount_minor, order.currency)
            words, tone = order_status(order.status)
            number = figures().joined((order.number, amount, words))
            facts = [
                (name, number, tone) if name == _("Order") else (name, value, tone2) for name, value, tone2 in facts
            ]
        facts += [(_("Payment"), operation_line(operation), "") for operation in detail.operations]
        self.facts.show_facts(facts)

    def _item_facts(self, item: ReconciliationItem) -> list[tuple[str, str, str]]:
        zone = event_zone(self._store, item.event_id)
        now = self._store.clock.now()
        opened = figures().date_time(item.opened_at, zone)
        age = figures().age(age_between(item.opened_at, item.resolved_at or now))
        resolved = "" if item.resolved_at is None else figures().date_time(item.resolved_at, zone)
        return [
            (_("Money in doubt"), item_money(item), ""),
            (_("Order"), item.order_number, ""),
            (_("Event"), item.event_name, ""),
            (_("Seats"), grouped_seats(item.seats), ""),
            (_("Provider"), provider_and_code(item.provider), ""),
            (_("Waits since"), figures().joined((opened, age)), ""),
            (_("Settled"), figures().joined((resolved, resolver_words(item), item.resolution)), "success"),
        ]

    @property
    def text(self) -> str:
        """The whole item as plain text."""
        facts = "\n".join(f"{caption}: {value}" for caption, value in self.facts.facts)
        head = "\n".join(part for part in (self.title.text(), self.state.text(), self.words.text()) if part)
        return f"{head}\n\n{facts}\n\n{self.timeline.text}"

    @property
    def _inbox(self) -> Inbox:
        return self._store.inbox

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        theme = self._theme
        for button in (self.back, self.order, self.copy_button, self.unfold):
            button.setAccessibleName(button.text())
            button.setAutoDefault(False)
        self.timeline.setAccessibleName(_("Evidence"))
        self.timeline.setMinimumHeight(_EVIDENCE_PX)
        head = row(theme, gap="medium")
        names = column(theme, gap="hair")
        names.addWidget(self.title)
        names.addWidget(self.state)
        head.addLayout(names, 1)
        for button in (self.order, self.reload, self.back):
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        inner = QWidget()
        inside: QVBoxLayout = column(theme, gap="medium", parent=inner)
        inside.setContentsMargins(0, 0, theme.space("small"), 0)
        inside.addWidget(self.words)
        for part in (self.facts, self.approval, self.form):
            inside.addWidget(part)
        line = row(theme)
        line.addWidget(self._evidence, 1)
        line.addWidget(self.unfold)
        line.addWidget(self.copy_button)
        inside.addLayout(line)
        inside.addWidget(self.timeline, 1)
        page = column(theme, margin="medium", gap="medium", parent=self)
        page.addLayout(head)
        page.addWidget(self.changed)
        page.addWidget(self.banner)
        self._area = scrolling(inner)
        page.addWidget(self._area, 1)

    def _connect(self) -> None:
        self.back.clicked.connect(self.closed)
        self.order.clicked.connect(self._on_order_clicked)
        self.reload.action_requested.connect(self.reload_requested)
        self.changed.action_requested.connect(self.changes_read)
        self.copy_button.clicked.connect(self._on_copy_clicked)
        self.unfold.clicked.connect(self.timeline.open_all)

    def _on_order_clicked(self) -> None:
        inbox = self._inbox
        item = inbox.detail.item if inbox.detail is not None else inbox.item(inbox.item_id) if inbox.item_id else None
        if item is not None and item.order_id is not None:
            self.order_wanted.emit(item.order_id)

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self.text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            event.accept()
        else:
            super().keyPressEvent(event)
