"""The seat feed with its link: silence, reconnection, snapshots, and a real WebSocket once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve

from app.actions.follow_seats import follow_seats
from app.core.errors import SaleNotReadyError
from backend_client.feed import Rhythm, SeatFeed, dial_websocket, feed_address
from backend_client.feed_protocol import DeltaTaken, FeedState, Position, SnapshotTaken, StateChanged
from backend_client.seat_frames import StaffStatus, encode_delta
from backend_client.testing import Fault
from backend_client.wire import EventId, FeedHello
from tests.unit.counter import Counter, make_counter, open_journal, until


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    await made.open()
    yield made
    await made.desk.client.close()
    await journal.close()


@pytest.fixture
async def following(counter: Counter) -> AsyncIterator[Counter]:
    task = asyncio.create_task(follow_seats(counter.desk, dial=counter.server.dial), name="follow")
    await until(lambda: feed_state(counter) is FeedState.LIVE)
    yield counter
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert feed_state(counter) is FeedState.CLOSED
    assert counter.server.open_links == []


def feed_state(counter: Counter) -> FeedState:
    return counter.desk.store.feed_state


def shown(counter: Counter, seat: int) -> StaffStatus | None:
    assert counter.desk.store.seat_map is not None
    return counter.desk.store.seat_map.status_of(seat)


async def test_seat_sold_elsewhere_shows_on_the_map(following: Counter) -> None:
    following.server.sell_elsewhere(3)
    await until(lambda: shown(following, 3) is StaffStatus.SOLD)
    assert not following.desk.store.map_is_stale


async def test_cut_link_is_right_again_soon_after_reconnecting(following: Counter) -> None:
    """S5: three seats change while the link is cut; stale meanwhile."""
    following.server.feed_reachable = False
    following.server.cut_feeds()
    await until(lambda: following.desk.store.map_is_stale)
    following.server.fail(Fault.UNREACHABLE, "/seats", times=10_000)
    for seat in (1, 2, 3):
        following.server.sell_elsewhere(seat)
    following.server.feed_reachable = True
    await until(lambda: not following.desk.store.map_is_stale, within_s=2.0)
    assert [shown(following, seat) for seat in (1, 2, 3)] == [StaffStatus.SOLD] * 3


async def test_map_follows_snapshots_while_the_feed_is_away(following: Counter) -> None:
    """R15."""
    following.server.feed_reachable = False
    following.server.cut_feeds()
    following.server.sell_elsewhere(7)
    await until(lambda: shown(following, 7) is StaffStatus.SOLD)
    assert following.desk.store.map_is_stale


async def test_resync_loads_one_snapshot(following: Counter) -> None:
    """S2."""
    before = sum(call.path.endswith("/seats") for call in following.server.calls)
    following.server.ask_resync()
    await until(lambda: sum(call.path.endswith("/seats") for call in following.server.calls) == before + 1)
    await until(lambda: feed_state(following) is FeedState.LIVE)


async def test_silent_link_is_dropped_and_dialled_again(counter: Counter) -> None:
    """G3: no frame for three beats."""
    dials = 0

    async def dial(address: str, headers: dict[str, str]) -> object:
        nonlocal dials
        dials += 1
        return await counter.server.dial(address, headers)

    rhythm = Rhythm(reconnect_window_s=0.001, fallback_s=0.001, silence_s=0.05)
    feed = SeatFeed(counter.desk.client, counter.server.house.event_id, rhythm=rhythm, dial=dial)  # type: ignore[arg-type]
    states: list[FeedState] = []
    async with aclosing(feed.events()) as events:
        async for event in events:
            if isinstance(event, StateChanged):
                states.append(event.state)
            if states.count(FeedState.LIVE) == 2:
                break
    assert dials == 2
    assert FeedState.STALE in states


async def test_plan_that_does_not_fit_is_read_again(following: Counter) -> None:
    house = following.server.house
    plan = msgspec.structs.replace(house.plan, version=2)
    house.plan = plan
    following.server.ask_resync()
    await until(lambda: following.desk.store.plan is not None and following.desk.store.plan.version == 2)
    await until(lambda: feed_state(following) is FeedState.LIVE)


async def test_nothing_to_follow_without_an_event(tmp_path: Path) -> None:
    counter = make_counter(open_journal(tmp_path))
    with pytest.raises(SaleNotReadyError):
        await follow_seats(counter.desk)


def test_thousand_clients_do_not_come_back_in_one_second() -> None:
    """S6: dropped at once, at most a tenth return in the first second."""
    for seed in range(20):
        pauses = [Rhythm(random=random.Random(seed * 1000 + client)).pause_s(0) for client in range(1000)]
        assert sum(pause < 1.0 for pause in pauses) <= 100
        assert max(pauses) <= 15.0
    later = [Rhythm(random=random.Random(client)).pause_s(9) for client in range(1000)]
    assert max(later) <= 60.0


def test_feed_address_carries_the_position_and_keeps_tls() -> None:
    assert feed_address("https://host/base", EventId(3), None) == "wss://host/base/v1/events/3/seats/feed?form=binary"
    address = feed_address("http://127.0.0.1:8", EventId(3), Position(2, 40))
    assert address == "ws://127.0.0.1:8/v1/events/3/seats/feed?form=binary&epoch=2&since=40"


async def test_real_websocket_carries_hello_and_deltas_with_the_token(counter: Counter) -> None:
    house = counter.server.house
    heard: dict[str, str] = {}

    async def serve_feed(connection: ServerConnection) -> None:
        assert connection.request is not None
        heard["authorization"] = connection.request.headers["Authorization"]
        heard["path"] = connection.request.path
        hello = FeedHello(event_id=house.event_id, epoch=1, version=house.version, server_time=house.now())
        await connection.send(msgspec.json.encode(hello).decode())
        await connection.send(encode_delta(house.set_seats((5,), StaffStatus.SOLD)))
        await connection.wait_closed()

    async with serve(serve_feed, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]

        async def dial(address: str, headers: dict[str, str]) -> object:
            return await dial_websocket(address.replace("127.0.0.1:1/", f"127.0.0.1:{port}/"), headers)

        feed = SeatFeed(counter.desk.client, house.event_id, dial=dial)  # type: ignore[arg-type]
        seen: list[object] = []
        async with aclosing(feed.events()) as events:
            async for event in events:
                seen.append(event)
                if isinstance(event, StateChanged) and event.state is FeedState.LIVE:
                    break
    assert heard["authorization"].startswith("Bearer access-")
    assert heard["path"].endswith("/v1/events/1/seats/feed?form=binary")
    assert any(isinstance(event, SnapshotTaken | DeltaTaken) for event in seen)
