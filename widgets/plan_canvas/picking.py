"""What is under the pointer, and what a frame holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from PySide6.QtCore import QPointF, QRectF

from widgets.plan_canvas.scene import Box, CanvasRow, CanvasScene, CanvasSeat, CanvasShape, Chosen, Place
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
    """A handle of a chosen row, shape or picture, at a place in plan units."""

    grip: Grip
    key: int
    x: float
    y: float


def handles_of(scene: CanvasScene, chosen: Chosen) -> tuple[Handle, ...]:
    """The handles that are shown: of the one row, shape or picture that is chosen."""
    if len(chosen.rows) == 1 and not chosen.seats and not chosen.shapes:
        row = scene.row(next(iter(chosen.rows)))
        return () if row is None else _row_handles(scene, row)
    if len(chosen.shapes) == 1 and not chosen.seats and not chosen.rows:
        key = next(iter(chosen.shapes))
        shape = scene.shape(key)
        if scene.picture(key) is not None or (shape is not None and shape.may_resize):
            return _corner_of(scene, key)
    return ()


def _corner_of(scene: CanvasScene, key: int) -> tuple[Handle, ...]:
    box = scene.box_of(key)
    return () if box is None else (Handle(Grip.CORNER, key, box[2], box[3]),)


def _row_handles(scene: CanvasScene, row: CanvasRow) -> tuple[Handle, ...]:
    if row.table is not None:
        return () if row.table.rotation else _corner_of(scene, row.key)
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


def seat_at(scene: CanvasScene, view: CanvasView, at: QPointF) -> tuple[CanvasRow, CanvasSeat] | None:
    """The nearest seat under a pixel, with its row."""
    reach = max(scene.radius * view.scale, _LEAST_SEAT_PX) / view.scale
    point = view.to_plan(at)
    x, y = point.x(), point.y()
    best, nearest = None, reach
    for row in scene.rows:
        left, top, right, bottom = row.box
        if not (row.seats and left - reach <= x <= right + reach and top - reach <= y <= bottom + reach):
            continue
        distances = np.hypot(row.at[:, 0] - x, row.at[:, 1] - y)
        place = int(np.argmin(distances))
        if distances[place] <= nearest:
            best, nearest = (row, row.seats[place]), float(distances[place])
    return best


def table_at(scene: CanvasScene, view: CanvasView, at: QPointF) -> CanvasRow | None:
    """The row whose table is under a pixel."""
    point = view.to_plan(at)
    for row in reversed(scene.rows):
        table = row.table
        if table is None:
            continue
        turn = math.radians(-table.rotation)
        dx, dy = point.x() - table.x, point.y() - table.y
        across = dx * math.cos(turn) - dy * math.sin(turn)
        along = dx * math.sin(turn) + dy * math.cos(turn)
        if abs(across) <= table.width / 2 and abs(along) <= table.height / 2:
            return row
    return None


def shape_at(scene: CanvasScene, view: CanvasView, at: QPointF) -> CanvasShape | None:
    """The topmost shape under a pixel."""
    place = view.to_plan(at)
    for shape in reversed(scene.shapes):
        if _is_in(shape.bounds, place, _LEAST_SEAT_PX / view.scale):
            return shape
    return None


def _is_in(box: Box, place: QPointF, edge: float = 0.0) -> bool:
    left, top, right, bottom = box
    return left - edge <= place.x() <= right + edge and top - edge <= place.y() <= bottom + edge


def thing_at(scene: CanvasScene, chosen: Chosen, view: CanvasView, at: QPointF, *, alone: bool) -> Chosen:
    """The row of the seat under a pixel; with `alone`, or inside a row that is chosen in parts, the seat itself.

    A picture lies under everything and would be in the way of every frame: it is taken with `alone`, or while it is
    chosen already.
    """
    found = seat_at(scene, view, at)
    if found is not None:
        row, seat = found
        in_parts = bool(chosen.seats) and any(other.key in chosen.seats for other in row.seats)
        if alone or in_parts:
            return Chosen(seats=frozenset({seat.key}))
        return Chosen(rows=frozenset({row.key}))
    table = table_at(scene, view, at)
    if table is not None:
        return Chosen(rows=frozenset({table.key}))
    shape = shape_at(scene, view, at)
    if shape is not None:
        return Chosen(shapes=frozenset({shape.key}))
    place = view.to_plan(at)
    for picture in reversed(scene.pictures):
        if (alone or picture.key in chosen.shapes) and _is_in(picture.bounds, place):
            return Chosen(shapes=frozenset({picture.key}))
    return Chosen()


def anchor_of(scene: CanvasScene, chosen: Chosen) -> Place:
    """The point of what is chosen that snaps: the first seat, or the corner of the first shape or picture."""
    for row in scene.rows:
        for place in chosen.places_in(row):
            return row.seats[place].x, row.seats[place].y
    for thing in scene.laid:
        if thing.key in chosen.shapes:
            return thing.x, thing.y
    return 0.0, 0.0


def chosen_in(scene: CanvasScene, area: QRectF) -> Chosen:
    """What a frame holds: rows that are wholly inside, single seats of others, shapes wholly inside."""
    rows: set[int] = set()
    seats: set[str] = set()
    for row in scene.rows:
        x, y = row.at[:, 0], row.at[:, 1]
        inside = np.flatnonzero(
            (x >= area.left()) & (x <= area.right()) & (y >= area.top()) & (y <= area.bottom())
        )  # fmt: skip
        if len(inside) and len(inside) == len(row.seats):
            rows.add(row.key)
        else:
            seats.update(row.seats[place].key for place in inside)
    shapes = {shape.key for shape in scene.shapes if area.contains(box_rect(shape.bounds))}
    return Chosen(frozenset(rows), frozenset(seats), frozenset(shapes))


def box_rect(box: Box) -> QRectF:
    """A box as Qt has it."""
    return QRectF(QPointF(*box[:2]), QPointF(*box[2:]))


def bounds_of(scene: CanvasScene, chosen: Chosen) -> QRectF:
    """A box around everything chosen; null when nothing is."""
    box = QRectF()
    radius = scene.radius
    for row in scene.rows:
        if row.key in chosen.rows:
            box = box.united(box_rect(row.box).adjusted(-radius, -radius, radius, radius))
        elif chosen.seats:
            for place in chosen.places_in(row):
                seat = row.seats[place]
                box = box.united(QRectF(seat.x - radius, seat.y - radius, 2 * radius, 2 * radius))
    for thing in scene.laid:
        if thing.key in chosen.shapes:
            box = box.united(box_rect(thing.bounds))
    return box
