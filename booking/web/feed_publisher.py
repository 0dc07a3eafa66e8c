"""When a projection's changes are shown: at most so many batches a second, the first one at once.

One publisher for each event and layout. Clients wait here instead of each having a queue: a client that is slow finds,
when it comes back, one larger delta, and when even the ring has moved past it, a resync. So nothing grows with a client
that is slow; what each costs that is connected, some 175 kB, is almost all the server's own buffer for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from backend_client.seat_frames import Layout

MIN_INTERVAL_S = {Layout.STAFF: 0.05, Layout.PUBLIC: 0.25}


class FeedPublisher:
    """Wakes waiting clients when the version shown has moved."""

    def __init__(self, min_interval_s: float, version_now: Callable[[], int]) -> None:
        self._min_interval_s = min_interval_s
        self._version_now = version_now
        self._shown = version_now()
        self._last_shown_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self._moved = asyncio.Event()

    @property
    def shown(self) -> int:
        """The version that clients are taken to."""
        return self._shown

    @property
    def shown_at(self) -> float:
        """Loop time at which it was shown."""
        return self._last_shown_at

    def changed(self) -> None:
        """The projection has moved: show it now, or when the interval since the last batch is over."""
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        due = self._last_shown_at + self._min_interval_s
        if loop.time() >= due:
            self._show()
        else:
            self._timer = loop.call_at(due, self._show)

    def restarted(self) -> None:
        """The projection was read anew: every client has to look."""
        self._cancel_timer()
        self._show()

    async def wait_moved(self, timeout_s: float) -> bool:
        """Wait until another batch is shown; False when `timeout_s` passed without one."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._moved.wait()
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        """Forget the timer."""
        self._cancel_timer()

    def _show(self) -> None:
        self._timer = None
        self._last_shown_at = asyncio.get_running_loop().time()
        self._shown = self._version_now()
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
