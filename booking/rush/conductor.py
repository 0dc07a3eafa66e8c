"""The sender processes of a run: started together, merged as they tell, watched, ended at the deadline."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from booking.child_process import end, spawn
from booking.histogram import Histogram
from booking.rush.own_stack import STOPS_WITHIN_S
from booking.rush.plan import Sale, SenderPlan, Server, Traffic
from booking.rush.shopper import HOLD
from booking.rush.tally import Tally, Telling

START_IN_S = 1.0
"""Senders need so long to get going."""
_OVERTIME_S = 20.0
_LARGEST_SEED = 2**31
_read_telling = msgspec.json.Decoder(Telling)


class SenderFailedError(Exception):
    """A sender process ended before it had told everything."""


@dataclass(frozen=True, slots=True)
class Second:
    """One second of the run, for the charts: counts of requests, latencies in ms of those that ended in it.

    `admitted`: fans whose turn came, through a waiting room; `confirmed`: orders seen confirmed.
    """

    at_s: int
    offered: int
    done: int
    shed: int
    failed: int
    p50_ms: float
    p99_ms: float
    open: int
    hold_p50_ms: float = 0.0
    hold_p99_ms: float = 0.0
    admitted: int = 0
    confirmed: int = 0


_MISTAKES = frozenset({"400", "401", "403", "404", "405", "413", "415", "422"})
_TURN_OVER = "403 admission-refused"
"""Somebody whose turn is over: that happens."""


@dataclass(slots=True)
class Run:
    """What all senders have told so far."""

    kinds: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    lateness: Histogram = field(default_factory=Histogram)
    contradictions: list[str] = field(default_factory=list)
    seconds: list[Second] = field(default_factory=list)
    confirmed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    waits: Histogram = field(default_factory=Histogram)
    capped: bool = False
    elapsed_s: float = 0.0

    def count(self, name: str) -> int:
        """`offered`, `done`, `shed`, `failed` or `unanswered` over all kinds."""
        return sum(getattr(tally, name) for tally in self.kinds.values())

    def latency(self) -> Histogram:
        """All kinds together."""
        together = Histogram()
        for tally in self.kinds.values():
            together.merge(tally.latency)
        return together

    def server_errors(self) -> int:
        """Answers that no server gives on purpose: 5xx other than 503."""
        return sum(
            count
            for tally in self.kinds.values()
            for answer, count in tally.answers.items()
            if answer[:1] == "5" and answer[:3] != "503"
        )

    def mistaken(self) -> int:
        """Requests that were refused as mistakes. Nobody of the crowd makes one: a run of them measures refusals."""
        return sum(
            count
            for tally in self.kinds.values()
            for answer, count in tally.answers.items()
            if answer[:3] in _MISTAKES and answer != _TURN_OVER
        )


Progress = Callable[[Run, Second], None]


class Conductor:
    """Runs one rush. `progress` is called once a second with what has happened so far."""

    def __init__(
        self, server: Server, sale: Sale, tokens: tuple[str, ...], traffic: Traffic, room: Server | None = None
    ) -> None:
        self._room = room
        self._server = server
        self._sale = sale
        self._tokens = tokens
        self._traffic = traffic
        self._run = Run()
        self._now, self._now_holds, self._now_counts = Tally(), Tally(), Counter[str]()
        self.starts_at = 0.0
        self._open: dict[int, int] = {}

    async def conduct(
        self, *, processes: int, connections: int, most_requests: int, drain_s: float, timeout_s: float, seed: int,
        progress: Progress, starts_at: float | None = None,
    ) -> Run:  # fmt: skip
        """Start the senders and return what they counted. `starts_at`: of the wall clock, a moment from now or more.

        Raises:
            SenderFailedError: one ended too early, or did not end.
        """
        starts_at = self.starts_at = time.time() + START_IN_S if starts_at is None else starts_at
        plans = [
            SenderPlan(
                server=self._server, sale=self._sale, traffic=self._traffic.shared_by(processes),
                tokens=self._tokens[number::processes], connections=-(-connections // processes),
                most_requests=-(-most_requests // processes), drain_s=drain_s, timeout_s=timeout_s,
                seed=(seed + number * 7_919) % _LARGEST_SEED, starts_at=starts_at, room=self._room,
                seed_of_fans=seed,
                first_fan=self._traffic.fans * number // processes,
                fans=self._traffic.fans * (number + 1) // processes - self._traffic.fans * number // processes,
            )
            for number in range(processes)
        ]  # fmt: skip
        lasts_s = max(self._traffic.seconds, 2 * self._traffic.arrivals_last_s)
        ticking = asyncio.create_task(self._tick(starts_at, progress), name="progress")
        try:
            async with asyncio.timeout(START_IN_S + lasts_s + drain_s + _OVERTIME_S):
                async with asyncio.TaskGroup() as group:
                    for number, plan in enumerate(plans):
                        group.create_task(self._attend(number, plan), name=f"sender {number}")
        except TimeoutError:
            raise SenderFailedError("the senders did not end in time") from None
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
        self._close_second(len(self._run.seconds), progress)
        return self._run

    async def _attend(self, number: int, plan: SenderPlan) -> None:
        process = await spawn(
            ["booking.rush.sender"], stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=None
        )
        if process.stdin is None or process.stdout is None:
            raise SenderFailedError("a sender has no pipes")
        last = False
        try:
            process.stdin.write(msgspec.json.encode(plan))
            process.stdin.write_eof()
            async for line in process.stdout:
                telling = _read_telling.decode(line)
                self._hear(number, telling)
                last = telling.last
            await process.wait()
        finally:
            await end(process, STOPS_WITHIN_S)
        if not last:
            raise SenderFailedError(f"a sender ended too early (exit code {process.returncode})")

    def _hear(self, number: int, telling: Telling) -> None:
        run = self._run
        for kind, counts in telling.kinds.items():
            run.kinds[kind].add(counts)
            self._now.add(counts)
            if kind == HOLD:
                self._now_holds.add(counts)
        run.lateness.add(telling.lateness, telling.lateness_largest_us)
        run.contradictions += telling.contradictions
        run.confirmed += telling.confirmed
        run.counts.update(telling.counts)
        self._now_counts.update({**telling.counts, "confirmed": telling.confirmed})
        run.waits.add(telling.waits, telling.longest_wait_us)
        run.capped = run.capped or telling.capped
        run.elapsed_s = max(run.elapsed_s, telling.at_s)
        self._open[number] = telling.open

    async def _tick(self, starts_at: float, progress: Progress) -> None:
        second = 0
        while True:
            # A little after the full second, when the senders have told about it.
            await asyncio.sleep(max(0.0, starts_at + second + 1.25 - time.time()))
            self._close_second(second, progress)
            second += 1

    def _close_second(self, at_s: int, progress: Progress) -> None:
        now, holds, counts = self._now, self._now_holds, self._now_counts
        self._now, self._now_holds, self._now_counts = Tally(), Tally(), Counter()
        second = Second(
            at_s, now.offered, now.done, now.shed, now.failed,
            now.latency.quantile_ms(0.50), now.latency.quantile_ms(0.99), sum(self._open.values()),
            holds.latency.quantile_ms(0.50), holds.latency.quantile_ms(0.99), counts["admitted"], counts["confirmed"],
        )  # fmt: skip
        self._run.seconds.append(second)
        progress(self._run, second)


def say(text: str) -> None:
    """One line of progress on standard error."""
    sys.stderr.write(f"rush: {text}\n")
    sys.stderr.flush()
