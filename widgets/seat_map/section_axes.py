"""How a section lies: the direction in which it is longest, and how long and how wide it is there.

A name is drawn along that direction where it then fits from farther away. Most sections stand upright, or are about as
wide as long: their names stay level, for level words read best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from widgets.seat_map.plan import SeatMapPlan

_LEAST_TURN = 12.0
_SLENDER = 1.4  # times longer than wide
_WORTH = 0.8  # of the scale from which a level name fits

Columns = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SectionAxes:
    """By section: direction in degrees (clockwise on the screen, above -90 up to 90), length and width, plan units."""

    turn: Columns
    length: Columns
    width: Columns

    def level(self, sizes: Columns) -> Columns:
        """Scale from which a level label of (width, height) px lies within the section."""
        cos, sin = np.abs(np.cos(np.radians(self.turn))), np.abs(np.sin(np.radians(self.turn)))
        wide, high = sizes.T
        scale: Columns = np.maximum((wide * cos + high * sin) / self.length, (wide * sin + high * cos) / self.width)
        return scale

    def along(self, sizes: Columns) -> Columns:
        """Scale from which a label turned along the section lies within it."""
        scale: Columns = np.maximum(sizes[:, 0] / self.length, sizes[:, 1] / self.width)
        return scale

    def turns(self, sizes: Columns) -> Columns:
        """By how many degrees to turn labels of these sizes: not at all unless it pays."""
        pays = (self.along(sizes) < self.level(sizes) * _WORTH) & (self.length > self.width * _SLENDER)
        turned: Columns = np.where(pays & (np.abs(self.turn) >= _LEAST_TURN), self.turn, 0.0)
        return turned


def section_axes(plan: SeatMapPlan, sections: npt.NDArray[np.intp], margin: float) -> SectionAxes:
    """Axes of these sections, `margin` (plan units) beyond their seats all round."""
    there = plan.present
    section, count = there.seat_section.astype(np.intp), len(plan.section_name)

    def total(column: Columns) -> Columns:
        return np.bincount(section, column, minlength=count).astype(np.float64)

    seats = np.maximum(total(np.ones(there.seat_count)), 1)
    x, y = there.x.astype(np.float64), there.y.astype(np.float64)
    x, y = x - (total(x) / seats)[section], y - (total(y) / seats)[section]
    turn = 0.5 * np.arctan2(2 * total(x * y), total(x * x) - total(y * y))
    cos, sin = np.cos(turn)[section], np.sin(turn)[section]
    length, width = _spread(x * cos + y * sin, section, count), _spread(y * cos - x * sin, section, count)
    degrees = np.degrees(turn)
    # Upwards, not downwards, along a section that stands upright.
    degrees = np.where(degrees > 90 - 1e-3, degrees - 180, degrees)
    return SectionAxes(degrees[sections], length[sections] + 2 * margin, width[sections] + 2 * margin)


def _spread(column: Columns, section: npt.NDArray[np.intp], count: int) -> Columns:
    """Highest less lowest value of each section."""
    found = np.zeros(count)
    if not len(section):
        return found
    order = np.argsort(section, kind="stable")
    begins = np.flatnonzero(np.diff(section[order], prepend=-1))
    values = column[order]
    found[section[order][begins]] = np.maximum.reduceat(values, begins) - np.minimum.reduceat(values, begins)
    return found


def turned_size(sizes: Columns, turns: Columns) -> Columns:
    """(width, height) of the level boxes around labels turned so many degrees."""
    cos, sin = np.abs(np.cos(np.radians(turns))), np.abs(np.sin(np.radians(turns)))
    wide, high = sizes.T
    return np.stack((wide * cos + high * sin, wide * sin + high * cos), axis=-1)
