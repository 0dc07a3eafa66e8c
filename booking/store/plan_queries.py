"""Queries of venues, plan versions and new events: what an import writes, and what an event takes from its plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from booking import sql
from booking.domain.model import EventId, Price, PriceCategory, PriceType
from booking.domain.seating_plan.columns import columns_of_document, part_starts
from booking.domain.seating_plan.document_shapes import row_kinds
from booking.store.connection import Connection, Record
from booking.store.database import Database

_SEAT_COLUMNS = (
    "plan_id", "version", "seat_no", "guid", "section", "row_label", "number", "category_no", "flags",
    "starts_part", "row_kind",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NewPlan:
    """A row of `plans`. `source`: the document as it came, where its seats were numbered otherwise; else None."""

    plan_id: UUID
    version: int
    venue_id: UUID
    name: str
    document: bytes
    digest: bytes
    source: bytes | None = None


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A row of `events`. `sale_opens_at` None: at once."""

    venue_id: UUID
    plan_id: UUID
    plan_version: int
    name: str
    starts_at: datetime
    zone: str
    currency: str
    sale_opens_at: datetime | None
    hold_ttl_s: int
    grace_s: int
    max_per_account: int


@dataclass(frozen=True, slots=True)
class PriceList:
    """Categories, types and prices of an event's first price version."""

    categories: tuple[PriceCategory, ...]
    types: tuple[PriceType, ...]
    prices: tuple[Price, ...]


@dataclass(frozen=True, slots=True)
class NewTier:
    """A general-admission tier; its capacity is allotted over its buckets to the last place."""

    tier_id: int
    name: str
    category_no: int
    capacity: int
    buckets: int


async def lock_venue(connection: Connection, venue_id: UUID, name: str, zone: str) -> Record:
    """The venue of that name, made with `venue_id` and `zone` when there is none; row (venue_id, zone), locked."""
    await connection.execute(sql.query("ensure_venue"), venue_id, name, zone)
    row = await connection.fetchrow(sql.query("lock_venue"), name)
    if row is None:
        raise LookupError(f"venue {name!r} was removed while it was locked")
    return row


async def list_plan_versions(connection: Connection, venue_id: UUID, name: str) -> list[Record]:
    """Rows (plan_id, version, digest) of the plan of that name, oldest first."""
    return await connection.fetch(sql.query("list_plan_versions"), venue_id, name)


async def read_newest_document(connection: Connection, plan_id: UUID) -> bytes:
    """The document of the newest version, its seats as they are numbered."""
    document: bytes = await connection.fetchval(sql.query("read_newest_document"), plan_id)
    return document


async def insert_plan(connection: Connection, new: NewPlan) -> None:
    """Store one version of a plan and the names of its seats (by COPY: 60,000 in some tenths of a second).

    Seats that are gone keep the names that they had, so that what was sold of them once can still be told.
    """
    records = seat_records(new)
    await connection.execute(
        sql.query("insert_plan"), new.plan_id, new.version, new.venue_id, new.name, new.document, len(records),
        new.digest, new.source,
    )  # fmt: skip
    await connection.copy_records_to_table("plan_seats", records=records, columns=_SEAT_COLUMNS)
    await connection.execute(sql.query("name_gone_seats"), new.plan_id, new.version)
    await connection.execute("ANALYZE plan_seats")


def seat_records(new: NewPlan) -> list[tuple[object, ...]]:
    """The rows of `plan_seats` that a document stands for."""
    body = msgspec.json.decode(new.document)
    seats, rows = body["seats"], body["rows"]
    names = [(body["sections"][row["section_no"]]["name"], row["label"]) for row in rows]
    kinds = row_kinds(body)
    starts = part_starts(columns_of_document(new.document)).tolist()
    return [
        (
            new.plan_id, new.version, seat_no, guid, *names[row_no], number, category_no, flags, starts[seat_no],
            kinds.get(row_no, ""),
        )
        for seat_no, (guid, row_no, number, category_no, flags) in enumerate(
            zip(seats["guid"], seats["row_no"], seats["number"], seats["category_no"], seats["flags"], strict=True)
        )
    ]  # fmt: skip


async def record_plan_import(connection: Connection, principal: str, subject: str, detail: dict[str, object]) -> None:
    """Keep what was imported, by whom, and which repairs were made."""
    await connection.execute(sql.query("record_plan_import"), principal, subject, json.dumps(detail))


async def read_plan_of_event_spec(connection: Connection, plan_id: UUID, version: int) -> Record | None:
    """Row (venue_id, seat_count, document)."""
    return await connection.fetchrow(sql.query("read_plan_of_event_spec"), plan_id, version)


async def read_stored_plan(db: Database, plan_id: UUID, version: int | None) -> Record | None:
    """Row (version, name, document) of a version, or of the newest."""
    return await db.fetchrow(sql.query("read_stored_plan"), plan_id, version)


async def find_event_at_venue(db: Database, venue_name: str, event_name: str) -> EventId | None:
    """An event of that name at that venue."""
    row = await db.fetchrow(sql.query("find_event_at_venue"), venue_name, event_name)
    return EventId(row["event_id"]) if row else None


async def insert_event(
    connection: Connection, event: NewEvent, price_list: PriceList, house_seats: Sequence[int]
) -> EventId:
    """Insert an event with its prices, all seats of its plan version, and its feed."""
    event_id: int = await connection.fetchval(
        sql.query("insert_event"),
        event.venue_id, event.plan_id, event.plan_version, event.name, event.starts_at, event.zone, event.currency,
        event.sale_opens_at, event.hold_ttl_s, event.grace_s, event.max_per_account,
    )  # fmt: skip
    await connection.execute(
        sql.query("insert_price_list"),
        event_id,
        [category.category_no for category in price_list.categories],
        [category.name for category in price_list.categories],
        [category.color for category in price_list.categories],
        [price_type.price_type_id for price_type in price_list.types],
        [price_type.name for price_type in price_list.types],
        [price.category_no for price in price_list.prices],
        [price.price_type_id for price in price_list.prices],
        [price.amount_minor for price in price_list.prices],
    )
    await connection.execute(sql.query("insert_event_seats"), event_id, event.plan_id, event.plan_version)
    if house_seats:
        await connection.execute(sql.query("insert_house_seats"), uuid7(), event_id, list(house_seats))
    await connection.execute(sql.query("insert_event_feed"), event_id)
    # The first buyers come at once, long before autovacuum: without figures their plans would scan all seats.
    await connection.execute("ANALYZE seats")
    return EventId(event_id)


async def insert_tiers(connection: Connection, event_id: EventId, tiers: Sequence[NewTier]) -> None:
    """Insert the tiers of an event, one counter for each bucket."""
    await connection.execute(
        sql.query("insert_tiers"),
        event_id,
        [tier.tier_id for tier in tiers],
        [tier.name for tier in tiers],
        [tier.category_no for tier in tiers],
        [tier.capacity for tier in tiers],
        [tier.buckets for tier in tiers],
    )
