"""Queries of the seat feed: what the sequencer does in a tick, and what API processes read (BACKEND §6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from booking import sql
from booking.store.connection import Connection, Record
from booking.store.database import Database


@dataclass(frozen=True, slots=True)
class FeedOrigin:
    """Which cluster and timeline gives the versions."""

    system_identifier: str
    timeline: str


@dataclass(frozen=True, slots=True)
class SequencedVersion:
    """One version that a tick gave."""

    event_id: int
    epoch: int
    version: int


@dataclass(frozen=True, slots=True)
class Position:
    """How far a consumer has read: the snapshot, and the time up to which it has told of holds that ended."""

    snap: str
    told_to: datetime


@dataclass(frozen=True, slots=True)
class EndedSeat:
    """A seat whose hold ended by its time alone; `version` is still that of the hold."""

    event_id: int
    seat_no: int
    version: int


async def read_feed_origin(connection: Connection) -> FeedOrigin:
    """The cluster that this connection speaks to."""
    row = await connection.fetchrow(sql.query("read_feed_origin"))
    if row is None:
        raise LookupError("pg_control_system answered nothing")
    return FeedOrigin(row["system_identifier"], row["timeline"])


async def lock_feed_origin(connection: Connection) -> FeedOrigin | None:
    """The cluster that gave the versions so far; None before the first one."""
    row = await connection.fetchrow(sql.query("lock_feed_origin"))
    return FeedOrigin(row["system_identifier"], row["timeline"]) if row else None


async def save_feed_origin(connection: Connection, origin: FeedOrigin) -> None:
    """Versions come from this cluster from now on."""
    await connection.execute(sql.query("save_feed_origin"), origin.system_identifier, origin.timeline)


async def raise_epochs(connection: Connection) -> None:
    """Tell every view of every event to load its snapshot again."""
    await connection.execute(sql.query("raise_epochs"))


async def restart_consumers(connection: Connection, sequencer: str) -> None:
    """After a restore into another cluster: the sequencer starts at now, every other reader at the beginning."""
    await connection.execute(sql.query("age_outbox"))
    await connection.execute(sql.query("rewind_consumers"), sequencer)


async def ensure_consumer(connection: Connection, consumer: str, snap: str) -> None:
    """Make the cursor of `consumer`, standing at `snap`, unless it is there."""
    await connection.execute(sql.query("ensure_consumer"), consumer, snap)


async def is_anything_new(db: Database, consumer: str) -> bool:
    """Whether the outbox holds a row that `consumer` has not seen; takes no lock and writes nothing."""
    row = await db.fetchrow(sql.query("is_anything_new"), consumer)
    return bool(row and row[0])


async def is_tick_due(db: Database, consumer: str) -> bool:
    """Whether there is a row that `consumer` has not seen, or a hold ended since; takes no lock and writes nothing."""
    row = await db.fetchrow(sql.query("is_tick_due"), consumer)
    return bool(row and row[0])


async def lock_consumer(connection: Connection, consumer: str) -> Position | None:
    """How far `consumer` has read; a second reader of that name waits here."""
    row = await connection.fetchrow(sql.query("lock_consumer"), consumer)
    return Position(row["snap"], row["updated_at"]) if row else None


async def save_consumer(connection: Connection, consumer: str, position: Position) -> None:
    """`consumer` has read so far."""
    await connection.execute(sql.query("save_consumer"), consumer, position.snap, position.told_to)


async def scan_seat_changes(connection: Connection, after: str) -> list[Record]:
    """Rows (snap, id, event_id, seats, seat_states, seat_versions, is_late) new since `after`; id NULL when none is.

    A row without seats says that places of the event's tiers changed.
    """
    return await connection.fetch(sql.query("scan_seat_changes"), after)


async def scan_ended_holds(
    connection: Connection, told_to: datetime, late: Sequence[tuple[int, int]]
) -> tuple[datetime, list[EndedSeat]]:
    """The time now, and the seats whose hold ended since `told_to`; `late` names (event, seat) to look at as well."""
    rows = await connection.fetch(
        sql.query("scan_ended_holds"), told_to, [event_id for event_id, _ in late], [seat_no for _, seat_no in late]
    )
    ended = [EndedSeat(row["event_id"], row["seat_no"], row["version"]) for row in rows if row["seat_no"] is not None]
    return rows[0]["now"], ended


async def append_feed_versions(
    connection: Connection, bodies: Mapping[int, bytes], snap: str
) -> list[SequencedVersion]:
    """Give each event's body the next version."""
    rows = await connection.fetch(sql.query("append_feed_versions"), list(bodies), list(bodies.values()), snap)
    return [SequencedVersion(row["event_id"], row["epoch"], row["last_version"]) for row in rows]


async def notify_feed(connection: Connection, payloads: Iterable[str]) -> None:
    """Wake the listeners; each payload is 8,000 bytes at most (G1)."""
    for payload in payloads:
        await connection.execute(sql.query("notify_feed"), payload)


async def note_heartbeat(connection: Connection) -> None:
    """The sequencer has numbered all there is."""
    await connection.execute(sql.query("note_heartbeat"))


async def read_tier_counts(db: Database, event_ids: Sequence[int]) -> list[Record]:
    """Rows (event_id, tier_id, available, capacity), by event and tier, as of now."""
    return await db.fetch(sql.query("read_tier_counts"), list(event_ids))


async def read_seat_image(db: Database, event_id: int) -> Record | None:
    """Row (plan_version, epoch, last_version, sequenced_at, states, seat_versions), all of one snapshot."""
    return await db.fetchrow(sql.query("read_seat_image"), event_id)


async def read_feed_after(db: Database, event_ids: Sequence[int], versions: Sequence[int]) -> list[Record]:
    """Rows (server_time, sequenced_at, event_id, epoch, last_version, version, body); NULL body: no news."""
    return await db.fetch(sql.query("read_feed_after"), list(event_ids), list(versions))
