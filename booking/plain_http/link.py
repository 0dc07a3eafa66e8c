"""A small HTTP/1.1 client on asyncio protocols: keep-alive, one request at a time on each connection.

A general client costs more than ten times as much CPU a request: 1.5 ms of what a payment took were two calls of one.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from typing import cast

from booking.plain_http.message import Answer, AnswerReader, BrokenAnswerError

STALE_AFTER_S = 5.0
"""A connection that idles longer is not used again: the server may be closing it at this very moment."""


class Link(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self.usable = False
        self.idle_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._reader = AnswerReader()
        self._answer: asyncio.Future[Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass of it
        self.usable = True

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            self.close()  # nobody asked
            return
        try:
            answer = self._reader.feed(data)
        except BrokenAnswerError as error:
            self._answer.set_exception(error)
            self.close()
            return
        if answer is not None:
            if self._reader.closing:
                self.close()
            self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self.usable = False
        if self._answer is not None and not self._answer.done():
            try:
                self._answer.set_result(self._reader.ended())
            except BrokenAnswerError as error:
                self._answer.set_exception(exc or error)

    async def ask(self, request: bytes) -> Answer:
        """Send a request and wait for its answer. A caller that gives up takes the connection with it."""
        if self._transport is None or not self.usable:
            raise BrokenAnswerError("the connection is closed")
        self._reader = AnswerReader()
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._answer
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End it; nothing is sent any more."""
        self.usable = False
        if self._transport is not None:
            self._transport.abort()


class Links:
    """At most `most` connections to one server; whoever finds none free waits in turn."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None, most: int) -> None:
        self._where = (host, port, tls)
        self._most = most
        self._open = 0
        self._idle: deque[Link] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait for a connection."""
        return len(self._waiting)

    async def ask(self, request: bytes) -> Answer:
        """Send a request on a free connection.

        Raises:
            OSError: no connection, or it broke.
        """
        link = await self._take()
        try:
            return await link.ask(request)
        finally:
            self._give_back(link)

    def close(self) -> None:
        """End the idle ones; those in use end with their requests."""
        while self._idle:
            self._idle.pop().close()

    async def _take(self) -> Link:
        loop = asyncio.get_running_loop()
        while True:
            while self._idle:
                link = self._idle.pop()  # the youngest: the others may go stale
                if link.usable and loop.time() - link.idle_since < STALE_AFTER_S:
                    return link
                link.close()
                self._open -= 1
            if self._open < self._most:
                return await self._connect()
            turn: asyncio.Future[None] = loop.create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._wake_next()
                raise

    async def _connect(self) -> Link:
        host, port, tls = self._where
        self._open += 1
        try:
            _, link = await asyncio.get_running_loop().create_connection(Link, host, port, ssl=tls)
        except BaseException:
            self._open -= 1
            self._wake_next()
            raise
        return link

    def _give_back(self, link: Link) -> None:
        if link.usable:
            link.idle_since = asyncio.get_running_loop().time()
            self._idle.append(link)
        else:
            self._open -= 1
        self._wake_next()

    def _wake_next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
