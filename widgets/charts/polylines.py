"""From samples to lines: broken at gaps, thinned to what a screen can show, never more points than that.

A line of one device px is what Qt's raster engine draws without its stroker (0.1 ms for 900 noisy samples, where a pen
of 1.6 px takes 11 ms); a thicker line is the same one drawn again beside itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import shiboken6
from PySide6.QtGui import QPolygonF

from widgets.charts.series import Floats

_POINT_BYTES = 16
_DASH_PX, _PAUSE_PX = 7.0, 4.0
_THIN_FROM = 4.0
"""So many samples in a px and more are thinned to the least and the largest of each px."""


def runs(times: Floats, values: Floats, gap_s: float) -> Iterator[slice]:
    """Stretches without a gap: known values whose samples are no more than `gap_s` apart."""
    known = ~np.isnan(values)
    if not known.any():
        return
    places = np.flatnonzero(known)
    breaks = np.flatnonzero((np.diff(places) > 1) | (np.diff(times[places]) > gap_s)) + 1
    for stretch in np.split(places, breaks):
        yield slice(int(stretch[0]), int(stretch[-1]) + 1)


def polygon_of(x: Floats, y: Floats) -> QPolygonF:
    """(n,) and (n,) → points, copied in one go."""
    made = QPolygonF()
    made.resize(len(x))
    if len(x):
        # The stubs of shiboken know nothing of its constructor; pyqtgraph does the same.
        memory: Any = shiboken6.VoidPtr(made.data(), len(x) * _POINT_BYTES, True)  # type: ignore[call-arg,arg-type]
        points: npt.NDArray[np.float64] = np.frombuffer(memory, np.float64).reshape(-1, 2)
        points[:, 0] = x
        points[:, 1] = y
    return made


def stepped(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """What is set holds until it is set anew: corners instead of slopes."""
    if len(x) < 2:
        return x, y
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The least and the largest of each px where there are many samples in one; a peak is never lost."""
    if len(x) < 2 or len(x) < _THIN_FROM * max(x[-1] - x[0], 1.0):
        return x, y
    column = np.floor(x).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    low, high = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    return np.repeat(x[starts], 2), np.column_stack((low, high)).reshape(-1)


def dashes(x: Floats, y: Floats) -> list[QPolygonF]:
    """A run in dashes that stand on a grid of their own, so that they do not crawl while the line grows."""
    period = _DASH_PX + _PAUSE_PX
    found = []
    for number in range(int(x[0] // period), int(x[-1] // period) + 1):
        left, right = max(number * period, x[0]), min(number * period + _DASH_PX, x[-1])
        if right <= left:
            continue
        first, last = np.searchsorted(x, (left, right))
        inside = slice(int(first), int(last))
        ends = np.interp((left, right), x, y)
        found.append(
            polygon_of(np.concatenate(((left,), x[inside], (right,))), np.concatenate((ends[:1], y[inside], ends[1:])))
        )
    return found
