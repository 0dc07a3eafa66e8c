"""Queries of the delayed expiry messages: which holds were announced, and what became of a message (R44)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from booking import sql
from booking.store.database import Database


@dataclass(frozen=True, slots=True, order=True)
class HoldEnds:
    """The message: this hold ends at this time of the database, if it is still HELD until then."""

    expires_at: datetime
    hold_id: UUID


class Verdict(StrEnum):
    """What a message came to; see `expire_holds` in `090_sweep_expired.sql`."""

    ENDED = "ended"
    EARLY = "early"
    LOCKED = "locked"
    MOOT = "moot"


@dataclass(frozen=True, slots=True)
class Announced:
    """What a scan of the outbox found: the snapshot that it used, the database's time, and the messages to send."""

    snap: str
    now: datetime
    messages: tuple[HoldEnds, ...]


async def ensure_consumer_from_now(db: Database, consumer: str) -> None:
    """Make the cursor of `consumer`, standing at now, unless it is there."""
    await db.fetch(sql.query("ensure_consumer_from_now"), consumer)


async def scan_held_seats(db: Database, after: str) -> Announced:
    """Holds announced since the snapshot `after`."""
    rows = await db.fetch(sql.query("scan_held_seats"), after)
    messages = tuple(HoldEnds(row["until"], row["hold_id"]) for row in rows if row["hold_id"] is not None)
    return Announced(rows[0]["snap"], rows[0]["now"], messages)


async def move_consumer(db: Database, consumer: str, snap: str) -> None:
    """`consumer` has dealt with all up to `snap`; one that is further already stays there."""
    await db.fetch(sql.query("move_consumer"), consumer, snap)


async def expire_holds(db: Database, messages: Sequence[HoldEnds]) -> list[tuple[HoldEnds, Verdict]]:
    """Handle messages, each on its own terms, in one transaction."""
    rows = await db.call(
        sql.query("expire_holds"),
        [message.hold_id for message in messages],
        [message.expires_at for message in messages],
    )
    return [(HoldEnds(row["until"], row["hold_id"]), Verdict(row["verdict"])) for row in rows]
