"""Stepping from seat to seat with the keyboard: what stands in a direction, in rows, across aisles, over curves."""

from __future__ import annotations

from enum import Enum

import numpy as np

from widgets.seat_map.plan import SeatMapPlan
from widgets.seat_map.seat_grid import SeatGrid

_FIRST_REACH_PITCHES = 2.6
_WIDEST_SLOPE = 1.75  # sideways distance allowed for each step ahead: a cone of 60 degrees to both sides
_SIDEWAYS_COST = 1.6
_ROW_MATE_SHARE = 0.62  # a neighbour of the same row is preferred to one that happens to stand a little closer


class Step(Enum):
    """A direction on the screen; y runs downwards."""

    LEFT = (-1, 0)
    RIGHT = (1, 0)
    UP = (0, -1)
    DOWN = (0, 1)


def next_seat(plan: SeatMapPlan, grid: SeatGrid, seat_no: int, step: Step) -> int:
    """The seat that a step leads to; the same seat at the edge of the plan.

    The search looks at the near surroundings first and wider only when nothing stands in that direction, so that a step
    off the end of a row crosses the aisle.
    """
    x, y = float(plan.x[seat_no]), float(plan.y[seat_no])
    reach = grid.pitch * _FIRST_REACH_PITCHES
    widest = grid.cell * max(grid.columns, grid.lines)
    while True:
        found = _best(plan, grid, seat_no, step, grid.seats_in(x - reach, y - reach, x + reach, y + reach))
        if found >= 0 or reach > widest:
            return found if found >= 0 else seat_no
        reach *= 2.5


def _best(
    plan: SeatMapPlan, grid: SeatGrid, seat_no: int, step: Step, near: np.ndarray[tuple[int], np.dtype[np.intp]]
) -> int:
    dx, dy = plan.x[near] - plan.x[seat_no], plan.y[near] - plan.y[seat_no]
    right, down = step.value
    ahead = dx * right + dy * down
    sideways = np.abs(dx * down) + np.abs(dy * right)
    cost = np.hypot(ahead, sideways * _SIDEWAYS_COST)
    beside = np.isin(near, row_mates(plan, seat_no))
    cost = np.where(beside, cost * _ROW_MATE_SHARE, cost)
    allowed = (ahead > grid.pitch * 0.05) & (sideways <= ahead * _WIDEST_SLOPE)
    if not allowed.any():
        return -1
    return int(near[np.where(allowed, cost, np.inf).argmin()])


def row_mates(plan: SeatMapPlan, seat_no: int) -> list[int]:
    """The seats before and after a seat in its row, past such as are gone."""
    row = plan.present_in_row(int(plan.row_no[seat_no]))
    at = int(np.searchsorted(row, seat_no))
    return [*row[max(0, at - 1) : at].tolist(), *row[at + 1 : at + 2].tolist()]


def section_step(plan: SeatMapPlan, seat_no: int, by: int) -> int:
    """First seat of the next (`by` = 1) or previous (-1) section that has seats; from no seat (-1), the first."""
    firsts = first_seats(plan)
    if not firsts:
        return -1
    sections = sorted(firsts)
    if seat_no < 0:
        return firsts[sections[0 if by > 0 else -1]]
    at = sections.index(int(plan.seat_section[seat_no]))
    return firsts[sections[(at + by) % len(sections)]]


def first_seats(plan: SeatMapPlan) -> dict[int, int]:
    """Section → its first seat, for sections that have seats."""
    present = plan.present_seats
    sections, at = np.unique(plan.seat_section[present], return_index=True)
    return dict(zip(sections.tolist(), present[at].tolist(), strict=True))


def seats_between(plan: SeatMapPlan, one: int, other: int) -> range:
    """Seats of a row from one to the other, both included; only the second when they stand in different rows."""
    if plan.row_no[one] != plan.row_no[other]:
        return range(other, other + 1)
    return range(min(one, other), max(one, other) + 1)


def row_step(plan: SeatMapPlan, seat_no: int, by: int) -> int:
    """The seat nearest to this one in the next (`by` = 1) or previous (-1) row of its section; at the last, itself."""
    rows = _rows_beside(plan, seat_no)
    at = int(np.flatnonzero(rows == plan.row_no[seat_no])[0]) + by
    return nearest_in_row(plan, int(rows[at]), seat_no) if 0 <= at < len(rows) else seat_no


def row_end(plan: SeatMapPlan, seat_no: int, *, last: bool) -> int:
    """First or last seat of the row."""
    return int(plan.present_in_row(int(plan.row_no[seat_no]))[-1 if last else 0])


def section_end(plan: SeatMapPlan, seat_no: int, *, last: bool) -> int:
    """First seat of the section's first row, or last seat of its last."""
    rows = _rows_beside(plan, seat_no)
    at = -1 if last else 0
    return int(plan.present_in_row(int(rows[at]))[at])


def row_called(plan: SeatMapPlan, seat_no: int, beginning: str) -> int:
    """The nearest seat of the row whose name begins so: of this section before others, -1 when no row does.

    A row of just that name comes before one that only begins with it.
    """
    wanted = beginning.casefold()
    names = [label.casefold() for label in plan.row_label]
    rows = [row for row, name in enumerate(names) if name.startswith(wanted) and plan.row_seats[row]]
    if not rows:
        return -1
    section = int(plan.seat_section[seat_no]) if seat_no >= 0 else 0
    row = min(rows, key=lambda row: (int(plan.row_section[row]) != section, names[row] != wanted, row))
    return nearest_in_row(plan, row, seat_no) if seat_no >= 0 else int(plan.present_in_row(row)[0])


def nearest_in_row(plan: SeatMapPlan, row: int, seat_no: int) -> int:
    """The seat of a row that stands closest to a seat."""
    seats = plan.present_in_row(row)
    away = np.hypot(plan.x[seats] - plan.x[seat_no], plan.y[seats] - plan.y[seat_no])
    return int(seats[int(away.argmin())])


def _rows_beside(plan: SeatMapPlan, seat_no: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Rows with seats of the section of a seat, in the plan's order."""
    return np.flatnonzero((plan.row_section == plan.seat_section[seat_no]) & (plan.row_seats > 0))
