"""The window: menu, one screen at a time, the status strip. A language or theme switch builds the inside anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QStackedWidget, QVBoxLayout, QWidget

from app.core.session import Permission
from app.core.store import Change, ConsoleStore
from app.i18n import _, figures, marked
from app.screens import keys
from app.screens.counter import CounterScreen
from app.screens.events import EventsScreen
from app.screens.menus import add_languages, add_themes, separate, submenu, ticked, wish
from app.screens.ops_screen import OpsScreen
from app.screens.orders_screen import OrdersScreen
from app.screens.plan_editor import PlanEditorScreen
from app.screens.reconciliation_screen import ReconciliationScreen
from app.screens.settings_screen import SettingsScreen
from app.screens.sign_in import SignInScreen
from app.screens.status_strip import StatusStrip
from widgets.async_button import AsyncButton
from widgets.focus import take_focus
from widgets.screen_tabs import ScreenTab, ScreenTabs
from widgets.theme import Theme

_TICK_MS = 250
_USUAL_SIZE = QSize(1280, 800)
_FRAME_PX, _TITLE_BAR_PX = 8, 40
_NEEDS = {
    "counter": Permission.SEE_EVENTS,
    "orders": Permission.FIND_ORDERS,
    "reconciliation": Permission.READ_ITEMS,
    "ops": Permission.SEE_OPS,
    "settings": Permission.READ_SETTINGS,
}
_TAB_WORDS = {
    "counter": marked("Counter"),
    "orders": marked("Orders"),
    "reconciliation": marked("Reconciliation"),
    "ops": marked("Operations"),
    "settings": marked("Settings"),
}

_WITH_A_FIRST = (
    SignInScreen, EventsScreen, CounterScreen, OrdersScreen, ReconciliationScreen, OpsScreen, SettingsScreen,
    PlanEditorScreen,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the screens are told beside the store."""

    server: str
    sign_in_name: str
    hold_warning_s: int
    steady: Callable[[], float]


class Screens(QWidget):
    """Everything inside the window, in one language and one theme."""

    shown = Signal()
    """Another screen is in front."""

    def __init__(self, theme: Theme, store: ConsoleStore, around: Surroundings) -> None:
        super().__init__()
        self._store = store
        self.sign_in = SignInScreen(theme, around.server, around.sign_in_name)
        self.events = EventsScreen(theme, store)
        self.counter = CounterScreen(theme, store, around.hold_warning_s)
        self.orders = OrdersScreen(theme, store)
        self.reconciliation = ReconciliationScreen(theme, store)
        self.ops = OpsScreen(theme, store, around.steady)
        self.settings = SettingsScreen(theme, store)
        self.plans = PlanEditorScreen(theme, store.plan_work)
        self.strip = StatusStrip(theme, store, around.steady)
        self._pages = QStackedWidget()
        for screen in self.all:
            self._pages.addWidget(screen)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._pages, 1)
        page.addWidget(self.strip)

    @property
    def all(self) -> tuple[QWidget, ...]:
        """Every screen."""
        return (
            self.sign_in, self.events, self.counter, self.orders, self.reconciliation, self.ops, self.settings,
            self.plans,
        )  # fmt: skip

    @property
    def current(self) -> QWidget:
        """The screen that is shown."""
        return self._pages.currentWidget() or self.sign_in

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        gathered = dict(self.counter.buttons)
        for deed, button in (*self.sign_in.buttons.items(), *self.events.buttons.items(), *self.plans.buttons.items()):
            gathered.setdefault(deed, []).append(button)
        for deed, buttons in (
            *self.orders.buttons.items(), *self.reconciliation.buttons.items(), *self.ops.buttons.items(),
            *self.settings.buttons.items(),
        ):  # fmt: skip
            gathered.setdefault(deed, []).extend(buttons)
        return gathered

    def go_to(self, screen: QWidget) -> None:
        """Show a screen and put the keyboard where work starts. While nobody is signed in there is one alone."""
        if self._pages.currentWidget() is screen or (self._store.session is None and screen is not self.sign_in):
            return
        self.sign_in.password.clear()  # what was typed before a kept session came back stays with nobody
        self._pages.setCurrentWidget(screen)
        if isinstance(screen, _WITH_A_FIRST):
            screen.focus_first()
        self.shown.emit()

    def take_over(self, old: Screens) -> None:
        """Go on where the screens before stood: the part of the map that is seen, what was typed and not yet sent."""
        self.counter.take_view_of(old.counter)
        self.orders.take_over(old.orders)
        self.reconciliation.take_over(old.reconciliation)
        self.ops.take_over(old.ops)
        self.settings.take_over(old.settings)
        self.plans.take_over(old.plans)
        self.events.search.setText(old.events.search.text())
        self.sign_in.name.setText(old.sign_in.name.text())
        self.sign_in.password.setText(old.sign_in.password.text())

    def forget_person(self) -> None:
        """Somebody has gone: what was told to them and what they typed to look for is not for the next one."""
        for screen in (self.events, self.orders, self.reconciliation, self.ops, self.settings, self.plans):
            screen.forget_person()

    def show_change(self, change: Change) -> None:
        """Show what changed in the store."""
        if Change.SESSION in change:
            self.strip.show_session()
            self.strip.show_items()
            self.strip.show_feed()
            self.counter.panel.show_sale()
        if Change.EVENTS in change:
            self.settings.show_events()
        if Change.EVENTS in change or (Change.CLOCK in change and self.current is self.events):
            self.events.show_events()
        if Change.CONNECTION in change:
            self.strip.show_connection()
        if Change.FEED in change or Change.EVENT in change:
            self.strip.show_feed()
        if Change.SALE in change or Change.PARKED in change:
            self.strip.show_payments()
        self.counter.show_change(change)

    def show_all(self) -> None:
        """Show everything anew."""
        self.strip.show_all()
        self.events.show_events()
        self.counter.show_all()
        self.orders.show_all()
        self.reconciliation.show_all()
        self.ops.show_all()
        self.settings.show_all()

    def show_time(self) -> None:
        """What the clocks say."""
        self.counter.show_time()
        self.orders.show_time()
        self.reconciliation.show_time()
        self.ops.show_time()
        self.strip.show_feed()

    def set_busy(self, deed: str, busy: bool) -> None:  # said by name of the deed
        """A deed began or ended: its buttons are busy meanwhile."""
        for button in self.buttons.get(deed, ()):
            button.set_busy(busy)
        self.reconciliation.set_busy(deed, busy=busy)


class MainWindow(QMainWindow):
    """The one window. Menus speak of wishes; whoever binds the window fulfils them."""

    language_chosen = Signal(str)
    theme_chosen = Signal(str)
    patterns_chosen = Signal(bool)
    less_motion_chosen = Signal(bool)
    chart_requested = Signal()
    """Print the seat map as it stands."""
    sign_out_requested = Signal()
    keys_requested = Signal()
    close_requested = Signal()
    plans_requested = Signal()
    screen_requested = Signal(str)
    """One of the codes of `keys.SCREENS_BY_CODE`."""
    screens_rebuilt = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore, around: Surroundings, theme_choice: str = "system") -> None:
        super().__init__()
        self._store = store
        self._around = around
        self._may_close = False
        self._theme = theme
        self._theme_choice = theme_choice
        self._less_motion = False
        self._sale_on_tab = ""
        self._focus_place: tuple[type[QWidget], int] | None = None
        self.setWindowTitle("Taquilla")
        self.resize(_USUAL_SIZE)
        self.setMinimumSize(820, 500)
        self.screens = Screens(theme, store, around)
        self.setCentralWidget(self.screens)
        self.screens.shown.connect(self.show_tabs)
        self._screen_actions: dict[str, QAction] = {}
        self._build_menus()
        self._clock = QTimer(self)
        self._clock.setInterval(_TICK_MS)
        self._clock.timeout.connect(self._on_clock_timeout)
        self._clock.start()

    def fit_to_screen(self) -> None:
        """No larger than what the screen has beside its panels and our title bar: the lamps lie at the lower edge."""
        room = self.screen().availableGeometry().size() - QSize(_FRAME_PX, _TITLE_BAR_PX)
        self.resize(_USUAL_SIZE.boundedTo(room).expandedTo(self.minimumSize()))

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def hold_warning_s(self) -> int:
        return self._around.hold_warning_s

    def set_less_motion(self, less: bool) -> None:  # said by what it sets
        """Whether what moves on the map stands still instead."""
        self._less_motion = less
        self.screens.counter.map.set_reduced_motion(less)
        self._build_menus()

    def rebuild(self, theme: Theme, theme_choice: str) -> None:
        """Build the inside anew, in the language and theme in use now; what is shown comes from the store."""
        shown = type(self.screens.current)
        old = self.screens
        self._theme, self._theme_choice = theme, theme_choice
        self._focus_place = _place_of_focus(old)
        self.screens = Screens(theme, self._store, self._around)
        self.screens.take_over(old)
        self.screens.counter.map.set_reduced_motion(self._less_motion)
        self.setCentralWidget(self.screens)
        self.screens.shown.connect(self.show_tabs)
        old.hide()
        old.deleteLater()
        self._build_menus()
        for screen in self.screens.all:
            if type(screen) is shown:
                self.screens.go_to(screen)
        self.screens.show_all()
        self.screens_rebuilt.emit()
        QTimer.singleShot(0, self._put_focus)  # what was built just now is shown in the next turn

    def show_session(self) -> None:
        """Offer what the person who is signed in may do."""
        session = self._store.session
        self._plans_action.setEnabled(session is not None and session.may(Permission.DRAW_PLANS))
        for code, action in self._screen_actions.items():
            action.setEnabled(session is not None and session.may(_NEEDS[code]))
        self.show_tabs()

    def show_tabs(self) -> None:
        """Where one is and may go; a sale that waits at the counter shows its time, the inbox how many wait."""
        session = self._store.session
        codes = [code for code in keys.SCREENS_BY_CODE if session is not None and session.may(_NEEDS[code])]
        waiting = self._store.inbox.open_count or 0
        self._sale_on_tab = self._sale_words()
        alarms = len(self._store.ops.alarms)
        counts = {
            "reconciliation": figures().number(waiting) if waiting else "", "counter": self._sale_on_tab,
            "ops": figures().number(alarms) if alarms else "",
        }  # fmt: skip
        tabs = [
            ScreenTab(code, _(_TAB_WORDS[code]), keys.SCREENS_BY_CODE[code].sequence, counts.get(code, ""))
            for code in codes
        ]
        shown = {type(self.screens.events): "counter", type(self.screens.counter): "counter",
                 type(self.screens.orders): "orders", type(self.screens.reconciliation): "reconciliation",
                 type(self.screens.ops): "ops", type(self.screens.settings): "settings"}  # fmt: skip
        signed_in = self.screens.current is not self.screens.sign_in
        self.tabs.show_tabs(tabs if signed_in else [], shown.get(type(self.screens.current), ""))

    def _sale_words(self) -> str:
        sale, left = self._store.sale, self._store.remaining_s
        if sale is None or sale.ended or left is None or self.screens.current is self.screens.counter:
            return ""
        return figures().duration(int(left))

    def _put_focus(self) -> None:
        """Put the keyboard on the control that had it before the screens were built anew, if it is shown again."""
        if self._focus_place is None:
            return
        kind, number = self._focus_place
        self._focus_place = None
        controls = self.screens.findChildren(kind)
        if number < len(controls):
            take_focus(controls[number])

    def allow_close(self) -> None:
        """The next wish to close is final."""
        self._may_close = True

    def _build_menus(self) -> None:
        bar = self.menuBar()
        for old in bar.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly):
            old.deleteLater()  # with its actions: a bar that is cleared only forgets them
        bar.clear()
        bar.setAccessibleName(_("Menu"))
        counter = submenu(bar, _("&Counter"))
        counter.addAction(wish(counter, _("Print the seat map"), self.chart_requested, keys.PRINT_CHART.sequence))
        separate(counter)
        counter.addAction(wish(counter, _("Sign out"), self.sign_out_requested))
        separate(counter)
        counter.addAction(wish(counter, _("Close the console"), self.close_requested, keys.QUIT.sequence))
        going = submenu(bar, _("&Go to"))
        self._screen_actions = {code: self._screen_action(going, code) for code in keys.SCREENS_BY_CODE}
        going.addActions(list(self._screen_actions.values()))
        separate(going)
        self._plans_action = wish(going, _("Plan editor"), self.plans_requested, keys.PLANS.sequence)
        going.addAction(self._plans_action)
        view = submenu(bar, _("&View"))
        add_languages(submenu(view, _("Language")), self.language_chosen.emit)
        colours = submenu(view, _("Colours"))
        add_themes(colours, self._theme_choice, self.theme_chosen.emit)
        separate(colours)
        patterns = _("Patterns beside the colours of seats")
        colours.addAction(ticked(colours, patterns, self.patterns_chosen, on=self._theme.patterned))
        view.addAction(ticked(view, _("Less motion on the map"), self.less_motion_chosen, on=self._less_motion))
        helping = submenu(bar, _("&Help"))
        helping.addAction(wish(helping, _("Keys"), self.keys_requested, keys.HELP.sequence))
        before = bar.cornerWidget(Qt.Corner.TopRightCorner)
        if before is not None:
            before.deleteLater()
        self.tabs = ScreenTabs(self._theme)
        self.tabs.setAccessibleName(_("Screens"))
        self.tabs.screen_chosen.connect(self.screen_requested)
        self.tabs.resized.connect(self._on_tabs_resized)
        bar.setCornerWidget(self.tabs, Qt.Corner.TopRightCorner)
        self.show_session()

    def _screen_action(self, parent: QMenu, code: str) -> QAction:
        key = keys.SCREENS_BY_CODE[code]
        action = QAction(_(_TAB_WORDS[code]), parent)
        action.setData(code)
        action.setShortcut(QKeySequence(key.sequence))
        action.triggered.connect(self._on_screen_triggered)
        return action

    def _on_tabs_resized(self) -> None:
        self.menuBar().setCornerWidget(self.tabs, Qt.Corner.TopRightCorner)

    def _on_screen_triggered(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.screen_requested.emit(str(action.data()))

    def _on_clock_timeout(self) -> None:
        self.screens.show_time()
        if self._sale_words() != self._sale_on_tab:
            self.show_tabs()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self.close_requested.emit()


def _place_of_focus(screens: QWidget) -> tuple[type[QWidget], int] | None:
    """Which of its kind has the keyboard, in the order of building; None when nothing of `screens` has it."""
    focused = QApplication.focusWidget()
    if focused is None or not screens.isAncestorOf(focused):
        return None
    kind = type(focused)
    return kind, screens.findChildren(kind).index(focused)
