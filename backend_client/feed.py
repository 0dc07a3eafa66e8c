"""The seat feed over a WebSocket: dials, listens, notices silence, dials again, fetches snapshots (R13–R15, S5, S6).

What frames mean is decided in `feed_protocol`; here is only the wire. After a lost link the next dial comes at a random
instant of `reconnect_window_s`: a thousand consoles that lost one server do not come back in one second. As soon as the
server answers any other call it need not be guessed any more that it is back, and the wait is cut short, though never
to nothing: many may hear that answer at once. While there is no link, snapshots are fetched now and then.

A link that the server ends because its token ran out is made anew at once: nothing is wrong with either side.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit, urlunsplit

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

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
from backend_client.wire import FEED_BEAT_S, FEED_TOKEN_EXPIRED, EventId

_log = logging.getLogger(__name__)
SILENCE_S = 3 * FEED_BEAT_S
"""A link without a frame for so long is dead (G3)."""
OPEN_TIMEOUT_S = 4.0
LOOK_S = 0.25
"""How often a waiting feed looks whether the server has answered something else."""
_SHORTEST_LIFE_S = 1.0
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
    hurry_s: tuple[float, float] = (1.0, 3.0)
    """Once the server is known to answer, the dial falls in here; not in the first second (S6)."""
    snapshot_retry_s: float = 0.5
    fallback_s: float = 5.0
    silence_s: float = SILENCE_S
    random: random.Random = field(default_factory=random.Random)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def pause_s(self, failures: int) -> float:
        """Full jitter: uniform in 0 … window, which doubles with each failure up to the longest."""
        window_s = min(self.longest_window_s, self.reconnect_window_s * 2 ** min(max(failures - 1, 0), 8))
        return self.random.uniform(0.0, window_s)

    def hurry_pause_s(self, failures: int) -> float:
        """From the server's sign of life to the dial; `failures`: how many such dials have failed in a row."""
        pause_s: float = self.random.uniform(*self.hurry_s) * 2 ** min(failures, 8)
        return min(self.longest_window_s, pause_s)


def feed_address(base_url: str, event_id: EventId, position: Position | None) -> str:
    """The feed's address; with a position the server continues from there if it can."""
    parts = urlsplit(base_url)
    query = {"form": "binary", "tiers": "true"}
    if position is not None:
        query |= {"epoch": str(position.epoch), "since": str(position.version)}
    scheme = "wss" if parts.scheme == "https" else "ws"
    path = f"{parts.path}/v1/events/{event_id}/seats/feed"
    return urlunsplit((scheme, parts.netloc, path, urlencode(query), ""))


class _End(Enum):
    """How a link ended: never made, lost, or run out with its token."""

    UNMADE = "unmade"
    LOST = "lost"
    EXPIRED = "expired"


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
        self._vain_hurries = 0

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

    def _start(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
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
        except Exception:  # noqa: BLE001  # the map would wait for this snapshot for ever, and nobody would know
            _log.exception("a snapshot of seats failed")
            self._hand_on(self.protocol.fail_snapshot(wanted.request_no))
        else:
            self._hand_on(self.protocol.receive_snapshot(wanted.request_no, snapshot))

    async def _keep_linked(self) -> None:
        failures = 0
        while True:
            end = _End.UNMADE
            try:
                end = await self._link_once()
            except (*_LOST, BookingClientError):
                pass
            except Exception:  # noqa: BLE001  # as a lost link: else the map would look live with nobody listening
                _log.exception("the link of the seat feed failed")
            failures = failures + 1 if end is _End.UNMADE else 0
            self._vain_hurries = self._vain_hurries if failures else 0
            if end is not _End.EXPIRED:
                self._hand_on(self.protocol.lose_link())
                await self._wait(self._rhythm.pause_s(failures))

    async def _wait(self, pause_s: float) -> None:
        """Wait to dial again; a map that is old is better than one that is wrong (R15)."""
        rhythm, lost_at = self._rhythm, steady_seconds()
        due, fallback_due = lost_at + pause_s, lost_at + rhythm.random.uniform(0.0, rhythm.fallback_s)
        hurried = False
        while (now := steady_seconds()) < due:
            if not hurried and self._client.reached_at > lost_at:
                hurried = True
                due = min(due, now + rhythm.hurry_pause_s(self._vain_hurries))
                self._vain_hurries += 1
            if now >= fallback_due:
                fallback_due = now + rhythm.fallback_s
                self._hand_on(self.protocol.want_fallback())
            await rhythm.sleep(max(0.0, min(due - now, fallback_due - now, LOOK_S)))

    async def _link_once(self) -> _End:
        """Dial and listen until the link ends; lost it is only when the server had said hello."""
        self._hand_on(self.protocol.dial())
        link = await self._open()
        end = _End.UNMADE
        try:
            while True:
                async with asyncio.timeout(self._rhythm.silence_s):
                    frame = await link.recv()
                if not self._hand_on(self.protocol.receive(frame)):
                    return end
                end = _End.LOST
        except ConnectionClosed as closed:
            return _End.EXPIRED if end is _End.LOST and self._has_run_out(closed) else end
        except _LOST:
            return end
        finally:
            with contextlib.suppress(*_LOST):
                await link.close()

    def _has_run_out(self, closed: ConnectionClosed) -> bool:
        """The token's time is over; one that is over as soon as it is used is no reason to hurry."""
        code = None if closed.rcvd is None else closed.rcvd.code
        return code == FEED_TOKEN_EXPIRED and steady_seconds() - self._dialled_at >= _SHORTEST_LIFE_S

    async def _open(self) -> Link:
        token = await self._client.access_token()
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        address = feed_address(self._client.base_url, self._event_id, self.protocol.position)
        self._dialled_at = steady_seconds()
        return await self._dial(address, headers)
