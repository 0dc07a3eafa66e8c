"""Who sits beside whom: the parts of rows, derived from order and distances as the booking system does, and corrected.

Printed numbers say nothing about it. Two seats of a row that stand further apart than `GAP` times the usual distance
have an aisle between them (`booking/domain/seating_plan/columns.py`; a test holds both to each other). So whoever
corrects it moves seats: an aisle is opened or closed, or the order of the seats is made that of their places.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from app.core.plan_draft import DraftRow, DraftSeat, PlanDraft
from app.core.plan_geometry import Steps
from app.core.plan_memo import Memo

GAP: Final = 1.75
SHORT_ROW: Final = 3
"""Distances; a row with fewer is measured by its section too."""
_AISLE: Final = 1.0
"""How much wider an aisle makes a distance, as a share of the usual one."""


@dataclass(frozen=True, slots=True)
class _RowSteps:
    """Distances in one row: all, the usual one, the widest."""

    steps: Steps
    usual: float
    widest: float


_STEPS: Final[Memo[DraftRow, _RowSteps]] = Memo()


def aisles_of(draft: PlanDraft) -> dict[int, tuple[int, ...]]:
    """By row: the places in it before which an aisle is. Rows without one are not named."""
    known = _STEPS.of(draft.rows, _steps_of_row)
    usual = _usual_distances(draft, known)
    found: dict[int, tuple[int, ...]] = {}
    for row, own, distance in zip(draft.rows, known, usual, strict=True):
        if own.widest > GAP * distance:
            found[row.row_id] = tuple(int(place) for place in np.flatnonzero(own.steps > GAP * distance) + 1)
    return found


def parts_of(row: DraftRow, aisles: tuple[int, ...]) -> tuple[int, ...]:
    """How many seats sit side by side in each part of a row."""
    ends = (0, *aisles, len(row.seats))
    return tuple(after - before for before, after in pairwise(ends))


def _steps_of(row: DraftRow) -> Steps:
    return np.array([math.dist(*pair) for pair in pairwise(row.places)], np.float64)


def _steps_of_row(row: DraftRow) -> _RowSteps:
    steps = _steps_of(row)
    return _RowSteps(steps, _lower_median(steps), float(steps.max()) if len(steps) else 0.0)


def _usual_distances(draft: PlanDraft, known: list[_RowSteps]) -> Iterator[float]:
    """For each row the distance that is usual in it; rows that are too short to tell go by their section as well."""
    short = {row.section_id for row, own in zip(draft.rows, known, strict=True) if len(own.steps) < SHORT_ROW}
    by_section: dict[int, list[Steps]] = {section_id: [] for section_id in short}
    for row, own in zip(draft.rows, known, strict=True):
        if row.section_id in short:
            by_section[row.section_id].append(own.steps)
    medians = {section: _lower_median(np.concatenate(parts)) for section, parts in by_section.items()}
    for row, own in zip(draft.rows, known, strict=True):
        yield min(own.usual, medians[row.section_id]) if len(own.steps) < SHORT_ROW else own.usual


def _lower_median(steps: Steps) -> float:
    if len(steps) == 0:
        return math.inf
    middle = (len(steps) - 1) // 2
    return float(np.partition(steps, middle)[middle])


# ---------------------------------------------------------------- corrections


def open_aisle(draft: PlanDraft, guid: str) -> PlanDraft:
    """An aisle before this seat: it and those behind it move on along the row. The first seat of a row has none."""
    for row in draft.rows:
        place = next((place for place, seat in enumerate(row.seats) if seat.guid == guid), 0)
        if place:
            return _changed(draft, row, _moved_on(row, place, draft.distance * _AISLE))
    return draft


def close_aisles(draft: PlanDraft, row_ids: Iterable[int]) -> PlanDraft:
    """Seats behind an aisle move up to those before it, so that all of the row are neighbours."""
    aisles, wanted = aisles_of(draft), set(row_ids)
    for row in draft.rows:
        if row.row_id not in wanted or row.row_id not in aisles:
            continue
        closed = row
        for place in aisles[row.row_id]:
            gap = math.dist(closed.seats[place - 1].place, closed.seats[place].place)
            closed = replace(closed, seats=_moved_on(closed, place, _usual_of(row) - gap))
        draft = _changed(draft, row, closed.seats)
    return draft


def order_along(draft: PlanDraft, row_ids: Iterable[int]) -> PlanDraft:
    """The order of the seats becomes that of their places along the row; tables stay as they go round."""
    wanted = set(row_ids)
    for row in draft.rows:
        if row.row_id in wanted and row.table is None and len(row.seats) > 1:
            (x0, y0), (x1, y1) = _ends_of(row)
            ordered = sorted(row.seats, key=lambda seat: (seat.x - x0) * (x1 - x0) + (seat.y - y0) * (y1 - y0))
            draft = _changed(draft, row, tuple(ordered))
    return draft


def _ends_of(row: DraftRow) -> tuple[tuple[float, float], tuple[float, float]]:
    """The two seats that stand furthest apart, the one that comes first in the row first."""
    first = row.seats[0]
    far = max(row.seats, key=lambda seat: math.dist(seat.place, first.place))
    other = max(row.seats, key=lambda seat: math.dist(seat.place, far.place))
    one, two = sorted((far, other), key=lambda seat: math.dist(seat.place, first.place))
    return one.place, two.place


def _usual_of(row: DraftRow) -> float:
    return _lower_median(_steps_of(row))


def _moved_on(row: DraftRow, place: int, by: float) -> tuple[DraftSeat, ...]:
    """The seats from `place` on moved by so much, in the direction from the seat before."""
    before, at = row.seats[place - 1], row.seats[place]
    length = math.dist(before.place, at.place)
    if length == 0:
        return row.seats
    dx, dy = (at.x - before.x) / length * by, (at.y - before.y) / length * by
    moved = (replace(seat, x=round(seat.x + dx, 3), y=round(seat.y + dy, 3)) for seat in row.seats[place:])
    return (*row.seats[:place], *moved)


def _changed(draft: PlanDraft, row: DraftRow, seats: tuple[DraftSeat, ...]) -> PlanDraft:
    if seats == row.seats:
        return draft
    changed = replace(row, seats=seats)
    return replace(draft, rows=tuple(changed if one.row_id == row.row_id else one for one in draft.rows))
