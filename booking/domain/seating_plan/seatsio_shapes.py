"""Shapes of seats.io charts as areas of ours: their middle and turn about it become our corner and turn about that."""

from __future__ import annotations

import math
from collections.abc import Callable

from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import MAX_POINTS, Area, AreaShape, AreaText, Point

_Place = Callable[[Point], Point]
_STAGE = "stage"
_DEFAULT_TEXT_SIZE = 16.0


def read_ground(area: Members, place: _Place, scale: float, floor_no: int) -> Area | None:
    """The shape on which people stand, None after its faults were reported."""
    return _geometry(area, place, scale, floor_no, color="", border="", text=None)


def read_shape(shape: Members, place: _Place, scale: float, floor_no: int) -> Area | None:
    """A shape with its label; a stage without words is called one, so that it is found as what people look at."""
    kind = shape.text("type", required=False) or ""
    if kind not in ("rectangle", "circle", "polygon"):
        return None
    words = (shape.text("label", required=False) or "").strip()
    if not words and shape.text("smartType", required=False) == _STAGE:
        words = "Stage"
    size = shape.number("labelSize", required=False, minimum=0.1) or _DEFAULT_TEXT_SIZE
    middle = _middle(shape)
    text = None
    if words and middle is not None:
        at = place(middle)
        text = AreaText(words, at.x, at.y, round(size * scale, 6))
    return _geometry(
        shape,
        place,
        scale,
        floor_no,
        color=shape.color("fillColor", ""),
        border=shape.color("strokeColor", ""),
        text=text,
    )


def read_text(text: Members, place: _Place, scale: float, floor_no: int) -> Area | None:
    """Free text; nothing when it has no words or no place."""
    words = (text.text("text", required=False) or text.text("label", required=False) or "").strip()
    middle = _middle(text)
    if not words or middle is None:
        return None
    at = place(middle)
    size = text.number("fontSize", required=False, minimum=0.1) or text.number("size", required=False, minimum=0.1)
    written = AreaText(words, at.x, at.y, round((size or _DEFAULT_TEXT_SIZE) * scale, 6))
    rotation = text.number("rotationAngle", required=False) or 0.0
    return Area(AreaShape.TEXT, at.x, at.y, rotation=rotation, text=written, floor_no=floor_no)


def section_scale(section: Members, sub: Members, factor: float) -> float:
    """How much larger what is in a section is drawn than its own coordinates say.

    The chart's factor works in one direction or the other by version: the one by which the contents fit the outline.
    """
    if factor == 1.0 or not section.has("points"):
        return 1.0
    points = _points(section)
    width = sub.number("width", required=False, minimum=0.0)
    if len(points) < 2 or not width:
        return 1.0
    ratio = (max(point.x for point in points) - min(point.x for point in points)) / width
    return min((1.0, factor, 1.0 / factor), key=lambda scale: abs(scale - ratio))


def _geometry(
    shape: Members, place: _Place, scale: float, floor_no: int, *, color: str, border: str, text: AreaText | None
) -> Area | None:
    rotation = shape.number("rotationAngle", required=False) or 0.0
    if shape.has("points") and shape.text("type", required=False) not in ("circle", "rectangle"):
        return _polygon(shape, place, color, border, text, floor_no)
    middle = _middle(shape)
    if middle is None:
        shape.loose_point("center")  # says what is missing
        return None
    at = place(middle)
    if shape.text("type", required=False) == "circle":
        radius = shape.number("radius", required=False, minimum=0.0) or 0.0
        width = 2 * (shape.number("radius1", required=False, minimum=0.0) or radius) * scale
        height = 2 * (shape.number("radius2", required=False, minimum=0.0) or radius) * scale
        kind = AreaShape.CIRCLE if width == height else AreaShape.ELLIPSE
        corner = at
    else:
        width = (shape.number("width", minimum=0.0) or 0.0) * scale
        height = (shape.number("height", minimum=0.0) or 0.0) * scale
        kind, corner = AreaShape.RECTANGLE, _corner(at, width, height, rotation)
    return Area(
        kind,
        round(corner.x, 6),
        round(corner.y, 6),
        round(width, 6),
        round(height, 6),
        (),
        rotation,
        color,
        border,
        text,
        floor_no,
    )


def _corner(middle: Point, width: float, height: float, rotation: float) -> Point:
    """The corner about which the rectangle turns to lie where its turn about the middle would put it."""
    turn = math.radians(rotation)
    cos, sin = math.cos(turn), math.sin(turn)
    dx, dy = -width / 2, -height / 2
    return Point(middle.x + dx * cos - dy * sin, middle.y + dx * sin + dy * cos)


def _polygon(
    shape: Members, place: _Place, color: str, border: str, text: AreaText | None, floor_no: int
) -> Area | None:
    points = tuple(place(point) for point in _points(shape))
    if len(points) < 3:
        return None
    xs, ys = [point.x for point in points], [point.y for point in points]
    return Area(
        AreaShape.POLYGON, min(xs), min(ys), round(max(xs) - min(xs), 6), round(max(ys) - min(ys), 6), points, 0.0,
        color, border, text, floor_no,
    )  # fmt: skip


def _middle(shape: Members) -> Point | None:
    """The middle of a shape, if it has one."""
    if shape.has("center"):
        return shape.loose_point("center")
    if shape.has("x") and shape.has("y"):
        x, y = shape.number("x"), shape.number("y")
        return None if x is None or y is None else Point(x, y)
    points = _points(shape) if shape.has("points") else []
    if not points:
        return None
    xs, ys = [point.x for point in points], [point.y for point in points]
    return Point((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)


def _points(shape: Members) -> list[Point]:
    points = [
        shape.loose_point_of(value, "points", index)
        for index, value in enumerate(shape.items("points", limit=MAX_POINTS))
    ]
    return [point for point in points if point is not None]
