"""Reader of the pretix seating-plan JSON, in both published variants and as editors and forks write it.

`{name, categories[{name, color}], size{width, height}, zones[{name, zone_id, position, rows[{row_number, position,
seats[{seat_guid, seat_number, position, category}]}], areas[…]}]}`; a seat stands at zone + row + seat. The first
variant has whole numbers and areas of `width`, `height` and a plain `text`; the second has shapes, `uuid` on every
object, `row_number_position`, `start_direction` and a seat `radius`. Our one addition is `taquilla_flags` on a seat
(`resources/venues/README.md`). Members beyond these are warned about and ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from booking.domain.seating_plan.faults import FindingCode, Findings, PlanCounts, PlanReading
from booking.domain.seating_plan.identities import SeatIdentity, settle_identities
from booking.domain.seating_plan.json_source import load_json
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import (
    MAX_AREAS,
    MAX_CATEGORIES,
    MAX_ROWS,
    MAX_SEATS,
    MAX_SECTIONS,
    Area,
    Category,
    LabelPosition,
    Point,
    Row,
    Seat,
    SeatFlag,
    SeatingPlan,
    Section,
)
from booking.domain.seating_plan.plan_checks import check_confusable, check_places
from booking.domain.seating_plan.pretix_areas import read_area

FORMAT = "pretix"
FLAG_NAMES = {
    "accessible": SeatFlag.ACCESSIBLE,
    "companion": SeatFlag.COMPANION,
    "restricted-view": SeatFlag.RESTRICTED_VIEW,
}
_PALETTE = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22")
_MARGIN = 40.0
_PLAN = frozenset({"name", "categories", "zones", "size", "uuid"})
_SIZE = frozenset({"width", "height"})
_CATEGORY = frozenset({"name", "color", "uuid"})
_ZONE = frozenset({"name", "zone_id", "uuid", "position", "rows", "areas", "displayed"})
_ROW = frozenset({
    "row_number", "row_label", "seat_label", "row_number_position", "position", "seats", "uuid",
    "number_of_seats", "seats_spacing",
})  # fmt: skip
_SEAT = frozenset({
    "seat_guid", "seat_number", "position", "category", "uuid", "start_direction", "radius", "taquilla_flags",
})  # fmt: skip
_ORIGIN = Point(0.0, 0.0)


def read_pretix(data: bytes, *, repair: bool = False) -> PlanReading:
    """Read a plan file; never raises. With `repair`, missing or repeating identities and empty rows are mended."""
    findings = Findings()
    value = load_json(data, findings)
    if value is None:
        return findings.reading(FORMAT, None, PlanCounts())
    return _PretixReader(findings, repair=repair).read(Members(findings, value, ""))


@dataclass(slots=True)
class _SeatDraft:
    pointer: str
    guid: str
    uuid: str
    number: str
    at: Point | None
    category_no: int
    flags: SeatFlag
    radius: float | None
    start_direction: str


@dataclass(slots=True)
class _RowDraft:
    pointer: str
    label: str
    position: LabelPosition
    row_text: str
    seat_text: str
    seats: list[_SeatDraft] = field(default_factory=list)


@dataclass(slots=True)
class _ZoneDraft:
    pointer: str
    name: str
    key: str
    rows: list[_RowDraft] = field(default_factory=list)


class _PretixReader:
    """One reading of one file; drafts first, so that the rules over the whole plan see every seat there is."""

    def __init__(self, findings: Findings, *, repair: bool) -> None:
        self._findings = findings
        self._repair = repair
        self._category_numbers: dict[str, int] = {}
        self._category_pointers: list[str] = []
        self._used_categories: set[int] = set()
        self._areas: list[Area] = []
        self._seat_items = 0

    def read(self, members: Members) -> PlanReading:
        members.warn_about_others(_PLAN)
        name = (members.text("name") or "").strip()
        categories = self._read_categories(members)
        zones = [
            self._read_zone(Members(self._findings, value, f"{members.at('zones')}/{index}"), index)
            for index, value in enumerate(members.items("zones", limit=MAX_SECTIONS))
        ]
        size = self._read_size(members)
        if members.is_object:
            self._check_whole(zones, members)
        guids = self._settle_guids(zones)
        counts = PlanCounts(self._seat_items, 0, sum(1 for zone in zones if zone.rows), len(self._category_pointers))
        plan = None
        if not self._findings.faults:
            plan = self._build(name, categories, zones, guids, size)
        return self._findings.reading(FORMAT, plan, counts)

    # ---------------------------------------------------------------- parts of the file

    def _read_categories(self, plan: Members) -> list[Category]:
        categories: list[Category] = []
        labels: list[tuple[str, str]] = []
        for index, value in enumerate(plan.items("categories", limit=MAX_CATEGORIES)):
            members = Members(self._findings, value, f"{plan.at('categories')}/{index}")
            self._category_pointers.append(members.pointer)
            members.warn_about_others(_CATEGORY)
            name = members.text("name")
            if name is not None:
                labels.append((members.at("name"), name))
                if name in self._category_numbers:
                    message = f'a second category "{name}"'
                    self._findings.fault(members.at("name"), FindingCode.CATEGORY_REPEATS, message)
                self._category_numbers.setdefault(name, index)
            categories.append(Category((name or "").strip(), members.color("color", _PALETTE[index % len(_PALETTE)])))
        check_confusable(self._findings, labels, what="the category")
        return categories

    def _read_size(self, plan: Members) -> tuple[float, float] | None:
        if not plan.has("size"):  # the first published variant has none
            return None
        size = plan.members("size")
        if size is None:
            return None
        size.warn_about_others(_SIZE)
        width, height = size.number("width", minimum=1.0), size.number("height", minimum=1.0)
        return None if width is None or height is None else (width, height)

    def _read_zone(self, zone: Members, index: int) -> _ZoneDraft:
        zone.warn_about_others(_ZONE)
        key = zone.text("zone_id", required=False) or ""
        name = zone.text("name", required=False) or key
        if not name.strip() and zone.is_object:
            name = f"Section {index + 1}"
            self._findings.warn(zone.at("name"), FindingCode.TEXT_EMPTY, f'the zone has no name; "{name}" is used')
        draft = _ZoneDraft(zone.pointer, name, key)
        origin = zone.point("position")
        for number, value in enumerate(zone.items("areas", limit=MAX_AREAS, required=False)):
            area = read_area(
                self._findings, Members(self._findings, value, f"{zone.at('areas')}/{number}"), origin or _ORIGIN
            )
            if area is not None:
                self._areas.append(area)
        draft.rows = self._read_rows(zone, origin)
        if zone.is_object and not draft.rows and not zone.has("rows"):
            return draft  # already reported as missing
        if zone.is_object and not draft.rows:
            self._report_zone_without_rows(zone)
        return draft

    def _report_zone_without_rows(self, zone: Members) -> None:
        if zone.has("areas") and zone.items("areas", limit=MAX_AREAS, required=False):
            message = "the zone has no rows; only its shapes are kept"
            self._findings.warn(zone.at("rows"), FindingCode.SECTION_WITHOUT_ROWS, message)
        else:
            message = "the zone has no rows; remove it or give it seats"
            self._findings.fault(zone.at("rows"), FindingCode.SECTION_WITHOUT_ROWS, message)

    def _read_rows(self, zone: Members, origin: Point | None) -> list[_RowDraft]:
        rows = [
            self._read_row(Members(self._findings, value, f"{zone.at('rows')}/{index}"), origin)
            for index, value in enumerate(zone.items("rows", limit=MAX_ROWS))
        ]
        labels = [(f"{row.pointer}/row_number", row.label) for row in rows]
        check_confusable(self._findings, labels, what="the row")
        first: dict[str, str] = {}
        for row in rows:
            label = row.label
            if label.strip() and first.setdefault(label, row.pointer) != row.pointer:
                message = f'a second row "{label}" in this zone, after {first[label]}; its seats read alike'
                self._findings.warn(f"{row.pointer}/row_number", FindingCode.ROW_REPEATS, message)
        return rows

    def _read_row(self, row: Members, zone_origin: Point | None) -> _RowDraft:
        row.warn_about_others(_ROW)
        label = row.text("row_number")
        if label is not None and not label.strip():
            self._findings.warn(row.at("row_number"), FindingCode.TEXT_EMPTY, "the row has no label")
        draft = _RowDraft(
            row.pointer,
            label or "",
            LabelPosition(row.choice("row_number_position", ("start", "end", "both", "")) or ""),
            row.text("row_label", required=False) or "",
            row.text("seat_label", required=False) or "",
        )
        origin = _sum(zone_origin, row.point("position", required=False))
        values = row.items("seats", limit=MAX_SEATS)
        if row.has("seats") and not values:
            self._report_row_without_seats(row)
        for index, value in enumerate(values):
            draft.seats.append(self._read_seat(Members(self._findings, value, f"{row.at('seats')}/{index}"), origin))
        self._check_numbers(draft)
        return draft

    def _report_row_without_seats(self, row: Members) -> None:
        if self._repair:
            self._findings.repaired(row.at("seats"), FindingCode.ROW_DROPPED, "the row has no seats; it is left out")
        else:
            message = "the row has no seats; remove it, or import with repairs"
            self._findings.fault(row.at("seats"), FindingCode.ROW_WITHOUT_SEATS, message)

    def _read_seat(self, seat: Members, origin: Point | None) -> _SeatDraft:
        self._seat_items += 1
        seat.warn_about_others(_SEAT)
        number = seat.text("seat_number")
        if number is not None and not number.strip():
            self._findings.fault(seat.at("seat_number"), FindingCode.TEXT_EMPTY, "the seat has no number")
        guid = seat.text("seat_guid", required=False)
        if guid is None and (seat.has("seat_guid") or not seat.is_object):
            guid = seat.pointer  # reported as broken; not to be reported as missing too
        return _SeatDraft(
            seat.pointer,
            (guid or "").strip(),
            (seat.text("uuid", required=False) or "").strip(),
            number or "",
            _sum(origin, seat.point("position")),
            self._category_of(seat),
            self._flags_of(seat),
            seat.number("radius", required=False, minimum=0.1),
            seat.choice("start_direction", ("<", ">", "<>", "")) or "",
        )

    def _category_of(self, seat: Members) -> int:
        name = seat.text("category")
        if name is None or not self._category_pointers:  # without any category, the list itself is at fault
            return 0
        number = self._category_numbers.get(name)
        if number is None:
            known = ", ".join(f'"{item}"' for item in list(self._category_numbers)[:8]) or "none"
            message = f'the category "{name}" is not in the list of categories ({known})'
            self._findings.fault(seat.at("category"), FindingCode.CATEGORY_UNKNOWN, message)
            return 0
        self._used_categories.add(number)
        return number

    def _flags_of(self, seat: Members) -> SeatFlag:
        flags = SeatFlag.NONE
        for index, name in enumerate(seat.items("taquilla_flags", limit=len(FLAG_NAMES), required=False)):
            flag = FLAG_NAMES.get(name) if isinstance(name, str) else None
            if flag is None:
                wanted = ", ".join(f'"{item}"' for item in FLAG_NAMES)
                pointer = f"{seat.at('taquilla_flags')}/{index}"
                self._findings.fault(pointer, FindingCode.UNKNOWN_VALUE, f"expected one of {wanted}")
            else:
                flags |= flag
        return flags

    # ---------------------------------------------------------------- rules over the whole plan

    def _check_numbers(self, row: _RowDraft) -> None:
        labels = [(f"{seat.pointer}/seat_number", seat.number) for seat in row.seats if seat.number.strip()]
        check_confusable(self._findings, labels, what="the seat")
        seen: set[str] = set()
        for pointer, number in labels:
            if number in seen:
                message = f'a second seat "{number}" in this row'
                self._findings.fault(pointer, FindingCode.SEAT_NUMBER_REPEATS, message)
            seen.add(number)

    def _check_whole(self, zones: list[_ZoneDraft], plan: Members) -> None:
        labels = [(f"{zone.pointer}/name", zone.name) for zone in zones]
        check_confusable(self._findings, labels, what="the zone")
        seen: set[str] = set()
        for pointer, name in labels:
            if name in seen:
                self._findings.warn(pointer, FindingCode.SECTION_REPEATS, f'a second zone "{name}"')
            seen.add(name)
        seats = [seat for zone in zones for row in zone.rows for seat in row.seats]
        places = [(f"{seat.pointer}/position", seat.at.x, seat.at.y) for seat in seats if seat.at is not None]
        check_places(self._findings, places)
        if not seats and plan.has("zones"):
            self._findings.fault(plan.at("zones"), FindingCode.NO_SEATS, "the plan has no seats")
        if self._seat_items > MAX_SEATS:
            message = f"{self._seat_items:,} seats; at most {MAX_SEATS:,} are read"
            self._findings.fault(plan.at("zones"), FindingCode.TOO_MANY, message)
        for number, pointer in enumerate(self._category_pointers):
            if number not in self._used_categories:
                self._findings.warn(pointer, FindingCode.CATEGORY_UNUSED, "no seat is of this category")

    def _settle_guids(self, zones: list[_ZoneDraft]) -> list[str]:
        identities = [
            SeatIdentity(seat.pointer, seat.guid, seat.uuid, (zone.name, row.label, seat.number))
            for zone in zones
            for row in zone.rows
            for seat in row.seats
        ]
        return settle_identities(self._findings, identities, member="seat_guid", repair=self._repair)

    # ---------------------------------------------------------------- the plan, once nothing is wrong

    def _build(
        self,
        name: str,
        categories: list[Category],
        zones: list[_ZoneDraft],
        guids: list[str],
        size: tuple[float, float] | None,
    ) -> SeatingPlan:
        remaining = iter(guids)
        sections = tuple(
            Section(
                zone.name.strip(),
                tuple(_build_row(row, remaining) for row in zone.rows if row.seats),
                zone.key,
            )
            for zone in zones
            if any(row.seats for row in zone.rows)
        )
        width, height = size or _bounds(sections)
        return SeatingPlan(name or "Plan", width, height, tuple(categories), sections, tuple(self._areas))


def _sum(origin: Point | None, offset: Point | None) -> Point | None:
    """Nothing when either was broken: a place that is not known must not be compared with others."""
    return None if origin is None or offset is None else Point(origin.x + offset.x, origin.y + offset.y)


def _build_row(row: _RowDraft, guids: Iterator[str]) -> Row:
    seats = tuple(
        Seat(
            next(guids), seat.number.strip(), seat.at.x, seat.at.y, seat.category_no, seat.flags, seat.radius,
            seat.start_direction,
        )
        for seat in row.seats
        if seat.at is not None
    )  # fmt: skip
    return Row(row.label.strip(), seats, row.position, row.row_text, row.seat_text)


def _bounds(sections: tuple[Section, ...]) -> tuple[float, float]:
    """A size for a plan that gave none: to its last seat and a margin."""
    seats = [seat for section in sections for row in section.rows for seat in row.seats]
    return max(seat.x for seat in seats) + _MARGIN, max(seat.y for seat in seats) + _MARGIN
