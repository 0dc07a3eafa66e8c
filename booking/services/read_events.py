"""Read what is on sale: events, their prices, their plans (R13)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from booking.domain.errors import EventNotFoundError, NotFoundError
from booking.domain.model import EventDetail, EventId, EventList, TierCount, TierList
from booking.store import event_queries, feed_queries, tier_queries
from booking.store.database import Database

MAX_EVENT_ID = 2**31 - 1


async def list_events(db: Database) -> EventList:
    """All events, by their start."""
    events, server_time = await event_queries.list_events(db)
    return EventList(events, server_time)


async def read_event(db: Database, event_id: int) -> EventDetail:
    """One event with categories, price types and the prices of its price version.

    Raises:
        EventNotFoundError: there is none.
    """
    event = await event_queries.read_event(db, event_id) if 0 <= event_id <= MAX_EVENT_ID else None
    if event is None:
        raise EventNotFoundError("There is no such event.")
    return event


async def read_tiers(db: Database, event_id: int) -> TierList:
    """The general-admission tiers of an event and what is left of them now; none where it has seats alone.

    Raises:
        EventNotFoundError: there is none.
    """
    tiers, server_time = await tier_queries.read_tiers(db, event_id) if 0 <= event_id <= MAX_EVENT_ID else ((), None)
    if server_time is None:
        server_time = (await read_event(db, event_id)).server_time
    return TierList(EventId(event_id), tiers, server_time)


async def read_tier_counts(db: Database, event_ids: Sequence[int]) -> dict[int, list[TierCount]]:
    """What is left of the tiers of these events now, by event; events without tiers are missing."""
    counts: dict[int, list[TierCount]] = {}
    for row in await feed_queries.read_tier_counts(db, event_ids):
        counts.setdefault(row["event_id"], []).append(TierCount(row["tier_id"], row["available"], row["capacity"]))
    return counts


async def read_plan_document(db: Database, plan_id: UUID, version: int) -> bytes:
    """A plan version as JSON in the wire's shape; it never changes.

    Raises:
        NotFoundError: there is none.
    """
    document = await event_queries.read_plan_document(db, plan_id, version)
    if document is None:
        raise NotFoundError("There is no such plan.")
    return document
