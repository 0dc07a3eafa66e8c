"""Holds as a lane: how requests for seats become one call of `hold_seats_batch`, and its rows become answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from datetime import datetime
from itertools import accumulate
from uuid import UUID

import msgspec

from booking.domain.errors import BusyError
from booking.sql import query
from booking.store.connection import Record

SLOW = "slow"
LONE_ATTEMPTS = 3

Fetch = Callable[..., Awaitable[list[Record]]]


class HoldAsk(msgspec.Struct, frozen=True):
    """One request for seats, in rising order; `hold_id` becomes the hold's id unless the key has one already.

    A struct, as the other two below: a frozen dataclass of so many members costs ten times as much to make.
    """

    event_id: int
    principal: str
    channel: str
    key: str
    digest: bytes
    hold_id: UUID
    device_id: UUID | None
    staff_id: UUID | None
    seats: tuple[int, ...]
    access_code: str = ""
    house_hold_id: UUID | None = None


class HoldRow(msgspec.Struct, frozen=True):
    """A hold as the database has it."""

    hold_id: UUID
    event_id: int
    status: str
    seats: tuple[int, ...]
    expires_at: datetime
    grace_used: bool
    order_id: UUID | None
    created_at: datetime


class HoldVerdict(msgspec.Struct, frozen=True):
    """`code` is '' when there is a hold, else an error code of the wire with the `lost` (or unknown) seats."""

    code: str
    replayed: bool
    lost: tuple[int, ...]
    hold: HoldRow | None
    plan_id: UUID | None
    plan_version: int | None
    server_time: datetime


class HoldWork:
    """Decides holds: in batches on the lanes' connections, alone on the sale pool."""

    def __init__(self, on_lane: Fetch, alone: Fetch) -> None:
        self._on_lane = on_lane
        self._alone = alone

    def claims(self, request: HoldAsk) -> frozenset[Hashable]:
        """Its seats, and its account or till."""
        return frozenset([(request.event_id, request.principal), *((request.event_id, seat) for seat in request.seats)])

    async def run(self, requests: Sequence[HoldAsk]) -> list[HoldVerdict | None]:
        rows = await self._on_lane(*call_of(requests))
        return [verdict_of(row, ask) for row, ask in zip(rows, requests, strict=True)]

    async def run_alone(self, request: HoldAsk) -> HoldVerdict:
        """Wait for the locks.

        Raises:
            BusyError: they were not given in time; nothing was done.
        """
        for _ in range(LONE_ATTEMPTS):
            rows = await self._alone(*call_of([request], wait=True))
            verdict = verdict_of(rows[0], request)
            if verdict is not None:
                return verdict
            await asyncio.sleep(0.005)  # the seat was freed while we looked who had it
        raise BusyError("The seats change hands too quickly.")

    async def look(self, requests: Sequence[HoldAsk]) -> list[HoldVerdict | None]:
        rows = await self._on_lane(*call_of(requests, look=True))
        return [verdict_of(row, ask) for row, ask in zip(rows, requests, strict=True)]

    def lost_to_others(self, request: HoldAsk, result: HoldVerdict) -> frozenset[Hashable]:
        """The seats that are held now: by this request, or by those it lost them to."""
        seats = request.seats if result.code == "" else result.lost
        return frozenset((request.event_id, seat) for seat in seats)


def askers(requests: Sequence[HoldAsk]) -> tuple[list[object], ...]:
    """Who asks, with which key, for which hold: the parallel arrays with which every batch of holds begins."""
    return (
        [ask.event_id for ask in requests],
        [ask.principal for ask in requests],
        [ask.channel for ask in requests],
        [ask.key for ask in requests],
        [ask.digest for ask in requests],
        [ask.hold_id for ask in requests],
        [ask.device_id for ask in requests],
        [ask.staff_id for ask in requests],
    )


def spans(sizes: Sequence[int]) -> tuple[list[object], list[object]]:
    """Where the wishes of each request begin once they are flattened, from 1, and how many they are."""
    return list(accumulate(sizes[:-1], initial=1)), list(sizes)


def columns(requests: Sequence[HoldAsk]) -> tuple[list[object], ...]:
    """Requests as the parallel arrays of `hold_seats_batch`."""
    seats: list[object] = [seat for ask in requests for seat in ask.seats]
    return (*askers(requests), *spans([len(ask.seats) for ask in requests]), seats)


def call_of(requests: Sequence[HoldAsk], *, wait: bool = False, look: bool = False) -> tuple[object, ...]:
    """The query and its arguments. Access codes and house holds are rare: without any the call is the shorter one."""
    arguments = (*columns(requests), wait, look)
    if not any(ask.access_code or ask.house_hold_id for ask in requests):
        return (query("hold_seats_batch"), *arguments)
    codes = [ask.access_code for ask in requests]
    houses = [ask.house_hold_id for ask in requests]
    return (query("hold_seats_by_leave"), *arguments, codes, houses)


def verdict_of(row: Record, ask: HoldAsk) -> HoldVerdict | None:
    """A row of `hold_seats_batch`; None when the request has to wait for a lock.

    A "replay" of the id that this very request brought is its own first success: the answer was lost on the way.
    """
    if row["code"] == SLOW:
        return None
    hold = None
    if row["code"] == "":
        hold = HoldRow(
            row["hold_id"], row["event_id"], row["status"], tuple(row["seats"]), row["expires_at"],
            row["grace_used"], row["order_id"], row["created_at"],
        )  # fmt: skip
    replayed = row["replayed"] and row["hold_id"] != ask.hold_id
    return HoldVerdict(
        row["code"], replayed, tuple(row["lost"]), hold, row["plan_id"], row["plan_version"], row["server_time"]
    )
