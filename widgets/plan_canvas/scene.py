"""What a plan canvas is told to draw, and what of it is chosen. Coordinates are plan units, x right, y down."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

Place = tuple[float, float]


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
    """`name` is spoken; `middle` is the point that bends the row, None where there is nothing to bend."""

    key: int
    label: str
    name: str
    seats: tuple[CanvasSeat, ...]
    middle: Place | None = None
    bend: float = 0.0
    label_position: str = ""
    table: CanvasTable | None = None


@dataclass(frozen=True, slots=True)
class CanvasShape:
    """As shapes of plans are: `x`, `y` the upper left corner of a rectangle, the middle of everything else."""

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
    bounds: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    may_resize: bool = False


@dataclass(frozen=True)
class CanvasScene:
    """`grid` is the distance that places are snapped to; `wrong` are seats that the drawing rings as faulty."""

    width: float
    height: float
    radius: float
    rows: tuple[CanvasRow, ...] = ()
    shapes: tuple[CanvasShape, ...] = ()
    grid: float = 5.0
    wrong: frozenset[str] = frozenset()

    @cached_property
    def row_of_seat(self) -> dict[str, CanvasRow]:
        """The row of each seat, by the seat's key."""
        return {seat.key: row for row in self.rows for seat in row.seats}

    @cached_property
    def seat_of_key(self) -> dict[str, CanvasSeat]:
        """Each seat by its key."""
        return {seat.key: seat for row in self.rows for seat in row.seats}

    def row(self, key: int) -> CanvasRow | None:
        return next((row for row in self.rows if row.key == key), None)

    def shape(self, key: int) -> CanvasShape | None:
        return next((shape for shape in self.shapes if shape.key == key), None)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Whole rows, single seats, shapes."""

    rows: frozenset[int] = frozenset()
    seats: frozenset[str] = frozenset()
    shapes: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.rows or self.seats or self.shapes)

    def has_seat(self, scene: CanvasScene, seat: CanvasSeat) -> bool:
        """Whether the seat is chosen, alone or with its row."""
        return seat.key in self.seats or scene.row_of_seat[seat.key].key in self.rows

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
