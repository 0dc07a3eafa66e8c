"""A relay in front of PostgreSQL that counts a client's statements and kills the client at the n-th, as `kill -9` does.

All of its connections end at once and no new one is let through: what was sent is with the server, or never gets there.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

_STATEMENTS = b"QPB"  # a chunk of asyncpg's begins with a simple query, a Parse, or a Bind
_READY = b"Z\x00\x00\x00\x05"


@dataclass(frozen=True)
class Death:
    """Before statement number `at` (from 1) reaches the server, or once the server has answered it."""

    at: int
    after_the_answer: bool


@dataclass
class DeathRelay:
    """Relays both ways, counts, and kills when `death` is due."""

    server_socket: str
    death: Death | None = None
    statements: int = 0
    is_dead: bool = False
    _due: bool = False
    _aborts: list[Callable[[], None]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def begin(self, death: Death | None) -> None:
        """A new life: count from 0."""
        self.death, self.statements, self.is_dead, self._due = death, 0, False, False
        self._aborts.clear()

    def kill(self) -> None:
        """All connections end now."""
        self.is_dead = True
        for abort in self._aborts:
            abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_dead:
            writer.transport.abort()
            return
        server_reader, server_writer = await asyncio.open_unix_connection(self.server_socket)

        def abort() -> None:
            writer.transport.abort()
            server_writer.transport.abort()

        self._aborts.append(abort)
        up = asyncio.create_task(self._pump(reader, server_writer, self._lets_ask))
        down = asyncio.create_task(self._pump(server_reader, writer, self._lets_answer))
        self._tasks |= {up, down}
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        abort()

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, lets: Callable[[bytes], bool]
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(262_144):
                if self.is_dead or not lets(data):
                    return
                target.write(data)
                await target.drain()

    def _lets_ask(self, data: bytes) -> bool:
        if data[0] not in _STATEMENTS:
            return True
        self.statements += 1
        if self.death is not None and self.statements == self.death.at:
            if not self.death.after_the_answer:
                self.kill()
                return False
            self._due = True
        return True

    def _lets_answer(self, data: bytes) -> bool:
        if self._due and data[-6:-1] == _READY:
            self.kill()
            return False
        return True


@asynccontextmanager
async def death_relay(dsn: str, folder: str) -> AsyncIterator[tuple[DeathRelay, str]]:
    """A relay and the DSN that leads through it; `folder` must be short, it holds the socket."""
    parts = urlsplit(dsn)
    options = {name: values[0] for name, values in parse_qs(parts.query).items()}
    name = f".s.PGSQL.{options.get('port', '5432')}"
    relaying = DeathRelay(f"{options['host']}/{name}")
    server = await asyncio.start_unix_server(relaying.serve, f"{folder}/{name}")
    try:
        yield relaying, urlunsplit(parts._replace(query=urlencode({**options, "host": folder})))
    finally:
        relaying.kill()
        server.close()
