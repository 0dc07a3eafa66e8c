"""What is wrong with rows and their seats. What holds for one row alone is found out once for each row that is new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.core.plan_draft import DraftRow, DraftSeat, PlanDraft, Selection
from app.core.plan_fault_kinds import FaultCode, PlanFault, is_usable, looks_of
from app.core.plan_memo import Memo

Guids = frozenset[str]


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What is so about the seats of one row: without a number, with the same number, with an unusable one; the
    categories that they have.
    """

    unnumbered: Guids
    repeated: tuple[tuple[str, Guids], ...]
    unusable: Guids
    categories: frozenset[int]


_FACTS: Final[Memo[DraftRow, RowFacts]] = Memo()


def row_facts(draft: PlanDraft) -> list[RowFacts]:
    """The facts about each row, in the order of the plan."""
    return _FACTS.of(draft.rows, _facts_of)


def faults_of_rows(draft: PlanDraft) -> Iterator[PlanFault]:
    """Rows without seats or a name, and names that are there twice or cannot be told apart."""
    names = {section.section_id: section.name for section in draft.sections}
    first: dict[tuple[int, str], str] = {}
    seen: set[tuple[int, str]] = set()
    for row in draft.rows:
        label, section = row.label.strip(), names.get(row.section_id, "")
        chosen = Selection(frozenset({row.row_id}))
        if not row.seats:
            yield PlanFault(FaultCode.ROW_EMPTY, chosen, label, section)
        if not all(is_usable(text) for text in (label, row.row_text, row.seat_text)):
            yield PlanFault(FaultCode.TEXT_UNUSABLE, chosen, label[:20])
        if not label:
            yield PlanFault(FaultCode.ROW_UNNAMED, chosen, section=section)
            continue
        before = first.setdefault((row.section_id, looks_of(label)), label)
        if before != label:
            yield PlanFault(FaultCode.ROW_LOOKS_ALIKE, chosen, label, section)
        elif (row.section_id, label) in seen:
            yield PlanFault(FaultCode.ROW_REPEATS, chosen, label, section)
        seen.add((row.section_id, label))


def faults_of_seats(draft: PlanDraft) -> Iterator[PlanFault]:
    """Seats without a number or category, with the number of another, or one that cannot be used."""
    names = {section.section_id: section.name for section in draft.sections}
    known = {category.category_id for category in draft.categories}
    bare: list[str] = []
    for row, facts in zip(draft.rows, row_facts(draft), strict=True):
        section = names.get(row.section_id, "")
        if facts.unnumbered:
            where, count = Selection(seats=facts.unnumbered), len(facts.unnumbered)
            yield PlanFault(FaultCode.SEAT_UNNUMBERED, where, row.label, section, count)
        for number, guids in facts.repeated:
            yield PlanFault(FaultCode.SEAT_REPEATS, Selection(seats=guids), f"{row.label} {number}", section)
        if facts.unusable:
            yield PlanFault(FaultCode.TEXT_UNUSABLE, Selection(seats=facts.unusable), row.label[:20])
        if not facts.categories <= known:
            bare += [seat.guid for seat in row.seats if seat.category_id not in known]
    if bare:
        yield PlanFault(FaultCode.NO_CATEGORY, Selection(seats=frozenset(bare)), count=len(bare))


def _facts_of(row: DraftRow) -> RowFacts:
    return RowFacts(
        frozenset(seat.guid for seat in row.seats if not seat.number.strip()),
        tuple(_repeated(row.seats)),
        frozenset(seat.guid for seat in row.seats if not is_usable(seat.number)),
        frozenset(seat.category_id for seat in row.seats),
    )


def _repeated(seats: tuple[DraftSeat, ...]) -> Iterator[tuple[str, Guids]]:
    by_number: dict[str, list[str]] = {}
    for seat in seats:
        if seat.number.strip():
            by_number.setdefault(looks_of(seat.number), []).append(seat.guid)
    for number, guids in by_number.items():
        if len(guids) > 1:
            yield number, frozenset(guids)
