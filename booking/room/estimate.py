"""How long it still takes, honestly: from what was measured, with its spread; nothing where nothing is known (R19)."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from enum import StrEnum

WINDOW_S = 300.0
_SPREAD = 1.2816  # 10 % of a normal distribution lies beyond: eight of ten waits end between low and high
_LEAST_MEASURED = 5
_SET_RATE_SPREAD = 0.5


class Basis(StrEnum):
    """What an estimate rests on."""

    MEASURED = "measured"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds until somebody's turn: eight of ten wait between `low_s` and `high_s`."""

    expected_s: int
    low_s: int
    high_s: int
    basis: Basis


class Pace:
    """How fast people are let in, over the last `WINDOW_S` seconds in which people could be.

    An estimate goes by the time in which somebody stood in line: a line that was empty says nothing of how long one
    that is not will take.
    """

    def __init__(self) -> None:
        self._admitted: deque[tuple[float, int]] = deque()
        self._count = 0
        self._waited: deque[tuple[float, float]] = deque()
        self._waited_s = 0.0
        self._since: float | None = None

    def begin(self, now: float) -> None:
        """Admission starts (again): what was measured before a pause says nothing about now."""
        self._admitted.clear()
        self._waited.clear()
        self._count, self._waited_s, self._since = 0, 0.0, now

    def note(self, now: float, count: int) -> None:
        """`count` people were let in."""
        if self._since is None:
            self._since = now
        self._admitted.append((now, count))
        self._count += count

    def wait(self, now: float, seconds: float) -> None:
        """Until now somebody stood in line for so long."""
        self._waited.append((now, seconds))
        self._waited_s += seconds

    def estimate(self, ahead: int, now: float, set_per_minute: int) -> Estimate | None:
        """The wait of somebody with `ahead` people before him; None when nobody can know.

        Never faster than the rate that is set: those who found nobody before them waited less than it takes.
        """
        self._forget(now)
        turns, set_per_s = ahead + 1, set_per_minute / 60
        if self._count >= _LEAST_MEASURED and self._waited_s >= 1.0:
            # Arrivals of turns as a Poisson process whose rate is known from `count` of them.
            spread = math.sqrt(1 / turns + 1 / self._count)
            per_s = self._count / self._waited_s
            return _estimate(turns / (min(per_s, set_per_s) if set_per_s > 0 else per_s), spread, Basis.MEASURED)
        if set_per_s > 0:
            return _estimate(turns / set_per_s, math.sqrt(1 / turns + _SET_RATE_SPREAD**2), Basis.SET)
        return None

    def per_minute(self, now: float) -> float:
        """The measured rate by the clock; 0 when nothing was measured."""
        self._forget(now)
        span = 0.0 if self._since is None else min(WINDOW_S, now - self._since)
        return self._count * 60 / span if span >= 1.0 else 0.0

    def _forget(self, now: float) -> None:
        while self._admitted and self._admitted[0][0] <= now - WINDOW_S:
            self._count -= self._admitted.popleft()[1]
        while self._waited and self._waited[0][0] <= now - WINDOW_S:
            self._waited_s -= self._waited.popleft()[1]


def _estimate(expected: float, spread: float, basis: Basis) -> Estimate:
    """On a logarithmic scale: a wait is never below 0, and the long side is the longer one."""
    factor = math.exp(_SPREAD * min(spread, 1.5))
    return Estimate(_rounded(expected), _rounded(expected / factor), _rounded(expected * factor), basis)


def _rounded(seconds: float) -> int:
    """To what is honest at this distance: 5 s, half a minute, a minute."""
    step = 5 if seconds < 120 else 30 if seconds < 900 else 60
    return max(step, round(seconds / step) * step)
