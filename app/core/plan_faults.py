"""What is not right in a draft, live: faults that the booking system would refuse, and warnings that it would not (I3).

Whoever shows them has the words; `where` is what to choose in the drawing to see it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.core.plan_draft import NO_CATEGORY, NOTHING, DraftRow, DraftSeat, DraftShape, PlanDraft, Selection

_TOO_NEAR: Final = 0.999
"""Seats overlap when they are nearer than this share of their diameter."""
_PLACES: Final = 3
SHOWN_AT_MOST: Final = 200


class FaultCode(StrEnum):
    PLAN_UNNAMED = "plan-unnamed"
    NO_SEATS = "no-seats"
    SECTION_UNNAMED = "section-unnamed"
    SECTION_EMPTY = "section-empty"
    SECTION_REPEATS = "section-repeats"
    ROW_UNNAMED = "row-unnamed"
    ROW_EMPTY = "row-empty"
    ROW_REPEATS = "row-repeats"
    ROW_LOOKS_ALIKE = "row-looks-alike"
    SEAT_UNNUMBERED = "seat-unnumbered"
    SEAT_REPEATS = "seat-repeats"
    SEATS_COINCIDE = "seats-coincide"
    SEATS_OVERLAP = "seats-overlap"
    NO_CATEGORY = "no-category"
    CATEGORY_UNNAMED = "category-unnamed"
    CATEGORY_REPEATS = "category-repeats"
    CATEGORY_UNUSED = "category-unused"
    SEATS_OUTSIDE = "seats-outside"
    SHAPE_OUTSIDE = "shape-outside"
    SHAPE_WITHOUT_TEXT = "shape-without-text"


WARNINGS: Final = frozenset({
    FaultCode.SECTION_UNNAMED, FaultCode.SECTION_REPEATS, FaultCode.ROW_UNNAMED, FaultCode.ROW_REPEATS,
    FaultCode.SEATS_OVERLAP, FaultCode.CATEGORY_UNUSED, FaultCode.SEATS_OUTSIDE, FaultCode.SHAPE_OUTSIDE,
    FaultCode.SHAPE_WITHOUT_TEXT,
})  # fmt: skip
"""A plan may be saved with these."""


@dataclass(frozen=True, slots=True)
class PlanFault:
    """`name` is what people call the thing, `section` where it is, `count` how many seats."""

    code: FaultCode
    where: Selection = NOTHING
    name: str = ""
    section: str = ""
    count: int = 0

    @property
    def is_warning(self) -> bool:
        return self.code in WARNINGS


def faults_of(draft: PlanDraft) -> tuple[PlanFault, ...]:
    """Everything that is wrong, faults first, each kind in the order of the plan."""
    found = [
        *_of_plan(draft), *_of_categories(draft), *_of_sections(draft), *_of_rows(draft), *_of_seats(draft),
        *_of_places(draft), *_of_shapes(draft),
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda fault: fault.is_warning))


def may_be_saved(faults: Iterable[PlanFault]) -> bool:
    """Whether the booking system would take the plan, as far as the console knows."""
    return all(fault.is_warning for fault in faults)


def looks_of(label: str) -> str:
    """What a person sees of a label: width, case of letters that look alike in both, and spaces do not count."""
    return " ".join(unicodedata.normalize("NFKC", label).translate(_LOOKALIKES).split())


_LOOKALIKES = str.maketrans("АВЕКМНОРСТУХІЈЅаеорсухіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEKMHOPCTYXIJSaeopcyxijsABEZHIKMNOPTYXo")


def _of_plan(draft: PlanDraft) -> Iterator[PlanFault]:
    if not draft.name.strip():
        yield PlanFault(FaultCode.PLAN_UNNAMED)
    if not draft.seat_count:
        yield PlanFault(FaultCode.NO_SEATS)


def _of_categories(draft: PlanDraft) -> Iterator[PlanFault]:
    used = {seat.category_id for row in draft.rows for seat in row.seats}
    used |= {area.category_id for area in draft.standing}
    seen: set[str] = set()
    for category in draft.categories:
        name = category.name.strip()
        if not name:
            yield PlanFault(FaultCode.CATEGORY_UNNAMED)
        elif name in seen:
            yield PlanFault(FaultCode.CATEGORY_REPEATS, name=name)
        elif category.category_id not in used:
            yield PlanFault(FaultCode.CATEGORY_UNUSED, name=name)
        seen.add(name)


def _of_sections(draft: PlanDraft) -> Iterator[PlanFault]:
    filled = {row.section_id for row in draft.rows}
    seen: set[str] = set()
    for section in draft.sections:
        name = section.name.strip()
        rows = frozenset(row.row_id for row in draft.rows_of(section.section_id))
        if not name:
            yield PlanFault(FaultCode.SECTION_UNNAMED, Selection(rows))
        elif looks_of(name) in seen:
            yield PlanFault(FaultCode.SECTION_REPEATS, Selection(rows), name)
        if section.section_id not in filled:
            yield PlanFault(FaultCode.SECTION_EMPTY, name=name)
        seen.add(looks_of(name))


def _of_rows(draft: PlanDraft) -> Iterator[PlanFault]:
    names = {section.section_id: section.name for section in draft.sections}
    first: dict[tuple[int, str], str] = {}
    seen: set[tuple[int, str]] = set()
    for row in draft.rows:
        label, section = row.label.strip(), names.get(row.section_id, "")
        chosen = Selection(frozenset({row.row_id}))
        if not row.seats:
            yield PlanFault(FaultCode.ROW_EMPTY, chosen, label, section)
        if not label:
            yield PlanFault(FaultCode.ROW_UNNAMED, chosen, section=section)
            continue
        before = first.setdefault((row.section_id, looks_of(label)), label)
        if before != label:
            yield PlanFault(FaultCode.ROW_LOOKS_ALIKE, chosen, label, section)
        elif (row.section_id, label) in seen:
            yield PlanFault(FaultCode.ROW_REPEATS, chosen, label, section)
        seen.add((row.section_id, label))


def _of_seats(draft: PlanDraft) -> Iterator[PlanFault]:
    names = {section.section_id: section.name for section in draft.sections}
    known = {category.category_id for category in draft.categories}
    bare: list[str] = []
    for row in draft.rows:
        section = names.get(row.section_id, "")
        unnumbered = frozenset(seat.guid for seat in row.seats if not seat.number.strip())
        if unnumbered:
            yield PlanFault(FaultCode.SEAT_UNNUMBERED, Selection(seats=unnumbered), row.label, section, len(unnumbered))
        for number, guids in _repeated(row.seats):
            yield PlanFault(FaultCode.SEAT_REPEATS, Selection(seats=guids), f"{row.label} {number}", section)
        bare += [seat.guid for seat in row.seats if seat.category_id == NO_CATEGORY or seat.category_id not in known]
    if bare:
        yield PlanFault(FaultCode.NO_CATEGORY, Selection(seats=frozenset(bare)), count=len(bare))


def _repeated(seats: tuple[DraftSeat, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    by_number: dict[str, list[str]] = {}
    for seat in seats:
        if seat.number.strip():
            by_number.setdefault(looks_of(seat.number), []).append(seat.guid)
    for number, guids in by_number.items():
        if len(guids) > 1:
            yield number, frozenset(guids)


def _of_places(draft: PlanDraft) -> Iterator[PlanFault]:
    floors = {section.section_id: section.floor_no for section in draft.sections}
    together: set[str] = set()
    near: set[str] = set()
    for floor_no in sorted(set(floors.values())):
        rows = [row for row in draft.rows if floors.get(row.section_id, 0) == floor_no]
        for one, other, distance in _near_pairs(rows, 2 * draft.seat_radius * _TOO_NEAR):
            (together if round(distance, _PLACES) == 0 else near).update((one.guid, other.guid))
    if together:
        yield PlanFault(FaultCode.SEATS_COINCIDE, Selection(seats=frozenset(together)), count=len(together))
    if near - together:
        left = near - together
        yield PlanFault(FaultCode.SEATS_OVERLAP, Selection(seats=frozenset(left)), count=len(left))
    outside = [
        seat.guid
        for row in draft.rows
        for seat in row.seats
        if not (0 <= seat.x <= draft.width and 0 <= seat.y <= draft.height)
    ]
    if outside:
        yield PlanFault(FaultCode.SEATS_OUTSIDE, Selection(seats=frozenset(outside)), count=len(outside))


def _near_pairs(rows: Iterable[DraftRow], reach: float) -> Iterator[tuple[DraftSeat, DraftSeat, float]]:
    """Pairs of seats nearer than `reach`, found in cells of that size."""
    if reach <= 0:
        return
    cells: dict[tuple[int, int], list[DraftSeat]] = {}
    for row in rows:
        for seat in row.seats:
            column, line = math.floor(seat.x / reach), math.floor(seat.y / reach)
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    for other in cells.get((column + dx, line + dy), ()):
                        distance = math.dist(seat.place, other.place)
                        if distance < reach:
                            yield other, seat, distance
            cells.setdefault((column, line), []).append(seat)


def _of_shapes(draft: PlanDraft) -> Iterator[PlanFault]:
    for shape in draft.all_shapes:
        left, top, right, bottom = bounds_of(shape)
        chosen = Selection(shapes=frozenset({shape.shape_id}))
        if left < 0 or top < 0 or right > draft.width or bottom > draft.height:
            yield PlanFault(FaultCode.SHAPE_OUTSIDE, chosen, shape.text)
        if shape.shape == "text" and not shape.text.strip():
            yield PlanFault(FaultCode.SHAPE_WITHOUT_TEXT, chosen)


def bounds_of(shape: DraftShape) -> tuple[float, float, float, float]:
    """Left, top, right and bottom, without the shape's rotation."""
    if shape.points:
        xs, ys = [x for x, _y in shape.points], [y for _x, y in shape.points]
        return min(xs), min(ys), max(xs), max(ys)
    if shape.shape == "rectangle":
        return shape.x, shape.y, shape.x + shape.width, shape.y + shape.height
    half_width, half_height = shape.width / 2, shape.height / 2
    return shape.x - half_width, shape.y - half_height, shape.x + half_width, shape.y + half_height
