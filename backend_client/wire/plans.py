"""Venues and seating plans: versions, uploads, and the plan as it is drawn."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta, Raw, field

from backend_client.wire.base import EventId, Message, RequestMessage
from backend_client.wire.events import PriceCategory
from backend_client.wire.problems import FieldProblem
from backend_client.wire.states import EventStatus


class Venue(Message, frozen=True, kw_only=True):
    """A place that has seating plans; `zone` is its IANA time zone."""

    venue_id: UUID
    name: str
    zone: str


class VenueList(Message, frozen=True, kw_only=True):
    """All venues, by name."""

    venues: tuple[Venue, ...]
    server_time: datetime


class PlanVersion(Message, frozen=True, kw_only=True):
    """One version of a plan; it never changes."""

    version: int
    seat_count: int
    created_at: datetime


class PlanEvent(Message, frozen=True, kw_only=True):
    """An event on some version of a plan. `settings_version` is what a change of its plan names (`PlanChange`)."""

    event_id: EventId
    name: str
    starts_at: datetime
    zone: str
    status: EventStatus
    plan_version: int
    settings_version: int


class VenuePlan(Message, frozen=True, kw_only=True):
    """A plan with its versions, newest first, and the events on any of them, by their start."""

    plan_id: UUID
    name: str
    versions: tuple[PlanVersion, ...]
    events: tuple[PlanEvent, ...] = ()


class VenuePlanList(Message, frozen=True, kw_only=True):
    """The plans of a venue, by name."""

    venue: Venue
    plans: tuple[VenuePlan, ...]
    server_time: datetime


class PlanFile(RequestMessage, frozen=True, kw_only=True):
    """A plan file of any format that is read (docs/seating-plan-format.md), to hear what is in it; nothing is stored.

    `data` is the file (base64 in JSON), `name` the plan's where the format has none. `repairs` are names of what may be
    mended; without the member what is mended by itself. `seat_pattern` says how seats of an SVG are named.
    """

    data: bytes
    name: Annotated[str, Meta(max_length=200)] = ""
    repairs: Annotated[tuple[Annotated[str, Meta(max_length=40)], ...], Meta(max_length=20)] | None = None
    seat_pattern: Annotated[str, Meta(max_length=200)] = ""


class PlanFinding(Message, frozen=True, kw_only=True):
    """One thing at one place of a plan file: a JSON pointer, or line and column.

    `message` is English; `says` is the stable name of its sentence, and `values` are what stands in it, so that the
    sentence can be said in other languages. `repair` names what would mend a fault, or what mended a repair; empty when
    there is none.
    """

    pointer: str
    code: str
    message: str
    repair: str = ""
    says: str = ""
    values: dict[str, str | int | float] = field(default_factory=dict)


class PlanFileReport(Message, frozen=True, kw_only=True):
    """What is in a plan file and what is wrong with it; `plan` in our own format (a file, base64 in JSON)
    when there are no faults.

    Of faults, warnings and repairs the first 1,000 each are named, and all are counted. `offered` are repairs that
    would mend faults.
    """

    format: str
    seats: int
    ga_capacity: int
    sections: int
    categories: int
    fault_count: int = 0
    warning_count: int = 0
    repair_count: int = 0
    faults: tuple[PlanFinding, ...] = ()
    warnings: tuple[PlanFinding, ...] = ()
    repairs: tuple[PlanFinding, ...] = ()
    offered: tuple[str, ...] = ()
    plan: bytes | None = None


class PlanRepair(RequestMessage, frozen=True, kw_only=True):
    """What was mended at one place of a plan file."""

    pointer: Annotated[str, Meta(max_length=1_000)]
    code: Annotated[str, Meta(max_length=60, pattern="^[a-z][a-z-]*$")]
    message: Annotated[str, Meta(max_length=1_000)]


class PlanOriginNote(RequestMessage, frozen=True, kw_only=True):
    """Where a plan came from, as its author says, and what was mended on the way; kept with the plan and audited.

    `repair_counts` are all repairs by kind, `repairs` the first of them one by one.
    """

    format: Annotated[str, Meta(max_length=40, pattern="^[a-z-]*$")] = ""
    repair_counts: Annotated[dict[str, Annotated[int, Meta(ge=1, le=2**31 - 1)]], Meta(max_length=60)] = field(
        default_factory=dict
    )
    repairs: Annotated[tuple[PlanRepair, ...], Meta(max_length=200)] = ()


class PlanUpload(RequestMessage, frozen=True, kw_only=True):
    """A seating plan in our own format (docs/seating-plan-format.md), as the newest version of the plan of its name.

    `expected_version` is the newest version that its author knew of, 0 for a plan that is new; a plan that somebody
    else has changed meanwhile is refused (`plan-changed`). Without it nothing is compared. `origin`: it was read from a
    file of another kind.
    """

    plan: Raw
    expected_version: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    origin: PlanOriginNote | None = None


class SavedPlan(Message, frozen=True, kw_only=True):
    """Where a plan was stored. `is_new` is false when this very plan was there already: nothing was stored.

    `warnings` point into the body as the fields of a problem do.
    """

    plan_id: UUID
    version: int
    is_new: bool
    seat_count: int
    warnings: tuple[FieldProblem, ...] = ()


class PlanSection(Message, frozen=True, kw_only=True):
    """`floor_no` indexes `Plan.floors`; 0 in plans without floors."""

    name: str
    label_x: float
    label_y: float
    floor_no: int = 0


class PlanRow(Message, frozen=True, kw_only=True):
    """`section_no` indexes `Plan.sections`; seats of a row are contiguous in seat order and adjacent in that order.

    `row_text` and `seat_text` name the row and its seats in running text where the plan says more than the labels;
    `%s` in them stands for the label and the number.
    """

    section_no: int
    label: str
    first_seat: int
    seat_count: int
    label_position: str = ""
    row_text: str = ""
    seat_text: str = ""


class PlanArea(Message, frozen=True, kw_only=True):
    """A shape of the plan that holds no seat. `points` is x0, y0, x1, y1, … for polygons; sizes in plan units.

    `floor_no` is -1 for an area that is on every floor.
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
    floor_no: int = 0


class PlanPoint(Message, frozen=True, kw_only=True):
    """A point in plan units."""

    x: float
    y: float


class PlanFloor(Message, frozen=True, kw_only=True):
    """One of several levels that are drawn over each other and shown one at a time."""

    name: str


class PlanTable(Message, frozen=True, kw_only=True):
    """What stands in the middle of the seats of row `row_no`: a table, or the booth that is sold as one seat.

    `x`, `y` is its middle; `shape` is circle or rectangle; `rotation` in degrees, clockwise about the middle.
    `whole`: the source sells it as a whole; here its seats are sold one by one. `more_rows`: seats that came to the
    table in a later version of the plan are other rows, of the same label.
    """

    row_no: int
    kind: str
    shape: str
    x: float
    y: float
    width: float
    height: float
    rotation: float = 0.0
    whole: bool = False
    more_rows: tuple[int, ...] = ()


class PlanStanding(Message, frozen=True, kw_only=True):
    """A general-admission area: `name` is that of its tier in events made from the plan, `area` where it is drawn."""

    name: str
    capacity: int
    category_no: int
    area: PlanArea


class PlanPicture(Message, frozen=True, kw_only=True):
    """A picture under the plan, filling the rectangle: `image` is the file itself (PNG or JPEG, base64 in JSON)."""

    media_type: str
    image: bytes
    x: float
    y: float
    width: float
    height: float
    opacity: float = 1.0
    floor_no: int = 0


class PlanView(Message, frozen=True, kw_only=True):
    """What people see from a seat: an image for the seats of these `guids`, or, without any, for a whole section.

    `image` is the file itself (base64 in JSON), of the type that `media_type` names; it is never fetched from anywhere.
    """

    media_type: str
    image: bytes
    section: str = ""
    guids: tuple[str, ...] = ()


class PlanSeats(Message, frozen=True, kw_only=True):
    """Columns over all seats; the index is `seat_no`. `flags`: 1 accessible, 2 companion, 4 restricted view."""

    guid: tuple[str, ...]
    number: tuple[str, ...]
    row_no: tuple[int, ...]
    category_no: tuple[int, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    flags: tuple[int, ...]


class Plan(Message, frozen=True, kw_only=True):
    """A seating plan: static geometry, immutable by (plan_id, version), cacheable for ever (R13).

    `focal_point` is where people look when somebody said so; without it the stage is found among the texts of `areas`.
    """

    plan_id: UUID
    version: int
    name: str
    width: float
    height: float
    seat_radius: float
    categories: tuple[PriceCategory, ...]
    sections: tuple[PlanSection, ...]
    rows: tuple[PlanRow, ...]
    areas: tuple[PlanArea, ...]
    seats: PlanSeats
    focal_point: PlanPoint | None = None
    floors: tuple[PlanFloor, ...] = ()
    tables: tuple[PlanTable, ...] = ()
    standing: tuple[PlanStanding, ...] = ()
    views: tuple[PlanView, ...] = ()
    pictures: tuple[PlanPicture, ...] = ()
