"""Where the seats of a row stand: on a straight line or on an arc, at the distances they have from each other.

`bend` is how far the middle of the row is away from the straight line between its ends, in plan units: above 0 to the
right of somebody who walks from the first seat to the last (down, on a plan that is read from left to right).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Place = tuple[float, float]
Steps: TypeAlias = npt.NDArray[np.float64]
"""Distances between the neighbours of one row."""
_STRAIGHT = 1e-6
_PLACES = 3
MAX_COORDINATE = 1_000_000.0
"""The largest that a plan may name, either way."""
USUAL_DISTANCE = 20.0
"""Between two seats where a plan has none to measure."""
SEAT_SHARE = 0.4
"""Radius of a seat, as a share of the distance between two."""


@dataclass(frozen=True, slots=True)
class RowLine:
    """The line a row stands on."""

    start: Place
    end: Place
    bend: float = 0.0

    @property
    def chord(self) -> float:
        """From one end to the other."""
        return math.dist(self.start, self.end)

    @property
    def length(self) -> float:
        """Along the line."""
        bend = self._bounded_bend
        if abs(bend) < _STRAIGHT:
            return self.chord
        radius = _radius(self.chord, bend)
        return radius * _sweep(self.chord, radius)

    @property
    def middle(self) -> Place:
        """The point that `bend` moves."""
        return self.points((0.5,))[0]

    def points(self, fractions: Sequence[float]) -> tuple[Place, ...]:
        """Places at these shares of the way (0: the start, 1: the end), rounded as plans keep them."""
        bend = self._bounded_bend
        (x0, y0), (x1, y1) = self.start, self.end
        chord = self.chord
        if abs(bend) < _STRAIGHT or chord < _STRAIGHT:
            return tuple(_rounded(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share) for share in fractions)
        radius = _radius(chord, bend)
        sweep = _sweep(chord, radius)
        side = math.copysign(1.0, bend)
        nx, ny = -(y1 - y0) / chord, (x1 - x0) / chord
        cx = (x0 + x1) / 2 + nx * (bend - side * radius)
        cy = (y0 + y1) / 2 + ny * (bend - side * radius)
        vx, vy = nx * side * radius, ny * side * radius
        made = []
        for share in fractions:
            turn = side * sweep * (0.5 - share)
            cos, sin = math.cos(turn), math.sin(turn)
            made.append(_rounded(cx + vx * cos - vy * sin, cy + vx * sin + vy * cos))
        return tuple(made)

    @property
    def _bounded_bend(self) -> float:
        """A row is at most half a circle."""
        half = self.chord / 2
        return max(-half, min(self.bend, half))


def even_fractions(count: int) -> tuple[float, ...]:
    """Shares of the way for so many seats at equal distances; a single seat stands in the middle."""
    if count == 1:
        return (0.5,)
    return tuple(number / (count - 1) for number in range(count))


def fractions_of(places: Sequence[Place]) -> tuple[float, ...]:
    """The shares of the way at which seats stand now: aisles inside a row stay when it is bent or drawn longer."""
    steps = [math.dist(one, other) for one, other in pairwise(places)]
    whole = sum(steps)
    if whole < _STRAIGHT:
        return even_fractions(len(places))
    shares, gone = [0.0], 0.0
    for step in steps:
        gone += step
        shares.append(gone / whole)
    return tuple(shares)


def line_of(places: Sequence[Place]) -> RowLine:
    """The line on which seats stand: straight, or the arc through the first, the middle and the last of them."""
    start, end = places[0], places[-1]
    if len(places) < 3:
        return RowLine(start, end)
    return RowLine(start, end, _bend_through(start, places[len(places) // 2], end))


def steps_of(places: Sequence[Place]) -> Steps:
    """The distances between the neighbours of a row, without those at one place."""
    steps = np.array([math.dist(one, other) for one, other in pairwise(places)], np.float64)
    return steps[steps > _STRAIGHT]


def usual_step(rows: Sequence[Steps]) -> float:
    """The usual distance between neighbours, over all rows."""
    steps = np.concatenate(rows) if rows else np.empty(0)
    return float(np.median(steps)) if len(steps) else USUAL_DISTANCE


def turned(place: Place, middle: Place, degrees: float) -> Place:
    """`place` turned clockwise about `middle`."""
    turn = math.radians(degrees)
    x, y = place[0] - middle[0], place[1] - middle[1]
    return _rounded(
        middle[0] + x * math.cos(turn) - y * math.sin(turn), middle[1] + x * math.sin(turn) + y * math.cos(turn)
    )


def _bend_through(start: Place, between: Place, end: Place) -> float:
    chord = math.dist(start, end)
    if chord < _STRAIGHT:
        return 0.0
    ux, uy = (end[0] - start[0]) / chord, (end[1] - start[1]) / chord
    along = (between[0] - start[0]) * ux + (between[1] - start[1]) * uy - chord / 2
    aside = (between[1] - start[1]) * ux - (between[0] - start[0]) * uy
    if abs(aside) < 0.01:
        return 0.0
    # The centre lies on the middle normal, as far from the point between as from the ends.
    centre = (along * along + aside * aside - chord * chord / 4) / (2 * aside)
    radius = math.hypot(chord / 2, centre)
    return round(centre + math.copysign(radius, aside), _PLACES)


def _radius(chord: float, bend: float) -> float:
    return (chord * chord / 4 + bend * bend) / (2 * abs(bend))


def _sweep(chord: float, radius: float) -> float:
    return 2 * math.asin(min(1.0, chord / 2 / radius))


def _rounded(x: float, y: float) -> Place:
    return round(x, _PLACES), round(y, _PLACES)
