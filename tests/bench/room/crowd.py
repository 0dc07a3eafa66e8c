"""A crowd at the room's own doors: the ASGI application with its real store, without a network in between.

The store is SQLite's, or one in a Valkey of our own: `valkey` syncs each batch, `valkey-everysec` leaves it to the
server when to sync and waits for it.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time, time
from uuid import UUID

import psutil

from booking.domain.caller import Role
from booking.embedded.valkey import Valkey
from booking.room.callers import Callers
from booking.room.calls import Services
from booking.room.house import House
from booking.room.settings import Queueing, Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.store_address import Endpoint, ValkeyAddress
from booking.room.valkey_store import ValkeyStore
from booking.room.web import RoomApplication
from booking.services.access_tokens import Claims, sign
from tests.bench.measuring import cpu_s

EVENT = 7
KEY_ID, SECRET = UUID(int=77), b"s" * 32
AT_ONCE = 512
QUEUE = f"/v1/events/{EVENT}/queue"
KINDS = ("sqlite", "valkey", "valkey-everysec")
CountedStore = SqliteStore | ValkeyStore


@dataclass(frozen=True)
class Measured:
    """`calls` of one kind: how many a second, µs of CPU each (all threads of the process), commits that they took.

    `server_us`: µs of CPU each of the store's server, where it has one.
    """

    calls: int
    per_s: float
    cpu_us: float
    commits: int
    server_us: float = 0.0


@dataclass
class StoreAt:
    """A store that can be opened, and closed and opened again."""

    kind: str
    folder: Path
    server: Valkey | None = None

    async def open(self) -> CountedStore:
        """For the room."""
        if self.server is None:
            return SqliteStore(self.folder / "room.sqlite")
        return await ValkeyStore.open(ValkeyAddress((Endpoint(path=str(self.server.socket)),)))

    def server_cpu_s(self) -> float:
        """CPU that the server has used."""
        return 0.0 if self.server is None else cpu_s(self.server.pid)

    def stored_bytes(self) -> int:
        """What the store keeps of it: memory of the server, or the file with its log."""
        if self.server is None:
            return sum(path.stat().st_size for path in self.folder.glob("room.sqlite*"))
        return int(psutil.Process(self.server.pid).memory_info().rss)


@contextmanager
def store_at(kind: str, folder: Path) -> Iterator[StoreAt]:
    """A store of a kind, with the server that it needs, until the end of the context."""
    if kind == "sqlite":
        yield StoreAt(kind, folder)
        return
    syncs = "everysec" if kind == "valkey-everysec" else "always"
    with Valkey(folder / kind, {"appendfsync": syncs}) as server:
        yield StoreAt(kind, folder, server)


class Crowd:
    """Visitors with accounts, and the room that they call."""

    def __init__(self, app: RoomApplication, store: CountedStore, at: StoreAt) -> None:
        self.app, self.store, self.at = app, store, at

    async def join(self, numbers: Sequence[int]) -> Measured:
        """Each joins once, over the whole of the application."""
        return await self._measure(numbers, "POST", b"{}", 201)

    async def poll(self, numbers: Sequence[int]) -> Measured:
        """Each asks once how it stands."""
        return await self._measure(numbers, "GET", b"", 200)

    async def fill(self, first: int, count: int) -> None:
        """So many wait, by the house's own door: a crowd that is to be there, not measured."""
        house = self.app.services.house
        for begin in range(first, first + count, 4096):
            end = min(begin + 4096, first + count)
            await asyncio.gather(*(house.join(EVENT, UUID(int=n + 1).bytes, "") for n in range(begin, end)))

    async def _measure(self, numbers: Sequence[int], method: str, body: bytes, status: int) -> Measured:
        calls = [_call_of(number, method, body) for number in numbers]
        server, commits, cpu, began = self.at.server_cpu_s(), self.store.commits, process_time(), perf_counter()
        queue = iter(calls)

        async def worker() -> None:
            for scope in queue:
                assert await _status_of(self.app, scope, body) == status

        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
        took, cpu = perf_counter() - began, process_time() - cpu
        each = 1e6 / len(calls)
        server = self.at.server_cpu_s() - server
        return Measured(len(calls), len(calls) / took, cpu * each, self.store.commits - commits, server * each)


@asynccontextmanager
async def crowd_at(at: StoreAt) -> AsyncIterator[Crowd]:
    """A room that opened just now and lets nobody in, so that all wait; time goes on as in production."""
    store = await at.open()
    house = House(store, await store.load())
    await house.prepare()
    house.account_keys = {KEY_ID: SECRET}
    settings = Settings(queueing=Queueing.FIFO, total_active_users=0, away_after_s=3600)
    await house.open_room(EVENT, time() - 1, settings, "bench", "measured")
    house.start()
    app = RoomApplication(Services(house, Callers(house), limits=None))
    try:
        yield Crowd(app, store, at)
    finally:
        await app.stop()


def resident_bytes() -> int:
    """Memory of this process."""
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def _call_of(number: int, method: str, body: bytes) -> dict[str, object]:
    expires_at = int((datetime.now(UTC) + timedelta(hours=1)).timestamp())
    claims = Claims(key_id=KEY_ID, expires_at=expires_at, role=Role.FAN, account_id=UUID(int=number + 1))
    headers = [
        (b"authorization", b"Bearer " + sign(claims, SECRET).encode()),
        (b"admission-session", b"session-of-a-browser"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    return {
        "type": "http", "method": method, "path": QUEUE, "raw_path": QUEUE.encode(), "query_string": b"",
        "headers": headers, "client": ("192.0.2.1", 1), "root_path": "", "scheme": "http", "http_version": "1.1",
        "server": ("room", 80),
    }  # fmt: skip


async def _status_of(app: RoomApplication, scope: dict[str, object], body: bytes) -> int:
    found = 0

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, object]) -> None:
        nonlocal found
        if message["type"] == "http.response.start":
            found = int(str(message["status"]))

    call: Callable[..., Awaitable[None]] = app
    await call(dict(scope), receive, send)
    return found
