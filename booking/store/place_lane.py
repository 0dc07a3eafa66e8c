"""Holds of general-admission places as a lane: one claim on a tier's counter serves a whole batch (R11, design §7).

Requests for the same tier share a batch, for what they claim of each other is their account alone: the counter is
changed once for all of them, in the order in which they came. Places together with seats are one call of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from uuid import UUID

from booking.domain.errors import BusyError
from booking.domain.model import TierQuantity
from booking.sql import query
from booking.store.connection import Record
from booking.store.hold_lane import (
    LONE_ATTEMPTS,
    SLOW,
    Fetch,
    HoldAsk,
    HoldRow,
    HoldVerdict,
    askers,
    spans,
    verdict_of,
)


@dataclass(frozen=True, slots=True)
class PlaceAsk:
    """One request for places, each tier once; its `hold` names who asks, with which key, and the seats beside them."""

    hold: HoldAsk
    tiers: tuple[TierQuantity, ...]


@dataclass(frozen=True, slots=True)
class PlaceVerdict:
    """What became of a request: the verdict on the hold, and the tiers that had too few places or are not there."""

    hold: HoldVerdict
    lost_tiers: tuple[int, ...] = ()


class PlaceWork:
    """Decides holds of places: in batches on the lanes' connections, alone on the sale pool."""

    def __init__(self, on_lane: Fetch, alone: Fetch) -> None:
        self._on_lane = on_lane
        self._alone = alone

    def claims(self, request: PlaceAsk) -> frozenset[Hashable]:
        """Its account or till: the places of a tier are shared out inside the batch."""
        return frozenset([(request.hold.event_id, request.hold.principal)])

    async def run(self, requests: Sequence[PlaceAsk]) -> list[PlaceVerdict | None]:
        rows = await self._on_lane(query("hold_places_batch"), *columns(requests), False, codes(requests))
        return [place_verdict(row, ask) for row, ask in zip(rows, requests, strict=True)]

    async def run_alone(self, request: PlaceAsk) -> PlaceVerdict:
        """Wait for the locks.

        Raises:
            BusyError: they were not given in time; nothing was done.
        """
        for _ in range(LONE_ATTEMPTS):
            verdict = await (self._run_mixed(request) if request.hold.seats else self._run_places(request))
            if verdict is not None:
                return verdict
            await asyncio.sleep(0.005)  # places came back while we looked who had them
        raise BusyError("The places change hands too quickly.")

    async def look(self, requests: Sequence[PlaceAsk]) -> list[PlaceVerdict | None]:
        """Nobody's claim dooms another: each takes its turn, where a tier that is full costs a look and no lock."""
        return [None] * len(requests)

    def lost_to_others(self, request: PlaceAsk, result: PlaceVerdict) -> frozenset[Hashable]:  # noqa: ARG002
        """Nothing: an account that is free again is free for the next one."""
        return frozenset()

    async def _run_places(self, request: PlaceAsk) -> PlaceVerdict | None:
        rows = await self._alone(query("hold_places_batch"), *columns([request]), True, codes([request]))
        return place_verdict(rows[0], request)

    async def _run_mixed(self, request: PlaceAsk) -> PlaceVerdict | None:
        ask = request.hold
        rows = await self._alone(
            query("hold_mixed"), ask.event_id, ask.principal, ask.channel, ask.key, ask.digest, ask.hold_id,
            ask.device_id, ask.staff_id, list(ask.seats), [wish.tier_id for wish in request.tiers],
            [wish.quantity for wish in request.tiers], ask.access_code or None, ask.house_hold_id,
        )  # fmt: skip
        verdict = verdict_of(rows[0], ask)
        return None if verdict is None else PlaceVerdict(verdict, tuple(rows[0]["lost_tiers"]))


def columns(requests: Sequence[PlaceAsk]) -> tuple[list[object], ...]:
    """Requests as the parallel arrays of `hold_places_batch`."""
    wishes = [wish for ask in requests for wish in ask.tiers]
    return (
        *askers([ask.hold for ask in requests]),
        *spans([len(ask.tiers) for ask in requests]),
        [wish.tier_id for wish in wishes],
        [wish.quantity for wish in wishes],
    )


def codes(requests: Sequence[PlaceAsk]) -> list[str] | None:
    """Access codes of the requests; None where no request has one, as nearly always."""
    found = [ask.hold.access_code for ask in requests]
    return found if any(found) else None


def place_verdict(row: Record, ask: PlaceAsk) -> PlaceVerdict | None:
    """A row of `hold_places_batch`; None when the request has to wait for a lock.

    A "replay" of the id that this very request brought is its own first success: the answer was lost on the way.
    """
    if row["code"] == SLOW:
        return None
    hold = None
    hold_id: UUID | None = row["hold_id"]
    if row["code"] == "" and hold_id is not None:
        hold = HoldRow(
            hold_id, row["event_id"], row["status"], (), row["expires_at"], row["grace_used"], row["order_id"],
            row["created_at"],
        )  # fmt: skip
    replayed = row["replayed"] and hold_id != ask.hold.hold_id
    return PlaceVerdict(
        HoldVerdict(row["code"], replayed, (), hold, None, None, row["server_time"]), tuple(row["lost"])
    )
