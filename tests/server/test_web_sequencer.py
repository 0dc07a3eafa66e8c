"""The sequencer: nothing missed, the order of each seat kept, versions without gaps, deaths and rivals harmless."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from booking.services import sequence_feed
from booking.services.sequence_feed import Notice, Tick, notices, read_notice
from booking.store import feed_queries
from booking.store.database import Database
from booking.store.feed_queries import FeedOrigin, SequencedVersion
from tests.server.box_office import count, make_event
from tests.server.web_process import running

SEATS = 24


async def change(db: Database, event_id: int, seats: Sequence[int], *, hold_s: float = 0, undo: bool = False) -> None:
    """Change seats as every sale step does: locks in order, the change, the outbox; perhaps slowly, or undone."""
    with suppress(UndoError):
        async with db.transaction() as connection:
            if hold_s:
                # Takes its transaction id long before it locks a seat.
                await connection.execute("SELECT pg_current_xact_id()")
                await asyncio.sleep(hold_s)
            await connection.execute("SELECT lock_seats($1, $2)", event_id, list(seats))
            await connection.execute(
                "UPDATE seats SET status = 4 - status, version = version + 1"
                " WHERE event_id = $1 AND seat_no = ANY ($2)",
                event_id, list(seats),
            )  # fmt: skip
            await connection.execute(
                "SELECT announce_seats($1, 'seats-blocked', gen_random_uuid(), $2, NULL, booking_now())",
                event_id, list(seats),
            )  # fmt: skip
            if hold_s:
                await asyncio.sleep(hold_s)
            if undo:
                raise UndoError


class UndoError(Exception):
    """Rolls a change back."""


async def write(db: Database, event_ids: Sequence[int], rounds: int, chance: random.Random, *, slow: bool) -> None:
    for _ in range(rounds):
        seats = sorted(chance.sample(range(SEATS), chance.randint(1, 4)))
        pause = chance.uniform(0.005, 0.05) if slow else 0
        await change(db, chance.choice(event_ids), seats, hold_s=pause, undo=chance.random() < 0.2)


async def feed_of(db: Database, event_id: int) -> tuple[list[int], list[tuple[int, int, int]]]:
    """The versions of an event, and all its changes as (seat, state, seat version)."""
    rows = await db.fetch("SELECT version, body FROM seat_feed WHERE event_id = $1 ORDER BY version", event_id)
    pairs = [np.frombuffer(row["body"], "<u4").reshape(-1, 2) for row in rows]
    changes = [(int(word) >> 8, int(word) & 0xFF, int(version)) for part in pairs for word, version in part]
    return [row["version"] for row in rows], changes


async def assert_feed_is_whole(db: Database, event_id: int) -> None:
    """Versions 1, 2, 3…; each seat's changes 1, 2, 3… in order and all of them; the last one is what is stored."""
    versions, changes = await feed_of(db, event_id)
    assert versions == list(range(1, len(versions) + 1))
    seen: dict[int, list[int]] = {}
    states: dict[int, int] = {}
    for seat, state, seat_version in changes:
        seen.setdefault(seat, []).append(seat_version)
        states[seat] = state
    stored = await db.fetch(
        "SELECT seat_no, version, staff_byte(status, holder, printed, used) AS state FROM seats"
        " WHERE event_id = $1 AND version > 0",
        event_id,
    )
    assert {row["seat_no"]: list(range(1, row["version"] + 1)) for row in stored} == seen
    assert {row["seat_no"]: row["state"] for row in stored} == states


async def until_all_is_sequenced(db: Database) -> None:
    async with asyncio.timeout(60):
        while await feed_queries.is_anything_new(db, sequence_feed.CONSUMER):
            await asyncio.sleep(0.01)


async def test_concurrent_slow_and_undone_writers_are_sequenced_whole_by_two_rivals_one_of_which_dies(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    """Writers that take their transaction id early and sleep, rollbacks, seats in common; a rival process is killed
    in the midst and another one takes over."""
    chance = random.Random(2026)
    event_ids = [await make_event(database, SEATS), await make_event(database, SEATS)]
    writers = await Database.open(dsn, lanes=False, general_size=12, application="writers")
    rival = asyncio.create_task(sequence_feed.run(database, tick_s=0.005), name="rival")

    async def all_writers() -> None:
        await asyncio.gather(
            *(write(writers, event_ids, 60, random.Random(chance.random()), slow=False) for _ in range(5)),
            *(write(writers, event_ids, 15, random.Random(chance.random()), slow=True) for _ in range(6)),
        )

    try:
        async with running("work", "--dsn", dsn, "--only", "sequencer", folder=tmp_path) as worker:
            writing = asyncio.create_task(all_writers())
            while await count(database, "SELECT count(*) FROM outbox") < 60 and not writing.done():
                await asyncio.sleep(0.005)
            worker.process.kill()
            async with running("work", "--dsn", dsn, "--only", "sequencer", folder=tmp_path):
                await writing
                await until_all_is_sequenced(database)
    finally:
        rival.cancel()
        await asyncio.gather(rival, return_exceptions=True)
        await writers.close()
    for event_id in event_ids:
        await assert_feed_is_whole(database, event_id)
    assert await count(database, "SELECT count(*) FROM seat_feed") > 20


async def test_a_transaction_that_is_longer_than_many_ticks_is_neither_missed_nor_waited_for(
    database: Database,
) -> None:
    event_id = await make_event(database, SEATS)
    await sequence_feed.prepare(database)
    async with database.transaction() as slow:
        await slow.execute("SELECT pg_current_xact_id()")
        await slow.execute("SELECT lock_seats($1, '{1}')", event_id)
        await slow.execute("UPDATE seats SET status = 4, version = 1 WHERE event_id = $1 AND seat_no = 1", event_id)
        await slow.execute(
            "SELECT announce_seats($1, 'seats-blocked', gen_random_uuid(), '{1}', NULL, booking_now())", event_id
        )
        for seat in (2, 3):
            await change(database, event_id, [seat])
            assert len((await sequence_feed.tick(database)).versions) == 1
        assert await sequence_feed.tick(database) == Tick()
    await sequence_feed.tick(database)
    versions, changes = await feed_of(database, event_id)
    assert versions == [1, 2, 3]
    assert [seat for seat, _, _ in changes] == [2, 3, 1]


async def test_what_was_rolled_back_is_never_told(database: Database) -> None:
    event_id = await make_event(database, SEATS)
    await sequence_feed.prepare(database)
    await change(database, event_id, [1], undo=True)
    assert await sequence_feed.tick(database) == Tick()
    assert await feed_of(database, event_id) == ([], [])


async def test_a_tick_that_dies_before_its_commit_changes_nothing(database: Database) -> None:
    event_id = await make_event(database, SEATS)
    await sequence_feed.prepare(database)
    await change(database, event_id, [1])
    with suppress(UndoError):
        async with database.transaction() as connection:
            assert len((await sequence_feed.sequence(connection)).versions) == 1
            raise UndoError
    assert await feed_of(database, event_id) == ([], [])
    await sequence_feed.tick(database)
    await assert_feed_is_whole(database, event_id)


async def test_one_tick_gives_each_changed_event_one_version(database: Database) -> None:
    event_ids = [await make_event(database, SEATS) for _ in range(3)]
    await sequence_feed.prepare(database)
    for event_id in event_ids[:2]:
        await change(database, event_id, [1, 2])
        await change(database, event_id, [2, 3])
    sequenced = (await sequence_feed.tick(database)).versions
    assert [(one.event_id, one.version) for one in sequenced] == [(event_id, 1) for event_id in event_ids[:2]]
    assert [seat for seat, _, _ in (await feed_of(database, event_ids[0]))[1]] == [1, 2, 2, 3]


@pytest.mark.parametrize("other", ["timeline", "system"])
async def test_the_epoch_rises_when_the_cluster_or_its_timeline_is_another(database: Database, other: str) -> None:
    event_id = await make_event(database, SEATS)
    await sequence_feed.prepare(database)
    await change(database, event_id, [1])
    await sequence_feed.tick(database)
    async with database.transaction() as connection:
        current = await feed_queries.read_feed_origin(connection)
        before = FeedOrigin("1", current.timeline) if other == "system" else FeedOrigin(current.system_identifier, "X")
        await feed_queries.save_feed_origin(connection, before)
    # As after a restore: transaction ids of another cluster, far ahead of this one's.
    await database.fetch("UPDATE outbox SET xid = '900000000'::xid8 WHERE $1", other == "system")
    await change(database, event_id, [2])

    await sequence_feed.prepare(database)
    await sequence_feed.prepare(database)

    assert await count(database, "SELECT epoch FROM event_feed WHERE event_id = $1", event_id) == 2
    for _ in range(3):
        await sequence_feed.tick(database)
    assert not await feed_queries.is_anything_new(database, sequence_feed.CONSUMER)
    await change(database, event_id, [3])
    (sequenced,) = (await sequence_feed.tick(database)).versions
    assert sequenced.epoch == 2


async def test_a_restart_of_the_same_cluster_keeps_the_epoch(database: Database) -> None:
    event_id = await make_event(database, SEATS)
    await sequence_feed.prepare(database)
    await sequence_feed.prepare(database)
    assert await count(database, "SELECT epoch FROM event_feed WHERE event_id = $1", event_id) == 1


async def test_a_tick_without_news_writes_nothing(database: Database) -> None:
    event_id = await make_event(database, SEATS)
    await sequence_feed.prepare(database)
    await change(database, event_id, [1])
    await sequence_feed.tick(database)
    before = await database.fetch("SELECT snap::text, xmin::text FROM consumer_offsets")
    for _ in range(3):
        await sequence_feed.tick(database)
    assert await database.fetch("SELECT snap::text, xmin::text FROM consumer_offsets") == before


def test_g1_a_notice_carries_ids_and_versions_only_and_is_short_enough() -> None:
    sequenced = [SequencedVersion(2**31 - 1 - number, 1, 2**63 - 1) for number in range(1000)]
    texts = list(notices(Tick(sequenced, places=range(2**31 - 1000, 2**31))))
    assert max(map(len, texts)) < 8000
    told = [read_notice(text) for text in texts]
    assert [event_id for notice in told for event_id in notice.seats] == [one.event_id for one in sequenced]
    assert [event_id for notice in told for event_id in notice.places] == list(range(2**31 - 1000, 2**31))


def test_a_notice_that_cannot_be_read_wakes_without_naming_an_event() -> None:
    assert read_notice("x:1 7:2 -3:1 : 8 9:places") == Notice(seats=(7, 8), places=(9,))


async def test_g1_a_block_of_300_seats_is_sequenced_and_told_in_a_short_notice(database: Database, dsn: str) -> None:
    import asyncpg

    event_id = await make_event(database, 300)
    await sequence_feed.prepare(database)
    heard: asyncio.Queue[str] = asyncio.Queue()
    connection = await asyncpg.connect(dsn)
    try:
        await connection.add_listener(sequence_feed.CHANNEL, lambda *notice: heard.put_nowait(str(notice[3])))
        await change(database, event_id, range(300))
        await sequence_feed.tick(database)
        async with asyncio.timeout(60):
            assert await heard.get() == f"{event_id}:1"
        await connection.remove_listener(sequence_feed.CHANNEL, lambda *_: None)
    finally:
        await connection.close()
    assert len((await feed_of(database, event_id))[1]) == 300


async def heartbeat(db: Database) -> datetime | None:
    row = await db.fetchrow("SELECT sequenced_at FROM feed_heartbeat")
    return row[0] if row else None


async def test_a_sequencer_that_runs_leaves_at_most_one_heartbeat_a_second(database: Database) -> None:
    beats = {await heartbeat(database)}
    loop = asyncio.get_running_loop()
    sequencer = asyncio.create_task(sequence_feed.run(database, tick_s=0.005), name="sequencer")
    began_at = loop.time()
    try:
        async with asyncio.timeout(60):
            while len(beats) < 4:
                beats.add(await heartbeat(database))
                await asyncio.sleep(0.01)
    finally:
        sequencer.cancel()
        await asyncio.gather(sequencer, return_exceptions=True)
    assert loop.time() - began_at > 2 * sequence_feed.HEARTBEAT_S * 0.95


async def test_a_sequencer_that_cannot_number_leaves_no_heartbeat(database: Database) -> None:
    """A rival has died in the midst and its lock is still there: the tick waits, and so does the heartbeat."""
    await sequence_feed.prepare(database)
    event_id = await make_event(database, SEATS)
    async with database.transaction() as connection:
        await feed_queries.lock_consumer(connection, sequence_feed.CONSUMER)
        await change(database, event_id, [1])
        before = await heartbeat(database)
        sequencer = asyncio.create_task(sequence_feed.run(database), name="sequencer")
        await asyncio.sleep(1.2 * sequence_feed.HEARTBEAT_S)  # the claim is that nothing happens in this time
        assert await heartbeat(database) == before
        sequencer.cancel()
        await asyncio.gather(sequencer, return_exceptions=True)
