"""A seating plan in the form that the map draws: columns over seats, rows and sections.

The index of a seat is its `seat_no`. Coordinates are plan units with y downwards. Seats of a row are contiguous, in the
order in which they stand beside each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from widgets.seat_map.seat_bits import GONE_FLAG

Float32s = npt.NDArray[np.float32]
Int32s = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

MAX_SEATS = 1 << 24
EVERY_FLOOR = -1
"""Floor number of an area or a picture that belongs to no floor: it is shown on all of them."""


class SeatMapPlanError(ValueError):
    """Columns of a plan do not fit together."""

    code = "bad-seat-map-plan"


class SeatOutOfPlanError(IndexError):
    """A seat number that the shown plan does not have."""

    code = "seat-out-of-plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapArea:
    """A shape without seats: stage, pitch, bar, a text. `shape`: rectangle, circle, ellipse, polygon or text.

    A rectangle has its corner at (x, y); circle and ellipse their centre, `width` and `height` being diameters; points
    of a polygon (x0, y0, x1, y1, …) and the text's position are offsets from (x, y). `rotation` turns clockwise about
    (x, y), degrees. An empty colour means the theme's. `kind`: "" lies under the seats, "table" and "booth" stand
    between them, "standing" is an area of places without numbers, `text` being its name and `category_no` its price
    category, whose colour it has unless it has one of its own. `floor_no` may be EVERY_FLOOR.
    """

    shape: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    points: tuple[float, ...] = ()
    rotation: float = 0.0
    color: str = ""
    border_color: str = ""
    text: str = ""
    text_x: float = 0.0
    text_y: float = 0.0
    text_size: float = 0.0
    text_color: str = ""
    kind: str = ""
    floor_no: int = 0
    category_no: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class MapImage:
    """A picture under the plan: `data` is the picture itself (PNG or JPEG); nothing is ever fetched.

    It fills the rectangle at (x, y), plan units.
    """

    data: bytes
    x: float
    y: float
    width: float
    height: float
    opacity: float = 1.0
    floor_no: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeatMapPlan:
    """Static geometry. `flags`: 1 accessible, 2 companion, 4 restricted view, 8 gone: the seat was removed from the
    plan, its number stays. Row label position: start, end, both, "".

    `row_kind` says what a row is that is none: table, booth, "".
    `floor_name` names the floors of a plan that has several, `section_floor` indexes it.
    A category colour is `#RRGGBB`; empty means the theme's colour of that category number.
    """

    name: str
    x: Float32s
    y: Float32s
    category: Bytes
    row_no: Int32s
    flags: Bytes
    number: tuple[str, ...]
    row_section: Int32s
    row_label: tuple[str, ...]
    row_first: Int32s
    row_count: Int32s
    section_name: tuple[str, ...]
    section_x: Float32s
    section_y: Float32s
    category_name: tuple[str, ...]
    category_color: tuple[str, ...]
    row_label_position: tuple[str, ...] = ()
    row_kind: tuple[str, ...] = ()
    areas: tuple[MapArea, ...] = ()
    images: tuple[MapImage, ...] = ()
    floor_name: tuple[str, ...] = ()
    section_floor: tuple[int, ...] = ()
    seat_radius: float = 0.0
    width: float = 0.0
    height: float = 0.0
    seat_section: Int32s = field(init=False)
    gone: Flags = field(init=False)
    row_seats: Int32s = field(init=False)
    """How many seats of each row are there."""
    _present: SeatMapPlan | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._check_lengths()
        self._check_ranges()
        sections = self.row_section[self.row_no] if len(self.row_no) else np.empty(0, np.int32)
        object.__setattr__(self, "seat_section", sections)
        gone = (self.flags & np.uint8(GONE_FLAG)) != 0
        any_gone = bool(gone.any())
        object.__setattr__(self, "gone", gone)
        present = np.bincount(self.row_no[~gone], minlength=len(self.row_count)) if any_gone else self.row_count
        object.__setattr__(self, "row_seats", present.astype(np.int32))
        object.__setattr__(self, "_present", self._without_gone() if any_gone else None)

    @property
    def seat_count(self) -> int:
        """How many seats have a number, those that are gone among them."""
        return len(self.x)

    @property
    def present(self) -> SeatMapPlan:
        """The seats that are there, counted anew; sections and rows keep their numbers."""
        return self if self._present is None else self._present

    @property
    def present_seats(self) -> Indices:
        """Numbers of the seats that are there, ascending: `present` counts them from 0."""
        return np.flatnonzero(~self.gone)

    @property
    def row_ends(self) -> tuple[Int32s, Int32s]:
        """First and last seat that is there, of each row that has one; of an empty row the last is before the first."""
        if self._present is None:
            return self.row_first, self.row_first + self.row_count - 1
        first, last = self.row_first.copy(), self.row_first - 1
        seats = self.present_seats
        rows = self.row_no[seats]
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        ends = np.append(begins[1:], len(seats)) - 1 if len(seats) else begins
        first[rows[begins]], last[rows[begins]] = seats[begins], seats[ends]
        return first, last

    def present_in_row(self, row_no: int) -> Indices:
        """Numbers of the seats of a row that are there, in order."""
        seats = self.seats_of_row(row_no)
        return seats.start + np.flatnonzero(~self.gone[seats.start : seats.stop])

    def seats_of_row(self, row_no: int) -> range:
        """Seat numbers of a row, in order."""
        first = int(self.row_first[row_no])
        return range(first, first + int(self.row_count[row_no]))

    def _without_gone(self) -> SeatMapPlan:
        kept = np.flatnonzero(~self.gone)
        before = np.concatenate(([0], np.cumsum(~self.gone)))
        return replace(
            self, x=self.x[kept], y=self.y[kept], category=self.category[kept], row_no=self.row_no[kept],
            flags=self.flags[kept], number=tuple(self.number[seat] for seat in kept.tolist()),
            row_first=before[self.row_first].astype(np.int32), row_count=self.row_seats,
        )  # fmt: skip

    def kind_of(self, row: int) -> str:
        """What a row is that is none: table or booth; empty for a row."""
        return self.row_kind[row] if self.row_kind else ""

    def _check_lengths(self) -> None:
        groups = {
            "seat": (self.x, self.y, self.category, self.row_no, self.flags, self.number),
            "row": (self.row_section, self.row_label, self.row_first, self.row_count),
            "section": (self.section_name, self.section_x, self.section_y),
            "category": (self.category_name, self.category_color),
        }
        for name, columns in groups.items():
            if len({len(column) for column in columns}) != 1:
                raise SeatMapPlanError(f"the {name} columns of plan {self.name!r} differ in length")
        if self.row_label_position and len(self.row_label_position) != len(self.row_label):
            raise SeatMapPlanError(f"plan {self.name!r} has row label positions for some of its rows only")
        if self.row_kind and len(self.row_kind) != len(self.row_label):
            raise SeatMapPlanError(f"plan {self.name!r} has kinds for some of its rows only")
        if self.section_floor and len(self.section_floor) != len(self.section_name):
            raise SeatMapPlanError(f"plan {self.name!r} has floors for some of its sections only")

    def _check_ranges(self) -> None:
        count = self.seat_count
        if count > MAX_SEATS:
            raise SeatMapPlanError(f"a map shows at most {MAX_SEATS} seats, plan {self.name!r} has {count}")
        if not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            raise SeatMapPlanError(f"plan {self.name!r} has a seat without a finite position")
        _check_index("row", self.row_no, len(self.row_label))
        _check_index("section", self.row_section, len(self.section_name))
        _check_index("floor", np.array(self.section_floor, np.int64), max(1, len(self.floor_name)))
        _check_index("category", self.category, len(self.category_name))
        expected = np.repeat(np.arange(len(self.row_count)), self.row_count)
        order = np.argsort(self.row_first, kind="stable")
        if int(self.row_count.sum()) != count or not np.array_equal(
            self.row_no, np.repeat(order, self.row_count[order])
        ):
            raise SeatMapPlanError(f"rows of plan {self.name!r} are not contiguous: {len(expected)} seats in rows")


def _check_index(name: str, column: npt.NDArray[np.integer], count: int) -> None:
    if len(column) and (int(column.min()) < 0 or int(column.max()) >= count):
        raise SeatMapPlanError(f"a {name} index lies outside 0…{count - 1}")


def empty_plan() -> SeatMapPlan:
    """A plan with nothing in it: what a map shows before the first event."""
    return SeatMapPlan(
        name="", x=np.empty(0, np.float32), y=np.empty(0, np.float32), category=np.empty(0, np.uint8),
        row_no=np.empty(0, np.int32), flags=np.empty(0, np.uint8), number=(), row_section=np.empty(0, np.int32),
        row_label=(), row_first=np.empty(0, np.int32), row_count=np.empty(0, np.int32), section_name=(),
        section_x=np.empty(0, np.float32), section_y=np.empty(0, np.float32), category_name=(), category_color=(),
    )  # fmt: skip
