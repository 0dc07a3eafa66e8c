"""The wish to know more of a seat, bound to the question: by key, by the menu key, by a click with the other button.

While the panel is open it follows the keyboard from seat to seat, and asks anew when the map says that its seat
changed. Only the newest question counts; a slower answer to an older one is dropped.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from app.actions.desk import Desk
from app.actions.read_seat import read_seat
from app.bridge.deeds import Deeds
from app.core.errors import ConsoleError
from app.core.store import Change
from app.models.seat_view import view_from
from app.screens import keys
from app.screens.main_window import MainWindow
from app.screens.seat_detail_words import full_face, known_face
from app.screens.seat_details import SeatDetails
from app.screens.words import advice_for_error
from backend_client.errors import BookingClientError
from widgets.seat_map import SeatMapWidget

DEED = "seat-details"
_SETTLE_MS = 120
"""Whoever walks along a row passes seats that they do not ask about."""


class SeatDetailBindings(QObject):
    """Lives as long as the window; the screens behind it may be built anew."""

    def __init__(self, window: MainWindow, desk: Desk, deeds: Deeds) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._pointed = -1
        self._open_seat = -1
        self._shown_state = -1
        self._shown_event: int | None = None
        self._aloud = True
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_SETTLE_MS)
        self._later.timeout.connect(self._ask)
        self._unsubscribe = desk.store.subscribe(self._on_store_changed)
        window.destroyed.connect(self._unsubscribe)

    def connect_screens(self) -> None:
        """Connect the counter that was built just now."""
        self._later.stop()
        self._pointed = -1
        seat_map, details = self._map, self._details
        seat_map.seat_hovered.connect(self._on_seat_hovered)
        seat_map.seat_focused.connect(self._on_seat_focused)
        seat_map.installEventFilter(self)
        details.again_requested.connect(self._on_again_requested)
        details.closed.connect(self._on_closed)
        shortcut = QShortcut(QKeySequence(keys.DETAILS.sequence), seat_map)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.setAutoRepeat(False)
        shortcut.activated.connect(self._on_details_key)
        if self._open_seat >= 0:  # another language or another look: what was open stays open
            QTimer.singleShot(0, self, lambda: self.show(self._open_seat))

    @property
    def _map(self) -> SeatMapWidget:
        return self._window.screens.counter.map

    @property
    def _details(self) -> SeatDetails:
        return self._window.screens.counter.details

    # ------------------------------------------------------------ wishes

    def show(self, seat_no: int) -> None:
        """Show a seat: what is known at once, the rest when the booking system has answered."""
        if self._desk.store.plan is None or not 0 <= seat_no < self._map.plan.seat_count:
            return
        self._begin(seat_no)
        self._ask()

    def _begin(self, seat_no: int) -> None:
        store = self._desk.store
        view = b"" if store.plan is None else view_from(store.plan, seat_no)
        self._aloud = True
        self._open_seat = seat_no
        self._shown_state = self._state_of(seat_no)
        self._shown_event = self._event_id
        self._details.show_waiting(seat_no, known_face(store, seat_no), view)

    def _on_details_key(self) -> None:
        """The seat that the pointer or the keyboard came to last; on the seat that is shown, the key closes."""
        seat_no = self._pointed if self._pointed >= 0 else self._map.focused_seat
        if seat_no >= 0 and seat_no == self._details.seat_no:
            self._details.dismiss()
        else:
            self.show(seat_no)

    def _on_seat_hovered(self, seat_no: int) -> None:
        self._pointed = seat_no

    def _on_seat_focused(self, seat_no: int) -> None:
        """The keyboard moved on: it counts now, wherever the pointer rests; an open panel goes with it."""
        self._pointed = -1
        if self._details.isVisible() and 0 <= seat_no != self._details.seat_no:
            self._begin(seat_no)
            self._later.start()

    def _on_again_requested(self) -> None:
        self.show(self._details.seat_no)

    def _on_closed(self) -> None:
        self._open_seat = -1
        self._later.stop()
        self._deeds.cancel(DEED)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The menu key asks about the seat under the keyboard, the other mouse button about the one under it."""
        if isinstance(event, QContextMenuEvent) and isinstance(watched, SeatMapWidget):
            by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
            self.show(watched.focused_seat if by_key else watched.seat_at(QPointF(event.pos())))
            event.accept()
            return True
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------ the question

    def _ask(self) -> None:
        self._deeds.cancel(DEED)
        self._deeds.start(DEED, self._read)

    async def _read(self) -> None:
        """What cannot be read is said in the panel, and nowhere else: it is no part of a sale."""
        details, seat_no = self._details, self._details.seat_no
        event = self._desk.store.event
        try:
            answer = await read_seat(self._desk, seat_no)
        except (BookingClientError, ConsoleError) as error:
            if details is self._details and details.seat_no == seat_no:
                details.show_trouble(advice_for_error(error))
            return
        if details is self._details and details.seat_no == seat_no and event is not None:
            details.show_detail(full_face(answer, event.zone), aloud=self._aloud)

    def _on_store_changed(self, change: Change) -> None:
        """The seat that is shown changed on the map: ask anew, quietly. Another event: nothing is shown any more."""
        if not change & (Change.SEATS | Change.EVENT | Change.SESSION) or QApplication.closingDown():
            return
        details = self._details
        if details.seat_no < 0:
            return
        if (
            self._desk.store.session is None
            or self._event_id != self._shown_event
            or details.seat_no >= self._seat_count
        ):
            details.dismiss()
        elif self._state_of(details.seat_no) != self._shown_state:
            self._shown_state = self._state_of(details.seat_no)
            self._aloud = False
            self._later.start()

    @property
    def _event_id(self) -> int | None:
        event = self._desk.store.event
        return None if event is None else event.event_id

    @property
    def _seat_count(self) -> int:
        plan = self._desk.store.plan
        return 0 if plan is None else len(plan.seats.number)

    def _state_of(self, seat_no: int) -> int:
        seat_map = self._desk.store.seat_map
        return -1 if seat_map is None else int(seat_map.states[seat_no])
