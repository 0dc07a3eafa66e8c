"""How often who waits is told to ask, so that one process can answer a line of any length."""

from __future__ import annotations

from typing import Final

POLLS_PER_S: Final = 2_500
"""How often a second those who wait may ask all together: whose turn is far is told to come no more often than that."""

SOONEST_S: Final = 2.0
LATEST_S: Final = 60.0
"""How seldom one is told to ask in a line that is not long."""

UNKNOWN_S: Final = 15.0
"""How seldom at least while nobody knows when the next one comes in."""

SPREAD: Final = 0.2
"""Each place asks so much sooner or later, always the same: no two clusters form."""

MISSES: Final = 2.5
"""Somebody is gone when he has not asked for so many times as long as he was told to wait."""


def asks_every_s(waiting: int, away_after_s: float, collect_within_s: float, to_turn_s: float | None) -> float:
    """Seconds between two questions of one who stands in a line of `waiting`, `to_turn_s` from his turn.

    None: nobody knows whose turn comes when. The line shares out `POLLS_PER_S`, so in a long one the far ones are told
    to ask seldom; who is near asks often enough to come in time for a turn that waits `collect_within_s`.
    """
    shared, farthest = waiting / POLLS_PER_S, longest_s(waiting, away_after_s)
    if to_turn_s is None:
        return min(max(UNKNOWN_S, shared), farthest)
    soonest = max(SOONEST_S, min(shared, collect_within_s / 3))
    return min(max(to_turn_s / 4, soonest), farthest)


def longest_s(waiting: int, away_after_s: float) -> float:
    """What one is told who stands at the end of a line of `waiting`."""
    return max(min(LATEST_S, away_after_s / 3), waiting / POLLS_PER_S)


def late_after_s(told_s: float, away_after_s: float) -> float:
    """How much longer than `away_after_s` is waited for one who was told to ask again after `told_s`."""
    return max(0.0, told_s * MISSES - away_after_s)
