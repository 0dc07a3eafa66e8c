"""The keys of the counter: each presses the button that does the same, once however long it is held."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from app.actions.desk import Desk
from app.actions.pick_seats import clear_picks
from app.core.sale import SaleState
from app.i18n import _
from app.screens import keys
from app.screens.main_window import MainWindow
from app.screens.payment_bindings import PaymentBindings
from app.screens.pick_bindings import PickBindings
from app.screens.words import Advice
from widgets.async_button import AsyncButton
from widgets.key_gate import KeyGate


class SaleKeys(QObject):
    """Lives as long as the window; the screens behind it may be built anew."""

    def __init__(self, window: MainWindow, desk: Desk, picks: PickBindings, payments: PaymentBindings) -> None:
        super().__init__(window)
        self._payments = payments
        self._picks = picks
        self._window = window
        self._desk = desk
        self._gates: dict[str, KeyGate] = {}
        self._add_keys()

    def _add_keys(self) -> None:
        table = {
            keys.MAP: self._on_map_key, keys.PRICES: self._on_prices_key, keys.HOLD: self._on_hold_key,
            keys.EXACT_CASH: self._on_exact_cash_key, keys.CASH: self._on_cash_key, keys.CARD: self._on_card_key,
            keys.PARK: self._on_park_key, keys.NEXT: self._on_next_key, keys.STOP: self._on_stop_key,
            keys.PART: self._on_part_key, keys.BACK: self._on_back_key, keys.LEAVE: self._on_leave_key,
            keys.DAY: self._on_day_key, keys.OFFER: self._on_offer_key, keys.FIND_ANYWHERE: self._on_find_key,
        }  # fmt: skip
        for key, slot in table.items():
            shortcut = QShortcut(QKeySequence(key.sequence), self._window)
            shortcut.setAutoRepeat(False)
            shortcut.activated.connect(slot)

    def _is_fresh(self, key: keys.Key) -> bool:
        """A key that is held down counts once, also where its repeats do not say what they are."""
        gate = self._gates.setdefault(key.sequence, KeyGate())
        fresh = gate.press()
        gate.release()
        return fresh

    def forget(self) -> None:
        """As if no key had been pressed yet."""
        self._gates.clear()

    def _press(self, key: keys.Key, *buttons: AsyncButton) -> bool:
        """Press the first of these that is shown and listens, as the mouse would."""
        if not self._is_fresh(key) or QApplication.activeModalWidget() is not None:
            return False
        for button in buttons:
            if button.isVisible() and button.isEnabled():
                button.click()
                return True
        return False

    def _pay(self, key: keys.Key, *buttons: AsyncButton) -> None:
        """Press a button that pays; a clerk who is faster than the hold hears that nothing was paid."""
        sale = self._desk.store.sale
        if self._press(key, *buttons) or sale is None or not sale.picks or not self._at_the_counter():
            return
        if sale.state in {SaleState.PICKING, SaleState.HOLDING}:
            detail = _("Press {key} once they are.").format(key=key.sequence)
            self._window.screens.counter.panel.tell(Advice(_("The seats are not held yet"), detail, "info"))

    def _on_map_key(self) -> None:
        self._window.screens.counter.focus_map()

    def _on_prices_key(self) -> None:
        self._window.screens.counter.panel.sale_page.focus_prices()

    def _on_hold_key(self) -> None:
        self._press(keys.HOLD, self._window.screens.counter.panel.sale_page.hold)

    def _on_exact_cash_key(self) -> None:
        self._pay(keys.EXACT_CASH, self._window.screens.counter.panel.sale_page.exact_cash)

    def _on_cash_key(self) -> None:
        panel = self._window.screens.counter.panel
        self._pay(keys.CASH, panel.sale_page.cash, panel.unknown_page.cash)

    def _on_card_key(self) -> None:
        self._pay(keys.CARD, self._window.screens.counter.panel.sale_page.card)

    def _on_park_key(self) -> None:
        panel = self._window.screens.counter.panel
        self._press(
            keys.PARK, panel.unknown_page.park, panel.paying_page.park, panel.outcome_page.later,
            panel.returning_page.park,
        )  # fmt: skip

    def _on_part_key(self) -> None:
        self._pay(keys.PART, self._window.screens.counter.panel.sale_page.part)

    def _on_leave_key(self) -> None:
        """Once asks, twice means it: the button that does the same is pressed each time."""
        leave = self._window.screens.counter.panel.unknown_page.leave
        self._press(keys.LEAVE, leave)

    def _on_back_key(self) -> None:
        if self._at_the_counter() and self._is_fresh(keys.BACK):
            self._payments.go_back()

    def _on_day_key(self) -> None:
        if self._at_the_counter() and self._is_fresh(keys.DAY):
            self._payments.close_day()

    def _at_the_counter(self) -> bool:
        screens = self._window.screens
        return screens.current is screens.counter and QApplication.activeModalWidget() is None

    def _on_offer_key(self) -> None:
        self._press(keys.OFFER, self._window.screens.counter.picking.callout.take)

    def _on_find_key(self) -> None:
        if self._window.screens.current is self._window.screens.counter and QApplication.activeModalWidget() is None:
            self._picks.find()

    def _on_next_key(self) -> None:
        panel = self._window.screens.counter.panel
        self._press(keys.NEXT, panel.outcome_page.print_again, panel.outcome_page.next, panel.returning_page.give)

    def _on_stop_key(self) -> None:
        """Stop the payment that runs; let picks go; ask before held seats are released."""
        counter = self._window.screens.counter
        panel, release = counter.panel, counter.panel.sale_page.release
        if self._window.screens.current is not counter or QApplication.activeModalWidget() is not None:
            return
        if counter.picking.callout.isVisible() and counter.picking.callout.isAncestorOf(_focused()):
            counter.picking.callout.close_button.click()
        elif panel.paying_page.isVisible():
            self._press(keys.STOP, panel.paying_page.stop)
        elif release.asks and release.isVisible():
            self._press(keys.STOP, release)
        elif self._is_fresh(keys.STOP):
            self._let_go(asks=release.isVisible())

    def _let_go(self, *, asks: bool) -> None:
        if asks:
            self._window.screens.counter.panel.sale_page.ask_by_key()
        else:
            clear_picks(self._desk)
            self._window.screens.counter.focus_map()


def _focused() -> QWidget:
    return QApplication.focusWidget() or QWidget()
