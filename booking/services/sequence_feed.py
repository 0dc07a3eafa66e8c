"""The sequencer: gives the seat changes of each event dense versions, after their commit (BACKEND §6.2, R13).

The outbox is read by the difference of two `pg_snapshot`s: a row is sequenced in the first tick whose snapshot sees it
and never again, however long its transaction took. Of two changes to one seat the second took its outbox id after the
first had committed, so any snapshot that sees the second sees the first, and ordering a tick by id keeps the order of
each seat within and across ticks. A transaction that was rolled back is never seen.

A hold that ends by its time alone changes no row, and yet every view has to show it as free, also while nobody sweeps
(R5, B13). So a tick tells as well of the seats that are HELD and expired since the last one: their state is free, their
version still the hold's. Whatever happens to such a seat next has a higher version and comes later. A hold that is seen
only after its end (its transaction was slow) is told with its end behind it.

Places of general admission have counts and no versions: a tick only tells which events to look at (`PLACES`).

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
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np

from booking.store import feed_queries
from booking.store.connection import Connection, Record
from booking.store.database import Database
from booking.store.feed_queries import EndedSeat, FeedOrigin, Position, SequencedVersion

CHANNEL = "seat_feed"
CONSUMER = "sequencer"
PLACES = "places"
"""In a notice in place of a version: counts of the event's tiers have changed."""
TICK_S = 0.02
HEARTBEAT_S = 1.0
_BEFORE_EVERYTHING = "3:3:"
Pairs: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.uint32]]"

_EVENTS_A_NOTICE = 200  # "event:version" is 31 bytes at most; NOTIFY takes 8,000


@dataclass(frozen=True, slots=True)
class Tick:
    """What a tick found: the versions that it gave, and the events whose tiers have other counts now."""

    versions: Sequence[SequencedVersion] = ()
    places: Sequence[int] = ()

    @property
    def words(self) -> list[str]:
        """`event:version`, then `event:places`, for the listeners."""
        versions = [f"{one.event_id}:{one.version}" for one in self.versions]
        return [*versions, *(f"{event_id}:{PLACES}" for event_id in self.places)]


@dataclass(frozen=True, slots=True)
class Notice:
    """Events to look at: for their seats, for the counts of their tiers."""

    seats: Sequence[int] = ()
    places: Sequence[int] = ()


async def run(db: Database, *, tick_s: float = TICK_S) -> None:
    """Sequence until cancelled.

    Raises:
        AuthorityAwayError: the connection was lost; the caller starts it again.
    """
    await prepare(db)
    loop = asyncio.get_running_loop()
    beat_at = loop.time()
    while True:
        started_at = loop.time()
        await tick(db)
        if started_at >= beat_at:
            beat_at = started_at + HEARTBEAT_S
            await _beat(db)
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


async def tick(db: Database) -> Tick:
    """Sequence what has been committed, and what has ended, since the last tick, and wake the listeners."""
    if not await feed_queries.is_tick_due(db, CONSUMER):
        return Tick()
    async with db.transaction() as connection:
        done = await sequence(connection)
    if done.words:
        async with db.transaction() as connection:
            await feed_queries.notify_feed(connection, notices(done))
    return done


async def sequence(connection: Connection) -> Tick:
    """One tick inside the caller's READ COMMITTED transaction."""
    after = await feed_queries.lock_consumer(connection, CONSUMER)
    if after is None:
        raise LookupError("the sequencer's cursor is missing: call prepare() first")
    rows = await feed_queries.scan_seat_changes(connection, after.snap)
    changed = [row for row in rows if row["id"] is not None and row["seats"]]
    places = sorted({row["event_id"] for row in rows if row["id"] is not None and not row["seats"]})
    late = [(row["event_id"], seat) for row in changed if row["is_late"] for seat in row["seats"]]
    now, ended = await feed_queries.scan_ended_holds(connection, after.told_to, late)
    snap = rows[0]["snap"]
    bodies = pack_changes(changed, ended)
    sequenced = await feed_queries.append_feed_versions(connection, bodies, snap) if bodies else []
    await feed_queries.save_consumer(connection, CONSUMER, Position(snap, now))
    return Tick(tuple(sequenced), tuple(places))


def pack_changes(rows: Iterable[Record], ended: Iterable[EndedSeat] = ()) -> dict[int, bytes]:
    """Outbox rows, in order, then ended seats → for each event the body of its version, see `seat_feed`."""
    of_event: dict[int, list[Pairs]] = {}
    for row in rows:
        of_event.setdefault(row["event_id"], []).append(_pairs(row["seats"], row["seat_states"], row["seat_versions"]))
    for event_id, seats in groupby(ended, lambda seat: seat.event_id):
        free = list(seats)
        numbers, versions = [seat.seat_no for seat in free], [seat.version for seat in free]
        of_event.setdefault(event_id, []).append(_pairs(numbers, [0] * len(free), versions))
    return {event_id: np.concatenate(parts).tobytes() for event_id, parts in of_event.items()}


def _pairs(seats: Sequence[int], states: Sequence[int], versions: Sequence[int]) -> Pairs:
    pairs = np.empty((len(seats), 2), "<u4")
    pairs[:, 0] = np.array(seats, np.uint32) << np.uint32(8) | np.array(states, np.uint32) & np.uint32(0xFF)
    pairs[:, 1] = np.array(versions, np.uint32)
    return pairs


def notices(done: Tick) -> Iterator[str]:
    """`event:version event:version … event:places …`, short enough for NOTIFY."""
    words = done.words
    for start in range(0, len(words), _EVENTS_A_NOTICE):
        yield " ".join(words[start : start + _EVENTS_A_NOTICE])


def read_notice(payload: str) -> Notice:
    """The event ids of a notice; whatever cannot be read is skipped, because a notice is only a wake-up."""
    parts = [word.partition(":") for word in payload.split()]
    known = [(int(head), tail) for head, _, tail in parts if head.isdecimal()]
    return Notice(
        tuple(event_id for event_id, tail in known if tail != PLACES),
        tuple(event_id for event_id, tail in known if tail == PLACES),
    )


async def _beat(db: Database) -> None:
    async with db.transaction() as connection:
        await feed_queries.note_heartbeat(connection)
