"""What a reader has taken from a file before anything is known to be right: the same for every format.

Drafts keep the place of each thing in its file, so that the rules over the whole plan (plan_rules.py) can say where.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from booking.domain.seating_plan.model import Area, Category, LabelPosition, PlanPicture, Point, SeatFlag, Table
from booking.domain.seating_plan.sayings import Thing


@dataclass(frozen=True, slots=True)
class Naming:
    """How a format calls things: the word for a section, and what leads from a thing's pointer to its members."""

    section_word: Thing = Thing.SECTION
    section: str = ""
    row: str = ""
    number: str = ""
    place: str = ""
    guid: str = ""
    guid_word: str = "id"
    guids_are_optional: bool = True


@dataclass(slots=True)
class SeatDraft:
    """`guid` and `uuid` are empty when missing; `at` is None when the place could not be read."""

    pointer: str
    guid: str
    uuid: str
    number: str
    at: Point | None
    category_no: int
    flags: SeatFlag = SeatFlag.NONE
    radius: float | None = None
    start_direction: str = ""


@dataclass(slots=True)
class RowDraft:
    pointer: str
    label: str
    position: LabelPosition = LabelPosition.NONE
    row_text: str = ""
    seat_text: str = ""
    seats: list[SeatDraft] = field(default_factory=list)
    table: Table | None = None


@dataclass(slots=True)
class SectionDraft:
    pointer: str
    name: str
    key: str = ""
    rows: list[RowDraft] = field(default_factory=list)
    floor_no: int = 0


@dataclass(slots=True)
class StandingDraft:
    """`name_at` points at the name."""

    name_at: str
    name: str
    capacity: int
    category_no: int
    area: Area


@dataclass(slots=True)
class PlanDraft:
    """Everything of one file. The lack of seats is reported at `seats_at`; `seat_items` counts broken ones too."""

    name: str
    seats_at: str
    categories: list[Category] = field(default_factory=list)
    unused_categories: list[str] = field(default_factory=list)
    sections: list[SectionDraft] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    standing: list[StandingDraft] = field(default_factory=list)
    size: tuple[float, float] | None = None
    focal: Point | None = None
    floors: tuple[str, ...] = ()
    seat_items: int = 0
    has_seats_member: bool = True
    pictures: tuple[PlanPicture, ...] = ()
