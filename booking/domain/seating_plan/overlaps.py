"""Seats that lie over each other: a section that was copied and hardly moved sells two buyers one chair (case I3).

Files say nothing of sizes that could be trusted, so what is too near goes by what is around: two seats overlap when
their middles are nearer than half of what lies between neighbours of the tighter one of their rows, and hardly any
other seat is as near as twice that distance. The second is for drawings whose rows are no rows: seats of one label that
are all over the hall. 120,000 seats take a third of a second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from booking.domain.seating_plan.drafts import RowDraft
from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.sayings import Says

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_TOO_NEAR = 0.5
_SAME_PLACE = 0.001
"""Nearer seats are a fault of their own: they stand at one point."""
_FEW = 2
"""So many seats may be within twice the distance of two that overlap: copies of copies."""
_CROWD = 12
"""Of seats in one cell of the search each is compared with so many at most: a heap is told without a search of it."""
_STRIDE = 1 << 32
_HALF_ROUND = ((0, 0), (0, 1), (1, -1), (1, 0), (1, 1))


def check_overlaps(findings: Findings, rows: Sequence[RowDraft], place: str) -> None:
    """A warning for each seat that lies over one that stands before it in the file; all rows are of one floor.

    `place` leads from a seat's pointer to the member that says where it stands.
    """
    seats = [(seat.pointer, seat.at) for row in rows for seat in row.seats if seat.at is not None]
    if len(seats) < 2:
        return
    at = np.array([(point.x, point.y) for _, point in seats], np.float64)
    pitch = _pitches(rows)
    one, other, distance = _pairs(at, np.minimum(pitch, _room_of_each(at)))
    told: set[int] = set()
    for first, second, apart in zip(one.tolist(), other.tolist(), distance.tolist(), strict=True):
        if second not in told:
            told.add(second)
            near = round(float(min(pitch[first], pitch[second])), 3)
            message = Says.SEATS_OVERLAP.of(place=seats[first][0], distance=round(apart, 3), size=near)
            findings.warn(seats[second][0] + place, FindingCode.SEATS_OVERLAP, message)


def _pitches(rows: Sequence[RowDraft]) -> Floats:
    """For each seat with a place how far apart the seats of its row are, in the middle of all distances."""
    places = [[(seat.at.x, seat.at.y) for seat in row.seats if seat.at is not None] for row in rows]
    own = [_pitch_of(np.array(row, np.float64)) if len(row) > 1 else 0.0 for row in places]
    known = [pitch for pitch in own if pitch > 0]
    usual = float(np.median(known)) if known else 0.0
    return np.repeat(np.array([pitch or usual for pitch in own], np.float64), [len(row) for row in places])


def _room_of_each(at: Floats) -> float:
    """How far apart the seats would be if they were spread over all of the hall: neighbours are no further."""
    width, height = np.ptp(at, axis=0).tolist()
    return math.sqrt(width * height / len(at)) or max(width, height) / len(at)


def _pitch_of(row: Floats) -> float:
    steps = np.hypot(*np.diff(row, axis=0).T)
    steps = steps[steps > _SAME_PLACE]
    return float(np.median(steps)) if len(steps) else 0.0


def _pairs(at: Floats, pitch: Floats) -> tuple[Ints, Ints, Floats]:
    """Pairs of seats that are too near, the one that stands first in the file first; sorted by the other."""
    reach = float(pitch.max()) * _TOO_NEAR
    if reach <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float64)
    cells = np.floor((at - at.min(axis=0)) / reach).astype(np.int64)
    keys = cells[:, 0] * _STRIDE + cells[:, 1]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    places = np.arange(len(order))
    ones: list[Ints] = []
    others: list[Ints] = []
    for dx, dy in _HALF_ROUND:
        beside = keys + dx * _STRIDE + dy
        first = places + 1 if (dx, dy) == (0, 0) else np.searchsorted(keys, beside, "left")
        last = np.searchsorted(keys, beside, "right")
        counts = np.clip(last - first, 0, _CROWD)
        one = np.repeat(places, counts)
        within = np.arange(len(one)) - np.repeat(np.cumsum(counts) - counts, counts)
        ones.append(order[one])
        others.append(order[np.repeat(first, counts) + within])
    one, other = np.concatenate(ones), np.concatenate(others)
    distance = np.hypot(*(at[one] - at[other]).T)
    near = (distance > _SAME_PLACE) & (distance < np.minimum(pitch[one], pitch[other]) * _TOO_NEAR)
    one, other, distance = one[near], other[near], distance[near]
    lone = _count_within(at, one, 2 * distance) <= _FEW
    one, other, distance = one[lone], other[lone], distance[lone]
    one, other = np.minimum(one, other), np.maximum(one, other)
    sorted_by_other = np.lexsort((one, other))
    return one[sorted_by_other], other[sorted_by_other], distance[sorted_by_other]


def _count_within(at: Floats, seats: Ints, radii: Floats) -> Ints:
    """How many other seats are within a radius of each of these seats; more than a crowd are not counted to the end."""
    if not len(seats):
        return np.zeros(0, np.int64)
    side = float(radii.max())
    cells = np.floor((at - at.min(axis=0)) / side).astype(np.int64)
    keys = cells[:, 0] * _STRIDE + cells[:, 1]
    order = np.argsort(keys, kind="stable")
    keys_in_order, own = keys[order], keys[seats]
    found = np.full(len(seats), -1, np.int64)  # each finds itself
    for dx in (-1, 0, 1):
        beside = own + dx * _STRIDE
        first, last = (
            np.searchsorted(keys_in_order, beside - 1, "left"),
            np.searchsorted(keys_in_order, beside + 1, "right"),
        )
        counts = np.clip(last - first, 0, 3 * _CROWD)
        one = np.repeat(np.arange(len(seats)), counts)
        within = np.arange(len(one)) - np.repeat(np.cumsum(counts) - counts, counts)
        other = order[np.repeat(first, counts) + within]
        near = np.hypot(*(at[seats[one]] - at[other]).T) <= radii[one]
        found += np.bincount(one[near], minlength=len(seats))
    return found
