"""Round numbers for the edges of charts: the top of a scale, instants on a time axis."""

from __future__ import annotations

import math

import numpy as np

from widgets.charts.series import Floats

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TIME_STEPS_S = (
    1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
)  # fmt: skip
_CLOCK_STEPS_S = (
    60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800,
)  # fmt: skip
_KEEP_SHARE = 0.4
"""A scale comes down only when what is shown needs less than this of it, so that it does not jump up and down."""


def round_up(value: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten that is no less; 0 for nothing."""
    if value <= 0 or not math.isfinite(value):
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _STEPS if step * power >= value * (1 - 1e-9))


def clock_up(seconds: float) -> float:
    """The next round span of time: as `round_up` below a minute, whole minutes and hours above."""
    if seconds <= 50:
        return round_up(seconds)
    return next((float(step) for step in _CLOCK_STEPS_S if step >= seconds), round_up(seconds))


def top_of(largest: float, least: float, before: float, *, is_time: bool = False) -> float:
    """The top of a scale that has room for `largest`, never below `least`; `before` stays while it fits well."""
    wanted = max((clock_up if is_time else round_up)(largest * 1.05), least)
    if before >= wanted and largest > before * _KEEP_SHARE:
        return before
    return before if before == wanted else wanted


def largest_of(*columns: Floats) -> float:
    """The largest value that is known; 0 when none is."""
    found = [float(np.nanmax(column)) for column in columns if len(column) and not np.isnan(column).all()]
    return max(found, default=0.0)


def time_ticks(start_s: float, end_s: float, most: int, offset_s: float = 0.0) -> list[float]:
    """Round instants inside a span, at most so many; `offset_s` is how far the wall clock is ahead of UTC."""
    seconds = max(end_s - start_s, 1.0)
    step = next((one for one in _TIME_STEPS_S if seconds / one <= max(most, 1)), _TIME_STEPS_S[-1])
    first = math.ceil((start_s + offset_s) / step) * step - offset_s
    return [first + number * step for number in range(int((end_s - first) // step) + 1)]
