"""Samples of figures as they come once a second: the newest quarter of an hour, in columns, gaps kept as gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from backend_client.wire import OpsHistory

Floats = npt.NDArray[np.float64]
LIVE_S: Final = 900
"""What the live picture shows, and what the booking system keeps by the second."""
MOST_MINUTES_S: Final = 2 * 86_400
"""What is read and shown of the minutes at once: of more the booking system answers the oldest 3,000 alone."""
KEPT: Final = 1_200
SECOND_GAP_S: Final = 3.5
"""A second that came late is no gap; three that did not come are one."""
MINUTE_GAP_S: Final = 130.0


@dataclass(frozen=True, slots=True, eq=False)
class SampleTable:
    """`times` (n,) in seconds since 1970, ascending; each column (n,), NaN where a figure was not known."""

    times: Floats = field(default_factory=lambda: np.empty(0))
    columns: Mapping[str, Floats] = field(default_factory=dict)
    gap_s: float = SECOND_GAP_S

    @property
    def is_empty(self) -> bool:
        return not len(self.times)

    def newest(self, name: str) -> float | None:
        """The last value of a column; None when it is not known."""
        column = self.columns.get(name)
        if column is None or not len(column) or np.isnan(column[-1]):
            return None
        return float(column[-1])


EMPTY: Final = SampleTable()


class SampleRing:
    """Keeps the newest samples of some names. Memory stays the same however long it runs (D4)."""

    def __init__(self, names: Sequence[str], kept: int = KEPT) -> None:
        self._names = tuple(names)
        self._kept = kept
        self._times: Floats = np.empty(2 * kept)
        self._values: Floats = np.full((len(self._names), 2 * kept), np.nan)
        self._end = 0

    def __len__(self) -> int:
        return min(self._end, self._kept)

    @property
    def newest_s(self) -> float | None:
        """When the newest sample is from."""
        return float(self._times[self._end - 1]) if self._end else None

    def push(self, time_s: float, figures: Mapping[str, float]) -> bool:
        """Add a sample; False when one of that instant or a later one is there already."""
        newest = self.newest_s
        if newest is not None and time_s <= newest:
            return False
        if self._end == len(self._times):
            self._move_back()
        self._times[self._end] = time_s
        for place, name in enumerate(self._names):
            self._values[place, self._end] = figures.get(name, np.nan)
        self._end += 1
        return True

    def merge(self, table: SampleTable) -> None:
        """Put samples between those that are here: a history that was read. What is here of the same second stays."""
        if table.is_empty:
            return
        own = self.table()
        seconds = np.round(own.times)
        fresh = ~np.isin(np.round(table.times), seconds)
        times = np.concatenate((own.times, table.times[fresh]))
        order = np.argsort(times, kind="stable")[-self._kept :]
        for place, name in enumerate(self._names):
            other = table.columns.get(name)
            added = np.full(int(fresh.sum()), np.nan) if other is None else other[fresh]
            self._values[place, : len(order)] = np.concatenate((own.columns[name], added))[order]
        self._times[: len(order)] = times[order]
        self._end = len(order)

    def table(self) -> SampleTable:
        """What is kept, as a copy."""
        seen = slice(max(self._end - self._kept, 0), self._end)
        columns = {name: self._values[place, seen].copy() for place, name in enumerate(self._names)}
        return SampleTable(self._times[seen].copy(), columns)

    def _move_back(self) -> None:
        keep = slice(self._end - self._kept + 1, self._end)
        count = keep.stop - keep.start
        self._times[:count] = self._times[keep].copy()
        self._values[:, :count] = self._values[:, keep].copy()
        self._end = count


def table_of(history: OpsHistory, *, peaks: bool = False) -> SampleTable:
    """A history from the wire; with `peaks` each minute's worst stands beside its value as `name.peak`."""
    times = np.array([at.timestamp() for at in history.at], np.float64)
    columns = {name: _floats(values) for name, values in history.series.items()}
    if peaks:
        columns |= {f"{name}.peak": _floats(values) for name, values in history.peaks.items()}
    return SampleTable(times, columns, SECOND_GAP_S if history.step_s < 60 else MINUTE_GAP_S)


def joined(one: SampleTable, other: SampleTable) -> SampleTable:
    """Columns of both at the instants of either; where one has no sample there is NaN."""
    if one.is_empty or other.is_empty:
        return other if one.is_empty else one
    if np.array_equal(one.times, other.times):
        return SampleTable(one.times, {**one.columns, **other.columns}, max(one.gap_s, other.gap_s))
    times = np.union1d(one.times, other.times)
    columns: dict[str, Floats] = {}
    for table in (one, other):
        places = np.searchsorted(times, table.times)
        for name, values in table.columns.items():
            column = columns.setdefault(name, np.full(len(times), np.nan))
            column[places] = values
    return SampleTable(times, columns, max(one.gap_s, other.gap_s))


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)
