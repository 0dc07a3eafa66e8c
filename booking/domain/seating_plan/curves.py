"""Curves on which the generated venues seat people: arcs about a stage, ellipses about a pitch. Plan units."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from booking.domain.seating_plan.model import Point

_ELLIPSE_STEPS = 4096


def arc_points(centre: Point, radius: float, start: float, end: float, count: int) -> tuple[Point, ...]:
    """`count` points evenly between two angles (radians, 0 straight below the centre, positive to the right).

    The arc is divided in `count` equal parts and each point stands in the middle of its part, so that blocks side by
    side keep half a seat of distance from their edges.
    """
    step = (end - start) / count
    angles = [start + (index + 0.5) * step for index in range(count)]
    return tuple(
        Point(
            round(centre.x + radius * math.sin(angle), 2),
            round(centre.y + radius * math.cos(angle), 2),
        )
        for angle in angles
    )


class Ellipse:
    """An ellipse measured by its length, from its left end clockwise on screen (up and over)."""

    def __init__(self, centre: Point, half_width: float, half_height: float) -> None:
        self._centre = centre
        angles = np.linspace(0.0, 2.0 * math.pi, _ELLIPSE_STEPS + 1)
        self._xs = -half_width * np.cos(angles)
        self._ys = -half_height * np.sin(angles)
        steps = np.hypot(np.diff(self._xs), np.diff(self._ys))
        self._lengths = np.concatenate(([0.0], np.cumsum(steps)))

    @property
    def length(self) -> float:
        return float(self._lengths[-1])

    def points_at(self, lengths: npt.NDArray[np.floating]) -> tuple[list[float], list[float]]:
        """The x and the y of points at these lengths, to a hundredth of a unit."""
        xs = np.interp(lengths, self._lengths, self._xs) + self._centre.x
        ys = np.interp(lengths, self._lengths, self._ys) + self._centre.y
        return np.round(xs, 2).tolist(), np.round(ys, 2).tolist()
