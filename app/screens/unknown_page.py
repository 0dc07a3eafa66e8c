"""While it is not known whether money moved: exactly what to do, what is being asked, since when, who can decide."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.sale import Sale
from app.core.store import Asks
from app.i18n import _, figures
from app.screens import keys
from app.screens.unknown_words import (
    asked_words,
    decide_words,
    first_words,
    is_cash,
    note_words,
    since_words,
    title_words,
)
from backend_client.wire import OperationKind
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling, set_tone
from widgets.theme import Theme
from widgets.twice_button import TwiceButton


class UnknownPage(QWidget):
    """Shown in UNKNOWN."""

    ask_requested = Signal()
    park_requested = Signal()
    cash_requested = Signal()
    """Cash is taken instead of the card; the card goes back if it was charged."""
    leave_requested = Signal()
    """The buyer leaves."""

    def __init__(self, theme: Theme, now: Callable[[], datetime], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._now = now
        self._shown: tuple[Sale, str] | None = None
        self.title = label(kind="title", wrap=True)
        self.first = label(kind="lead", wrap=True)
        self.asked = label(wrap=True)
        self.since = label(wrap=True)
        self.decides = label(wrap=True)
        self.note = label(wrap=True)
        self._amount = label(kind="display")
        self.park = AsyncButton(_("Park it, serve the next one"), role="primary")
        self.ask = AsyncButton(_("Ask again now"))
        self.cash = AsyncButton(_("Cash instead"))
        self.leave = TwiceButton(_("The buyer leaves"), _("Press again: the buyer leaves"), role="quiet")
        for button, key in ((self.park, keys.PARK), (self.cash, keys.CASH), (self.leave, keys.LEAVE)):
            button.set_key_hint(key.sequence)
        self.park.action_requested.connect(self.park_requested)
        self.ask.action_requested.connect(self.ask_requested)
        self.cash.action_requested.connect(self.cash_requested)
        self.leave.meant.connect(self.leave_requested)
        self._build(theme)

    @property
    def buttons(self) -> dict[str, AsyncButton]:
        """Buttons by the deed that keeps them busy."""
        return {"resolve": self.ask, "park": self.park, "cash-instead": self.cash, "leave": self.leave}

    def show_sale(self, sale: Sale, zone: str, asks: Asks | None = None) -> None:
        """Show what is known; times are the venue's."""
        self._shown = (sale, zone)
        self.leave.set_about(sale.sale_id)
        by_card = not is_cash(sale)
        self.title.setText(title_words(sale))
        self.title.setAccessibleName(self.title.text())
        self.first.setText(first_words(sale))
        self.asked.setText(asked_words(sale, asks, zone))
        self.decides.setText(decide_words(sale, zone))
        set_tone(self.decides, "" if sale.handed_over_at is None else "warn")
        self.note.setText(note_words(sale))
        amount = sale.left_minor if sale.payment is None else sale.payment.amount_minor
        self._amount.setText(figures().money(amount, sale.currency))
        known = sale.payment is not None and sale.payment.operation_id is not None
        may_pay = by_card and known and not sale.leaving
        self.cash.setVisible(may_pay and sale.payment is not None and sale.payment.kind is not OperationKind.CASH)
        self.leave.setVisible(by_card and not sale.leaving)
        self.show_time()

    def show_time(self) -> None:
        """How long it has been so."""
        if self._shown is not None:
            sale, zone = self._shown
            self.since.setText(since_words(sale.unknown_since, zone, self._now()))

    def _build(self, theme: Theme) -> None:
        alarm = frame("card")
        alarm.setProperty("surface", None)
        alarm.setProperty("tone", "danger")
        top = column(theme, margin="large", gap="small", parent=alarm)
        top.addWidget(self.title)
        top.addWidget(self.first)
        content = QWidget()
        inside = column(theme, gap="medium", parent=content)
        inside.addWidget(alarm)
        self._amount.setAccessibleName(_("Amount"))
        inside.addWidget(self._amount)
        for caption, words in (
            (_("What is being asked"), self.asked),
            (_("Since"), self.since),
            (_("Who can decide"), self.decides),
            (_("What to note"), self.note),
        ):
            block = column(theme, gap="hair")
            block.addWidget(label(caption, kind="caption", tone="muted"))
            block.addWidget(words)
            inside.addLayout(block)
        inside.addStretch(1)
        page = column(theme, gap="medium", parent=self)
        page.addWidget(scrolling(content), 1)
        page.addWidget(self.park)
        line = row(theme)
        line.addWidget(self.cash, 1)
        line.addWidget(self.ask, 1)
        page.addLayout(line)
        page.addWidget(self.leave)
        self.park.setMinimumHeight(theme.sizes["touch"])
        for button in (self.cash, self.leave):
            button.set_calm()
