"""Tables that were copied and never moved: one exactly upon another is drawn beside it, and said so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from booking.domain.seating_plan.drafts import RowDraft, SeatDraft, SectionDraft
from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.model import Point
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.sayings import Says


def set_tables_apart(findings: Findings, sections: Sequence[SectionDraft]) -> None:
    """Move each table whose seats all stand where those of an earlier table stand: to the right, to where none is.

    Only who sits at which table counts for a sale, and that stays. Without the repair the seats are reported one by
    one, as seats at the same point.
    """
    if not findings.may(Repair.SET_TABLES_APART):
        return
    taken: dict[tuple[int, tuple[tuple[float, float], ...]], str] = {}
    for section, row in _tables(sections):
        places = _places(row)
        if not places:
            continue
        shift, step = 0, _step(row, places)
        first = taken.get((section.floor_no, places))
        while (section.floor_no, _moved(places, shift * step)) in taken:
            shift += 1
        if shift:
            _move(row, shift * step)
            message = Says.TABLE_MOVED.of(name=row.label, other=first or "", distance=shift * step)
            findings.repaired(row.pointer, FindingCode.TABLE_MOVED, message, repair=Repair.SET_TABLES_APART)
        taken[section.floor_no, _moved(places, shift * step)] = row.label


def _tables(sections: Sequence[SectionDraft]) -> Iterator[tuple[SectionDraft, RowDraft]]:
    for section in sections:
        for row in section.rows:
            if row.table is not None:
                yield section, row


def _step(row: RowDraft, places: tuple[tuple[float, float], ...]) -> float:
    """How far the next table stands: its whole width with its seats, and once more the room that one seat has."""
    width = max(max(x for x, _ in places) - min(x for x, _ in places), row.table.width if row.table else 0.0)
    room = min((math.dist(one, other) for one, other in pairwise(places)), default=width)
    return round(width + room, 3) or 1.0


def _places(row: RowDraft) -> tuple[tuple[float, float], ...]:
    return tuple(sorted((round(seat.at.x, 3), round(seat.at.y, 3)) for seat in row.seats if seat.at is not None))


def _moved(places: tuple[tuple[float, float], ...], dx: float) -> tuple[tuple[float, float], ...]:
    return tuple((round(x + dx, 3), y) for x, y in places)


def _move(row: RowDraft, dx: float) -> None:
    for seat in row.seats:
        seat.at = _shifted(seat, dx)
    if row.table is not None:
        row.table = replace(row.table, x=round(row.table.x + dx, 6))


def _shifted(seat: SeatDraft, dx: float) -> Point | None:
    return None if seat.at is None else Point(round(seat.at.x + dx, 6), seat.at.y)
