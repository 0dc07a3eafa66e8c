"""Everybody who waits, as arrays: when they come, their places, their patience, what their pages ask meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from booking.room.asking import POLLS_PER_S, asks_every_s, longest_s
from booking.simulation.scenarios import FIFO, Scenario

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_LOOK = 4_096
_PATIENCE_EVERY_S = 5
ToTurn = Callable[[int], float | None]
"""How many stand before somebody → seconds to his turn, as the room estimates them; None: nobody knows."""


@dataclass(slots=True)
class Waiting:
    """`came_s` rises; `order` are visitors by place; all arrays are as long as there are visitors.

    `admitted_s` is NaN for those who never got in.
    """

    came_s: Floats
    leaves_s: Floats
    order: Ints
    admitted_s: Floats
    left_s: Floats
    scenario: Scenario
    next_place: int = 0
    next_arrival: int = 0
    waiting: int = 0
    abandoned: int = 0
    sold_out: bool = False
    _leaving: Ints | None = None
    _next_leaving: int = 0
    _owed_polls: float = 0.0
    _hear_each_s: int = 0

    @classmethod
    def of(cls, scenario: Scenario, rng: np.random.Generator) -> Waiting:
        """Draw everybody."""
        came = arrivals(scenario, rng)
        number = len(came)
        patience = scenario.patience_s * np.exp(0.7 * rng.standard_normal(number))
        leaves = np.maximum(came, 0.0) + patience
        order = np.arange(number)
        if scenario.policy != FIFO:
            early = int(np.searchsorted(came, 0.0))
            order[:early] = rng.permutation(early)
        nobody = np.full(number, np.nan)
        return cls(
            came, leaves, order, nobody, nobody.copy(), scenario, _leaving=np.argsort(leaves, kind="stable"),
        )  # fmt: skip

    def begin_second(self, second: int) -> int:
        """Let come who comes before this second ends, and go who has lost patience. Returns how many came."""
        until = int(np.searchsorted(self.came_s, second + 1))
        came = until - self.next_arrival
        self.next_arrival = until
        self.waiting += came
        self._lose_patience(second)
        return came

    def _lose_patience(self, second: int) -> None:
        leaving = self._leaving
        assert leaving is not None
        if self.sold_out or second % _PATIENCE_EVERY_S:
            return
        until = int(np.searchsorted(self.leaves_s, second + 1, sorter=leaving))
        gone = leaving[self._next_leaving : until]
        gone = gone[np.isnan(self.admitted_s[gone]) & (self.came_s[gone] < second + 1)]
        self._next_leaving = until
        self.left_s[gone] = second
        self.waiting -= len(gone)
        self.abandoned += len(gone)

    def admit(self, number: int, second: int) -> Ints:
        """The next by place who are there and have not gone, at most `number`."""
        chosen: list[Ints] = []
        while number > 0 and self.next_place < len(self.order):
            ahead = self.order[self.next_place : self.next_place + max(_LOOK, number)]
            there = (self.came_s[ahead] < second + 1) & np.isnan(self.left_s[ahead])
            stops = np.flatnonzero(self.came_s[ahead] >= second + 1)
            end = int(stops[0]) if len(stops) else len(ahead)
            able = np.flatnonzero(there[:end])[:number]
            if len(able):
                chosen.append(ahead[able])
                number -= len(able)
            self.next_place += int(able[-1]) + 1 if number == 0 and len(able) else end
            if end < len(ahead):
                break
        found = np.concatenate(chosen) if chosen else np.empty(0, np.int64)
        self.admitted_s[found] = second
        self.waiting -= len(found)
        return found

    def polls(self, second: int, to_turn_s: ToTurn | None) -> int:
        """How many pages ask for their place in this second, told when to by the room's own rule."""
        if self._hear_each_s:
            return min(self._hear_each_s, self.waiting)
        self._owed_polls += self._asks_per_s(second, to_turn_s)
        whole = int(self._owed_polls)
        self._owed_polls -= whole
        return whole

    def _asks_per_s(self, second: int, to_turn_s: ToTurn | None) -> float:
        """The sum over the line of one divided by what each is told: in stretches that double, near ones alone."""
        scenario, waiting = self.scenario, self.waiting

        def every_s(turn_s: float | None) -> float:
            return asks_every_s(waiting, scenario.away_after_s, scenario.collect_within_s, turn_s)

        if second < 0:
            return waiting / every_s(max(-second, 4 * waiting / POLLS_PER_S))
        if to_turn_s is None:
            return waiting / every_s(None)
        asks, begin = 0.0, 0
        while begin < waiting:
            end = min(waiting, begin + max(1, begin // 8))
            asks += (end - begin) / every_s(to_turn_s((begin + end) // 2))
            begin = end
        return asks

    def tell_sold_out(self) -> int:
        """Who asks in this second hears that nothing is left, and goes. Returns how many heard it."""
        if not self.sold_out:
            # What each was told last: at most the longest, so within that time all have heard it.
            longest = longest_s(self.waiting, self.scenario.away_after_s)
            self.sold_out, self._hear_each_s = True, ceil(self.waiting / longest)
        number = min(max(1, self._hear_each_s), self.waiting)
        self.waiting -= number
        return number


def arrivals(scenario: Scenario, rng: np.random.Generator) -> Floats:
    """When everybody comes, in rising order, seconds from the opening; early ones below 0. `float64[visitors]`."""
    number = scenario.visitors
    early, burst = int(number * scenario.early), int(number * scenario.burst)
    # Of the early ones more come the nearer the opening is.
    before = -scenario.early_s * (1 - np.sqrt(rng.random(early)))
    rush = np.minimum(rng.exponential(scenario.burst_s, burst), scenario.arrive_s)
    rest = rng.random(number - early - burst) * scenario.arrive_s
    return np.sort(np.concatenate([before, rush, rest]))
