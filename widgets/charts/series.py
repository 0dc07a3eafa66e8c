"""What charts are told: samples in columns, the span that is seen, and how each strip is to look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
NOTHING: Floats = np.empty(0, np.float64)


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds since 1970, from the left edge to the right."""

    start_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s

    def moved(self, seconds: float) -> Span:
        """The same length elsewhere."""
        return Span(self.start_s + seconds, self.end_s + seconds)


@dataclass(frozen=True, slots=True, eq=False)
class ChartTable:
    """Samples: `times` (n,) ascending, each of `columns` (n,); NaN is "not known". More than `gap_s` apart is a gap.

    A table is never changed: new samples are a new table.
    """

    times: Floats = field(default_factory=lambda: NOTHING)
    columns: Mapping[str, Floats] = field(default_factory=dict)
    gap_s: float = 3.0

    def column(self, key: str) -> Floats:
        """Samples of a curve; NaN throughout when nothing is known of it."""
        found = self.columns.get(key)
        return np.full(len(self.times), np.nan) if found is None else found

    def at(self, key: str, time_s: float) -> float | None:
        """The sample nearest to an instant, within the gap; None where there is none."""
        place = self.nearest(time_s)
        if place is None:
            return None
        value = float(self.column(key)[place])
        return None if np.isnan(value) else value

    def nearest(self, time_s: float) -> int | None:
        """The place of the sample nearest to an instant; None inside a gap and outside of all samples."""
        if not len(self.times):
            return None
        right = int(np.searchsorted(self.times, time_s))
        places = [place for place in (right - 1, right) if 0 <= place < len(self.times)]
        best = min(places, key=lambda place: abs(self.times[place] - time_s))
        return best if abs(self.times[best] - time_s) <= self.gap_s / 2 else None


@dataclass(frozen=True, slots=True)
class CurveLook:
    """One curve: its column, its name, a token of the theme, and a line that tells it apart without colour.

    `line` is `solid`, `dash`, `dots`, or `step` (solid, for what is set and holds until it is set anew).
    """

    key: str
    words: str
    tone: str
    line: str = "solid"
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """A line across a strip, with its name. `alarms`: what lies above it is trouble; otherwise it is a setting."""

    value: float
    words: str
    alarms: bool = True


@dataclass(frozen=True, slots=True)
class StripPlan:
    """One strip: curves of one unit. `write` turns a value into words with its unit; `least_top` keeps noise small.

    A single curve is named by the title. `is_time`: values are seconds, and round numbers are those of a clock.
    """

    key: str
    title: str
    curves: tuple[CurveLook, ...]
    write: Callable[[float], str]
    write_tick: Callable[[float], str]
    least_top: float = 1.0
    is_time: bool = False
