"""Queries that delete what is old, each one batch in a transaction of its own; see `booking/services/retention.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from booking import sql
from booking.store.connection import Record
from booking.store.database import Database


@dataclass(frozen=True, slots=True)
class KeyPosition:
    """A place among the idempotency keys, in the order of their table."""

    principal: str = ""
    route: str = ""
    key: str = ""


async def forget_keys(
    db: Database, after: KeyPosition, kept: timedelta, kept_after_order: timedelta, batch: int
) -> tuple[KeyPosition | None, int]:
    """Look at the next `batch` keys. Returns the last of them, None at the end, and how many were deleted."""
    row = await _run(db, "forget_keys", after.principal, after.route, after.key, kept, kept_after_order, batch)
    if row is None:
        return None, 0
    return KeyPosition(row["principal"], row["route"], row["key"]), row["gone"]


async def prune_outbox(db: Database, kept: timedelta, batch: int, needed: Sequence[str]) -> int:
    """Delete the oldest rows that every consumer has read; none before each consumer in `needed` has a place."""
    return await _count(db, "prune_outbox", kept, batch, list(needed))


async def prune_seat_feed(db: Database, kept: timedelta, batch: int) -> int:
    """Delete versions that no ring and no client asks for any more."""
    return await _count(db, "prune_seat_feed", kept, batch)


async def forget_tokens(db: Database, kept: timedelta, batch: int) -> int:
    """Delete refresh tokens of sessions that ended."""
    return await _count(db, "forget_tokens", kept, batch)


async def forget_renewals(db: Database, kept: timedelta, batch: int) -> int:
    """Delete renewals of accounts that ended."""
    return await _count(db, "forget_renewals", kept, batch)


async def forget_login_attempts(db: Database, kept: timedelta, batch: int) -> int:
    """Delete counts of failed sign-ins."""
    return await _count(db, "forget_login_attempts", kept, batch)


async def prune_figures(db: Database, kept: timedelta, batch: int) -> int:
    """Delete minutes of figures."""
    return await _count(db, "prune_figures_minutes", kept, batch)


async def prune_alarms(db: Database, kept: timedelta, batch: int) -> int:
    """Delete alarms that ended."""
    return await _count(db, "prune_alarms", kept, batch)


async def _count(db: Database, query: str, *args: object) -> int:
    row = await _run(db, query, *args)
    return 0 if row is None else int(row[0])


async def _run(db: Database, query: str, *args: object) -> Record | None:
    async with db.transaction() as connection:
        row: Record | None = await connection.fetchrow(sql.query(query), *args)
    return row
