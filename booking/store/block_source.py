"""What choosing seats is done with: prepared plans, and which seats of an event are free.

Plans never change (R13): each is prepared once and kept. Which seats are free comes from a view in memory where the
program has one (`live_free`, set by the API process), and from the database where it has none or where the view was
late. Neither decides anything: the database does, under its locks.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
import numpy.typing as npt

from booking.domain.best_available import BlockPlan
from booking.domain.model import OrphanRule
from booking.domain.seating_plan.columns import columns_of_document
from booking.sql import query
from booking.store.block_offers import BlockOffers
from booking.store.connection import Record

MAX_PLANS = 16
_ROOM_FOR_CROWD = 3
_MAX_CROWD = 1_024  # blocks that one choice looks through, which takes 1 ms

Fetch = Callable[..., Awaitable[list[Record]]]
FreeSeats = npt.NDArray[np.bool_]
LiveFree = Callable[[int], Awaitable[FreeSeats | None]]


@dataclass(frozen=True, slots=True)
class BlockEvent:
    """What choosing needs to know of an event."""

    event_id: int
    plan_id: UUID
    plan_version: int
    orphan_rule: OrphanRule


@dataclass(slots=True)
class _Reading:
    """Readings of one event take turns; one that began after a caller asked serves that caller too."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0
    began_at: float = -1.0
    free: FreeSeats | None = None


class BlockSource:
    """Plans and free seats for choosing; also counts who is choosing in an event at the moment."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._plans: OrderedDict[tuple[UUID, int], asyncio.Task[BlockPlan]] = OrderedDict()
        self._readings: dict[int, _Reading] = {}
        self._wanted: dict[int, list[int]] = {}
        self.live_free: LiveFree | None = None
        self.offers = BlockOffers(self)

    async def event(self, event_id: int) -> BlockEvent | None:
        """The event's plan and rule, as they are now; None when there is no such event."""
        rows = await self._fetch(query("read_block_event"), event_id)
        if not rows:
            return None
        row = rows[0]
        return BlockEvent(event_id, row["plan_id"], row["plan_version"], OrphanRule(row["orphan_rule"]))

    async def plan(self, event: BlockEvent) -> BlockPlan:
        """The event's plan, prepared; one preparation for all who ask meanwhile, and whoever began it may go away."""
        key = (event.plan_id, event.plan_version)
        preparing = self._plans.get(key)
        if preparing is None:
            preparing = asyncio.create_task(self._prepare(*key), name=f"blocks of plan {event.plan_id}")
            self._plans[key] = preparing
            while len(self._plans) > MAX_PLANS:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        try:
            return await asyncio.shield(preparing)
        except Exception:
            if self._plans.get(key) is preparing:
                del self._plans[key]
            raise

    async def _prepare(self, plan_id: UUID, version: int) -> BlockPlan:
        rows = await self._fetch(query("read_plan_document"), plan_id, version)
        document = bytes(rows[0]["document"])
        return await asyncio.to_thread(lambda: BlockPlan(columns_of_document(document)))

    async def free_seats(self, event: BlockEvent, plan: BlockPlan) -> tuple[FreeSeats, bool]:
        """The free seats as they are known here, and whether they were read from the database just now."""
        free = None if self.live_free is None else await self.live_free(event.event_id)
        if free is not None and len(free) == plan.seat_count:
            return free, False
        return await self.true_free_seats(event.event_id), True

    async def true_free_seats(self, event_id: int) -> FreeSeats:
        """The free seats by a reading that began after this call; callers who wait share the next one."""
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        reading = self._readings.setdefault(event_id, _Reading())
        reading.callers += 1
        try:
            async with reading.turn:
                if reading.free is None or reading.began_at < asked_at:
                    reading.began_at = loop.time()
                    rows = await self._fetch(query("read_free_seats"), event_id)
                    reading.free = np.frombuffer(rows[0]["free"], np.uint8).astype(np.bool_)
                return reading.free
        finally:
            reading.callers -= 1
            if reading.callers == 0:
                del self._readings[event_id]

    @contextmanager
    def choosing(self, event_id: int, count: int) -> Iterator[None]:
        """While somebody chooses `count` seats of an event: see `crowd`."""
        self._wanted.setdefault(event_id, []).append(count)
        try:
            yield
        finally:
            self._wanted[event_id].remove(count)
            if not self._wanted[event_id]:
                del self._wanted[event_id]

    def crowd(self, event_id: int, count: int) -> int:
        """Among how many of the best blocks of `count` seats to begin: 1 for who chooses alone.

        Three times as many as would hold all seats that are being chosen here: so that few meet, also when another
        process is choosing as well. For 200 buyers that costs two or three seat widths of distance.
        """
        wanted = self._wanted.get(event_id, ())
        return 1 if len(wanted) < 2 else min(_MAX_CROWD, _ROOM_FOR_CROWD * sum(wanted) // count)
