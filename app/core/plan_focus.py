"""Where people look: what the plan says, else the middle of the stage that it names, else a guess (R30).

Seats are ranked by their distance to that point. It is derived as the booking system derives it
(`booking/domain/seating_plan/derived.py`; a test holds both to each other), so that an author may see and correct it.
"""

from __future__ import annotations

from enum import StrEnum

from app.core.focal_point import names_focus
from app.core.plan_areas import bounds_of
from app.core.plan_draft import DraftShape, PlanDraft
from app.core.plan_geometry import Place, turned


class FocusSource(StrEnum):
    """How the point is known."""

    PLAN = "plan"
    STAGE = "stage"
    UPPER_EDGE = "upper-edge"


def focus_of(draft: PlanDraft) -> tuple[Place, FocusSource]:
    """The point, and how it is known; of a plan without seats the middle of the hall's upper edge."""
    if draft.focal is not None:
        return draft.focal, FocusSource.PLAN
    stages = [shape for shape in draft.shapes if names_focus(shape.text)]
    if stages:
        return _middle_of(max(stages, key=_size_of)), FocusSource.STAGE
    xs = [seat.x for row in draft.rows for seat in row.seats]
    if not xs:
        return (draft.width / 2, 0.0), FocusSource.UPPER_EDGE
    return ((min(xs) + max(xs)) / 2, min(seat.y for row in draft.rows for seat in row.seats)), FocusSource.UPPER_EDGE


def _size_of(shape: DraftShape) -> float:
    if shape.shape == "polygon":
        left, top, right, bottom = bounds_of(shape)
        return (right - left) * (bottom - top)
    return shape.width * shape.height


def _middle_of(shape: DraftShape) -> Place:
    left, top, right, bottom = bounds_of(shape)
    return turned(((left + right) / 2, (top + bottom) / 2), (shape.x, shape.y), shape.rotation)
