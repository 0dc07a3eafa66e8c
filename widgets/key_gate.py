"""Enter and Space, told apart from a key that is only held down.

Some keyboards, remote desktops and X servers repeat a held key as releases and presses that do not say that they are
repeats. So a press counts only after a pause, and after the release of the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from PySide6.QtCore import Qt

PAUSE_S: Final = 0.3
"""Repeats come every 30 to 50 ms; nobody presses the same key twice on purpose so fast."""
FIRST_REPEAT_S: Final = 2.0
"""A press whose release went elsewhere is over after this long; the first repeat comes earlier."""
PRESSING_KEYS: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space})


class KeyGate:
    """One for the keyboard, so that a key held while the focus moves is known at the next button too."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._heard_at = float("-inf")
        self._is_down = False

    def press(self, *, repeats: bool = False) -> bool:
        """A key went down: True when a person has pressed it anew. `repeats` is what the event says of itself."""
        now = self._now()
        pause_s = now - self._heard_at
        still_down = self._is_down and pause_s < FIRST_REPEAT_S
        self._heard_at, self._is_down = now, True
        return not repeats and not still_down and pause_s >= PAUSE_S

    def release(self) -> None:
        """A key went up, or a repeat says so."""
        self._heard_at, self._is_down = self._now(), False

    def forget(self) -> None:
        """As if no key had been heard of yet."""
        self._heard_at, self._is_down = float("-inf"), False


keyboard = KeyGate()
