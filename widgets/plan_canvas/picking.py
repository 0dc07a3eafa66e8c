"""What is under the pointer, and what a frame holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QPointF, QRectF

from widgets.plan_canvas.scene import CanvasRow, CanvasScene, CanvasSeat, CanvasShape, Chosen, Place
from widgets.plan_canvas.view import CanvasView

HANDLE_PX = 11.0
_LEAST_SEAT_PX = 6.0
_BEND_LIFT_PX = 7.0


class Grip(Enum):
    """A handle that is dragged."""

    START = "start"
    END = "end"
    MIDDLE = "middle"
    CORNER = "corner"


@dataclass(frozen=True, slots=True)
class Handle:
    """A handle of a chosen row or shape, at a place in plan units."""

    grip: Grip
    key: int
    x: float
    y: float


def handles_of(scene: CanvasScene, chosen: Chosen) -> tuple[Handle, ...]:
    """The handles that are shown: of the one row or the one shape that is chosen."""
    if len(chosen.rows) == 1 and not chosen.seats and not chosen.shapes:
        row = scene.row(next(iter(chosen.rows)))
        return () if row is None else _row_handles(row)
    if len(chosen.shapes) == 1 and not chosen.seats and not chosen.rows:
        shape = scene.shape(next(iter(chosen.shapes)))
        if shape is not None and shape.may_resize:
            return (Handle(Grip.CORNER, shape.key, shape.bounds[2], shape.bounds[3]),)
    return ()


def _row_handles(row: CanvasRow) -> tuple[Handle, ...]:
    if len(row.seats) < 2:
        return ()
    first, last = row.seats[0], row.seats[-1]
    ends = (Handle(Grip.START, row.key, first.x, first.y), Handle(Grip.END, row.key, last.x, last.y))
    if row.middle is None:
        return ends
    return (*ends, Handle(Grip.MIDDLE, row.key, *row.middle))


def handle_at(scene: CanvasScene, chosen: Chosen, view: CanvasView, at: QPointF, lift_px: float) -> Handle | None:
    """The handle under a pixel. Handles stand `lift_px` away from the seats that they belong to (see `handle_px`)."""
    for handle in handles_of(scene, chosen):
        place = handle_px(scene, handle, view, lift_px)
        if math.hypot(place.x() - at.x(), place.y() - at.y()) <= HANDLE_PX:
            return handle
    return None


def handle_px(scene: CanvasScene, handle: Handle, view: CanvasView, lift_px: float) -> QPointF:
    """Where a handle is drawn: beyond the ends of its row, beside its middle, so that it covers no seat."""
    place = view.to_px(handle.x, handle.y)
    row = scene.row(handle.key)
    if row is None or handle.grip is Grip.CORNER or len(row.seats) < 2:
        return place
    start = view.to_px(row.seats[0].x, row.seats[0].y)
    end = view.to_px(row.seats[-1].x, row.seats[-1].y)
    length = math.hypot(end.x() - start.x(), end.y() - start.y()) or 1.0
    along = QPointF((end.x() - start.x()) / length, (end.y() - start.y()) / length)
    if handle.grip is Grip.MIDDLE:
        return place + QPointF(-along.y(), along.x()) * (scene.radius * view.scale + _BEND_LIFT_PX)
    return place + along * (lift_px if handle.grip is Grip.END else -lift_px)


def seat_at(scene: CanvasScene, view: CanvasView, at: QPointF) -> CanvasSeat | None:
    """The nearest seat under a pixel."""
    reach = max(scene.radius * view.scale, _LEAST_SEAT_PX)
    place = view.to_plan(at)
    best, nearest = None, reach / view.scale
    for row in scene.rows:
        for seat in row.seats:
            distance = math.hypot(seat.x - place.x(), seat.y - place.y())
            if distance <= nearest:
                best, nearest = seat, distance
    return best


def shape_at(scene: CanvasScene, view: CanvasView, at: QPointF) -> CanvasShape | None:
    """The topmost shape under a pixel."""
    place = view.to_plan(at)
    for shape in reversed(scene.shapes):
        left, top, right, bottom = shape.bounds
        edge = _LEAST_SEAT_PX / view.scale
        if left - edge <= place.x() <= right + edge and top - edge <= place.y() <= bottom + edge:
            return shape
    return None


def thing_at(scene: CanvasScene, chosen: Chosen, view: CanvasView, at: QPointF, *, alone: bool) -> Chosen:
    """The row of the seat under a pixel; with `alone`, or inside a row that is chosen in parts, the seat itself."""
    seat = seat_at(scene, view, at)
    if seat is not None:
        row = scene.row_of_seat[seat.key]
        in_parts = any(other.key in chosen.seats for other in row.seats)
        if alone or in_parts:
            return Chosen(seats=frozenset({seat.key}))
        return Chosen(rows=frozenset({row.key}))
    shape = shape_at(scene, view, at)
    return Chosen() if shape is None else Chosen(shapes=frozenset({shape.key}))


def anchor_of(scene: CanvasScene, chosen: Chosen) -> Place:
    """The point of what is chosen that snaps: the first seat, or the corner of the first shape."""
    for row in scene.rows:
        for seat in row.seats:
            if chosen.has_seat(scene, seat):
                return seat.x, seat.y
    for shape in scene.shapes:
        if shape.key in chosen.shapes:
            return shape.x, shape.y
    return 0.0, 0.0


def chosen_in(scene: CanvasScene, area: QRectF) -> Chosen:
    """What a frame holds: rows that are wholly inside, single seats of others, shapes wholly inside."""
    rows, seats = set(), set()
    for row in scene.rows:
        inside = [seat.key for seat in row.seats if area.contains(QPointF(seat.x, seat.y))]
        if inside and len(inside) == len(row.seats):
            rows.add(row.key)
        else:
            seats.update(inside)
    shapes = {
        shape.key
        for shape in scene.shapes
        if area.contains(QRectF(QPointF(*shape.bounds[:2]), QPointF(*shape.bounds[2:])))
    }
    return Chosen(frozenset(rows), frozenset(seats), frozenset(shapes))


def bounds_of(scene: CanvasScene, chosen: Chosen) -> QRectF:
    """A box around everything chosen; null when nothing is."""
    box = QRectF()
    radius = scene.radius
    for row in scene.rows:
        for seat in row.seats:
            if row.key in chosen.rows or seat.key in chosen.seats:
                box = box.united(QRectF(seat.x - radius, seat.y - radius, 2 * radius, 2 * radius))
    for shape in scene.shapes:
        if shape.key in chosen.shapes:
            box = box.united(QRectF(QPointF(*shape.bounds[:2]), QPointF(*shape.bounds[2:])))
    return box
