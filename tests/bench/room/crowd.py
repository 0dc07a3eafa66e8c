"""A crowd at the room's own doors: the ASGI application with its real store, without a network in between."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time, time
from uuid import UUID

import psutil

from booking.domain.caller import Role
from booking.room.callers import Callers
from booking.room.calls import Services
from booking.room.house import House
from booking.room.settings import Queueing, Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.web import RoomApplication
from booking.services.access_tokens import Claims, sign

EVENT = 7
KEY_ID, SECRET = UUID(int=77), b"s" * 32
AT_ONCE = 512
QUEUE = f"/v1/events/{EVENT}/queue"


@dataclass(frozen=True)
class Measured:
    """`calls` of one kind: how many a second, µs of CPU each (all threads of the process), commits that they took."""

    calls: int
    per_s: float
    cpu_us: float
    commits: int


class Crowd:
    """Visitors with accounts, and the room that they call."""

    def __init__(self, app: RoomApplication, store: SqliteStore) -> None:
        self.app, self.store = app, store

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
        commits, cpu, began = self.store.commits, process_time(), perf_counter()
        queue = iter(calls)

        async def worker() -> None:
            for scope in queue:
                assert await _status_of(self.app, scope, body) == status

        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
        took, cpu = perf_counter() - began, process_time() - cpu
        return Measured(len(calls), len(calls) / took, cpu / len(calls) * 1e6, self.store.commits - commits)


@asynccontextmanager
async def crowd_at(folder: Path) -> AsyncIterator[Crowd]:
    """A room that opened just now and lets nobody in, so that all wait; time goes on as in production."""
    store = SqliteStore(folder / "room.sqlite")
    house = House(store, await store.load())
    await house.prepare()
    house.account_keys = {KEY_ID: SECRET}
    settings = Settings(queueing=Queueing.FIFO, total_active_users=0, away_after_s=3600)
    await house.open_room(EVENT, time() - 1, settings, "bench", "measured")
    house.start()
    app = RoomApplication(Services(house, Callers(house), limits=None))
    try:
        yield Crowd(app, store)
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
