"""What a plan does not say and a map needs: section label positions, a seat radius, the focal point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from booking.domain.seating_plan.labels import skeleton
from booking.domain.seating_plan.model import Area, AreaShape, Point, SeatingPlan, Section


class FocalSource(StrEnum):
    """Where the knowledge of what people look at comes from."""

    PLAN = "plan"
    CORRECTED = "corrected"
    STAGE = "stage"
    UPPER_EDGE = "upper-edge"


_DEFAULT_RADIUS = 10.0
_RADIUS_SHARE = 0.4  # of the distance to the nearest neighbour: seats never touch, gaps stay visible
_SAMPLE = 200
_FOCAL_WORDS = frozenset({
    "stage", "pitch", "field", "court", "screen", "arena", "ring", "rink", "podium",
    "palco", "relvado", "campo", "bühne", "spielfeld", "escenario", "scène", "palcoscenico",
    "舞台", "ステージ", "المسرح", "خشبة المسرح",
})  # fmt: skip


def section_label_point(section: Section) -> Point:
    """The middle of a section's seats, where its name is drawn; the origin for a section without seats."""
    seats = [seat for row in section.rows for seat in row.seats]
    if not seats:
        return Point(0.0, 0.0)
    count = len(seats)
    return Point(sum(seat.x for seat in seats) / count, sum(seat.y for seat in seats) / count)


def seat_radius(plan: SeatingPlan) -> float:
    """A radius at which seats do not touch: 0.4 of the median distance to the nearest neighbour, in plan units.

    Exact for up to 200 seats, by an even sample of 200 seats against all others beyond that. 10 when there is no
    neighbour (the default of the pretix format).
    """
    places = np.array([(seat.x, seat.y) for seat in plan.seats()], dtype=np.float64).reshape(-1, 2)
    if len(places) < 2:
        return _DEFAULT_RADIUS
    nearest = _nearest_distances(places)
    radius = round(float(np.median(nearest)) * _RADIUS_SHARE, 3)
    return radius if radius > 0 else _DEFAULT_RADIUS


def _nearest_distances(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    xs, ys = np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])
    step = max(1, len(places) // _SAMPLE)
    nearest: list[float] = []
    for index in range(0, len(places), step):
        squares = np.square(xs - xs[index]) + np.square(ys - ys[index])
        squares[index] = np.inf
        nearest.append(float(squares.min()))
    return np.array(nearest, dtype=np.float64) ** 0.5


def focal_point(plan: SeatingPlan) -> Point | None:
    """Where people look: what the plan says, else the middle of the largest area whose text names a stage or a pitch;
    None when none does.
    """
    return plan.focal or focal_point_of_areas(plan.areas)


def focal_with_source(plan: SeatingPlan) -> tuple[Point, FocalSource]:
    """Where people are taken to look when seats are ranked, and how that is known."""
    if plan.focal is not None:
        return plan.focal, FocalSource.PLAN
    stage = focal_point_of_areas(plan.areas)
    if stage is not None:
        return stage, FocalSource.STAGE
    places = [(seat.x, seat.y) for seat in plan.seats()]
    places = places or [corner for area in plan.standing for corner in corners_of(area.area)] or [(plan.width / 2, 0.0)]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    return Point((min(xs) + max(xs)) / 2, min(ys)), FocalSource.UPPER_EDGE


def focal_point_of_areas(areas: Sequence[Area]) -> Point | None:
    """As `focal_point`, of the areas of a plan."""
    named = [area for area in areas if area.text is not None and _names_focus(area.text.text)]
    if not named:
        return None
    return area_middle(max(named, key=lambda area: area.width * area.height))


def _names_focus(text: str) -> bool:
    folded = skeleton(text).casefold()
    return folded in _FOCAL_WORDS or any(word in _FOCAL_WORDS for word in folded.split())


def corners_of(area: Area) -> list[tuple[float, float]]:
    """Points that a shape, as it is drawn, reaches to."""
    if area.shape is AreaShape.POLYGON and area.points:
        points = [(point.x - area.x, point.y - area.y) for point in area.points]
    elif area.shape is AreaShape.RECTANGLE:
        points = [(0.0, 0.0), (area.width, 0.0), (area.width, area.height), (0.0, area.height)]
    else:
        dx, dy = area.width / 2, area.height / 2
        points = [(-dx, -dy), (dx, -dy), (dx, dy), (-dx, dy)]
    turn = math.radians(area.rotation)
    cos, sin = math.cos(turn), math.sin(turn)
    return [(area.x + x * cos - y * sin, area.y + x * sin + y * cos) for x, y in points]


def area_middle(area: Area) -> Point:
    """The middle of a shape as it is drawn, turned about its place."""
    if area.shape is AreaShape.RECTANGLE:
        dx, dy = area.width / 2, area.height / 2
    elif area.shape is AreaShape.POLYGON and area.points:
        xs, ys = [point.x for point in area.points], [point.y for point in area.points]
        dx, dy = (min(xs) + max(xs)) / 2 - area.x, (min(ys) + max(ys)) / 2 - area.y
    else:
        return Point(area.x, area.y)
    turn = math.radians(area.rotation)
    cos, sin = math.cos(turn), math.sin(turn)
    return Point(area.x + dx * cos - dy * sin, area.y + dx * sin + dy * cos)
