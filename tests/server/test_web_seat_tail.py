"""The tail of the seat feed in one process: killed and silent listeners, what was pruned, what comes too early (G3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from backend_client.seat_frames import Layout, StaffStatus
from booking.domain.errors import AuthorityAwayError
from booking.services import follow_seats, sequence_feed
from booking.store.database import Database
from booking.web.seat_tail import SeatTail
from tests.server.box_office import Desk, make_event, till
from tests.server.feed_line import SOON_S
from tests.server.web_process import Running, running


@pytest.fixture
async def event_id(database: Database) -> int:
    return await make_event(database)


@pytest.fixture
async def sequencer(database: Database) -> AsyncIterator[None]:
    """A sequencer at its usual pace."""
    task = asyncio.create_task(sequence_feed.run(database), name="sequencer")
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def api(dsn: str, tmp_path: Path, sequencer: None) -> AsyncIterator[Running]:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        yield api


@asynccontextmanager
async def tailing(db: Database, poll_s: float) -> AsyncIterator[SeatTail]:
    tail = SeatTail(db, poll_s=poll_s)
    task = asyncio.create_task(tail.run(), name="tail")
    try:
        yield tail
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        tail.close()


async def until_version(tail: SeatTail, event_id: int, version: int, within_s: float = SOON_S) -> None:
    feed = await tail.feed(event_id)
    async with asyncio.timeout(within_s):
        while feed.projection.version < version:
            await asyncio.sleep(0.005)


async def kill_listeners(db: Database) -> int:
    """Those that listen; one that is still being connected would be another case, and came up one time in so many."""
    rows = await db.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'taquilla seat feed listener' AND datname = current_database()"
        " AND state = 'idle' AND query <> ''"
    )
    return len(rows)


async def test_g3_a_killed_listener_misses_nothing(database: Database, event_id: int) -> None:
    await sequence_feed.prepare(database)
    async with tailing(database, poll_s=0.2) as tail:
        await tail.feed(event_id)
        async with asyncio.timeout(SOON_S):
            while not await kill_listeners(database):
                await asyncio.sleep(0.01)
        for seat in (1, 2, 3):
            await Desk(database, till(), event_id).hold(seat)
            await sequence_feed.tick(database)
        await until_version(tail, event_id, 3)
        states = (await tail.feed(event_id)).projection.states(Layout.STAFF)
        assert [state & 7 for state in states[1:4].tolist()] == [StaffStatus.HELD] * 3


async def test_a_notice_wakes_the_tail_long_before_its_next_look(database: Database, event_id: int) -> None:
    await sequence_feed.prepare(database)
    async with tailing(database, poll_s=3600.0) as tail:
        await tail.feed(event_id)
        async with asyncio.timeout(SOON_S):
            while not await database.fetch(
                "SELECT FROM pg_stat_activity WHERE application_name = 'taquilla seat feed listener'"
                " AND datname = current_database() AND query ILIKE 'listen%'"
            ):
                await asyncio.sleep(0.01)
        await Desk(database, till(), event_id).hold(1)
        await sequence_feed.tick(database)
        await until_version(tail, event_id, 1)


async def test_g3_a_silent_listener_is_noticed_within_ten_seconds(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that is open and says nothing any more: the probe gets no answer."""
    assert follow_seats.PROBE_EVERY_S + follow_seats.PROBE_TIMEOUT_S < 10
    monkeypatch.setattr(follow_seats, "PROBE_EVERY_S", 0.05)
    monkeypatch.setattr(follow_seats, "PROBE_TIMEOUT_S", 0.2)
    listening = asyncio.create_task(follow_seats.listen(database, lambda _: None))
    async with asyncio.timeout(SOON_S):
        while not (pids := await listeners(database)):
            await asyncio.sleep(0.01)
    stop_process(pids[0])
    try:
        with pytest.raises(AuthorityAwayError, match=r"silent|ended"):
            async with asyncio.timeout(SOON_S):
                await listening
    finally:
        continue_process(pids[0])


async def listeners(db: Database) -> list[int]:
    rows = await db.fetch(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'taquilla seat feed listener'"
        " AND datname = current_database()"
    )
    return [row["pid"] for row in rows]


def stop_process(pid: int) -> None:
    import psutil

    psutil.Process(pid).suspend()


def continue_process(pid: int) -> None:
    import psutil

    psutil.Process(pid).resume()


async def test_a_feed_whose_versions_were_pruned_is_read_anew(database: Database, event_id: int) -> None:
    await sequence_feed.prepare(database)
    tail = SeatTail(database)
    feed = await tail.feed(event_id)
    for seat in (1, 2):
        await Desk(database, till(), event_id).hold(seat)
        await sequence_feed.tick(database)
    await database.fetch("DELETE FROM seat_feed WHERE version = 1")

    await tail._look({event_id})

    assert feed.projection.version == 2
    assert [state & 7 for state in feed.projection.states(Layout.STAFF)[1:3].tolist()] == [StaffStatus.HELD] * 2
    assert not feed.projection.reaches_back_to(0)
    tail.close()


async def test_a_change_that_is_not_numbered_yet_is_in_the_first_reading_and_is_not_undone(
    database: Database, event_id: int
) -> None:
    await sequence_feed.prepare(database)
    desk = Desk(database, till(), event_id)
    held = await desk.hold(1)
    await desk.check_out(held)
    tail = SeatTail(database)
    feed = await tail.feed(event_id)
    assert feed.projection.version == 0
    assert feed.projection.states(Layout.STAFF)[1] & 7 == StaffStatus.PAYING

    await sequence_feed.tick(database)
    await tail._look({event_id})

    assert feed.projection.version == 1
    assert feed.projection.states(Layout.STAFF)[1] & 7 == StaffStatus.PAYING
    tail.close()
