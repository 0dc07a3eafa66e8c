"""The drawing as a whole: the transform of every element, what is shown, and where the middle of a shape is."""

from __future__ import annotations

from collections.abc import Sequence

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.model import MAX_COORDINATE, Point
from booking.domain.seating_plan.sayings import Says
from booking.domain.seating_plan.svg_geometry import (
    Matrix,
    about,
    length_of,
    numbers_of,
    parse_transform,
    path_points,
    points_of,
)
from booking.domain.seating_plan.svg_source import Element

_NEVER_SHOWN = frozenset(
    {"defs", "clipPath", "mask", "pattern", "symbol", "marker", "linearGradient", "radialGradient"}
)
_MAX_VISITS = 5_000  # for one seat, and 200 times that for all of them
_MAX_ALL_VISITS = 1_000_000
_MAX_USES = 20
_GROUPS = frozenset({"g", "a", "svg", "switch"})


def style_of(element: Element, name: str) -> str | None:
    """A property, from the style or the attribute of that name."""
    for part in element.attributes.get("style", "").split(";"):
        key, _, value = part.partition(":")
        if key.strip() == name:
            return value.strip()
    attribute = element.attributes.get(name)
    return None if attribute is None else attribute.strip()


class Drawing:
    """All elements, with matrices made once from parents to children."""

    def __init__(self, findings: Findings, elements: list[Element]) -> None:
        self.elements = elements
        self._findings = findings
        self._reported: set[str] = set()
        self._visits = self._all_visits = 0
        self.origin, self.size = _view(elements[0])
        self._matrices: list[Matrix] = []
        self._shown: list[bool] = []
        self._in_defs: list[bool] = []
        self._children: dict[int, list[int]] = {}
        self._ids: dict[str, int] = {}
        for index, element in enumerate(elements):
            above = self._matrices[element.parent] if element.parent >= 0 else Matrix()
            self._matrices.append(above.times(self._own_matrix(element)))
            parent_shown = self._shown[element.parent] if element.parent >= 0 else True
            self._shown.append(parent_shown and _is_shown(element))
            above_in_defs = self._in_defs[element.parent] if element.parent >= 0 else False
            self._in_defs.append(above_in_defs or element.tag in _NEVER_SHOWN)
            self._children.setdefault(element.parent, []).append(index)
            self._ids.setdefault(element.attributes.get("id", ""), index)

    def matrix(self, index: int) -> Matrix:
        return self._matrices[index]

    def is_shown(self, index: int) -> bool:
        return self._shown[index]

    def is_definition(self, index: int) -> bool:
        """Whether an element is only there to be used by others."""
        return self._in_defs[index]

    def outlines(self, index: int) -> list[list[Point]]:
        """The corners of an element's shape, transformed; of a group those of all in it."""
        self._visits = 0
        outlines = self._outlines(index, self._matrices[index], set())
        self._all_visits += self._visits
        return outlines

    def middle(self, index: int) -> Point | None:
        """The middle of what an element covers; None when it covers nothing that can be told."""
        points = [point for outline in self.outlines(index) for point in outline]
        if not points:
            return None
        xs, ys = [point.x for point in points], [point.y for point in points]
        x, y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        return Point(x, y) if max(abs(x), abs(y)) <= MAX_COORDINATE else None

    def _outlines(self, index: int, matrix: Matrix, seen: set[int]) -> list[list[Point]]:
        """`seen`: a `use` may point at what holds it. Uses of uses are bounded: each may double what there is."""
        element = self.elements[index]
        self._visits += 1
        is_endless = self._visits > _MAX_VISITS or self._all_visits > _MAX_ALL_VISITS
        if is_endless or len(seen) > _MAX_USES:
            self._report_endless(element)
            return []
        if element.tag in _GROUPS:
            children = self._children.get(index, ())
            return [
                outline
                for child in children
                for outline in self._outlines(child, matrix.times(self._own_matrix(self.elements[child])), seen)
            ]
        if element.tag == "use":
            return self._outlines_of_use(element, matrix, seen)
        return [[matrix.apply(point) for point in outline] for outline in shape_points(element)]

    def warn_not_kept(self, element: Element) -> None:
        """Say that from this element on shapes are left out."""
        self._findings.warn(element.pointer, FindingCode.NOT_KEPT, Says.SHAPES_TOO_MANY.of())

    def _report_endless(self, element: Element) -> None:
        if "uses" not in self._reported:
            self._reported.add("uses")
            message = Says.USES_TOO_MANY.of()
            self._findings.fault(element.pointer, FindingCode.TOO_MANY, message)

    def _outlines_of_use(self, element: Element, matrix: Matrix, seen: set[int]) -> list[list[Point]]:
        used = self._ids.get(element.attributes.get("href", "").removeprefix("#"), -1)
        if used < 0:
            return [[matrix.apply(Point(0.0, 0.0))]]
        if used in seen:
            return []
        target = self.elements[used]
        indices = self._children.get(used, []) if target.tag == "symbol" else [used]
        return [
            outline
            for index in indices
            for outline in self._outlines(index, matrix.times(self._own_matrix(self.elements[index])), seen | {used})
        ]

    def _own_matrix(self, element: Element) -> Matrix:
        matrix = self._transform_of(element)
        if element.tag == "use" or (element.tag == "svg" and element.parent >= 0):
            x, y = length_of(element.attributes.get("x"), 0.0), length_of(element.attributes.get("y"), 0.0)
            matrix = matrix.times(Matrix(e=x or 0.0, f=y or 0.0))
        if element.tag == "svg" and element.parent >= 0:
            matrix = matrix.times(_inner_view(element))
        return matrix

    def _transform_of(self, element: Element) -> Matrix:
        text = element.attributes.get("transform", "")
        if not text.strip():
            return Matrix()
        matrix = parse_transform(text)
        origin = style_of(element, "transform-origin")
        fixed = Point(0.0, 0.0) if origin is None else self._origin_of(element, origin)
        if matrix is None or fixed is None:
            self._report_transform(element, text if matrix is None else f"transform-origin: {origin}")
            return Matrix()
        return about(matrix, fixed)

    def _report_transform(self, element: Element, text: str) -> None:
        if element.pointer not in self._reported:
            self._reported.add(element.pointer)
            message = Says.TRANSFORM_UNREADABLE.of(text=text[:80], name=element.tag)
            self._findings.fault(element.pointer, FindingCode.TRANSFORM_UNKNOWN, message)

    def _origin_of(self, element: Element, text: str) -> Point | None:
        """The fixed point of a transform: lengths, or shares of the view box or of the shape itself."""
        words = [*text.split(), "50%", "50%"][:2]
        if words[0] in ("top", "bottom") or words[1] in ("left", "right"):
            words.reverse()
        low, size = Point(0.0, 0.0), self.size
        if style_of(element, "transform-box") in ("fill-box", "content-box", "stroke-box"):
            points = [point for outline in shape_points(element) for point in outline]
            xs, ys = [point.x for point in points], [point.y for point in points]
            low = Point(min(xs), min(ys)) if points else low
            size = (max(xs) - low.x, max(ys) - low.y) if points else None
        x = _along(words[0], low.x, None if size is None else size[0])
        y = _along(words[1], low.y, None if size is None else size[1])
        return None if x is None or y is None else Point(x, y)


def _along(word: str, low: float, size: float | None) -> float | None:
    """One coordinate of an origin."""
    word = {"left": "0%", "top": "0%", "center": "50%", "right": "100%", "bottom": "100%"}.get(word, word)
    if not word.endswith("%"):
        length = length_of(word)
        return None if length is None else low + length
    share = length_of(word[:-1])
    return None if share is None or size is None else low + size * share / 100


def shape_points(element: Element) -> list[list[Point]]:
    """The outline of a shape in its own coordinates; nothing for what is no shape or lacks its size."""
    match element.tag:
        case "circle" | "ellipse":
            return _round_points(element)
        case "rect" | "image" | "foreignObject":
            return _rectangle_points(element)
        case "polygon" | "polyline":
            points = points_of(element.attributes.get("points", ""))
            return [points] if points else []
        case "path":
            return path_points(element.attributes.get("d", ""))
        case "text":
            x, y = _lengths(element, "x", "y")
            return [] if x is None or y is None else [[Point(x, y)]]
    return []


def _round_points(element: Element) -> list[list[Point]]:
    cx, cy = _lengths(element, "cx", "cy")
    names = ("r", "r") if element.tag == "circle" else ("rx", "ry")
    rx, ry = _lengths(element, *names)
    if cx is None or cy is None or rx is None or ry is None:
        return []
    return [[Point(cx - rx, cy), Point(cx, cy - ry), Point(cx + rx, cy), Point(cx, cy + ry)]]


def _rectangle_points(element: Element) -> list[list[Point]]:
    x, y = _lengths(element, "x", "y")
    width, height = _lengths(element, "width", "height")
    if x is None or y is None or width is None or height is None:
        return []
    return [[Point(x, y), Point(x + width, y), Point(x + width, y + height), Point(x, y + height)]]


def _lengths(element: Element, *names: str) -> Sequence[float | None]:
    return [length_of(element.attributes.get(name), 0.0) for name in names]


def _is_shown(element: Element) -> bool:
    if element.tag in _NEVER_SHOWN or style_of(element, "display") == "none":
        return False
    return style_of(element, "visibility") not in ("hidden", "collapse")


def _view(root: Element) -> tuple[Point, tuple[float, float] | None]:
    """Where the drawing begins and how large it is, of its view box, else of its width and height."""
    box = numbers_of(root.attributes.get("viewBox", ""))
    if len(box) == 4 and min(box[2:]) >= 1.0 and max(map(abs, box)) <= MAX_COORDINATE:
        return Point(box[0], box[1]), (box[2], box[3])
    width, height = length_of(root.attributes.get("width")), length_of(root.attributes.get("height"))
    if width is not None and height is not None and min(width, height) >= 1.0:
        return Point(0.0, 0.0), (width, height)
    return Point(0.0, 0.0), None


def _inner_view(element: Element) -> Matrix:
    """A nested drawing's own view box, fitted into its width and height and centred, as it is by default."""
    box = numbers_of(element.attributes.get("viewBox", ""))
    width, height = length_of(element.attributes.get("width")), length_of(element.attributes.get("height"))
    if len(box) != 4 or not width or not height or min(box[2:]) <= 0:
        return Matrix()
    scale = min(width / box[2], height / box[3])
    dx = (width - scale * box[2]) / 2 - scale * box[0]
    dy = (height - scale * box[3]) / 2 - scale * box[1]
    return Matrix(scale, 0.0, 0.0, scale, dx, dy)
