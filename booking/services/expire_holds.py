"""The delayed expiry message (R44): "hold X ends at T", delivered at about T, beside the sweeper's scan.

The outbox says which holds were made and until when. Each becomes a message that a `MessageCarrier` brings back at its
time, and the handler ends the hold if it is still HELD until exactly then. So a message may come late, twice, out of
order or never: a checkout has moved the deadline, a newer hold has another id, a sold hold is not HELD. What a message
misses the scan finds; what both miss the next buyer takes over, and every map shows as free by itself.

The carrier here is a heap in this process. It forgets everything when the process ends, so the worker's place in the
outbox moves on only when all messages that were read up to there have been delivered: after a restart those under way
are read and sent again. A carrier that keeps its messages by itself (a broker with a delay queue and confirms) says so
by `keeps_messages`, and the place moves on as soon as they were handed over. Two workers at once deliver twice.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from booking.domain.errors import BookingError
from booking.store import expiry_queries, issue_queries
from booking.store.database import Database
from booking.store.expiry_queries import Announced, HoldEnds, Verdict

CONSUMER = "hold-expiry"
TICK_S = 0.02
BATCH = 200
LOCKED_AGAIN_S = 0.1
MAX_CARRIED = 200_000
STRETCH = timedelta(seconds=1)

log = logging.getLogger(__name__)


class MessageCarrier(Protocol):
    """Takes messages and gives each back at its time or later: usually once, perhaps twice, perhaps never."""

    @property
    def keeps_messages(self) -> bool:
        """Whether messages outlive this process once `send` has returned."""

    async def send(self, messages: Sequence[tuple[HoldEnds, datetime]]) -> None:
        """Take messages, each with the database time at which it is to come back."""

    async def receive(self, now: datetime, at_most: int) -> list[HoldEnds]:
        """Messages that are due at the database time `now`; does not wait for any."""


class HeapCarrier:
    """Carries messages in memory. Beyond `limit` it drops those that end last: the sweeper's scan has them anyway."""

    keeps_messages = False

    def __init__(self, limit: int = MAX_CARRIED) -> None:
        self._heap: list[tuple[datetime, HoldEnds]] = []
        self._limit = limit
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._heap)

    async def send(self, messages: Sequence[tuple[HoldEnds, datetime]]) -> None:
        for message, due_at in messages:
            if len(self._heap) < self._limit:
                heapq.heappush(self._heap, (due_at, message))
            else:
                self.dropped += 1

    async def receive(self, now: datetime, at_most: int) -> list[HoldEnds]:
        due: list[HoldEnds] = []
        while self._heap and self._heap[0][0] <= now and len(due) < at_most:
            due.append(heapq.heappop(self._heap)[1])
        return due


@dataclass(slots=True)
class _Reading:
    """A stretch of the outbox that was read, and when the last of its messages is to come back."""

    snap: str
    last_due: datetime
    began_at: datetime


class ExpiryMessages:
    """Reads announcements, sends messages, handles those that come back. One `step` is one round."""

    def __init__(self, db: Database, carrier: MessageCarrier | None = None, *, stretch: timedelta = STRETCH) -> None:
        """`stretch`: how much of the outbox is one step of the durable place, and so how often it is written."""
        self._db = db
        self._carrier: MessageCarrier = carrier if carrier is not None else HeapCarrier()
        self._stretch = stretch
        self._read_to: str | None = None
        self._under_way: deque[_Reading] = deque()
        self.verdicts: Counter[Verdict] = Counter()

    async def prepare(self) -> None:
        """Find the place in the outbox; the first time it is the end: older holds end by the scan."""
        await expiry_queries.ensure_consumer_from_now(self._db, CONSUMER)
        self._read_to = await issue_queries.read_consumer(self._db, CONSUMER)

    async def step(self) -> int:
        """Read what is new, handle what is due, move the place. Returns how many holds were ended.

        Raises:
            AuthorityAwayError, BusyError: call it again; what was received is sent again first.
        """
        if self._read_to is None:
            raise LookupError("call prepare() first")
        now = await self._read_on(self._read_to)
        ended = 0
        while due := await self._carrier.receive(now, BATCH):
            ended += await self._handle(due, now)
            if len(due) < BATCH:
                break
        await self._move_on(now)
        return ended

    async def _read_on(self, read_to: str) -> datetime:
        found = await expiry_queries.scan_held_seats(self._db, read_to)
        if found.messages:
            await self._carrier.send([(message, message.expires_at) for message in found.messages])
        if found.snap != read_to:
            self._note_reading(found)
            self._read_to = found.snap
        return found.now

    def _note_reading(self, found: Announced) -> None:
        # A carrier that keeps its messages has taken them over: none of them is under way here.
        due = [] if self._carrier.keeps_messages else [message.expires_at for message in found.messages]
        last_due = max(due, default=found.now)
        newest = self._under_way[-1] if self._under_way else None
        if newest is not None and abs(found.now - newest.began_at) < self._stretch:
            newest.snap = found.snap
            newest.last_due = max(newest.last_due, last_due)
        else:
            self._under_way.append(_Reading(found.snap, last_due, found.now))

    async def _handle(self, due: Sequence[HoldEnds], now: datetime) -> int:
        try:
            verdicts = await expiry_queries.expire_holds(self._db, due)
        except BookingError:
            await self._carrier.send([(message, now) for message in due])
            raise
        except Exception:
            if len(due) == 1:  # one bad row never stops the others (P32); it is left to the scan
                log.exception("hold %s cannot be ended", due[0].hold_id)
                return 0
            return sum([await self._handle([message], now) for message in due])
        back: list[tuple[HoldEnds, datetime]] = []
        for message, verdict in verdicts:
            if verdict is Verdict.EARLY:
                back.append((message, message.expires_at))
            elif verdict is Verdict.LOCKED:
                back.append((message, now + timedelta(seconds=LOCKED_AGAIN_S)))
        if back:
            await self._carrier.send(back)
        self.verdicts.update(verdict for _, verdict in verdicts)
        return sum(verdict is Verdict.ENDED for _, verdict in verdicts)

    async def _move_on(self, now: datetime) -> None:
        done: _Reading | None = None
        while self._under_way and self._is_delivered(self._under_way[0], now):
            done = self._under_way.popleft()
        if done is not None:
            await expiry_queries.move_consumer(self._db, CONSUMER, done.snap)

    def _is_delivered(self, reading: _Reading, now: datetime) -> bool:
        return reading.last_due <= now and abs(now - reading.began_at) >= self._stretch


async def run(db: Database, *, tick_s: float = TICK_S) -> None:
    """Deliver until cancelled.

    Raises:
        AuthorityAwayError: the connection was lost; the caller starts it again.
    """
    messages = ExpiryMessages(db)
    await messages.prepare()
    while True:
        await messages.step()
        await asyncio.sleep(tick_s)
