"""The wishes of the counter, bound to the actions of a sale; and its keys."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from app.actions.desk import Desk
from app.actions.finish_sale import finish_sale, park_sale, resume_parked
from app.actions.hold_seats import expire_due, hold_picked, release_hold
from app.actions.pay_card import abort_card, pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import clear_picks, pick_seats, set_price_type, toggle_seat
from app.actions.print_tickets import confirm_print, print_tickets
from app.actions.resolve_unknown import keep_resolving, resolve_unknown
from app.bridge.deeds import Deeds
from app.bridge.desktop import open_path
from app.bridge.dialogs import ask
from app.core.errors import ConsoleError, TooManySeatsError
from app.core.sale import PAYABLE, Sale, SaleId, SaleState
from app.core.store import Notice
from app.screens import keys
from app.screens.dialogs import CashDialog
from app.screens.main_window import MainWindow
from app.screens.picking_words import band_advice, picking_advice
from app.screens.words import advice_for
from backend_client.wire import MAX_SEATS_PER_HOLD
from widgets.async_button import AsyncButton


class SaleBindings(QObject):
    """Starts the deeds of a sale. Each runs once at a time, whatever is pressed meanwhile (P1)."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._add_keys()
        self.connect_screens()

    def start_settling(self) -> None:
        """Ask about unclear payments in the background, as long as the console runs."""
        self._deeds.start("settle", self._keep_resolving)

    def expire_if_due(self) -> None:
        """Once a second: end a hold whose time is over."""
        sale = self._desk.store.sale
        if sale is not None and sale.state in PAYABLE and self._desk.store.remaining_s == 0:
            self._deeds.start("expire", self._expire)

    def connect_screens(self) -> None:
        """Connect the screens that were built just now."""
        counter = self._window.screens.counter
        panel = counter.panel
        counter.seat_chosen.connect(self._on_seat_chosen)
        counter.seats_banded.connect(self._on_seats_banded)
        sale = panel.sale_page
        sale.hold_requested.connect(self._on_hold_requested)
        sale.release_requested.connect(self._on_release_requested)
        sale.exact_cash_requested.connect(self._on_exact_cash_requested)
        sale.cash_requested.connect(self._on_cash_requested)
        sale.card_requested.connect(self._on_card_requested)
        sale.price_type_chosen.connect(self._on_price_type_chosen)
        sale.drop_requested.connect(self._on_seat_chosen)
        panel.paying_page.stop_requested.connect(self._on_stop_requested)
        panel.unknown_page.ask_requested.connect(self._on_ask_requested)
        panel.unknown_page.park_requested.connect(self._on_park_requested)
        panel.outcome_page.print_requested.connect(self._on_print_requested)
        panel.outcome_page.printed_seen.connect(self._on_printed_seen)
        panel.outcome_page.path_wanted.connect(self._on_path_wanted)
        panel.outcome_page.next_requested.connect(self._on_next_requested)
        panel.parked_chosen.connect(self._on_parked_chosen)
        panel.notice_read.connect(self._on_notice_read)

    # ------------------------------------------------------------ picking

    def _on_seat_chosen(self, seat_no: int) -> None:
        panel = self._window.screens.counter.panel
        if not panel.may_sell:
            return
        try:
            self._new_sale_after_an_ended_one()
            toggle_seat(self._desk, seat_no)
        except ConsoleError as error:
            panel.tell(picking_advice(error, self._desk.store))
        else:
            panel.show_notices()

    def _on_seats_banded(self, seats: object) -> None:
        panel = self._window.screens.counter.panel
        if not panel.may_sell:
            return
        try:
            self._new_sale_after_an_ended_one()
            self._pick_under_band([int(seat) for seat in _listed(seats)])
        except ConsoleError as error:
            panel.tell(picking_advice(error, self._desk.store))

    def _pick_under_band(self, seats: list[int]) -> None:
        """Take what a sale has room for, and say so when that is not all."""
        store = self._desk.store
        before = frozenset[int]() if store.sale is None or store.sale.ended else store.sale.seats
        wanted = [seat for seat in seats if seat not in before and store.seat_map and store.seat_map.is_pickable(seat)]
        count = len(pick_seats(self._desk, seats).seats - before)
        if wanted and count == 0:
            raise TooManySeatsError(MAX_SEATS_PER_HOLD)
        panel = self._window.screens.counter.panel
        if count < len(wanted):
            panel.tell(band_advice(count, len(wanted), MAX_SEATS_PER_HOLD))
        else:
            panel.show_notices()

    def _new_sale_after_an_ended_one(self) -> None:
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
        await self._print_if_paid(await pay_cash(self._desk, self._desk.sale().total_minor))

    def _on_cash_requested(self) -> None:
        self._deeds.start("cash", self._cash)

    async def _cash(self) -> None:
        sale = self._desk.sale()
        dialog = CashDialog(self._window.theme, sale.total_minor, sale.currency, self._window)
        if await ask(dialog):
            await self._print_if_paid(await pay_cash(self._desk, dialog.tendered_minor))

    def _on_card_requested(self) -> None:
        self._deeds.start("card", self._card)

    async def _card(self) -> None:
        await self._print_if_paid(await pay_card(self._desk))

    def _on_stop_requested(self) -> None:
        self._deeds.start("stop", self._stop)

    async def _stop(self) -> None:
        await abort_card(self._desk)

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
        await park_sale(self._desk)
        self._window.screens.counter.focus_map()

    def _on_parked_chosen(self, sale_id: SaleId) -> None:
        async def deed() -> None:
            await resume_parked(self._desk, sale_id)

        self._deeds.start("unpark", deed)

    # ------------------------------------------------------------ tickets

    async def _print_if_paid(self, sale: Sale) -> None:
        if sale.state is SaleState.PAID:
            await print_tickets(self._desk)

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

    def _on_notice_read(self, notice: Notice) -> None:
        self._desk.store.dismiss(notice)

    def _forget_notices(self, sale_id: SaleId) -> None:
        for notice in self._desk.store.notices:
            if notice.sale_id == sale_id:
                self._desk.store.dismiss(notice)

    # ------------------------------------------------------------ keys

    def _add_keys(self) -> None:
        table = {
            keys.MAP: self._on_map_key, keys.PRICES: self._on_prices_key, keys.HOLD: self._on_hold_key,
            keys.EXACT_CASH: self._on_exact_cash_key, keys.CASH: self._on_cash_key, keys.CARD: self._on_card_key,
            keys.PARK: self._on_park_key, keys.NEXT: self._on_next_key, keys.STOP: self._on_stop_key,
        }  # fmt: skip
        for key, slot in table.items():
            shortcut = QShortcut(QKeySequence(key.sequence), self._window)
            shortcut.setAutoRepeat(False)
            shortcut.activated.connect(slot)

    def _press(self, button: AsyncButton) -> bool:
        """Press a button as the mouse would: only where it is shown and listens."""
        if not button.isVisible() or not button.isEnabled() or QApplication.activeModalWidget() is not None:
            return False
        button.click()
        return True

    def _on_map_key(self) -> None:
        self._window.screens.counter.focus_map()

    def _on_prices_key(self) -> None:
        self._window.screens.counter.panel.sale_page.focus_prices()

    def _on_hold_key(self) -> None:
        self._press(self._window.screens.counter.panel.sale_page.hold)

    def _on_exact_cash_key(self) -> None:
        self._press(self._window.screens.counter.panel.sale_page.exact_cash)

    def _on_cash_key(self) -> None:
        self._press(self._window.screens.counter.panel.sale_page.cash)

    def _on_card_key(self) -> None:
        self._press(self._window.screens.counter.panel.sale_page.card)

    def _on_park_key(self) -> None:
        self._press(self._window.screens.counter.panel.unknown_page.park)

    def _on_next_key(self) -> None:
        outcome = self._window.screens.counter.panel.outcome_page
        self._press(outcome.print_again) or self._press(outcome.next)

    def _on_stop_key(self) -> None:
        counter = self._window.screens.counter
        panel, release = counter.panel, counter.panel.sale_page.release
        if self._press(panel.paying_page.stop) or self._window.screens.current is not counter:
            return
        if not release.isVisible():
            clear_picks(self._desk)
            counter.focus_map()
        elif release.hasFocus():
            self._press(release)
        else:
            release.setFocus(Qt.FocusReason.ShortcutFocusReason)


def _listed(seats: object) -> list[int]:
    return [int(seat) for seat in seats] if hasattr(seats, "__iter__") else []
