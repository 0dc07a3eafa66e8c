"""How late the timers of a process's event loop are: how long somebody has kept it from everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

EVERY_S = 0.025
"""Nobody keeps the loop for longer than this unseen. Forty looks a second cost a thousandth of a core."""


class LoopLag:
    """The worst lateness of a timer that goes all the time: one a second would miss four stalls of 200 ms in five."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._worst_s = 0.0

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            due = self._clock() + EVERY_S
            await asyncio.sleep(EVERY_S)
            self._worst_s = max(self._worst_s, self._clock() - due)

    def take_worst_s(self) -> float:
        """The worst since it was asked last."""
        worst, self._worst_s = self._worst_s, 0.0
        return worst
