"""The steps of a sale through one API process on loopback: tills whose terminals say yes.

The client writes its requests itself, over connections that stay open: a client library would use more CPU than
the API.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import msgspec

from booking.domain.caller import Role
from booking.services.sign_in import caller_of_token, create_staff, login
from booking.store.database import Database
from tests.bench.payments.sales import Sale
from tests.server.box_office import ADULT
from tests.server.web_process import running

TILLS = 16
PASSWORD = "only for this run"


class HttpSteps:
    """As `Steps`, by HTTP: `payment` opens a terminal's sale, `confirm` reports its yes."""

    def __init__(self, host: str, port: int, tokens: list[str], caller_of: dict[str, Any]) -> None:
        self._address = (host, port)
        self._tokens = cycle(tokens)
        self._caller_of = caller_of
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    def new_sale(self, event_id: int, seats: tuple[int, ...]) -> Sale:
        token = next(self._tokens)
        return Sale(event_id, seats, self._caller_of[token], token)

    async def hold(self, sale: Sale) -> None:
        hold = await self._call(sale, "POST", f"/v1/events/{sale.event_id}/holds", {"seats": sale.seats})
        sale.hold_id = UUID(hold["hold_id"])

    async def check_out(self, sale: Sale) -> None:
        lines = [{"seat_no": seat, "price_type_id": ADULT} for seat in sale.seats]
        body = {"lines": lines, "shown_total_minor": sale.amount_minor}
        order = await self._call(sale, "POST", f"/v1/holds/{sale.hold_id}/checkout", body)
        sale.order_id = UUID(order["order_id"])

    async def open_payment(self, sale: Sale) -> None:
        body = {"kind": "sale", "provider": "zvt", "amount_minor": sale.amount_minor}
        step = await self._call(sale, "POST", f"/v1/orders/{sale.order_id}/payments", body)
        sale.operation_id = UUID(step["operation"]["operation_id"])

    async def confirm(self, sale: Sale) -> None:
        body = {"outcome": "succeeded", "amount_minor": sale.amount_minor, "provider_ref": "1"}
        told = await self._call(sale, "PUT", f"/v1/payments/{sale.operation_id}/result", body)
        assert told["advice"] == "goods-issued"

    async def read_order(self, sale: Sale) -> None:
        order = await self._call(sale, "GET", f"/v1/orders/{sale.order_id}")
        assert order["amount_minor"] == sale.amount_minor

    async def close(self) -> None:
        for _, writer in self._idle:
            writer.close()

    async def _call(self, sale: Sale, method: str, path: str, body: object = None) -> dict[str, Any]:
        content = b"" if body is None else msgspec.json.encode(body)
        key = "" if method == "GET" else f"Idempotency-Key: {uuid4()}\r\nContent-Type: application/json\r\n"
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._address[0]}\r\nAuthorization: Bearer {sale.token}\r\n{key}"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection(*self._address)
        writer.write(head.encode() + content)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(answer.split("content-length:", 1)[1].split("\r\n", 1)[0])
        text = await reader.readexactly(length)
        self._idle.append((reader, writer))
        if not answer.split(" ", 2)[1].startswith("2"):
            raise HttpRefusedError(text)
        told: dict[str, Any] = msgspec.json.decode(text)
        return told


class HttpRefusedError(Exception):
    """The API refused; `code` is its reason."""

    def __init__(self, problem: bytes) -> None:
        super().__init__(problem.decode(errors="replace"))
        self.code = str(msgspec.json.decode(problem).get("code", "?"))


@asynccontextmanager
async def http_steps(db: Database) -> AsyncIterator[tuple[HttpSteps, int]]:
    """An API process over the database, tills signed in; the steps through it, and its process id."""
    await create_staff(db, "bench", "Bench", Role.CLERK, PASSWORD)
    tokens = [(await login(db, "bench", PASSWORD, uuid4(), "Till")).access_token for _ in range(TILLS)]
    callers = {token: await caller_of_token(db, token) for token in tokens}
    with tempfile.TemporaryDirectory() as name:
        async with running("serve", "--dsn", db.dsn, "--rate-limits", "off", folder=Path(name)) as api:
            address = urlsplit(api.url)
            assert address.hostname is not None
            assert address.port is not None
            steps = HttpSteps(address.hostname, address.port, tokens, callers)
            try:
                yield steps, api.process.pid
            finally:
                await steps.close()
