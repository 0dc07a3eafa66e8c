"""The feed of operators at the protocol: what is told when links die, tokens run out, frames are silent or damaged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close

from backend_client.client import BookingClient
from backend_client.errors import NotSignedInError
from backend_client.feed import Rhythm
from backend_client.ops_feed import OpsFeed, ops_feed_address
from backend_client.ops_feed_state import OpsFeedState
from backend_client.testing import FakeBookingServer
from backend_client.wire import FEED_TOKEN_EXPIRED, DeviceId, OpsFigures, OpsHello, Role

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
HELLO = msgspec.json.encode(OpsHello(process_id=UUID(int=1), server_time=NOW)).decode()


def statement(second: int) -> str:
    figures = OpsFigures(
        second=second, measured_at=NOW, server_time=NOW, authority_heard_at=NOW, house={"lock_waits": 1}
    )
    return msgspec.json.encode(figures).decode()


class Script:
    """Links that say what they are told to, one after the other; each ends as its last entry says."""

    def __init__(self, *links: list[str | Exception]) -> None:
        self._links = list(links)
        self.dialled: list[tuple[str, dict[str, str]]] = []
        self.closed = 0

    async def dial(self, address: str, headers: dict[str, str]) -> ScriptedLink:
        self.dialled.append((address, headers))
        if not self._links:
            await asyncio.Event().wait()
        return ScriptedLink(self, self._links.pop(0))


class ScriptedLink:
    def __init__(self, script: Script, frames: list[str | Exception]) -> None:
        self._script, self._frames = script, frames

    async def recv(self) -> str:
        if not self._frames:
            await asyncio.Event().wait()
        frame = self._frames.pop(0)
        if isinstance(frame, Exception):
            raise frame
        return frame

    async def close(self) -> None:
        self._script.closed += 1


@asynccontextmanager
async def feed_of(script: Script, *, silence_s: float = 5.0) -> AsyncIterator[OpsFeed]:
    server = FakeBookingServer(staff={"omar": ("secret", Role.OPS)})
    client = BookingClient(server.base_url, device_id=DeviceId(UUID(int=7)), transport=server.transport)
    await client.sign_in("omar", "secret", "test")
    rhythm = Rhythm(reconnect_window_s=0.001, longest_window_s=0.001, silence_s=silence_s)
    yield OpsFeed(client, rhythm=rhythm, dial=script.dial)
    await client.close()


async def heard(feed: OpsFeed, count: int) -> list[object]:
    """The first events: states, and statements by their second."""
    found: list[object] = []
    async with asyncio.timeout(10), aclosing(feed.events()) as events:
        async for event in events:
            found.append(event.second if isinstance(event, OpsFigures) else event)
            if len(found) == count:
                return found
    return found


D, L, A = OpsFeedState.DIALLING, OpsFeedState.LIVE, OpsFeedState.AWAY


async def test_statements_come_with_the_token_and_the_link_is_closed_at_the_end() -> None:
    script = Script([HELLO, statement(1), statement(2)])
    async with feed_of(script) as feed:
        assert await heard(feed, 4) == [D, L, 1, 2]
    ((address, headers),) = script.dialled
    assert address == "ws://127.0.0.1:1/v1/ops/feed"
    assert headers["Authorization"].startswith("Bearer ")
    assert script.closed == 1


@pytest.mark.parametrize("end", [ConnectionResetError(), ConnectionClosed(None, None), "no json", '{"type":"else"}'])
async def test_a_link_that_dies_or_talks_nonsense_is_told_once_and_dialled_again(end: str | Exception) -> None:
    script = Script([HELLO, statement(1), end], [end], [HELLO, statement(2)])
    async with feed_of(script) as feed:
        assert await heard(feed, 6) == [D, L, 1, A, L, 2]
    assert len(script.dialled) == 3
    assert script.closed == 3


async def test_silence_is_a_dead_link() -> None:
    script = Script([HELLO, statement(1)], [HELLO, statement(2)])
    async with feed_of(script, silence_s=0.05) as feed:
        assert await heard(feed, 6) == [D, L, 1, A, L, 2]


async def test_a_server_that_refuses_the_link_is_away() -> None:
    script = Script([OSError("refused")], [HELLO, statement(1)])
    async with feed_of(script) as feed:
        assert await heard(feed, 4) == [D, A, L, 1]


async def test_a_token_that_ran_out_is_no_trouble_and_a_new_link_is_made_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("backend_client.ops_feed._SHORTEST_LIFE_S", 0.0)
    ended = ConnectionClosed(Close(FEED_TOKEN_EXPIRED, "token"), None)
    script = Script([HELLO, statement(1), ended], [HELLO, statement(2)])
    async with feed_of(script) as feed:
        assert await heard(feed, 4) == [D, L, 1, 2]


async def test_a_token_that_runs_out_as_soon_as_it_is_used_is_no_reason_to_hurry() -> None:
    ended = ConnectionClosed(Close(FEED_TOKEN_EXPIRED, "token"), None)
    script = Script([HELLO, statement(1), ended], [HELLO, statement(2)])
    async with feed_of(script) as feed:
        assert await heard(feed, 6) == [D, L, 1, A, L, 2]


async def test_nobody_signed_in_ends_it() -> None:
    server = FakeBookingServer(staff={"omar": ("secret", Role.OPS)})
    client = BookingClient(server.base_url, device_id=DeviceId(UUID(int=7)), transport=server.transport)
    session = await client.sign_in("omar", "secret", "test")
    assert session.name
    server.sign_everybody_out()

    async def refused(address: str, headers: dict[str, str]) -> ScriptedLink:
        await client.me()  # the session has ended: any call says so
        raise AssertionError(address, headers)

    with pytest.raises(NotSignedInError):
        await heard(OpsFeed(client, dial=refused), 3)
    await client.close()


def test_the_address_follows_that_of_the_booking_system() -> None:
    assert ops_feed_address("https://a.example/x") == "wss://a.example/x/v1/ops/feed"
    assert ops_feed_address("http://127.0.0.1:8000") == "ws://127.0.0.1:8000/v1/ops/feed"
