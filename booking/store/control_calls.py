"""What operators do to an event: one SQL function for each act, and what they read beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from booking.domain.caller import Caller
from booking.domain.control import HouseWish, PlanWish, TierWish
from booking.domain.model import EventStatus
from booking.sql import query
from booking.store.connection import Limits, Record
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.store.sale_lanes import SaleAnswer

# Acts on thousands of seats, by people who wait for them: more time than a sale has, the same patience with locks.
MANY_SEATS_LIMITS = Limits(lock_ms=2_000, statement_ms=20_000, idle_in_transaction_ms=5_000, transaction_ms=30_000)


async def keep_seats_back(db: Database, caller: Caller, event_id: int, wish: HouseWish, use: KeyUse) -> SaleAnswer:
    """AVAILABLE → BLOCKED, all or nothing; the house hold is `result_id`."""
    return SaleAnswer.of(
        await _patient(
            db, query("keep_seats_back"), caller.principal, caller.staff_id, caller.display_name or caller.principal,
            event_id, uuid7(), wish.kind, wish.reason, sorted(wish.seats), wish.release_at, use.key, use.digest,
        )
    )  # fmt: skip


async def release_house_hold(
    db: Database, caller: Caller, house_hold_id: UUID, seats: Sequence[int], reason: str, use: KeyUse
) -> SaleAnswer:
    """BLOCKED → AVAILABLE for these seats, or for all of them."""
    return SaleAnswer.of(
        await _patient(
            db, query("release_house_hold"), caller.principal, caller.staff_id, house_hold_id, list(seats), reason,
            use.key, use.digest,
        )
    )  # fmt: skip


async def list_house_holds(
    db: Database, *, event_id: int | None = None, house_hold_id: UUID | None = None
) -> list[Record]:
    """Rows of house holds with the seats that each still keeps, oldest first."""
    return await db.fetch(query("list_house_holds"), event_id, house_hold_id)


async def release_due_house_holds(db: Database, limit: int) -> int:
    """Tidy up to `limit` house holds whose release time has come. Returns how many ended."""
    rows = await db.call(query("release_due_house_holds"), limit)
    ended: int = rows[0]["ended"]
    return ended


async def change_settings(
    db: Database, caller: Caller, event_id: int, expected: int, settings: dict[str, object], reason: str, use: KeyUse
) -> SaleAnswer:
    """New settings by column name, made from version `expected`."""
    return SaleAnswer.of(
        await db.call(
            query("change_settings"), caller.principal, caller.staff_id, event_id, expected,
            msgspec.json.encode(settings).decode(), reason, use.key, use.digest,
        )
    )  # fmt: skip


async def read_event_settings(db: Database, event_id: int) -> Record | None:
    """Row with the members of `EventSettings`."""
    return await db.fetchrow(query("read_event_settings"), event_id)


async def change_event_status(
    db: Database, caller: Caller, event_id: int, expected: int, status: EventStatus, reason: str, use: KeyUse
) -> SaleAnswer:
    """ON_SALE ⇄ PAUSED → CANCELLED, made from version `expected`."""
    return SaleAnswer.of(
        await db.call(
            query("change_event_status"), caller.principal, caller.staff_id, event_id, expected, status, reason,
            use.key, use.digest,
        )
    )  # fmt: skip


async def read_server_clock(db: Database) -> datetime:
    """The server's clock as sessions are stamped with it: not `booking_now()`, which tests move."""
    now: datetime = (await db.fetch("SELECT clock_timestamp() AS now"))[0]["now"]
    return now


async def sales_begun_before(db: Database, instant: datetime, within: timedelta) -> int:
    """How many transactions that began before `instant`, by `within` at most, are still running."""
    running: int = (await db.fetch(query("sales_begun_before"), instant, within))[0]["running"]
    return running


async def end_cancelled_sales(db: Database, event_id: int, limit: int) -> tuple[int, int]:
    """End unpaid sales of a cancelled event: how many ended, and how many somebody held locked."""
    row = (await db.call(query("end_cancelled_sales"), event_id, limit))[0]
    return row["ended"], row["remaining"]


async def change_plan(db: Database, caller: Caller, wish: PlanWish, use: KeyUse) -> SaleAnswer:
    """Seats by guid on the other version; the report is `detail`, as JSON. It may have to look at every seat."""
    return SaleAnswer.of(
        await _patient(
            db, query("change_plan"), caller.principal, caller.staff_id, wish.event_id, wish.expected,
            wish.plan_version, wish.reason, wish.dry_run, use.key, use.digest,
        )
    )  # fmt: skip


async def change_tier(db: Database, caller: Caller, wish: TierWish, use: KeyUse) -> SaleAnswer:
    """Another capacity for a tier."""
    return SaleAnswer.of(
        await db.call(
            query("change_tier"), caller.principal, caller.staff_id, wish.event_id, wish.tier_id, wish.capacity,
            wish.accept_overbooking, wish.reason, use.key, use.digest,
        )
    )  # fmt: skip


async def read_event_plan(db: Database, event_id: int) -> Record | None:
    """Row (plan_id, plan_version, server_time)."""
    return await db.fetchrow(query("read_event_plan"), event_id)


async def _patient(db: Database, statement: str, *args: object) -> list[Record]:
    """One statement as a transaction of its own, under `MANY_SEATS_LIMITS`. A raced key is busy: the same key tells."""
    async with db.transaction(MANY_SEATS_LIMITS) as connection:
        return await connection.fetch(statement, *args)
