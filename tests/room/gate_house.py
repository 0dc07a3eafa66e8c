"""The authority's gate in tests: the real application, keys that it believes, tokens as the room signs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import time
from typing import Any
from uuid import UUID, uuid4

import httpx

from booking.domain.admission_token import Admission, session_digest
from booking.domain.caller import Caller
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind, OrderStatus
from booking.room.key_ring import KeyRing
from booking.services.hold_seats import read_hold
from booking.services.sign_in import create_account
from booking.services.take_payment import mark_sent, record_result
from booking.sql import query
from booking.store.database import Database
from tests.server.box_office import Desk
from tests.server.web_api import Api

SECRET = "the-secret-of-a-browser"


async def ring_of(db: Database) -> KeyRing:
    """A room's keys, published to the authority."""
    ring = KeyRing()
    ring.rotate(time())
    await publish(db, ring)
    return ring


async def publish(db: Database, ring: KeyRing) -> None:
    """As the room does it."""
    keys = {name: key.public_bytes_raw() for name, key in ring.published(time()).items()}
    await db.call(query("publish_admission_keys"), list(keys), list(keys.values()), sorted(ring.retired(time())))


@dataclass
class Shopper:
    """A fan whom the room may have let in."""

    api: Api
    ring: KeyRing
    event_id: int
    account_id: UUID
    token: str
    slot_id: UUID = field(default_factory=uuid4)

    @classmethod
    async def come(cls, api: Api, ring: KeyRing, event_id: int) -> Shopper:
        """A new account."""
        session = await create_account(api.db)
        return cls(api, ring, event_id, session.account_id, session.access_token)

    def admission(self, **changed: Any) -> str:
        """A token of the room; `changed` members win."""
        now = int(time())
        members: dict[str, Any] = {
            "slot_id": self.slot_id, "event_id": self.event_id, "account_id": self.account_id,
            "session": session_digest(SECRET), "generation": 1, "not_before": now - 1, "expires_at": now + 60,
            "slot_ends_at": now + 600,
        }  # fmt: skip
        return self.ring.sign(Admission(**(members | changed)), time())

    async def hold(
        self, seat: int, admission: str = "", secret: str = SECRET, key: str | None = None
    ) -> httpx.Response:
        """Hold one seat."""
        headers = {"Admission-Token": admission, "Admission-Session": secret} if admission else {}
        path = f"/v1/events/{self.event_id}/holds"
        return await self.api.call("POST", path, {"seats": [seat]}, token=self.token, key=key, headers=headers)

    async def buy(self, hold: httpx.Response) -> None:
        """Check a hold out and pay for it: what the provider answers is a success."""
        assert hold.status_code == 201, hold.text
        caller = Caller.fan(self.account_id)
        desk = Desk(self.api.db, caller, self.event_id)
        order = await desk.check_out(await read_hold(self.api.db, caller, UUID(hold.json()["hold_id"])))
        step = await desk.pay(order, OperationKind.AUTHORIZE)
        operation_id = step.operation.operation_id
        assert await mark_sent(self.api.db, operation_id)
        result = OperationResult(ResultOutcome.SUCCEEDED, amount_minor=order.amount_minor, provider_ref=str(uuid4()))
        done = await record_result(self.api.db, operation_id, result, source="provider:sandbox")
        assert done.order.status is OrderStatus.CONFIRMED
