"""Areas of the pretix format: shapes of the second published variant, and the plain boxes of the first."""

from __future__ import annotations

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.members import Members, read_point
from booking.domain.seating_plan.model import EVERY_FLOOR, MAX_FLOORS, MAX_POINTS, Area, AreaShape, AreaText, Point
from booking.domain.seating_plan.sayings import Says

FLOOR = "taquilla_floor"
_AREA = frozenset({
    "shape", "position", "rotation", "color", "border_color", "text", "uuid",
    "rectangle", "circle", "ellipse", "polygon", "width", "height",
})  # fmt: skip
_TEXT = frozenset({"text", "position", "color", "size"})
_DEFAULT_TEXT_SIZE = 16.0
_DEFAULT_TEXT_COLOR = "#333333"
_FILL = ""  # no colour of its own: the theme of the map decides
_BORDER = ""


def read_area(
    findings: Findings, area: Members, zone_origin: Point, floor_no: int = 0, floor_member: str = FLOOR
) -> Area | None:
    """One area with absolute coordinates, or None after its faults were reported.

    It is on the floor that it names itself, else on `floor_no`; in a pretix file -1 is every floor.
    """
    area.warn_about_others(_AREA | {floor_member})
    least = EVERY_FLOOR if floor_member == FLOOR else 0
    own_floor = area.whole(floor_member, minimum=least, maximum=MAX_FLOORS - 1, required=False)
    shape = _shape_of(findings, area)
    offset = area.point("position", required=False)
    rotation = area.number("rotation", required=False) or 0.0
    if shape is None or offset is None:
        return None
    at = Point(zone_origin.x + offset.x, zone_origin.y + offset.y)
    size, points = _geometry(findings, area, shape, at)
    if size is None:
        return None
    text = _text_of(area, at, size)
    if shape is AreaShape.TEXT and text is None:
        return None  # a text without words draws nothing
    return Area(
        shape,
        at.x,
        at.y,
        size.x,
        size.y,
        points,
        rotation,
        area.color("color", _FILL),
        area.color("border_color", _BORDER),
        text,
        floor_no if own_floor is None else own_floor,
    )


def _shape_of(findings: Findings, area: Members) -> AreaShape | None:
    named = area.choice("shape", tuple(AreaShape))
    if named is not None:
        return AreaShape(named)
    if area.has("shape") or not area.is_object:
        return None
    for shape in (AreaShape.RECTANGLE, AreaShape.CIRCLE, AreaShape.ELLIPSE, AreaShape.POLYGON):
        if area.has(shape):
            return shape
    if area.has("width") or area.has("height"):
        return AreaShape.RECTANGLE
    if area.has("text"):
        return AreaShape.TEXT
    findings.fault(area.at("shape"), FindingCode.MEMBER_MISSING, Says.SHAPE_MISSING.of())
    return None


def _geometry(findings: Findings, area: Members, shape: AreaShape, at: Point) -> tuple[Point | None, tuple[Point, ...]]:
    """Full width and height, and the absolute points of a polygon; no size after a fault."""
    if shape is AreaShape.TEXT:
        return Point(0.0, 0.0), ()
    if shape is AreaShape.RECTANGLE and not area.has("rectangle") and area.has("width"):
        return _box(area), ()
    detail = area.members(shape)
    if detail is None:
        return None, ()
    if shape is AreaShape.RECTANGLE:
        return _box(detail), ()
    if shape is AreaShape.CIRCLE:
        radius = detail.number("radius", minimum=0.0)
        return None if radius is None else Point(2 * radius, 2 * radius), ()
    if shape is AreaShape.ELLIPSE:
        radii = detail.point("radius", minimum=0.0)
        return None if radii is None else Point(2 * radii.x, 2 * radii.y), ()
    return _polygon(findings, detail, at)


def _box(members: Members) -> Point | None:
    width, height = members.number("width", minimum=0.0), members.number("height", minimum=0.0)
    return None if width is None or height is None else Point(width, height)


def _polygon(findings: Findings, detail: Members, at: Point) -> tuple[Point | None, tuple[Point, ...]]:
    items = detail.items("points", limit=MAX_POINTS)
    points = [read_point(findings, item, f"{detail.at('points')}/{index}") for index, item in enumerate(items)]
    if detail.has("points") and len(items) < 3:
        findings.fault(detail.at("points"), FindingCode.OUT_OF_RANGE, Says.POLYGON_TOO_SHORT.of())
        return None, ()
    found = tuple(_absolute(at, point) for point in points if point is not None)
    if len(found) < 3 or len(found) < len(points):
        return None, ()
    xs, ys = [point.x for point in found], [point.y for point in found]
    return Point(round(max(xs) - min(xs), 6), round(max(ys) - min(ys), 6)), found


def _text_of(area: Members, at: Point, size: Point) -> AreaText | None:
    if not area.has("text"):
        return None
    if area.holds_text("text"):  # the first variant: words in the middle of the box
        plain = area.text("text") or ""
        return AreaText(plain, at.x + size.x / 2, at.y + size.y / 2) if plain.strip() else None
    text = area.members("text")
    if text is None:
        return None
    text.warn_about_others(_TEXT)
    words, offset = text.text("text"), text.point("position", required=False)
    height = text.number("size", required=False, minimum=0.1) or _DEFAULT_TEXT_SIZE
    color = text.color("color", _DEFAULT_TEXT_COLOR)
    if not words or not words.strip() or offset is None:
        return None
    middle = _absolute(at, offset)
    return AreaText(words, middle.x, middle.y, height, color)


def _absolute(at: Point, offset: Point) -> Point:
    """The sum, to a millionth of a unit, so that a written and re-read shape is the same shape."""
    return Point(round(at.x + offset.x, 6), round(at.y + offset.y, 6))
