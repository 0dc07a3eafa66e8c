"""The ground under each section: outlines that follow curved rows instead of covering the stage with a hull.

A row is cut into runs where an aisle crosses it. Runs of successive rows that stand behind each other form a block; its
outline is the front run, the right ends, the back run reversed and the left ends, moved outwards by a margin. All of it
is done for all blocks at once with whole columns. Seats around a table lie on a disc of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt
import shiboken6
from PySide6.QtGui import QPolygonF

from widgets.seat_map.camera import Bounds
from widgets.seat_map.plan import Indices, SeatMapPlan

MARGIN_PITCHES = 0.85
_AISLE_PITCHES = 1.9
_BLOCK_PITCHES = 2.6  # rows farther apart than this belong to different blocks
_AROUND_SHARE = 0.75
_FINE = (11, 7)  # points of a face (front or back) and of a side
_COARSE = (5, 3)

Points = npt.NDArray[np.float64]
# Memory of an address with a length, writable; the stubs know only the address.
_open_memory = cast("Callable[[object, int, bool], memoryview[int]]", shiboken6.VoidPtr)


@dataclass(frozen=True, eq=False)
class Bed:
    """One block of seats: the corners (x, y) of its outline for near and for far views and its bounds (plan units).

    `alone` says that it is the only block of its section.
    """

    section: int
    alone: bool
    fine: Points
    coarse: Points
    bounds: Bounds

    @cached_property
    def outline(self) -> QPolygonF:
        """The outline for near views, made when the block first comes so near."""
        return _polygon(self.fine)


@dataclass(frozen=True, slots=True)
class _Runs:
    """Unbroken stretches of rows, ordered so that runs behind each other follow each other; blocks of them."""

    first: Indices
    last: Indices
    section: Indices
    start: Indices  # of each block, index of its first run
    stop: Indices  # of each block, index past its last run


def lay_beds(plan: SeatMapPlan, pitch: float) -> tuple[Bed, ...]:
    """Outlines of all blocks of a plan; where a seat was removed is a gap like others."""
    plan = plan.present
    if not plan.seat_count:
        return ()
    position = np.stack((plan.x, plan.y), axis=-1).astype(np.float64)
    cut = _cuts(plan, pitch)
    runs = _find_runs(plan, position, cut, pitch)
    tangent = _tangents(position, cut)
    fine = _outlines(position, tangent, runs, pitch * MARGIN_PITCHES, *_FINE)
    coarse = _outlines(position, tangent, runs, pitch * MARGIN_PITCHES, *_COARSE)
    for block in np.flatnonzero(_around(position, runs.first[runs.start], runs.last[runs.stop - 1])).tolist():
        run = runs.start[block]
        if runs.stop[block] - run == 1:
            seats = position[runs.first[run] : runs.last[run] + 1]
            fine[block] = _disc(seats, pitch * MARGIN_PITCHES, fine.shape[1])
            coarse[block] = _disc(seats, pitch * MARGIN_PITCHES, coarse.shape[1])
    corners = np.concatenate((fine.min(axis=1), fine.max(axis=1)), axis=1).tolist()
    sections = runs.section[runs.start]
    alone = (np.bincount(sections)[sections] == 1).tolist()
    return tuple(
        Bed(section, alone[block], fine[block], coarse[block], Bounds(*corners[block]))
        for block, section in enumerate(sections.tolist())
    )


def _cuts(plan: SeatMapPlan, pitch: float) -> npt.NDArray[np.bool_]:
    """Between which successive seats a run ends: at the end of a row and at an aisle."""
    gap = np.hypot(np.diff(plan.x), np.diff(plan.y))
    cut: npt.NDArray[np.bool_] = (np.diff(plan.row_no) != 0) | (gap > pitch * _AISLE_PITCHES)
    return cut


def _find_runs(plan: SeatMapPlan, position: Points, cut: npt.NDArray[np.bool_], pitch: float) -> _Runs:
    first = np.concatenate(([0], np.flatnonzero(cut) + 1)).astype(np.intp)
    last = np.concatenate((first[1:] - 1, [plan.seat_count - 1])).astype(np.intp)
    row = plan.row_no[first]
    section = plan.seat_section[first].astype(np.intp)
    rank = _rank(row)
    order = np.lexsort((row, rank, section))
    first, last, section, rank = first[order], last[order], section[order], rank[order]
    middle = (position[first] + position[last]) / 2
    apart = np.hypot(*np.diff(middle, axis=0).T) > pitch * _BLOCK_PITCHES
    around = _around(position, first, last)
    new = (np.diff(section) != 0) | (np.diff(rank) != 0) | apart | around[1:] | around[:-1]
    edges = np.flatnonzero(new) + 1
    start = np.concatenate(([0], edges)).astype(np.intp)
    stop = np.concatenate((edges, [len(first)])).astype(np.intp)
    return _Runs(first, last, section, start, stop)


def _around(position: Points, first: Indices, last: Indices) -> npt.NDArray[np.bool_]:
    """Runs that go around something, as seats at a table do: far shorter from end to end than along their seats."""
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(position, axis=0).T))))
    length = along[last] - along[first]
    across = np.hypot(*(position[last] - position[first]).T)
    around: npt.NDArray[np.bool_] = across < length * _AROUND_SHARE
    return around


def _disc(seats: Points, margin: float, count: int) -> Points:
    """A circle about seats, as an outline of so many points."""
    centre = (seats.min(axis=0) + seats.max(axis=0)) / 2
    radius = float(np.hypot(*(seats - centre).T).max()) + margin
    angle = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    circle: Points = centre + radius * np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    return circle


def _rank(row: npt.NDArray[np.int32]) -> Indices:
    """Position of each run among the runs of its row."""
    new = np.concatenate(([True], np.diff(row) != 0))
    start = np.maximum.accumulate(np.where(new, np.arange(len(row)), 0))
    return np.arange(len(row)) - start


def _tangents(position: Points, cut: npt.NDArray[np.bool_]) -> Points:
    """Unit direction of the run at each seat; a seat alone looks to the right."""
    step = np.diff(position, axis=0)
    step[cut] = 0.0
    still = np.zeros((1, 2))
    tangent: Points = np.concatenate((step, still)) + np.concatenate((still, step))
    length = np.hypot(tangent[:, 0], tangent[:, 1])[:, None]
    return np.where(length > 0, tangent / length.clip(1e-9), np.array([1.0, 0.0]))


def _outlines(position: Points, tangent: Points, runs: _Runs, margin: float, face: int, side: int) -> Points:
    """Outlines of all blocks: (blocks, 2 * face + 2 * side, 2)."""
    front_run, back_run = runs.start, runs.stop - 1
    front_seats = _spread(runs.first[front_run], runs.last[front_run], face)
    back_seats = _spread(runs.first[back_run], runs.last[back_run], face)
    away = position[back_seats].mean(axis=1) - position[front_seats].mean(axis=1)
    along = tangent[front_seats[:, face // 2]]
    across = np.stack((-along[:, 1], along[:, 0]), axis=-1)
    away = np.where((front_run == back_run)[:, None], across, away)
    side_runs = _spread(runs.start, runs.stop - 1, side + 2)[:, 1:-1]
    right, left = runs.last[side_runs], runs.first[side_runs]
    return np.concatenate(
        (
            _moved_face(position, tangent, front_seats, -away, margin),
            position[right] + tangent[right] * margin,
            _moved_face(position, tangent, back_seats, away, margin)[:, ::-1],
            (position[left] - tangent[left] * margin)[:, ::-1],
        ),
        axis=1,
    )


def _spread(first: Indices, last: Indices, count: int) -> Indices:
    """(blocks, count) evenly spread whole numbers from first to last, both included."""
    share = np.linspace(0.0, 1.0, count)
    spread: Indices = np.rint(first[:, None] + (last - first)[:, None] * share).astype(np.intp)
    return spread


def _moved_face(position: Points, tangent: Points, seats: Indices, towards: Points, margin: float) -> Points:
    """Fronts or backs moved outwards along their normals and lengthened at both ends."""
    direction = tangent[seats]
    normal = np.stack((direction[:, :, 1], -direction[:, :, 0]), axis=-1)
    facing = (normal * towards[:, None, :]).sum(axis=2, keepdims=True)
    moved: Points = position[seats] + np.where(facing >= 0, normal, -normal) * margin
    moved[:, 0] -= direction[:, 0] * margin
    moved[:, -1] += direction[:, -1] * margin
    return moved


def _polygon(points: Points) -> QPolygonF:
    """Points → QPolygonF in one copy instead of one object a point."""
    polygon = QPolygonF()
    polygon.resize(len(points))
    memory = _open_memory(polygon.data(), 16 * len(points), True)
    np.frombuffer(memory, np.float64).reshape(-1, 2)[:] = points
    return polygon
