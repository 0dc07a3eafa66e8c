"""The sequencer: gives the seat changes of each event dense versions, after their commit (BACKEND §6.2, R13).

The outbox is read by the difference of two `pg_snapshot`s: a row is sequenced in the first tick whose snapshot sees it
and never again, however long its transaction took. Of two changes to one seat the second took its outbox id after the
first had committed, so any snapshot that sees the second sees the first, and ordering a tick by id keeps the order of
each seat within and across ticks. A transaction that was rolled back is never seen.

All of a tick is one transaction under the lock of one cursor row: two sequencers take turns and one that dies changes
nothing. Listeners are notified in a transaction of its own, because NOTIFY takes a lock that all commits would wait
for, and with event ids and versions only (G1). Versions belong to an epoch; it rises when the cluster or its timeline
is another one, because versions may then have been given that this cluster never saw.

Once a second it leaves a heartbeat, after a tick: one that is stopped, stuck or away is known by it, since the feed
alone looks the same whether nothing changes or nobody numbers the changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from booking.store import feed_queries
from booking.store.connection import Connection, Record
from booking.store.database import Database
from booking.store.feed_queries import FeedOrigin, SequencedVersion

CHANNEL = "seat_feed"
CONSUMER = "sequencer"
TICK_S = 0.02
HEARTBEAT_S = 1.0
KEEP_FEED_S = 3600.0
_PRUNE_EVERY_S = 60.0
_BEFORE_EVERYTHING = "3:3:"
_EVENTS_A_NOTICE = 200  # "event:version" is 31 bytes at most; NOTIFY takes 8,000


async def run(db: Database, *, tick_s: float = TICK_S) -> None:
    """Sequence until cancelled.

    Raises:
        AuthorityAwayError: the connection was lost; the caller starts it again.
    """
    await prepare(db)
    loop = asyncio.get_running_loop()
    beat_at, prune_at = loop.time(), loop.time() + _PRUNE_EVERY_S
    while True:
        started_at = loop.time()
        await tick(db)
        if started_at >= beat_at:
            beat_at = started_at + HEARTBEAT_S
            await _beat(db)
        if started_at >= prune_at:
            prune_at = started_at + _PRUNE_EVERY_S
            await _prune(db)
        await asyncio.sleep(max(0.0, tick_s - (loop.time() - started_at)))


async def prepare(db: Database) -> None:
    """Make the cursor, and raise the epochs when the cluster or its timeline is not the one of last time."""
    async with db.transaction() as connection:
        await feed_queries.ensure_consumer(connection, CONSUMER, _BEFORE_EVERYTHING)
        await feed_queries.lock_consumer(connection, CONSUMER)
        known = await feed_queries.lock_feed_origin(connection)
        current = await feed_queries.read_feed_origin(connection)
        if known != current:
            await feed_queries.save_feed_origin(connection, current)
        if known is not None and known != current:
            await _start_new_epoch(connection, known, current)


async def _start_new_epoch(connection: Connection, known: FeedOrigin, current: FeedOrigin) -> None:
    if known.system_identifier != current.system_identifier:
        # Restored from a dump: transaction ids began anew, so cursors and outbox rows mean nothing here.
        await feed_queries.restart_consumers(connection, CONSUMER)
    await feed_queries.raise_epochs(connection)


async def tick(db: Database) -> Sequence[SequencedVersion]:
    """Sequence what has been committed since the last tick, and wake the listeners."""
    if not await feed_queries.is_anything_new(db, CONSUMER):
        return ()
    async with db.transaction() as connection:
        sequenced = await sequence(connection)
    if sequenced:
        async with db.transaction() as connection:
            await feed_queries.notify_feed(connection, notices(sequenced))
    return sequenced


async def sequence(connection: Connection) -> list[SequencedVersion]:
    """One tick inside the caller's READ COMMITTED transaction."""
    after = await feed_queries.lock_consumer(connection, CONSUMER)
    if after is None:
        raise LookupError("the sequencer's cursor is missing: call prepare() first")
    rows = await feed_queries.scan_seat_changes(connection, after)
    snap = rows[0]["snap"]
    bodies = pack_changes(rows)
    sequenced = await feed_queries.append_feed_versions(connection, bodies, snap) if bodies else []
    await feed_queries.save_consumer(connection, CONSUMER, snap)
    return sequenced


def pack_changes(rows: Iterable[Record]) -> dict[int, bytes]:
    """Outbox rows, in order → for each event interleaved little-endian u32 `seat_no << 8 | state`, seat version."""
    of_event: dict[int, list[np.ndarray[tuple[int, int], np.dtype[np.uint32]]]] = {}
    for row in rows:
        if row["id"] is None:
            continue
        seats = np.array(row["seats"], np.uint32)
        pairs = np.empty((len(seats), 2), "<u4")
        pairs[:, 0] = seats << np.uint32(8) | np.array(row["seat_states"], np.uint32) & np.uint32(0xFF)
        pairs[:, 1] = np.array(row["seat_versions"], np.uint32)
        of_event.setdefault(row["event_id"], []).append(pairs)
    return {event_id: np.concatenate(parts).tobytes() for event_id, parts in of_event.items()}


def notices(sequenced: Sequence[SequencedVersion]) -> Iterator[str]:
    """`event:version event:version …`, short enough for NOTIFY."""
    for start in range(0, len(sequenced), _EVENTS_A_NOTICE):
        yield " ".join(f"{one.event_id}:{one.version}" for one in sequenced[start : start + _EVENTS_A_NOTICE])


def events_of_notice(payload: str) -> list[int]:
    """The event ids of a notice; whatever cannot be read is skipped, because a notice is only a wake-up."""
    heads = (word.partition(":")[0] for word in payload.split())
    return [int(head) for head in heads if head.isdecimal()]


async def _beat(db: Database) -> None:
    async with db.transaction() as connection:
        await feed_queries.note_heartbeat(connection)


async def _prune(db: Database) -> None:
    async with db.transaction() as connection:
        await feed_queries.prune_seat_feed(connection, KEEP_FEED_S)
