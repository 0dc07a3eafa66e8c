"""What people call the tiers of events: kept in memory, because a tier never changes its name or its category."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from booking.sql import query
from booking.store.connection import Record

MAX_EVENTS = 1_000

Fetch = Callable[..., Awaitable[list[Record]]]


@dataclass(frozen=True, slots=True)
class TierName:
    """A tier as people name it, and its price category."""

    name: str
    category_no: int


class TierNames:
    """Names by event; read once for each."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._known: dict[int, dict[int, TierName]] = {}

    async def of(self, event_id: int, tier_ids: Iterable[int]) -> list[TierName]:
        """The names of tiers, in the given order; one that is not there is called by its number."""
        wanted = list(tier_ids)
        names = self._known.get(event_id)
        if names is None or any(tier_id not in names for tier_id in wanted):
            rows = await self._fetch(query("read_tier_names"), event_id)
            names = {row["tier_id"]: TierName(row["name"], row["category_no"]) for row in rows}
            while len(self._known) >= MAX_EVENTS:
                self._known.pop(next(iter(self._known)))
            self._known[event_id] = names
        return [names.get(tier_id) or TierName(str(tier_id), -1) for tier_id in wanted]
