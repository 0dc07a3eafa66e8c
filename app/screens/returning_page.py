"""A sale came to nothing after parts of it were paid: what goes back to whom, one thing after the other."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.actions.pay_sale import CASH
from app.core.refund import returns_here
from app.core.settlement import not_back_yet
from app.i18n import _, figures
from app.screens import keys
from app.screens.paying_page import progress_words
from backend_client.wire import DeviceId, OperationKind, OperationStatus, Order, PaymentOperation
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling
from widgets.focus import take_focus
from widgets.status_banner import StatusBanner
from widgets.theme import Theme


class ReturningPage(QWidget):
    """Shown in RETURNING. Each press gives one thing back: the first that is not back yet."""

    return_requested = Signal()
    not_here_requested = Signal()
    """It cannot be given back at this counter: a supervisor sees to it."""
    park_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.title = label(_("The money goes back"), kind="title", wrap=True)
        self.words = label(wrap=True)
        self.banner = StatusBanner(theme)
        self.lines: list[str] = []
        self.offered: PaymentOperation | None = None
        """What `give` and `not_here` are about."""
        self._box = QVBoxLayout()
        self.give = AsyncButton(role="primary")
        self.not_here = AsyncButton(_("It cannot be given back here"))
        self.park = AsyncButton(_("Park it, serve the next one"))
        self.give.set_key_hint(keys.NEXT.sequence)
        self.park.set_key_hint(keys.PARK.sequence)
        self.give.action_requested.connect(self.return_requested)
        self.not_here.action_requested.connect(self.not_here_requested)
        self.park.action_requested.connect(self.park_requested)
        self._build()

    @property
    def buttons(self) -> dict[str, AsyncButton]:
        """Buttons by the deed that keeps them busy."""
        return {"return-money": self.give, "not-returned": self.not_here, "park": self.park}

    def show_sale(self, order: Order | None, here: DeviceId | None, progress: str) -> None:
        """Show what is back and what is not; the buttons are about what goes back at this till, `here`.

        `progress` is the terminal's code while it gives back.
        """
        waiting = () if order is None else not_back_yet(order)
        done = () if order is None else tuple(
            one for one in order.operations
            if one.kind is OperationKind.REFUND and one.status is OperationStatus.SUCCEEDED
        )  # fmt: skip
        self._show_lines((*done, *waiting))
        mine = () if order is None or here is None else returns_here(order, here)
        first = self.offered = next((one for one in mine if one.status is OperationStatus.SENT), None)
        self.give.setVisible(first is not None)
        self.not_here.setVisible(first is not None and first.provider != CASH)
        self.words.setText(_what_to_do(first, waiting, progress))
        if first is not None:
            amount = figures().money(first.amount_minor, first.currency)
            words = _("{amount} is paid out in cash") if first.provider == CASH else _("Give {amount} back to the card")
            self.give.set_label(words.format(amount=amount))
        self._warn(waiting)

    def _warn(self, waiting: tuple[PaymentOperation, ...]) -> None:
        unknown = [one for one in waiting if one.status is OperationStatus.UNKNOWN]
        refused = [one for one in waiting if one.status is OperationStatus.DECLINED]
        if unknown:
            self.banner.tell(
                "danger",
                _("It is not known whether {amount} went back").format(amount=_sum_of(unknown)),
                _("Do not give it back again. The terminal is asked; a supervisor can settle it with its receipt."),
            )
        elif refused:
            self.banner.tell(
                "warn",
                _("A supervisor sees to {amount}").format(amount=_sum_of(refused)),
                _("Note the order number and how the buyer can be reached."),
            )
        else:
            self.banner.clear()

    def focus_next_step(self) -> bool:
        """Put the keyboard on what comes next. Returns whether it can be seen."""
        return take_focus(self.park if self.give.isHidden() else self.give)

    def _show_lines(self, refunds: tuple[PaymentOperation, ...]) -> None:
        lines = [_line_words(one) for one in refunds]
        if lines == self.lines:
            return
        self.lines = lines
        while (item := self._box.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for words in lines:
            line = label(words, kind="lead", wrap=True)
            self._box.addWidget(line)

    def _build(self) -> None:
        theme = self._theme
        card = frame("sunken")
        inside = column(theme, margin="large", gap="small", parent=card)
        inside.addLayout(self._box)
        content = QWidget()
        shown = column(theme, gap="medium", parent=content)
        shown.addWidget(self.title)
        shown.addWidget(card)
        shown.addWidget(self.words)
        shown.addWidget(self.banner)
        shown.addStretch(1)
        page = column(theme, gap="medium", parent=self)
        page.addWidget(scrolling(content), 1)
        for button in (self.give, self.not_here, self.park):
            button.set_calm()
        page.addWidget(self.give)
        line = row(theme)
        line.addWidget(self.not_here, 1)
        line.addWidget(self.park, 1)
        page.addLayout(line)
        self.give.setMinimumHeight(theme.sizes["touch"])


def _sum_of(refunds: list[PaymentOperation]) -> str:
    return figures().money(sum(one.amount_minor for one in refunds), refunds[0].currency)


def _line_words(refund: PaymentOperation) -> str:
    amount = figures().money(refund.amount_minor, refund.currency)
    where = _("in cash") if refund.provider == CASH else _("to the card")
    words = {
        OperationStatus.SUCCEEDED: _("✓ {amount} {where}: back"),
        OperationStatus.UNKNOWN: _("? {amount} {where}: not known"),
        OperationStatus.DECLINED: _("✕ {amount} {where}: not back"),
    }
    return words.get(refund.status, _("○ {amount} {where}: to give back")).format(amount=amount, where=where)


def _what_to_do(first: PaymentOperation | None, waiting: tuple[PaymentOperation, ...], progress: str) -> str:
    if progress:
        return progress_words(progress)
    if first is None:
        return _("Nothing more can be done at the counter.") if waiting else _("Everything is back.")
    if first.provider == CASH:
        return _("Take {amount} out of the drawer, hand it over, and then say so.").format(
            amount=figures().money(first.amount_minor, first.currency)
        )
    return _("The terminal takes the charge back by its receipt. If it no longer can, the buyer presents the card.")
