"""What is looked at again and again while the console runs: the booking system, holds that end, the map, the terminal.

What a call or a message tells by itself is not asked for here.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer

from app.actions.desk import Desk
from app.actions.look_for_server import is_looking_worthwhile, look_for_server
from app.bridge.deeds import Deeds
from app.screens.device_lamps import DeviceLamps
from app.screens.main_window import MainWindow
from app.screens.sale_bindings import SaleBindings
from backend_client.feed_protocol import FeedState

_SECOND_MS: Final = 1000
_SERVER_LOOK_EVERY_S: Final = 3
_MAP_LOOK_EVERY_S: Final = 2
_TERMINAL_LOOK_EVERY_S: Final = 30
_LONGEST_PAUSE_S: Final = 60
"""Between two tries to follow a map that ended at once each time: a fault of ours is not told without end."""
_OPENING: Final = frozenset({"open-event", "start", "restore", "sign-in", "sign-out"})
"""Deeds that end the following of one event and may begin that of another."""


class SecondBindings(QObject):
    """One timer for all of it. `follow` follows the seats of the event that is open."""

    def __init__(
        self,
        window: MainWindow,
        desk: Desk,
        deeds: Deeds,
        sale: SaleBindings,
        lamps: DeviceLamps,
        follow: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._deeds = deeds
        self._sale = sale
        self._lamps = lamps
        self._follow = follow
        self._seconds = 0
        self._pause_s = _MAP_LOOK_EVERY_S
        self._follow_from = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_SECOND_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def start(self) -> None:
        """Begin."""
        self._timer.start()

    def _on_timer_timeout(self) -> None:
        if self._seconds % _SERVER_LOOK_EVERY_S == 0 and is_looking_worthwhile(self._desk):
            self._deeds.start("look-for-server", self._look_for_server)
        if self._seconds % _MAP_LOOK_EVERY_S == 0:
            self._follow_what_is_seen()
        self._seconds += 1
        self._sale.expire_if_due()
        if self._seconds % _TERMINAL_LOOK_EVERY_S == 0:
            self._lamps.look_if_free()

    def _follow_what_is_seen(self) -> None:
        """The map at the counter is followed, also after another event could not be opened in its place."""
        screens, store = self._window.screens, self._desk.store
        if screens.current is not screens.counter or store.event is None or store.session is None:
            return
        if store.feed_state is FeedState.LIVE:
            self._pause_s, self._follow_from = _MAP_LOOK_EVERY_S, 0
        if _OPENING & self._deeds.running or "follow-seats" in self._deeds.running:
            return
        if self._seconds >= self._follow_from:
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
            self._follow_from = self._seconds + self._pause_s
            self._deeds.start("follow-seats", self._follow)

    async def _look_for_server(self) -> None:
        await look_for_server(self._desk)
