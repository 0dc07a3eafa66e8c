"""What a soak measures: memory at instants, and how long the loop was held between two turns."""

from __future__ import annotations

import asyncio
import gc
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import psutil
from PySide6.QtWidgets import QApplication

EDGES_MS = (1.0, 2.0, 5.0, 10.0, 16.0, 33.0, 50.0, 100.0, 250.0)
_PAUSE_S = 0.004


@dataclass(frozen=True, slots=True)
class Sample:
    """Memory at `at_s` of the soak. `objects` are those that Python's collector knows, `widgets` those of Qt."""

    at_s: float
    rss_mb: float
    objects: int
    widgets: int
    changes: int


def sample(began: float, changes: int) -> Sample:
    """Memory now, with garbage collected."""
    gc.collect()
    rss = psutil.Process().memory_info().rss / 1e6
    return Sample(perf_counter() - began, rss, len(gc.get_objects()), len(QApplication.allWidgets()), changes)


@dataclass(slots=True)
class Gaps:
    """How long turns of the loop came late, by wall clock: counts between `EDGES_MS`, the last one beyond them."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(EDGES_MS) + 1))
    longest_ms: float = 0.0

    def add(self, late_ms: float) -> None:
        """One turn came so late."""
        self.counts[bisect_left(EDGES_MS, late_ms)] += 1
        self.longest_ms = max(self.longest_ms, late_ms)

    def share_within(self, ms: float) -> float:
        """The share of turns that came at most so late; `ms` is one of `EDGES_MS`."""
        return sum(self.counts[: EDGES_MS.index(ms) + 1]) / max(1, sum(self.counts))

    def lines(self) -> list[str]:
        """The histogram as text."""
        names = [*(f"≤ {edge:g} ms" for edge in EDGES_MS), f"> {EDGES_MS[-1]:g} ms"]
        every = max(1, sum(self.counts))
        rows = [
            f"{name:>9}  {count:>9,}  {100 * count / every:7.3f} %"
            for name, count in zip(names, self.counts, strict=True)
        ]
        return [*rows, f"longest   {self.longest_ms:9.1f} ms"]


@dataclass(frozen=True, slots=True)
class Growth:
    """From the second quarter of a soak to its last, medians: what caches fill at the beginning is not growth."""

    rss_mb: float
    objects: float
    widgets: float


def growth(samples: Sequence[Sample]) -> Growth:
    """Raises ValueError when there are too few samples to tell."""
    if len(samples) < 8:
        raise ValueError(f"{len(samples)} samples tell nothing")
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]

    def grown(values: Sequence[float], before: Sequence[float]) -> float:
        return median(values) - median(before)

    return Growth(
        grown([one.rss_mb for one in late], [one.rss_mb for one in early]),
        grown([one.objects for one in late], [one.objects for one in early]),
        grown([one.widgets for one in late], [one.widgets for one in early]),
    )


async def watch_turns(now_in: Callable[[], Gaps | None]) -> None:
    """Take a turn every few ms until cancelled; `now_in` says where its lateness belongs, None: nowhere."""
    while True:
        before = perf_counter()
        await asyncio.sleep(_PAUSE_S)
        gaps = now_in()
        if gaps is not None:
            gaps.add(max(0.0, perf_counter() - before - _PAUSE_S) * 1000)
