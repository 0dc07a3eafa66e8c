"""What people call a seat. A plan version never changes (R13), so labels are read once and kept."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from uuid import UUID

from booking.domain.model import SeatRef
from booking.sql import query
from booking.store.connection import Record

MAX_BLOCKS = 1_000
SEATS_PER_BLOCK = 512

_Fetch = Callable[..., Awaitable[list[Record]]]
_Block = tuple[UUID, int, int]


class SeatLabels:
    """Labels of the seats that were asked for lately, in blocks of neighbours."""

    def __init__(self, fetch: _Fetch) -> None:
        self._fetch = fetch
        self._blocks: OrderedDict[_Block, asyncio.Task[dict[int, SeatRef]]] = OrderedDict()

    async def refs(self, plan_id: UUID, version: int, seats: Iterable[int]) -> tuple[SeatRef, ...]:
        """The seats as people name them, in the order given. A seat that the plan lacks has no labels."""
        found = []
        block: dict[int, SeatRef] = {}
        of_block = -1
        for number in seats:
            if number // SEATS_PER_BLOCK != of_block:  # neighbours: nearly always one look-up for all of them
                of_block = number // SEATS_PER_BLOCK
                known = self._read_before(plan_id, version, of_block)
                block = await self._block(plan_id, version, of_block) if known is None else known
            found.append(block.get(number) or SeatRef(number))
        return tuple(found)

    def _read_before(self, plan_id: UUID, version: int, block_no: int) -> dict[int, SeatRef] | None:
        """The block if it is here: the common case, and worth no turn of the loop."""
        reading = self._blocks.get((plan_id, version, block_no))
        if reading is None or not reading.done() or reading.cancelled() or reading.exception() is not None:
            return None
        return reading.result()

    async def _block(self, plan_id: UUID, version: int, block_no: int) -> dict[int, SeatRef]:
        key = (plan_id, version, block_no)
        reading = self._blocks.get(key)
        if reading is None:
            # One read for all who ask meanwhile; whoever began it may go away.
            reading = asyncio.create_task(self._read(*key), name=f"labels of block {block_no}")
            self._blocks[key] = reading
            while len(self._blocks) > MAX_BLOCKS:
                self._blocks.popitem(last=False)
        try:
            return await asyncio.shield(reading)
        except Exception:
            if self._blocks.get(key) is reading:
                del self._blocks[key]
            raise

    async def _read(self, plan_id: UUID, version: int, block_no: int) -> dict[int, SeatRef]:
        first = block_no * SEATS_PER_BLOCK
        rows = await self._fetch(query("read_seat_labels"), plan_id, version, first, first + SEATS_PER_BLOCK - 1)
        return {row[0]: SeatRef(*row) for row in rows}
