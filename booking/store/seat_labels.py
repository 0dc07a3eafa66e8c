"""What people call a seat. A plan version never changes (R13), so labels are read once and kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from uuid import UUID

from booking.domain.model import SeatRef
from booking.sql import query
from booking.store.connection import Record

MAX_KEPT = 500_000

_Fetch = Callable[..., Awaitable[list[Record]]]
_Seat = tuple[UUID, int, int]


class SeatLabels:
    """Labels of the seats that were asked for lately."""

    def __init__(self, fetch: _Fetch) -> None:
        self._fetch = fetch
        self._kept: OrderedDict[_Seat, SeatRef] = OrderedDict()

    async def refs(self, plan_id: UUID, version: int, seats: Iterable[int]) -> tuple[SeatRef, ...]:
        """The seats as people name them, in the order given. A seat that the plan lacks has no labels."""
        wanted = tuple(seats)
        missing = [number for number in wanted if (plan_id, version, number) not in self._kept]
        if missing:
            for row in await self._fetch(query("read_seat_labels"), plan_id, version, missing):
                ref = SeatRef(row["seat_no"], row["section"], row["row_label"], row["number"])
                self._kept[plan_id, version, ref.seat_no] = ref
        found = tuple(self._kept.get((plan_id, version, number), SeatRef(number)) for number in wanted)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return found
