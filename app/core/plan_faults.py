"""What is not right in a draft, live: faults that the booking system would refuse, and warnings that it would not (I3).

Whoever shows them has the words; `where` is what to choose in the drawing to see it. A test holds the verdicts here to
those of the booking system's reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from app.core.plan_areas import bounds_of
from app.core.plan_draft import PlanDraft, Selection
from app.core.plan_fault_kinds import MAX_TEXT, WARNINGS, FaultCode, PlanFault, is_usable, looks_of
from app.core.plan_floors import floor_count
from app.core.plan_geometry import MAX_COORDINATE
from app.core.plan_place_faults import faults_of_places
from app.core.plan_row_faults import faults_of_rows, faults_of_seats, row_facts

__all__ = ["SHOWN_AT_MOST", "WARNINGS", "FaultCode", "PlanFault", "faults_of", "may_be_saved"]

SHOWN_AT_MOST: Final = 200
MAX_CATEGORIES: Final = 64
_LEAST_PICTURE: Final = 0.1
_MOST: Final = {"seats": 200_000, "sections": 2_000, "rows": 50_000, "areas": 5_000, "standing": 1_000}


def faults_of(draft: PlanDraft) -> tuple[PlanFault, ...]:
    """Everything that is wrong, faults first, each kind in the order of the plan."""
    found = [
        *_of_plan(draft), *_of_floors(draft), *_of_categories(draft), *_of_sections(draft), *faults_of_rows(draft),
        *faults_of_seats(draft), *faults_of_places(draft), *_of_standing(draft), *_of_sizes(draft), *_of_shapes(draft),
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda fault: fault.is_warning))


def may_be_saved(faults: Iterable[PlanFault]) -> bool:
    """Whether the booking system would take the plan, as far as the console knows."""
    return all(fault.is_warning for fault in faults)


def _of_plan(draft: PlanDraft) -> Iterator[PlanFault]:
    if not draft.name.strip():
        yield PlanFault(FaultCode.PLAN_UNNAMED)
    if not is_usable(draft.name):
        yield PlanFault(FaultCode.TEXT_UNUSABLE, name=draft.name[:20])
    seats = draft.seat_count
    if not seats and not draft.standing:
        yield PlanFault(FaultCode.NO_SEATS)
    sizes = (seats, len(draft.sections), len(draft.rows), len(draft.shapes), len(draft.standing))
    if any(size > most for size, most in zip(sizes, _MOST.values(), strict=True)):
        yield PlanFault(FaultCode.TOO_LARGE)


def _of_floors(draft: PlanDraft) -> Iterator[PlanFault]:
    for name in draft.floors:
        if not name.strip():
            yield PlanFault(FaultCode.FLOOR_UNNAMED)
        if len(name) > MAX_TEXT or not name.isprintable():
            yield PlanFault(FaultCode.TEXT_UNUSABLE, name=name[:20])
    count = floor_count(draft)
    for section in draft.sections:
        if section.floor_no >= count:
            rows = frozenset(row.row_id for row in draft.rows_of(section.section_id))
            yield PlanFault(FaultCode.FLOOR_UNKNOWN, Selection(rows), section.name)
    lost = {shape.shape_id: shape.text for shape in draft.all_shapes if shape.floor_no >= count}
    lost |= {picture.picture_id: "" for picture in draft.pictures if picture.floor_no >= count}
    for key, name in lost.items():
        standing = draft.standing_of(key)
        where = Selection(shapes=frozenset({key}))
        yield PlanFault(FaultCode.FLOOR_UNKNOWN, where, name if standing is None else standing.name)


def _of_categories(draft: PlanDraft) -> Iterator[PlanFault]:
    used = frozenset[int]().union(*(facts.categories for facts in row_facts(draft)))
    used |= {area.category_id for area in draft.standing}
    if len(draft.categories) > MAX_CATEGORIES:
        yield PlanFault(FaultCode.TOO_LARGE)
    first: dict[str, str] = {}
    seen: set[str] = set()
    for category in draft.categories:
        name = category.name.strip()
        before = first.setdefault(looks_of(name), name)
        if not name:
            yield PlanFault(FaultCode.CATEGORY_UNNAMED)
        elif name in seen:
            yield PlanFault(FaultCode.CATEGORY_REPEATS, name=name)
        elif before != name:
            yield PlanFault(FaultCode.CATEGORY_LOOKS_ALIKE, name=name)
        elif category.category_id not in used:
            yield PlanFault(FaultCode.CATEGORY_UNUSED, name=name)
        if not is_usable(category.name):
            yield PlanFault(FaultCode.TEXT_UNUSABLE, name=name[:20])
        seen.add(name)


def _of_sections(draft: PlanDraft) -> Iterator[PlanFault]:
    rows_of: dict[int, list[int]] = {}
    for row in draft.rows:
        rows_of.setdefault(row.section_id, []).append(row.row_id)
    first: dict[str, str] = {}
    seen: set[str] = set()
    for section in draft.sections:
        name = section.name.strip()
        where = Selection(frozenset(rows_of.get(section.section_id, ())))
        before = first.setdefault(looks_of(name), name)
        if not name:
            yield PlanFault(FaultCode.SECTION_UNNAMED, where)
        elif before != name:
            yield PlanFault(FaultCode.SECTION_LOOKS_ALIKE, where, name)
        elif name in seen:
            yield PlanFault(FaultCode.SECTION_REPEATS, where, name)
        if section.section_id not in rows_of:
            yield PlanFault(FaultCode.SECTION_EMPTY, name=name)
        if not is_usable(section.name):
            yield PlanFault(FaultCode.TEXT_UNUSABLE, where, name[:20])
        seen.add(name)


def _of_standing(draft: PlanDraft) -> Iterator[PlanFault]:
    known = {category.category_id for category in draft.categories}
    seen: set[str] = set()
    for area in draft.standing:
        name, where = area.name.strip(), Selection(shapes=frozenset({area.area.shape_id}))
        if not name:
            yield PlanFault(FaultCode.STANDING_UNNAMED, where)
        elif name in seen:
            yield PlanFault(FaultCode.STANDING_REPEATS, where, name)
        if not is_usable(area.name):
            yield PlanFault(FaultCode.TEXT_UNUSABLE, where, name[:20])
        if area.category_id not in known:
            yield PlanFault(FaultCode.STANDING_WITHOUT_CATEGORY, where, name)
        seen.add(name)


def _of_sizes(draft: PlanDraft) -> Iterator[PlanFault]:
    """What is further away, or larger, than a plan may say; seats are looked at elsewhere."""
    if draft.focal is not None and not _in_range(*draft.focal):
        yield PlanFault(FaultCode.OUT_OF_RANGE)
    for row in draft.rows:
        table = row.table
        if table is not None and not _in_range(table.x, table.y, table.width, table.height):
            yield PlanFault(FaultCode.OUT_OF_RANGE, Selection(frozenset({row.row_id})), row.label)
    for shape in draft.all_shapes:
        words = (shape.x, shape.y) if shape.text_at is None else shape.text_at
        offset = words[0] - shape.x, words[1] - shape.y
        ends = [side for x, y in shape.points for side in (x - shape.x, y - shape.y)]
        if not _in_range(shape.x, shape.y, shape.width, shape.height, *offset, *ends):
            yield PlanFault(FaultCode.OUT_OF_RANGE, Selection(shapes=frozenset({shape.shape_id})), shape.text)
    for one in draft.pictures:
        if not _in_range(one.x, one.y, one.width, one.height) or min(one.width, one.height) < _LEAST_PICTURE:
            yield PlanFault(FaultCode.OUT_OF_RANGE, Selection(shapes=frozenset({one.picture_id})))


def _in_range(*values: float) -> bool:
    return all(abs(value) <= MAX_COORDINATE for value in values)


def _of_shapes(draft: PlanDraft) -> Iterator[PlanFault]:
    for shape in draft.all_shapes:
        left, top, right, bottom = bounds_of(shape)
        chosen = Selection(shapes=frozenset({shape.shape_id}))
        if left < 0 or top < 0 or right > draft.width or bottom > draft.height:
            yield PlanFault(FaultCode.SHAPE_OUTSIDE, chosen, shape.text)
        if shape.shape == "text" and not shape.text.strip():
            yield PlanFault(FaultCode.SHAPE_WITHOUT_TEXT, chosen)
        if not is_usable(shape.text):
            yield PlanFault(FaultCode.TEXT_UNUSABLE, chosen, shape.text[:20])
