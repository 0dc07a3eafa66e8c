"""A relay in front of PostgreSQL's socket that cuts a connection at a named moment, or falls silent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit


@dataclass
class Cut:
    """When to cut: `words` of the request were seen; then at once, or when the server has answered."""

    words: bytes
    after_the_answer: bool
    times: int = 1
    done: int = 0
    seen: bool = field(default=False)


@dataclass
class Relay:
    """Relays bytes both ways until a cut is due."""

    server_socket: str
    cut: Cut | None = None
    away: bool = False
    silent: bool = False
    """Connections are accepted and nothing goes through any more, as with a server that is stopped."""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.away:
            writer.transport.abort()
            return
        server_reader, server_writer = await asyncio.open_unix_connection(self.server_socket)

        def abort() -> None:
            writer.transport.abort()
            server_writer.transport.abort()

        up = asyncio.create_task(self._pump(reader, server_writer, abort, self._on_request))
        down = asyncio.create_task(self._pump(server_reader, writer, abort, self._on_answer))
        self._tasks |= {up, down}
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        abort()

    async def _pump(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        abort: Callable[[], None],
        may_pass: Callable[[bytes], bool],
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65_536):
                if self.silent:
                    continue  # swallowed
                if not may_pass(data):
                    abort()
                    return
                target.write(data)
                await target.drain()

    def _on_request(self, data: bytes) -> bool:
        cut = self.cut
        if cut is None or cut.done >= cut.times or cut.words not in data:
            return True
        if cut.after_the_answer:
            cut.seen = True
            return True
        cut.done += 1
        return False

    def _on_answer(self, data: bytes) -> bool:
        # ReadyForQuery, idle: the transaction has committed, the answer is in our hands and goes no further.
        cut = self.cut
        if cut is not None and cut.seen and data.endswith(b"Z\x00\x00\x00\x05I"):
            cut.seen = False
            cut.done += 1
            return False
        return True


@asynccontextmanager
async def relay(dsn: str, folder: str) -> AsyncIterator[tuple[Relay, str]]:
    """A relay and the DSN that leads through it; `folder` must be short, it holds the socket."""
    parts = urlsplit(dsn)
    options = parse_qs(parts.query)
    name = f".s.PGSQL.{options.get('port', ['5432'])[0]}"
    relaying = Relay(f"{options['host'][0]}/{name}")
    server = await asyncio.start_unix_server(relaying.serve, f"{folder}/{name}")
    through = urlunsplit(parts._replace(query=urlencode({**{k: v[0] for k, v in options.items()}, "host": folder})))
    try:
        yield relaying, through
    finally:
        server.close()
