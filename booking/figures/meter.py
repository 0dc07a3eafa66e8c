"""What one process counts while it works: requests and their latencies, providers' answers, frames of the feed.

Counting costs well below a microsecond or two a request and never waits. The counts run since the process began;
latencies are handed over in stretches, each of which is added up once (`ProcessReport`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from enum import StrEnum

from booking.figures.model import Counts, Latencies
from booking.histogram import LARGEST_US, add_counts, bucket_of

_HANDED_OVER_AGAIN = 3
"""Stretches that were handed over before: whoever adds up may have missed them."""
_KEPT_UNTOLD = 60


class RequestKind(StrEnum):
    """What was asked for, as far as it has a latency of its own."""

    HOLD = "hold"
    CHECKOUT = "checkout"
    PAYMENT = "payment"
    RESULT = "result"
    ORDER = "order"
    MAP = "map"
    OTHER = "other"


class RequestEnd(StrEnum):
    """How a request ended. A conflict is a race lost to another buyer; `refused` is right, but not as asked."""

    DONE = "done"
    CONFLICT = "conflict"
    REFUSED = "refused"
    LIMITED = "limited"
    SHED = "shed"
    AWAY = "away"
    FAILED = "failed"


FEED = "feed"
"""The latency of frames, beside those of the kinds of requests."""

_CONFLICTS = frozenset({"seats-taken", "no-block-left", "tier-sold-out", "tier-in-holds", "seat-orphaned"})


def end_of(status: int, code: str) -> RequestEnd:
    """How a request ended, by the status and the code of its answer ("" without a problem)."""
    if status < 400:
        return RequestEnd.DONE
    if code in _CONFLICTS:
        return RequestEnd.CONFLICT
    if status == 429:
        return RequestEnd.LIMITED
    if code == "busy":
        return RequestEnd.SHED
    if code == "authority-away":
        return RequestEnd.AWAY
    return RequestEnd.FAILED if status >= 500 else RequestEnd.REFUSED


class Meter:
    """The counts of one process. Used from one event loop."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        """The sum of all latencies since the process began, in seconds, by kind."""
        self._ended: dict[str, Counts] = {}
        self._stretch: dict[str, Counts] = {}
        self._handed_over: list[Latencies] = []
        self._number = 0

    def request(self, kind: RequestKind, end: RequestEnd, seconds: float) -> None:
        """A request was answered. Those that were refused at the door have no latency: they would make it look good."""
        self.counts[f"{kind}:{end}"] += 1
        if end not in _AT_THE_DOOR:
            self._took(kind, seconds)

    def provider_answered(self, is_error: bool) -> None:
        """A payment provider was asked: it has answered, or not."""
        self.counts["provider:error" if is_error else "provider:done"] += 1

    def frame_sent(self, late_s: float) -> None:
        """A change was handed to a client of the feed, so long after it was due."""
        self.counts["feed:sent"] += 1
        self._took(FEED, late_s)

    def client_dropped(self) -> None:
        """A client of the feed took no frames."""
        self.counts["feed:dropped"] += 1

    def _took(self, kind: str, seconds: float) -> None:
        bucket = bucket_of(min(max(0, int(seconds * 1_000_000)), LARGEST_US))
        stretch = self._stretch.get(kind)
        if stretch is None:
            stretch = self._stretch[kind] = {}
        stretch[bucket] = stretch.get(bucket, 0) + 1
        self.seconds[kind] += seconds

    def totals(self, kind: str) -> Counts:
        """All latencies of a kind since the process began, as `seconds`; scrapers take differences themselves."""
        counts = dict(self._ended.get(kind, {}))
        add_counts(counts, self._stretch.get(kind, {}))
        return counts

    def latencies(self) -> tuple[Latencies, ...]:
        """End the stretch, and all that has not been added up for certain: `were_taken` says which were."""
        if self._stretch:
            self._number += 1
            self._handed_over.append(Latencies(number=self._number, kinds=self._stretch))
            for kind, counts in self._stretch.items():
                add_counts(self._ended.setdefault(kind, {}), counts)
            self._stretch = {}
        return tuple(self._handed_over)

    def were_not_taken(self) -> None:
        """Nobody could be told: what is too old to be of use is let go, so that nothing grows."""
        del self._handed_over[:-_KEPT_UNTOLD]

    def were_taken(self) -> None:
        """The report with these stretches is stored: only the last ones are sent again."""
        del self._handed_over[:-_HANDED_OVER_AGAIN]


_AT_THE_DOOR = frozenset({RequestEnd.LIMITED, RequestEnd.SHED})
