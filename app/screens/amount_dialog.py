"""What dialogs about an amount of money share: what is to pay, a field, amounts that people often say, Enter."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.i18n import figures
from widgets.answer_dialog import AnswerDialog
from widgets.build import column, label, row
from widgets.focus import take_focus
from widgets.money_edit import MoneyEdit
from widgets.theme import Theme

_QUICK_IN_A_ROW = 3


class AmountDialog(AnswerDialog):
    """`field` is where the amount is typed; `quick` are buttons with amounts that go into it."""

    def __init__(self, theme: Theme, title: str, currency: str, quick: Sequence[int], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._currency = currency
        self.field = MoneyEdit(self._parse, self._write)
        self.quick = [AmountButton(figures().money(amount, currency), amount) for amount in quick]
        for button in self.quick:
            button.amount_chosen.connect(self._on_quick_amount_chosen)
        self._offers: tuple[QPushButton, ...] = ()
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setMinimumWidth(460)

    def _parse(self, text: str) -> int:
        return figures().parse_money(text, self._currency)

    def _write(self, amount_minor: int) -> str:
        return figures().amount(amount_minor, self._currency)

    def _page(self, caption: str, amount_minor: int) -> QVBoxLayout:
        """The page with the amount that all is about on top."""
        shown = label(figures().money(amount_minor, self._currency), kind="display")
        shown.setAccessibleName(caption)
        top = row(self._theme)
        top.addWidget(label(caption, kind="lead"), 0, Qt.AlignmentFlag.AlignBottom)
        top.addStretch(1)
        top.addWidget(shown, 0, Qt.AlignmentFlag.AlignBottom)
        page = column(self._theme, margin="wide", gap="medium", parent=self)
        page.addLayout(top)
        return page

    def _add_field(self, page: QVBoxLayout, caption: str) -> None:
        """The field under its caption, and the buttons that fill it."""
        self.field.setAccessibleName(caption)
        self.field.setFont(self._theme.font("title", bold=True))
        self.field.setMinimumHeight(self._theme.sizes["touch"] + self._theme.space("small"))
        words = label(caption, kind="lead")
        words.setBuddy(self.field)
        page.addWidget(words)
        page.addWidget(self.field)
        grid = QGridLayout()
        grid.setSpacing(self._theme.space("small"))
        for place, button in enumerate(self.quick):
            grid.addWidget(button, *divmod(place, _QUICK_IN_A_ROW))
        page.addLayout(grid)

    def _answers(self, *buttons: QPushButton) -> QHBoxLayout:
        """The row of answers: the first one takes nothing and is the smallest, the last one is Enter's."""
        self._offers = buttons
        line = row(self._theme)
        for button in buttons:
            button.setAccessibleName(button.text())
            button.setMinimumHeight(self._theme.sizes["touch"])
            line.addWidget(button, 1 if button is buttons[0] else 2)
        buttons[-1].setDefault(True)
        return line

    def _on_quick_amount_chosen(self, amount_minor: int) -> None:
        """The keyboard goes on to the last answer that is offered, Enter's."""
        self.field.set_amount(amount_minor)
        offered = [button for button in self._offers if not button.isHidden()]
        take_focus(offered[-1])


class AmountButton(QPushButton):
    """One amount. It is told as an object: an `int` of a signal has 32 bits, and an amount may have more."""

    amount_chosen = Signal(object)

    def __init__(self, text: str, amount_minor: int) -> None:
        super().__init__(text)
        self.amount_minor = amount_minor
        self.setAccessibleName(text)
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        self.amount_chosen.emit(self.amount_minor)
