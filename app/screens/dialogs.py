"""Small questions: cash and change, yes or no. They answer by `accepted`; the bridge awaits them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPushButton, QWidget

from app.core.prices import change_minor
from app.i18n import _, figures
from app.models.quick_tender import quick_tenders
from app.screens.amount_dialog import AmountDialog
from app.screens.words import Advice, advice_for
from widgets.answer_dialog import AnswerDialog
from widgets.build import column, frame, label, row, set_tone
from widgets.countdown import Countdown, Urgency
from widgets.filled_button import FilledButton
from widgets.focus import take_focus
from widgets.theme import Theme

_TICK_MS = 250


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """How long the seats of the sale are held: `left_s` answers None when that is not known, 0 when it is over."""

    left_s: Callable[[], float | None]
    whole_s: float
    warning_s: float


class CashDialog(AmountDialog):
    """How much the buyer hands over, and what goes back. `tendered_minor` is the answer.

    When the hold ends meanwhile nothing can be taken any more, and the clerk is told to give the money back.
    """

    def __init__(self, theme: Theme, total_minor: int, currency: str, time_left: TimeLeft, parent: QWidget) -> None:
        super().__init__(theme, _("Cash with change"), currency, quick_tenders(total_minor, currency), parent)
        self._time_left = time_left
        self._is_over = False
        self.countdown = Countdown(theme)
        self._total = total_minor
        self.tendered = self.field
        self.change = label(kind="figure")
        self._change_caption = label(_("Change for the buyer"), kind="lead")
        self.fault = label(tone="danger", wrap=True)
        self.take = FilledButton(_("Take the cash"), "primary")
        self.cancel = QPushButton(_("Cancel"))
        self._build()
        self.tendered.amount_changed.connect(self._on_tendered_amount_changed)
        self.take.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        self.tendered.set_amount(total_minor)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self.show_time)
        self._tick.start()
        self.show_time()

    @property
    def is_over(self) -> bool:
        """True once the hold has ended; for good."""
        return self._is_over

    def show_time(self) -> None:
        """Show the time that is left, and lock everything when none is."""
        left = self._time_left.left_s()
        if left is None or self._is_over:
            return
        if left <= 0:
            self._lock()
            return
        urgency = Urgency.WARNING if left <= self._time_left.warning_s else Urgency.CALM
        caption = _("Held for the buyer") if urgency is Urgency.CALM else _("The hold ends soon")
        share = min(left / self._time_left.whole_s, 1.0)
        self.countdown.show_time(caption, figures().duration(int(left)), share, urgency)

    def _lock(self) -> None:
        self._is_over = True
        self._tick.stop()
        self.countdown.show_time(_("The time ran out"), figures().duration(0), 0.0, Urgency.OVER)
        for part in (self.tendered, self.take, *self.quick):
            part.setEnabled(False)
        self.fault.setText(_("Time ran out. Give the money back."))
        self.fault.setAccessibleName(self.fault.text())
        self.change.setText("–")
        self.cancel.setText(_("Close"))
        self.cancel.setAccessibleName(self.cancel.text())
        take_focus(self.cancel)

    @property
    def tendered_minor(self) -> int:
        """What was handed over; at least the total once the dialog was accepted."""
        return self.tendered.amount_minor or 0

    def _build(self) -> None:
        page = self._page(_("Total"), self._total)
        page.addWidget(self.countdown)
        self._add_field(page, _("Handed over"))
        page.addWidget(self.fault)
        page.addWidget(self._change_card())
        page.addLayout(self._answers(self.cancel, self.take))

    def _change_card(self) -> QWidget:
        card = frame("sunken")
        inside = column(self._theme, margin="large", gap="hair", parent=card)
        inside.addWidget(self._change_caption)
        inside.addWidget(self.change)
        return card

    def accept(self) -> None:
        """Take the cash, as long as there is time for it."""
        self.show_time()
        if not self._is_over:
            super().accept()

    def _on_tendered_amount_changed(self) -> None:
        if self._is_over:
            return
        amount = self.tendered.amount_minor
        enough = amount is not None and amount >= self._total
        self.take.setEnabled(enough)
        self.change.setText(
            figures().money(change_minor(self._total, amount), self._currency) if amount is not None and enough else "–"
        )
        self.change.setAccessibleName(f"{self._change_caption.text()}: {self.change.text()}")
        self.fault.setText(self._fault_words(amount))
        set_tone(self.change, "" if enough else "muted")

    def _fault_words(self, amount: int | None) -> str:
        if self.tendered.fault:
            return advice_for(self.tendered.fault).title
        if amount is not None and amount < self._total:
            missing = figures().money(self._total - amount, self._currency)
            return _("{amount} is missing").format(amount=missing)
        return ""


class AskDialog(AnswerDialog):
    """A question with two answers; the careful one has the keyboard."""

    def __init__(self, theme: Theme, words: Advice, yes: str, no: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.words = words
        self.setWindowTitle(words.title)
        self.setAccessibleName(words.title)
        self.setAccessibleDescription(words.detail)
        title = label(words.title, kind="title", wrap=True)
        detail = label(words.detail, wrap=True)
        self.yes = FilledButton(yes, "danger") if words.tone == "danger" else QPushButton(yes)
        self.no = QPushButton(no)
        for button in (self.yes, self.no):
            button.setAccessibleName(button.text())
            button.setMinimumHeight(theme.sizes["touch"])
        self.no.setDefault(True)
        self.yes.clicked.connect(self.accept)
        self.no.clicked.connect(self.reject)
        end = row(theme)
        end.addStretch(1)
        end.addWidget(self.no)
        end.addWidget(self.yes)
        page = column(theme, margin="wide", gap="medium", parent=self)
        page.addWidget(title)
        page.addWidget(detail)
        page.addSpacing(theme.space("small"))
        page.addLayout(end)
        self.setMinimumWidth(460)
        take_focus(self.no)
