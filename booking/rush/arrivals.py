"""When requests are meant to leave: drawn beforehand, whatever the server does."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

POISSON, BURSTS = "poisson", "bursts"
SHAPES = (POISSON, BURSTS)
BURST_EVERY_S = 0.5
BURST_SHARE = 0.4


def arrivals(shape: str, rng: Random, per_s: float, seconds: float) -> Iterator[float]:
    """Instants in rising order, in seconds from the start; on average `per_s` a second."""
    if per_s <= 0:
        return iter(())
    if shape == BURSTS:
        return _bursts(rng, per_s, seconds)
    return _poisson(rng, per_s, seconds)


def _poisson(rng: Random, per_s: float, seconds: float) -> Iterator[float]:
    """People who know nothing of each other."""
    at = rng.expovariate(per_s)
    while at < seconds:
        yield at
        at += rng.expovariate(per_s)


def _bursts(rng: Random, per_s: float, seconds: float) -> Iterator[float]:
    """Four in ten come at one instant every half second, as when a page reloads itself; the others as above."""
    alone = _poisson(rng, per_s * (1 - BURST_SHARE), seconds)
    following = next(alone, None)
    owed, burst_at = 0.0, BURST_EVERY_S / 2
    while burst_at < seconds:
        while following is not None and following < burst_at:
            yield following
            following = next(alone, None)
        owed += per_s * BURST_SHARE * BURST_EVERY_S
        for _ in range(int(owed)):
            yield burst_at
        owed -= int(owed)
        burst_at += BURST_EVERY_S
    while following is not None:
        yield following
        following = next(alone, None)
