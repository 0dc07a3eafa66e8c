"""Keeps what is left of general-admission tiers up to date for those who follow it (R11, R13).

Places have no versions: a count is a whole statement, so nothing can be missed, only be old. The sequencer's notice
says "look now", at most 20 times a second for all events together; looking every `poll_s` anyway shows what ended by
its time alone, and makes a lost notice cost half a second. Nothing is read for events whose tiers nobody follows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Protocol

import msgspec

from backend_client import wire
from booking.services import read_events
from booking.services.keep_running import keep_running
from booking.store.database import Database

MIN_INTERVAL_S = 0.05


class TierBoard:
    """What is left of one event's tiers, as long as somebody follows them."""

    def __init__(self, on_changed: Callable[[], None]) -> None:
        self.followers = 0
        self._on_changed = on_changed
        self._counts: tuple[wire.TierCount, ...] = ()
        self._revision = 0
        self._frame = b""

    @property
    def revision(self) -> int:
        """Another number after each change; 0 while nothing is known, or there is no tier."""
        return self._revision if self._counts else 0

    def follow(self) -> None:
        """One more follower."""
        self.followers += 1

    def unfollow(self) -> None:
        """One less; with the last one the counts are forgotten, because nobody reads them any more."""
        self.followers -= 1
        if not self.followers:
            self._counts = ()

    def put(self, counts: tuple[wire.TierCount, ...], read_at: datetime) -> None:
        """The counts as read just now; followers are told when they are others."""
        if counts == self._counts:
            return
        self._counts = counts
        self._frame = msgspec.json.encode(wire.FeedTiers(tiers=counts, server_time=read_at))
        self._revision += 1
        self._on_changed()

    @property
    def frame(self) -> bytes:
        """The newest statement as UTF-8 JSON, encoded once for all followers; empty before the first."""
        return self._frame


class _Feed(Protocol):
    @property
    def tiers(self) -> TierBoard: ...


class TierTail:
    """Fills the boards of `feeds`, which its owner adds to and takes from."""

    def __init__(
        self, db: Database, feeds: Mapping[int, _Feed], server_time: Callable[[], datetime], poll_s: float
    ) -> None:
        self._db = db
        self._feeds = feeds
        self._server_time = server_time
        self._poll_s = poll_s
        self._named: set[int] = set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Look until cancelled, the database there or not."""
        await keep_running("tier counts", self._look_until_it_fails)

    def look_soon(self, event_ids: Iterable[int]) -> None:
        """Places of these events have changed, or somebody began to follow them."""
        self._named.update(event_ids)
        self._wake.set()

    async def _look_until_it_fails(self) -> None:
        loop = asyncio.get_running_loop()
        all_at = loop.time()
        while True:
            followed = {event_id for event_id, feed in self._feeds.items() if feed.tiers.followers}
            named, self._named = self._named, set()
            if loop.time() >= all_at:
                all_at = loop.time() + self._poll_s
            else:
                followed &= named
            if followed:
                await self._look(followed)
                await asyncio.sleep(MIN_INTERVAL_S)
            self._wake.clear()
            if not self._named:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(all_at):
                        await self._wake.wait()

    async def _look(self, event_ids: set[int]) -> None:
        counts = await read_events.read_tier_counts(self._db, sorted(event_ids))
        for event_id in event_ids & self._feeds.keys():
            if not self._feeds[event_id].tiers.followers:
                continue  # the last one went while we looked
            told = tuple(
                wire.TierCount(tier_id=count.tier_id, available=count.available, capacity=count.capacity)
                for count in counts.get(event_id, ())
            )
            self._feeds[event_id].tiers.put(told, self._server_time())
