"""General-admission tiers as the database has them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from booking.domain.model import HeldPlaces, Tier
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database


async def read_tiers(db: Database, event_id: int) -> tuple[tuple[Tier, ...], datetime | None]:
    """The tiers of an event as of now, and what now was; no time when it has none."""
    rows = await db.fetch(query("read_tiers"), event_id)
    return tuple(tier_of(row) for row in rows), (rows[0]["server_time"] if rows else None)


async def read_places_of_hold(db: Database, hold_id: UUID) -> tuple[HeldPlaces, ...]:
    """What a hold has, or had, of each tier."""
    rows = await db.fetch(query("read_places_of_hold"), hold_id)
    return tuple(HeldPlaces(row["tier_id"], row["name"], row["category_no"], row["quantity"]) for row in rows)


def tier_of(row: Record) -> Tier:
    """A row of `read_tiers`."""
    return Tier(
        tier_id=row["tier_id"],
        name=row["name"],
        category_no=row["category_no"],
        capacity=row["capacity"],
        available=row["available"],
        in_holds=row["in_holds"],
        sold=row["sold"],
        overbooked=row["overbooked"],
    )
