"""Events and plans as the database has them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from booking.domain.model import (
    EventDetail,
    EventId,
    EventStatus,
    EventSummary,
    OrphanRule,
    Price,
    PriceCategory,
    PriceType,
    Tier,
)
from booking.sql import query
from booking.store.connection import Record
from booking.store.database import Database


async def list_events(db: Database) -> tuple[tuple[EventSummary, ...], datetime]:
    """All events by their start, and the server's time."""
    rows = await db.fetch(query("list_events"))
    server_time = rows[0]["server_time"] if rows else (await db.fetch("SELECT booking_now() AS now"))[0]["now"]
    return tuple(EventSummary(**_summary(row)) for row in rows), server_time


async def read_event(db: Database, event_id: int) -> EventDetail | None:
    """One event with all a seller needs."""
    row = await db.fetchrow(query("read_event"), event_id)
    if row is None:
        return None
    return EventDetail(
        **_summary(row),
        hold_ttl_s=row["hold_ttl_s"],
        grace_s=row["grace_s"],
        max_per_account=row["max_per_account"],
        price_version=row["price_version"],
        categories=msgspec.json.decode(row["categories"], type=tuple[PriceCategory, ...]),
        price_types=msgspec.json.decode(row["price_types"], type=tuple[PriceType, ...]),
        prices=msgspec.json.decode(row["prices"], type=tuple[Price, ...]),
        server_time=row["server_time"],
        orphan_rule=OrphanRule(row["orphan_rule"]),
        settings_version=row["settings_version"],
        tiers=msgspec.json.decode(row["tiers"], type=tuple[Tier, ...]),
    )


async def read_plan_document(db: Database, plan_id: UUID, version: int) -> bytes | None:
    """The plan's JSON, as it was stored."""
    row = await db.fetchrow(query("read_plan_document"), plan_id, version)
    return None if row is None else bytes(row["document"])


def _summary(row: Record) -> dict[str, Any]:
    return {
        "event_id": EventId(row["event_id"]),
        "name": row["name"],
        "venue_name": row["venue_name"],
        "starts_at": row["starts_at"],
        "zone": row["zone"],
        "currency": row["currency"],
        "status": EventStatus(row["status"]),
        "sale_opens_at": row["sale_opens_at"],
        "plan_id": row["plan_id"],
        "plan_version": row["plan_version"],
        "seat_count": row["seat_count"],
    }
