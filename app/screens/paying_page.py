"""While a payment runs: what the terminal says in its own words, the amount, the time, and a way to stop.

A terminal that has said nothing for a while may be dead: then the payment can be put aside, running as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import monotonic
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.core.sale import Sale
from app.core.telling import Telling
from app.devices.card_terminal import Progress
from app.i18n import _, figures, marked
from app.screens import keys
from backend_client.wire import OperationKind
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row, scrolling
from widgets.countdown import Countdown
from widgets.key_gate import PRESSING_KEYS, keyboard
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
    Telling.APPROVED: (marked("Approved. The booking system is being told…"), 3),
    Telling.DECLINED: (marked("Declined. The booking system is being told…"), 3),
    Telling.NOTHING: (marked("Nothing was charged. The booking system is being told…"), 0),
    Telling.UNCLEAR: (marked("The terminal's answer is unclear. It is being looked up…"), 2),
}
_ENDED_THERE: Final = frozenset(Telling)
"""The terminal has said its last word: there is nothing to stop any more, and no card to take again."""

QUIET_S: Final = 15.0
"""A terminal that says nothing for so long may be dead."""


def progress_words(progress: str) -> str:
    """What the terminal says it is doing, by its code; before its first word it is being connected to."""
    return _(_PROGRESS.get(progress, _PROGRESS[Progress.CONNECTING])[0])


class PayingPage(QWidget):
    """Shown in PAYING. It has the keyboard itself: no key held down since the last page stops what was just begun."""

    stop_requested = Signal()
    park_requested = Signal()

    def __init__(
        self, theme: Theme, now: Callable[[], datetime], steady: Callable[[], float] = monotonic,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._now = now
        self._steady = steady
        self._heard = ("", "")
        self._heard_at = steady()
        self._begun_at: datetime | None = None
        self.countdown = Countdown(theme)
        self.elapsed = label(tone="muted")
        self.park = AsyncButton(_("Park it, serve the next one"), role="primary")
        self._title = label(kind="title", wrap=True)
        self._amount = label(kind="figure")
        self.progress = label(kind="lead", wrap=True)
        self.steps = Steps(theme, (_("Terminal"), _("Card"), _("Bank"), _("Done")))
        self._hint = label(tone="muted", wrap=True)
        self.stop = AsyncButton(_("Stop the payment"))
        self.stop.set_key_hint(keys.STOP.sequence)
        self.stop.action_requested.connect(self.stop_requested)
        self.park.set_key_hint(keys.PARK.sequence)
        self.park.set_calm()
        self.park.action_requested.connect(self.park_requested)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._build(theme)

    def show_time(self) -> None:
        """How long the payment runs, and whether it may be put aside."""
        if self._begun_at is not None:
            seconds = max(int((self._now() - self._begun_at).total_seconds()), 0)
            self.elapsed.setText(_("Running for {time}").format(time=figures().duration(seconds)))
        quiet = self._steady() - self._heard_at >= QUIET_S
        self.park.setVisible(quiet and self.steps.isVisibleTo(self))

    def show_sale(self, sale: Sale, progress: str, *, stop_wished: bool = False) -> None:
        """Show the running payment; `progress` is the terminal's code, empty before its first word."""
        is_card = sale.payment is None or sale.payment.kind is not OperationKind.CASH
        self._begun_at = None if sale.payment is None else sale.payment.begun_at
        heard = ("" if sale.payment is None else sale.payment.key, progress)
        if heard != self._heard:
            self._heard, self._heard_at = heard, self._steady()
        self._title.setText(_paying_title(sale, is_card=is_card))
        self.setAccessibleName(self._title.text())
        amount = sale.left_minor if sale.payment is None else sale.payment.amount_minor
        self._amount.setText(figures().money(amount, sale.currency))
        self.steps.setVisible(is_card)
        ended = progress in _ENDED_THERE
        self.stop.setVisible(is_card and not ended)
        self._hint.setVisible(is_card and progress not in {Telling.DECLINED, Telling.NOTHING})
        self._hint.setText(
            _("Do not take the card again")
            if ended
            else _("If the bank has approved already, the payment goes through all the same.")
        )
        self.show_time()
        if not is_card:
            self.progress.setText(_("The sale is being booked…"))
            return
        words, step = _PROGRESS.get(progress, _PROGRESS[Progress.CONNECTING])
        self.stop.setEnabled(not stop_wished)
        self.stop.set_label(_("Stop requested") if stop_wished else _("Stop the payment"))
        if stop_wished and not ended:
            words = marked("Stop requested. Waiting for the terminal's answer…")
        self.progress.setText(_(words))
        self.progress.setAccessibleName(_(words))
        self.steps.show_step(step)

    def _build(self, theme: Theme) -> None:
        self._amount.setAccessibleName(_("Amount"))
        card = frame("sunken")
        inside = column(theme, margin="large", gap="medium", parent=card)
        inside.addWidget(self._amount, 0, Qt.AlignmentFlag.AlignHCenter)
        inside.addWidget(self.steps)
        line = row(theme)
        line.addWidget(self.progress)
        self.progress.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        inside.addLayout(line)
        content = QWidget()
        shown = column(theme, gap="medium", parent=content)
        shown.addWidget(self._title)
        shown.addWidget(card)
        shown.addWidget(self.elapsed)
        shown.addWidget(self.countdown)
        shown.addStretch(1)
        page = column(theme, gap="medium", parent=self)
        page.addWidget(scrolling(content), 1)
        page.addWidget(self.park)
        page.addWidget(self.stop)
        page.addWidget(self._hint)
        self._hint.setMinimumHeight(theme.sizes["touch"])
        self.park.setMinimumHeight(theme.sizes["touch"])
        self.park.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in PRESSING_KEYS:
            keyboard.press(repeats=event.isAutoRepeat())
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() in PRESSING_KEYS and not event.isAutoRepeat():
            keyboard.release()
        super().keyReleaseEvent(event)


def _paying_title(sale: Sale, *, is_card: bool) -> str:
    if sale.payment is not None and (sale.payment.in_parts or sale.paid_minor):
        return _("A part by card") if is_card else _("A part in cash")
    return _("Card payment") if is_card else _("Cash payment")
