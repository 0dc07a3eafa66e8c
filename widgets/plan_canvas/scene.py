"""What a plan canvas is told to draw, and what of it is chosen. Coordinates are plan units, x right, y down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Place = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_LOOKS: list[tuple[str, int]] = []
_LOOK_NO: dict[tuple[str, int], int] = {}


def look_no(color: str, marks: int) -> int:
    """A number for a colour and marks; the same for the same, as long as the program runs."""
    found = _LOOK_NO.get((color, marks))
    if found is None:
        found = _LOOK_NO[color, marks] = len(_LOOKS)
        _LOOKS.append((color, marks))
    return found


def look_of(number: int) -> tuple[str, int]:
    """Colour and marks of a number."""
    return _LOOKS[number]


@dataclass(frozen=True, slots=True)
class CanvasSeat:
    """`color` is `#rrggbb`, empty without a category; `marks`: 1 accessible, 2 companion, 4 restricted view."""

    key: str
    x: float
    y: float
    color: str
    number: str
    marks: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class CanvasTable:
    """What stands in the middle of the seats of a row."""

    shape: str
    x: float
    y: float
    width: float
    height: float
    rotation: float


@dataclass(frozen=True, slots=True)
class CanvasRow:
    """`name` is spoken; `middle` is the point that bends the row, None where there is nothing to bend.

    `at` are the places of the seats, one line each, `looks` what they look like (`look_no`), `box` is around them and
    the table; `placed` fills them in.
    """

    key: int
    label: str
    name: str
    seats: tuple[CanvasSeat, ...]
    middle: Place | None = None
    bend: float = 0.0
    label_position: str = ""
    table: CanvasTable | None = None
    at: Floats = field(default_factory=lambda: np.empty((0, 2)), compare=False, repr=False)
    looks: Ints = field(default_factory=lambda: np.empty(0, np.int64), compare=False, repr=False)
    box: Box = (0.0, 0.0, 0.0, 0.0)

    def placed(self) -> CanvasRow:
        """With what follows from its seats and its table."""
        at = np.array([(seat.x, seat.y) for seat in self.seats], np.float64).reshape(-1, 2)
        looks = np.fromiter((look_no(seat.color, seat.marks) for seat in self.seats), np.int64, len(self.seats))
        corners = at
        if self.table is not None:
            reach = max(self.table.width, self.table.height) / 2
            middle = np.array([(self.table.x, self.table.y)])
            corners = np.concatenate((at, middle - reach, middle + reach))
        box = (0.0, 0.0, 0.0, 0.0)
        if len(corners):
            (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
            box = float(left), float(top), float(right), float(bottom)
        return replace(self, at=at, looks=looks, box=box)


@dataclass(frozen=True, slots=True)
class CanvasShape:
    """As shapes of plans are: `x`, `y` the upper left corner of a rectangle, the middle of everything else.

    `is_standing`: people stand there; such an area has an edge of its own.
    """

    key: int
    shape: str
    x: float
    y: float
    width: float
    height: float
    name: str
    points: tuple[Place, ...] = ()
    rotation: float = 0.0
    color: str = ""
    text: str = ""
    text_at: Place = (0.0, 0.0)
    text_size: float = 16.0
    bounds: Box = (0.0, 0.0, 0.0, 0.0)
    may_resize: bool = False
    is_standing: bool = False


@dataclass(frozen=True, slots=True)
class CanvasPicture:
    """A picture under the drawing: `image` is the file in base64. It is chosen as shapes are, by its key."""

    key: int
    image: str
    x: float
    y: float
    width: float
    height: float
    opacity: float
    name: str

    @property
    def bounds(self) -> Box:
        return self.x, self.y, self.x + self.width, self.y + self.height


@dataclass(frozen=True, slots=True)
class CanvasFocus:
    """Where people look; `is_derived`: nobody said so."""

    x: float
    y: float
    is_derived: bool


@dataclass(frozen=True)
class CanvasScene:
    """`grid` is the distance that places are snapped to; `wrong` are seats that the drawing rings as faulty.

    `aisles`: by row, the places of seats that have an aisle before them, None while neighbours are not shown.
    `ghosts` are seats that are gone and in the way of something.
    """

    width: float
    height: float
    radius: float
    rows: tuple[CanvasRow, ...] = ()
    shapes: tuple[CanvasShape, ...] = ()
    grid: float = 5.0
    wrong: frozenset[str] = frozenset()
    pictures: tuple[CanvasPicture, ...] = ()
    focus: CanvasFocus | None = None
    aisles: Mapping[int, tuple[int, ...]] | None = None
    ghosts: tuple[CanvasSeat, ...] = ()

    @cached_property
    def row_of_seat(self) -> dict[str, CanvasRow]:
        """The row of each seat, by the seat's key."""
        return {seat.key: row for row in self.rows for seat in row.seats}

    @cached_property
    def seat_of_key(self) -> dict[str, CanvasSeat]:
        """Each seat by its key."""
        return {seat.key: seat for row in self.rows for seat in row.seats}

    @cached_property
    def laid(self) -> tuple[CanvasShape | CanvasPicture, ...]:
        """Everything that is chosen by the key of a shape."""
        return (*self.shapes, *self.pictures)

    def row(self, key: int) -> CanvasRow | None:
        return next((row for row in self.rows if row.key == key), None)

    def shape(self, key: int) -> CanvasShape | None:
        return next((shape for shape in self.shapes if shape.key == key), None)

    def picture(self, key: int) -> CanvasPicture | None:
        return next((picture for picture in self.pictures if picture.key == key), None)

    def box_of(self, key: int) -> Box | None:
        """The box of what is resized by its corner: a shape, a picture, a table."""
        thing = self.shape(key) or self.picture(key)
        if thing is not None:
            return thing.bounds
        row = self.row(key)
        table = None if row is None else row.table
        if table is None:
            return None
        half_width, half_height = table.width / 2, table.height / 2
        return table.x - half_width, table.y - half_height, table.x + half_width, table.y + half_height


@dataclass(frozen=True, slots=True)
class Chosen:
    """Whole rows, single seats, shapes and pictures."""

    rows: frozenset[int] = frozenset()
    seats: frozenset[str] = frozenset()
    shapes: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.rows or self.seats or self.shapes)

    def places_in(self, row: CanvasRow) -> list[int]:
        """The places in the row whose seats are chosen."""
        if row.key in self.rows:
            return list(range(len(row.seats)))
        return [place for place, seat in enumerate(row.seats) if seat.key in self.seats] if self.seats else []

    def has_all(self, other: Chosen) -> bool:
        """Whether everything the other has is chosen."""
        return other.rows <= self.rows and other.seats <= self.seats and other.shapes <= self.shapes

    def toggled(self, other: Chosen) -> Chosen:
        """With what the other has and this has not, without what both have."""
        return Chosen(self.rows ^ other.rows, self.seats ^ other.seats, self.shapes ^ other.shapes)

    def with_all(self, other: Chosen) -> Chosen:
        """With what the other has too."""
        return Chosen(self.rows | other.rows, self.seats | other.seats, self.shapes | other.shapes)


NOTHING = Chosen()
