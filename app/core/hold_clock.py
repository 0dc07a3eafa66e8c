"""The server's time at this counter; a countdown never shows more time than the server gives (R4).

A server that answered with the time T, asked at local instant s and heard at r, read T between s and r. So the server's
time at local instant m is at most T + (m - s). The sample with the shortest round trip bounds it best and is kept; old
samples go, so that drift and a corrected server clock do not stay. The local clock is steady: setting the computer's
wall clock changes nothing here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

SAMPLE_AGE_S = 300.0
SAMPLE_COUNT = 32
STEP_TOLERANCE_S = 0.5


@dataclass(frozen=True, slots=True)
class ClockSample:
    """One reading: `server_time` is aware UTC; `sent_at` and `received_at` are seconds of the local steady clock."""

    server_time: datetime
    sent_at: float
    received_at: float

    @property
    def round_trip_s(self) -> float:
        """How long the answer took; the uncertainty of the sample."""
        return self.received_at - self.sent_at

    @property
    def latest_offset_s(self) -> float:
        """Server time minus steady time, at most."""
        return self.server_time.timestamp() - self.sent_at

    @property
    def earliest_offset_s(self) -> float:
        """Server time minus steady time, at least."""
        return self.server_time.timestamp() - self.received_at


@dataclass(slots=True)
class ServerClock:
    """The server's time now, from samples. `steady` reads the local steady clock in seconds."""

    steady: Callable[[], float]
    _samples: deque[ClockSample] = field(default_factory=lambda: deque(maxlen=SAMPLE_COUNT))
    _best: ClockSample | None = None

    def observe(self, server_time: datetime, sent_at: float, received_at: float) -> None:
        """Take a reading. One that contradicts the others means that a clock was set, and starts anew.

        Raises:
            ValueError: a naive time, or received before sent.
        """
        if server_time.tzinfo is None:
            raise ValueError("server_time must be aware")
        if received_at < sent_at:
            raise ValueError("received before sent")
        sample = ClockSample(server_time.astimezone(UTC), sent_at, received_at)
        if self._best is not None and _contradict(self._best, sample):
            self._samples.clear()
        self._samples.append(sample)
        while self._samples[0].received_at < received_at - SAMPLE_AGE_S:
            self._samples.popleft()
        self._best = min(self._samples, key=lambda kept: kept.round_trip_s)

    @property
    def known(self) -> bool:
        """False until the first sample came."""
        return self._best is not None

    def now(self) -> datetime | None:
        """The latest that the server's time can be now; None before the first sample."""
        if self._best is None:
            return None
        return datetime.fromtimestamp(self.steady() + self._best.latest_offset_s, UTC)

    def now_here(self) -> datetime:
        """The same; until the server's time is known, what this machine's clock says, which may be wrong."""
        return self.now() or datetime.now(UTC)

    def remaining_s(self, deadline: datetime) -> float | None:
        """Seconds left until `deadline`, never more than the server gives, 0 at least; None before the first sample."""
        now = self.now()
        if now is None:
            return None
        return max(0.0, (deadline - now) / timedelta(seconds=1))

    def is_past(self, deadline: datetime) -> bool:
        """`now >= deadline`, as the server compares (R4); False while the server's time is not known."""
        now = self.now()
        return now is not None and now >= deadline


def _contradict(one: ClockSample, other: ClockSample) -> bool:
    """True when no single offset fits both samples."""
    latest = min(one.latest_offset_s, other.latest_offset_s)
    earliest = max(one.earliest_offset_s, other.earliest_offset_s)
    return earliest - latest > STEP_TOLERANCE_S
