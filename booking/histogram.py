"""Latencies in buckets whose width grows with the value: flat memory, quantiles within 1.6 % of the truth."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

_SUB_BITS = 6
_EXACT = 1 << (_SUB_BITS + 1)
LARGEST_US = (1 << 32) - 1
"""Whatever takes longer than 71 minutes counts as that."""


def bucket_of(value_us: int) -> int:
    """The bucket of a value: below 128 one for each value, then 64 for each doubling."""
    if value_us < _EXACT:
        return value_us
    exponent = value_us.bit_length() - _SUB_BITS - 1
    return (exponent << _SUB_BITS) + (value_us >> exponent)


def largest_of(bucket: int) -> int:
    """The largest value of a bucket."""
    if bucket < _EXACT:
        return bucket
    exponent = (bucket >> _SUB_BITS) - 1
    mantissa = (bucket & ((1 << _SUB_BITS) - 1)) + (1 << _SUB_BITS)
    return ((mantissa + 1) << exponent) - 1


BUCKETS = bucket_of(LARGEST_US) + 1


def quantile_ms(counts: Mapping[int, int], share: float) -> float | None:
    """The latency, in ms, that `share` of all counted in `counts` stayed within; None when there are none."""
    total = sum(counts.values())
    if total == 0:
        return None
    wanted, seen = max(1, ceil(share * total)), 0
    for bucket in sorted(counts):
        seen += counts[bucket]
        if seen >= wanted:
            return largest_of(bucket) / 1000
    raise AssertionError("counts are more than their sum")


def add_counts(into: dict[int, int], counts: Mapping[int, int]) -> None:
    """Count in `into` what `counts` has counted."""
    for bucket, count in counts.items():
        into[bucket] = into.get(bucket, 0) + count


class Histogram:
    """Counts by bucket; values are whole µs."""

    __slots__ = ("_counts", "largest_us", "total")

    def __init__(self) -> None:
        self._counts = [0] * BUCKETS
        self.total = 0
        self.largest_us = 0

    def record(self, seconds: float) -> None:
        """Count one latency; one below zero is one of zero."""
        value = min(max(0, round(seconds * 1_000_000)), LARGEST_US)
        self._counts[bucket_of(value)] += 1
        self.total += 1
        self.largest_us = max(self.largest_us, value)

    def sparse(self) -> dict[int, int]:
        """Bucket → count, without the empty ones."""
        return {bucket: count for bucket, count in enumerate(self._counts) if count}

    def add(self, counts: Mapping[int, int], largest_us: int) -> None:
        """Count what another histogram has counted."""
        for bucket, count in counts.items():
            self._counts[bucket] += count
            self.total += count
        self.largest_us = max(self.largest_us, largest_us)

    def merge(self, other: Histogram) -> None:
        """As `add`, of a whole histogram."""
        self.add(other.sparse(), other.largest_us)

    def quantile_ms(self, share: float) -> float:
        """The latency, in ms, that `share` of all stayed within; 0 when there are none."""
        if self.total == 0:
            return 0.0
        wanted, seen = max(1, ceil(share * self.total)), 0
        for bucket, count in enumerate(self._counts):
            seen += count
            if seen >= wanted:
                return min(largest_of(bucket), self.largest_us) / 1000
        return self.largest_us / 1000
