"""While a payment runs: what the terminal says in its own words, the amount, and a way to stop."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.core.sale import Sale
from app.devices.card_terminal import Progress
from app.i18n import _, figures, marked
from app.screens import keys
from backend_client.wire import OperationKind
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row
from widgets.steps import Steps
from widgets.theme import Theme

_PROGRESS: Final[dict[str, tuple[str, int]]] = {
    Progress.CONNECTING: (marked("Connecting to the terminal…"), 0),
    Progress.PRESENT_CARD: (marked("Ask the buyer to present the card"), 1),
    Progress.ENTER_PIN: (marked("The buyer enters the PIN"), 1),
    Progress.PLEASE_WAIT: (marked("The terminal asks for a moment"), 1),
    Progress.ASKING_HOST: (marked("The bank is being asked"), 2),
    Progress.REMOVE_CARD: (marked("The buyer takes the card back"), 2),
    Progress.APPROVED: (marked("Approved"), 3),
    Progress.DECLINED: (marked("Declined"), 3),
    Progress.FINISHING: (marked("Finishing…"), 3),
}


class PayingPage(QWidget):
    """Shown in PAYING."""

    stop_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = label(kind="title", wrap=True)
        self._amount = label(kind="figure")
        self.progress = label(kind="lead", wrap=True)
        self.steps = Steps(theme, (_("Terminal"), _("Card"), _("Bank"), _("Done")))
        self._hint = label(tone="muted", wrap=True)
        self.stop = AsyncButton(_("Stop the payment"))
        self.stop.set_key_hint(keys.STOP.sequence)
        self.stop.action_requested.connect(self.stop_requested)
        self._build(theme)

    def show_sale(self, sale: Sale, progress: str) -> None:
        """Show the running payment; `progress` is the terminal's code, empty before its first word."""
        is_card = sale.payment is None or sale.payment.kind is not OperationKind.CASH
        self._title.setText(_("Card payment") if is_card else _("Cash payment"))
        self._amount.setText(figures().money(sale.total_minor, sale.currency))
        self.steps.setVisible(is_card)
        self.stop.setVisible(is_card)
        self._hint.setVisible(is_card)
        if not is_card:
            self.progress.setText(_("The sale is being booked…"))
            return
        words, step = _PROGRESS.get(progress, (marked("Connecting to the terminal…"), 0))
        self.progress.setText(_(words))
        self.progress.setAccessibleName(_(words))
        self.steps.show_step(step)

    def _build(self, theme: Theme) -> None:
        self._amount.setAccessibleName(_("Amount"))
        self._hint.setText(_("If the bank has approved already, the payment goes through all the same."))
        card = frame("sunken")
        inside = column(theme, margin="large", gap="medium", parent=card)
        inside.addWidget(self._amount, 0, Qt.AlignmentFlag.AlignHCenter)
        inside.addWidget(self.steps)
        line = row(theme)
        line.addWidget(self.progress)
        self.progress.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        inside.addLayout(line)
        page = column(theme, gap="medium", parent=self)
        page.addWidget(self._title)
        page.addWidget(card)
        page.addStretch(1)
        page.addWidget(self._hint)
        page.addWidget(self.stop)
