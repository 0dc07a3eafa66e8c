"""A real waiting room in a process of its own, and people who call it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec

from backend_client import wire
from booking.domain.caller import Role
from booking.room.store import Batch
from booking.services.access_tokens import Claims, sign
from tests.room.stores import SqlitePlace, StorePlace
from tests.server.web_process import Running, running

KEY_ID, SECRET = UUID(int=77), b"s" * 32
SESSION = "session-of-a-browser"


def access_token(role: Role = Role.FAN, account: UUID | None = None, secret: bytes = SECRET) -> str:
    """As booking would sign it."""
    expires_at = int((datetime.now(UTC) + timedelta(hours=1)).timestamp())
    if role is Role.FAN:
        return sign(Claims(key_id=KEY_ID, expires_at=expires_at, role=role, account_id=account or uuid4()), secret)
    return sign(Claims(key_id=KEY_ID, expires_at=expires_at, role=role, device_id=uuid4(), staff_id=uuid4()), secret)


async def know_booking(folder: Path) -> None:
    """A store that has heard booking's keys once: the room works without booking from then on."""
    folder.mkdir(exist_ok=True)
    await know_booking_at(SqlitePlace(folder / "room.sqlite"))


async def know_booking_at(place: StorePlace) -> None:
    """The same anywhere."""
    store = await place.open()
    await store.write(Batch(notes=[("account-keys", msgspec.json.encode({str(KEY_ID): SECRET.hex()}))]))
    await store.close()


@dataclass
class Visitor:
    """Somebody with an account and a browser."""

    client: httpx.AsyncClient
    token: str
    session: str = SESSION

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        named = {"Authorization": f"Bearer {self.token}", "Admission-Session": self.session} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await self.client.request(method, path, json=body, headers=named)

    async def join(self, event_id: int = 7, **body: str) -> httpx.Response:
        return await self.call("POST", f"/v1/events/{event_id}/queue", body)

    async def look(self, event_id: int = 7, wait: int = 0, **headers: str) -> httpx.Response:
        return await self.call("GET", f"/v1/events/{event_id}/queue?wait={wait}", **headers)

    async def settled_tag(self, event_id: int = 7) -> str:
        """The tag of how it stands, once there was no news for a second: the first steps of time have been told."""
        while True:
            tag = (await self.look(event_id)).headers["ETag"]
            began = monotonic()
            answer = await self.look(event_id, wait=1, If_None_Match=tag)
            if answer.status_code == 304 and monotonic() - began >= 1:
                return tag

    async def next_news(self, tag: str, event_id: int = 7) -> httpx.Response:
        """How it stands once it is another way, however long that takes."""
        while (answer := await self.look(event_id, wait=25, If_None_Match=tag)).status_code == 304:
            pass
        return answer


@dataclass
class Room:
    """A running room."""

    process: Running
    client: httpx.AsyncClient

    def fan(self, account: UUID | None = None, session: str = SESSION) -> Visitor:
        return Visitor(self.client, access_token(account=account), session)

    def staff(self, role: Role = Role.OPS) -> Visitor:
        return Visitor(self.client, access_token(role))

    async def open(self, opens_in_s: float = -1.0, queueing: str = "fifo", **settings: Any) -> None:
        """A room of event 7 that opens so many seconds from now."""
        opens_at = (datetime.now(UTC) + timedelta(seconds=opens_in_s)).isoformat()
        made = await self.staff().call(
            "PUT", "/v1/rooms/7", {"opens_at": opens_at, "reason": "test", "queueing": queueing}
        )
        assert made.status_code == 201, made.text
        if settings:
            await self.set(**settings)

    async def set(self, **settings: Any) -> None:
        """Other settings of event 7's room."""
        version = self.figures_of(await self.staff().call("GET", "/v1/rooms/7")).settings.version
        body = settings | {"expected_version": version, "reason": "test"}
        done = await self.staff().call("PUT", "/v1/rooms/7/settings", body)
        assert done.status_code == 200, done.text

    @staticmethod
    def figures_of(answer: httpx.Response) -> wire.RoomFigures:
        assert answer.status_code == 200, answer.text
        return msgspec.json.decode(answer.content, type=wire.RoomFigures)


def status_of(answer: httpx.Response) -> wire.QueueStatus:
    """The status in an answer."""
    assert answer.status_code in (200, 201), answer.text
    return msgspec.json.decode(answer.content, type=wire.QueueStatus)


def refused(answer: httpx.Response, code: wire.ErrorCode) -> wire.Problem:
    """The problem in an answer, which must be this one."""
    problem = msgspec.json.decode(answer.content, type=wire.Problem)
    assert problem.code is code, answer.text
    assert problem.status == answer.status_code
    return problem


@asynccontextmanager
async def room_running(folder: Path, *arguments: str) -> AsyncIterator[Room]:
    """`python -m booking room` over `folder`."""
    logs = folder.parent / "logs"
    logs.mkdir(exist_ok=True)
    async with (
        running("room", "--data", str(folder), *arguments, folder=logs) as process,
        httpx.AsyncClient(base_url=process.url, timeout=30) as client,
    ):
        yield Room(process, client)


async def let_in(visitor: Visitor) -> wire.QueueStatus:
    """Wait until it is this visitor's turn."""
    async with asyncio.timeout(60):
        while True:
            status = status_of(await visitor.look())
            if status.admission_token:
                return status
            await asyncio.sleep(0.1)
