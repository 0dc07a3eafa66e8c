"""What a hand does with the mouse, told apart: click, drag to pan, rubber band, lasso, range.

A state machine over presses, moves and releases that knows no seat and no Qt; the widget asks it what a movement means.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

DRAG_FROM_PX = 6.0


class Gesture(Enum):
    NONE = auto()
    PRESSED = auto()  # may still become a click
    PANNING = auto()
    BANDING = auto()
    LASSOING = auto()


@dataclass(slots=True)
class Hand:
    """One press of a button, from down to up; positions in logical px."""

    gesture: Gesture = Gesture.NONE
    pans_only: bool = False
    drags: Gesture = Gesture.PANNING
    start_x: float = 0.0
    start_y: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def press(self, x: float, y: float, *, drags: Gesture, pans_only: bool) -> None:
        """A button went down; a drag will be `drags`, and `pans_only` for the middle button or a held space bar."""
        self.gesture = Gesture.PANNING if pans_only else Gesture.PRESSED
        self.drags, self.pans_only = drags, pans_only
        self.start_x, self.start_y, self.x, self.y = x, y, x, y

    def move(self, x: float, y: float) -> tuple[float, float]:
        """The pointer moved; how far to pan now, (0, 0) when this is no pan."""
        before_x, before_y = self.x, self.y
        self.x, self.y = x, y
        if self.gesture is Gesture.PRESSED:
            if max(abs(x - self.start_x), abs(y - self.start_y)) < DRAG_FROM_PX:
                return 0.0, 0.0
            self.gesture = self.drags
            before_x, before_y = self.start_x, self.start_y
        if self.gesture is Gesture.PANNING:
            return x - before_x, y - before_y
        return 0.0, 0.0

    def release(self) -> Gesture:
        """The button went up; what it was. PRESSED means a click."""
        ended, self.gesture = self.gesture, Gesture.NONE
        return ended

    def band(self) -> tuple[float, float, float, float]:
        """(left, top, right, bottom) of the rubber band."""
        return (
            min(self.start_x, self.x), min(self.start_y, self.y), max(self.start_x, self.x), max(self.start_y, self.y),
        )  # fmt: skip


@dataclass(slots=True)
class SpaceBar:
    """Space picks when tapped and pans when held with a drag."""

    held: bool = False
    dragged: bool = False

    def press(self, *, repeated: bool) -> None:
        """The bar went down, or repeats while held."""
        if not repeated:
            self.held, self.dragged = True, False

    def release(self) -> bool:
        """The bar went up; True when it was a tap."""
        tapped = self.held and not self.dragged
        self.held = self.dragged = False
        return tapped
