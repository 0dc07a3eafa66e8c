"""What an opening was: by second, in all, how long people waited, how fairly, and what it takes to serve it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from booking.domain.admission_control import AdmissionChange
from booking.simulation.rates import Rates
from booking.simulation.scenarios import Scenario
from booking.simulation.waiting import Floats

_PAIRS = 200_000
SHARES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Second:
    """One second: requests, people, and the rate that was set (per minute). `sold` counts seats so far."""

    at_s: int
    edge: float
    joins: float
    polls: float
    waiting: int
    inside: int
    set_per_minute: float
    admitted: float
    holds: float
    shed: float
    queue_age_ms: float
    payments: float
    orders: float
    maps: float
    sold: int


@dataclass(frozen=True, slots=True)
class Needs:
    """Processes at the busiest second with the headroom of the rates; `shards` for all events of the scenario.

    An event has one room process and one shard, whatever it needs: `room_load` and `shard_load` are its share of what
    one bears, at full rate. `binds` names those of which a single event needs more than one is planned to bear.
    """

    edge_nodes: int
    room_processes: int
    shards: int
    api_processes: int
    shard_load: float
    room_load: float
    binds: tuple[str, ...]
    bears: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A finished run. `came_s`, `admitted_s`: float64[visitors], seconds from the opening, NaN: never admitted."""

    scenario: Scenario
    rates: Rates
    seconds: Sequence[Second]
    totals: Mapping[str, int]
    came_s: Floats
    admitted_s: Floats
    hold_waits_s: Floats
    sold_out_s: int | None
    seats_sold: int
    seats_taken: int
    shard_busy_s: float
    changes: Sequence[AdmissionChange]

    def peak(self, name: str) -> float:
        """The busiest second of a figure."""
        return max((float(getattr(second, name)) for second in self.seconds), default=0.0)

    def waits_s(self) -> Floats:
        """How long those waited who got in, from the opening or from when they came after it."""
        inside = ~np.isnan(self.admitted_s)
        return np.maximum(self.admitted_s[inside] + 1 - np.maximum(self.came_s[inside], 0.0), 0.0)

    def needs(self) -> Needs:
        """How many of each it takes."""
        rates, spare = self.rates, self.rates.headroom
        room = self._peak_of_window(self._room_share) if self.scenario.room else 0.0
        shard = self._peak_of_window(self._shard_share)
        api = self._peak_of_window(self._api_share)
        events = self.scenario.events
        return Needs(
            edge_nodes=max(1, ceil(self.peak("edge") * events / rates.edge_per_s / spare)),
            room_processes=_one_writer_each(events, room, spare) if self.scenario.room else 0,
            shards=_one_writer_each(events, shard, spare),
            api_processes=max(1, ceil(api * events / spare)),
            shard_load=shard, room_load=room, bears=spare,
            binds=tuple(name for name, load in (("room", room), ("shard", shard)) if load > spare),
        )  # fmt: skip

    def _peak_of_window(self, shares: Floats) -> float:
        """The largest mean of five seconds: a second of overload is what queues are for."""
        if not len(shares):
            return 0.0
        return float(np.convolve(shares, np.full(5, 0.2), mode="same").max())

    @property
    def _room_share(self) -> Floats:
        rates = self.rates
        return np.array([
            one.joins / rates.room_joins_per_s + one.polls / rates.room_polls_per_s for one in self.seconds
        ])  # fmt: skip

    @property
    def _shard_share(self) -> Floats:
        rates = self.rates
        return np.array([
            (one.holds - one.shed) / rates.hold_per_s
            + one.payments * (1 / rates.checkout_per_s + 1 / rates.payment_per_s)
            + one.orders * (1 / rates.confirm_per_s + 3 / rates.status_per_s)
            for one in self.seconds
        ])  # fmt: skip

    @property
    def _api_share(self) -> Floats:
        rates = self.rates
        return 1e-6 * np.array([
            one.holds * rates.hold_api_us + 2 * one.payments * rates.checkout_api_us
            + 3 * one.orders * rates.status_api_us + one.maps * rates.map_api_us
            for one in self.seconds
        ])  # fmt: skip


def _one_writer_each(events: int, load: float, spare: float) -> int:
    """An event is never split over processes that write; small events share one."""
    fits = max(1, int(spare / load)) if load else events
    return ceil(events / fits)


def gini(values: Floats) -> float:
    """0: all the same, 1: one has everything."""
    total = float(values.sum())
    if not len(values) or total <= 0:
        return 0.0
    ranks = np.arange(1, len(values) + 1)
    return float(2 * (ranks * np.sort(values)).sum() / (len(values) * total) - (len(values) + 1) / len(values))


def inversions(came_s: Floats, admitted_s: Floats, seed: int = 0) -> float:
    """The share of pairs of whom the later comer was let in before the earlier one; of 200,000 drawn pairs.

    Who never got in counts as let in after everybody who did; pairs who never got in both are no inversion.
    """
    if len(came_s) < 2:
        return 0.0
    rng = np.random.default_rng(seed)
    one, two = rng.integers(0, len(came_s), (2, _PAIRS))
    first, second = np.where(came_s[one] <= came_s[two], one, two), np.where(came_s[one] <= came_s[two], two, one)
    entered = np.nan_to_num(admitted_s, nan=np.inf)
    return float(np.mean((came_s[first] < came_s[second]) & (entered[second] < entered[first])))


def fairness(opened: Opened) -> dict[str, float]:
    """Gini of the waits, inversions among all and among those who came after the opening, who got in of whom."""
    came, admitted = opened.came_s, opened.admitted_s
    late = came >= 0
    inside = ~np.isnan(admitted)
    return {
        "gini_of_waits": round(gini(opened.waits_s()), 4),
        "inversions": round(inversions(came, admitted), 4),
        "inversions_after_opening": round(inversions(came[late], admitted[late]), 4),
        "let_in_of_early": round(float(inside[~late].mean()), 4) if (~late).any() else 0.0,
        "let_in_of_later": round(float(inside[late].mean()), 4) if late.any() else 0.0,
    }


def quantiles(values: Floats, scale: float = 1.0) -> dict[str, float]:
    """p50, p90, p99 and the largest."""
    if not len(values):
        return {"p50": 0.0, "p90": 0.0, "p99": 0.0, "max": 0.0}
    found = {f"p{share * 100:g}": round(float(np.quantile(values, share)) * scale, 1) for share in SHARES}
    return found | {"max": round(float(values.max()) * scale, 1)}
