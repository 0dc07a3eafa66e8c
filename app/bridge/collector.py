"""Python's cyclic garbage collection, kept in the interface's thread.

CPython collects in whichever thread happens to allocate. A window that died as part of a cycle would then be destroyed
in the devices' thread or in a worker: Qt cannot stop its timers from there ("Timers cannot be stopped from another
thread"), and the next tick reaches freed memory. So while the interface runs, automatic collection is off, and a timer
in the interface's thread collects: what is young every second, everything once a minute. By the clock, because the
counters behind the automatic thresholds fall again with each object that is freed: who looks now and then misses peaks.
"""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

TICK_MS: Final = 1_000
TICKS_UNTIL_FULL: Final = 60
_YOUNG: Final = 1
_ALL: Final = 2


class GuiThreadCollector(QObject):
    """Collects in the thread that made it, from `start` to `stop`."""

    def __init__(self, parent: QObject | None = None, *, tick_ms: int = TICK_MS) -> None:
        super().__init__(parent)
        self._was_automatic = False
        self._ticks = 0
        self._timer = QTimer(self)
        self._timer.setInterval(tick_ms)
        self._timer.timeout.connect(self._on_timer_timeout)

    def start(self) -> None:
        """Take over from the automatic collection."""
        self._was_automatic = gc.isenabled()
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Collect everything once, here, and give back to the automatic collection if it was on."""
        self._timer.stop()
        gc.collect()
        if self._was_automatic:
            gc.enable()

    def _on_timer_timeout(self) -> None:
        self._ticks += 1
        gc.collect(_ALL if self._ticks % TICKS_UNTIL_FULL == 0 else _YOUNG)
