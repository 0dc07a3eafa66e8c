"""How much of what is left is paid now, and how. It answers by `accepted`; the bridge awaits it."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.i18n import _, figures
from app.screens import keys
from app.screens.amount_dialog import AmountDialog
from app.screens.words import advice_for
from widgets.build import label
from widgets.filled_button import FilledButton
from widgets.theme import Theme


class PartWay(StrEnum):
    CARD = "card"
    CASH = "cash"


def proposed_parts(left_minor: int, seat_amounts: tuple[int, ...]) -> tuple[int, ...]:
    """Parts that people ask for: one seat's price, a half, a third, … ; each once, the largest last, never all."""
    people = range(2, max(len(seat_amounts), 2) + 1)
    shares = {-(-left_minor // count) for count in people}
    wanted = {amount for amount in (*seat_amounts, *shares) if 0 < amount < left_minor}
    return tuple(sorted(wanted))[:6]


class PartDialog(AmountDialog):
    """`part_minor` and `way` are the answer once it was accepted."""

    def __init__(
        self, theme: Theme, left_minor: int, currency: str, proposed: tuple[int, ...], *, by_card: bool, parent: QWidget
    ) -> None:
        super().__init__(theme, _("Pay a part"), currency, proposed, parent)
        self._left = left_minor
        self.way = PartWay.CARD
        self.amount = self.field
        self.rest = label(tone="muted", wrap=True)
        self.card = FilledButton(_with_key(_("By card"), keys.CARD), "primary")
        self.cash = QPushButton(_with_key(_("In cash"), keys.CASH))
        self.cancel = QPushButton(_("Cancel"))
        self._build()
        self.card.setVisible(by_card)
        if not by_card:
            self.cash.setDefault(True)
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

    def _build(self) -> None:
        page = self._page(_("Left to pay"), self._left)
        self._add_field(page, _("This part"))
        page.addWidget(self.rest)
        self.rest.setMinimumHeight(self._theme.sizes["control"])
        page.addLayout(self._answers(self.cancel, self.cash, self.card))

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
        """F7 and F8 are the ways to pay, as on the page of the sale."""
        if event.key() in (Qt.Key.Key_F7, Qt.Key.Key_F8) and not event.isAutoRepeat():
            button = self.cash if event.key() == Qt.Key.Key_F7 else self.card
            if button.isEnabled() and not button.isHidden():
                button.click()
            event.accept()
            return
        super().keyPressEvent(event)


def _with_key(words: str, key: keys.Key) -> str:
    return f"{words}  {key.sequence}"
