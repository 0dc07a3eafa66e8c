"""Where rows leave the view: places for their names when neither end of a row is to be seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from widgets.seat_map.camera import Camera
from widgets.seat_map.plan import Indices, SeatMapPlan

INSET_PX = 11.0

Places = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RowEdges:
    """`rows` by number, and the centre of each name in logical px."""

    rows: Indices
    x: Places
    y: Places


def rows_cut_by_view(plan: SeatMapPlan, seats: Indices, named: Indices, camera: Camera) -> RowEdges:
    """Rows of the seats in view that leave it and whose name (`named`: row numbers) is not in view anyway.

    A row is named where its first seats are out of view, else where its last ones are; a row that is whole in view
    stays as the plan wants it.
    """
    seats = np.sort(seats)
    row = plan.row_no[seats]
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    rows = row[starts].astype(np.intp)
    first, last = seats[starts], seats[np.append(starts[1:], len(seats)) - 1] if len(seats) else seats
    row_first, row_last = plan.row_ends
    before, after = first > row_first[rows], last < row_last[rows]
    unnamed = np.ones(len(row_first), np.bool_)
    unnamed[named] = False
    wanted = (before | after) & unnamed[rows]
    inner = np.where(before, first, last)[wanted]
    outer = np.where(before, first - 1, last + 1)[wanted]
    x = (plan.x[inner] + plan.x[outer]) / 2
    y = (plan.y[inner] + plan.y[outer]) / 2
    left, top = camera.origin
    return RowEdges(
        rows[wanted],
        (x * camera.scale + left).clip(INSET_PX, camera.width - INSET_PX),
        (y * camera.scale + top).clip(INSET_PX, camera.height - INSET_PX),
    )
