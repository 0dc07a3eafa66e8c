"""Reader of the pretix seating-plan JSON, in both published variants and as editors and forks write it.

`{name, categories[{name, color}], size{width, height}, zones[{name, zone_id, position, rows[{row_number, position,
seats[{seat_guid, seat_number, position, category}]}], areas[…]}]}`; a seat stands at zone + row + seat. The first
variant has whole numbers and areas of `width`, `height` and a plain `text`; the second has shapes, `uuid` on every
object, `row_number_position`, `start_direction` and a seat `radius`. Our one addition is `taquilla_flags` on a seat
(`resources/venues/README.md`). Members beyond these are warned about and ignored.
"""

from __future__ import annotations

from booking.domain.seating_plan.category_book import CategoryBook, palette_color
from booking.domain.seating_plan.drafts import Naming, PlanDraft, RowDraft, SeatDraft, SectionDraft
from booking.domain.seating_plan.faults import FindingCode, Findings, PlanCounts, PlanReading
from booking.domain.seating_plan.json_source import load_json
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import (
    MAX_AREAS,
    MAX_CATEGORIES,
    MAX_ROWS,
    MAX_SEATS,
    MAX_SECTIONS,
    Area,
    LabelPosition,
    Point,
)
from booking.domain.seating_plan.options import DEFAULT_OPTIONS, ReadOptions
from booking.domain.seating_plan.plan_rules import finish
from booking.domain.seating_plan.plan_views import with_views
from booking.domain.seating_plan.pretix_additions import (
    PLAN_ADDITIONS,
    TABLE,
    VIEWS,
    read_flags,
    read_floor,
    read_plan_additions,
    read_table,
)
from booking.domain.seating_plan.pretix_areas import FLOOR, read_area
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.sayings import Says, Thing

FORMAT = "pretix"

_NAMING = Naming(
    section_word=Thing.ZONE, section="/name", row="/row_number", number="/seat_number",
    place="/position", guid="/seat_guid", guid_word="seat_guid", guids_are_optional=False,
)  # fmt: skip
_PLAN = frozenset({"name", "categories", "zones", "size", "uuid"}) | PLAN_ADDITIONS
_SIZE = frozenset({"width", "height"})
_CATEGORY = frozenset({"name", "color", "uuid"})
_ZONE = frozenset({"name", "zone_id", "uuid", "position", "rows", "areas", "displayed", FLOOR})
_ROW = frozenset({
    "row_number", "row_label", "seat_label", "row_number_position", "position", "seats", "uuid",
    "number_of_seats", "seats_spacing", TABLE,
})  # fmt: skip
_SEAT = frozenset({
    "seat_guid", "seat_number", "position", "category", "uuid", "start_direction", "radius", "taquilla_flags",
})  # fmt: skip
_ORIGIN = Point(0.0, 0.0)


def read_pretix(data: bytes, options: ReadOptions = DEFAULT_OPTIONS) -> PlanReading:
    """Read a plan file; never raises."""
    findings = Findings(options.repairs)
    value = load_json(data, findings)
    if value is None:
        return findings.reading(FORMAT, None, PlanCounts())
    return read_pretix_value(value, findings)


def read_pretix_value(value: object, findings: Findings) -> PlanReading:
    """As `read_pretix`, of JSON that was parsed already."""
    return _PretixReader(findings).read(Members(findings, value, ""))


class _PretixReader:
    """One reading of one file; drafts first, so that the rules over the whole plan see every seat there is."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._categories = CategoryBook(findings)
        self._areas: list[Area] = []
        self._seat_items = 0

    def read(self, members: Members) -> PlanReading:
        members.warn_about_others(_PLAN)
        name = (members.text("name") or "").strip()
        self._read_categories(members)
        additions = read_plan_additions(self._findings, members, self._categories)
        zones = [
            self._read_zone(Members(self._findings, value, f"{members.at('zones')}/{index}"), index)
            for index, value in enumerate(members.items("zones", limit=MAX_SECTIONS))
        ]
        draft = PlanDraft(
            name,
            members.at("zones"),
            self._categories.categories,
            self._categories.unused(),
            [zone for zone in zones if zone is not None],
            self._areas,
            additions.standing,
            self._read_size(members),
            additions.focal,
            additions.floors,
            self._seat_items,
            has_seats_member=members.has("zones"),
            pictures=additions.pictures,
        )
        return with_views(self._findings, members, VIEWS, finish(self._findings, FORMAT, draft, _NAMING), draft)

    def _read_categories(self, plan: Members) -> None:
        values = plan.items("categories", limit=MAX_CATEGORIES)
        self._categories.is_broken = not values and not plan.holds_list("categories")
        for index, value in enumerate(values):
            members = Members(self._findings, value, f"{plan.at('categories')}/{index}")
            members.warn_about_others(_CATEGORY)
            name = members.text("name")
            color = members.color("color", palette_color(index))
            self._categories.list_category(members.pointer, members.at("name"), name, name, color)
        self._categories.check()

    def _read_size(self, plan: Members) -> tuple[float, float] | None:
        if not plan.has("size"):  # the first published variant has none
            return None
        size = plan.members("size")
        if size is None:
            return None
        size.warn_about_others(_SIZE)
        width, height = size.number("width", minimum=1.0), size.number("height", minimum=1.0)
        return None if width is None or height is None else (width, height)

    def _read_zone(self, zone: Members, index: int) -> SectionDraft | None:
        zone.warn_about_others(_ZONE)
        key = zone.text("zone_id", required=False) or ""
        name = zone.text("name", required=False) or key
        if not name.strip() and zone.is_object:
            name = f"Section {index + 1}"
            self._findings.warn(zone.at("name"), FindingCode.TEXT_EMPTY, Says.SECTION_NAMED.of(name=name))
        floor_no = read_floor(zone)
        draft = SectionDraft(zone.pointer, name, key, floor_no=floor_no)
        origin = zone.point("position")
        for number, value in enumerate(zone.items("areas", limit=MAX_AREAS, required=False)):
            members = Members(self._findings, value, f"{zone.at('areas')}/{number}")
            area = read_area(self._findings, members, origin or _ORIGIN, floor_no)
            if area is not None:
                self._areas.append(area)
        draft.rows = self._read_rows(zone, origin)
        if zone.is_object and not draft.rows and zone.has("rows"):
            return draft if self._keeps_zone_without_rows(zone) else None
        return draft  # without the member, it was reported as missing

    def _keeps_zone_without_rows(self, zone: Members) -> bool:
        pointer = zone.at("rows")
        if zone.items("rows", limit=MAX_ROWS):
            return True  # its rows were dropped, and that was said
        if zone.has("areas") and zone.items("areas", limit=MAX_AREAS, required=False):
            message = Says.SECTION_EMPTY_BUT_SHAPES.of()
            self._findings.warn(pointer, FindingCode.SECTION_WITHOUT_ROWS, message)
        elif self._findings.may(Repair.DROP_EMPTY):
            message = Says.SECTION_LEFT_OUT.of(what=Thing.ZONE)
            self._findings.repaired(pointer, FindingCode.SECTION_DROPPED, message, repair=Repair.DROP_EMPTY)
            return False
        else:
            message = Says.SECTION_EMPTY.of(what=Thing.ZONE)
            self._findings.fault(pointer, FindingCode.SECTION_WITHOUT_ROWS, message, repair=Repair.DROP_EMPTY)
        return True

    def _read_rows(self, zone: Members, origin: Point | None) -> list[RowDraft]:
        return [
            self._read_row(Members(self._findings, value, f"{zone.at('rows')}/{index}"), origin)
            for index, value in enumerate(zone.items("rows", limit=MAX_ROWS))
        ]

    def _read_row(self, row: Members, zone_origin: Point | None) -> RowDraft:
        row.warn_about_others(_ROW)
        label = row.label("row_number")
        if label is not None and not label.strip() and not row.has(TABLE):
            self._findings.warn(row.at("row_number"), FindingCode.TEXT_EMPTY, Says.ROW_UNNAMED.of())
        draft = RowDraft(
            row.pointer,
            label or "",
            LabelPosition(row.choice("row_number_position", ("start", "end", "both", "")) or ""),
            row.text("row_label", required=False) or "",
            row.text("seat_label", required=False) or "",
            table=read_table(row),
        )
        origin = _sum(zone_origin, row.point("position", required=False))
        values = row.items("seats", limit=MAX_SEATS)
        if row.has("seats") and not values:
            self._report_row_without_seats(row)
        for index, value in enumerate(values):
            self._seat_items += 1
            if self._seat_items <= MAX_SEATS:  # beyond that the plan is refused, and memory is spared
                seat = Members(self._findings, value, f"{row.at('seats')}/{index}")
                draft.seats.append(self._read_seat(seat, origin))
        return draft

    def _report_row_without_seats(self, row: Members) -> None:
        pointer = row.at("seats")
        if self._findings.may(Repair.DROP_EMPTY):
            message = Says.ROW_LEFT_OUT.of()
            self._findings.repaired(pointer, FindingCode.ROW_DROPPED, message, repair=Repair.DROP_EMPTY)
        else:
            message = Says.ROW_EMPTY.of()
            self._findings.fault(pointer, FindingCode.ROW_WITHOUT_SEATS, message, repair=Repair.DROP_EMPTY)

    def _read_seat(self, seat: Members, origin: Point | None) -> SeatDraft:
        seat.warn_about_others(_SEAT)
        guid = seat.text("seat_guid", required=False)
        if guid is None and (seat.has("seat_guid") or not seat.is_object):
            guid = seat.pointer  # reported as broken; not to be reported as missing too
        return SeatDraft(
            seat.pointer,
            (guid or "").strip(),
            (seat.text("uuid", required=False) or "").strip(),
            self._number_of(seat),
            _sum(origin, seat.point("position")),
            self._category_of(seat),
            read_flags(self._findings, seat),
            seat.number("radius", required=False, minimum=0.1),
            seat.choice("start_direction", ("<", ">", "<>", "")) or "",
        )

    def _number_of(self, seat: Members) -> str:
        """The number; empty after a fault, or where the sequence of the row will fill it in."""
        if not seat.is_object:
            return ""
        number = seat.label("seat_number", required=False) if seat.has("seat_number") else ""
        if number is None or number.strip() or self._findings.may(Repair.NUMBER_SEATS):
            return number or ""
        code = FindingCode.TEXT_EMPTY if seat.has("seat_number") else FindingCode.MEMBER_MISSING
        message = Says.SEAT_UNNUMBERED.of()
        self._findings.fault(seat.at("seat_number"), code, message, repair=Repair.NUMBER_SEATS)
        return ""

    def _category_of(self, seat: Members) -> int:
        if not seat.is_object:
            return 0
        if not seat.has("category") and self._findings.may(Repair.ADD_CATEGORIES):
            return self._categories.number_of(None, seat.at("category"))
        name = seat.text("category")
        return 0 if name is None else self._categories.number_of(name, seat.at("category"))


def _sum(origin: Point | None, offset: Point | None) -> Point | None:
    """Nothing when either was broken: a place that is not known must not be compared with others."""
    return None if origin is None or offset is None else Point(origin.x + offset.x, origin.y + offset.y)
