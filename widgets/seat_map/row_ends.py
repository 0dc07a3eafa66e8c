"""Where row names stand: one pitch beyond the ends of rows, unless a seat or another name is in the way.

Whether a place is clear is found out when it first comes into view, from the seats around it, for looking at all rows
of a stadium at once would make the first near view wait. The answer does not depend on the view it is first asked in.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from widgets.seat_map.camera import Bounds
from widgets.seat_map.plan import Float32s, Indices, SeatMapPlan
from widgets.seat_map.seat_grid import SeatGrid

_CLEAR_PITCHES = (0.2, 0.4, 0.6)  # a row name closer than this to a seat would lie on it
_ANGLES = np.linspace(0, 2 * np.pi, 14, endpoint=False)
# What is looked at around a place, in pitches: the place itself and three circles.
_AROUND = np.array(
    [(0.0, 0.0), *((np.cos(turn) * far, np.sin(turn) * far) for turn in _ANGLES for far in _CLEAR_PITCHES)]
)
_CELL_PITCHES = 0.25
_REACH_PITCHES = 1.0  # nothing farther from a place decides about it
_UNKNOWN, _TAKEN, _CLEAR = 0, 1, 2

Flags = npt.NDArray[np.bool_]


class RowEnds:
    """`x`, `y` (plan units) and `rows` of all places that the plan wants, starts of rows before ends of rows."""

    def __init__(self, plan: SeatMapPlan, grid: SeatGrid) -> None:
        self._grid = grid
        plan, pitch = plan.present, grid.pitch
        rows = np.flatnonzero(plan.row_count)
        first = plan.row_first[rows]
        last = first + plan.row_count[rows] - 1
        start, end = _wanted(plan, rows, "start"), _wanted(plan, rows, "end")
        start_x, start_y = _beyond(plan, first, np.minimum(first + 1, last), pitch, -1.0)
        end_x, end_y = _beyond(plan, last, np.maximum(last - 1, first), pitch, 1.0)
        self.x: Float32s = np.concatenate((start_x[start], end_x[end])).astype(np.float32)
        self.y: Float32s = np.concatenate((start_y[start], end_y[end])).astype(np.float32)
        self.rows: Indices = np.concatenate((rows[start], rows[end]))
        self._starts = int(np.count_nonzero(start))
        self._found = np.full(len(self.x), _UNKNOWN, np.uint8)

    def clear_in(self, view: Bounds) -> Indices:
        """Places in the view that keep clear of all seats; of two that meet over a narrow aisle, the start of a row."""
        wider = view.grown(_REACH_PITCHES * self._grid.pitch)
        inside = np.flatnonzero(_within(self.x, self.y, wider))
        fresh = inside[self._found[inside] == _UNKNOWN]
        if len(fresh):
            self._decide(fresh[fresh < self._starts], fresh[fresh >= self._starts], inside, view)
        clear: Indices = inside[self._found[inside] == _CLEAR]
        seen: Indices = clear[_within(self.x[clear], self.y[clear], view)]
        return seen

    def _decide(self, starts: Indices, ends: Indices, inside: Indices, view: Bounds) -> None:
        """Ends at the rim of what is looked at wait: starts that face them may lie beyond it."""
        ends = ends[_within(self.x[ends], self.y[ends], view)]
        reach = view.grown(2 * _REACH_PITCHES * self._grid.pitch)
        slots = self._grid.slots_near(reach.left, reach.top, reach.right, reach.bottom)
        seats = self._grid.x[slots], self._grid.y[slots]
        self._found[starts] = np.where(self._clear_of(*seats, starts), _CLEAR, _TAKEN)
        facing = inside[(inside < self._starts) & (self._found[inside] == _CLEAR)]
        clear = self._clear_of(*seats, ends) & self._clear_of(self.x[facing], self.y[facing], ends)
        self._found[ends] = np.where(clear, _CLEAR, _TAKEN)

    def _clear_of(self, from_x: Float32s, from_y: Float32s, places: Indices) -> Flags:
        """Which places keep their distance from other points, by a bitmap of quarter-pitch cells around the places."""
        if not len(from_x) or not len(places):
            return np.ones(len(places), np.bool_)
        pitch = self._grid.pitch
        x = self.x[places].astype(np.float64)[:, None] + _AROUND[:, 0] * pitch
        y = self.y[places].astype(np.float64)[:, None] + _AROUND[:, 1] * pitch
        column, line = self._cells(x, y)
        left, top = int(column.min()), int(line.min())
        taken = np.zeros((int(line.max()) - top + 1, int(column.max()) - left + 1), np.bool_)
        seat_column, seat_line = self._cells(from_x.astype(np.float64), from_y.astype(np.float64))
        seat_column -= left
        seat_line -= top
        near = (seat_column >= 0) & (seat_column < taken.shape[1]) & (seat_line >= 0) & (seat_line < taken.shape[0])
        taken[seat_line[near], seat_column[near]] = True
        hit: Flags = taken[line - top, column - left]
        clear: Flags = ~np.logical_or.reduce(hit, axis=1)
        return clear

    def _cells(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> tuple[Indices, Indices]:
        """Cells of one raster for the whole plan, so that the answer is the same in every view."""
        cell = self._grid.pitch * _CELL_PITCHES
        column: Indices = np.floor((x - self._grid.extent.left) / cell).astype(np.intp)
        line: Indices = np.floor((y - self._grid.extent.top) / cell).astype(np.intp)
        return column, line


def _within(x: Float32s, y: Float32s, box: Bounds) -> Flags:
    inside: Flags = (x > box.left) & (x < box.right) & (y > box.top) & (y < box.bottom)
    return inside


def _wanted(plan: SeatMapPlan, rows: Indices, end: str) -> Flags:
    """Which rows want a name at this end."""
    if not plan.row_label_position:
        return np.ones(len(rows), np.bool_)
    return np.array([plan.row_label_position[row] in {end, "both", ""} for row in rows.tolist()], np.bool_)


def _beyond(
    plan: SeatMapPlan, end: npt.NDArray[np.int32], inner: npt.NDArray[np.int32], pitch: float, alone: float
) -> tuple[Float32s, Float32s]:
    """One pitch beyond the end of a row; a row of a single seat has its names left and right of it."""
    dx, dy = plan.x[end] - plan.x[inner], plan.y[end] - plan.y[inner]
    length = np.hypot(dx, dy)
    single = length == 0
    length = np.where(single, 1.0, length)
    x = plan.x[end] + np.where(single, alone, dx / length) * pitch
    y = plan.y[end] + np.where(single, 0.0, dy / length) * pitch
    return x.astype(np.float32), y.astype(np.float32)
