"""In which order people sit in a row that a drawing only scatters: along the row, whatever the numbers say.

Never from printed numbers (odd and even halves, right to left): they decide only at which end the row begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from booking.domain.seating_plan.model import Point

_LONG = 1_500  # seats; longer rows are ordered by their main direction alone


def order_along(places: Sequence[Point], numbers: Sequence[str]) -> list[int]:
    """Indices in the order along the row: from one end, each time to the nearest that is left.

    It begins at the end with the lower number; where the ends have no numbers, at the left, then the upper one.
    """
    if len(places) < 2:
        return list(range(len(places)))
    order = _chain(places)
    first, last = _number(numbers[order[0]]), _number(numbers[order[-1]])
    if first is not None and last is not None and first != last:
        return order if first < last else order[::-1]
    start, end = places[order[0]], places[order[-1]]
    return order if (start.x, start.y) <= (end.x, end.y) else order[::-1]


def _chain(places: Sequence[Point]) -> list[int]:
    points = np.array([(place.x, place.y) for place in places], np.float64)
    along = _main_direction(points)
    if len(points) > _LONG:
        return [int(index) for index in np.argsort(along, kind="stable")]
    at = int(np.argmin(along))
    left = np.ones(len(points), np.bool_)
    order = [at]
    left[at] = False
    for _ in range(len(points) - 1):
        squares = np.square(points - points[at]).sum(axis=1)
        squares[~left] = np.inf
        at = int(np.argmin(squares))
        left[at] = False
        order.append(at)
    return order


def _main_direction(
    points: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """How far along its longest extent each point stands."""
    centred = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axis = vectors[:, -1]
    if axis[int(np.argmax(np.abs(axis)))] < 0:  # the sign is the library's choice; ours is left to right, top to bottom
        axis = -axis
    along: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = centred @ axis
    return along


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None
