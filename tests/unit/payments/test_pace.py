"""The cap of running checkouts: shrinks fast while a provider is slow, grows slowly, and never lets go of its least."""

from __future__ import annotations

import heapq
import itertools
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from uuid import UUID, uuid4

import pytest

from booking.domain.errors import BusyError
from booking.domain.model import OperationResult, ResultOutcome
from booking.payments.pace import CheckoutPace

OK, UNKNOWN = OperationResult(ResultOutcome.SUCCEEDED, 1), OperationResult(ResultOutcome.UNKNOWN, 0)


@dataclass
class World:
    """Buyers begin `per_s` checkouts a second; each payment is one question to a provider that serves `slots` at once.

    Time is the world's own: a minute takes a fraction of a second.
    """

    slots: int
    serves_in_s: float
    hangs: float = 0.0
    """This share of the questions stays without an answer for ten seconds, and its outcome unknown."""
    most: int = 200
    now: float = 0.0
    pace: CheckoutPace = field(init=False)
    begun: int = 0
    refused: int = 0
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pace = CheckoutPace(most=self.most, least=5, slow_s=2.0, clock=lambda: self.now)
        self._chance = Random(7)
        self.caps: list[int] = []
        self._free_at = [0.0] * self.slots
        self._ends: list[tuple[float, int]] = []
        self._asks: dict[int, tuple[UUID, object, object]] = {}
        self._hanging: set[int] = set()
        self._tokens = itertools.count()

    def run(self, seconds: float, per_s: float) -> None:
        until, step = self.now + seconds, 1.0 / per_s
        while self.now < until:
            self._end_those_due()
            self._begin()
            self.now += step
            if int(self.now) > len(self.caps):
                self.caps.append(self.pace.figures().cap)

    def _begin(self) -> None:
        token = next(self._tokens)
        with suppress(BusyError):
            with self.pace.checkout(token) as became:
                order = uuid4()
                became(order)
            self.begun += 1
            asking = self.pace.asking()
            told = asking.__enter__()
            if self._chance.random() < self.hangs:
                end = self.now + 10.0
                self._hanging.add(token)
            else:
                end = max(heapq.heappop(self._free_at), self.now) + self.serves_in_s
                heapq.heappush(self._free_at, end)
            heapq.heappush(self._ends, (end, token))
            self._asks[token] = (order, asking, told)
            self.waits.append(end - self.now)
            return
        self.refused += 1

    def _end_those_due(self) -> None:
        while self._ends and self._ends[0][0] <= self.now:
            _, token = heapq.heappop(self._ends)
            order, asking, told = self._asks.pop(token)
            is_hanging = token in self._hanging
            told(UNKNOWN if is_hanging else OK)  # type: ignore[operator]
            asking.__exit__(None, None, None)  # type: ignore[attr-defined]
            if not is_hanging:
                self.pace.ended(order)


def test_a_provider_that_keeps_up_has_all_checkouts() -> None:
    world = World(slots=50, serves_in_s=0.2)
    world.run(30, per_s=100)
    assert world.refused == 0
    assert world.pace.figures().cap == 200


def test_the_wait_at_a_slow_provider_stays_bounded_and_all_that_it_can_serve_goes_on() -> None:
    world = World(slots=50, serves_in_s=0.2)
    world.run(10, per_s=100)
    world.serves_in_s = 1.0  # it serves 50 a second now, and 100 a second come
    world.run(60, per_s=100)
    late = world.waits[-1000:]
    assert world.refused > 1000
    assert max(late) < 5.0, "without a cap it would be half a minute by now"
    assert world.begun - 10 * 100 > 0.7 * 50 * 60
    world.serves_in_s = 0.2
    before = world.refused
    world.run(60, per_s=100)
    assert world.pace.figures().cap == 200
    assert world.refused - before < 600


@pytest.mark.parametrize(("hangs", "per_s"), [(0.005, 200), (0.01, 50), (0.01, 1000), (0.02, 200)])
def test_a_provider_that_is_well_but_for_a_few_loses_no_buyer(hangs: float, per_s: float) -> None:
    """A question that hangs is one bad one, however long it hangs."""
    world = World(slots=5_000, serves_in_s=0.1, hangs=hangs, most=5_000)
    world.run(60, per_s=per_s)
    assert world.refused < 0.01 * world.begun
    assert min(world.caps) > per_s * 0.1


def test_a_provider_of_whom_a_fifth_hangs_is_asked_less_at_once_and_the_cap_does_not_hunt() -> None:
    world = World(slots=5_000, serves_in_s=0.1, most=5_000)
    world.run(20, per_s=200)
    world.hangs = 0.2
    world.run(30, per_s=200)
    assert min(world.caps[20:25]) < 5_000, "cut within five seconds"
    turns = sum((b - a) * (c - b) < 0 for a, b, c in zip(world.caps, world.caps[1:], world.caps[2:], strict=False))
    assert turns <= 3


def test_a_cap_that_is_always_full_grows_when_the_provider_is_well_again() -> None:
    world = World(slots=5_000, serves_in_s=1.0, hangs=0.5)
    world.run(20, per_s=400)
    assert world.caps[-1] < 100
    world.hangs = 0.0
    world.run(80, per_s=400)
    assert world.caps[-1] == 200


def test_three_bad_answers_are_needed_and_hanging_ones_count_with_their_age() -> None:
    now = [0.0]
    pace = CheckoutPace(most=100, least=5, slow_s=2.0, clock=lambda: now[0])
    asked = [pace.asking() for _ in range(3)]
    for one in asked[:2]:
        one.__enter__()
    now[0] = 3.0
    assert pace.figures().cap == 100
    asked[2].__enter__()
    now[0] = 6.0
    figures = pace.figures()
    assert (figures.cap, figures.p95_ms) == (5, 6000)
    for one in asked:
        one.__exit__(None, None, None)


def test_answers_that_nobody_knows_shrink_it_too() -> None:
    now = [0.0]
    pace = CheckoutPace(most=100, clock=lambda: now[0])
    for result in [UNKNOWN] * 3 + [OK] * 20:
        with pace.asking() as told:
            told(result)
    now[0] = 1.0
    figures = pace.figures()
    assert figures.cap == 5
    assert figures.unknown_share == pytest.approx(3 / 23)


def test_a_checkout_counts_until_its_payment_ends_or_its_time_is_over() -> None:
    now = [0.0]
    pace = CheckoutPace(most=5, least=5, clock=lambda: now[0])
    orders = [uuid4() for _ in range(5)]
    for token, order in enumerate(orders):
        with pace.checkout(token) as became:
            became(order)
    with pytest.raises(BusyError) as refused, pace.checkout("late"):
        raise AssertionError("it was let in")
    assert refused.value.retry_after_s == 2
    with pace.checkout(0):
        pass  # repeats its request: its order is there already
    pace.ended(orders[0])
    pace.ended(uuid4())
    with pace.checkout("late"):
        pass
    assert pace.figures().running == 5
    now[0] = 16.0
    assert (pace.figures().running, pace.figures().refused) == (0, 1)


def test_a_checkout_that_fails_does_not_count() -> None:
    pace = CheckoutPace(most=5)
    with pytest.raises(RuntimeError), pace.checkout("a"):
        raise RuntimeError
    assert pace.figures().running == 0


@pytest.mark.parametrize(("most", "least"), [(4, 5), (5, 0)])
def test_a_cap_is_between_one_and_the_most(most: int, least: int) -> None:
    with pytest.raises(ValueError, match="cap"):
        CheckoutPace(most=most, least=least)
