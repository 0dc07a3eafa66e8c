"""Reader of our own plan format, `taquilla_plan` version 1: everything that the model holds, in one readable file.

`docs/seating-plan-format.md` describes it, `docs/seating-plan.schema.json` is its schema.
"""

from __future__ import annotations

from booking.domain.seating_plan.category_book import CategoryBook, palette_color
from booking.domain.seating_plan.drafts import Naming, PlanDraft, RowDraft, SeatDraft, SectionDraft
from booking.domain.seating_plan.faults import FindingCode, Findings, PlanCounts, PlanReading
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import (
    EVERY_FLOOR,
    MAX_AREAS,
    MAX_CATEGORIES,
    MAX_FLOORS,
    MAX_ROWS,
    MAX_SEATS,
    MAX_SECTIONS,
    MAX_STANDING,
    Area,
    LabelPosition,
    Point,
)
from booking.domain.seating_plan.pictures import read_pictures
from booking.domain.seating_plan.plan_rules import finish
from booking.domain.seating_plan.plan_views import with_views
from booking.domain.seating_plan.pretix_additions import read_flags, read_floor, read_standing, read_table
from booking.domain.seating_plan.pretix_areas import read_area
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.sayings import Says, Thing

FORMAT = "taquilla"
MARK = "taquilla_plan"
VERSION = 1
_NAMING = Naming(section="/name", row="/label", number="/number", guid="/id")
_PLAN = frozenset({
    MARK, "name", "size", "focal_point", "floors", "categories", "sections", "areas", "standing", "views",
    "pictures",
    "$schema",
})  # fmt: skip
_CATEGORY = frozenset({"name", "color"})
_SECTION = frozenset({"name", "key", "floor", "rows"})
_ROW = frozenset({"label", "label_position", "row_text", "seat_text", "table", "seats"})
_SEAT = frozenset({"id", "number", "x", "y", "category", "marks", "radius", "start_direction"})
_ORIGIN = Point(0.0, 0.0)


def read_own_value(value: object, findings: Findings) -> PlanReading:
    """Read a plan of parsed JSON; never raises."""
    members = Members(findings, value, "")
    version = members.whole(MARK, minimum=1, maximum=1_000_000)
    if version is not None and version != VERSION:
        message = Says.VERSION_UNREADABLE.of(version=version, known=VERSION)
        findings.fault(members.at(MARK), FindingCode.UNKNOWN_VERSION, message)
    if version != VERSION:
        return findings.reading(FORMAT, None, PlanCounts())
    return _OwnReader(findings).read(members)


class _OwnReader:
    """One reading of one file."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._categories = CategoryBook(findings)
        self._seat_items = 0

    def read(self, plan: Members) -> PlanReading:
        plan.warn_about_others(_PLAN)
        name = (plan.text("name") or "").strip()
        self._read_categories(plan)
        sections = [
            self._read_section(self._item(plan, "sections", index, value))
            for index, value in enumerate(plan.items("sections", limit=MAX_SECTIONS))
        ]
        standing = [
            read_standing(self._findings, self._item(plan, "standing", index, value), self._categories, "floor")
            for index, value in enumerate(plan.items("standing", limit=MAX_STANDING, required=False))
        ]
        draft = PlanDraft(
            name,
            plan.at("sections"),
            self._categories.categories,
            self._categories.unused(),
            sections,
            self._read_areas(plan),
            [area for area in standing if area is not None],
            self._read_size(plan),
            plan.point("focal_point") if plan.has("focal_point") else None,
            plan.texts("floors", limit=MAX_FLOORS),
            self._seat_items,
            has_seats_member=plan.has("sections"),
        )
        draft.pictures = read_pictures(self._findings, plan, "pictures", len(draft.floors))
        return with_views(self._findings, plan, "views", finish(self._findings, FORMAT, draft, _NAMING), draft)

    def _item(self, parent: Members, name: str, index: int, value: object) -> Members:
        return Members(self._findings, value, f"{parent.at(name)}/{index}")

    def _read_categories(self, plan: Members) -> None:
        values = plan.items("categories", limit=MAX_CATEGORIES)
        self._categories.is_broken = not values and not plan.holds_list("categories")
        for index, value in enumerate(values):
            members = self._item(plan, "categories", index, value)
            members.warn_about_others(_CATEGORY)
            name = members.text("name")
            color = members.color("color", palette_color(index))
            self._categories.list_category(members.pointer, members.at("name"), name, name, color)
        self._categories.check()

    def _read_size(self, plan: Members) -> tuple[float, float] | None:
        size = plan.members("size") if plan.has("size") else None
        if size is None:
            return None
        width, height = size.number("width", minimum=1.0), size.number("height", minimum=1.0)
        return None if width is None or height is None else (width, height)

    def _read_areas(self, plan: Members) -> list[Area]:
        """An area that names no floor is shown on every floor."""
        absent = EVERY_FLOOR if plan.has("floors") else 0
        areas = [
            read_area(self._findings, self._item(plan, "areas", index, value), _ORIGIN, absent, "floor")
            for index, value in enumerate(plan.items("areas", limit=MAX_AREAS, required=False))
        ]
        return [area for area in areas if area is not None]

    def _read_section(self, section: Members) -> SectionDraft:
        section.warn_about_others(_SECTION)
        name = section.text("name") or ""
        draft = SectionDraft(
            section.pointer, name, section.text("key", required=False) or "", floor_no=read_floor(section, "floor")
        )
        values = section.items("rows", limit=MAX_ROWS)
        if section.has("rows") and not values:
            self._report_empty(section, "rows", FindingCode.SECTION_WITHOUT_ROWS, FindingCode.SECTION_DROPPED)
        draft.rows = [self._read_row(self._item(section, "rows", index, value)) for index, value in enumerate(values)]
        return draft

    def _report_empty(self, parent: Members, member: str, code: FindingCode, mended: FindingCode) -> None:
        is_section = member == "rows"
        if self._findings.may(Repair.DROP_EMPTY):
            message = Says.SECTION_LEFT_OUT.of(what=Thing.SECTION) if is_section else Says.ROW_LEFT_OUT.of()
            self._findings.repaired(parent.at(member), mended, message, repair=Repair.DROP_EMPTY)
        else:
            message = Says.SECTION_EMPTY.of(what=Thing.SECTION) if is_section else Says.ROW_EMPTY.of()
            self._findings.fault(parent.at(member), code, message, repair=Repair.DROP_EMPTY)

    def _read_row(self, row: Members) -> RowDraft:
        row.warn_about_others(_ROW)
        draft = RowDraft(
            row.pointer,
            row.label("label") or "",
            LabelPosition(row.choice("label_position", ("start", "end", "both", "")) or ""),
            row.text("row_text", required=False) or "",
            row.text("seat_text", required=False) or "",
            table=read_table(row, "table"),
        )
        values = row.items("seats", limit=MAX_SEATS)
        if row.has("seats") and not values:
            self._report_empty(row, "seats", FindingCode.ROW_WITHOUT_SEATS, FindingCode.ROW_DROPPED)
        for index, value in enumerate(values):
            self._seat_items += 1
            if self._seat_items <= MAX_SEATS:
                draft.seats.append(self._read_seat(self._item(row, "seats", index, value)))
        return draft

    def _read_seat(self, seat: Members) -> SeatDraft:
        seat.warn_about_others(_SEAT)
        x, y = seat.number("x"), seat.number("y")
        number = seat.label("number", required=False) if seat.has("number") else ""
        if number == "" and seat.is_object and not self._findings.may(Repair.NUMBER_SEATS):
            message = Says.SEAT_UNNUMBERED.of()
            self._findings.fault(
                seat.at("number"), FindingCode.SEAT_NUMBER_MISSING, message, repair=Repair.NUMBER_SEATS
            )
        category = seat.text("category", required=False)
        return SeatDraft(
            seat.pointer,
            (seat.text("id", required=False) or "").strip(),
            "",
            number or "",
            None if x is None or y is None else Point(x, y),
            self._categories.number_of(category, seat.at("category")) if seat.is_object else 0,
            read_flags(self._findings, seat, "marks"),
            seat.number("radius", required=False, minimum=0.1),
            seat.choice("start_direction", ("<", ">", "<>", "")) or "",
        )
