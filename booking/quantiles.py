"""Quantiles of small samples, by nearest rank, as the histogram's."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil


def nearest_rank(values: Iterable[float], share: float) -> float | None:
    """The smallest value that at least `share` of them do not exceed; None of none."""
    known = sorted(values)
    return known[max(0, ceil(share * len(known) - 1e-9) - 1)] if known else None
