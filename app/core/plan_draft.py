"""A seating plan while somebody draws it: what it is made of, what is chosen in it, and the way back and forth (R13).

A draft may be wrong in every way that a plan may not (`plan_faults` says how); the booking system takes it when it is
right. It is a value: each edit (`plan_edits`) gives a new one, and both share what they have in common, so that the way
back is the drafts before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntFlag
from typing import Final

from app.core.plan_geometry import SEAT_SHARE, Place, RowLine, Steps, line_of, steps_of, usual_step
from app.core.plan_memo import Memo

NO_CATEGORY: Final = 0
STEPS_KEPT: Final = 200


class SeatMark(IntFlag):
    """Marks of a seat, as plans number them."""

    NONE = 0
    ACCESSIBLE = 1
    COMPANION = 2
    RESTRICTED_VIEW = 4


EVERY_FLOOR = -1
"""The floor of an area that names none, in a plan with floors: it is shown on all of them."""


@dataclass(frozen=True, slots=True)
class DraftCategory:
    """A price category; what it costs is told by each event."""

    category_id: int
    name: str
    color: str


@dataclass(frozen=True, slots=True)
class DraftSeat:
    """`guid` stays the seat's own in every version of the plan; `number` is printed on it."""

    guid: str
    number: str
    x: float
    y: float
    category_id: int
    marks: SeatMark = SeatMark.NONE
    radius: float | None = None
    start_direction: str = ""

    @property
    def place(self) -> Place:
        return self.x, self.y


@dataclass(frozen=True, slots=True)
class DraftTable:
    """A table in the middle of its seats, or a booth: one seat with all that is in it (`plan_tables`).

    `kind` is table or booth, `shape` circle or rectangle; `x`, `y` its middle, `rotation` clockwise in degrees.
    `whole`: where the plan came from it is sold as a whole; here its seats are sold one by one.
    """

    kind: str
    shape: str
    x: float
    y: float
    width: float
    height: float
    rotation: float = 0.0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class DraftRow:
    """Seats in the order in which people sit."""

    row_id: int
    section_id: int
    label: str
    seats: tuple[DraftSeat, ...]
    label_position: str = ""
    row_text: str = ""
    seat_text: str = ""
    table: DraftTable | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(seat.place for seat in self.seats)

    @property
    def line(self) -> RowLine | None:
        """The line that its seats stand on; None without seats."""
        return line_of(self.places) if self.seats else None


@dataclass(frozen=True, slots=True)
class DraftSection:
    """A part of the hall that people can name."""

    section_id: int
    name: str
    key: str = ""
    floor_no: int = 0


@dataclass(frozen=True, slots=True)
class DraftShape:
    """What holds no seat: the stage, a bar, text.

    `x`, `y` is the upper left corner of a rectangle, the middle of a circle, an ellipse or a text, the origin of a
    polygon; `points` are absolute. The text stands in the middle of the shape unless it has a place of its own.
    """

    shape_id: int
    shape: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    points: tuple[Place, ...] = ()
    rotation: float = 0.0
    color: str = ""
    border_color: str = ""
    text: str = ""
    text_at: Place | None = None
    text_size: float = 16.0
    text_color: str = ""
    floor_no: int = 0


@dataclass(frozen=True, slots=True)
class DraftStanding:
    """Places without seats: general admission. In an event it is a tier of that name with that capacity."""

    name: str
    capacity: int
    category_id: int
    area: DraftShape


@dataclass(frozen=True, slots=True)
class DraftView:
    """What people see from seats, or with no `guids` from a whole section; the editor keeps it and does not show it.

    `image` is base64 as the file has it. A section is known by its id, so that it may be renamed; 0: none.
    """

    image: str
    section_id: int = 0
    guids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftPicture:
    """A picture under the drawing. `image` is base64 as the file has it; `picture_id` is an id as shapes have."""

    image: str
    x: float
    y: float
    width: float
    height: float
    opacity: float | None = None
    floor_no: int = 0
    picture_id: int = 0


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """All of it. `next_id` is the next free id of categories, sections, rows, shapes and pictures.

    `schema` is where a file says that its JSON Schema is.
    """

    name: str
    width: float
    height: float
    categories: tuple[DraftCategory, ...] = ()
    sections: tuple[DraftSection, ...] = ()
    rows: tuple[DraftRow, ...] = ()
    shapes: tuple[DraftShape, ...] = ()
    standing: tuple[DraftStanding, ...] = ()
    floors: tuple[str, ...] = ()
    focal: Place | None = None
    next_id: int = 1
    views: tuple[DraftView, ...] = ()
    pictures: tuple[DraftPicture, ...] = ()
    schema: str = ""

    @property
    def seat_count(self) -> int:
        return sum(len(row.seats) for row in self.rows)

    @property
    def distance(self) -> float:
        """The usual distance between two seats."""
        return usual_step(_STEPS.of((row for row in self.rows if row.table is None), lambda row: steps_of(row.places)))

    @property
    def seat_radius(self) -> float:
        """How large seats are drawn."""
        return self.distance * SEAT_SHARE

    def row(self, row_id: int) -> DraftRow | None:
        return next((row for row in self.rows if row.row_id == row_id), None)

    def section(self, section_id: int) -> DraftSection | None:
        return next((section for section in self.sections if section.section_id == section_id), None)

    def category(self, category_id: int) -> DraftCategory | None:
        return next((one for one in self.categories if one.category_id == category_id), None)

    def shape(self, shape_id: int) -> DraftShape | None:
        return next((shape for shape in self.all_shapes if shape.shape_id == shape_id), None)

    def picture(self, picture_id: int) -> DraftPicture | None:
        return next((picture for picture in self.pictures if picture.picture_id == picture_id), None)

    def standing_of(self, shape_id: int) -> DraftStanding | None:
        """The standing area that this shape is the area of."""
        return next((area for area in self.standing if area.area.shape_id == shape_id), None)

    @property
    def all_shapes(self) -> tuple[DraftShape, ...]:
        """Shapes and standing areas, in the order in which they are drawn."""
        return (*self.shapes, *(area.area for area in self.standing))

    def rows_of(self, section_id: int) -> tuple[DraftRow, ...]:
        return tuple(row for row in self.rows if row.section_id == section_id)


_STEPS: Final[Memo[DraftRow, Steps]] = Memo()


@dataclass(frozen=True, slots=True)
class Selection:
    """What is chosen: whole rows, single seats by guid, shapes and pictures by id. A seat of a chosen row is not named
    again.
    """

    rows: frozenset[int] = frozenset()
    seats: frozenset[str] = frozenset()
    shapes: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.rows or self.seats or self.shapes)

    def within(self, draft: PlanDraft) -> Selection:
        """Without what the draft does not have (any more)."""
        rows = self.rows & {row.row_id for row in draft.rows}
        seats = self.seats
        if seats:
            seats &= {seat.guid for row in draft.rows if row.row_id not in rows for seat in row.seats}
        shapes = {shape.shape_id for shape in draft.all_shapes} | {picture.picture_id for picture in draft.pictures}
        return Selection(rows, seats, self.shapes & shapes)

    def seats_in(self, draft: PlanDraft) -> tuple[DraftSeat, ...]:
        """All chosen seats, those of chosen rows too, in the order of the plan."""
        found: list[DraftSeat] = []
        for row in draft.rows:
            if row.row_id in self.rows:
                found += row.seats
            elif self.seats:
                found += [seat for seat in row.seats if seat.guid in self.seats]
        return tuple(found)


NOTHING: Final = Selection()


@dataclass(frozen=True, slots=True)
class Step:
    """A draft and what was chosen in it."""

    draft: PlanDraft
    selection: Selection = NOTHING


@dataclass(frozen=True, slots=True)
class History:
    """The way back and forth. `merge` names edits that belong together (typing into one field): one step back."""

    present: Step
    past: tuple[Step, ...] = ()
    future: tuple[Step, ...] = ()
    merge: str = ""

    @property
    def can_undo(self) -> bool:
        return bool(self.past)

    @property
    def can_redo(self) -> bool:
        return bool(self.future)

    def do(self, draft: PlanDraft, selection: Selection, merge: str = "") -> History:
        """After an edit; nothing when it changed nothing."""
        after = Step(draft, selection.within(draft))
        if draft == self.present.draft:
            return replace(self, present=after)
        if merge and merge == self.merge:
            return replace(self, present=after, future=())
        return History(after, (*self.past, self.present)[-STEPS_KEPT:], (), merge)

    def choose(self, selection: Selection) -> History:
        """After a change of what is chosen; that is no step of its own, and ends what belongs together."""
        return replace(self, present=replace(self.present, selection=selection), merge="")

    def undo(self) -> History:
        """One step back."""
        if not self.past:
            return self
        return History(self.past[-1], self.past[:-1], (self.present, *self.future))

    def redo(self) -> History:
        """One step forth."""
        if not self.future:
            return self
        return History(self.future[0], (*self.past, self.present), self.future[1:])
