"""Where requests queue: a single server with a queue in order of arrival, and seats that are taken in runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from booking.simulation.waiting import Floats, Ints

SHED_AGE_S = 0.150
SIZES = 6


class Station:
    """One server, first come first served; a batch of requests at a time, in order of arrival.

    Work is in seconds of the server. Requests that would wait longer than `shed_s` are shed and take no work.
    """

    def __init__(self, shed_s: float = np.inf) -> None:
        self.free_at = -np.inf
        self.shed_s = shed_s
        self.busy_s = 0.0

    def serve(self, came_s: Floats, work_s: Floats) -> Floats:
        """When each is done; NaN: shed. `came_s` rises and is not before that of the last call's."""
        if not len(came_s):
            return np.empty(0)
        before = np.concatenate([[0.0], np.cumsum(work_s)[:-1]])
        begins = before + np.maximum(np.maximum.accumulate(came_s - before), self.free_at)
        if np.max(begins - came_s) > self.shed_s:
            return self._serve_and_shed(came_s, work_s)
        done: Floats = begins + work_s
        self.free_at = float(done[-1])
        self.busy_s += float(work_s.sum())
        return done

    def _serve_and_shed(self, came_s: Floats, work_s: Floats) -> Floats:
        done = np.full(len(came_s), np.nan)
        free_at = self.free_at
        for at, (came, work) in enumerate(zip(came_s.tolist(), work_s.tolist(), strict=True)):
            begins = max(came, free_at)
            if begins - came <= self.shed_s:
                done[at] = free_at = begins + work
                self.busy_s += work
        self.free_at = free_at
        return done


class House:
    """The seats of one event, and the map of them that shoppers see, which is a little old."""

    def __init__(self, seats: int, skew: float) -> None:
        self.taken: NDArray[np.bool_] = np.zeros(seats, np.bool_)
        self.sold = 0
        self._power = 1 / (1 - skew)
        self._starts: list[Ints] = [np.arange(seats - size) for size in range(SIZES)]

    @property
    def free(self) -> int:
        """Seats that nobody holds or has."""
        return int(len(self.taken) - np.count_nonzero(self.taken))

    def redraw(self) -> None:
        """Let the map show what is free now: where runs of one, two … six free seats begin."""
        free = ~self.taken
        run = free.copy()
        for size in range(SIZES):
            if size:
                run = run[:-1] & free[size:]
            self._starts[size] = np.flatnonzero(run)

    def choose(self, sizes: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """What people pick from the map: first seats and sizes; the better (lower) the seat, the more want it.

        Who finds no run of the wanted size takes a shorter one. First seat -1: the map shows nothing free.
        """
        number = np.array([len(starts) for starts in self._starts])
        sizes = sizes.copy()
        for size in range(SIZES, 1, -1):
            if number[size - 1] == 0:
                sizes[sizes == size] = size - 1
        first = np.full(len(sizes), -1)
        ranks = rng.random(len(sizes)) ** self._power
        for size in range(1, SIZES + 1):
            if number[size - 1]:
                who = sizes == size
                first[who] = self._starts[size - 1][(ranks[who] * number[size - 1]).astype(np.int64)]
        return first, sizes

    def take(self, first: Ints, sizes: Ints) -> NDArray[np.bool_]:
        """All or nothing for each in turn: which of them got their seats."""
        taken, got = self.taken, np.zeros(len(first), np.bool_)
        for at, (one, size) in enumerate(zip(first.tolist(), sizes.tolist(), strict=True)):
            if one >= 0 and not taken[one : one + size].any():
                taken[one : one + size] = True
                got[at] = True
        return got

    def give_back(self, first: Ints, sizes: Ints) -> None:
        """Holds that ended without a sale."""
        for one, size in zip(first.tolist(), sizes.tolist(), strict=True):
            self.taken[one : one + size] = False
