"""The wishes about money beyond the straight way: parts, cash instead, buyers who leave, money back, the day's end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from PySide6.QtCore import QObject, Signal

from app.actions.close_terminal_day import DayNotReportedError, close_terminal_day
from app.actions.desk import Desk
from app.actions.finish_sale import next_parked
from app.actions.leave_sale import leave_paid_parts, leave_unknown
from app.actions.pay_cash import pay_cash, pay_cash_instead
from app.actions.return_money import give_up_return, return_money
from app.actions.take_card import take_card, takes_cards
from app.bridge.deeds import Deeds
from app.bridge.dialogs import ask
from app.core.errors import SaleNotReadyError
from app.core.sale import Sale
from app.i18n import _, figures
from app.screens.dialogs import AskDialog, CashDialog, TimeLeft
from app.screens.main_window import MainWindow
from app.screens.part_dialog import PartDialog, PartWay, proposed_parts
from app.screens.words import Advice
from backend_client.wire import Order, PaymentOperation, TerminalTotals

ReturnAct = Callable[[Desk, Order, PaymentOperation], Awaitable[PaymentOperation]]
Finish = Callable[[Sale], Awaitable[None]]


class PaymentBindings(QObject):
    """Starts the deeds; each runs once at a time, whatever is pressed meanwhile (P1)."""

    back_requested = Signal(object)
    """The id of a parked sale that is to come back."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds, print_if_paid: Finish) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._print_if_paid = print_if_paid
        self.counted = False
        """Whether the last part, or what was paid instead of a card, was cash that the clerk has in hand."""

    def connect_screens(self) -> None:
        """Connect the screens that were built just now."""
        panel = self._window.screens.counter.panel
        panel.sale_page.part_requested.connect(self._on_part_requested)
        panel.sale_page.leave_requested.connect(self._on_leave_paid_requested)
        panel.unknown_page.cash_requested.connect(self._on_cash_instead_requested)
        panel.unknown_page.leave_requested.connect(self._on_leave_requested)
        panel.returning_page.return_requested.connect(self._on_return_requested)
        panel.returning_page.not_here_requested.connect(self._on_not_here_requested)

    def go_back(self) -> None:
        """Bring a parked sale back by key."""
        sale_id = next_parked(self._desk)
        if sale_id is not None:
            self.back_requested.emit(sale_id)

    # ------------------------------------------------------------ parts

    def _on_part_requested(self) -> None:
        self._deeds.start("part", self._pay_part)

    async def _pay_part(self) -> None:
        self.counted, sale = False, self._desk.sale()
        proposed = proposed_parts(sale.left_minor, tuple(pick.amount_minor for pick in sale.picks))
        dialog = PartDialog(
            self._window.theme, sale.left_minor, sale.currency, proposed, by_card=takes_cards(self._desk),
            parent=self._window,
        )  # fmt: skip
        if not await ask(dialog):
            return
        part = dialog.part_minor
        if dialog.way is PartWay.CARD:
            await self._print_if_paid(await take_card(self._desk, part_minor=part))
            return
        tendered = await self._ask_cash(part, sale.currency, self._time_of_hold())
        if tendered is not None:
            await self._print_if_paid(await pay_cash(self._desk, tendered, part_minor=part))

    async def _ask_cash(self, amount_minor: int, currency: str, time_left: TimeLeft) -> int | None:
        dialog = CashDialog(self._window.theme, amount_minor, currency, time_left, self._window)
        self.counted = await ask(dialog)
        return dialog.tendered_minor if self.counted else None

    def _time_of_hold(self) -> TimeLeft:
        event = self._desk.store.event
        whole_s = 300.0 if event is None else float(event.hold_ttl_s)
        return TimeLeft(self._left_s, whole_s, self._window.hold_warning_s)

    def _left_s(self) -> float | None:
        sale = self._desk.store.sale
        return self._desk.store.remaining_s if sale is not None and sale.payable else 0.0

    # ------------------------------------------------------------ unclear payments

    def _on_cash_instead_requested(self) -> None:
        self._deeds.start("cash-instead", self._cash_instead)

    async def _cash_instead(self) -> None:
        """The seats are the buyer's while the card is unknown: no time runs out while the cash is counted."""
        self.counted, sale = False, self._desk.sale()
        if sale.payment is None:
            raise SaleNotReadyError("no payment is unclear here")
        time_left = TimeLeft(_no_limit, 1.0, self._window.hold_warning_s)
        tendered = await self._ask_cash(sale.payment.amount_minor, sale.currency, time_left)
        if tendered is not None:
            await self._print_if_paid(await pay_cash_instead(self._desk, tendered))

    def _on_leave_requested(self) -> None:
        self._deeds.start("leave", self._leave)

    async def _leave(self) -> None:
        await leave_unknown(self._desk)

    def _on_leave_paid_requested(self) -> None:
        self._deeds.start("release", self._leave_paid)

    async def _leave_paid(self) -> None:
        await leave_paid_parts(self._desk)

    # ------------------------------------------------------------ money back

    def _on_return_requested(self) -> None:
        self._return(return_money, "return-money")

    def _on_not_here_requested(self) -> None:
        self._return(give_up_return, "not-returned")

    def _return(self, act: ReturnAct, name: str) -> None:
        """What the button names, and nothing else: for cash the word itself is the deed."""
        page = self._window.screens.counter.panel.returning_page
        sale, operation = self._desk.store.sale, page.offered
        if sale is None or sale.order is None or operation is None:
            page.give.set_busy(False)
            page.not_here.set_busy(False)
            return
        order = sale.order

        async def deed() -> None:
            await act(self._desk, order, operation)

        self._deeds.start(name, deed)

    # ------------------------------------------------------------ the end of the day

    def close_day(self) -> None:
        """Close the terminal's day, after a question."""
        if self._desk.terminal is not None:
            self._deeds.start("close-day", self._close_day)

    async def _close_day(self) -> None:
        words = Advice(
            _("Close the day of the card terminal?"),
            _("The terminal settles with the bank and counts from nothing again. Payments can go on afterwards."),
        )
        dialog = AskDialog(self._window.theme, words, _("Close the day"), _("Cancel"), self._window)
        if not await ask(dialog):
            return
        try:
            self._tell_totals(await close_terminal_day(self._desk))
        except DayNotReportedError as error:
            total = figures().money(error.report.total_minor, error.report.currency)
            title = _("The terminal's day is closed: {total}").format(total=total)
            detail = _("Its totals are told to the booking system by themselves. Do not close the day again.")
            self._window.screens.counter.panel.tell(Advice(title, detail, "warn"))

    def _tell_totals(self, totals: TerminalTotals) -> None:
        total = figures().money(totals.total_minor, totals.currency)
        title = _("The terminal's day is closed: {total}").format(total=total)
        if totals.difference_minor:
            ours = figures().money(totals.ours_minor, totals.currency)
            words = _("The booking system has {ours}. The difference is with a supervisor.").format(ours=ours)
            self._window.screens.counter.panel.tell(Advice(title, words, "warn"))
        else:
            words = _("It agrees with the booking system.")
            self._window.screens.counter.panel.tell(Advice(title, words, "success"))


def _no_limit() -> None:
    return None
