"""The feed of operators over a WebSocket: one statement of all figures a second (R32, R42).

Frames are whole statements, so nothing has to be in order and nothing can be missed but time: after a lost link the
next frame is right, and what lies between is read from the history by whoever keeps series. While there is no link the
state is AWAY: what the last frame said is true of its own instant and of no later one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit, urlunsplit

import msgspec
from websockets.exceptions import ConnectionClosed, WebSocketException

from backend_client.client import BookingClient
from backend_client.errors import BookingClientError, NotSignedInError
from backend_client.feed import LOOK_S, Dial, Link, Rhythm, dial_websocket
from backend_client.ops_feed_state import OpsFeedState
from backend_client.steady_time import steady_seconds
from backend_client.wire import FEED_TOKEN_EXPIRED, OPS_LATE_S, OpsFigures, OpsHello, OpsText

_LOST = (OSError, WebSocketException, TimeoutError)
_SHORTEST_LIFE_S = 1.0


OpsEvent = OpsFeedState | OpsFigures
_DECODER: msgspec.json.Decoder[OpsHello | OpsFigures] = msgspec.json.Decoder(OpsText)


def ops_feed_address(base_url: str) -> str:
    """The feed's address."""
    parts = urlsplit(base_url)
    scheme = "wss" if parts.scheme == "https" else "ws"
    return urlunsplit((scheme, parts.netloc, f"{parts.path}/v1/ops/feed", "", ""))


class OpsFeed:
    """Follows the figures: `async with aclosing(OpsFeed(client).events()) as events: async for event in events`."""

    def __init__(self, client: BookingClient, *, rhythm: Rhythm | None = None, dial: Dial = dial_websocket) -> None:
        self._client = client
        self._rhythm = Rhythm(reconnect_window_s=4.0, silence_s=OPS_LATE_S) if rhythm is None else rhythm
        self._dial = dial
        self._dialled_at = 0.0

    async def events(self) -> AsyncGenerator[OpsEvent, None]:
        """States and statements, without end.

        Raises:
            NotSignedInError: the session has ended.
        """
        failures, state = 0, OpsFeedState.DIALLING
        yield state
        while True:
            has_run_out = False
            try:
                async with contextlib.aclosing(self._statements()) as statements:
                    async for figures in statements:
                        failures = 0
                        if state is not OpsFeedState.LIVE:
                            state = OpsFeedState.LIVE
                            yield state
                        yield figures
            except NotSignedInError:
                raise
            except ConnectionClosed as closed:
                has_run_out = self._has_run_out(closed)
            except (*_LOST, BookingClientError, msgspec.DecodeError):
                pass  # told as AWAY
            if has_run_out:
                continue  # a new token, at once: nothing is wrong with either side
            failures += 1
            if state is not OpsFeedState.AWAY:
                state = OpsFeedState.AWAY
                yield state
            await self._wait(self._rhythm.pause_s(failures))

    async def _statements(self) -> AsyncGenerator[OpsFigures, None]:
        """One link's statements, until it ends."""
        token = await self._client.access_token()
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._dialled_at = steady_seconds()
        link: Link = await self._dial(ops_feed_address(self._client.base_url), headers)
        try:
            while True:
                async with asyncio.timeout(self._rhythm.silence_s):
                    frame = await link.recv()
                message = _DECODER.decode(frame)
                if isinstance(message, OpsHello):
                    self._client.on_time(message.server_time, self._dialled_at, steady_seconds())
                else:
                    yield message
        finally:
            with contextlib.suppress(*_LOST):
                await link.close()

    async def _wait(self, pause_s: float) -> None:
        """Wait to dial again; shorter once the server has answered something else."""
        lost_at = steady_seconds()
        due = lost_at + pause_s
        while (left_s := due - steady_seconds()) > 0:
            if self._client.reached_at > lost_at:
                due = min(due, lost_at + 1.0)
            await self._rhythm.sleep(max(0.0, min(left_s, LOOK_S)))

    def _has_run_out(self, closed: ConnectionClosed) -> bool:
        """The token's time is over; one that is over as soon as it is used is no reason to hurry."""
        code = None if closed.rcvd is None else closed.rcvd.code
        return code == FEED_TOKEN_EXPIRED and steady_seconds() - self._dialled_at >= _SHORTEST_LIFE_S
