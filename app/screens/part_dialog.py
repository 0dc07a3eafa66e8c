"""How much of what is left is paid now, and how. It answers by `accepted`; the bridge awaits it."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QWidget

from app.i18n import _, figures
from app.screens import keys
from app.screens.words import advice_for
from widgets.build import column, label, row
from widgets.filled_button import FilledButton
from widgets.key_gate import keyboard
from widgets.money_edit import MoneyEdit
from widgets.theme import Theme

_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class PartWay(StrEnum):
    CARD = "card"
    CASH = "cash"


def proposed_parts(left_minor: int, seat_amounts: tuple[int, ...]) -> tuple[int, ...]:
    """Parts that people ask for: one seat's price, a half, a third, … ; each once, the largest last, never all."""
    people = range(2, max(len(seat_amounts), 2) + 1)
    shares = {-(-left_minor // count) for count in people}
    wanted = {amount for amount in (*seat_amounts, *shares) if 0 < amount < left_minor}
    return tuple(sorted(wanted))[:6]


class PartDialog(QDialog):
    """`part_minor` and `way` are the answer once it was accepted."""

    def __init__(
        self, theme: Theme, left_minor: int, currency: str, proposed: tuple[int, ...], *, by_card: bool, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._left = left_minor
        self._currency = currency
        self.way = PartWay.CARD
        self.amount = MoneyEdit(self._parse, self._write)
        self.rest = label(tone="muted", wrap=True)
        self.card = FilledButton(_with_key(_("By card"), keys.CARD), "primary")
        self.cash = QPushButton(_with_key(_("In cash"), keys.CASH))
        self.cancel = QPushButton(_("Cancel"))
        self.quick = [_PartButton(figures().money(amount, currency), amount) for amount in proposed]
        self._build()
        self.card.setVisible(by_card)
        self.amount.amount_changed.connect(self._on_amount_changed)
        self.card.clicked.connect(self._on_card_clicked)
        self.cash.clicked.connect(self._on_cash_clicked)
        self.cancel.clicked.connect(self.reject)
        self.amount.set_amount(proposed[-1] if proposed else left_minor)
        self._on_amount_changed()

    @property
    def part_minor(self) -> int:
        """The part; between 1 and what is left once the dialog was accepted."""
        return self.amount.amount_minor or 0

    def _parse(self, text: str) -> int:
        return figures().parse_money(text, self._currency)

    def _write(self, amount_minor: int) -> str:
        return figures().amount(amount_minor, self._currency)

    def _build(self) -> None:
        theme = self._theme
        self.setWindowTitle(_("Pay a part"))
        self.setAccessibleName(_("Pay a part"))
        left = label(figures().money(self._left, self._currency), kind="display")
        left.setAccessibleName(_("Left to pay"))
        self.amount.setAccessibleName(_("This part"))
        self.amount.setFont(theme.font("title", bold=True))
        self.amount.setMinimumHeight(theme.sizes["touch"] + theme.space("small"))
        for button in (self.card, self.cash, self.cancel):
            button.setAccessibleName(button.text())
            button.setMinimumHeight(theme.sizes["touch"])
            button.setAutoDefault(False)
        self.card.setDefault(True)
        top = row(theme)
        top.addWidget(label(_("Left to pay"), kind="lead"), 0, Qt.AlignmentFlag.AlignBottom)
        top.addStretch(1)
        top.addWidget(left, 0, Qt.AlignmentFlag.AlignBottom)
        page = column(theme, margin="wide", gap="medium", parent=self)
        page.addLayout(top)
        caption = label(_("This part"), kind="lead")
        caption.setBuddy(self.amount)
        page.addWidget(caption)
        page.addWidget(self.amount)
        page.addLayout(self._quick_row())
        page.addWidget(self.rest)
        self.rest.setMinimumHeight(theme.sizes["control"])
        end = row(theme)
        end.addWidget(self.cancel, 1)
        end.addWidget(self.cash, 2)
        end.addWidget(self.card, 2)
        page.addLayout(end)
        self.setMinimumWidth(460)

    def _quick_row(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(self._theme.space("small"))
        for place, button in enumerate(self.quick):
            button.amount_chosen.connect(self._on_quick_amount_chosen)
            grid.addWidget(button, place // 3, place % 3)
        return grid

    def _on_quick_amount_chosen(self, amount_minor: int) -> None:
        self.amount.set_amount(amount_minor)
        (self.cash if self.card.isHidden() else self.card).setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_amount_changed(self) -> None:
        amount = self.amount.amount_minor
        fits = amount is not None and 0 < amount <= self._left
        self.card.setEnabled(fits)
        self.cash.setEnabled(fits)
        self.rest.setText(self._rest_words(amount))
        self.rest.setAccessibleName(self.rest.text())

    def _rest_words(self, amount: int | None) -> str:
        if self.amount.fault:
            return advice_for(self.amount.fault).title
        if amount is None or not 0 < amount <= self._left:
            return _("A part is more than nothing, and {left} at most").format(
                left=figures().money(self._left, self._currency)
            )
        if amount == self._left:
            return _("Nothing is left to pay after it")
        return _("{rest} is left to pay after it").format(rest=figures().money(self._left - amount, self._currency))

    def _on_card_clicked(self) -> None:
        self.way = PartWay.CARD
        self.accept()

    def _on_cash_clicked(self) -> None:
        self.way = PartWay.CASH
        self.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter that is still held down from the button which opened this pays nothing; F7 and F8 are the ways."""
        if event.key() in _ENTER and not keyboard.press(repeats=event.isAutoRepeat()):
            event.accept()
            return
        if event.key() in (Qt.Key.Key_F7, Qt.Key.Key_F8) and not event.isAutoRepeat():
            button = self.cash if event.key() == Qt.Key.Key_F7 else self.card
            if button.isEnabled() and not button.isHidden():
                button.click()
            event.accept()
            return
        super().keyPressEvent(event)


def _with_key(words: str, key: keys.Key) -> str:
    return f"{words}  {key.sequence}"


class _PartButton(QPushButton):
    """One amount that the part may be."""

    amount_chosen = Signal(int)

    def __init__(self, text: str, amount_minor: int) -> None:
        super().__init__(text)
        self._amount_minor = amount_minor
        self.setAccessibleName(text)
        self.setAutoDefault(False)
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        self.amount_chosen.emit(self._amount_minor)
