"""The seat feed from the commit to a client's WebSocket, with a real server process: S1, S2, S5, G3, R13–R15."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from backend_client import wire
from backend_client.seat_frames import Delta, Layout, decode_snapshot
from booking.domain.caller import Caller, Role
from booking.domain.errors import BusyError, RateLimitedError
from booking.services import sequence_feed, sign_in
from booking.store.database import Database
from booking.web.feed_places import FeedPlaces
from tests.server.box_office import Desk, fan, make_event, till
from tests.server.feed_line import SOON_S, feed, next_frame
from tests.server.web_api import PASSWORD
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


async def staff_token(db: Database) -> str:
    name = f"clerk-{uuid4()}"
    await sign_in.create_staff(db, name, "A clerk", Role.CLERK, PASSWORD)
    return (await sign_in.login(db, name, PASSWORD, uuid4(), "Till")).access_token


async def next_change(socket: ClientConnection) -> wire.FeedText | Delta:
    """The next frame that is no beat."""
    while isinstance(frame := await next_frame(socket), wire.FeedBeat):
        pass
    return frame


async def states_until(socket: ClientConnection, *seats: int) -> tuple[dict[int, int], list[Delta]]:
    """Binary deltas until all `seats` have been named; dense, or the test fails."""
    states: dict[int, int] = {}
    deltas: list[Delta] = []
    while not set(seats) <= states.keys():
        delta = await next_change(socket)
        assert isinstance(delta, Delta)
        assert not deltas or delta.from_version == deltas[-1].to_version
        deltas.append(delta)
        states |= dict(zip(delta.seats.tolist(), delta.states.tolist(), strict=True))
    return states, deltas


async def test_feeds_have_places_and_staff_always_one(
    dsn: str, tmp_path: Path, sequencer: None, database: Database, event_id: int
) -> None:
    """A socket costs 175 kB: one address that opens thousands would take the sale with it."""
    words = ("serve", "--dsn", dsn, "--most-feeds", "2")
    async with running(*words, folder=tmp_path) as api, feed(api, event_id), feed(api, event_id) as (second, _):
        with pytest.raises(InvalidStatus) as refused:
            async with feed(api, event_id):
                pass
        assert refused.value.response.status_code == 503
        assert int(refused.value.response.headers["Retry-After"]) > 0
        async with feed(api, event_id, "?form=binary", await staff_token(database)):
            pass
        await second.close()
        async with asyncio.timeout(60):
            while True:
                try:
                    async with feed(api, event_id):
                        break
                except InvalidStatus:
                    await asyncio.sleep(0.05)


def test_one_address_has_so_many_feeds_and_leaves_the_others_theirs() -> None:
    places = FeedPlaces(most=3, most_of_address=2)
    with places.taking(None, "192.0.2.1"), places.taking(Caller.fan(uuid4()), "192.0.2.1"):
        with pytest.raises(RateLimitedError) as refused, places.taking(None, "192.0.2.1"):
            raise AssertionError("it has a place")
        assert refused.value.retry_after_s
        with places.taking(None, "192.0.2.2"), pytest.raises(BusyError), places.taking(None, None):
            raise AssertionError("it has a place")
        assert places.taken == 2
    with places.taking(None, "192.0.2.1"):
        assert places.taken == 1


async def test_a_hold_shows_at_a_console_with_who_holds_it(api: Running, database: Database, event_id: int) -> None:
    token = await staff_token(database)
    async with feed(api, event_id, "?form=binary", token) as (socket, hello):
        assert (hello.event_id, hello.epoch, hello.version) == (event_id, 1, 0)
        await Desk(database, till(), event_id).hold(3, 4)
        await Desk(database, fan(), event_id).hold(5)

        states, deltas = await states_until(socket, 3, 4, 5)

        assert states == {3: 0b1001, 4: 0b1001, 5: 0b10001}
        assert deltas[0].from_version == 0
        assert {delta.layout for delta in deltas} == {Layout.STAFF}


async def test_the_public_sees_held_seats_as_held_in_either_form(
    api: Running, database: Database, event_id: int
) -> None:
    async with feed(api, event_id) as (text, _), feed(api, event_id, "?form=binary") as (binary, _):
        await Desk(database, till(), event_id).hold(3)
        json_delta = await next_change(text)
        assert isinstance(json_delta, wire.FeedDelta)
        assert json_delta.changes == ((3, 1),)
        _, deltas = await states_until(binary, 3)
        assert deltas[0].layout is Layout.PUBLIC


async def test_json_deltas_are_public_for_staff_too_because_they_name_no_layout(
    api: Running, database: Database, event_id: int
) -> None:
    async with feed(api, event_id, "", await staff_token(database)) as (socket, _):
        await Desk(database, till(), event_id).hold(3)
        delta = await next_change(socket)
        assert isinstance(delta, wire.FeedDelta)
        assert delta.changes == ((3, 1),)


async def test_s1_a_snapshot_and_the_deltas_after_it_make_the_map(
    api: Running, database: Database, event_id: int
) -> None:
    desk = Desk(database, till(), event_id)
    async with feed(api, event_id, "?form=binary") as (socket, hello):
        await desk.hold(1)
        await states_until(socket, 1)
        async with httpx.AsyncClient(trust_env=False) as client:
            snapshot = decode_snapshot((await client.get(f"{api.url}/v1/events/{event_id}/seats")).content)
        await desk.hold(2)
        states, deltas = await states_until(socket, 2)
        assert snapshot.version > hello.version
        assert deltas[0].from_version <= snapshot.version
        assert [state for state in snapshot.states.tolist() if state] == [1]
        assert states[2] == 1


async def test_s5_a_client_that_comes_back_is_continued_from_where_it_stands(
    api: Running, database: Database, event_id: int
) -> None:
    async with feed(api, event_id, "?form=binary") as (socket, _):
        await Desk(database, till(), event_id).hold(1)
        _, deltas = await states_until(socket, 1)
    stands_at = deltas[-1].to_version
    for seat in (2, 3, 4):
        await Desk(database, till(), event_id).hold(seat)

    async with feed(api, event_id, f"?form=binary&epoch=1&since={stands_at}") as (socket, _):
        states, deltas = await states_until(socket, 2, 3, 4)

    assert deltas[0].from_version == stands_at
    assert states == {2: 1, 3: 1, 4: 1}


@pytest.mark.parametrize("query", ["?epoch=9&since=0", "?epoch=1&since=0"])
async def test_s2_a_client_that_cannot_be_continued_is_told_to_load_the_snapshot(
    dsn: str, database: Database, event_id: int, tmp_path: Path, query: str, sequencer: None
) -> None:
    """Another epoch, or a version from before this process began: its ring does not reach back."""
    await Desk(database, till(), event_id).hold(1)
    await until_sequenced(database, event_id, 1)
    async with (
        running("serve", "--dsn", dsn, folder=tmp_path) as api,
        feed(api, event_id, query) as (socket, hello),
    ):
        frame = await next_frame(socket)
        assert frame == wire.FeedResync(epoch=1, version=hello.version)
        await Desk(database, till(), event_id).hold(2)
        delta = await next_change(socket)
        assert isinstance(delta, wire.FeedDelta)
        assert delta.from_version == hello.version


async def test_a_rise_of_the_epoch_makes_every_client_load_again(
    api: Running, database: Database, event_id: int
) -> None:
    async with feed(api, event_id) as (socket, _):
        await database.fetch("UPDATE event_feed SET epoch = epoch + 1")
        assert await next_change(socket) == wire.FeedResync(epoch=2, version=0)


async def test_g3_a_quiet_feed_beats_so_that_a_silent_link_is_noticed(api: Running, event_id: int) -> None:
    async with feed(api, event_id) as (socket, hello):
        beat = await next_frame(socket)
        assert isinstance(beat, wire.FeedBeat)
        assert (beat.epoch, beat.version) == (hello.epoch, hello.version)
        assert beat.server_time > hello.server_time


async def test_beats_tell_when_a_stopped_sequencer_last_numbered_changes(
    dsn: str, event_id: int, tmp_path: Path
) -> None:
    """The workers' process is frozen: link and beats are good, changes would not come, and the beats say so."""
    for name in ("work", "serve"):
        (tmp_path / name).mkdir()
    async with (
        running("work", "--dsn", dsn, "--only", "sequencer", folder=tmp_path / "work") as worker,
        running("serve", "--dsn", dsn, folder=tmp_path / "serve") as api,
        feed(api, event_id) as (socket, _),
    ):
        while late_s(await next_frame(socket)) > wire.FEED_LATE_S / 2:
            pass
        worker.process.send_signal(signal.SIGSTOP)
        while late_s(await next_frame(socket)) <= wire.FEED_LATE_S:
            pass
        async with feed(api, event_id) as (_, hello):
            assert late_s(hello) > wire.FEED_LATE_S
        assert (await readiness(api)).detail.startswith("No change of a seat has been numbered since 20")
        worker.process.send_signal(signal.SIGCONT)
        while late_s(await next_frame(socket)) > wire.FEED_LATE_S / 2:
            pass
        assert (await readiness(api)).detail == ""


async def test_an_api_process_knows_from_its_first_hello_that_no_sequencer_runs(
    dsn: str, event_id: int, tmp_path: Path
) -> None:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api, feed(api, event_id) as (_, hello):
        assert late_s(hello) > 50


async def readiness(api: Running) -> wire.Health:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{api.url}/readyz")
    assert answer.status_code == 200
    return msgspec.json.decode(answer.content, type=wire.Health)


def late_s(frame: object) -> float:
    """How long ago changes were numbered, says a frame."""
    assert isinstance(frame, wire.FeedHello | wire.FeedBeat)
    assert frame.sequenced_at is not None
    return (frame.server_time - frame.sequenced_at).total_seconds()


@pytest.mark.parametrize(
    ("path", "token", "status", "code"),
    [
        ("/v1/events/1/seats/feed", "nonsense", 401, "not-signed-in"),
        ("/v1/events/999999/seats/feed", None, 404, "event-not-found"),
        ("/v1/events/x/seats/feed", None, 422, "invalid-request"),
        ("/v1/events/1/seats/feed?since=-1", None, 422, "invalid-request"),
        ("/v1/events/1/seats/feed?form=morse", None, 422, "invalid-request"),
        ("/v1/events/1/seats/feed?since=%00", None, 422, "invalid-request"),
    ],
)
async def test_a_feed_is_refused_with_a_problem_before_it_begins(
    api: Running, event_id: int, path: str, token: str | None, status: int, code: str
) -> None:
    path = path.replace("/1/", f"/{event_id}/")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with pytest.raises(InvalidStatus) as refused:
        await connect(f"{api.url.replace('http', 'ws', 1)}{path}", additional_headers=headers, proxy=None)
    assert refused.value.response.status_code == status
    problem = msgspec.json.decode(refused.value.response.body, type=wire.Problem)
    assert (problem.code, problem.request_id) == (code, refused.value.response.headers[wire.REQUEST_ID_HEADER])


async def test_a_plain_get_of_a_feed_is_a_problem(api: Running, event_id: int) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{api.url}/v1/events/{event_id}/seats/feed")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


async def test_serve_ends_cleanly_with_feeds_open(api: Running, event_id: int) -> None:
    async with feed(api, event_id), feed(api, event_id):
        assert await api.end() == 0


async def until_sequenced(db: Database, event_id: int, version: int) -> None:
    async with asyncio.timeout(SOON_S):
        while (await db.fetch("SELECT last_version FROM event_feed WHERE event_id = $1", event_id))[0][0] < version:
            await asyncio.sleep(0.01)
