"""The ground under each section: outlines that follow curved rows instead of covering the stage with a hull.

A row is cut into runs where an aisle crosses it. Runs of successive rows that stand behind each other form a block; its
outline is the front run, the right ends, the back run reversed and the left ends, moved outwards by a margin. All of it
is done with whole columns, so that 120,000 seats cost a few milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPolygonF

from widgets.seat_map.camera import Bounds
from widgets.seat_map.plan import Float32s, Indices, SeatMapPlan

MARGIN_PITCHES = 0.85
_AISLE_PITCHES = 1.9
_BLOCK_PITCHES = 2.6  # rows farther apart than this belong to different blocks
_FACE_POINTS = 14
_SIDE_POINTS = 12

Points = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bed:
    """One block of seats: its section, outline and bounds (plan units)."""

    section: int
    outline: QPolygonF
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class _Runs:
    """Unbroken stretches of rows, ordered so that runs behind each other follow each other."""

    first: Indices
    last: Indices
    section: Indices
    block: Indices


def lay_beds(plan: SeatMapPlan, pitch: float) -> tuple[Bed, ...]:
    """Outlines of all blocks of a plan."""
    if not plan.seat_count:
        return ()
    runs = _find_runs(plan, pitch)
    edges = np.flatnonzero(np.diff(runs.block)) + 1
    starts = np.concatenate(([0], edges))
    stops = np.concatenate((edges, [len(runs.block)]))
    margin = pitch * MARGIN_PITCHES
    return tuple(_bed(plan, runs, int(start), int(stop), margin) for start, stop in zip(starts, stops, strict=True))


def _find_runs(plan: SeatMapPlan, pitch: float) -> _Runs:
    gap = np.hypot(np.diff(plan.x), np.diff(plan.y))
    cut = (np.diff(plan.row_no) != 0) | (gap > pitch * _AISLE_PITCHES)
    first = np.concatenate(([0], np.flatnonzero(cut) + 1)).astype(np.intp)
    last = np.concatenate((first[1:] - 1, [plan.seat_count - 1])).astype(np.intp)
    row = plan.row_no[first]
    section = plan.seat_section[first].astype(np.intp)
    run_of_row = _rank(row)
    order = np.lexsort((row, run_of_row, section))
    first, last, section, rank = first[order], last[order], section[order], run_of_row[order]
    middle_x = (plan.x[first] + plan.x[last]) / 2
    middle_y = (plan.y[first] + plan.y[last]) / 2
    apart = np.hypot(np.diff(middle_x), np.diff(middle_y)) > pitch * _BLOCK_PITCHES
    new = (np.diff(section) != 0) | (np.diff(rank) != 0) | apart
    block = np.concatenate(([0], np.cumsum(new))).astype(np.intp)
    return _Runs(first, last, section, block)


def _rank(row: npt.NDArray[np.int32]) -> Indices:
    """Position of each run among the runs of its row."""
    new = np.concatenate(([True], np.diff(row) != 0))
    start = np.maximum.accumulate(np.where(new, np.arange(len(row)), 0))
    return np.arange(len(row)) - start


def _bed(plan: SeatMapPlan, runs: _Runs, start: int, stop: int, margin: float) -> Bed:
    first, last = runs.first[start:stop], runs.last[start:stop]
    front = _points(plan.x, plan.y, _sample(int(first[0]), int(last[0]), _FACE_POINTS))
    back = _points(plan.x, plan.y, _sample(int(first[-1]), int(last[-1]), _FACE_POINTS))
    away = back.mean(axis=0) - front.mean(axis=0)
    if len(front) > 1 and stop - start == 1:
        away = np.array([front[0, 1] - front[-1, 1], front[-1, 0] - front[0, 0]])
    if not away.any():
        away = np.array([0.0, 1.0])
    outline = np.concatenate(
        (
            _moved_face(front, -away, margin),
            _side(plan, last, first, margin),
            _moved_face(back, away, margin)[::-1],
            _side(plan, first, last, margin)[::-1],
        )
    )
    low, high = outline.min(axis=0), outline.max(axis=0)
    polygon = QPolygonF([QPointF(x, y) for x, y in outline.tolist()])
    return Bed(int(runs.section[start]), polygon, Bounds(float(low[0]), float(low[1]), float(high[0]), float(high[1])))


def _sample(first: int, last: int, most: int) -> Indices:
    """Evenly spread seat numbers of a run, both ends included."""
    count = last - first + 1
    if count <= most:
        return np.arange(first, last + 1)
    return np.rint(np.linspace(first, last, most)).astype(np.intp)


def _points(x: Float32s, y: Float32s, at: Indices) -> Points:
    return np.stack((x[at], y[at]), axis=-1).astype(np.float64)


def _moved_face(face: Points, towards: Points, margin: float) -> Points:
    """A front or back moved outwards along its normals and lengthened at both ends."""
    if len(face) == 1:
        unit = towards / np.hypot(*towards)
        along = np.array([unit[1], -unit[0]]) * margin
        ends = np.stack((face[0] - along, face[0] + along)) + unit * margin
        ordered: Points = ends if float(along[0]) >= 0 else ends[::-1]
        return ordered
    tangent = np.gradient(face, axis=0)
    tangent /= np.hypot(tangent[:, 0], tangent[:, 1]).clip(1e-9)[:, None]
    normal = np.stack((tangent[:, 1], -tangent[:, 0]), axis=-1)
    normal *= np.where(normal @ towards >= 0, 1.0, -1.0)[:, None]
    moved: Points = face + normal * margin
    moved[0] -= tangent[0] * margin
    moved[-1] += tangent[-1] * margin
    return moved


def _side(plan: SeatMapPlan, ends: Indices, others: Indices, margin: float) -> Points:
    """The ends of a block's runs on one side, moved outwards; the first and last run are part of the faces already."""
    inner = slice(1, -1)
    ends, others = ends[inner], others[inner]
    if len(ends) > _SIDE_POINTS:
        at = np.rint(np.linspace(0, len(ends) - 1, _SIDE_POINTS)).astype(np.intp)
        ends, others = ends[at], others[at]
    if not len(ends):
        return np.empty((0, 2))
    end = _points(plan.x, plan.y, ends)
    inwards = np.where(ends > others, ends - 1, np.where(ends < others, ends + 1, ends))
    tangent = end - _points(plan.x, plan.y, inwards)
    length = np.hypot(tangent[:, 0], tangent[:, 1])
    tangent = np.where(length[:, None] > 0, tangent / length.clip(1e-9)[:, None], 0.0)
    moved: Points = end + tangent * margin
    return moved
