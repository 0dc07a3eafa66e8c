"""What a drawing shows besides seats: shapes and texts, as areas of the plan."""

from __future__ import annotations

import math
import re
from bisect import bisect_left

from booking.domain.seating_plan.labels import skeleton
from booking.domain.seating_plan.model import MAX_AREAS, MAX_LABEL, MAX_POINTS, Area, AreaShape, AreaText, Point
from booking.domain.seating_plan.svg_drawing import Drawing, shape_points, style_of
from booking.domain.seating_plan.svg_geometry import Matrix, length_of
from booking.domain.seating_plan.svg_source import Element

_SHAPES = frozenset({"rect", "circle", "ellipse", "polygon", "path"})
_MAX_CORNERS = 500_000
_MAX_LOOKS = 5_000_000
_FONT_SIZE = 16.0
_NEAR = 1.5  # font sizes: a number so near to a seat of that number is the seat's own
_LETTER = 0.55  # of the font size: the usual width of a letter
_HALF_HEIGHT = 0.35  # of the font size: from the base line to the middle of a letter
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[, ]\s*(\d{1,3})")
_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})\Z")
_NAMED = {
    "black": "#000000", "white": "#ffffff", "gray": "#808080", "grey": "#808080", "red": "#ff0000", "green": "#008000",
    "blue": "#0000ff", "yellow": "#ffff00", "orange": "#ffa500", "lightgray": "#d3d3d3", "lightgrey": "#d3d3d3",
    "silver": "#c0c0c0", "brown": "#a52a2a", "purple": "#800080", "navy": "#000080",
}  # fmt: skip


class SeatNumbers:
    """Where seats of each number stand: a text that says the number of the seat beside it is no text of the plan."""

    def __init__(self) -> None:
        self._places: dict[str, list[Point]] = {}
        self._is_sorted = False
        self._looks = _MAX_LOOKS

    def add(self, number: str, at: Point) -> None:
        self._places.setdefault(number, []).append(at)

    def names_neighbour(self, words: str, at: Point, size: float) -> bool:
        """Whether a seat of that number is so near. After very many looks the answer is no."""
        if not self._is_sorted:
            self._is_sorted = True
            for places in self._places.values():
                places.sort(key=_x)
        near = _NEAR * size
        places = self._places.get(words, [])
        first, end = bisect_left(places, at.x - near, key=_x), bisect_left(places, at.x + near, key=_x)
        self._looks -= end - first
        return self._looks > 0 and any(abs(seat.y - at.y) <= near for seat in places[first:end])


def _x(point: Point) -> float:
    return point.x


def areas_of(drawing: Drawing, seats: set[int], numbers: SeatNumbers) -> list[Area]:
    """The shapes and texts that are shown and belong to no seat, in the order of the drawing; at most 5,000."""
    areas: list[Area] = []
    inside = _insides(drawing, seats)
    corners = 0
    for index, element in enumerate(drawing.elements):
        if index in inside or not drawing.is_shown(index):
            continue
        if len(areas) >= MAX_AREAS or corners > _MAX_CORNERS:
            drawing.warn_not_kept(element)
            break
        if element.tag == "text":
            area = _text(element, drawing.matrix(index), numbers)
        else:
            area = _shape(element, drawing.matrix(index)) if element.tag in _SHAPES else None
        if area is not None:
            areas.append(area)
            corners += len(area.points)
    return areas


def _insides(drawing: Drawing, seats: set[int]) -> set[int]:
    """The seats' elements and all that is in them."""
    inside = set(seats)
    for index, element in enumerate(drawing.elements):
        if element.parent in inside:
            inside.add(index)
    return inside


def _shape(element: Element, matrix: Matrix) -> Area | None:
    outlines = shape_points(element)
    outline = max(outlines, key=len, default=[])[:MAX_POINTS]
    if element.tag in ("circle", "ellipse") and outline:
        return _round(element, outline, matrix)
    points = [_rounded(matrix.apply(point)) for point in outline]
    if len(points) < 3:
        return None
    xs, ys = [point.x for point in points], [point.y for point in points]
    width, height = round(max(xs) - min(xs), 3), round(max(ys) - min(ys), 3)
    fill, border = _color(element, "fill", ""), _color(element, "stroke", "")
    if element.tag == "rect" and matrix.is_upright:
        return Area(AreaShape.RECTANGLE, min(xs), min(ys), width, height, color=fill, border_color=border)
    corner = Point(min(xs), min(ys))
    return Area(AreaShape.POLYGON, corner.x, corner.y, width, height, tuple(points), 0.0, fill, border)


def _round(element: Element, outline: list[Point], matrix: Matrix) -> Area:
    left, top, right, bottom = outline
    middle = _rounded(matrix.apply(Point((left.x + right.x) / 2, (top.y + bottom.y) / 2)))
    across, down = matrix.apply(right), matrix.apply(bottom)
    width = round(2 * math.hypot(across.x - middle.x, across.y - middle.y), 3)
    height = round(2 * math.hypot(down.x - middle.x, down.y - middle.y), 3)
    rotation = (
        0.0 if matrix.is_upright else round(math.degrees(math.atan2(across.y - middle.y, across.x - middle.x)), 3)
    )
    kind = AreaShape.CIRCLE if abs(width - height) < 0.01 else AreaShape.ELLIPSE
    fill, border = _color(element, "fill", ""), _color(element, "stroke", "")
    return Area(kind, middle.x, middle.y, width, height, (), rotation, fill, border)


def _text(element: Element, matrix: Matrix, numbers: SeatNumbers) -> Area | None:
    words = " ".join(sign for sign in element.text.split() if sign.isprintable())[:MAX_LABEL]
    x, y = length_of(element.attributes.get("x"), 0.0), length_of(element.attributes.get("y"), 0.0)
    if not skeleton(words) or x is None or y is None:
        return None
    size = length_of(style_of(element, "font-size"), _FONT_SIZE) or _FONT_SIZE
    anchor = style_of(element, "text-anchor")
    half = len(words) * size * _LETTER / 2
    shift = {"middle": 0.0, "end": -half}.get(anchor or "", half)
    middle = _rounded(matrix.apply(Point(x + shift, y - size * _HALF_HEIGHT)))
    drawn = round(max(0.1, size * matrix.scale), 3)
    if numbers.names_neighbour(words, middle, drawn):
        return None
    rotation = 0.0 if matrix.is_upright else round(math.degrees(math.atan2(matrix.b, matrix.a)), 3)
    text = AreaText(words, middle.x, middle.y, drawn, _color(element, "fill", "#333333"))
    return Area(AreaShape.TEXT, middle.x, middle.y, rotation=rotation, text=text)


def _color(element: Element, name: str, default: str) -> str:
    value = (style_of(element, name) or "").strip().lower()
    if _HEX.match(value):
        digits = value[1:]
        return "#" + ("".join(digit * 2 for digit in digits) if len(digits) == 3 else digits)
    parts = _RGB.match(value)
    if parts:
        return "#" + "".join(f"{min(255, int(part)):02x}" for part in parts.groups())
    return _NAMED.get(value, default)


def _rounded(point: Point) -> Point:
    return Point(round(point.x, 3), round(point.y, 3))
