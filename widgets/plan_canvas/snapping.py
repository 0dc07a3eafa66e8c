"""Where a dragged thing comes to rest: on the grid, or in line with the ends of other rows and the hall's middle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from widgets.plan_canvas.scene import CanvasScene, Chosen, Place

REACH_PX = 7.0


@dataclass(frozen=True, slots=True)
class Snapped:
    """Where it rests, and the lines that it is on (x of upright ones, y of level ones)."""

    x: float
    y: float
    upright: float | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True)
class Guides:
    """Lines that things may stand on."""

    upright: tuple[float, ...]
    level: tuple[float, ...]
    grid: float

    @classmethod
    def of(cls, scene: CanvasScene, chosen: Chosen) -> Guides:
        """Ends of rows that are not chosen, and the middle of the hall."""
        ends: list[Place] = [(scene.width / 2, scene.height / 2)]
        for row in scene.rows:
            if row.key not in chosen.rows and row.seats and not chosen.seats & {seat.key for seat in row.seats}:
                ends += [(row.seats[0].x, row.seats[0].y), (row.seats[-1].x, row.seats[-1].y)]
        xs, ys = {x for x, _y in ends}, {y for _x, y in ends}
        return cls(tuple(sorted(xs)), tuple(sorted(ys)), scene.grid)

    def snap(self, x: float, y: float, scale: float) -> Snapped:
        """The place for one point."""
        upright, level = _nearest(self.upright, x, scale), _nearest(self.level, y, scale)
        return Snapped(
            self._on_grid(x) if upright is None else upright,
            self._on_grid(y) if level is None else level,
            upright,
            level,
        )

    def snap_move(self, anchor: Place, dx: float, dy: float, scale: float) -> Snapped:
        """By how much something moves whose anchor stands at `anchor` now; the lines are where the anchor rests."""
        at = self.snap(anchor[0] + dx, anchor[1] + dy, scale)
        return Snapped(at.x - anchor[0], at.y - anchor[1], at.upright, at.level)

    def _on_grid(self, value: float) -> float:
        return round(value / self.grid) * self.grid if self.grid > 0 else value


def _nearest(lines: Iterable[float], value: float, scale: float) -> float | None:
    found = min(lines, key=lambda line: abs(line - value), default=None)
    return found if found is not None and abs(found - value) * scale <= REACH_PX else None
