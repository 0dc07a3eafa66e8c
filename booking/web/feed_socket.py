"""The seat feed over a WebSocket: hello, then deltas as they come, beats while nothing comes (R13, S1, S5, G3).

Each client has a version of its own and no queue: it waits for its event's publisher and is then taken from where it
stands to what is shown, in one delta. One that is slow gets fewer and larger deltas; one that takes no frame for
`SEND_PATIENCE_S` is cut; one that the ring cannot continue is told to load the snapshot again. Binary deltas are in
the caller's layout (staff or public); JSON deltas are always public, because the message does not name a layout.

A feed lives no longer than the token that opened it: then it is closed with `wire.FEED_TOKEN_EXPIRED`, and the client
comes back with a fresh one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from starlette.responses import Response
from starlette.websockets import WebSocket

from backend_client import wire
from backend_client.seat_frames import Layout
from booking.figures.meter import Meter
from booking.services import access_tokens
from booking.services.sign_in import expiry_of_token
from booking.web import addresses, problems
from booking.web.bodies import invalid
from booking.web.calls import Call, Route, Services
from booking.web.client_address import client_address
from booking.web.feed_patience import SEND_PATIENCE_S
from booking.web.gate import bearer_token, caller_for, is_gone, request_id_of, response_for
from booking.web.handlers.read import layout_for
from booking.web.seat_projection import encode_text
from booking.web.seat_tail import EventFeed, SeatTail

AHEAD_LOOK_S = 0.25
SLOW_CONSUMER = 1013  # try again later

log = logging.getLogger(__name__)


async def refuse_plain_http(_: Call) -> Response:
    """The address of a feed asked for without an upgrade."""
    raise problems.UnknownAddressError("This is the address of a WebSocket.")


@dataclass(frozen=True, slots=True)
class Wish:
    """What the client asked for: where its map stands, the form of deltas, and whether counts of tiers come as well."""

    epoch: int | None
    since: int | None
    binary: bool
    tiers: bool = False

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Wish:
        """Read `epoch`, `since`, `form` and `tiers`.

        Raises:
            InvalidRequestError: naming the parameter.
        """
        form = query.get("form", "json")
        if form not in {"json", "binary"}:
            raise invalid("query:form", "must be `json` or `binary`")
        tiers = query.get("tiers", "false")
        if tiers not in {"true", "false"}:
            raise invalid("query:tiers", "must be `true` or `false`")
        epoch, since = addresses.version_of(query, "epoch"), addresses.version_of(query, "since")
        return cls(epoch, since, form == "binary", tiers == "true")


async def serve_feed(socket: WebSocket, route: Route, services: Services) -> None:
    """Check the caller, find a place, then stream until either side ends."""
    with ExitStack() as places:
        try:
            addresses.check_path(socket.scope["path"], socket.scope.get("raw_path") or b"")
            token = bearer_token(socket.headers.get("authorization", ""))
            caller = await caller_for(services.db, token, route.who)
            ends_at = None if token is None else await expiry_of_token(services.db, token)
            wish = Wish.from_query(addresses.parse_query(socket.scope["query_string"]))
            event_id = addresses.event_id_of(socket.path_params)
            feed = await services.seats.feed(event_id)
            address = client_address(socket.scope, services.trusted_proxies)
            places.enter_context(services.feeds.taking(caller, address))
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer is a problem
            await deny(socket, error)
            return
        await socket.accept()
        layout = layout_for(caller) if wish.binary else Layout.PUBLIC
        tiers = services.seats.following_tiers(event_id, feed) if wish.tiers else nullcontext()
        feed.followers += 1
        try:
            with tiers:
                await stream_until_closed(socket, Stream(services.seats, feed, layout, wish, services.meter), ends_at)
        finally:
            feed.followers -= 1


class Streaming(Protocol):
    """What a feed sends, until cancelled."""

    async def run(self, socket: WebSocket) -> None:
        """Send frames."""
        ...


async def deny(socket: WebSocket, error: Exception) -> None:
    """Answer a call for a feed with the problem that it has."""
    request_id = request_id_of(socket.scope)
    response = response_for(error, request_id, f"WS {socket.scope['path']}")
    response.headers[wire.REQUEST_ID_HEADER] = request_id
    await socket.send_denial_response(response)


async def stream_until_closed(socket: WebSocket, stream: Streaming, ends_at: datetime | None) -> None:
    """Send and listen at once: what the client says is ignored, that it went is not."""
    left_s = None if ends_at is None else max(0.0, (ends_at - access_tokens.utc_now()).total_seconds())
    sending = asyncio.create_task(stream.run(socket), name="feed-send")
    hearing = asyncio.create_task(_hear_close(socket), name="feed-hear")
    try:
        ended, _ = await asyncio.wait({sending, hearing}, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, hearing):
            task.cancel()
        for result in await asyncio.gather(sending, hearing, return_exceptions=True):
            if isinstance(result, Exception) and not is_gone(result):
                log.error("feed failed", exc_info=result)
    if not ended:
        await close_in_time(socket, wire.FEED_TOKEN_EXPIRED, "the access token has expired")


async def close_in_time(socket: WebSocket, code: int, reason: str = "") -> None:
    """Say goodbye, and do not wait for ever for who takes nothing: the connection ends with the call in any case.

    A client that has stopped reading takes no frame that says so either; its place and its memory would be its own for
    as long as it keeps the connection.
    """
    with suppress(Exception):  # it may be going at this very moment
        async with asyncio.timeout(SEND_PATIENCE_S):
            await socket.close(code, reason)


async def _hear_close(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


class Stream:
    """One client's way through the versions."""

    def __init__(
        self, seats: SeatTail, feed: EventFeed, layout: Layout, wish: Wish, meter: Meter | None = None
    ) -> None:
        self._seats = seats
        self._meter = meter or Meter()
        self._feed = feed
        self._layout = layout
        self._binary = wish.binary
        self._wants_tiers = wish.tiers
        self._tiers_sent = 0
        self._publisher = feed.publishers[layout]
        self._epoch = feed.projection.epoch
        self._version = self._publisher.shown
        self._lost = False
        self._joined_at = asyncio.get_running_loop().time()
        self._beat_due = 0.0
        if wish.since is not None and wish.epoch is not None:
            self._continue_from(wish.epoch, wish.since)

    def _continue_from(self, epoch: int, since: int) -> None:
        projection = self._feed.projection
        # A client may be ahead of this process when another one served it before: it waits until this one has looked.
        if epoch == projection.epoch and (since > projection.version or projection.reaches_back_to(since)):
            self._version = since
        else:
            self._lost = True

    async def run(self, socket: WebSocket) -> None:
        """Hello first, then frames until cancelled or until the client takes none for too long."""
        try:
            await self._send_text(socket, self._hello())
            if self._lost:
                await self._send_text(socket, self._resync())
            while True:
                await self._send_next(socket)
        except TimeoutError:
            log.info("event %d: a feed client takes no frames, dropped", self._feed.projection.event_id)
            self._meter.client_dropped()
            await close_in_time(socket, SLOW_CONSUMER)

    async def _send_next(self, socket: WebSocket) -> None:
        if self._feed.projection.epoch != self._epoch or not self._is_continuable():
            await self._send_text(socket, self._resync())
        elif self._publisher.shown > self._version:
            await self._send_delta(socket)
        elif self._wants_tiers and self._feed.tiers.revision not in {0, self._tiers_sent}:
            await self._send_tiers(socket)
        elif not await self._publisher.wait_moved(AHEAD_LOOK_S if self._is_ahead() else self._until_beat_s()):
            await self._send_text(socket, self._beat())

    def _until_beat_s(self) -> float:
        """A beat is due so long after the last word about seats, however often counts of tiers come meanwhile."""
        return max(0.0, self._beat_due - asyncio.get_running_loop().time())

    def _put_beat_off(self) -> None:
        self._beat_due = asyncio.get_running_loop().time() + wire.FEED_BEAT_S

    def _is_continuable(self) -> bool:
        if self._is_ahead():
            # No process can have shown what the authority, asked after this client came, has not numbered.
            return self._feed.true_at < self._joined_at
        return self._feed.projection.reaches_back_to(self._version)

    def _is_ahead(self) -> bool:
        return self._version > self._feed.projection.version

    async def _send_delta(self, socket: WebSocket) -> None:
        projection = self._feed.projection
        frame = projection.frame_since(self._version, self._layout, binary=self._binary)
        self._version = projection.version
        due = self._publisher.shown_at
        self._put_beat_off()
        async with asyncio.timeout(SEND_PATIENCE_S):
            await (socket.send_bytes(frame) if self._binary else socket.send_text(frame.decode()))
        self._meter.frame_sent(asyncio.get_running_loop().time() - due)

    async def _send_tiers(self, socket: WebSocket) -> None:
        self._tiers_sent = self._feed.tiers.revision
        async with asyncio.timeout(SEND_PATIENCE_S):
            await socket.send_text(self._feed.tiers.frame.decode())

    async def _send_text(self, socket: WebSocket, frame: wire.FeedText) -> None:
        self._put_beat_off()
        async with asyncio.timeout(SEND_PATIENCE_S):
            await socket.send_text(encode_text(frame).decode())

    def _hello(self) -> wire.FeedHello:
        projection = self._feed.projection
        return wire.FeedHello(
            event_id=wire.EventId(projection.event_id),
            epoch=projection.epoch,
            version=self._publisher.shown,
            server_time=self._seats.server_time(),
            sequenced_at=self._seats.sequenced_at,
        )

    def _beat(self) -> wire.FeedBeat:
        """Says that all up to this client's version has been sent."""
        return wire.FeedBeat(
            epoch=self._epoch,
            version=self._version,
            server_time=self._seats.server_time(),
            sequenced_at=self._seats.sequenced_at,
        )

    def _resync(self) -> wire.FeedResync:
        """From here on the stream goes on from where the projection stands; the client loads a snapshot first."""
        projection = self._feed.projection
        self._epoch = projection.epoch
        self._version = projection.version
        self._tiers_sent = 0  # the client begins anew, with the counts as well
        self._lost = False
        return wire.FeedResync(epoch=self._epoch, version=self._version)
