"""From the draft of any format to a plan: the rules that hold for a whole plan, and what may be mended (case I3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from booking.domain.seating_plan.derived import corners_of
from booking.domain.seating_plan.drafts import Naming, PlanDraft, RowDraft, SeatDraft, SectionDraft
from booking.domain.seating_plan.faults import FindingCode, Findings, PlanCounts, PlanReading, place_order
from booking.domain.seating_plan.identities import SeatIdentity, settle_identities
from booking.domain.seating_plan.model import MAX_SEATS, Area, Row, Seat, SeatingPlan, Section, StandingArea
from booking.domain.seating_plan.overlaps import check_overlaps
from booking.domain.seating_plan.plan_checks import check_confusable, check_places
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.sayings import Says, Thing
from booking.domain.seating_plan.sequences import numbers_filled_in
from booking.domain.seating_plan.tables import set_tables_apart

_MARGIN = 40.0
_PLAN_NAME = "Plan"


def finish(findings: Findings, format_name: str, draft: PlanDraft, naming: Naming) -> PlanReading:
    """Apply every rule, mend what was chosen to be mended, and close the reading."""
    for section in draft.sections:
        _settle_section(findings, section, naming)
    set_tables_apart(findings, draft.sections)
    _check_sections(findings, draft, naming)
    _check_places(findings, draft, naming)
    _check_counts(findings, draft)
    guids = _settle_guids(findings, draft, naming)
    counts = PlanCounts(
        draft.seat_items,
        sum(area.capacity for area in draft.standing),
        sum(1 for section in draft.sections if section.rows),
        len(draft.categories),
    )
    plan = None if findings.faults else _build(draft, guids)
    return findings.reading(format_name, plan, counts)


# ---------------------------------------------------------------- rows and their seats


def _settle_section(findings: Findings, section: SectionDraft, naming: Naming) -> None:
    for row in section.rows:
        _mend_numbers(findings, row, naming)
        _check_numbers(findings, row, naming)
    labels = [(row.pointer + naming.row, row.label) for row in section.rows]
    check_confusable(findings, labels, what=Thing.ROW)
    first: dict[str, str] = {}
    for row in section.rows:
        label = row.label
        if label.strip() and first.setdefault(label, row.pointer) != row.pointer:
            message = Says.ROW_REPEATS.of(name=label, what=naming.section_word, place=first[label])
            findings.warn(row.pointer + naming.row, FindingCode.ROW_REPEATS, message)


def _mend_numbers(findings: Findings, row: RowDraft, naming: Naming) -> None:
    if not findings.may(Repair.NUMBER_SEATS):
        return
    for seat, number in zip(row.seats, numbers_filled_in([seat.number for seat in row.seats]), strict=True):
        if number != seat.number:
            message = (
                Says.SEAT_NUMBERED_ANEW.of(name=seat.number, other=number)
                if seat.number.strip()
                else Says.SEAT_NUMBERED.of(other=number)
            )
            findings.repaired(
                seat.pointer + naming.number, FindingCode.SEAT_NUMBERED, message, repair=Repair.NUMBER_SEATS
            )
            seat.number = number


def _check_numbers(findings: Findings, row: RowDraft, naming: Naming) -> None:
    labels = [(seat.pointer + naming.number, seat.number) for seat in row.seats if seat.number.strip()]
    if len({number for _, number in labels}) < len(labels):
        labels.sort(key=lambda label: place_order(label[0]))  # of two that repeat, the later one in the file is told
    check_confusable(findings, labels, what=Thing.SEAT)
    seen: set[str] = set()
    for pointer, number in labels:
        if number in seen:
            message = Says.SEAT_REPEATS.of(name=number)
            findings.fault(pointer, FindingCode.SEAT_NUMBER_REPEATS, message, repair=Repair.NUMBER_SEATS)
        seen.add(number)


# ---------------------------------------------------------------- the whole plan


def _check_sections(findings: Findings, draft: PlanDraft, naming: Naming) -> None:
    labels = [(section.pointer + naming.section, section.name) for section in draft.sections]
    check_confusable(findings, labels, what=naming.section_word)
    seen: set[str] = set()
    for pointer, name in labels:
        if name in seen:
            findings.warn(
                pointer, FindingCode.SECTION_REPEATS, Says.SECTION_REPEATS.of(what=naming.section_word, name=name)
            )
        seen.add(name)
    _check_floors(findings, draft, naming)
    standing: set[str] = set()
    for area in draft.standing:
        if area.name.strip() in standing:
            message = Says.STANDING_REPEATS.of(name=area.name)
            findings.fault(area.name_at, FindingCode.STANDING_REPEATS, message)
        standing.add(area.name.strip())


def _check_floors(findings: Findings, draft: PlanDraft, naming: Naming) -> None:
    count = max(1, len(draft.floors))
    beyond = [section.pointer + naming.section for section in draft.sections if section.floor_no >= count]
    beyond += [area.name_at for area in draft.standing if area.area.floor_no >= count]
    for pointer in beyond:
        message = Says.FLOOR_UNKNOWN.of(count=count)
        findings.fault(pointer, FindingCode.UNKNOWN_VALUE, message)


def _check_places(findings: Findings, draft: PlanDraft, naming: Naming) -> None:
    """Seats of different floors may stand over each other."""
    for floor_no in sorted({section.floor_no for section in draft.sections}):
        sections = [section for section in draft.sections if section.floor_no == floor_no]
        places = [
            (seat.pointer + naming.place, seat.at.x, seat.at.y) for seat in _seats(sections) if seat.at is not None
        ]
        check_places(findings, places)
        check_overlaps(findings, [row for section in sections for row in section.rows], naming.place)


def _check_counts(findings: Findings, draft: PlanDraft) -> None:
    if not draft.seat_items and not draft.standing and draft.has_seats_member:
        findings.fault(draft.seats_at, FindingCode.NO_SEATS, Says.NO_SEATS.of())
    if draft.seat_items > MAX_SEATS:
        message = Says.SEATS_TOO_MANY.of(count=draft.seat_items, most=MAX_SEATS)
        findings.fault(draft.seats_at, FindingCode.TOO_MANY, message)
    for pointer in draft.unused_categories:
        findings.warn(pointer, FindingCode.CATEGORY_UNUSED, Says.CATEGORY_UNUSED.of())


def _settle_guids(findings: Findings, draft: PlanDraft, naming: Naming) -> list[str]:
    identities = [
        SeatIdentity(seat.pointer, seat.guid, seat.uuid, (section.name, row.label, seat.number))
        for section in draft.sections
        for row in section.rows
        for seat in row.seats
    ]
    return settle_identities(
        findings, identities, member=naming.guid, word=naming.guid_word, optional=naming.guids_are_optional
    )


def _seats(sections: Sequence[SectionDraft]) -> Iterator[SeatDraft]:
    for section in sections:
        for row in section.rows:
            yield from row.seats


# ---------------------------------------------------------------- once nothing is wrong


def _build(draft: PlanDraft, guids: list[str]) -> SeatingPlan:
    remaining = iter(guids)
    sections = tuple(
        Section(
            section.name.strip(),
            tuple(_build_row(row, remaining) for row in section.rows if row.seats),
            section.key,
            section.floor_no,
        )
        for section in draft.sections
        if any(row.seats for row in section.rows)
    )
    standing = tuple(
        StandingArea(area.name.strip(), area.capacity, area.category_no, area.area) for area in draft.standing
    )
    width, height = draft.size or _bounds(sections, [area.area for area in draft.standing])
    return SeatingPlan(
        draft.name or _PLAN_NAME, width, height, tuple(draft.categories), sections, tuple(draft.areas), draft.focal,
        draft.floors, standing, pictures=draft.pictures,
    )  # fmt: skip


def _build_row(row: RowDraft, guids: Iterator[str]) -> Row:
    seats = tuple(
        Seat(
            next(guids), seat.number.strip(), seat.at.x, seat.at.y, seat.category_no, seat.flags, seat.radius,
            seat.start_direction,
        )
        for seat in row.seats
        if seat.at is not None
    )  # fmt: skip
    return Row(row.label.strip(), seats, row.position, row.row_text, row.seat_text, row.table)


def _bounds(sections: tuple[Section, ...], standing: Sequence[Area]) -> tuple[float, float]:
    """A size for a plan that gave none: to its last seat or standing area, and a margin."""
    corners = [(seat.x, seat.y) for section in sections for row in section.rows for seat in row.seats]
    corners += [corner for area in standing for corner in corners_of(area)]
    return max(1.0, max(x for x, _ in corners) + _MARGIN), max(1.0, max(y for _, y in corners) + _MARGIN)
