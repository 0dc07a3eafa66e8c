"""What is left of general-admission tiers, live on the seat feed: from the commit to a client (R11, R13)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from backend_client import wire
from backend_client.seat_frames import Delta, decode_delta
from booking.domain.model import TierQuantity
from booking.services import sequence_feed
from booking.services.hold_seats import release_hold
from booking.services.sequence_feed import Tick
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, fan, make_event, till
from tests.server.general_admission import FLOOR, GALLERY, Counter, make_standing, make_tier
from tests.server.web_process import Running, running

SOON_S = 60.0
_text = msgspec.json.Decoder(wire.FeedText)
Frame = wire.FeedText | Delta


@pytest.fixture
async def sequencer(database: Database) -> AsyncIterator[None]:
    task = asyncio.create_task(sequence_feed.run(database), name="sequencer")
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def api(dsn: str, tmp_path: Path, sequencer: None) -> AsyncIterator[Running]:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        yield api


@asynccontextmanager
async def feed(api: Running, event_id: int, query: str) -> AsyncIterator[ClientConnection]:
    url = f"{api.url.replace('http', 'ws', 1)}/v1/events/{event_id}/seats/feed{query}"
    async with connect(url, proxy=None) as socket:
        assert isinstance(await next_frame(socket), wire.FeedHello)
        yield socket


async def next_frame(socket: ClientConnection) -> Frame:
    async with asyncio.timeout(SOON_S):
        frame = await socket.recv()
    return decode_delta(frame) if isinstance(frame, bytes) else _text.decode(frame)


async def left_until(socket: ClientConnection, *wanted: tuple[int, int]) -> list[Frame]:
    """Frames until a statement says (available, capacity) of each tier."""
    frames: list[Frame] = []
    while True:
        frame = await next_frame(socket)
        frames.append(frame)
        if isinstance(frame, wire.FeedTiers) and tuple((t.available, t.capacity) for t in frame.tiers) == wanted:
            return frames


@pytest.mark.parametrize("query", ["?tiers=true", "?tiers=true&form=binary"])
async def test_counts_come_after_the_hello_and_with_every_change(api: Running, database: Database, query: str) -> None:
    event_id = await make_standing(database, 10)
    await make_tier(database, event_id, GALLERY, 4, name="Gallery")
    async with feed(api, event_id, query) as socket:
        first = await left_until(socket, (10, 10), (4, 4))
        assert len(first) == 1
        buyer = Counter(database, fan(), event_id)
        hold = await buyer.hold(tiers=[TierQuantity(FLOOR, 3), TierQuantity(GALLERY, 1)])
        await left_until(socket, (7, 10), (3, 4))
        await release_hold(database, buyer.caller, hold.hold_id, key=str(uuid4()), digest=b"gone")
        await left_until(socket, (10, 10), (4, 4))


async def test_places_that_end_by_their_time_alone_come_back(api: Running, database: Database, clock: Clock) -> None:
    """R5: nobody sweeps here, and no row changes."""
    event_id = await make_standing(database, 10)
    async with feed(api, event_id, "?tiers=true") as socket:
        await Counter(database, fan(), event_id).hold(2)
        await left_until(socket, (8, 10))
        await clock.move(seconds=3600)
        await left_until(socket, (10, 10))


async def test_every_process_tells_the_counts(api: Running, dsn: str, database: Database, tmp_path: Path) -> None:
    event_id = await make_standing(database, 10)
    (tmp_path / "other").mkdir()
    async with (
        running("serve", "--dsn", dsn, folder=tmp_path / "other") as other,
        feed(api, event_id, "?tiers=true") as here,
        feed(other, event_id, "?tiers=true") as there,
    ):
        await Counter(database, fan(), event_id).hold(4)
        await asyncio.gather(left_until(here, (6, 10)), left_until(there, (6, 10)))


async def test_a_resync_is_followed_by_the_counts(api: Running, database: Database) -> None:
    event_id = await make_standing(database, 10)
    async with feed(api, event_id, "?tiers=true") as socket:
        await left_until(socket, (10, 10))
        await database.fetch("UPDATE event_feed SET epoch = epoch + 1 WHERE event_id = $1", event_id)
        while not isinstance(await next_frame(socket), wire.FeedResync):
            pass
        assert isinstance(await next_frame(socket), wire.FeedTiers)


async def test_who_does_not_ask_is_sent_no_frame_that_he_does_not_know(api: Running, database: Database) -> None:
    """A console of yesterday drops a link for a frame of another type. Counts that change all the time keep no beat
    from it: without beats it would take the link for dead."""
    event_id = await make_standing(database, 500)
    buyers = asyncio.create_task(buy_one_by_one(database, event_id))
    try:
        async with feed(api, event_id, "") as old, feed(api, event_id, "?tiers=true") as new:
            await left_until(new, (500, 500))
            assert isinstance(await next_frame(old), wire.FeedBeat)
            frames: list[Frame] = []
            while not any(isinstance(frame, wire.FeedBeat) for frame in frames):
                frames.append(await next_frame(new))
            assert sum(isinstance(frame, wire.FeedTiers) for frame in frames) > 1
    finally:
        buyers.cancel()
        await asyncio.gather(buyers, return_exceptions=True)


async def buy_one_by_one(db: Database, event_id: int) -> None:
    await asyncio.sleep(0.5)
    while True:
        await Counter(db, fan(), event_id).hold(1)
        await asyncio.sleep(0.02)


async def test_counts_come_at_most_four_times_a_second_to_the_public(api: Running, database: Database) -> None:
    """As seats: many changes are one statement."""
    event_id = await make_standing(database, 500)
    async with feed(api, event_id, "?tiers=true") as socket:
        await left_until(socket, (500, 500))
        began = asyncio.get_running_loop().time()
        for _ in range(60):
            await Counter(database, fan(), event_id).hold(1)
        frames = await left_until(socket, (440, 500))
        took = asyncio.get_running_loop().time() - began
        assert len(frames) <= took / 0.25 + 3


async def test_an_event_without_tiers_says_nothing_of_them(api: Running, database: Database) -> None:
    event_id = await make_event(database, 5)
    async with feed(api, event_id, "?tiers=true&form=binary") as socket:
        await Desk(database, till(), event_id).hold(1)
        assert isinstance(await next_frame(socket), Delta)
        assert isinstance(await next_frame(socket), wire.FeedBeat)


async def test_a_tick_names_the_events_whose_places_changed(database: Database) -> None:
    """A notice only says "look": no count travels in it (G1)."""
    event_id = await make_standing(database, 10)
    await sequence_feed.prepare(database)
    await sequence_feed.tick(database)
    await Counter(database, fan(), event_id).hold(2)
    done = await sequence_feed.tick(database)
    assert (done.versions, done.places) == ((), (event_id,))
    assert list(sequence_feed.notices(done)) == [f"{event_id}:places"]
    await Counter(database, fan(), event_id).hold(1, 3)
    done = await sequence_feed.tick(database)
    assert [version.version for version in done.versions] == [1]
    assert done.places == (event_id,)
    assert await sequence_feed.tick(database) == Tick()


async def test_a_wish_that_is_none_is_refused_by_name(api: Running, database: Database) -> None:
    event_id = await make_standing(database)
    with pytest.raises(InvalidStatus) as refused:
        async with feed(api, event_id, "?tiers=yes"):
            pass
    problem = msgspec.json.decode(refused.value.response.body, type=wire.Problem)
    assert (problem.status, problem.fields[0].pointer) == (422, "query:tiers")
