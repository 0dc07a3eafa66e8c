"""The operators' screen: what goes on, who waits for whom, alarms, the log; admission beside it; the large mode."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QStackedWidget, QTabBar, QToolButton, QVBoxLayout, QWidget

from app.core.ops_board import OpsBoard
from app.core.ops_health import Health, limits_kept, state_of
from app.core.ops_parts import EVERYTHING, OpsPart
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.screens import ops_keys
from app.screens.ops_admission_panel import OpsAdmissionPanel
from app.screens.ops_alarms_page import OpsAlarmsPage
from app.screens.ops_banner import OpsBanner
from app.screens.ops_blockers_page import OpsBlockersPage
from app.screens.ops_live_page import OpsLivePage
from app.screens.ops_log_page import OpsLogPage
from app.screens.ops_wall import OpsWall
from app.screens.ops_words import MARKS, TONES, state_detail, state_title
from app.screens.words import Advice, advice_for
from backend_client.wire import EventId, OpsEventFigures
from widgets.async_button import AsyncButton
from widgets.build import column, row, scrolling
from widgets.choice_box import ChoiceBox
from widgets.focus import take_focus
from widgets.state_line import StateLine
from widgets.theme import Theme

LIVE, BLOCKERS, ALARMS, LOG = range(4)
_PANEL_PX = 338
_EVENT_PX = 200
_ONE_LINE_PX = 1_100
"""Narrower windows show how things stand on a line of its own."""
_GATHER_MS = 0
"""What the board tells in one turn of the loop is shown once."""


class OpsScreen(QWidget):
    """Shows the store's board. Everything it can be asked for is on its pages."""

    event_chosen = Signal(object)
    """An event id: watch this one."""
    large_requested = Signal(bool)

    def __init__(self, theme: Theme, store: ConsoleStore, steady: Callable[[], float]) -> None:
        super().__init__()
        self._store = store
        self._steady = steady
        self._gathered = OpsPart(0)
        self._is_large = False
        self.event_box = ChoiceBox(theme)
        self.state = StateLine(theme)
        self.tabs = QTabBar()
        self.large = QToolButton()
        self.banner = OpsBanner(theme, store.ops)
        self.live = OpsLivePage(theme, store, steady)
        self.admission = OpsAdmissionPanel(theme, store)
        self.blockers = OpsBlockersPage(theme, store, steady)
        self.alarms = OpsAlarmsPage(theme, store, steady)
        self.log = OpsLogPage(theme, store)
        self.wall = OpsWall(theme, store, steady)
        self._pages = QStackedWidget()
        self._faces = QStackedWidget()
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(_GATHER_MS)
        self._turn.timeout.connect(self._on_turn_timeout)
        self._build(theme)
        self._unsubscribe = store.ops.subscribe(self._on_board_changed)

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {**self.admission.buttons, **self.alarms.buttons, **self.log.buttons}

    @property
    def _board(self) -> OpsBoard:
        return self._store.ops

    @property
    def is_large(self) -> bool:
        """Whether the large mode is shown."""
        return self._is_large

    @property
    def page(self) -> int:
        """Which page is in front."""
        return self.tabs.currentIndex()

    # ------------------------------------------------------------ what is shown

    def show_all(self) -> None:
        """Show everything anew."""
        self._show(EVERYTHING)

    def show_time(self) -> None:
        """Time goes on."""
        if not self.isVisible():
            return
        self._show_state()
        if self._is_large:
            self.wall.show_time()
        else:
            self.live.show_time()
            self.blockers.show_time()
            self.alarms.show_time()

    def show_page(self, place: int) -> None:
        """LIVE, BLOCKERS, ALARMS or LOG; the large mode ends."""
        if self._is_large:
            self.show_large(False)
        self.tabs.setCurrentIndex(place)

    def show_large(self, large: bool) -> None:  # said by what it sets
        """Show the large mode, or the pages again."""
        if large == self._is_large:
            return
        self._is_large = large
        self._faces.setCurrentIndex(int(large))
        if large:
            self.wall.show_all()
            self.wall.show_time()
            take_focus(self.wall)
        else:
            self.focus_first()
        self.large_requested.emit(large)

    def tell(
        self, words: Advice, event: OpsEventFigures | None = None, is_so: Callable[[], bool] | None = None
    ) -> None:
        """Say it where the person looks; see `OpsBanner.tell_of`."""
        self.banner.tell_of(words, event, is_so)

    def focus_first(self) -> None:
        """Put the keyboard where work starts."""
        (self.live, self.blockers, self.alarms, self.log)[max(self.page, 0)].focus_first()

    def take_over(self, old: OpsScreen) -> None:
        """Go on where the screen before stood."""
        self.tabs.setCurrentIndex(old.page)
        self.alarms.show_sound(old.alarms.sound.isChecked())
        if old.is_large:
            self.show_large(True)
        old.let_go()

    def forget_person(self) -> None:
        """What was said here was said to somebody else."""
        for banner in (self.banner, self.blockers.banner, self.alarms.banner, self.log.banner):
            banner.clear()

    def let_go(self) -> None:
        """Hear nothing more of the board: another screen is shown in this one's place."""
        self._unsubscribe()
        self._turn.stop()

    def _on_board_changed(self, part: OpsPart) -> None:
        self._gathered |= part
        if not self._turn.isActive():
            self._turn.start()

    def _on_turn_timeout(self) -> None:
        gathered, self._gathered = self._gathered, OpsPart(0)
        if self.isVisible():
            self._show(gathered)

    def _show(self, part: OpsPart) -> None:
        if part & OpsPart.FIGURES:
            self._show_events()
        if part & (OpsPart.FIGURES | OpsPart.ALARMS | OpsPart.STATE):
            self._show_state()
            self._show_tabs()
        self.banner.show_board()
        if self._is_large:
            self.wall.show_part(part)
            return
        self.live.show_part(part)
        self.admission.show_part(part)
        self.blockers.show_part(part)
        self.alarms.show_part(part)
        self.log.show_part(part)

    def _show_events(self) -> None:
        told = () if self._board.figures is None else self._board.figures.events
        wanted = [(event.event_id, event.name) for event in told]
        shown = [
            (self.event_box.itemData(place), self.event_box.itemText(place)) for place in range(self.event_box.count())
        ]
        self.event_box.blockSignals(True)
        if wanted != shown:
            self.event_box.clear()
            for event_id, name in wanted:
                self.event_box.addItem(name, event_id)
        self.event_box.setCurrentIndex(self.event_box.findData(self._board.event_id))
        self.event_box.blockSignals(False)
        self.event_box.setEnabled(len(wanted) > 0)

    def _show_state(self) -> None:
        state = state_of(self._board, self._steady())
        detail = state_detail(state, limits_kept(self._board))
        self.state.tell(MARKS[state.health], state_title(state), detail, TONES[state.health])

    def _show_tabs(self) -> None:
        board = self._board
        words = {LIVE: _("Live"), BLOCKERS: _("Blockers"), ALARMS: _("Alarms"), LOG: _("Event log")}
        counts = {BLOCKERS: board.waiting_sessions, ALARMS: len(board.alarms)}
        for place, text in words.items():
            count = counts.get(place, 0)
            shown = f"{text} ({figures().number(count)})" if count else text
            if self.tabs.tabText(place) != shown:
                self.tabs.setTabText(place, shown)

    # ------------------------------------------------------------ wiring

    def _build(self, theme: Theme) -> None:
        for place, key in enumerate((ops_keys.LIVE, ops_keys.BLOCKERS, ops_keys.ALARMS, ops_keys.LOG)):
            self.tabs.addTab("")
            self.tabs.setTabToolTip(place, key.sequence)
        self.tabs.setAccessibleName(_("Parts of operations"))
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self._build_event_box()
        self.large.setText(_("Large"))
        self.large.setAccessibleName(_("Large mode"))
        self.large.setToolTip(f"{self.large.accessibleName()}  {ops_keys.LARGE.sequence}")
        self.large.setProperty("role", "bar")
        self._head, self._lines = row(theme, gap="medium"), QVBoxLayout()
        self._lines.setSpacing(theme.space("small"))
        self._lines.addLayout(self._head)
        for part in (self.tabs, self.event_box, self.state, self.large):
            self._head.addWidget(part, 1 if part is self.state else 0)
        beside = row(theme, gap="medium")
        self.panel = scrolling(self.admission)
        self.panel.setFixedWidth(_PANEL_PX)
        for page in (self.live, self.blockers, self.alarms, self.log):
            self._pages.addWidget(page)
        beside.addWidget(self._pages, 1)
        beside.addWidget(self.panel)
        face = QWidget()
        lines = column(theme, margin="medium", gap="small", parent=face)
        lines.addLayout(self._lines)
        lines.addWidget(self.banner)
        lines.addLayout(beside, 1)
        self._faces.addWidget(face)
        self._faces.addWidget(self.wall)
        self.wall.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.wall.setAccessibleName(_("Large mode"))
        whole = column(theme, parent=self)
        whole.addWidget(self._faces)
        self._show_tabs()
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self.event_box.currentIndexChanged.connect(self._on_event_changed)
        self.event_box.picked.connect(self.focus_first)
        self.banner.action_requested.connect(self._on_banner_closed)
        self.large.clicked.connect(self._on_large_clicked)

    def _build_event_box(self) -> None:
        self.event_box.setAccessibleName(_("Event"))
        self.event_box.setMinimumWidth(_EVENT_PX)
        self.event_box.setSizeAdjustPolicy(ChoiceBox.SizeAdjustPolicy.AdjustToContents)
        self.event_box.setProperty("role", "bar")

    def _on_tab_changed(self, place: int) -> None:
        self._pages.setCurrentIndex(place)
        self.panel.setVisible(place == LIVE)

    def _on_event_changed(self, place: int) -> None:
        chosen = self.event_box.itemData(place)
        if chosen is not None:
            self.event_chosen.emit(EventId(chosen))

    def _on_banner_closed(self) -> None:
        self.banner.clear()
        self.focus_first()

    def _on_large_clicked(self) -> None:
        self.show_large(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= _ONE_LINE_PX
        # A long name gives way to how things stand, which is read first.
        self.event_box.setMaximumWidth(max(_EVENT_PX, self.width() // 5) if beside else self.width() // 2)
        if beside != (self._head.indexOf(self.state) >= 0):
            self._head.removeWidget(self.state)
            self._lines.removeWidget(self.state)
            if beside:
                self._head.insertWidget(2, self.state, 1)
            else:
                self._lines.addWidget(self.state)

    # ------------------------------------------------------------ keys

    def event(self, event: QEvent) -> bool:
        """Keys that mean something here are not the counter's while the keyboard is on this screen."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._wish(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wish = self._wish(event)
        if wish is None or event.isAutoRepeat():
            super().keyPressEvent(event)
            return
        wish()
        event.accept()

    def _wish(self, event: QKeyEvent) -> Callable[[], None] | None:
        """What a key asks for; letters mean nothing while somebody types."""
        if event.key() == Qt.Key.Key_F11:
            return self._turn_large
        if event.key() == Qt.Key.Key_Escape and self._is_large:
            return self._turn_large
        if event.key() == Qt.Key.Key_Escape:
            return self._leave_field
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.event_box.hasFocus():
            return self.focus_first  # the event is chosen: letters are keys of the page again
        modified = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modified or isinstance(QApplication.focusWidget(), QLineEdit):
            return None
        admission = self.admission
        wishes: dict[int, Callable[[], None]] = {
            Qt.Key.Key_1: lambda: self.show_page(LIVE), Qt.Key.Key_2: lambda: self.show_page(BLOCKERS),
            Qt.Key.Key_3: lambda: self.show_page(ALARMS), Qt.Key.Key_4: lambda: self.show_page(LOG),
            Qt.Key.Key_S: self._to_admission,
            Qt.Key.Key_P: lambda: _press(admission.pause_event), Qt.Key.Key_R: self._press_room,
            Qt.Key.Key_K: lambda: _press(self.alarms.acknowledge), Qt.Key.Key_X: lambda: _press(self.blockers.end),
            Qt.Key.Key_L: lambda: _press(self.alarms.change),
        }  # fmt: skip
        return wishes.get(event.key())

    def _press_room(self) -> None:
        """A key that does nothing says why."""
        if self.admission.pause_room.isVisible() and self.admission.has_no_room:
            self.tell(advice_for("event-has-no-room"), self._board.event)
        else:
            _press(self.admission.pause_room)

    def _turn_large(self) -> None:
        self.show_large(not self._is_large)

    def _leave_field(self) -> None:
        """Esc belongs to this screen, whatever is open at the counter: it goes from what is typed to the charts."""
        if self.admission.isAncestorOf(QApplication.focusWidget() or QWidget()) or self.event_box.hasFocus():
            self.focus_first()

    def _to_admission(self) -> None:
        self.show_page(LIVE)
        self.admission.focus_first()

    @property
    def health(self) -> Health:
        """How things stand."""
        return state_of(self._board, self._steady()).health


def _press(button: AsyncButton) -> None:
    """As the mouse would, where it is shown and listens."""
    if button.isVisible() and button.isEnabled():
        button.click()
