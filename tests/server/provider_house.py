"""An event on sale, a sandbox in this process, its provider, a worker by hand, and the endpoint of its events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from booking.domain.model import PaymentIntent, PaymentOperation, PaymentStep
from booking.domain.states import OperationKind
from booking.payments import sandbox_events
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_http import LoopbackServer
from booking.payments.sandbox_ledger import Kind, Operation
from booking.payments.sandbox_server import Sandbox
from booking.payments.signatures import sign
from booking.services import take_payment
from booking.services.orders import order_as_it_stands
from booking.services.webhooks import Webhooks, apply_waiting
from booking.store.database import Database
from booking.workers.payment_worker import PaymentWorker
from tests.server.box_office import Desk, digest_of, fan, make_event

SECRET = b"secret of the tests"
Event = dict[str, Any]


@dataclass
class ProviderHouse:
    """`events` are those that the sandbox would send, oldest first: the test delivers them as it likes."""

    db: Database
    sandbox: Sandbox
    server: LoopbackServer
    provider: SandboxProvider
    worker: PaymentWorker
    webhooks: Webhooks
    event_id: int
    events: list[Event] = field(default_factory=list)
    free_seat: int = 0

    async def open_payment(self, method: str = "card-approve") -> PaymentStep:
        """A fan's hold, checkout and authorization; nobody has been asked yet."""
        desk = Desk(self.db, fan(), self.event_id)
        order = await desk.check_out(await desk.hold(self.free_seat, self.free_seat + 1))
        self.free_seat += 2
        return await self.pay(desk, order.order_id, order.amount_minor, method)

    async def pay(self, desk: Desk, order_id: UUID, amount: int, method: str) -> PaymentStep:
        intent = PaymentIntent(OperationKind.AUTHORIZE, "sandbox", amount, payment_method=method)
        outcome = await take_payment.open_payment(
            self.db, desk.caller, order_id, intent, key=str(uuid4()), digest=digest_of(intent)
        )
        return outcome.value

    async def send(self, operation: PaymentOperation) -> None:
        """The provider hears of it, and its answer is lost: what becomes of it comes by events alone."""
        assert await take_payment.mark_sent(self.db, operation.operation_id)
        await {"authorize": self.provider.authorize, "capture": self.provider.capture}[operation.kind.value](operation)

    async def deliver(self, event: Event, *, ago_s: float = 0.0, secret: bytes = SECRET) -> str:
        """What became of the event."""
        body = json.dumps(event).encode()
        signature = sign(body, secret, datetime.now(UTC) - timedelta(seconds=ago_s))
        return await self.webhooks.receive("sandbox", body, signature)

    async def work(self, rounds: int = 1) -> None:
        """Rounds of both workers, with everything that is open due."""
        for _ in range(rounds):
            await self.db.fetch(
                "UPDATE payment_operations SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL"
            )
            await self.db.fetch(
                "UPDATE provider_events SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL"
            )
            await apply_waiting(self.db)
            await self.worker.work_once()

    async def statuses(self, order_id: UUID) -> dict[str, str]:
        order = await order_as_it_stands(self.db, order_id)
        return {"order": order.status.value, **{op.kind.value: op.status.value for op in order.operations}}

    async def operation(self, order_id: UUID, kind: OperationKind) -> PaymentOperation:
        """The newest operation of a kind."""
        order = await order_as_it_stands(self.db, order_id)
        return [op for op in order.operations if op.kind is kind][-1]

    async def stored(self) -> dict[str, str]:
        """Stored events and their states."""
        rows = await self.db.fetch("SELECT event_ref, state FROM provider_events")
        return {row["event_ref"]: row["state"] for row in rows}

    async def items(self) -> list[str]:
        rows = await self.db.fetch("SELECT kind FROM reconciliation_items WHERE resolved_at IS NULL ORDER BY kind")
        return [row["kind"] for row in rows]

    def by_hand(self, kind: Kind, charge: str, amount: int = 0) -> Operation:
        return self.sandbox.ledger.by_hand(kind, charge=charge, amount=amount)


@asynccontextmanager
async def provider_house(db: Database) -> AsyncIterator[ProviderHouse]:
    """Everything in this process, over `db`."""
    sandbox = Sandbox()
    server = LoopbackServer(sandbox.handle)
    await server.start()
    sandbox.url = f"http://127.0.0.1:{server.port}"
    provider = SandboxProvider(sandbox.url)
    house = ProviderHouse(
        db,
        sandbox,
        server,
        provider,
        PaymentWorker(db, {"sandbox": provider}),
        Webhooks(db, {"sandbox": sandbox_events.endpoint(b"an older secret", SECRET)}),
        await make_event(db, seats=400),
    )

    def note(operation: Operation) -> None:
        house.events.append(
            {
                "id": f"evt_{operation.request.operation_id}_{operation.status.value}",
                "type": f"{operation.request.kind.value}.{operation.status.value}",
                "created": operation.at,
                "data": sandbox.answer_body(operation),
            }
        )

    sandbox.ledger.on_change = note
    try:
        yield house
    finally:
        await provider.close()
        await server.close()
