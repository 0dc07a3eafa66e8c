"""The window's wishes, bound to what the console can do: signing in, choosing an event, looks, the way out.

Screens are built anew at a language switch; this object stays, and with it whatever is running.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence, QShortcut

from app.actions.desk import Desk
from app.actions.follow_seats import follow_seats
from app.actions.resume_sales import clear_up, refuse_unreadable, show_open_sales, waits_for_terminal
from app.actions.show_event import load_events, open_event
from app.actions.sign_in import keep_restoring, restore_session, sign_in, sign_out
from app.bridge.deeds import Deeds
from app.bridge.dialogs import ask, dismiss
from app.bridge.store_signals import StoreSignals
from app.core.errors import JournalError
from app.core.sale import SaleState
from app.core.session import Permission
from app.core.store import Change, Notice, NoticeCode
from app.i18n import _
from app.screens import keys
from app.screens.chart_bindings import ChartBindings
from app.screens.device_lamps import DeviceLamps
from app.screens.dialogs import AskDialog
from app.screens.leave_words import leave_words
from app.screens.look_bindings import LookBindings
from app.screens.looks import wants_less_motion
from app.screens.main_window import MainWindow
from app.screens.navigation import Navigation
from app.screens.notice_words import notice_words
from app.screens.ops_bindings import OpsBindings
from app.screens.ops_screen import OpsScreen
from app.screens.order_bindings import OrderBindings
from app.screens.orders_screen import OrdersScreen
from app.screens.plan_bindings import PlanBindings
from app.screens.plan_editor import PlanEditorScreen
from app.screens.reconciliation_bindings import ReconciliationBindings
from app.screens.reconciliation_screen import ReconciliationScreen
from app.screens.refusal_words import refusal_words, words_once_back
from app.screens.sale_bindings import KNOWN_ERRORS, SaleBindings
from app.screens.second_bindings import SecondBindings
from app.screens.settings_bindings import SettingsBindings
from app.screens.settings_screen import SettingsScreen
from app.screens.words import Advice, advice_for
from app.settings import LAST_EVENT, MOTION, SIGN_IN_NAME, Settings
from backend_client.errors import NotSignedInError, ServiceUnavailableError
from backend_client.feed import Dial, dial_websocket
from backend_client.wire import EventId, Role

_OF_A_PERSON = ("open-event", "load-events", "show-events", "print-chart")
_TELLS = (PlanEditorScreen, OrdersScreen, ReconciliationScreen, OpsScreen, SettingsScreen)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Name and password handed over at start, for demos; never kept."""

    name: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.name!r})"


class Bindings(QObject):
    """Binds one window to one desk."""

    closing = Signal()
    """The person has decided to close the console."""
    failed = Signal(str, object)
    """A deed ended with an error that nobody has words for."""

    def __init__(
        self, window: MainWindow, desk: Desk, deeds: Deeds, settings: Settings, dial: Dial = dial_websocket
    ) -> None:
        super().__init__(window)
        self._dial = dial
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._settings = settings
        self._wanted_event: EventId | None = None
        self._credentials: Credentials | None = None
        self._resumed = False
        self._person: tuple[UUID, Role] | None = None
        self.signals = StoreSignals(desk.store, self)
        self.looks = LookBindings(window, desk, deeds, settings)
        self.sale = SaleBindings(window, desk, deeds)
        self.plans = PlanBindings(window, desk, deeds)
        self.orders = OrderBindings(window, desk, deeds)
        self.reconciliation = ReconciliationBindings(window, desk, deeds)
        self.ops = OpsBindings(window, desk, deeds, dial)
        self.settings = SettingsBindings(window, desk, deeds, settings)
        self.navigation = Navigation(window, desk, deeds, self.orders, self.reconciliation, self.ops, self.settings)
        self.chart = ChartBindings(window, desk, deeds)
        self.lamps = DeviceLamps(window, desk, deeds)
        self._second = SecondBindings(window, desk, deeds, self.sale, self.lamps, self._follow)
        self._connect()
        self._connect_screens()

    def start(self, credentials: Credentials | None = None) -> None:
        """Begin work: the kept session or `credentials`, else the sign-in screen."""
        self._credentials = credentials
        if credentials is not None:
            self._window.screens.sign_in.name.setText(credentials.name)  # not who was here last
        self._window.set_less_motion(wants_less_motion(self._settings.get(MOTION)))
        self._window.screens.show_all()
        self.lamps.look()
        self._second.start()
        self._deeds.start("start", self._begin)

    # ------------------------------------------------------------ session

    async def _begin(self) -> None:
        if self._credentials is not None:
            await sign_in(self._desk, self._credentials.name, self._credentials.password)
            self._credentials = None
        elif not await self._restore_at_once():
            return
        await self._enter()

    async def _restore_at_once(self) -> bool:
        """The kept session. While the booking system is away the sign-in screen says so, and it is tried again."""
        try:
            session = await restore_session(self._desk)
        except ServiceUnavailableError:
            self._go_to_sign_in()
            self._window.screens.sign_in.tell(advice_for("session-waits"))
            self._deeds.start("restore", self._keep_restoring)
            return False
        if session is None:
            self._go_to_sign_in()
        return session is not None

    async def _keep_restoring(self) -> None:
        if await keep_restoring(self._desk) is not None:
            await self._enter()
        elif self._desk.store.session is None:
            self._window.screens.sign_in.tell(advice_for("not-signed-in"))

    async def _enter(self) -> None:
        """Signed in: what the journal holds first, then the events. Whoever goes meanwhile is not taken on."""
        session, person = self._desk.store.session, self._who_is_here()
        if session is not None:
            self.looks.remember(SIGN_IN_NAME, session.name)
        self._window.screens.go_to(self._window.screens.events)
        trouble = await self._resume_once()
        self.sale.start_settling()
        if person == self._who_is_here():
            await self._load_events()
            await self.plans.offer()
        sale = self._desk.store.sale
        if sale is not None and not sale.ended and person == self._who_is_here():
            await self._open(sale.event_id)
        if trouble is not None:
            raise trouble

    def _who_is_here(self) -> tuple[UUID, Role] | None:
        session = self._desk.store.session
        return None if session is None else (session.staff_id, session.role)

    async def _resume_once(self) -> JournalError | None:
        """Show what the journal has open. What waits for a terminal that may be off is cleared up afterwards (T4)."""
        session = self._desk.store.session
        if self._resumed or session is None or not session.may(Permission.SELL):
            return None  # what is open waits in the journal for somebody who may go on with it
        try:
            kept = await show_open_sales(self._desk)
            self._resumed = True
        except JournalError as error:
            return error
        await clear_up(self._desk, [sale for sale in kept if not waits_for_terminal(sale)])
        slow = [sale for sale in kept if waits_for_terminal(sale)]

        async def deed() -> None:
            await clear_up(self._desk, slow)

        if slow:
            self._deeds.start("resume", deed)
        try:
            await refuse_unreadable(self._desk)
        except JournalError as error:
            return error
        return None

    def _on_sign_in_requested(self, name: str, password: str) -> None:
        async def deed() -> None:
            await sign_in(self._desk, name, password)
            self._deeds.cancel("restore")
            await self._enter()

        self._deeds.start("sign-in", deed)

    def _on_sign_out_requested(self) -> None:
        self._deeds.start("sign-out", self._sign_out)

    async def _sign_out(self) -> None:
        if self._desk.store.session is None or not await self._may_leave(_("Sign out"), _("Stay signed in")):
            return
        self._deeds.cancel("follow-seats")
        try:
            await sign_out(self._desk)
        finally:
            self._leave_for_sign_in()  # whatever came of it: nobody is signed in here any more

    def _leave_for_sign_in(self) -> bool:
        """Whether another screen was left; whoever has begun to type there keeps the keyboard where it is."""
        leaves = self._window.screens.current is not self._window.screens.sign_in
        if leaves:
            self._go_to_sign_in()
        return leaves

    def _go_to_sign_in(self) -> None:
        self._window.screens.go_to(self._window.screens.sign_in)
        self._window.screens.sign_in.focus_first()

    # ------------------------------------------------------------ events

    def _on_refresh_requested(self) -> None:
        self._deeds.start("load-events", self._load_events)

    async def _load_events(self) -> None:
        await load_events(self._desk)
        self._window.screens.events.set_loaded()

    def _on_event_chosen(self, event_id: int) -> None:
        if not self._deeds.is_running("open-event"):
            self._wanted_event = EventId(event_id)
            self._deeds.start("open-event", self._open_wanted)

    async def _open_wanted(self) -> None:
        if self._wanted_event is None:
            return
        self._show_opening()
        try:
            await self._open(self._wanted_event)
        finally:
            self._window.screens.events.show_opening(None)

    def _show_opening(self) -> None:
        self._window.screens.events.show_opening(self._wanted_event)

    async def _open(self, event_id: EventId) -> None:
        person = self._who_is_here()
        self._deeds.cancel("follow-seats")
        await open_event(self._desk, event_id)
        if person is None or person != self._who_is_here():
            return  # whoever wanted to see it has gone
        self.looks.remember(LAST_EVENT, int(event_id))
        self._window.screens.go_to(self._window.screens.counter)
        self._deeds.cancel("follow-seats")
        self._deeds.start("follow-seats", self._follow)

    async def _follow(self) -> None:
        await follow_seats(self._desk, dial=self._dial)

    def _on_events_requested(self) -> None:
        self._deeds.start("show-events", self._show_events)

    async def _show_events(self) -> None:
        sale = self._desk.store.sale
        if sale is not None and sale.state is not SaleState.PICKING and not sale.ended:
            self._window.screens.counter.panel.tell(advice_for("sale-not-ready"))
            return
        self._window.screens.go_to(self._window.screens.events)
        await self._load_events()

    # ------------------------------------------------------------ looks

    def _on_rebuilt(self) -> None:
        """The screens are new: bind them, and show on them what is going on."""
        self._connect_screens()
        self.sale.connect_screens()
        self.plans.connect_screens()
        self.orders.connect_screens()
        self.reconciliation.connect_screens()
        self.ops.connect_screens()
        self.settings.connect_screens()
        self._window.screens.show_all()
        self.lamps.look()
        if self._deeds.is_running("restore") and self._desk.store.session is None:
            self._window.screens.sign_in.tell(advice_for("session-waits"))
        if self._deeds.is_running("open-event"):
            self._show_opening()
        for deed in self._deeds.running:
            self._window.screens.set_busy(deed, busy=True)

    # ------------------------------------------------------------ the way out

    def _on_close_requested(self) -> None:
        self._deeds.start("close", self._close)

    async def _close(self) -> None:
        if await self._may_leave(_("Close the console"), _("Stay")) and await self.plans.may_close():
            await self.looks.keep_now()
            self.closing.emit()

    async def _may_leave(self, yes: str, no: str) -> bool:
        """Ask when a sale is open; nothing is lost either way, and the words say what will happen (D2)."""
        words = leave_words(self._desk)
        return words is None or await ask(AskDialog(self._window.theme, words, yes, no, self._window))

    # ------------------------------------------------------------ deeds and time

    def _on_deed_started(self, name: str) -> None:
        self._window.screens.set_busy(name, busy=True)

    def _on_deed_ended(self, name: str) -> None:
        self._window.screens.set_busy(name, busy=False)
        if name in {"hold", "price-type"}:
            self._window.screens.counter.panel.show_sale()  # a lost answer or a refusal leaves the sale as it was
        self.sale.print_if_due()

    def _on_deed_refused(self, name: str, error: object) -> None:
        if isinstance(error, NotSignedInError) and name != "sign-in":
            self._desk.store.put_session(None)
            self._leave_for_sign_in()
        if not isinstance(error, KNOWN_ERRORS):
            self.failed.emit(name, error)
        sale, counted = self._desk.store.sale, self.sale.payments.counted
        once_back = words_once_back(name, error, sale, counted=counted)
        self._tell(name, refusal_words(name, error, sale, counted=counted), once_back)

    def _tell(self, name: str, words: Advice, once_back: Advice | None = None) -> None:
        screens = self._window.screens
        if name == "start" and self._desk.store.session is None:
            self._go_to_sign_in()
        if screens.current is screens.sign_in:
            screens.sign_in.tell(words)
        elif screens.current is screens.events:
            screens.events.set_loaded()
            screens.events.tell(words)
        elif isinstance(screens.current, _TELLS):
            screens.current.tell(words)
        else:
            screens.counter.panel.tell(words, once_back)

    def tell_failure(self, kind: str) -> None:
        """A failure that nobody caught: one calm message, the trace is in the log (D3)."""
        del kind
        self._tell("failure", advice_for("internal"))

    # ------------------------------------------------------------ wiring

    def _connect(self) -> None:
        window, deeds = self._window, self._deeds
        self.looks.rebuilt.connect(self._on_rebuilt)
        self.settings.till_changed.connect(self.lamps.look)
        window.sign_out_requested.connect(self._on_sign_out_requested)
        window.close_requested.connect(self._on_close_requested)
        deeds.started.connect(self._on_deed_started)
        deeds.ended.connect(self._on_deed_ended)
        deeds.refused.connect(self._on_deed_refused)
        self.signals.changed.connect(self._on_store_changed)
        shortcut = QShortcut(QKeySequence(keys.EVENTS.sequence), window)
        shortcut.activated.connect(self._on_events_key)

    def _connect_screens(self) -> None:
        screens = self._window.screens
        screens.sign_in.sign_in_requested.connect(self._on_sign_in_requested)
        screens.events.event_chosen.connect(self._on_event_chosen)
        screens.events.refresh_requested.connect(self._on_refresh_requested)
        screens.counter.events_requested.connect(self._on_events_requested)

    def _on_events_key(self) -> None:
        if self._window.screens.current is self._window.screens.counter:
            self._window.screens.counter.back.click()

    def _forget_who_has_gone(self) -> None:
        """Somebody else works here, or nobody: no question to the one before stays open, no word to them is read."""
        session = self._desk.store.session
        before, self._person = self._person, None if session is None else (session.staff_id, session.role)
        if before is not None and before != self._person:
            dismiss(self._window)
            for deed in _OF_A_PERSON:
                self._deeds.cancel(deed)
            self._window.screens.forget_person()
        is_over = before is not None and session is None  # whatever ended it, the other screens are dead now
        if is_over and self._leave_for_sign_in() and not self._deeds.is_running("sign-out"):
            self._window.screens.sign_in.tell(notice_words(Notice(NoticeCode.SIGNED_OUT)))

    def _on_store_changed(self, change: Change) -> None:
        self._window.screens.show_change(change)
        if Change.SESSION in change:
            self._forget_who_has_gone()
            self._window.show_session()
            self.navigation.show_session()
            self.orders.show_session()
            self.reconciliation.show_session()
            self.ops.show_session()
            self.settings.show_session()
        if Change.SALE in change:
            self.lamps.show_printer()
            self.sale.print_if_due()
