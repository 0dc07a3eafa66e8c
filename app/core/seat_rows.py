"""Which seats of a plan sit beside each other, and how good they are: columns made once for each plan that is open.

The rule is the booking system's own (`booking/domain/seating_plan/columns.py`, `best_available.py`), kept on this side
of the wire so that a block can be shown while the mouse moves and while the booking system is away; which seats are
held is decided there alone. `tests/unit/test_best_blocks.py` holds the two together, seat by seat.

Seats of a row stand in the order in which people sit. A *part* of a row is a stretch without an aisle or a pillar:
two seats further apart than `GAP` times the distance that is usual there do not sit beside each other, whatever the
printed numbers say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.core.focal_point import focal_point
from backend_client.wire import Plan

GAP = 1.75
"""Of the usual distance. A missing seat makes 2, a wide armrest 1.3."""
SHORT_ROW = 3
"""Distances; a row with fewer is measured by its section too."""
ACCESSIBLE, COMPANION, RESTRICTED, GONE = 1, 2, 4, 8

_ROW_MIDDLE_WEIGHT = 0.5
_COST_STEPS = 1_000  # per usual distance of two seats: costs are whole numbers, so that sums are exact

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Costs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SeatRows:
    """One value each seat, by `seat_no`. `part_no` numbers the parts of rows; `cost` is lower for better seats."""

    x: Floats
    y: Floats
    category_no: Ints
    section_no: Ints
    starts_part: Flags
    part_no: Ints
    accessible: Flags
    companion: Flags
    restricted: Flags
    gone: Flags
    spacing: float
    cost: Costs

    @property
    def seat_count(self) -> int:
        return len(self.x)

    def part_of(self, seat_no: int) -> range:
        """The seats of the part that a seat sits in."""
        part = self.part_no[seat_no]
        first = int(np.searchsorted(self.part_no, part, "left"))
        return range(first, int(np.searchsorted(self.part_no, part, "right")))


def seat_rows(plan: Plan) -> SeatRows:
    """The columns of a plan; some 25 ms for 60,000 seats."""
    x, y = np.array(plan.seats.x, np.float64), np.array(plan.seats.y, np.float64)
    flags = np.array(plan.seats.flags, np.int32)
    rows = np.array(plan.seats.row_no, np.int32)
    counts = np.array([row.seat_count for row in plan.rows], np.int32)
    row_sections = np.array([row.section_no for row in plan.rows], np.int32)
    distances = _neighbour_distances(x, y, rows)
    gone = (flags & GONE) != 0
    starts = np.isnan(distances) | (distances > GAP * _usual_distances(distances, rows, counts, row_sections)) | gone
    starts[1:] |= gone[:-1]
    accessible = (flags & ACCESSIBLE) != 0
    usual = lower_median(distances[~np.isnan(distances)])
    spacing = usual if usual > 0 else 1.0
    return SeatRows(
        x,
        y,
        np.array(plan.seats.category_no, np.int32),
        row_sections[rows] if len(rows) else np.empty(0, np.int32),
        starts,
        (np.cumsum(starts) - 1).astype(np.int32),
        accessible,
        ((flags & COMPANION) != 0) & ~accessible,
        (flags & RESTRICTED) != 0,
        gone,
        spacing,
        _costs(plan, x, y, rows, ~gone, spacing),
    )


def lower_median(values: Floats) -> float:
    """The middle one, the lower of the two middle ones; NaN of nothing."""
    if len(values) == 0:
        return float("nan")
    middle = (len(values) - 1) // 2
    return float(np.partition(values, middle)[middle])


def _neighbour_distances(x: Floats, y: Floats, rows: Ints) -> Floats:
    """For each seat the distance to the seat before it in its row; NaN for the first of a row."""
    distances = np.full(len(x), np.nan)
    if len(x) > 1:
        distances[1:] = np.sqrt(np.square(np.diff(x)) + np.square(np.diff(y)))
        distances[1:][rows[1:] != rows[:-1]] = np.nan
    return distances


def _usual_distances(distances: Floats, rows: Ints, counts: Ints, row_sections: Ints) -> Floats:
    """For each seat the distance that is usual where it stands."""
    inside = ~np.isnan(distances)
    by_row = _medians(distances[inside], rows[inside], len(counts))
    sections = int(row_sections.max()) + 1 if len(row_sections) else 0
    by_section = _medians(distances[inside], row_sections[rows[inside]], sections)
    of_section = by_section[row_sections]
    return np.where(counts - 1 < SHORT_ROW, np.minimum(by_row, of_section), by_row)[rows]


def _medians(values: Floats, groups: Ints, count: int) -> Floats:
    """The lower median of each group; NaN for a group without values."""
    order = np.lexsort((values, groups))
    sizes = np.bincount(groups, minlength=count)
    firsts = np.cumsum(sizes) - sizes
    medians = np.full(count, np.nan)
    filled = sizes > 0
    medians[filled] = values[order][firsts[filled] + (sizes[filled] - 1) // 2]
    return medians


def _costs(plan: Plan, x: Floats, y: Floats, rows: Ints, there: Flags, spacing: float) -> Costs:
    """What a seat costs in quality: its way to the focal point, and half its way to the middle of its row."""
    if not len(x):
        return np.empty(0, np.int64)
    focal_x, focal_y = focal_point(plan) or _upper_middle(x, y, there)
    counts = np.maximum(np.bincount(rows, minlength=len(plan.rows)), 1)
    middle_x = np.bincount(rows, x, len(counts)) / counts
    middle_y = np.bincount(rows, y, len(counts)) / counts
    to_focal = np.hypot(x - focal_x, y - focal_y)
    to_middle = np.hypot(x - middle_x[rows], y - middle_y[rows])
    cost: Costs = np.rint((to_focal + _ROW_MIDDLE_WEIGHT * to_middle) / spacing * _COST_STEPS).astype(np.int64)
    return cost


def _upper_middle(x: Floats, y: Floats, there: Flags) -> tuple[float, float]:
    if not there.any():
        return 0.0, 0.0
    return (float(x[there].min()) + float(x[there].max())) / 2, float(y[there].min())
