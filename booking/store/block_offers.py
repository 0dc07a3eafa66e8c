"""What is offered to those who lost seats: the nearest block like theirs, promised to nobody.

Many lose the same seats at the same moment. They share one search, and each is offered the next of its blocks, so that
the offers do not send the crowd into one block again. A search is kept for a moment only; it decides nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from booking.domain.best_available import Block, nearest_blocks

if TYPE_CHECKING:
    from booking.store.block_source import BlockEvent, BlockSource

KEPT_S = 0.25
MAX_KEPT = 1_000

_Key = tuple[int, tuple[int, ...], tuple[int, ...]]


@dataclass(slots=True)
class _Search:
    found: asyncio.Task[tuple[BlockEvent, tuple[Block, ...]] | None]
    until: float
    given: int = 0


class BlockOffers:
    """Searches of the last moment."""

    def __init__(self, source: BlockSource) -> None:
        self._source = source
        self._searches: dict[_Key, _Search] = {}

    async def next_block(
        self, event_id: int, wanted: tuple[int, ...], lost: tuple[int, ...]
    ) -> tuple[BlockEvent, Block] | None:
        """A free block like `wanted`, and the event it is in; None when there is none.

        Raises:
            BusyError, AuthorityAwayError: the database did not say what is free.
        """
        now = asyncio.get_running_loop().time()
        key = (event_id, wanted, lost)
        search = self._searches.get(key)
        if search is None or search.until <= now:
            self._forget(now)
            task = asyncio.create_task(self._search(event_id, wanted, lost), name=f"offers in event {event_id}")
            search = self._searches[key] = _Search(task, now + KEPT_S)
        search.given += 1
        number = search.given - 1
        found = await asyncio.shield(search.found)
        if found is None or not found[1]:
            return None
        event, blocks = found
        return event, blocks[number % len(blocks)]

    def _forget(self, now: float) -> None:
        self._searches = {key: search for key, search in self._searches.items() if search.until > now}
        while len(self._searches) >= MAX_KEPT:
            del self._searches[next(iter(self._searches))]

    async def _search(
        self, event_id: int, wanted: tuple[int, ...], lost: tuple[int, ...]
    ) -> tuple[BlockEvent, tuple[Block, ...]] | None:
        event = await self._source.event(event_id)
        if event is None:
            return None
        plan = await self._source.plan(event)
        free, _ = await self._source.free_seats(event, plan)
        if len(free) != plan.seat_count:
            return None
        free = free.copy()
        free[[seat for seat in lost if seat < len(free)]] = False
        return event, nearest_blocks(plan, free, wanted, event.orphan_rule)
