"""While it is not known whether money moved: exactly what to do, what is being asked, since when, what to note."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.sale import Sale, UnknownReason
from app.i18n import _, figures
from app.screens import keys
from backend_client.wire import OperationKind
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, scrolling
from widgets.theme import Theme


class UnknownPage(QWidget):
    """Shown in UNKNOWN."""

    ask_requested = Signal()
    park_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = label(kind="title", wrap=True)
        self.first = label(kind="lead", wrap=True)
        self.asked = label(wrap=True)
        self.since = label(wrap=True)
        self.note = label(wrap=True)
        self._amount = label(kind="display")
        self.park = AsyncButton(_("Park it, serve the next one"), role="primary")
        self.ask = AsyncButton(_("Ask again now"))
        self.park.set_key_hint(keys.PARK.sequence)
        self.park.action_requested.connect(self.park_requested)
        self.ask.action_requested.connect(self.ask_requested)
        self._build(theme)

    @property
    def buttons(self) -> dict[str, AsyncButton]:
        """Buttons by the deed that keeps them busy."""
        return {"resolve": self.ask, "park": self.park}

    def show_sale(self, sale: Sale, zone: str) -> None:
        """Show what is known; times are the venue's."""
        is_cash = sale.payment is not None and sale.payment.kind is OperationKind.CASH
        reason = sale.unknown_reason or UnknownReason.TERMINAL_SILENT
        self.title.setText(_("Do not take the money again") if is_cash else _("Do not take the card again"))
        self.title.setAccessibleName(self.title.text())
        self.first.setText(_first_words(reason, is_cash=is_cash))
        self.asked.setText(_asked_words(reason))
        self.since.setText(_since_words(sale.unknown_since, zone))
        self.note.setText(_note_words(sale))
        self._amount.setText(figures().money(sale.total_minor, sale.currency))

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
        page.addWidget(self.ask)
        self.park.setMinimumHeight(theme.sizes["touch"])


def _first_words(reason: UnknownReason, *, is_cash: bool) -> str:
    if reason is UnknownReason.NOT_WRITTEN:
        return _("This counter cannot write down how the payment ended; its disk may be full. Make room on it.")
    if is_cash:
        return _("The booking system has not confirmed the sale yet. Keep the money and the buyer's seats as they are.")
    if reason is UnknownReason.TERMINAL_SILENT:
        return _("It is not known whether the card was charged. The seats stay reserved for this buyer meanwhile.")
    if reason is UnknownReason.BOOKING_SILENT:
        return _("The terminal has answered, but the booking system has not. The seats stay reserved for this buyer.")
    return _("Neither the terminal nor the booking system can say whether the card was charged.")


def _asked_words(reason: UnknownReason) -> str:
    if reason is UnknownReason.TERMINAL_SILENT:
        return _("The card terminal is asked for its last payment, again and again.")
    if reason is UnknownReason.BOOKING_SILENT:
        return _("The booking system is told what the terminal said, until it answers.")
    if reason is UnknownReason.NOT_WRITTEN:
        return _("The terminal and the booking system are asked again, until the answer can be written down.")
    return _("The booking system is asked, again and again, whether it has learned more.")


def _note_words(sale: Sale) -> str:
    if sale.order is None:
        return _("Most often this clears up by itself. If the buyer cannot wait, note the amount and the time.")
    words = _(
        "Most often this clears up by itself. If the buyer cannot wait, note order {number}, the amount and the time."
    )
    return words.format(number=sale.order.number)


def _since_words(since: datetime | None, zone: str) -> str:
    return "" if since is None else figures().clock(since, zone)
