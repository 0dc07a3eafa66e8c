"""What the tests of the fans' page share: events with rooms of their own in a running stack, and what a fan does."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from booking.store.database import Database
from tests.end2end.browser import Browser, Browsers
from tests.end2end.http_client import client
from tests.end2end.processes import StackFacts
from tests.server.box_office import make_event

_USED = frozenset({"button", "link", "combobox", "checkbox", "radio", "textbox", "image"})


@dataclass
class House:
    """A stack, seen by its operators."""

    stack: StackFacts
    browsers: Browsers
    db: Database
    http: httpx.AsyncClient
    token: str

    async def event(self, seats: int = 40, **columns: object) -> int:
        """An event in rows of 20 seats, sold without a waiting room."""
        return await make_event(self.db, seats, **columns)

    async def event_with_room(self, seats: int = 40, *, name: str = "An evening", **settings: Any) -> int:
        """An event that is sold through a waiting room of its own, open, in the order of arrival."""
        event_id = await self.event(seats, name=name, admission=True)
        opening = {"opens_at": "2026-01-01T00:00:00Z", "reason": "test", "queueing": "fifo"}
        await self.room("PUT", f"/v1/rooms/{event_id}", opening)
        await self.set_room(event_id, new_users_per_minute=60_000, **settings)
        return event_id

    async def set_room(self, event_id: int, **settings: Any) -> None:
        """Other settings of a room."""
        version = (await self.room("GET", f"/v1/rooms/{event_id}"))["settings"]["version"]
        change = {"expected_version": version, "reason": "test", **settings}
        await self.room("PUT", f"/v1/rooms/{event_id}/settings", change)

    async def room(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """A call of an operator to the room."""
        return await self._call(self.stack.page_url, method, path, body)

    async def api(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """A call of an admin to the API."""
        return await self._call(self.stack.api_url, method, path, body)

    async def _call(self, base: str, method: str, path: str, body: dict[str, Any] | None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": str(uuid4())}
        answer = await self.http.request(method, base + path, json=body, headers=headers)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def sold(self, event_id: int) -> int:
        """How many seats of an event are sold, by the database."""
        return await self._count("SELECT count(*) FROM seats WHERE event_id = $1 AND status = 3", event_id)

    async def holds(self, event_id: int) -> int:
        """How many holds an event has had."""
        return await self._count("SELECT count(*) FROM holds WHERE event_id = $1", event_id)

    async def charges(self, event_id: int) -> int:
        """How many charges of an event the provider has granted."""
        ids = [str(row["operation_id"]) for row in await self.db.fetch(
            "SELECT p.operation_id FROM payment_operations p JOIN orders o USING (order_id)"
            " WHERE o.event_id = $1 AND p.kind = 'authorize'", event_id,
        )]  # fmt: skip
        ledger = (await self.http.get(f"{self.stack.sandbox_url}/control/ledger")).json()
        return sum(
            one["request"]["operation_id"] in ids and one["status"] == "succeeded" for one in ledger["operations"]
        )

    async def fault(self, on: str, fault: str, times: int) -> None:
        """What the payment sandbox does wrong next."""
        body = {"on": on, "fault": fault, "times": times}
        (await self.http.post(f"{self.stack.sandbox_url}/control/faults", json=body)).raise_for_status()

    async def _count(self, statement: str, event_id: int) -> int:
        found: int = (await self.db.fetch(statement, event_id))[0][0]
        return found


@asynccontextmanager
async def house_of(stack: StackFacts, browsers: Browsers) -> AsyncIterator[House]:
    """The stack's house for one test."""
    db = await Database.open(stack.dsn, application="test", lanes=False)
    try:
        async with client(stack.api_url) as http:
            body = {"name": "ada", "password": stack.passwords["ada"], "device_id": str(uuid4()), "device_name": "test"}
            session = await http.post("/v1/staff/login", json=body)
            yield House(stack, browsers, db, http, session.json()["access_token"])
    finally:
        await db.close()


@dataclass
class Fan:
    """Somebody with a browser, at the page of one event."""

    house: House
    page: Browser
    event_id: int

    @property
    def url(self) -> str:
        return f"{self.house.stack.page_url}/events/{self.event_id}"

    async def come(self) -> None:
        await self.page.open(self.url)

    async def join(self) -> None:
        """Join the queue and wait for the turn."""
        await self.page.until_view("join")
        await self.page.click("main .main")

    async def pick_best(self, count: int = 1) -> None:
        """The best seats together, held."""
        await self.page.until_view("pick")
        await self.page.until_shown("#best-go")
        await self.page.choose("#best-count", str(count))
        await self.page.click("#best-go")
        await self.page.until_view("hold")

    async def check_out(self) -> None:
        await self.page.click("#checkout")
        await self.page.until_view("pay")

    async def pay(self, card: str = "card-approve") -> None:
        await self.page.choose("#card", card)
        await self.page.click("#pay")

    async def until_tickets(self, count: int) -> list[str]:
        """The codes of the tickets, once all are there."""
        page = self.page
        await page.until_view("tickets")

        async def all_there() -> bool:
            return bool(await page.run("return document.querySelectorAll('.ticket').length === arguments[0]", count))

        await page.until(all_there, f"{count} tickets")
        codes: list[str] = await page.run("return [...document.querySelectorAll('.code')].map((e) => e.textContent)")
        return codes

    async def kept_account(self) -> dict[str, str]:
        """What the browser keeps of the account."""
        found: dict[str, str] = json.loads(await self.page.run("return localStorage['taquilla.account']"))
        return found

    async def keep_account(self, **changes: object) -> None:
        """Change what the browser keeps of the account, as time or another tab would."""
        kept = {**await self.kept_account(), **changes}
        await self.page.run("localStorage['taquilla.account'] = arguments[0]", json.dumps(kept))

    async def spare_key(self) -> str:
        """A key for another device, as *Continue on another device* shows it."""
        body = {"secret": (await self.kept_account())["secret"], "spare_secret": secrets.token_urlsafe(24)}
        answer = await self.house.http.post("/v1/renewals/spare", json=body)
        assert answer.status_code == 201, answer.text
        return body["spare_secret"]

    async def is_well_made(self) -> bool:
        """Nothing lies beside the screen, and a screen reader can name whatever can be used."""
        nodes = (await self.page.devtools("Accessibility.getFullAXTree"))["nodes"]
        used = [node for node in nodes if node.get("role", {}).get("value") in _USED and not node["ignored"]]
        assert used
        assert [node["role"]["value"] for node in used if not node.get("name", {}).get("value", "").strip()] == []
        return bool(await self.page.run("return document.documentElement.scrollWidth <= innerWidth"))


@asynccontextmanager
async def fan_at(house: House, event_id: int) -> AsyncIterator[Fan]:
    """A new fan, in a browser that was never anywhere; what its page complained about fails the test."""
    async with house.browsers.lent() as page:
        fan = Fan(house, page, event_id)
        await fan.come()
        yield fan
        secure = [line for line in await page.console() if "Content Security Policy" in line or "Trusted" in line]
        assert secure == []
