"""What the web's tests share: the application over a test's database, callers with tokens, calls that carry a key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar
from uuid import UUID, uuid4

import httpx
import msgspec

from backend_client import wire
from booking.domain.caller import Role
from booking.services import sign_in
from booking.store.database import Database
from booking.web.application import Application, create_app

PASSWORD = "a password of the tests"
STAFF_ROLES = (Role.CLERK, Role.OPS, Role.SUPERVISOR, Role.ADMIN)
T = TypeVar("T")


class Api:
    """HTTP calls on an application in this process. `token` is sent with each call unless another is given."""

    def __init__(self, app: Application, client: httpx.AsyncClient, db: Database) -> None:
        self.app = app
        self.client = client
        self.db = db

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """One call. Bytes are sent as they are; a mutating call gets a fresh key unless one is given."""
        sent = dict(headers or {})
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        if method != "GET":
            sent.setdefault(wire.IDEMPOTENCY_KEY_HEADER, key or str(uuid4()))
        content = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        return await self.client.request(method, path, content=content, headers=sent)

    async def fan(self) -> str:
        """The token of a new fan."""
        return (await sign_in.create_account(self.db)).access_token

    async def staff(self, role: Role, device_id: UUID | None = None) -> str:
        """The token of a member of staff with that role, at a device of their own."""
        name = f"{role}-{uuid4()}"
        await sign_in.create_staff(self.db, name, f"Some {role}", role, PASSWORD)
        return (await sign_in.login(self.db, name, PASSWORD, device_id or uuid4(), "Till of the tests")).access_token

    async def token_of(self, role: Role | None) -> str | None:
        """A token of that role; none for an anonymous caller."""
        if role is None:
            return None
        return await self.fan() if role is Role.FAN else await self.staff(role)


@asynccontextmanager
async def api_over(db: Database) -> AsyncIterator[Api]:
    """The application over `db`, its tail running."""
    app = create_app(db)
    app.start()
    try:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            yield Api(app, client, db)
    finally:
        await app.stop()


def read(response: httpx.Response, kind: type[T], status: int = 200) -> T:
    """The body as a message, after checking the status."""
    assert response.status_code == status, response.text
    return msgspec.json.decode(response.content, type=kind)


def problem(response: httpx.Response, code: wire.ErrorCode) -> wire.Problem:
    """The problem of a refusal, after checking its code, media type and request id."""
    assert response.headers["content-type"] == wire.PROBLEM_MEDIA_TYPE, response.text
    found = msgspec.json.decode(response.content, type=wire.Problem)
    assert found.code is code, found
    assert found.status == response.status_code
    assert found.request_id == response.headers[wire.REQUEST_ID_HEADER]
    return found
