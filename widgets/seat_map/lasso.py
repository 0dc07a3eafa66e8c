"""A loop drawn around seats by hand: its path, and which seats lie inside. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from widgets.seat_map.plan import Indices, SeatMapPlan
from widgets.seat_map.seat_grid import SeatGrid

STEP_PX = 4.0
"""Points closer together than this are left out: a hand draws no finer."""
_LEAST_POINTS = 3

Path = npt.NDArray[np.float64]


@dataclass(slots=True)
class Lasso:
    """The path so far, logical px."""

    points: list[tuple[float, float]] = field(default_factory=list)

    def begin(self, x: float, y: float) -> None:
        """The button went down here."""
        self.points = [(x, y)]

    def reach(self, x: float, y: float) -> bool:
        """The pointer is here now; True when the path has grown."""
        if self.points and max(abs(x - self.points[-1][0]), abs(y - self.points[-1][1])) < STEP_PX:
            return False
        self.points.append((x, y))
        return True

    def close(self) -> Path:
        """The loop, points × 2, and a new one may begin; empty when it was no loop."""
        points, self.points = self.points, []
        return np.array(points if len(points) >= _LEAST_POINTS else [], np.float64).reshape(-1, 2)


def seats_inside(plan: SeatMapPlan, grid: SeatGrid, loop: Path) -> Indices:
    """Seat numbers whose centres lie in a closed loop (plan units), ascending.

    A loop that crosses itself holds what an odd number of its turns goes around, as people draw an eight.
    """
    if len(loop) < _LEAST_POINTS:
        return np.empty(0, np.intp)
    (left, top), (right, bottom) = loop.min(axis=0), loop.max(axis=0)
    near = grid.seats_in(float(left), float(top), float(right), float(bottom))
    x, y = plan.x[near].astype(np.float64), plan.y[near].astype(np.float64)
    inside = np.zeros(len(near), np.bool_)
    for (from_x, from_y), (to_x, to_y) in zip(loop, np.roll(loop, -1, axis=0), strict=True):
        crosses = (from_y > y) != (to_y > y)
        if crosses.any():
            inside ^= crosses & (x < from_x + (y - from_y) / (to_y - from_y) * (to_x - from_x))
    found: Indices = near[inside]
    return found
