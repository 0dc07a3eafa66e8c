"""Where seats are: a uniform grid in compressed row form, with seats stored in cell order.

Because seats lie in memory in cell order, the seats of a rectangle are a few contiguous slices: one for each row of
cells. Positions in that order are called *slots*; `seat_of_slot` and `slot_of_seat` map to seat numbers and back.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from widgets.seat_map.camera import Bounds
from widgets.seat_map.plan import Float32s, Indices, SeatMapPlan

CELL_PITCHES = 4.0
OUT_OF_SIGHT = 1e12
"""Where seats lie that are gone: in no view, whatever its scale."""
_SAMPLED = 200
_STACKED_SHARE = 0.35  # of the distance in a row: seats closer than this are drawn on top of each other
_MOST_CELLS = 1 << 22
_NEIGHBOUR_FLOOR = 0.02  # of all distances: a few seats drawn on top of each other do not shrink the rest


class SeatGrid:
    """Spatial index over the seats of one plan; lengths in plan units."""

    def __init__(self, plan: SeatMapPlan) -> None:
        there = plan.present
        row_pitch, self.closest = seat_pitch(there)
        self.cell = row_pitch * CELL_PITCHES
        self.extent = _extent(there)
        self.left, self.top = self.extent.left, self.extent.top
        column = ((there.x - self.left) / self.cell).astype(np.intp)
        line = ((there.y - self.top) / self.cell).astype(np.intp)
        self.columns = int(column.max()) + 1 if there.seat_count else 1
        self.lines = int(line.max()) + 1 if there.seat_count else 1
        cell_no = line * self.columns + column
        # Two bytes are sorted by their digits, several times faster.
        short = cell_no.astype(np.uint16) if self.columns * self.lines <= 1 << 16 else cell_no
        self.seat_of_slot: Indices = _with_gone_last(plan, np.argsort(short, kind="stable"))
        self.slot_of_seat: Indices = np.empty(plan.seat_count, np.intp)
        self.slot_of_seat[self.seat_of_slot] = np.arange(plan.seat_count)
        counts = np.bincount(cell_no, minlength=self.columns * self.lines)
        self.start: npt.NDArray[np.intp] = np.concatenate(([0], np.cumsum(counts))).astype(np.intp)
        self.x: Float32s = plan.x[self.seat_of_slot].astype(np.float32)
        self.y: Float32s = plan.y[self.seat_of_slot].astype(np.float32)
        self.x[there.seat_count :] = self.y[there.seat_count :] = OUT_OF_SIGHT
        self.pitch = min(row_pitch, self._usual_distance(there, row_pitch))
        if _crowded(there, row_pitch):
            self.closest = 0.0

    def slices(self, left: float, top: float, right: float, bottom: float) -> list[slice]:
        """Slots of all cells that touch the rectangle, as contiguous slices."""
        first_column = max(0, int((left - self.left) // self.cell))
        last_column = min(self.columns - 1, int((right - self.left) // self.cell))
        first_line = max(0, int((top - self.top) // self.cell))
        last_line = min(self.lines - 1, int((bottom - self.top) // self.cell))
        if first_column > last_column or first_line > last_line:
            return []
        if first_column == 0 and last_column == self.columns - 1:
            runs = [self._run(first_line * self.columns, (last_line + 1) * self.columns)]
        else:
            cells = [line * self.columns for line in range(first_line, last_line + 1)]
            runs = [self._run(cell + first_column, cell + last_column + 1) for cell in cells]
        return [run for run in runs if run.stop > run.start]

    def slots_near(self, left: float, top: float, right: float, bottom: float) -> Indices | slice:
        """Slots of all cells that touch the rectangle: a superset of the seats inside."""
        runs = self.slices(left, top, right, bottom)
        if len(runs) == 1:
            return runs[0]
        if not runs:
            return slice(0, 0)
        return np.concatenate([np.arange(run.start, run.stop) for run in runs])

    def seats_in(self, left: float, top: float, right: float, bottom: float) -> Indices:
        """Seat numbers whose centres lie in the rectangle, edges included; ascending."""
        return np.sort(self.seats_inside(left, top, right, bottom))

    def seats_inside(self, left: float, top: float, right: float, bottom: float) -> Indices:
        """The same in no order."""
        slots = self.slots_near(left, top, right, bottom)
        x, y = self.x[slots], self.y[slots]
        inside = (x >= left) & (x <= right) & (y >= top) & (y <= bottom)
        return self.seat_of_slot[slots][inside]

    def nearest(self, x: float, y: float, radius: float) -> int:
        """Seat number of the closest centre within the radius, -1 if there is none; ties go to the lower number."""
        best, best_square = -1, radius * radius
        for run in self.slices(x - radius, y - radius, x + radius, y + radius):
            squares = (self.x[run] - x) ** 2 + (self.y[run] - y) ** 2
            at = int(squares.argmin())
            square = float(squares[at])
            if square > best_square:
                continue
            ties = self.seat_of_slot[run][squares == squares[at]]
            seat = int(ties.min())
            best = seat if square < best_square or best < 0 else min(best, seat)
            best_square = square
        return best

    def _usual_distance(self, plan: SeatMapPlan, row_pitch: float) -> float:
        """Usual distance to the closest seat, in whatever row, from a sample; rows may be closer than seats."""
        if not plan.seat_count:
            return row_pitch
        sample = np.linspace(0, plan.seat_count - 1, min(plan.seat_count, _SAMPLED)).astype(np.intp)
        x, y = plan.x[sample].astype(np.float64), plan.y[sample].astype(np.float64)
        near, counts = self._slots_around(x, y, row_pitch)
        squares = (self.x[near] - np.repeat(x, counts)) ** 2 + (self.y[near] - np.repeat(y, counts)) ** 2
        squares[squares <= (row_pitch * _STACKED_SHARE) ** 2] = np.inf
        closest = np.minimum.reduceat(squares, np.cumsum(counts) - counts)
        closest = closest[np.isfinite(closest)]
        return math.sqrt(float(np.median(closest))) if len(closest) else row_pitch

    def _slots_around(
        self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], reach: float
    ) -> tuple[Indices, Indices]:
        """Slots of the cells within a reach (less than a cell) of each seat, and how many there are for each."""

        def cell(at: npt.NDArray[np.float64], start: float, count: int) -> Indices:
            found: Indices = np.clip((at - start) // self.cell, 0, count - 1).astype(np.intp)
            return found

        first_column, last_column = (cell(x + by, self.left, self.columns) for by in (-reach, reach))
        first_line, last_line = (cell(y + by, self.top, self.lines) for by in (-reach, reach))
        # Two runs of cells for each seat; where they are the same line, its seats are looked at twice.
        lines = np.stack((first_line, last_line), axis=-1) * self.columns
        begins = self.start[lines + first_column[:, None]].ravel()
        counts = self.start[lines + last_column[:, None] + 1].ravel() - begins
        near: Indices = np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
        return near, counts.reshape(-1, 2).sum(axis=1)

    def _run(self, first_cell: int, past_cell: int) -> slice:
        return slice(int(self.start[first_cell]), int(self.start[past_cell]))


def _extent(plan: SeatMapPlan) -> Bounds:
    if not plan.seat_count:
        return Bounds(0.0, 0.0, 0.0, 0.0)
    return Bounds(float(plan.x.min()), float(plan.y.min()), float(plan.x.max()), float(plan.y.max()))


def _with_gone_last(plan: SeatMapPlan, order: Indices) -> Indices:
    """Slots of the seats that are there, then those of seats that are gone: no cell has these."""
    if plan.present is plan:
        return order
    return np.concatenate((plan.present_seats[order], np.flatnonzero(plan.gone)))


def _crowded(plan: SeatMapPlan, pitch: float) -> bool:
    """Whether seats lie on top of each other, as those of two floors drawn in one place do.

    Seats a pitch apart never share a cell of 0.7 pitch; of two that are closer than a third of a pitch, one of four
    grids shifted by half a cell catches both in one cell.
    """
    cell = pitch * 0.7
    for shift_x in (0.0, cell / 2):
        for shift_y in (0.0, cell / 2):
            column = ((plan.x - plan.x.min() + shift_x) / cell).astype(np.int64) if plan.seat_count else plan.row_no
            line = ((plan.y - plan.y.min() + shift_y) / cell).astype(np.int64) if plan.seat_count else plan.row_no
            if _has_twins(line * (int(column.max(initial=0)) + 1) + column):
                return True
    return False


def _has_twins(cells: npt.NDArray[np.integer]) -> bool:
    if not len(cells):
        return False
    if int(cells.max()) < _MOST_CELLS:
        return bool(np.bincount(cells).max() > 1)
    return len(np.unique(cells)) < len(cells)


def seat_pitch(plan: SeatMapPlan) -> tuple[float, float]:
    """(usual, smallest) distance between neighbours in a row; a plan without any falls back to its seat radius."""
    beside = plan.row_no[1:] == plan.row_no[:-1]
    gaps = np.hypot(np.diff(plan.x), np.diff(plan.y))[beside]
    gaps = gaps[gaps > 0]
    if not len(gaps):
        usual = plan.seat_radius * 2.5 if plan.seat_radius > 0 else 25.0
        return usual, usual
    kth = int(len(gaps) * _NEIGHBOUR_FLOOR)
    return float(np.partition(gaps, kth)[kth]), float(gaps.min())
