"""The wishes of the counter, bound to the actions of a sale."""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QObject

from app.actions.desk import Desk
from app.actions.finish_sale import finish_sale, is_charging, park_sale, resume_parked
from app.actions.hold_seats import due_sales, expire_due, hold_picked, release_hold
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import set_price_type
from app.actions.print_tickets import confirm_print, print_tickets
from app.actions.resolve_unknown import keep_resolving, resolve_unknown
from app.actions.take_card import stop_card, take_card
from app.bridge.deeds import Deeds
from app.bridge.desktop import open_path
from app.bridge.dialogs import ask
from app.core.errors import ConsoleError
from app.core.notices import TO_BE_ANSWERED
from app.core.sale import Sale, SaleId, SaleState
from app.core.store import Notice
from app.devices.card_terminal import TerminalError
from app.screens.dialogs import CashDialog, TimeLeft
from app.screens.main_window import MainWindow
from app.screens.payment_bindings import PaymentBindings
from app.screens.pick_bindings import PickBindings
from app.screens.sale_keys import SaleKeys
from app.screens.sale_panel import STEP_BOUND
from app.screens.seat_detail_bindings import SeatDetailBindings
from app.screens.words import advice_for
from backend_client.errors import BookingClientError

_log = logging.getLogger(__name__)
KNOWN_ERRORS = (BookingClientError, ConsoleError, TerminalError)
_STEPS = frozenset({
    "hold", "release", "exact-cash", "cash", "card", "price-type", "print", "printed-seen", "resolve", "park", "unpark",
    "finish", "part", "cash-instead", "leave", "return-money", "not-returned",
})  # fmt: skip
"""Deeds that take the sale at the counter a step further."""


class SaleBindings(QObject):
    """Starts the deeds of a sale. Each runs once at a time, whatever is pressed meanwhile (P1)."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._printed_by_itself: set[SaleId] = set()
        self.picks = PickBindings(window, desk)
        self.payments = PaymentBindings(window, desk, deeds, self._print_if_paid)
        self.payments.back_requested.connect(self._on_parked_chosen)
        self.keys = SaleKeys(window, desk, self.picks, self.payments)
        self.details = SeatDetailBindings(window, desk, deeds)
        self.picks.hold_requested.connect(self._on_hold_requested)
        self.picks.next_customer_began.connect(self._on_next_customer_began)
        deeds.started.connect(self._on_deed_started)
        self.connect_screens()

    def start_settling(self) -> None:
        """Ask about unclear payments in the background, as long as the console runs."""
        self._deeds.start("settle", self._keep_resolving)

    def expire_if_due(self) -> None:
        """Once a second: end the holds whose time is over."""
        if due_sales(self._desk):
            self._deeds.start("expire", self._expire)

    def connect_screens(self) -> None:
        """Connect the screens that were built just now."""
        counter = self._window.screens.counter
        panel = counter.panel
        self.picks.connect_screens()
        self.details.connect_screens()
        self.payments.connect_screens()
        sale = panel.sale_page
        sale.hold_requested.connect(self._on_hold_requested)
        sale.release_requested.connect(self._on_release_requested)
        sale.exact_cash_requested.connect(self._on_exact_cash_requested)
        sale.cash_requested.connect(self._on_cash_requested)
        sale.card_requested.connect(self._on_card_requested)
        sale.price_type_chosen.connect(self._on_price_type_chosen)
        sale.drop_requested.connect(self.picks.on_seat_chosen)
        panel.paying_page.stop_requested.connect(self._on_stop_requested)
        panel.paying_page.park_requested.connect(self._on_park_requested)
        panel.unknown_page.ask_requested.connect(self._on_ask_requested)
        panel.unknown_page.park_requested.connect(self._on_park_requested)
        panel.returning_page.park_requested.connect(self._on_park_requested)
        panel.outcome_page.print_requested.connect(self._on_print_requested)
        panel.outcome_page.printed_seen.connect(self._on_printed_seen)
        panel.outcome_page.path_wanted.connect(self._on_path_wanted)
        panel.outcome_page.next_requested.connect(self._on_next_requested)
        panel.outcome_page.park_requested.connect(self._on_park_requested)
        panel.parked_chosen.connect(self._on_parked_chosen)
        panel.notice_read.connect(self._on_notice_read)

    # ------------------------------------------------------------ picking

    def _on_next_customer_began(self) -> None:
        """The first pick after an end is the next customer; what was said of the last one is read."""
        sale = self._desk.store.sale
        if sale is not None and sale.ended:
            self._forget_notices(sale.sale_id)

    def _on_price_type_chosen(self, seat_no: int, price_type_id: int) -> None:
        async def deed() -> None:
            await set_price_type(self._desk, seat_no, price_type_id)

        if not self._deeds.start("price-type", deed):
            self._window.screens.counter.panel.show_sale()

    # ------------------------------------------------------------ hold and release

    def _on_hold_requested(self) -> None:
        self._deeds.start("hold", self._hold)

    async def _hold(self) -> None:
        sale = await hold_picked(self._desk)
        if sale.state is SaleState.HELD:
            self._forget_notices(sale.sale_id)

    def _on_release_requested(self) -> None:
        self._deeds.start("release", self._release)

    async def _release(self) -> None:
        await release_hold(self._desk)
        self._window.screens.counter.focus_map()

    async def _expire(self) -> None:
        await expire_due(self._desk)

    # ------------------------------------------------------------ paying

    def _on_exact_cash_requested(self) -> None:
        self._deeds.start("exact-cash", self._exact_cash)

    async def _exact_cash(self) -> None:
        await self._print_if_paid(await pay_cash(self._desk, self._desk.sale().left_minor))

    def _cash_left_s(self) -> float | None:
        """Time for the sale whose cash is being counted; none once it is no longer held."""
        sale = self._desk.store.sale
        return self._desk.store.remaining_s if sale is not None and sale.payable else 0.0

    def _on_cash_requested(self) -> None:
        self._deeds.start("cash", self._cash)

    async def _cash(self) -> None:
        sale = self._desk.sale()
        event = self._desk.store.event
        whole_s = 300.0 if event is None else float(event.hold_ttl_s)
        time_left = TimeLeft(self._cash_left_s, whole_s, self._window.hold_warning_s)
        dialog = CashDialog(self._window.theme, sale.left_minor, sale.currency, time_left, self._window)
        if await ask(dialog):
            await self._print_if_paid(await pay_cash(self._desk, dialog.tendered_minor))

    def _on_card_requested(self) -> None:
        self._deeds.start("card", self._card)

    async def _card(self) -> None:
        """A payment that was parked meanwhile ends in the list of parked ones, and says nothing to the next buyer."""
        sale_id = self._desk.sale().sale_id
        try:
            sale = await take_card(self._desk)
        except KNOWN_ERRORS as error:
            if self._is_at_counter(sale_id):
                raise
            _log.warning("the parked payment of sale %s ended: %s", sale_id, error.code)
        else:
            await self._print_if_paid(sale)

    def _is_at_counter(self, sale_id: SaleId) -> bool:
        return self._desk.store.sale is not None and self._desk.store.sale.sale_id == sale_id

    def _on_stop_requested(self) -> None:
        self._deeds.start("stop", self._stop)

    async def _stop(self) -> None:
        await stop_card(self._desk)

    # ------------------------------------------------------------ unclear payments

    async def _keep_resolving(self) -> None:
        await keep_resolving(self._desk)

    def _on_ask_requested(self) -> None:
        self._deeds.start("resolve", self._resolve)

    async def _resolve(self) -> None:
        await self._print_if_paid(await resolve_unknown(self._desk))

    def _on_park_requested(self) -> None:
        self._deeds.start("park", self._park)

    async def _park(self) -> None:
        self._set_card_aside()
        await park_sale(self._desk)
        self._window.screens.counter.focus_map()

    def _on_parked_chosen(self, sale_id: SaleId) -> None:
        async def deed() -> None:
            self._set_card_aside()
            await resume_parked(self._desk, sale_id)

        self._deeds.start("unpark", deed)

    def _set_card_aside(self) -> None:
        """The payment at the terminal goes on; the counter may begin another deed of that name."""
        sale = self._desk.store.sale
        if sale is not None and is_charging(self._desk, sale):
            for deed in ("card", "part"):
                self._deeds.set_aside(deed, f"{deed} of {sale.sale_id}")

    # ------------------------------------------------------------ tickets

    async def _print_if_paid(self, sale: Sale) -> None:
        if sale.state is SaleState.PAID and self._is_at_counter(sale.sale_id):
            self._printed_by_itself.add(sale.sale_id)
            await print_tickets(self._desk)

    def print_if_due(self) -> None:
        """Print a sale that was paid while nobody waited for it, as any other one: once, and never after a first try.

        A job whose printing may have begun is for a person who looks at the printer (K7).
        """
        sale = self._desk.store.sale
        if sale is None or sale.state is not SaleState.PAID or sale.sale_id in self._printed_by_itself:
            return
        begun = sale.print_job is not None and sale.print_job.status is not None
        busy = self._deeds.running & _STEPS or self._desk.running or sale.sale_id in self._desk.resolving
        if begun or busy or self._desk.printer is None or not self._window.screens.counter.panel.may_sell:
            return
        self._printed_by_itself.add(sale.sale_id)
        self._deeds.start("print", self._print)

    def _on_print_requested(self) -> None:
        self._deeds.start("print", self._print)

    async def _print(self) -> None:
        await print_tickets(self._desk)

    def _on_printed_seen(self, came_out: bool) -> None:  # what the clerk saw
        async def deed() -> None:
            sale = await confirm_print(self._desk, printed=came_out)
            if not came_out:
                await self._print_if_paid(sale)

        self._deeds.start("printed-seen", deed)

    def _on_path_wanted(self, path: str) -> None:
        if not open_path(Path(path)):
            self._window.screens.counter.panel.tell(advice_for("file-not-shown"))

    def _on_next_requested(self) -> None:
        self._deeds.start("finish", self._finish)

    async def _finish(self) -> None:
        sale = self._desk.store.sale
        if sale is not None:
            self._forget_notices(sale.sale_id)
        await finish_sale(self._desk)
        self._window.screens.counter.focus_map()

    # ------------------------------------------------------------ notices

    def _on_deed_started(self, name: str) -> None:
        """The next step: what was said of the last one is read."""
        if name not in _STEPS:
            return
        sale = self._desk.store.sale
        for notice in self._desk.store.notices:
            if sale is not None and notice.sale_id == sale.sale_id and notice.code in STEP_BOUND:
                self._desk.store.dismiss(notice)
        self._window.screens.counter.panel.forget_refusal()

    def _on_notice_read(self, notice: Notice) -> None:
        if notice.code in TO_BE_ANSWERED:
            _log.info("the clerk says that it is done: %s of sale %s", notice.code, notice.sale_id)
        self._desk.store.dismiss(notice)

    def _forget_notices(self, sale_id: SaleId) -> None:
        for notice in self._desk.store.notices:
            if notice.sale_id == sale_id and notice.code not in TO_BE_ANSWERED:
                self._desk.store.dismiss(notice)
