"""What a rush will be told as, predicted from its settings alone, beside what it reported.

The crowd of `rush` sees no map: it tries a popular run of seats, then any run twice more. Whether a hold wins is
decided here by seats that fill up, as there; people have the habits of `booking.crowd`, as there. What is predicted is
how many races are won and lost, and how many orders come of it. How much is asked follows from that and from settings
that both sides share: such figures are shown as given and judge nothing. Latencies are not predicted: on shared cores
they are the neighbours' as much as ours.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate
from random import Random

from booking import crowd
from booking.simulation.rates import number

TOLERANCE = 0.20
_SMALL = 30
"""Counts below this vary by more than a fifth from run to run: they are judged by three standard deviations."""

_GIVEN = ("hold", "sent again", "checkout", "pay", "release")
SETTINGS = ("rate", "seconds", "skew", "groups", "double_clicks", "buyers", "seats")


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure: predicted, seen, and whether it is near enough. `given`: it follows from the settings."""

    name: str
    predicted: float
    seen: float
    given: bool = False

    @property
    def good(self) -> bool:
        """Within a fifth of what was seen, or of a small count by chance alone."""
        by_chance = 3 * max(self.seen, 1.0) ** 0.5 if self.seen < _SMALL else 0.0
        return abs(self.predicted - self.seen) <= max(TOLERANCE * self.seen, by_chance)


class RushModel:
    """One simulated rush; `counts` by kind of request as a report names them, and `won`, `lost`, `confirmed`."""

    def __init__(self, settings: Mapping[str, float], seed: int) -> None:
        self.settings = settings
        self.counts: Counter[str] = Counter()
        self._rng = Random(seed)  # noqa: S311 - a crowd, not a secret
        self._seats = int(settings["seats"])
        self._cumulative = list(accumulate((rank + 1) ** -settings["skew"] for rank in range(self._seats)))
        self._taken = bytearray(self._seats)
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._pushed = 0

    def run(self) -> Counter[str]:
        """Everybody comes, tries, and is done."""
        settings, rng = self.settings, self._rng
        # `rate` counts first holds, and friends send several at one instant.
        arrivals_per_s = settings["rate"] / (1 + settings["groups"] * (crowd.MEAN_FRIENDS - 1))
        at = rng.expovariate(arrivals_per_s)
        while at < settings["seconds"]:
            for first, size in self._friends() if rng.random() < settings["groups"] else [self._popular()]:
                self._later(at, partial(self._hold, first, size, 0))
            at += rng.expovariate(arrivals_per_s)
        while self._events:
            now, _, what = heappop(self._events)
            what(now)
        return self.counts

    def _hold(self, first: int, size: int, attempt: int, now: float) -> None:
        rng = self._rng
        self.counts["hold"] += 1
        self.counts["sent again"] += rng.random() < self.settings["double_clicks"]
        if any(self._taken[first : first + size]):
            self.counts["lost"] += 1
            if attempt < crowd.ELSEWHERE_TRIES:
                anywhere = min(rng.randrange(self._seats), self._seats - size)
                self._later(
                    now + rng.uniform(*crowd.ELSEWHERE_AFTER_S), partial(self._hold, anywhere, size, attempt + 1)
                )
            return
        self.counts["won"] += 1
        self._taken[first : first + size] = b"\1" * size
        if rng.random() < self.settings["buyers"]:
            self.counts["checkout"] += 1
            self._later(now + rng.uniform(*crowd.FORM_S), partial(self._pay, first, size))
        elif rng.random() < crowd.RELEASES:
            self.counts["release"] += 1
            self._later(now + rng.uniform(*crowd.RELEASE_AFTER_S), partial(self._free, first, size))

    def _pay(self, first: int, size: int, now: float) -> None:
        self.counts["pay"] += 1
        if self._rng.random() >= crowd.DECLINES:
            self.counts["confirmed"] += 1
        else:
            self._later(now + self._rng.uniform(300, 600), partial(self._free, first, size))

    def _free(self, first: int, size: int, now: float) -> None:
        del now
        self._taken[first : first + size] = bytes(size)

    def _popular(self) -> tuple[int, int]:
        size = min(self._rng.choices(crowd.SIZES, crowd.SIZE_WEIGHTS)[0], self._seats)
        first = bisect_left(self._cumulative, self._rng.random() * self._cumulative[-1])
        return max(0, min(first, self._seats - size)), size

    def _friends(self) -> list[tuple[int, int]]:
        first, size = self._popular()
        return [(min(first + step, self._seats - size), size) for step in range(self._rng.choice(crowd.FRIENDS))]

    def _later(self, at: float, what: Callable[[float], None]) -> None:
        self._pushed += 1
        heappush(self._events, (at, self._pushed, what))


def settings_of(report: object) -> dict[str, float]:
    """What a rush was asked to do, from its report.

    Raises:
        ValueError: it is no rush report, or a setting in it is no number. Names the field.
    """
    settings = report.get("settings") if isinstance(report, dict) else None
    if not isinstance(settings, dict) or not isinstance(report, dict) or "kinds" not in report:
        raise ValueError("settings: this is no report of a rush (rush --report DIR writes rush.json)")
    found = {name: number(settings, name) for name in SETTINGS}
    if not 6 <= found["seats"] <= 240_000 or found["rate"] <= 0 or found["rate"] * found["seconds"] > 5_000_000:
        raise ValueError("settings: seats from 6 to 240000, a rate above 0, and five million arrivals at most")
    return found


def predict(report: Mapping[str, object], seed: int = 1, runs: int = 5) -> list[Compared]:
    """The mean of some simulated runs beside what a rush saw.

    Raises:
        ValueError: as settings_of.
    """
    settings = settings_of(report)
    mean: Counter[str] = Counter()
    for run in range(runs):
        mean.update(RushModel(settings, seed + run).run())
    predicted = {name: total / runs for name, total in mean.items()}
    seen = _seen(report)
    names = ("won", "lost", "confirmed", *_GIVEN)
    return [Compared(name, predicted.get(name, 0.0), seen.get(name, 0.0), name in _GIVEN) for name in names]


def _seen(report: Mapping[str, object]) -> dict[str, float]:
    kinds = report["kinds"]
    if not isinstance(kinds, dict):
        raise ValueError("kinds: an object is needed")  # noqa: TRY004 - a fault of the file
    found = {name: number(kind, "offered") for name, kind in kinds.items() if isinstance(kind, dict)}
    answers = kinds.get("hold", {}).get("answers", {})
    found["won"] = float(answers.get("201", 0))
    found["lost"] = float(answers.get("409 seats-taken", 0))
    found["confirmed"] = number(report, "confirmed_orders")
    return found
