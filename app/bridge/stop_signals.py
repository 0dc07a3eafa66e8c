"""SIGTERM and SIGINT end the console as its own menu does: stage by stage, with exit code 0."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """Takes the process's stop signals until `close`. Only the main thread may take them."""

    def __init__(self, on_stop: Callable[[], None]) -> None:
        self._on_stop = on_stop
        self._loop = asyncio.get_running_loop()
        self._before: dict[signal.Signals, object] = {}
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._on_signal)
        # Python runs signal handlers between two bytecodes; Qt's loop may run none for minutes.
        self._pulse: asyncio.TimerHandle | None = None
        self._beat()

    def close(self) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal.signal gave is what it takes
        self._before.clear()
        if self._pulse is not None:
            self._pulse.cancel()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._loop.call_soon_threadsafe(self._on_stop)

    def _beat(self) -> None:
        self._pulse = self._loop.call_later(0.25, self._beat)
