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
from backend_client.seat_frames import Snapshot, StaffStatus, encode_delta
from backend_client.testing import Fault
from backend_client.wire import FEED_TOKEN_EXPIRED, EventId, FeedHello
from tests.unit.counter import Counter, make_counter, open_journal, until


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
    assert following.desk.store.feed_state is FeedState.LIVE


async def test_cut_link_is_right_again_soon_after_reconnecting(following: Counter) -> None:
    """S5: three seats change while the link is cut; stale meanwhile."""
    following.server.feed_reachable = False
    following.server.cut_feeds()
    await until(lambda: following.desk.store.feed_state is not FeedState.LIVE)
    following.server.fail(Fault.UNREACHABLE, "/seats", times=10_000)
    for seat in (1, 2, 3):
        following.server.sell_elsewhere(seat)
    following.server.feed_reachable = True
    await until(lambda: following.desk.store.feed_state is FeedState.LIVE, within_s=2.0)
    assert [shown(following, seat) for seat in (1, 2, 3)] == [StaffStatus.SOLD] * 3


async def test_map_follows_snapshots_while_the_feed_is_away(following: Counter) -> None:
    """R15."""
    following.server.feed_reachable = False
    following.server.cut_feeds()
    following.server.sell_elsewhere(7)
    await until(lambda: shown(following, 7) is StaffStatus.SOLD)
    assert following.desk.store.feed_state is not FeedState.LIVE


async def test_resync_loads_one_snapshot(following: Counter) -> None:
    """S2."""
    before = sum(call.path.endswith("/seats") for call in following.server.calls)
    following.server.ask_resync()
    await until(lambda: sum(call.path.endswith("/seats") for call in following.server.calls) == before + 1)
    await until(lambda: feed_state(following) is FeedState.LIVE)


async def test_s2_the_map_says_that_it_is_out_of_date_until_the_snapshot_is_there(following: Counter) -> None:
    """S2: something was missed and the snapshot does not come; a map that looks fresh would be a lie."""
    store = following.desk.store
    assert not store.map_out_of_date
    following.server.fail(Fault.UNREACHABLE, "/seats", times=10_000)
    following.server.ask_resync()
    await until(lambda: store.map_out_of_date)
    assert store.feed_state is FeedState.BUFFERING
    following.server.sell_elsewhere(8)
    following.server.heal()
    await until(lambda: not store.map_out_of_date)
    assert shown(following, 8) is StaffStatus.SOLD


async def test_a_show_that_is_opened_does_not_begin_out_of_date(counter: Counter) -> None:
    """Its first snapshot is no loss of anything."""
    told: list[bool] = []
    counter.desk.store.subscribe(lambda _change: told.append(counter.desk.store.map_out_of_date))
    task = asyncio.create_task(follow_seats(counter.desk, dial=counter.server.dial), name="follow")
    await until(lambda: feed_state(counter) is FeedState.LIVE)
    assert not any(told)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_whatever_fails_in_a_link_or_a_snapshot_is_tried_again_and_seen_meanwhile(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the program, too: a map that waits for ever, or looks live with nobody listening, would be a lie."""
    store, server, client = counter.desk.store, counter.server, counter.desk.client
    failing = ["link", "snapshot"]
    snapshot_of = client.seat_snapshot

    async def dial(address: str, headers: dict[str, str]) -> object:
        if "link" in failing:
            failing.remove("link")
            raise RuntimeError("not foreseen")
        return await server.dial(address, headers)

    async def seat_snapshot(event_id: EventId) -> Snapshot:
        if failing == ["snapshot"]:
            failing.remove("snapshot")
            raise KeyError("not foreseen")
        return await snapshot_of(event_id)

    states: list[FeedState] = []
    store.subscribe(lambda _change: states.append(store.feed_state))
    monkeypatch.setattr(client, "seat_snapshot", seat_snapshot)
    task = asyncio.create_task(follow_seats(counter.desk, dial=dial), name="follow")  # type: ignore[arg-type]
    await until(lambda: feed_state(counter) is FeedState.LIVE, within_s=60.0)
    assert not failing
    assert FeedState.STALE in states
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_who_stops_following_late_does_not_call_the_map_of_the_next_one_closed(counter: Counter) -> None:
    async def follow() -> None:
        await follow_seats(counter.desk, dial=counter.server.dial)

    before = asyncio.create_task(follow(), name="before")
    await until(lambda: feed_state(counter) is FeedState.LIVE, within_s=60.0)
    before.cancel()
    after = asyncio.create_task(follow(), name="after")
    await asyncio.gather(before, return_exceptions=True)
    await until(lambda: feed_state(counter) is FeedState.LIVE and len(counter.server.open_links) == 1, within_s=60.0)
    assert not counter.desk.store.map_out_of_date
    after.cancel()
    await asyncio.gather(after, return_exceptions=True)
    assert feed_state(counter) is FeedState.CLOSED
    assert counter.desk.store.map_out_of_date, "nobody follows it"


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


async def test_beats_keep_a_quiet_map_fresh_and_tell_when_changes_stopped_coming(following: Counter) -> None:
    store = following.desk.store
    store.hear_feed(0.0)
    following.server.beat()
    await until(lambda: store.feed_heard_at is not None and store.feed_heard_at > 0.0)
    following.server.sequencer_late_s = 60.0
    following.server.beat()
    await until(lambda: store.map_out_of_date)
    heard_at = store.feed_heard_at
    following.server.cut_feeds()
    await until(lambda: len(following.server.open_links) == 1 and feed_state(following) is FeedState.LAGGING)
    assert store.map_out_of_date
    assert store.feed_heard_at == heard_at
    following.server.sequencer_late_s = 0.0
    following.server.beat()
    await until(lambda: not store.map_out_of_date)


class NeverSoonRandom(random.Random):
    """The worst of luck: every pause is as long as it can be."""

    def uniform(self, a: float, b: float) -> float:
        return b


async def test_feed_is_dialled_soon_after_the_server_answered_something_else(following: Counter) -> None:
    """A restarted API process answers calls; the map need not wait out a window that failures made long."""
    server = following.server
    rhythm = Rhythm(reconnect_window_s=1000.0, fallback_s=1000.0, hurry_s=(0.01, 0.03), random=NeverSoonRandom())
    feed = SeatFeed(following.desk.client, server.house.event_id, rhythm=rhythm, dial=server.dial)
    states: list[FeedState] = []
    async with asyncio.timeout(60), aclosing(feed.events()) as events:
        async for event in events:
            if isinstance(event, StateChanged):
                states.append(event.state)
            if states.count(FeedState.LIVE) == 1 and isinstance(event, StateChanged):
                if event.state is FeedState.LIVE:
                    server.cut_feeds()
                elif event.state is FeedState.STALE:
                    await following.desk.client.events()
            if states.count(FeedState.LIVE) == 2:
                break
    assert states[-3:] == [FeedState.STALE, FeedState.CONNECTING, FeedState.LIVE]


async def test_feed_waits_its_time_while_the_server_answers_nothing(following: Counter) -> None:
    server = following.server
    dials = 0

    async def dial(address: str, headers: dict[str, str]) -> object:
        nonlocal dials
        dials += 1
        raise ConnectionRefusedError

    rhythm = Rhythm(reconnect_window_s=1000.0, fallback_s=0.001, hurry_s=(0.0, 0.0), random=NeverSoonRandom())
    server.fail(Fault.UNREACHABLE, "/seats", times=10_000)
    feed = SeatFeed(following.desk.client, server.house.event_id, rhythm=rhythm, dial=dial)  # type: ignore[arg-type]
    async with aclosing(feed.events()) as events:
        async for event in events:
            if event == StateChanged(FeedState.STALE):
                break
        failed: list[bool] = []
        following.desk.client.on_reached = failed.append
        await until(lambda: failed.count(False) > 3)
    assert dials == 1


@pytest.mark.parametrize("code", [FEED_TOKEN_EXPIRED, 1012])
async def test_link_that_ends_with_its_token_is_made_anew_at_once_and_a_lost_one_is_not(
    counter: Counter, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """The map never goes stale for a token, which runs out every few minutes."""
    monkeypatch.setattr("backend_client.feed._SHORTEST_LIFE_S", 0.0)
    house = counter.server.house
    dials = 0

    async def serve_feed(connection: ServerConnection) -> None:
        nonlocal dials
        dials += 1
        hello = FeedHello(event_id=house.event_id, epoch=1, version=house.version, server_time=house.now())
        await connection.send(msgspec.json.encode(hello).decode())
        if dials == 1:
            await connection.close(code)
        await connection.wait_closed()

    async with serve(serve_feed, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]

        async def dial(address: str, headers: dict[str, str]) -> object:
            return await dial_websocket(address.replace("127.0.0.1:1/", f"127.0.0.1:{port}/"), headers)

        rhythm = Rhythm(reconnect_window_s=1000.0, fallback_s=1000.0, random=NeverSoonRandom())
        feed = SeatFeed(counter.desk.client, house.event_id, dial=dial, rhythm=rhythm)  # type: ignore[arg-type]
        states: list[FeedState] = []
        async with asyncio.timeout(60), aclosing(feed.events()) as events:
            async for event in events:
                if isinstance(event, StateChanged):
                    states.append(event.state)
                if FeedState.STALE in states or states.count(FeedState.LIVE) + (dials == 2) >= 2:
                    break
    assert (FeedState.STALE in states) is (code != FEED_TOKEN_EXPIRED)
    assert dials == (2 if code == FEED_TOKEN_EXPIRED else 1)


async def test_plan_that_does_not_fit_is_read_again(following: Counter) -> None:
    house = following.server.house
    plan = msgspec.structs.replace(house.plan, version=2)
    house.plan = plan
    following.server.ask_resync()
    await until(lambda: following.desk.store.plan is not None and following.desk.store.plan.version == 2)
    await until(lambda: feed_state(following) is FeedState.LIVE)


async def test_nothing_to_follow_without_an_event(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    counter = make_counter(journal)
    with pytest.raises(SaleNotReadyError):
        await follow_seats(counter.desk)
    await journal.close()


def test_thousand_clients_do_not_come_back_in_one_second() -> None:
    """S6: dropped at once, at most a tenth return in the first second."""
    for seed in range(20):
        pauses = [Rhythm(random=random.Random(seed * 1000 + client)).pause_s(0) for client in range(1000)]
        assert sum(pause < 1.0 for pause in pauses) <= 100
        assert max(pauses) <= 15.0
    later = [Rhythm(random=random.Random(client)).pause_s(9) for client in range(1000)]
    assert max(later) <= 60.0


def test_thousand_clients_that_hear_the_server_answer_do_not_come_back_in_one_second() -> None:
    """S6, M11: each hears it at a call of its own within 3 s, or all at once; soon, but not all in the first second."""
    for seed in range(20):
        dice = random.Random(seed)
        rhythms = [Rhythm(random=random.Random(seed * 1000 + client)) for client in range(1000)]
        for spread_s in (0.0, 3.0):
            dials = [
                min(rhythm.pause_s(0), dice.uniform(0.0, spread_s) + rhythm.hurry_pause_s(0)) for rhythm in rhythms
            ]
            assert sum(dial < 1.0 for dial in dials) <= 100
            assert max(dials) <= spread_s + 3.0


def test_dials_that_fail_though_the_server_answers_become_rare() -> None:
    """A gateway that lets calls through and no feed is not dialled every other second for ever."""
    pauses = [Rhythm(random=random.Random(failures)).hurry_pause_s(failures) for failures in range(9)]
    assert pauses[8] == 60.0
    assert pauses[4] >= 16.0


def test_feed_address_carries_the_position_and_keeps_tls() -> None:
    assert (
        feed_address("https://host/base", EventId(3), None)
        == "wss://host/base/v1/events/3/seats/feed?form=binary&tiers=true"
    )
    address = feed_address("http://127.0.0.1:8", EventId(3), Position(2, 40))
    assert address == "ws://127.0.0.1:8/v1/events/3/seats/feed?form=binary&tiers=true&epoch=2&since=40"


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
    assert heard["path"].endswith("/v1/events/1/seats/feed?form=binary&tiers=true")
    assert any(isinstance(event, SnapshotTaken | DeltaTaken) for event in seen)
