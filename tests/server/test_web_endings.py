"""Ends that are nobody's fault: tokens run out, clients leave, bodies stop coming, positions never were."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec
import pytest
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect

from backend_client import wire
from backend_client.seat_frames import Layout
from booking.domain.caller import Role
from booking.services import sequence_feed, sign_in
from booking.store.database import Database
from booking.web import bodies
from booking.web.application import create_app
from booking.web.feed_socket import Stream, Wish
from booking.web.seat_tail import SeatTail
from tests.server.box_office import Desk, make_event, till
from tests.server.web_api import PASSWORD
from tests.server.web_process import Running, running

SOON_S = 60.0
LIFE_S = 1.5
_text = msgspec.json.Decoder(wire.FeedText)


@pytest.fixture
async def event_id(database: Database) -> int:
    return await make_event(database)


@pytest.fixture
async def api(dsn: str, tmp_path: Path) -> AsyncIterator[Running]:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        yield api


async def short_token(db: Database, monkeypatch: pytest.MonkeyPatch) -> tuple[str, datetime]:
    """A clerk's access token that soon runs out, and when."""
    name = f"clerk-{uuid4()}"
    await sign_in.create_staff(db, name, "A clerk", Role.CLERK, PASSWORD)
    with monkeypatch.context() as patch:
        patch.setattr(sign_in, "ACCESS_LIFE", timedelta(seconds=LIFE_S))
        session = await sign_in.login(db, name, PASSWORD, uuid4(), "Till")
    return session.access_token, session.access_expires_at


@asynccontextmanager
async def feed(api: Running, event_id: int, query: str = "", token: str = "") -> AsyncIterator[ClientConnection]:
    address = f"{api.url.replace('http', 'ws', 1)}/v1/events/{event_id}/seats/feed{query}"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with connect(address, additional_headers=headers, proxy=None) as link:
        yield link


# ---------------------------------------------------------------- tokens that run out


async def test_a_feed_ends_with_the_token_that_opened_it(
    api: Running, database: Database, event_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, expires_at = await short_token(database, monkeypatch)
    async with feed(api, event_id, "", token) as link, feed(api, event_id) as anonymous:
        async with asyncio.timeout(SOON_S):
            await link.wait_closed()
        assert link.close_code == wire.FEED_TOKEN_EXPIRED == 4401
        assert expires_at - timedelta(seconds=1) <= datetime.now(UTC), "a token is good for whole seconds"
        async with asyncio.timeout(SOON_S):
            while not isinstance(_text.decode(await anonymous.recv()), wire.FeedBeat):
                pass


# ---------------------------------------------------------------- clients that leave


async def test_clients_that_leave_in_the_middle_leave_no_error_in_the_log(
    api: Running, event_id: int, tmp_path: Path
) -> None:
    """Anybody can do so as often as they like; each time cost 2 kB of log."""
    host, port = urlsplit(api.url).hostname, urlsplit(api.url).port
    half_body = (
        b"POST /v1/staff/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
    )
    upgrade = (
        f"GET /v1/events/{event_id}/seats/feed HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ).encode()
    log = next(tmp_path.glob("serve-*.log"))
    size = log.stat().st_size
    for words in (half_body, upgrade, half_body[:40], b"\x00\x01\r\n\r\n"):
        for patience_s in (0.0, 0.02):
            for _ in range(10):
                with socket.create_connection((host, port)) as link:
                    link.sendall(words)
                    await asyncio.sleep(patience_s)
    async with feed(api, event_id) as link:  # it has dealt with them all: it goes on serving, in order
        await link.recv()
    assert await api.end() == 0
    written = log.read_text()[size:]
    assert "Traceback" not in written, written
    assert "ERROR" not in written, written
    assert len(written) < 1_000, written


async def test_a_body_that_stops_coming_is_cut_off(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_WITHIN_S", 0.05)
    first = {"type": "http.request", "body": b'{"name":', "more_body": True}
    frames = [first]
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        if not frames:
            await asyncio.Event().wait()
        return frames.pop()

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/v1/staff/login", "raw_path": b"/v1/staff/login",
        "query_string": b"", "headers": [(b"content-type", b"application/json"), (b"content-length", b"50")],
    }  # fmt: skip
    async with asyncio.timeout(SOON_S):
        await create_app(database)(scope, receive, send)
    start, body = sent
    assert start["status"] == 422
    assert dict(start["headers"])[b"connection"] == b"close"
    assert "did not come" in msgspec.json.decode(body["body"], type=wire.Problem).detail


# ---------------------------------------------------------------- positions that never were


async def test_a_position_ahead_of_the_truth_is_told_to_load_again(api: Running, event_id: int) -> None:
    async with feed(api, event_id, "?epoch=1&since=4711") as link, asyncio.timeout(60):
        while not isinstance(frame := _text.decode(await link.recv()), wire.FeedResync):
            assert isinstance(frame, wire.FeedHello | wire.FeedBeat)
        assert (frame.epoch, frame.version) == (1, 0)


class Frames:
    """Takes what a stream sends."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[wire.FeedText] = asyncio.Queue()

    async def send_text(self, frame: str) -> None:
        self.heard.put_nowait(_text.decode(frame))

    async def next_change(self) -> wire.FeedText:
        async with asyncio.timeout(SOON_S):
            while isinstance(frame := await self.heard.get(), wire.FeedBeat | wire.FeedHello):
                pass
        return frame


async def test_a_position_that_this_process_has_not_seen_yet_is_continued(database: Database, event_id: int) -> None:
    """Another process served the client before."""
    await sequence_feed.prepare(database)
    tail, frames = SeatTail(database), Frames()
    feed = await tail.feed(event_id)
    desk = Desk(database, till(), event_id)
    await desk.hold(1)
    await sequence_feed.tick(database)  # version 1: the client has it, we have not
    stream = Stream(tail, feed, Layout.PUBLIC, Wish(epoch=1, since=1, binary=False))
    task = asyncio.create_task(stream.run(cast("WebSocket", frames)), name="stream")
    await asyncio.sleep(0)
    await tail._look({event_id})
    await desk.hold(2)
    await sequence_feed.tick(database)
    await tail._look({event_id})

    delta = await frames.next_change()

    assert isinstance(delta, wire.FeedDelta)
    assert (delta.from_version, delta.to_version, delta.changes) == (1, 2, ((2, 1),))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    tail.close()
