"""What a sender counts of each kind of request, and how it tells its conductor: offered = done + shed + failed."""

from __future__ import annotations

from collections import Counter

import msgspec

from booking.histogram import Histogram

SHED_STATUSES = frozenset({429, 503})


class KindCounts(msgspec.Struct, kw_only=True):
    """One kind since the last telling. `answers` counts by status and code, or by what went wrong."""

    offered: int = 0
    done: int = 0
    shed: int = 0
    failed: int = 0
    answers: dict[str, int] = {}
    latency: dict[int, int] = {}
    largest_us: int = 0


class Telling(msgspec.Struct, kw_only=True):
    """One line of a sender: what happened since its last one. `at_s` counts from the first intended request.

    `lateness` is how late requests left, in µs buckets: the sender's own fault, and part of every latency. `counts` and
    `waits` are of fans who come through a waiting room: what became of them, and how long they waited for their turn.
    """

    at_s: float
    open: int
    waiting: int
    kinds: dict[str, KindCounts]
    lateness: dict[int, int] = {}
    lateness_largest_us: int = 0
    contradictions: list[str] = []
    confirmed: int = 0
    counts: dict[str, int] = {}
    waits: dict[int, int] = {}
    longest_wait_us: int = 0
    capped: bool = False
    last: bool = False


class Tally:
    """One kind's counts. A request is offered once and then ends in exactly one of three ways."""

    def __init__(self) -> None:
        self.offered = 0
        self.done = 0
        self.shed = 0
        self.failed = 0
        self.answers: Counter[str] = Counter()
        self.latency = Histogram()

    @property
    def unanswered(self) -> int:
        """Offered and not yet ended."""
        return self.offered - self.done - self.shed - self.failed

    def answered(self, status: int, code: str, seconds: float) -> None:
        """An answer came: 503 and 429 are shed load, other 5xx are failures, everything else is done."""
        if status in SHED_STATUSES:
            self.shed += 1
        elif status >= 500:
            self.failed += 1
        else:
            self.done += 1
            self.latency.record(seconds)
        self.answers[f"{status} {code}".rstrip()] += 1

    def broken(self, why: str, waited_s: float | None = None) -> None:
        """No answer came. Who gave up has waited at least `waited_s`, and that counts as a latency."""
        self.failed += 1
        self.answers[why] += 1
        if waited_s is not None:
            self.latency.record(waited_s)

    def take(self) -> KindCounts:
        """What was counted since the last time, and begin again."""
        counts = KindCounts(
            offered=self.offered, done=self.done, shed=self.shed, failed=self.failed,
            answers=dict(self.answers), latency=self.latency.sparse(), largest_us=self.latency.largest_us,
        )  # fmt: skip
        self.__init__()  # type: ignore[misc]
        return counts

    def add(self, counts: KindCounts) -> None:
        """Count what a sender has told."""
        self.offered += counts.offered
        self.done += counts.done
        self.shed += counts.shed
        self.failed += counts.failed
        self.answers.update(counts.answers)
        self.latency.add(counts.latency, counts.largest_us)
