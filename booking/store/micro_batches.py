"""Micro-batches: what queued up while the last batch ran goes as one round trip and one transaction (design §7).

There is no timer window: at low load a batch is one request. The rules:

- Each request claims names (its seats, its account). Requests that share a claim are never under way together; the
  later one waits for the earlier one, in order.
- Whoever waits for a claim that was just lost to a winner is *looked up* with all the others in the same position, in
  one round trip: its own key first, for it may be the winner's retry.
- What the batch leaves undecided runs alone and may wait for locks; its claims stay taken meanwhile.
- A batch that fails is run again, each request alone, with the same keys: nothing is lost, nothing is done twice.
- A caller that goes away changes nothing: its request is carried out, a replay finds it. Nor does one that has waited
  `ANSWER_WITHIN_S` and is told that the outcome is not known.
- Another lane begins beside a busy one only when a whole batch waits, or when that one's batch takes long: two half
  batches cost more than a whole one. So under load batches grow by themselves, and a slow commit keeps nobody waiting.
- Overload is shed on arrival, while the queue is long and old, and after `MAX_WAIT_S` in the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, Protocol, TypeVar

from booking.domain.errors import AuthorityAwayError, BusyError

BATCH_LIMIT = 64
LOOK_LIMIT = 256
MAX_WAITING = 4_000
SHED_AGE_S = 0.150
SHED_WAITING = 2 * BATCH_LIMIT
MAX_WAIT_S = 0.7
BESIDE_AFTER_S = 0.02
ANSWER_WITHIN_S = 2.5
AWAY_RETRY_AFTER_S = 2

Request = TypeVar("Request")
Result = TypeVar("Result")
Request_contra = TypeVar("Request_contra", contravariant=True)
Decided = TypeVar("Decided")

_log = logging.getLogger(__name__)


class BatchWork(Protocol[Request_contra, Decided]):
    """What a lane does with its requests. Results are parallel to the requests; None leaves one undecided."""

    def claims(self, request: Request_contra) -> frozenset[Hashable]:
        """Names that no other request under way may share."""
        ...

    async def run(self, requests: Sequence[Request_contra]) -> Sequence[Decided | None]:
        """Decide a batch in one transaction, without waiting for locks."""
        ...

    async def run_alone(self, request: Request_contra) -> Decided:
        """Decide one request; it may wait."""
        ...

    async def look(self, requests: Sequence[Request_contra]) -> Sequence[Decided | None]:
        """Decide those that are decided already, without locks."""
        ...

    def lost_to_others(self, request: Request_contra, result: Decided) -> frozenset[Hashable]:
        """Claims that, as the result shows, nobody who waits for them will get now."""
        ...


@dataclass(eq=False, slots=True)
class _Waiting(Generic[Request, Result]):
    request: Request
    claims: frozenset[Hashable]
    since: float
    answer: asyncio.Future[Result]
    doomed: bool = False


@dataclass(slots=True)
class LaneFigures:
    """What a lane did, for measurements; ages in seconds."""

    requests: int = 0
    batches: int = 0
    looks: int = 0
    alone: int = 0
    failed_batches: int = 0
    shed: int = 0
    unanswered: int = 0
    last_queue_age_s: float = 0.0


@dataclass(eq=False)
class MicroBatches(Generic[Request, Result]):
    """A queue of requests and the lanes that work it off; `submit` from the loop that started it."""

    work: BatchWork[Request, Result]
    name: str
    lanes: int = 2
    figures: LaneFigures = field(default_factory=LaneFigures)

    def __post_init__(self) -> None:
        self._queue: deque[_Waiting[Request, Result]] = deque()
        self._taken: set[Hashable] = set()
        self._wake = asyncio.Event()
        self._alone: set[asyncio.Task[None]] = set()
        self._workers: list[asyncio.Task[None]] = []
        self._closing = False
        self._quick = 0  # batches under way that do not take long yet
        self._worst_age_s = 0.0

    def start(self) -> None:
        """Start the lanes' tasks in the running loop."""
        self._workers = [
            asyncio.create_task(self._work_off(), name=f"{self.name} lane {number + 1}") for number in range(self.lanes)
        ]

    async def close(self) -> None:
        """Finish what is under way, refuse what still waits, stop the tasks."""
        self._closing = True
        self._wake.set()
        await asyncio.gather(*self._workers, *self._alone, return_exceptions=True)
        while self._queue:
            _refuse(self._queue.popleft(), "The service is stopping.")

    async def submit(self, request: Request) -> Result:
        """Have a request decided.

        Raises:
            BusyError: too much is waiting; nothing was done.
            AuthorityAwayError: no answer came in time; the outcome is not known, the same key will tell.
            BookingError: what deciding it alone raised.
        """
        self._shed()
        loop = asyncio.get_running_loop()  # once: it asks the system for the process id, each time
        waiting: _Waiting[Request, Result] = _Waiting(
            request, self.work.claims(request), monotonic(), loop.create_future()
        )
        waiting.answer.add_done_callback(_hear)
        self._queue.append(waiting)
        self.figures.requests += 1
        if self._may_begin():
            self._wake.set()
        # A timer and the bare future, not `timeout` and `shield`: a tenth of their cost, and the same effect, because
        # a lane leaves an answer alone that is done, by the timer or by a caller who went away.
        timer = loop.call_later(ANSWER_WITHIN_S, self._give_up, waiting)
        try:
            return await waiting.answer
        finally:
            timer.cancel()

    def _give_up(self, waiting: _Waiting[Request, Result]) -> None:
        if not waiting.answer.done():
            self.figures.unanswered += 1
            waiting.answer.set_exception(
                AuthorityAwayError("No answer came in time.", retry_after_s=AWAY_RETRY_AFTER_S)
            )

    @property
    def queue_age_s(self) -> float:
        """How long the oldest waiting request has waited; 0 when none waits."""
        return monotonic() - self._queue[0].since if self._queue else 0.0

    @property
    def waiting(self) -> int:
        """How many requests wait for a batch."""
        return len(self._queue)

    def take_worst_age_s(self) -> float:
        """The longest that a request has waited for its batch since this was asked last, or waits now."""
        worst, self._worst_age_s = max(self._worst_age_s, self.queue_age_s), 0.0
        return worst

    def _shed(self) -> None:
        if self._closing or not self._workers:
            raise BusyError("The service is stopping.")
        too_old = len(self._queue) >= SHED_WAITING and self.queue_age_s > SHED_AGE_S
        if too_old or len(self._queue) >= MAX_WAITING:
            self.figures.shed += 1
            raise BusyError("Too many requests are waiting.")

    async def _work_off(self) -> None:
        while True:
            doomed = self._pick_doomed()
            if doomed:
                await self._look(doomed)
                continue
            batch = self._pick_batch() if self._may_begin() else []
            if batch:
                with self._under_way():
                    await self._run(batch)
                continue
            if self._closing:
                return
            self._wake.clear()
            # Requests held back by claims wake us when the claims are given back; this bounds their wait.
            patience = max(0.0, MAX_WAIT_S - self.queue_age_s) + 0.01 if self._queue else None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), timeout=patience)

    def _may_begin(self) -> bool:
        return self._quick == 0 or len(self._queue) >= BATCH_LIMIT

    @contextlib.contextmanager
    def _under_way(self) -> Iterator[None]:
        """A batch runs: count it until it ends or takes long, and let another lane go on from there."""
        counted = True

        def no_longer() -> None:
            nonlocal counted
            if counted:
                counted = False
                self._quick -= 1
                self._wake.set()

        self._quick += 1
        timer = asyncio.get_running_loop().call_later(BESIDE_AFTER_S, no_longer)
        if self._may_begin():
            self._wake.set()
        try:
            yield
        finally:
            timer.cancel()
            no_longer()

    def _pick_doomed(self) -> list[_Waiting[Request, Result]]:
        doomed = [waiting for waiting in self._queue if waiting.doomed][:LOOK_LIMIT]
        if doomed:
            chosen = set(map(id, doomed))
            self._queue = deque(waiting for waiting in self._queue if id(waiting) not in chosen)
        return doomed

    def _pick_batch(self) -> list[_Waiting[Request, Result]]:
        """Take requests in order, none that shares a claim with one under way or with an earlier one that waits."""
        now = monotonic()
        batch: list[_Waiting[Request, Result]] = []
        kept: deque[_Waiting[Request, Result]] = deque()
        ahead: set[Hashable] = set()
        for waiting in self._queue:
            if now - waiting.since > MAX_WAIT_S:
                _refuse(waiting, "This request waited too long for another one.")
                self.figures.shed += 1
            elif (
                len(batch) < BATCH_LIMIT and waiting.claims.isdisjoint(self._taken) and waiting.claims.isdisjoint(ahead)
            ):
                self._taken |= waiting.claims
                batch.append(waiting)
            else:
                ahead |= waiting.claims
                kept.append(waiting)
        self._queue = kept
        if batch:
            self.figures.last_queue_age_s = now - batch[0].since
            self._worst_age_s = max(self._worst_age_s, self.figures.last_queue_age_s)
        return batch

    async def _run(self, batch: list[_Waiting[Request, Result]]) -> None:
        self.figures.batches += 1
        results: Sequence[Result | None]
        try:
            results = await self.work.run([waiting.request for waiting in batch])
        except Exception as error:  # noqa: BLE001 - each request is run again and meets the error alone
            _log.warning("%s: a batch of %d failed, each runs alone: %r", self.name, len(batch), error)
            self.figures.failed_batches += 1
            results = [None] * len(batch)
        for waiting, result in zip(batch, results, strict=True):
            if result is None:
                self._run_alone(waiting)
            else:
                self._settle(waiting, result)
        self._wake.set()

    def _settle(self, waiting: _Waiting[Request, Result], result: Result) -> None:
        self._taken -= waiting.claims
        lost = self.work.lost_to_others(waiting.request, result)
        if lost:
            for other in self._queue:
                other.doomed = other.doomed or not other.claims.isdisjoint(lost)
        if not waiting.answer.done():
            waiting.answer.set_result(result)

    def _run_alone(self, waiting: _Waiting[Request, Result]) -> None:
        self.figures.alone += 1
        task = asyncio.create_task(self._decide_alone(waiting), name=f"{self.name} alone")
        self._alone.add(task)
        task.add_done_callback(self._alone.discard)

    async def _decide_alone(self, waiting: _Waiting[Request, Result]) -> None:
        try:
            self._settle(waiting, await self.work.run_alone(waiting.request))
        except Exception as error:  # noqa: BLE001 - it belongs to the caller
            self._taken -= waiting.claims
            if not waiting.answer.done():
                waiting.answer.set_exception(error)
        finally:
            self._wake.set()

    async def _look(self, doomed: list[_Waiting[Request, Result]]) -> None:
        self.figures.looks += 1
        results: Sequence[Result | None]
        try:
            results = await self.work.look([waiting.request for waiting in doomed])
        except Exception as error:  # noqa: BLE001 - they take their turn instead
            _log.warning("%s: a look at %d requests failed: %r", self.name, len(doomed), error)
            results = [None] * len(doomed)
        again: list[_Waiting[Request, Result]] = []
        for waiting, result in zip(doomed, results, strict=True):
            if result is None:
                waiting.doomed = False
                again.append(waiting)
            elif not waiting.answer.done():
                waiting.answer.set_result(result)
        self._queue.extendleft(reversed(again))
        self._wake.set()


def _refuse(waiting: _Waiting[Request, Result], why: str) -> None:
    if not waiting.answer.done():
        waiting.answer.set_exception(BusyError(why))


def _hear(answer: asyncio.Future[Result]) -> None:
    """Take note of an exception whose caller has gone away."""
    if not answer.cancelled():
        answer.exception()
