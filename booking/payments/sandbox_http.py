"""A small HTTP/1.1 server on loopback that can do what a proper one must not: hang, cut the line, break an answer.

Enough of the protocol for JSON calls with a Content-Length over kept-alive connections, and no more.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_LOOPBACK = "127.0.0.1"
_MAX_BODY = 1 << 20


class BadRequestError(ValueError):
    """A request that cannot be read."""

    code = "bad-request"


class Delivery(Enum):
    """What becomes of an answer on its way."""

    WHOLE = auto()
    NEVER = auto()
    CUT = auto()
    BROKEN = auto()


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    query: dict[str, str]
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    """By lower-case name."""
    target: str = ""
    """Path and query as they came."""

    def json(self) -> dict[str, Any]:
        """The body as an object. Raises `BadRequestError`."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as error:
            raise BadRequestError("the body is not JSON") from error
        if not isinstance(value, dict):
            raise BadRequestError("the body is not an object")
        return value


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: dict[str, Any] = field(default_factory=dict)
    delivery: Delivery = Delivery.WHOLE
    headers: dict[str, str] = field(default_factory=dict)
    page: str = ""
    """HTML instead of `body`."""


Handler = Callable[[Call], Awaitable[Reply]]


class LoopbackServer:
    """Listens from `start` to `close`."""

    def __init__(self, handler: Handler) -> None:
        self.port = 0
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._lines: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self, port: int = 0) -> None:
        """Listen; raises `OSError` when the port is taken."""
        self._server = await asyncio.start_server(self._serve, _LOOPBACK, port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and cut every connection; hanging calls end with it."""
        if self._server is not None:
            self._server.close()
        for writer in self._lines.values():
            writer.transport.abort()
        if self._lines:
            await asyncio.wait(list(self._lines), timeout=2)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._lines[task] = writer
            task.add_done_callback(self._lines.pop)
        try:
            while (call := await _read_call(reader)) is not None:
                if not await self._answer(call, reader, writer):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, BadRequestError):
            pass  # what cannot be read is answered by the end of the line
        finally:
            writer.transport.abort()

    async def _answer(self, call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        reply = await self._handler(call)
        if reply.delivery is Delivery.NEVER:
            await reader.read()
            return False
        if reply.delivery is Delivery.CUT:
            return False
        wire = _encode(reply)
        if reply.delivery is Delivery.BROKEN:
            writer.write(wire[: len(wire) - 8])
            await writer.drain()
            writer.close()
            await writer.wait_closed()
            return False
        writer.write(wire)
        await writer.drain()
        return True


def _encode(reply: Reply) -> bytes:
    body = reply.page.encode() if reply.page else json.dumps(reply.body).encode()
    kind = "text/html; charset=utf-8" if reply.page else "application/json"
    headers = {"Content-Type": kind, "Content-Length": str(len(body)), **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def _read_call(reader: asyncio.StreamReader) -> Call | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *rest = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:
        raise BadRequestError(first)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest if line)}
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > _MAX_BODY:
        raise BadRequestError("the body's length")
    body = await reader.readexactly(int(length))
    target = urlsplit(words[1])
    return Call(words[0], target.path, dict(parse_qsl(target.query)), body, headers, words[1])
