"""A sale as the controller feels it: shoppers come in, look, hold, fill in, pay, over one lane that works in batches.

An exact simulation by events: every shopper is one, the lane takes what has queued up (64 at most), and a batch costs a
round trip and so much for each request. The figures that it hands out each second are those of AdmissionSignals.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count
from random import Random

from booking.domain.admission_control_signals import AdmissionSignals
from booking.quantiles import nearest_rank

BATCH_MOST = 64
SHED_AGE_S = 0.150
RETRY_AFTER_S = 1.0
_WINDOW_S = 60
_P99_OVER_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantSettings:
    """One event's sale. Rates per second, times in seconds, shares from 0 to 1.

    A shopper asks the lane `1 / (1 - conflicts)` times for a hold, buyers three times more (checkout, payment, confirm)
    at `sale_cost` of a hold each.
    """

    holds_per_s: float = 150.0
    round_trip_s: float = 0.004
    look_s: tuple[float, float, float] = (4.0, 30.0, 12.0)
    form_s: tuple[float, float, float] = (8.0, 60.0, 20.0)
    pay_s: tuple[float, float, float] = (1.5, 6.0, 2.5)
    conflicts: float = 0.15
    hold_tries: int = 4
    buyers: float = 0.6
    sale_cost: float = 0.6
    patience: float = 0.7
    fans: int | None = None

    def bearable_per_minute(self) -> float:
        """New users a minute that keep the lane busy all the time."""
        tries = sum(self.conflicts**number for number in range(self.hold_tries))
        won = 1 - self.conflicts**self.hold_tries
        return 60 * self.holds_per_s / (tries + won * self.buyers * 3 * self.sale_cost)


@dataclass(frozen=True, slots=True)
class Disturbance:
    """From `begins_s` to `ends_s` requests take `slower` times as long and `lock_waits` sessions wait for locks."""

    begins_s: float
    ends_s: float
    slower: float
    lock_waits: int = 0
    away: bool = False


@dataclass(slots=True)
class PlantCounts:
    """What became of everybody so far; `latencies` are (second, s) of holds that were answered."""

    admitted: int = 0
    sold: int = 0
    left: int = 0
    given_up: int = 0
    shed: int = 0
    hold_attempts: int = 0
    latencies: list[tuple[float, float]] = field(default_factory=list)
    attempts_by_s: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Ask:
    came_s: float
    cost: float
    is_hold: bool
    then: Callable[[], None]


class LanePlant:
    """Run it a second at a time with `second(per_minute)`."""

    def __init__(self, settings: PlantSettings, disturbances: tuple[Disturbance, ...], seed: int) -> None:
        self.settings = settings
        self.counts = PlantCounts()
        self.now = 0.0
        self._disturbances = disturbances
        self._rng = Random(seed)  # noqa: S311 - a crowd, not a secret
        # Who would buy is drawn apart, so that the same people come in whatever a law does.
        self._wishes = Random(seed + 1)  # noqa: S311
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number: Iterator[int] = count()
        self._queue: deque[_Ask] = deque()
        self._busy = False
        self._oldest_s = 0.0
        self._owed = 0.0
        self._departures: deque[tuple[float, bool]] = deque()
        self._recent: deque[tuple[float, float]] = deque()

    @property
    def inside(self) -> int:
        """Shoppers who were let in and have not left."""
        counts = self.counts
        return counts.admitted - counts.sold - counts.left - counts.given_up

    def second(self, per_minute: float) -> AdmissionSignals:
        """Let in for a second at this rate, and say how it went."""
        self.counts.attempts_by_s.append(0)
        self._oldest_s = 0.0
        ends = self.now + 1.0
        self._admit(per_minute)
        while self._events and self._events[0][0] <= ends:
            self.now, _, what = heappop(self._events)
            what()
        self.now = ends
        return self._signals()

    def _admit(self, per_minute: float) -> None:
        fans = self.settings.fans
        self._owed += per_minute / 60
        number = int(self._owed)
        self._owed -= number
        if fans is not None:
            number = min(number, fans - self.counts.admitted)
        for _ in range(number):
            self.counts.admitted += 1
            begin = partial(self._hold, 1, 0, buys=self._wishes.random() < self.settings.buyers)
            self._later(self._rng.random() + self._triangle(self.settings.look_s), begin)

    # ------------------------------------------------ one shopper

    def _hold(self, attempt: int, sheds: int, *, buys: bool) -> None:
        self.counts.hold_attempts += 1
        self.counts.attempts_by_s[-1] += 1
        if self._ask(1.0, partial(self._hold_answered, attempt, buys=buys), is_hold=True):
            self._shed(sheds, partial(self._hold, attempt, sheds + 1, buys=buys))

    def _hold_answered(self, attempt: int, *, buys: bool) -> None:
        if self._rng.random() < self.settings.conflicts:
            if attempt == self.settings.hold_tries:
                self._leave()
            else:
                self._later(self._rng.uniform(0.3, 1.5), partial(self._hold, attempt + 1, 0, buys=buys))
            return
        fills_s = self._triangle(self.settings.form_s)
        if buys:
            self._later(fills_s, lambda: self._sale_step(3, 0))
        else:
            self._later(fills_s, self._leave)

    def _sale_step(self, steps: int, sheds: int) -> None:
        """Checkout, payment, confirm: as many calls as `steps` are left."""

        def answered() -> None:
            if steps > 1:
                wait_s = self._triangle(self.settings.pay_s) if steps == 2 else 0.3
                self._later(wait_s, lambda: self._sale_step(steps - 1, 0))
            else:
                self.counts.sold += 1
                self._departed(bought=True)

        if self._ask(self.settings.sale_cost, answered, is_hold=False):
            self._shed(sheds, lambda: self._sale_step(steps, sheds + 1))

    def _shed(self, sheds: int, again: Callable[[], None]) -> None:
        """503 with Retry-After: some do as it says, the others are lost to the sale; after five times everybody is."""
        self.counts.shed += 1
        if sheds >= 5 or self._rng.random() >= self.settings.patience:
            self.counts.given_up += 1
            self._departed(bought=False)
        else:
            self._later(RETRY_AFTER_S + self._rng.random(), again)

    def _leave(self) -> None:
        self.counts.left += 1
        self._departed(bought=False)

    def _departed(self, *, bought: bool) -> None:
        self._departures.append((self.now, bought))

    # ------------------------------------------------ the lane

    def _ask(self, cost: float, then: Callable[[], None], *, is_hold: bool) -> bool:
        """Queue a request. True: shed at the door, because the queue is too old."""
        if self._queue and self.now - self._queue[0].came_s > SHED_AGE_S:
            self._oldest_s = max(self._oldest_s, self.now - self._queue[0].came_s)
            return True
        self._queue.append(_Ask(self.now, cost, is_hold, then))
        if not self._busy:
            self._begin_batch()
        return False

    def _begin_batch(self) -> None:
        taken = [self._queue.popleft() for _ in range(min(BATCH_MOST, len(self._queue)))]
        self._busy = True
        self._oldest_s = max(self._oldest_s, self.now - taken[0].came_s)
        slower = max((one.slower for one in self._now_disturbed()), default=1.0)
        each_s = 1 / self.settings.holds_per_s
        self._later((self.settings.round_trip_s + sum(ask.cost for ask in taken) * each_s) * slower,
                    lambda: self._end_batch(taken))  # fmt: skip

    def _end_batch(self, taken: list[_Ask]) -> None:
        for ask in taken:
            if ask.is_hold:
                told = (self.now, self.now - ask.came_s)
                self.counts.latencies.append(told)
                self._recent.append(told)
            ask.then()
        self._busy = False
        if self._queue:
            self._begin_batch()

    # ------------------------------------------------ figures

    def _signals(self) -> AdmissionSignals:
        while self._departures and self._departures[0][0] < self.now - _WINDOW_S:
            self._departures.popleft()
        while self._recent and self._recent[0][0] < self.now - _P99_OVER_S:
            self._recent.popleft()
        waiting_s = self.now - self._queue[0].came_s if self._queue else 0.0
        departures = len(self._departures)
        bought = sum(was for _, was in self._departures)
        return AdmissionSignals(
            queue_age_ms=1_000 * max(self._oldest_s, waiting_s),
            hold_p99_ms=self._p99_ms(),
            lock_waits=float(sum(one.lock_waits for one in self._now_disturbed())),
            completion_share=bought / departures if departures >= 20 else None,
            active_shoppers=float(self.inside),
            departures_per_minute=departures * 60 / min(_WINDOW_S, max(self.now, 1.0)),
            authority_away=any(one.away for one in self._now_disturbed()),
        )

    def _p99_ms(self) -> float | None:
        p99_s = nearest_rank((latency for _, latency in self._recent), 0.99)
        return None if p99_s is None else 1_000 * p99_s

    def _now_disturbed(self) -> list[Disturbance]:
        return [one for one in self._disturbances if one.begins_s <= self.now < one.ends_s]

    def _later(self, wait_s: float, what: Callable[[], None]) -> None:
        heappush(self._events, (self.now + wait_s, next(self._number), what))

    def _triangle(self, low_high_mode: tuple[float, float, float]) -> float:
        return self._rng.triangular(*low_high_mode)
