"""Seats that stand where others stand, overlap them, or are outside of the hall: over all seats at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from app.core.plan_draft import DraftRow, PlanDraft, Selection
from app.core.plan_fault_kinds import FaultCode, PlanFault
from app.core.plan_floors import floor_of_row
from app.core.plan_geometry import MAX_COORDINATE
from app.core.plan_memo import Memo

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_TOO_NEAR: Final = 0.999
"""Seats overlap when they are nearer than this share of their diameter."""
_PLACES: Final = 3
_CROWD: Final = 64
"""So many seats in a cell of one seat's size overlap whatever their distances are."""
_STRIDE: Final = 1 << 31
_HALF_ROUND: Final = ((0, 1), (1, -1), (1, 0), (1, 1))
"""Cells beside a cell; the other half is found from the other side."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """The seats of one row."""

    guids: tuple[str, ...]
    at: Floats
    """x and y, one line a seat."""


_PLACED: Final[Memo[DraftRow, _Placed]] = Memo()


def faults_of_places(draft: PlanDraft) -> Iterator[PlanFault]:
    """Seats of different floors may stand over each other."""
    placed = _PLACED.of(draft.rows, _placed)
    if not placed:
        return
    guids = [guid for row in placed for guid in row.guids]
    at = np.concatenate([row.at for row in placed])
    floors = np.repeat([floor_of_row(draft, row.section_id) for row in draft.rows], [len(row.guids) for row in placed])
    together, near = np.zeros(len(guids), np.bool_), np.zeros(len(guids), np.bool_)
    for floor_no in np.unique(floors):
        own = np.flatnonzero(floors == floor_no)
        together[own] = seats_together(at[own])
        near[own] = seats_too_near(at[own], 2 * draft.seat_radius * _TOO_NEAR)
    near &= ~together
    outside = ((at < 0) | (at > (draft.width, draft.height))).any(axis=1)
    beyond = (np.abs(at) > MAX_COORDINATE).any(axis=1)
    for code, which in (
        (FaultCode.OUT_OF_RANGE, beyond),
        (FaultCode.SEATS_COINCIDE, together),
        (FaultCode.SEATS_OVERLAP, near),
        (FaultCode.SEATS_OUTSIDE, outside),
    ):
        found = frozenset(guids[place] for place in np.flatnonzero(which))
        if found:
            yield PlanFault(code, Selection(seats=found), count=len(found))


def seats_together(at: Floats) -> Flags:
    """Which seats stand at the place of another, to a thousandth of a unit."""
    if not len(at):
        return np.zeros(0, np.bool_)
    steps = np.round(at * 10**_PLACES).astype(np.int64)
    _places, which, counts = np.unique(
        steps[:, 0] * (2 * _STRIDE) + steps[:, 1], return_inverse=True, return_counts=True
    )
    together: Flags = counts[which.reshape(-1)] > 1
    return together


def seats_too_near(at: Floats, reach: float) -> Flags:
    """Which seats are nearer than `reach` to another, found in cells of that size."""
    near = np.zeros(len(at), np.bool_)
    if reach <= 0 or len(at) < 2:
        return near
    cells = np.floor(at / reach).astype(np.int64)
    cells -= cells.min(axis=0)
    order = np.lexsort((cells[:, 1], cells[:, 0]))
    keys = cells[order, 0] * _STRIDE + cells[order, 1]
    places = at[order]
    first, last = np.searchsorted(keys, keys, "left"), np.searchsorted(keys, keys, "right")
    crowded = last - first > _CROWD
    found = crowded.copy()
    _mark(found, places, np.arange(1, len(at) + 1), np.where(crowded, 0, last), reach)
    for dx, dy in _HALF_ROUND:
        beside = keys + dx * _STRIDE + dy
        first, last = np.searchsorted(keys, beside, "left"), np.searchsorted(keys, beside, "right")
        full = crowded | (last - first > _CROWD)
        _mark(found, places, first, np.where(full, 0, last), reach)
    near[order] = found
    return near


def _mark(found: Flags, places: Floats, first: Ints, last: Ints, reach: float) -> None:
    """Mark each seat and those from `first` to before `last` of it that are too near to it."""
    counts = np.maximum(last - first, 0)
    total = int(counts.sum())
    if not total:
        return
    one = np.repeat(np.arange(len(places)), counts)
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    other = np.repeat(first, counts) + within
    close = np.hypot(*(places[one] - places[other]).T) < reach
    found[one[close]] = True
    found[other[close]] = True


def _placed(row: DraftRow) -> _Placed:
    at = np.array([(seat.x, seat.y) for seat in row.seats], np.float64).reshape(-1, 2)
    return _Placed(tuple(seat.guid for seat in row.seats), at)
