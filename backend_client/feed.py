"""The seat feed over a WebSocket: dials, listens, notices silence, dials again, fetches snapshots (R13–R15, S5, S6).

What frames mean is decided in `feed_protocol`; here is only the wire. After a lost link the next dial comes at a random
instant of `reconnect_window_s`: a thousand consoles that lost one server do not come back in one second. While there is
no link, snapshots are fetched now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlencode, urlsplit, urlunsplit

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from backend_client.client import BookingClient
from backend_client.errors import BookingClientError
from backend_client.feed_protocol import (
    FeedEvent,
    LinkRefused,
    Position,
    SeatFeedProtocol,
    ServerTimeHeard,
    SnapshotWanted,
)
from backend_client.http import is_loopback
from backend_client.steady_time import steady_seconds
from backend_client.wire import FEED_BEAT_S, EventId

SILENCE_S = 3 * FEED_BEAT_S
"""A link without a frame for so long is dead (G3)."""
OPEN_TIMEOUT_S = 4.0
_LARGEST_FRAME = 4 << 20
_LOST = (OSError, WebSocketException, TimeoutError)


class Link(Protocol):
    """An open connection; `recv` raises an OSError or WebSocketException when it is lost."""

    async def recv(self) -> str | bytes: ...
    async def close(self) -> None: ...


Dial = Callable[[str, dict[str, str]], Awaitable[Link]]


async def dial_websocket(address: str, headers: dict[str, str]) -> Link:
    """Open a WebSocket; a proxy is never asked for this machine's own addresses."""
    local = is_loopback(urlsplit(address).hostname or "")
    return await connect(
        address,
        additional_headers=headers,
        open_timeout=OPEN_TIMEOUT_S,
        ping_interval=None,  # the feed has beats of its own
        max_size=_LARGEST_FRAME,
        proxy=None if local else True,
    )


@dataclass(slots=True)
class Rhythm:
    """Times in seconds, and the dice. The first dial after a loss falls anywhere in the window, later ones in more."""

    reconnect_window_s: float = 15.0
    longest_window_s: float = 60.0
    snapshot_retry_s: float = 0.5
    fallback_s: float = 5.0
    silence_s: float = SILENCE_S
    random: random.Random = field(default_factory=random.Random)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def pause_s(self, failures: int) -> float:
        """Full jitter: uniform in 0 … window, which doubles with each failure up to the longest."""
        window_s = min(self.longest_window_s, self.reconnect_window_s * 2 ** min(max(failures - 1, 0), 8))
        return self.random.uniform(0.0, window_s)


def feed_address(base_url: str, event_id: EventId, position: Position | None) -> str:
    """The feed's address; with a position the server continues from there if it can."""
    parts = urlsplit(base_url)
    query = {"form": "binary"}
    if position is not None:
        query |= {"epoch": str(position.epoch), "since": str(position.version)}
    scheme = "wss" if parts.scheme == "https" else "ws"
    path = f"{parts.path}/v1/events/{event_id}/seats/feed"
    return urlunsplit((scheme, parts.netloc, path, urlencode(query), ""))


class SeatFeed:
    """Follows the seats of one event: `async with aclosing(SeatFeed(…).events()) as events: async for e in events`."""

    def __init__(
        self,
        client: BookingClient,
        event_id: EventId,
        *,
        rhythm: Rhythm | None = None,
        dial: Dial = dial_websocket,
    ) -> None:
        self.protocol = SeatFeedProtocol(event_id)
        self._client = client
        self._event_id = event_id
        self._rhythm = Rhythm() if rhythm is None else rhythm
        self._dial = dial
        self._events: asyncio.Queue[FeedEvent] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._dialled_at = 0.0

    async def events(self) -> AsyncGenerator[FeedEvent, None]:
        """Events in order: states, snapshots, deltas; without end. Closing it closes the link and ends every task."""
        self._start(self._keep_linked(), "seat-feed-link")
        try:
            while True:
                yield await self._events.get()
        finally:
            self.protocol.close()
            tasks = tuple(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, coroutine: Awaitable[None], name: str) -> None:
        async def run() -> None:
            await coroutine

        task = asyncio.get_running_loop().create_task(run(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hand_on(self, events: list[FeedEvent]) -> bool:
        """Pass events to the consumer, start what they ask for; False when the link must be dropped."""
        good = True
        for event in events:
            if isinstance(event, SnapshotWanted):
                self._start(self._fetch(event), "seat-feed-snapshot")
            elif isinstance(event, ServerTimeHeard):
                self._client.on_time(event.server_time, self._dialled_at, steady_seconds())
            elif isinstance(event, LinkRefused):
                good = False
            else:
                self._events.put_nowait(event)
        return good

    async def _fetch(self, wanted: SnapshotWanted) -> None:
        if wanted.retry:
            await self._rhythm.sleep(self._rhythm.snapshot_retry_s)
        try:
            snapshot = await self._client.seat_snapshot(self._event_id)
        except BookingClientError:
            self._hand_on(self.protocol.fail_snapshot(wanted.request_no))
        else:
            self._hand_on(self.protocol.receive_snapshot(wanted.request_no, snapshot))

    async def _keep_linked(self) -> None:
        failures = 0
        while True:
            linked = False
            with contextlib.suppress(*_LOST, BookingClientError):
                linked = await self._link_once()
            self._hand_on(self.protocol.lose_link())
            failures = 0 if linked else failures + 1
            await self._wait(self._rhythm.pause_s(failures))

    async def _wait(self, pause_s: float) -> None:
        """Wait to dial again; a map that is old is better than one that is wrong (R15)."""
        due = steady_seconds() + pause_s
        while (left_s := due - steady_seconds()) > 0:
            await self._rhythm.sleep(min(left_s, self._rhythm.fallback_s))
            self._hand_on(self.protocol.want_fallback())

    async def _link_once(self) -> bool:
        """Dial and listen until the link is lost; True when the server had said hello."""
        self._hand_on(self.protocol.dial())
        link = await self._open()
        heard = False
        try:
            while True:
                async with asyncio.timeout(self._rhythm.silence_s):
                    frame = await link.recv()
                if not self._hand_on(self.protocol.receive(frame)):
                    return heard
                heard = True
        except _LOST:
            return heard
        finally:
            with contextlib.suppress(*_LOST):
                await link.close()

    async def _open(self) -> Link:
        token = await self._client.access_token()
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        address = feed_address(self._client.base_url, self._event_id, self.protocol.position)
        self._dialled_at = steady_seconds()
        return await self._dial(address, headers)
