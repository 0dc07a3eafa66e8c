"""A seating plan, independent of every file format: categories, sections, rows, seats and shapes (R13).

All coordinates are absolute, in plan units, x to the right and y down. The place of a seat in (section, row, seat)
order is its `seat_no`: dense, from 0. Seats of a row stand in the order in which people sit; neighbours in that
order are adjacent, whatever their printed numbers say (odd and even halves, right to left).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntFlag, StrEnum

MAX_SEATS = 200_000
MAX_CATEGORIES = 64
MAX_SECTIONS = 2_000
MAX_ROWS = 50_000
MAX_AREAS = 5_000
MAX_STANDING = 1_000
MAX_FLOORS = 50
EVERY_FLOOR = -1
"""The floor of an area that names none, in a plan with floors: it is shown on all of them."""
MAX_PLACES = 10_000_000
MAX_POINTS = 5_000
MAX_LABEL = 200
MAX_COORDINATE = 1_000_000.0


class SeatFlag(IntFlag):
    """Marks of a seat; the values travel in the plan document. GONE: a number without a seat (see numbering.py)."""

    NONE = 0
    ACCESSIBLE = 1
    COMPANION = 2
    RESTRICTED_VIEW = 4
    GONE = 8


class LabelPosition(StrEnum):
    """At which end of a row its label is drawn."""

    NONE = ""
    START = "start"
    END = "end"
    BOTH = "both"


class AreaShape(StrEnum):
    RECTANGLE = "rectangle"
    CIRCLE = "circle"
    ELLIPSE = "ellipse"
    POLYGON = "polygon"
    TEXT = "text"


class TableKind(StrEnum):
    """Seats stand round a table; a booth is one seat that is sold with all that is in it."""

    TABLE = "table"
    BOOTH = "booth"


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Category:
    """A price category. `color` is `#rrggbb` or `#rrggbbaa`."""

    name: str
    color: str


@dataclass(frozen=True, slots=True)
class Seat:
    """`guid` identifies the seat across versions of its plan; `number` is what is printed on it.

    `start_direction` (`<`, `>`, `<>` or nothing) marks where ordered booking of the row starts; `radius` is None
    where the file gave none.
    """

    guid: str
    number: str
    x: float
    y: float
    category_no: int
    flags: SeatFlag = SeatFlag.NONE
    radius: float | None = None
    start_direction: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or booth: `shape` is circle or rectangle, `x`, `y` its middle, `rotation` clockwise about the middle.

    `whole`: where the plan came from, it is sold as a whole; here its seats are sold one by one.
    """

    kind: TableKind
    shape: AreaShape
    x: float
    y: float
    width: float
    height: float
    rotation: float = 0.0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """`label` is drawn on the plan; `row_text` and `seat_text` (may hold `%s`) name row and seat in running text.

    The seats round a `table` are a row too: in the order in which they go round it.
    """

    label: str
    seats: tuple[Seat, ...]
    label_position: LabelPosition = LabelPosition.NONE
    row_text: str = ""
    seat_text: str = ""
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the venue that people can name. `key` is the source's own short name of it, where it has one.

    `floor_no` indexes the floors of the plan; 0 in a plan without floors.
    """

    name: str
    rows: tuple[Row, ...]
    key: str = ""
    floor_no: int = 0


@dataclass(frozen=True, slots=True)
class AreaText:
    """Text at an absolute point, its middle there; `size` in plan units."""

    text: str
    x: float
    y: float
    size: float = 16.0
    color: str = "#333333"


@dataclass(frozen=True, slots=True)
class Area:
    """A shape that holds no seat: stage, pitch, bar, or text alone.

    `x`, `y` is the upper left corner of a rectangle, the centre of a circle or ellipse, the origin of a polygon, the
    place of a text; `width` and `height` are full sizes (diameters). `points` are absolute. `rotation` is in degrees,
    clockwise about (`x`, `y`).
    """

    shape: AreaShape
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    points: tuple[Point, ...] = ()
    rotation: float = 0.0
    color: str = ""
    border_color: str = ""
    text: AreaText | None = None
    floor_no: int = 0


@dataclass(frozen=True, slots=True)
class StandingArea:
    """General admission: `capacity` places of one category without seats, sold as a tier of that name (R11)."""

    name: str
    capacity: int
    category_no: int
    area: Area


@dataclass(frozen=True, slots=True)
class PlanPicture:
    """A picture under the drawing; it fills the rectangle at (`x`, `y`). `opacity` from 0 to 1."""

    media_type: str
    image: bytes
    x: float
    y: float
    width: float
    height: float
    opacity: float = 1.0
    floor_no: int = 0


@dataclass(frozen=True, slots=True)
class SeatView:
    """An image of what people see: from the seats of these guids, or, without any, from the section of that name."""

    media_type: str
    image: bytes
    section: str = ""
    guids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeatingPlan:
    """A whole plan. `width` and `height` bound the drawing; both are above 0.

    `focal` is where people look when the file or a person said so; None: it is derived (derived.py). `floors` are
    names of levels that lie over each other in the same coordinates.
    """

    name: str
    width: float
    height: float
    categories: tuple[Category, ...]
    sections: tuple[Section, ...]
    areas: tuple[Area, ...] = ()
    focal: Point | None = None
    floors: tuple[str, ...] = ()
    standing: tuple[StandingArea, ...] = ()
    views: tuple[SeatView, ...] = ()
    pictures: tuple[PlanPicture, ...] = ()
    _rows: tuple[tuple[int, Row], ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        rows = tuple((section_no, row) for section_no, section in enumerate(self.sections) for row in section.rows)
        object.__setattr__(self, "_rows", rows)

    def rows(self) -> tuple[tuple[int, Row], ...]:
        """All rows in order, each with the number of its section."""
        return self._rows

    def seats(self) -> Iterator[Seat]:
        """All seats in `seat_no` order."""
        for _, row in self._rows:
            yield from row.seats

    @property
    def seat_count(self) -> int:
        return sum(len(row.seats) for _, row in self._rows)

    @property
    def standing_capacity(self) -> int:
        return sum(area.capacity for area in self.standing)
