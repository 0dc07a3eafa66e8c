"""Queries of venues and of the plans at them, as a plan editor needs them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from booking.sql import query
from booking.store.connection import Connection, Record
from booking.store.database import Database
from booking.store.sale_calls import KeyUse


async def list_venues(db: Database, venue_id: UUID | None = None) -> tuple[list[Record], datetime]:
    """Rows (venue_id, name, zone) of all venues or of one, and the time of the answer."""
    rows = await db.fetch(query("list_venues"), venue_id)
    (now,) = await db.fetch("SELECT booking_now() AS now")
    server_time: datetime = now["now"]
    return rows, server_time


async def list_venue_plans(db: Database, venue_id: UUID) -> list[Record]:
    """Rows (plan_id, name, version, seat_count, created_at): by name, the newest version first."""
    return await db.fetch(query("list_venue_plans"), venue_id)


async def list_venue_plan_events(db: Database, venue_id: UUID) -> list[Record]:
    """Rows of the events on plans of a venue, by their start."""
    return await db.fetch(query("list_venue_plan_events"), venue_id)


async def lock_venue_by_id(connection: Connection, venue_id: UUID) -> bool:
    """Lock a venue against other changes of its plans; False when there is none."""
    return await connection.fetchrow(query("lock_venue_by_id"), venue_id) is not None


async def see_plan_key(connection: Connection, principal: str, use: KeyUse, venue_id: UUID) -> Record:
    """Row (code, result_id): code None for a new key, empty for one that stored the plan `result_id`."""
    rows = await connection.fetch(query("see_plan_key"), principal, use.key, use.digest, venue_id)
    return rows[0]


async def spend_plan_key(connection: Connection, principal: str, use: KeyUse, venue_id: UUID, plan_id: UUID) -> None:
    """Keep what the key stored."""
    await connection.execute(query("spend_plan_key"), principal, use.key, use.digest, venue_id, plan_id)


async def find_plan_version(connection: Connection, plan_id: UUID, digest: bytes) -> int:
    """The version of the plan that has this digest."""
    version: int = await connection.fetchval(query("find_plan_version"), plan_id, digest)
    return version
