"""The lane without a database: what is batched together, who waits, what a failure or a crowd does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable, Sequence
from dataclasses import dataclass, field

import pytest

from booking.domain.errors import BusyError
from booking.store import micro_batches
from booking.store.micro_batches import BATCH_LIMIT, MicroBatches


@dataclass(frozen=True)
class Ask:
    who: str
    wants: str


@dataclass
class FakeCounter:
    """Hands out each thing once; a batch waits for the gate."""

    owner: dict[str, str] = field(default_factory=dict)
    batches: list[list[Ask]] = field(default_factory=list)
    looks: list[int] = field(default_factory=list)
    alone: list[Ask] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    poison: str = ""
    slow: str = ""

    def claims(self, request: Ask) -> frozenset[Hashable]:
        return frozenset({("who", request.who), ("wants", request.wants)})

    async def run(self, requests: Sequence[Ask]) -> list[str | None]:
        self.batches.append(list(requests))
        await self.gate.wait()
        if any(request.wants == self.poison for request in requests):
            raise RuntimeError("poisoned")
        return [None if request.wants == self.slow else self.decide(request) for request in requests]

    async def run_alone(self, request: Ask) -> str:
        self.alone.append(request)
        if request.wants == self.poison:
            raise ValueError("this one")
        await asyncio.sleep(0)
        return self.decide(request)

    async def look(self, requests: Sequence[Ask]) -> list[str | None]:
        self.looks.append(len(requests))
        return [self.owner.get(request.wants) for request in requests]

    def lost_to_others(self, request: Ask, result: str) -> frozenset[Hashable]:
        return frozenset({("wants", request.wants)})

    def decide(self, request: Ask) -> str:
        return self.owner.setdefault(request.wants, request.who)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that does much else does not make a batch one that takes long."""
    monkeypatch.setattr(micro_batches, "BESIDE_AFTER_S", 30.0)


@pytest.fixture
def counter() -> FakeCounter:
    return FakeCounter()


@pytest.fixture
async def lane(counter: FakeCounter) -> AsyncIterator[MicroBatches[Ask, str]]:
    lane = MicroBatches[Ask, str](counter, "test", lanes=1)
    lane.start()
    yield lane
    counter.gate.set()
    await lane.close()


async def _submit(lane: MicroBatches[Ask, str], *asks: Ask) -> list[asyncio.Task[str]]:
    tasks = [asyncio.create_task(lane.submit(ask)) for ask in asks]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def test_what_queued_up_while_a_batch_ran_goes_together(
    lane: MicroBatches[Ask, str], counter: FakeCounter
) -> None:
    first = await _submit(lane, Ask("a", "1"))
    rest = await _submit(lane, *(Ask(f"b{n}", f"s{n}") for n in range(70)))
    counter.gate.set()
    assert await asyncio.gather(*first, *rest) == ["a", *(f"b{n}" for n in range(70))]
    assert [len(batch) for batch in counter.batches] == [1, BATCH_LIMIT, 70 - BATCH_LIMIT]


async def test_no_two_requests_of_a_batch_share_a_claim(lane: MicroBatches[Ask, str], counter: FakeCounter) -> None:
    first = await _submit(lane, Ask("z", "9"))
    rest = await _submit(lane, Ask("a", "1"), Ask("a", "2"), Ask("b", "3"), Ask("c", "3"))
    counter.gate.set()
    assert await asyncio.gather(*first, *rest) == ["z", "a", "a", "b", "b"]
    for batch in counter.batches:
        claims = [claim for ask in batch for claim in counter.claims(ask)]
        assert len(claims) == len(set(claims))


async def test_a_crowd_that_lost_is_looked_up_in_one_round_trip(
    lane: MicroBatches[Ask, str], counter: FakeCounter
) -> None:
    crowd = await _submit(lane, *(Ask(f"b{n}", "seat") for n in range(50)))
    counter.gate.set()
    assert await asyncio.gather(*crowd) == ["b0"] * 50
    assert counter.looks == [49]
    assert len(counter.batches) == 1


async def test_a_poisoned_batch_runs_each_alone_and_only_the_culprit_fails(
    lane: MicroBatches[Ask, str], counter: FakeCounter
) -> None:
    counter.poison = "bad"
    first = await _submit(lane, Ask("z", "9"))
    rest = await _submit(lane, Ask("a", "1"), Ask("b", "bad"), Ask("c", "2"))
    counter.gate.set()
    results = await asyncio.gather(*first, *rest, return_exceptions=True)
    assert [str(result) for result in results] == ["z", "a", "this one", "c"]
    assert [ask.who for ask in counter.alone] == ["a", "b", "c"]
    assert lane.figures.failed_batches == 1


async def test_an_undecided_request_runs_alone_and_keeps_its_claims(
    lane: MicroBatches[Ask, str], counter: FakeCounter
) -> None:
    counter.slow = "locked"
    tasks = await _submit(lane, Ask("a", "locked"), Ask("b", "locked"), Ask("c", "free"))
    counter.gate.set()
    assert await asyncio.gather(*tasks) == ["a", "a", "c"]
    assert [ask.who for ask in counter.alone] == ["a"]


async def test_a_caller_that_goes_away_changes_nothing(lane: MicroBatches[Ask, str], counter: FakeCounter) -> None:
    (gone,) = await _submit(lane, Ask("a", "1"))
    gone.cancel()
    await asyncio.sleep(0)
    counter.gate.set()
    (late,) = await _submit(lane, Ask("b", "1"))
    assert await late == "a"
    assert gone.cancelled()
    assert counter.owner == {"1": "a"}


async def test_a_long_and_old_queue_sheds_on_arrival(
    lane: MicroBatches[Ask, str], counter: FakeCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(micro_batches, "SHED_AGE_S", 0.0)
    first = await _submit(lane, Ask("z", "9"))
    rest = await _submit(lane, *(Ask(f"b{n}", f"s{n}") for n in range(micro_batches.SHED_WAITING)))
    with pytest.raises(BusyError) as shed:
        await lane.submit(Ask("late", "1"))
    assert shed.value.retry_after_s == 1
    counter.gate.set()
    assert len(await asyncio.gather(*first, *rest)) == 1 + micro_batches.SHED_WAITING
    assert lane.figures.shed == 1


async def test_who_waits_too_long_for_anothers_claim_is_told_so(
    lane: MicroBatches[Ask, str], counter: FakeCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(micro_batches, "MAX_WAIT_S", 0.02)
    hanging = asyncio.Event()

    async def hang(request: Ask) -> str:
        await hanging.wait()
        return counter.decide(request)

    monkeypatch.setattr(counter, "run_alone", hang)
    counter.slow = "locked"
    counter.gate.set()
    first, second = await _submit(lane, Ask("a", "locked"), Ask("b", "locked"))
    with pytest.raises(BusyError):
        await asyncio.wait_for(second, 60)
    hanging.set()
    assert await first == "a"


async def test_a_closed_lane_finishes_what_runs_and_refuses_the_rest(counter: FakeCounter) -> None:
    lane = MicroBatches[Ask, str](counter, "test", lanes=1)
    lane.start()
    (running,) = await _submit(lane, Ask("a", "1"))
    closing = asyncio.create_task(lane.close())
    await asyncio.sleep(0)
    with pytest.raises(BusyError):
        await lane.submit(Ask("b", "2"))
    counter.gate.set()
    await closing
    assert await running == "a"


@pytest.fixture
async def pair(counter: FakeCounter) -> AsyncIterator[MicroBatches[Ask, str]]:
    """Two lanes over one queue; the first is busy with "z"."""
    pair = MicroBatches[Ask, str](counter, "pair", lanes=2)
    pair.start()
    (first,) = await _submit(pair, Ask("z", "9"))
    yield pair
    counter.gate.set()
    assert await first == "z"
    await pair.close()


async def test_a_second_lane_leaves_less_than_a_batch_to_the_busy_one(
    pair: MicroBatches[Ask, str], counter: FakeCounter
) -> None:
    rest = await _submit(pair, *(Ask(f"b{n}", f"s{n}") for n in range(BATCH_LIMIT - 1)))
    assert [len(batch) for batch in counter.batches] == [1]
    counter.gate.set()
    await asyncio.gather(*rest)
    assert [len(batch) for batch in counter.batches] == [1, BATCH_LIMIT - 1]


async def test_a_second_lane_takes_a_whole_batch_beside_the_busy_one(
    pair: MicroBatches[Ask, str], counter: FakeCounter
) -> None:
    rest = await _submit(pair, *(Ask(f"b{n}", f"s{n}") for n in range(BATCH_LIMIT + 1)))
    assert [len(batch) for batch in counter.batches] == [1, BATCH_LIMIT]
    counter.gate.set()
    assert len(await asyncio.gather(*rest)) == BATCH_LIMIT + 1


async def test_a_batch_that_takes_long_keeps_nobody_waiting(
    counter: FakeCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(micro_batches, "BESIDE_AFTER_S", 0.0)
    started = asyncio.Event()

    async def run(requests: Sequence[Ask]) -> list[str | None]:
        counter.batches.append(list(requests))
        if len(counter.batches) == 2:
            started.set()
        await counter.gate.wait()
        return [counter.decide(request) for request in requests]

    monkeypatch.setattr(counter, "run", run)
    lane = MicroBatches[Ask, str](counter, "slow", lanes=2)
    lane.start()
    tasks = [*await _submit(lane, Ask("a", "1")), *await _submit(lane, Ask("b", "2"))]
    await asyncio.wait_for(started.wait(), 60)
    assert [[ask.who for ask in batch] for batch in counter.batches] == [["a"], ["b"]]
    counter.gate.set()
    assert await asyncio.gather(*tasks) == ["a", "b"]
    await lane.close()
