"""What a hand is doing on a plan canvas, from the press to the release: its preview, and the wish that comes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

from PySide6.QtCore import QPointF, QRectF

from widgets.plan_canvas.picking import Grip, Handle
from widgets.plan_canvas.scene import NOTHING, CanvasScene, Chosen, Place
from widgets.plan_canvas.snapping import Guides, Snapped

BEGINS_PX = 4.0


class Doing(Enum):
    """Kinds of gestures."""

    PRESS = "press"
    PAN = "pan"
    BAND = "band"
    MOVE = "move"
    GRIP = "grip"
    DRAW = "draw"


@dataclass(frozen=True, slots=True)
class Gesture:
    """One gesture. `start_px` in pixels, `start` and `at` in plan units (snapped where it snaps)."""

    doing: Doing
    start_px: QPointF
    start: Place
    at: Place
    chosen: Chosen = NOTHING
    handle: Handle | None = None
    adds: bool = False
    snapped: Snapped | None = None
    guides: Guides | None = None
    anchor: Place = (0.0, 0.0)

    @property
    def moved(self) -> tuple[float, float]:
        """By how much a MOVE moves."""
        return (0.0, 0.0) if self.snapped is None else (self.snapped.x, self.snapped.y)

    @property
    def frame(self) -> QRectF:
        """From start to here, in plan units."""
        return QRectF(QPointF(*self.start), QPointF(*self.at)).normalized()

    def has_begun(self, at_px: QPointF) -> bool:
        """Whether a press has become a drag."""
        return math.hypot(at_px.x() - self.start_px.x(), at_px.y() - self.start_px.y()) >= BEGINS_PX

    def moved_to(self, at: Place, snapped: Snapped | None) -> Gesture:
        """The pointer went on."""
        return replace(self, at=at, snapped=snapped)


def led(gesture: Gesture, place: Place, scale: float, *, free: bool) -> Gesture:
    """The gesture with the pointer at `place`; `free`: nothing snaps."""
    guides = Guides((), (), 0.0) if free or gesture.guides is None else gesture.guides
    dx, dy = place[0] - gesture.start[0], place[1] - gesture.start[1]
    if gesture.doing is Doing.MOVE:
        return gesture.moved_to(place, guides.snap_move(gesture.anchor, dx, dy, scale))
    if gesture.doing is Doing.GRIP and gesture.handle is not None:
        at = gesture.handle.x + dx, gesture.handle.y + dy
        return gesture.moved_to(at, guides.snap(*at, scale))
    if gesture.doing is Doing.DRAW:
        snapped = guides.snap(*place, scale)
        return gesture.moved_to((snapped.x, snapped.y), snapped)
    return gesture.moved_to(place, None)


@dataclass(frozen=True, slots=True)
class Shaped:
    """A row's new line."""

    start: Place
    end: Place
    bend: float

    @property
    def middle(self) -> Place:
        """The point that bends it."""
        nx, ny = _normal(self.start, self.end)
        return (
            (self.start[0] + self.end[0]) / 2 + nx * self.bend,
            (self.start[1] + self.end[1]) / 2 + ny * self.bend,
        )


def shaped_by(scene: CanvasScene, gesture: Gesture) -> Shaped | None:
    """The line that dragging a handle gives its row. The bend keeps its share of the length when an end is dragged."""
    handle = gesture.handle
    row = None if handle is None else scene.row(handle.key)
    if handle is None or row is None or handle.grip is Grip.CORNER or len(row.seats) < 2:
        return None
    start, end = (row.seats[0].x, row.seats[0].y), (row.seats[-1].x, row.seats[-1].y)
    at = gesture.at if gesture.snapped is None else (gesture.snapped.x, gesture.snapped.y)
    if handle.grip is Grip.MIDDLE:
        return Shaped(start, end, _bend_at(start, end, gesture.at))
    new_start, new_end = (at, end) if handle.grip is Grip.START else (start, at)
    before = math.dist(start, end) or 1.0
    return Shaped(new_start, new_end, row.bend * math.dist(new_start, new_end) / before)


def sized_by(scene: CanvasScene, gesture: Gesture) -> Place | None:
    """Width and height that dragging its corner gives a shape, a picture or a table."""
    box = None if gesture.handle is None else scene.box_of(gesture.handle.key)
    if box is None or gesture.snapped is None:
        return None
    left, top, _right, _bottom = box
    least = scene.grid or 1.0
    return max(gesture.snapped.x - left, least), max(gesture.snapped.y - top, least)


def _bend_at(start: Place, end: Place, at: Place) -> float:
    nx, ny = _normal(start, end)
    bend = (at[0] - (start[0] + end[0]) / 2) * nx + (at[1] - (start[1] + end[1]) / 2) * ny
    half = math.dist(start, end) / 2
    return 0.0 if abs(bend) < half * 0.02 else max(-half, min(bend, half))


def _normal(start: Place, end: Place) -> Place:
    length = math.dist(start, end) or 1.0
    return -(end[1] - start[1]) / length, (end[0] - start[0]) / length
