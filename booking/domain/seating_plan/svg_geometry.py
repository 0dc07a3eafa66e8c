"""Geometry of SVG: transforms as matrices, numbers and lengths, the points of a path."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from booking.domain.seating_plan.model import MAX_COORDINATE, MAX_POINTS, Point

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBERS = re.compile(_NUMBER)
_LENGTH = re.compile(rf"\s*({_NUMBER})\s*(px|pt|pc|mm|cm|in)?\s*\Z")
_UNITS = {None: 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
_FUNCTION = re.compile(r"\s*,?\s*([a-zA-Z]+)\s*\(([^()]*)\)")
_PATH_TOKEN = re.compile(rf"([MmLlHhVvCcSsQqTtAaZz])|({_NUMBER})")
_ARITY = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_STEPS = 8


@dataclass(frozen=True, slots=True)
class Matrix:
    """x' = a·x + c·y + e, y' = b·x + d·y + f."""

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    e: float = 0.0
    f: float = 0.0

    def times(self, other: Matrix) -> Matrix:
        """First `other`, then this one."""
        return Matrix(
            self.a * other.a + self.c * other.b,
            self.b * other.a + self.d * other.b,
            self.a * other.c + self.c * other.d,
            self.b * other.c + self.d * other.d,
            self.a * other.e + self.c * other.f + self.e,
            self.b * other.e + self.d * other.f + self.f,
        )

    def apply(self, point: Point) -> Point:
        return Point(self.a * point.x + self.c * point.y + self.e, self.b * point.x + self.d * point.y + self.f)

    @property
    def scale(self) -> float:
        """How much longer a length becomes, on the average of all directions."""
        return math.sqrt(abs(self.a * self.d - self.b * self.c))

    @property
    def is_upright(self) -> bool:
        """Whether rectangles stay rectangles along the axes."""
        return abs(self.b) < 1e-9 and abs(self.c) < 1e-9


def length_of(text: str | None, default: float | None = None) -> float | None:
    """A length in user units; `default` when there is none, None when it is none that can be used (such as 50%)."""
    if text is None:
        return default
    found = _LENGTH.match(text)
    value = float(found[1]) * _UNITS[found[2]] if found else math.inf
    return value if abs(value) <= MAX_COORDINATE else None


def parse_transform(text: str) -> Matrix | None:
    """The matrix of a transform attribute; None when it cannot be read."""
    matrix, end = Matrix(), 0
    while (found := _FUNCTION.match(text, end)) is not None:
        values = [float(number) for number in _NUMBERS.findall(found[2])]
        step = _function(found[1], values)
        if step is None or not all(map(math.isfinite, values)):
            return None
        matrix = matrix.times(step)
        end = found.end()
    return matrix if not text[end:].strip(" \t\r\n,;") else None


def _function(name: str, values: Sequence[float]) -> Matrix | None:
    match name, len(values):
        case "matrix", 6:
            return Matrix(*values)
        case "translate", 1 | 2:
            return Matrix(e=values[0], f=values[1] if len(values) == 2 else 0.0)
        case "scale", 1 | 2:
            return Matrix(a=values[0], d=values[-1])
        case "rotate", 1:
            return _rotation(values[0])
        case "rotate", 3:
            there, back = Matrix(e=values[1], f=values[2]), Matrix(e=-values[1], f=-values[2])
            return there.times(_rotation(values[0])).times(back)
        case "skewX", 1:
            return Matrix(c=math.tan(math.radians(values[0])))
        case "skewY", 1:
            return Matrix(b=math.tan(math.radians(values[0])))
    return None


def _rotation(degrees: float) -> Matrix:
    angle = math.radians(degrees)
    return Matrix(math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle))


def about(matrix: Matrix, origin: Point) -> Matrix:
    """The matrix with another point than the origin as its fixed point (transform-origin)."""
    return Matrix(e=origin.x, f=origin.y).times(matrix).times(Matrix(e=-origin.x, f=-origin.y))


def numbers_of(text: str) -> list[float]:
    """All numbers in a list such as that of a viewBox or of polygon points."""
    return [float(number) for number in _NUMBERS.findall(text)]


def points_of(text: str) -> list[Point]:
    """The points of a polygon or polyline."""
    values = numbers_of(text)[: 2 * MAX_POINTS]
    return [Point(x, y) for x, y in zip(values[::2], values[1::2], strict=False)]


# ---------------------------------------------------------------- paths


def path_points(data: str) -> list[list[Point]]:
    """The sub-paths of path data as points: corners, and curves in steps. What follows a mistake is left out."""
    walker = _Path()
    for command, values in _path_steps(data):
        walker.step(command, values)
        if walker.count > MAX_POINTS or walker.steps > MAX_POINTS:
            break
    return [path for path in walker.paths if path]


def _path_steps(data: str) -> Iterator[tuple[str, list[float]]]:
    command, values = "", list[float]()
    for found in _PATH_TOKEN.finditer(data):
        if found[1]:
            if command and values:
                return  # numbers are missing: the rest of the path means nothing
            command = found[1]
            if command in "Zz":
                yield command, []
            continue
        if not command or command in "Zz":
            return
        values.append(float(found[2]))
        if len(values) == _ARITY[command.upper()]:
            yield command, values
            values = []
            command = {"M": "L", "m": "l"}.get(command, command)


class _Path:
    """The pen: where it is, where the sub-path began, and the last control point."""

    def __init__(self) -> None:
        self.paths: list[list[Point]] = []
        self.count = self.steps = 0
        self._at = self._start = self._control = Point(0.0, 0.0)
        self._last = ""

    def step(self, command: str, values: list[float]) -> None:
        self.steps += 1
        kind = command.upper()
        ends = self._absolute(command, values)
        if kind == "M":
            self.paths.append([])
            self._start = ends[-1]
            self._add(ends)
        elif kind == "Z":
            self._at = self._start
        elif kind in "CSQT":
            self._curve(kind, ends)
        elif kind == "A":
            self._add(_arc(self._at, values, ends[-1]))
        else:
            self._add(ends)
        self._last = kind

    def _absolute(self, command: str, values: list[float]) -> list[Point]:
        kind = command.upper()
        base = self._at if command.islower() else Point(0.0, 0.0)
        if kind == "H":
            return [Point(base.x + values[0], self._at.y)]
        if kind == "V":
            return [Point(self._at.x, base.y + values[0])]
        pairs = values[5:] if kind == "A" else values
        return [Point(base.x + x, base.y + y) for x, y in zip(pairs[::2], pairs[1::2], strict=True)]

    def _add(self, points: Sequence[Point]) -> None:
        if not self.paths:
            self.paths.append([])
        self.paths[-1].extend(points)
        self.count += len(points)
        if points:
            self._at = points[-1]

    def _curve(self, kind: str, points: list[Point]) -> None:
        """Cubic and quadratic curves as cubic ones; S and T begin with the mirrored control point of the last curve."""
        mirrored = Point(2 * self._at.x - self._control.x, 2 * self._at.y - self._control.y)
        if kind == "S":
            points = [mirrored if self._last in ("C", "S") else self._at, *points]
        elif kind == "T":
            points = [mirrored if self._last in ("Q", "T") else self._at, *points]
        self._control = points[-2]
        ends = [self._at, *points]
        self._add([_bezier(ends, step / _STEPS) for step in range(1, _STEPS + 1)])


def _bezier(points: list[Point], t: float) -> Point:
    """De Casteljau: any degree."""
    while len(points) > 1:
        points = [
            Point(one.x + (other.x - one.x) * t, one.y + (other.y - one.y) * t) for one, other in pairwise(points)
        ]
    return points[0]


def _arc(start: Point, values: list[float], end: Point) -> list[Point]:
    """Points on an elliptical arc: its centre as the SVG specification derives it (appendix B.2.4)."""
    rx, ry, turn = abs(values[0]), abs(values[1]), math.radians(values[2])
    if rx == 0 or ry == 0 or start == end:
        return [end]
    cos, sin = math.cos(turn), math.sin(turn)
    half_x, half_y = (start.x - end.x) / 2, (start.y - end.y) / 2
    x, y = cos * half_x + sin * half_y, cos * half_y - sin * half_x
    grow = math.sqrt(max(1.0, (x / rx) ** 2 + (y / ry) ** 2))
    rx, ry = rx * grow, ry * grow
    spread = max(0.0, 1.0 / ((x / rx) ** 2 + (y / ry) ** 2) - 1.0)
    factor = math.sqrt(spread) * (-1.0 if bool(values[3]) == bool(values[4]) else 1.0)
    cx, cy = factor * rx * y / ry, -factor * ry * x / rx
    middle = Point(cos * cx - sin * cy + (start.x + end.x) / 2, sin * cx + cos * cy + (start.y + end.y) / 2)
    first = math.atan2((y - cy) / ry, (x - cx) / rx)
    sweep = math.atan2((-y - cy) / ry, (-x - cx) / rx) - first
    if values[4] and sweep < 0:
        sweep += 2 * math.pi
    elif not values[4] and sweep > 0:
        sweep -= 2 * math.pi
    points = []
    for step in range(1, _STEPS):
        angle = first + sweep * step / _STEPS
        px, py = rx * math.cos(angle), ry * math.sin(angle)
        points.append(Point(middle.x + cos * px - sin * py, middle.y + sin * px + cos * py))
    return [*points, end]
