"""What the tests of the seat feed share: its frames, and an event with a sequencer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from websockets.asyncio.client import ClientConnection, connect

from backend_client import wire
from backend_client.seat_frames import Delta, decode_delta
from tests.server.web_process import Running

SOON_S = 60.0


_text = msgspec.json.Decoder(wire.FeedText)


@asynccontextmanager
async def feed(
    api: Running, event_id: int, query: str = "", token: str | None = None
) -> AsyncIterator[tuple[ClientConnection, wire.FeedHello]]:
    """A client of the feed, after its hello."""
    url = f"{api.url.replace('http', 'ws', 1)}/v1/events/{event_id}/seats/feed{query}"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with connect(url, additional_headers=headers, proxy=None) as socket:
        hello = await next_frame(socket)
        assert isinstance(hello, wire.FeedHello)
        yield socket, hello


async def next_frame(socket: ClientConnection) -> wire.FeedText | Delta:
    async with asyncio.timeout(SOON_S):
        frame = await socket.recv()
    return decode_delta(frame) if isinstance(frame, bytes) else _text.decode(frame)
