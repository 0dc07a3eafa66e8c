"""The same frame to all who look on: one task starts every send, and waits for none (R32).

A client has at most one frame on its way, and no queue: when it has taken that, it gets the newest, if it missed any.
One that takes none for `SEND_PATIENCE_S` is told so by `follow`. A send is started by calling the server's own `send`:
its answer is a future, so neither a task nor a timeout is made for a frame and a client.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from booking.figures.standing import Standing
from booking.web.feed_patience import SEND_PATIENCE_S
from booking.web.ops_board import OpsBoard

SERVERS_SEND: Final = "taquilla.send"
"""In a WebSocket's scope: the server's own `send`, which gives a future."""

_LOOK_AGAIN_S = 2.0

_Message = MutableMapping[str, Any]
Send = Callable[[_Message], Awaitable[None]]

log = logging.getLogger(__name__)


class _Client:
    """One who looks on. `ended` is done when it takes nothing any more, or a send has failed."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._on_its_way: asyncio.Future[None] | None = None
        self._since = 0.0
        self._last: _Message | None = None
        self._missed: _Message | None = None
        self.ended: asyncio.Future[None] = self._loop.create_future()

    def offer(self, message: _Message) -> None:
        """Send it now, or as soon as the frame that is on its way has been taken; once."""
        if message is self._last:
            return
        if self._on_its_way is not None:
            self._missed = message
            return
        self._last, self._missed, self._since = message, None, self._loop.time()
        try:
            self._on_its_way = asyncio.ensure_future(self._send(message))
        except Exception as error:  # noqa: BLE001 - whatever one client's server says, the others get their frame
            if not self.ended.done():
                self.ended.set_exception(error)
            return
        self._on_its_way.add_done_callback(self._taken)

    def look(self, now: float) -> None:
        """End it when it has taken nothing for too long."""
        if self._on_its_way is not None and now - self._since > SEND_PATIENCE_S and not self.ended.done():
            self.ended.set_exception(TimeoutError())

    def leave(self) -> None:
        """Nobody waits for what is on its way any more."""
        self._missed = None
        if self._on_its_way is not None:
            self._on_its_way.cancel()
        if self.ended.done() and not self.ended.cancelled():
            self.ended.exception()

    def _taken(self, sent: asyncio.Future[None]) -> None:
        self._on_its_way = None
        if sent.cancelled() or self.ended.done():
            return
        error = sent.exception()
        if error is not None:
            self.ended.set_exception(error)
        elif self._missed is not None:
            self.offer(self._missed)


class OpsBroadcast:
    """All who look on at one process. Its task runs while there is one."""

    def __init__(self, standing: Standing, board: OpsBoard) -> None:
        self._standing, self._board = standing, board
        self._clients: set[_Client] = set()
        self._task: asyncio.Task[None] | None = None
        self._number = self._made = -1
        self._message: _Message | None = None

    async def follow(self, send: Send) -> None:
        """Send the newest statement, then each one, until cancelled.

        Raises:
            TimeoutError: the client has taken no frame for `SEND_PATIENCE_S`.
        """
        client = _Client(send)
        newest = self._newest()
        if newest is not None:
            client.offer(newest)
        self._clients.add(client)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="ops-broadcast")
        try:
            await client.ended
        finally:
            self._clients.discard(client)
            client.leave()
            if not self._clients and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if self._number == self._standing.number:
                await self._standing.wait(_LOOK_AGAIN_S)
            else:
                self._number = self._standing.number
                self._tell_all()
            now = loop.time()
            for client in self._clients:
                client.look(now)

    def _tell_all(self) -> None:
        try:
            newest = self._newest()
        except Exception:  # a statement that cannot be made is missed; the task that tells all goes on with the next
            log.exception("the operators' statement could not be made")
            return
        if newest is not None:
            for client in self._clients:
                client.offer(newest)

    def _newest(self) -> _Message | None:
        """The newest statement, one message for all; None before the first."""
        if self._made != self._standing.number:
            self._made = self._standing.number
            frame = self._board.frame
            self._message = {"type": "websocket.send", "text": frame} if frame else None
        return self._message
