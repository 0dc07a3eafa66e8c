"""Small questions: cash and change, yes or no. They answer by `accepted`; the bridge awaits them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QWidget

from app.core.prices import change_minor
from app.i18n import _, figures
from app.models.quick_tender import quick_tenders
from app.screens.words import Advice, advice_for
from widgets.build import column, frame, label, row, set_tone
from widgets.countdown import Countdown, Urgency
from widgets.filled_button import FilledButton
from widgets.key_gate import keyboard
from widgets.money_edit import MoneyEdit
from widgets.theme import Theme

_TICK_MS = 250
_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """How long the seats of the sale are held: `left_s` answers None when that is not known, 0 when it is over."""

    left_s: Callable[[], float | None]
    whole_s: float
    warning_s: float


class CashDialog(QDialog):
    """How much the buyer hands over, and what goes back. `tendered_minor` is the answer.

    When the hold ends meanwhile nothing can be taken any more, and the clerk is told to give the money back.
    """

    def __init__(self, theme: Theme, total_minor: int, currency: str, time_left: TimeLeft, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._time_left = time_left
        self._is_over = False
        self.countdown = Countdown(theme)
        self._total = total_minor
        self._currency = currency
        self.tendered = MoneyEdit(self._parse, self._write)
        self.change = label(kind="figure")
        self._change_caption = label(_("Change for the buyer"), kind="lead")
        self.fault = label(tone="danger", wrap=True)
        self.take = FilledButton(_("Take the cash"), "primary")
        self.cancel = QPushButton(_("Cancel"))
        self.quick: list[_TenderButton] = []
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
        self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def tendered_minor(self) -> int:
        """What was handed over; at least the total once the dialog was accepted."""
        return self.tendered.amount_minor or 0

    def _parse(self, text: str) -> int:
        return figures().parse_money(text, self._currency)

    def _write(self, amount_minor: int) -> str:
        return figures().amount(amount_minor, self._currency)

    def _build(self) -> None:
        theme = self._theme
        self.setWindowTitle(_("Cash with change"))
        self.setAccessibleName(_("Cash with change"))
        total = label(figures().money(self._total, self._currency), kind="display")
        total.setAccessibleName(_("Total"))
        self.tendered.setAccessibleName(_("Handed over"))
        self.tendered.setFont(theme.font("title", bold=True))
        self.tendered.setMinimumHeight(theme.sizes["touch"] + theme.space("small"))
        self.take.setDefault(True)
        self.take.setMinimumHeight(theme.sizes["touch"])
        self.cancel.setMinimumHeight(theme.sizes["touch"])
        self.cancel.setAutoDefault(False)
        for button in (self.take, self.cancel):
            button.setAccessibleName(button.text())
        top = row(theme)
        top.addWidget(label(_("Total"), kind="lead"), 0, Qt.AlignmentFlag.AlignBottom)
        top.addStretch(1)
        top.addWidget(total, 0, Qt.AlignmentFlag.AlignBottom)
        page = column(theme, margin="wide", gap="medium", parent=self)
        page.addLayout(top)
        page.addWidget(self.countdown)
        handed = label(_("Handed over"), kind="lead")
        handed.setBuddy(self.tendered)
        page.addWidget(handed)
        page.addWidget(self.tendered)
        page.addLayout(self._quick_row())
        page.addWidget(self.fault)
        page.addWidget(self._change_card())
        end = row(theme)
        end.addWidget(self.cancel, 1)
        end.addWidget(self.take, 2)
        page.addLayout(end)
        self.setMinimumWidth(460)

    def _quick_row(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(self._theme.space("small"))
        for place, amount in enumerate(quick_tenders(self._total, self._currency)):
            button = _TenderButton(figures().money(amount, self._currency), amount)
            button.amount_chosen.connect(self._on_quick_amount_chosen)
            grid.addWidget(button, place // 3, place % 3)
            self.quick.append(button)
        return grid

    def _change_card(self) -> QWidget:
        card = frame("sunken")
        inside = column(self._theme, margin="large", gap="hair", parent=card)
        inside.addWidget(self._change_caption)
        inside.addWidget(self.change)
        return card

    def _on_quick_amount_chosen(self, amount_minor: int) -> None:
        self.tendered.set_amount(amount_minor)
        self.take.setFocus(Qt.FocusReason.OtherFocusReason)

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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter that is still held down from the button which opened this takes no money."""
        if event.key() in _ENTER and not keyboard.press(repeats=event.isAutoRepeat()):
            event.accept()
            return
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER and not event.isAutoRepeat():
            keyboard.release()
        super().keyReleaseEvent(event)


class _TenderButton(QPushButton):
    """An amount that people often hand over."""

    amount_chosen = Signal(object)

    def __init__(self, text: str, amount_minor: int) -> None:
        super().__init__(text)
        self.amount_minor = amount_minor
        self.setAutoDefault(False)
        self.setAccessibleName(text)
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        self.amount_chosen.emit(self.amount_minor)


class AskDialog(QDialog):
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
            button.setAutoDefault(False)
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
        self.no.setFocus()
