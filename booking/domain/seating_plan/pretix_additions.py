"""What we add to pretix seating plans, so that a plan goes out and comes in whole; other readers may ignore it.

On the plan: `taquilla_focal_point` {x, y}, `taquilla_floors` [name, …], `taquilla_standing` [{name, capacity, category,
area}], `taquilla_pictures` [{image, x, y, width, height, opacity, floor}], `taquilla_views` [{section|seats, image}].
On a zone or area: `taquilla_floor`, the number of its floor from 0; of an area also -1 for every floor. On a row:
`taquilla_table` {kind, shape, x, y, width, height, rotation, whole}, absolute. On a seat: `taquilla_flags`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from booking.domain.seating_plan.category_book import CategoryBook
from booking.domain.seating_plan.drafts import StandingDraft
from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import (
    MAX_FLOORS,
    MAX_PLACES,
    MAX_STANDING,
    AreaShape,
    PlanPicture,
    Point,
    SeatFlag,
    Table,
    TableKind,
)
from booking.domain.seating_plan.pictures import read_pictures
from booking.domain.seating_plan.pretix_areas import FLOOR, read_area
from booking.domain.seating_plan.sayings import Says

FLAGS, TABLE = "taquilla_flags", "taquilla_table"
FOCAL, FLOORS, STANDING = "taquilla_focal_point", "taquilla_floors", "taquilla_standing"
PICTURES, VIEWS = "taquilla_pictures", "taquilla_views"
PLAN_ADDITIONS = frozenset({FOCAL, FLOORS, STANDING, PICTURES, VIEWS})
FLAG_NAMES = {
    "accessible": SeatFlag.ACCESSIBLE,
    "companion": SeatFlag.COMPANION,
    "restricted-view": SeatFlag.RESTRICTED_VIEW,
}
_TABLE = frozenset({"kind", "shape", "x", "y", "width", "height", "rotation", "whole"})
_STANDING = frozenset({"name", "capacity", "category", "area"})
_ORIGIN = Point(0.0, 0.0)


@dataclass(slots=True)
class PlanAdditions:
    focal: Point | None = None
    floors: tuple[str, ...] = ()
    standing: list[StandingDraft] = field(default_factory=list)
    pictures: tuple[PlanPicture, ...] = ()


def read_plan_additions(findings: Findings, plan: Members, categories: CategoryBook) -> PlanAdditions:
    """The additions on the plan itself."""
    names = plan.texts(FLOORS, limit=MAX_FLOORS)
    standing = [
        read_standing(findings, Members(findings, value, f"{plan.at(STANDING)}/{index}"), categories)
        for index, value in enumerate(plan.items(STANDING, limit=MAX_STANDING, required=False))
    ]
    focal = plan.point(FOCAL) if plan.has(FOCAL) else None
    pictures = read_pictures(findings, plan, PICTURES, len(names))
    return PlanAdditions(focal, names, [area for area in standing if area is not None], pictures)


def read_standing(
    findings: Findings, members: Members, categories: CategoryBook, floor_member: str = FLOOR
) -> StandingDraft | None:
    """A standing area; None after its faults were reported."""
    members.warn_about_others(_STANDING)
    name = members.text("name")
    if name is not None and not name.strip():
        findings.fault(members.at("name"), FindingCode.TEXT_EMPTY, Says.STANDING_UNNAMED.of())
        return None
    capacity = members.whole("capacity", minimum=1, maximum=MAX_PLACES)
    category = members.text("category")
    shape = members.members("area")
    area = None if shape is None else read_area(findings, shape, _ORIGIN, floor_member=floor_member)
    if name is None or capacity is None or category is None or area is None:
        return None
    number = categories.number_of(category, members.at("category"))
    return StandingDraft(members.at("name"), name, capacity, number, area)


def read_floor(section: Members, member: str = FLOOR) -> int:
    """The number of a section's floor."""
    return section.whole(member, minimum=0, maximum=MAX_FLOORS - 1, required=False) or 0


def read_table(row: Members, member: str = TABLE) -> Table | None:
    """The table of a row, None when it has none or after a fault."""
    members = row.members(member) if row.has(member) else None
    if members is None:
        return None
    members.warn_about_others(_TABLE)
    kind = members.choice("kind", tuple(TableKind)) or TableKind.TABLE
    shape = members.choice("shape", (AreaShape.CIRCLE, AreaShape.RECTANGLE)) or AreaShape.CIRCLE
    x, y = members.number("x"), members.number("y")
    width, height = members.number("width", minimum=0.0), members.number("height", minimum=0.0)
    rotation = members.number("rotation", required=False) or 0.0
    whole = members.flag("whole")
    if x is None or y is None or width is None or height is None:
        return None
    return Table(TableKind(kind), AreaShape(shape), x, y, width, height, rotation, whole)


def read_flags(findings: Findings, seat: Members, member: str = FLAGS) -> SeatFlag:
    """The marks of a seat."""
    flags = SeatFlag.NONE
    for index, name in enumerate(seat.items(member, limit=len(FLAG_NAMES), required=False)):
        flag = FLAG_NAMES.get(name) if isinstance(name, str) else None
        if flag is None:
            wanted = ", ".join(f'"{item}"' for item in FLAG_NAMES)
            findings.fault(
                f"{seat.at(member)}/{index}", FindingCode.UNKNOWN_VALUE, Says.EXPECTED_ONE_OF.of(known=wanted)
            )
        else:
            flags |= flag
    return flags
