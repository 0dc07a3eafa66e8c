"""Where people look: what the plan says, else the middle of the stage that it names, else a guess (R30).

Seats are ranked by their distance to that point. It is derived as the booking system derives it
(`booking/domain/seating_plan/derived.py`; a test holds both to each other), so that an author may see and correct it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from app.core.focal_point import names_focus
from app.core.plan_areas import bounds_of
from app.core.plan_draft import DraftRow, DraftShape, PlanDraft
from app.core.plan_geometry import Place, turned
from app.core.plan_memo import Memo


class FocusSource(StrEnum):
    """How the point is known."""

    PLAN = "plan"
    STAGE = "stage"
    UPPER_EDGE = "upper-edge"


def focus_of(draft: PlanDraft) -> tuple[Place, FocusSource]:
    """The point, and how it is known. Without seats the upper edge is that of the standing places, else the hall's."""
    if draft.focal is not None:
        return draft.focal, FocusSource.PLAN
    stages = [shape for shape in draft.shapes if names_focus(shape.text)]
    if stages:
        return _middle_of(max(stages, key=_size_of)), FocusSource.STAGE
    boxes = _BOXES.of((row for row in draft.rows if row.seats), _box_of)
    boxes = boxes or [_box_of_shape(one.area) for one in draft.standing]
    if not boxes:
        return (draft.width / 2, 0.0), FocusSource.UPPER_EDGE
    left, right = min(box[0] for box in boxes), max(box[1] for box in boxes)
    return ((left + right) / 2, min(box[2] for box in boxes)), FocusSource.UPPER_EDGE


def _box_of(row: DraftRow) -> tuple[float, float, float]:
    """Left, right and top of the seats of a row."""
    xs = [seat.x for seat in row.seats]
    return min(xs), max(xs), min(seat.y for seat in row.seats)


def _box_of_shape(shape: DraftShape) -> tuple[float, float, float]:
    """Left, right and top of a shape as it is drawn, turned about its place."""
    left, top, right, bottom = bounds_of(shape)
    corners = shape.points or ((left, top), (right, top), (right, bottom), (left, bottom))
    places = [turned(corner, (shape.x, shape.y), shape.rotation) for corner in corners]
    xs = [x for x, _y in places]
    return min(xs), max(xs), min(y for _x, y in places)


_BOXES: Final[Memo[DraftRow, tuple[float, float, float]]] = Memo()


def _size_of(shape: DraftShape) -> float:
    if shape.shape == "polygon":
        left, top, right, bottom = bounds_of(shape)
        return (right - left) * (bottom - top)
    return shape.width * shape.height


def _middle_of(shape: DraftShape) -> Place:
    left, top, right, bottom = bounds_of(shape)
    return turned(((left + right) / 2, (top + bottom) / 2), (shape.x, shape.y), shape.rotation)
