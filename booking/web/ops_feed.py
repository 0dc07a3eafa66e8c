"""`WS /v1/ops/feed`: one statement a second, whole, to everybody who may look on (R32).

No client has a queue: one that is slow gets the newest statement when it takes one, and one that takes none for
`SEND_PATIENCE_S` is cut. As the feed of seats, it lives no longer than the token that opened it.
"""

from __future__ import annotations

import asyncio
import logging

import msgspec
from starlette.websockets import WebSocket

from backend_client import wire
from booking.domain.errors import BusyError
from booking.figures.standing import Standing
from booking.services.sign_in import expiry_of_token
from booking.web import addresses
from booking.web.calls import Route, Services
from booking.web.feed_patience import SEND_PATIENCE_S
from booking.web.feed_socket import SLOW_CONSUMER, close_in_time, deny, stream_until_closed
from booking.web.gate import bearer_token, caller_for
from booking.web.ops_broadcast import SERVERS_SEND, OpsBroadcast

EVERY_S = 1.0

log = logging.getLogger(__name__)


async def serve_ops_feed(socket: WebSocket, route: Route, services: Services) -> None:
    """Check the caller, then tell until either side ends."""
    try:
        addresses.check_path(socket.scope["path"], socket.scope.get("raw_path") or b"")
        token = bearer_token(socket.headers.get("authorization", ""))
        await caller_for(services.db, token, route.who)
        ends_at = None if token is None else await expiry_of_token(services.db, token)
        stream = _stream_of(services)
    except Exception as error:  # noqa: BLE001 - whatever it is, the answer is a problem
        await deny(socket, error)
        return
    await socket.accept()
    await stream_until_closed(socket, stream, ends_at)


def _stream_of(services: Services) -> OpsStream:
    standing, broadcast = services.ops.standing, services.ops.broadcast
    if standing is None or broadcast is None:
        raise BusyError("No figures are collected in this process.")
    return OpsStream(standing, broadcast)


class OpsStream:
    """One client's way through the seconds: hello, then what is sent to all."""

    def __init__(self, standing: Standing, broadcast: OpsBroadcast) -> None:
        self._standing, self._broadcast = standing, broadcast

    async def run(self, socket: WebSocket) -> None:
        """Hello, then a statement for each word of the process's watcher, until cancelled."""
        hello = wire.OpsHello(
            process_id=self._standing.process_id, server_time=self._standing.server_time(), every_s=EVERY_S
        )
        try:
            async with asyncio.timeout(SEND_PATIENCE_S):
                await socket.send_text(msgspec.json.encode(hello).decode())
            await self._broadcast.follow(socket.scope.get(SERVERS_SEND, socket.send))
        except TimeoutError:
            log.info("a client of the figures takes no frames, dropped")
            await close_in_time(socket, SLOW_CONSUMER)
