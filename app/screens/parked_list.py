"""The sales that were put aside: a button for each, which keeps its place and the keyboard while its words change."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.core.sale import Sale, SaleId, SaleState
from app.i18n import _, figures
from app.models.place_words import short_places, short_seats
from widgets.build import column
from widgets.focus import take_focus
from widgets.theme import Theme

_AROUND_PX = 16
"""Above and below the two lines of a parked sale."""
_BESIDE_PX, _NARROWEST_PX = 40, 160
"""On both sides of them together; and how narrow they may become."""


class ParkedList(QWidget):
    """See the module."""

    chosen = Signal(object)
    """The id of a parked sale."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._buttons: dict[SaleId, ParkedButton] = {}
        self._box = column(theme, gap="tight", parent=self)
        self.hide()

    @property
    def buttons(self) -> tuple[ParkedButton, ...]:
        """In the order in which the sales were put aside."""
        return tuple(self._buttons.values())

    def show_sales(self, sales: Sequence[Sale], zone: str) -> None:
        """Show these; times are of `zone`. A sale that is there already keeps its button."""
        kept, self._buttons = self._buttons, {}
        for place, sale in enumerate(sales):
            button = kept.pop(sale.sale_id, None) or self._made(sale.sale_id)
            button.show_words(f"{_state_words(sale)}\n{_which(sale, zone)}")
            self._buttons[sale.sale_id] = button
            if self._box.indexOf(button) != place:
                self._box.insertWidget(place, button)
        for old in kept.values():
            self._let_go(old)
        self.setVisible(bool(sales))

    def _made(self, sale_id: SaleId) -> ParkedButton:
        button = ParkedButton(sale_id)
        button.chosen.connect(self.chosen)
        return button

    def _let_go(self, old: ParkedButton) -> None:
        """The keyboard goes to another parked sale, or nowhere: never to a button that happens to come next."""
        if old.hasFocus():
            if self._buttons:
                take_focus(self.buttons[0])
            else:
                old.clearFocus()
        self._box.removeWidget(old)
        old.hide()
        old.deleteLater()


class ParkedButton(QPushButton):
    """One sale that was put aside: its amount and where it stands; below, its seats and order, as amounts repeat."""

    chosen = Signal(object)

    def __init__(self, sale_id: SaleId) -> None:
        super().__init__()
        self._text = ""
        self.sale_id = sale_id
        self.setAutoDefault(False)
        self.clicked.connect(self._on_clicked)

    def show_words(self, text: str) -> None:
        """Two lines; what has no room ends in an ellipsis, and the tool tip says it whole."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self._fit()

    def _fit(self) -> None:
        room = self.width() - _BESIDE_PX
        elide, right = self.fontMetrics().elidedText, Qt.TextElideMode.ElideRight
        self.setText("\n".join(elide(line, right, room) for line in self._text.split("\n")))
        self.setToolTip("" if self.text() == self._text else self._text)

    def _on_clicked(self) -> None:
        self.chosen.emit(self.sale_id)

    def minimumSizeHint(self) -> QSize:
        return QSize(_NARROWEST_PX, super().minimumSizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:
        """Room for two lines; not before, as the style sheet sets the height of one at first sight."""
        super().showEvent(event)
        self.setMinimumHeight(2 * self.fontMetrics().lineSpacing() + _AROUND_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def _state_words(sale: Sale) -> str:
    amount = figures().money(sale.total_minor, sale.currency)
    if sale.state is SaleState.PAYING:
        return _("Card payment still running: {amount}").format(amount=amount)
    if sale.state is SaleState.UNKNOWN:
        return _unclear_words(sale, amount)
    if sale.state is SaleState.RETURNING:
        return _("Money to give back, of a sale of {amount}").format(amount=amount)
    if sale.state in {SaleState.PAID, SaleState.PRINTING}:
        return _("Paid, tickets to print: {amount}").format(amount=amount)
    return _("Open sale of {amount}").format(amount=amount)


def _unclear_words(sale: Sale, amount: str) -> str:
    if sale.leaving:
        return _("Unclear payment of {amount}, the buyer left").format(amount=amount)
    if sale.handed_over_at is not None:
        return _("Unclear payment of {amount}, with a supervisor").format(amount=amount)
    return _("Unclear payment of {amount}").format(amount=amount)


def _which(sale: Sale, zone: str) -> str:
    """Seats, order and time: what tells two sales of one amount apart."""
    seats = () if sale.hold is None else sale.hold.seats
    places = () if sale.hold is None else sale.hold.places
    parts = [
        short_seats(seats),
        *(short_places(held) for held in places),
        "" if sale.order is None else sale.order.number,
    ]
    if sale.payment is not None:
        parts.append(figures().time(sale.payment.begun_at, zone))
    return figures().joined([part for part in parts if part])
