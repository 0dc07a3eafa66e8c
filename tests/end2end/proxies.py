"""Proxies that see the bytes between two processes and strike at a named one.

A `FaultProxy` stands between a client and its server (TCP on loopback or a Unix socket). A `Tap` watches both
directions of each connection. When it recognises the byte it was made for, the proxy runs the trap's hook *before*
passing anything of that chunk on: the hook can kill a process that has certainly sent it, or not yet received it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

Hook = Callable[[], Awaitable[None]]


@dataclass(eq=False)
class Trap:
    """One shot: the hook, and whether the bytes are still delivered afterwards.

    `armed` may be cleared to let traffic pass until the test is ready. `sprung` is set after the hook ran.
    """

    hook: Hook
    deliver: bool = False
    armed: bool = True
    sprung: asyncio.Event = field(default_factory=asyncio.Event)

    async def spring(self) -> bool:
        """Run the hook once. Returns whether the bytes go on."""
        if not self.armed:
            return True
        self.armed = False
        await self.hook()
        self.sprung.set()
        return self.deliver


class Tap(Protocol):
    """Watches one connection. Each method returns the trap that these bytes set off, if any."""

    def client_sent(self, data: bytes) -> Trap | None: ...

    def server_sent(self, data: bytes) -> Trap | None: ...


class PassThrough:
    """A tap that only lets pass."""

    def client_sent(self, data: bytes) -> Trap | None:
        return None

    def server_sent(self, data: bytes) -> Trap | None:
        return None


@dataclass(frozen=True)
class Address:
    """A TCP port on loopback, or a Unix socket's path."""

    port: int | None = None
    path: Path | None = None

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.path is not None:
            return await asyncio.open_unix_connection(str(self.path))
        return await asyncio.open_connection("127.0.0.1", self.port)


class FaultProxy:
    """Listens, connects on, copies both ways, and lets a tap of its own watch each connection."""

    def __init__(self, server: Address, tap: Callable[[], Tap] = PassThrough, *, path: Path | None = None) -> None:
        """`path` makes it listen on a Unix socket there; otherwise on a free port of loopback."""
        self._server = server
        self._tap = tap
        self._path = path
        self._listener: asyncio.Server | None = None
        self._links: set[asyncio.Task[None]] = set()
        self._closing = False

    @property
    def port(self) -> int:
        assert self._listener is not None
        return int(self._listener.sockets[0].getsockname()[1])

    async def __aenter__(self) -> Self:
        if self._path is not None:
            self._listener = await asyncio.start_unix_server(self._accept, str(self._path))
        else:
            self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._listener is not None
        self._closing = True
        self._listener.close()
        await self.cut()
        await self._listener.wait_closed()

    async def cut(self) -> None:
        """End every open connection."""
        links = list(self._links)
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)

    def point_at(self, server: Address) -> None:
        """Connect to another server from now on."""
        self._server = server

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closing:
            writer.close()
            return
        # Closed by the callback and not by the task: a task that is cancelled before its first step runs nothing.
        link = asyncio.create_task(self._link(reader, writer), name="proxy-link")
        self._links.add(link)
        link.add_done_callback(self._links.discard)
        link.add_done_callback(lambda _: writer.close())

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server_reader, server_writer = await self._server.connect()
        except OSError:
            return
        tap = self._tap()
        ways = [
            asyncio.create_task(_copy(reader, server_writer, tap.client_sent), name="proxy-client-to-server"),
            asyncio.create_task(_copy(server_reader, writer, tap.server_sent), name="proxy-server-to-client"),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            server_writer.close()  # first, and without waiting: this may be interrupted by a second end
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, watch: Callable[[bytes], Trap | None]
) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            trap = watch(data)
            if trap is not None and not await trap.spring():
                return
            writer.write(data)
            await writer.drain()


# ---------------------------------------------------------------- what they recognise


class HttpAnswer:
    """Springs at the first byte of the answer to a request whose first line matches, on its own connection."""

    def __init__(self, trap: Trap, request: str) -> None:
        self._trap = trap
        self._request = re.compile(rb"(?:^|\r\n\r\n|\}|\n)" + request.encode() + rb" HTTP/1\.1\r\n")
        self._asked = False

    def client_sent(self, data: bytes) -> Trap | None:
        self._asked = self._asked or self._request.search(data) is not None
        return None

    def server_sent(self, data: bytes) -> Trap | None:
        if self._asked and data.startswith(b"HTTP/1.1 "):
            self._asked = False
            return self._trap
        return None


class HttpRequest:
    """Springs at a request whose first line matches, before the server sees any of it."""

    def __init__(self, trap: Trap, request: str) -> None:
        self._trap = trap
        self._request = re.compile(rb"(?:^|\r\n\r\n|\}|\n)" + request.encode() + rb" HTTP/1\.1\r\n")

    def client_sent(self, data: bytes) -> Trap | None:
        return self._trap if self._request.search(data) else None

    def server_sent(self, data: bytes) -> Trap | None:
        return None


class TerminalFrame:
    """Springs at a ZVT frame (class and instruction bytes) from the terminal or from the till."""

    def __init__(self, trap: Trap, command: bytes, *, from_till: bool = False) -> None:
        self._trap = trap
        self._command = command
        self._from_till = from_till
        self._buffers = {True: bytearray(), False: bytearray()}

    def client_sent(self, data: bytes) -> Trap | None:
        return self._look(data, from_till=True)

    def server_sent(self, data: bytes) -> Trap | None:
        return self._look(data, from_till=False)

    def _look(self, data: bytes, *, from_till: bool) -> Trap | None:
        buffer = self._buffers[from_till]
        buffer += data
        commands = list(zvt_commands(buffer))
        return self._trap if from_till is self._from_till and self._command in commands else None


def zvt_commands(buffer: bytearray) -> Iterator[bytes]:
    """Take whole frames off the buffer and name them: class, instruction, then a length of one or three bytes."""
    while len(buffer) >= 3:
        header, length = 3, buffer[2]
        if length == 0xFF:
            if len(buffer) < 5:
                return
            header, length = 5, int.from_bytes(buffer[3:5], "little")
        if len(buffer) < header + length:
            return
        yield bytes(buffer[:2])
        del buffer[: header + length]


class CommittedStatement:
    """Springs when PostgreSQL says that the transaction of a matching statement is over, before the client hears it.

    It follows the extended protocol as asyncpg speaks it: Parse names a statement, Bind uses it, and ReadyForQuery with
    status `I` after that means: committed (or rolled back, which these tests rule out by looking).
    """

    def __init__(self, trap: Trap, statement: str) -> None:
        self._trap = trap
        self._pattern = re.compile(statement)
        self._statements: dict[bytes, bool] = {}
        self._ran = False
        self._started = False
        self._from_client, self._from_server = bytearray(), bytearray()

    def client_sent(self, data: bytes) -> Trap | None:
        self._from_client += data
        if not self._started:  # the start-up message has no type byte
            if len(self._from_client) < 4:
                return None
            length = int.from_bytes(self._from_client[:4], "big")
            if len(self._from_client) < length:
                return None
            self._started = int.from_bytes(self._from_client[4:8], "big") >> 16 == 3
            del self._from_client[:length]
        for kind, body in postgres_messages(self._from_client):
            if kind == b"P":
                name, text, *_ = body.split(b"\0", 2)
                self._statements[name] = self._pattern.search(text.decode()) is not None
            elif kind == b"B":
                _portal, name, *_ = body.split(b"\0", 2)
                self._ran = self._ran or self._statements.get(name, False)
            elif kind == b"Q":
                self._ran = self._ran or self._pattern.search(body.decode(errors="replace")) is not None
        return None

    def server_sent(self, data: bytes) -> Trap | None:
        if not self._started and len(data) == 1:  # the answer to a request for TLS
            return None
        self._from_server += data
        for kind, body in postgres_messages(self._from_server):
            if kind == b"Z" and body == b"I" and self._ran:
                self._ran = False
                return self._trap
        return None


def postgres_messages(buffer: bytearray) -> Iterator[tuple[bytes, bytes]]:
    """Take whole messages off the buffer: a type byte, then a length that counts itself."""
    while len(buffer) >= 5:
        length = int.from_bytes(buffer[1:5], "big")
        if len(buffer) < 1 + length:
            return
        yield bytes(buffer[:1]), bytes(buffer[5 : 1 + length])
        del buffer[: 1 + length]
