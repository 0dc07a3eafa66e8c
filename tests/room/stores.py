"""The stores that a room can have, each at a place of a test's own, and the servers that they need."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest
from valkey.asyncio.connection import UnixDomainSocketConnection

from booking.embedded.valkey import Valkey, temporary_valkey
from booking.room.event_room import Phase, RoomFacts
from booking.room.places import PlaceRow
from booking.room.settings import Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.store import RoomStore
from booking.room.store_address import ValkeyAddress, parse_address
from booking.room.valkey_store import ValkeyStore

REDIS_VARIABLE = "TAQUILLA_REDIS_SERVER"
LEASE_S, PATIENCE_S = 2.0, 2.0


class StorePlace(Protocol):
    """Somewhere a store is; it can be opened again once it was closed."""

    async def open(self) -> RoomStore: ...

    @property
    def arguments(self) -> tuple[str, ...]:
        """How the command line names it."""
        ...


@dataclass
class SqlitePlace:
    path: Path

    async def open(self) -> RoomStore:
        return SqliteStore(self.path)

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("--store", f"sqlite:{self.path}")


@dataclass
class ValkeyPlace:
    server: Valkey
    prefix: str

    @property
    def text(self) -> str:
        return f"unix://{self.server.socket}?prefix={self.prefix}"

    @property
    def address(self) -> ValkeyAddress:
        return valkey_address(self.text)

    async def open(self, **known: float | bool) -> ValkeyStore:
        return await opened(self.text, None, **known)

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("--store", self.text)


def valkey_address(text: str) -> ValkeyAddress:
    address = parse_address(text)
    assert isinstance(address, ValkeyAddress)
    return address


async def opened(text: str, password: str | None = None, **known: float | bool) -> ValkeyStore:
    """The store at an address, with a short lease and little patience."""
    chosen: dict[str, float] = {"lease_s": LEASE_S, "patience_s": PATIENCE_S, **known}
    accept_loss = bool(chosen.pop("accept_loss", False))
    return await ValkeyStore.open(valkey_address(text), password, accept_loss=accept_loss, **chosen)


async def ask(address: ValkeyAddress, *command: bytes | str | int) -> Any:
    """What the server, also a replica, answers to somebody else."""
    connection = UnixDomainSocketConnection(path=address.endpoints[0].path)
    try:
        await connection.send_packed_command(connection.pack_commands([command]))
        return await connection.read_response()
    finally:
        await connection.disconnect()


FACTS = RoomFacts(7, 1e9, b"seed", Settings(), Phase.OPEN)


def waiting(number: int) -> PlaceRow:
    """Somebody's place, as it is stored of who waits."""
    return PlaceRow(number, number.to_bytes(16, "big"), 0, -1, 1.5, 3)


def new_place(server: Valkey) -> ValkeyPlace:
    return ValkeyPlace(server, f"t{uuid4().hex[:12]}")


@contextmanager
def valkey_running(settings: Mapping[str, str] | None = None) -> Iterator[Valkey]:
    """The wheel's server. Where there is no wheel (Windows) the tests do without it."""
    if sys.platform == "win32":
        pytest.skip("there is no Valkey for Windows")
    with temporary_valkey(settings) as server:
        yield server


def redis_program() -> str | None:
    """A Redis that is installed here, or that `$TAQUILLA_REDIS_SERVER` names."""
    return os.environ.get(REDIS_VARIABLE) or shutil.which("redis-server")


@contextmanager
def redis_running(settings: Mapping[str, str] | None = None) -> Iterator[Valkey]:
    """A second judge, where there is one."""
    program = redis_program()
    if program is None:
        pytest.skip("no redis-server here")
    with temporary_valkey(settings, program=Path(program)) as server:
        yield server


@contextmanager
def ports(count: int) -> Iterator[list[int]]:
    """Free ones, held until they are used."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        yield [probe.getsockname()[1] for probe in probes]
