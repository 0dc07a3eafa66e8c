"""A house of its own for each cell: a database, an event on sale, the provider in its process, workers called by hand.

`api` drives what it opens at its provider, `quiet` is an API that has no provider: what it opens, a worker finds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx

from booking.domain.caller import Role
from booking.domain.model import PaymentOperation
from booking.domain.states import OperationKind
from booking.payments import sandbox_events
from booking.payments.pace import CheckoutPace
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_http import Call, LoopbackServer, Reply
from booking.payments.sandbox_webhooks import SIGNATURE_HEADER
from booking.services import issue_tickets, settle_items, take_payment
from booking.services.choose_provider import ProviderChoice
from booking.services.orders import order_as_it_stands
from booking.services.payment_desk import PaymentDesk
from booking.services.sweep_expired import sweep_once
from booking.services.webhooks import Webhooks, apply_waiting
from booking.store.database import Database
from booking.web.application import create_app
from booking.web.calls import ProviderServices
from booking.workers.payment_worker import PaymentWorker
from booking.workers.reconciliation_worker import ReconciliationWorker
from tests.matrix.processes import Started
from tests.matrix.sides import SECRET, SandboxSide
from tests.server.box_office import ADULT, ADULT_PRICE, Clock, make_event
from tests.server.web_api import Api

ROUNDS = 12
AFTERWARDS_S = 3_600.0
"""Long after everything is known: whatever waits for time alone has become what it becomes."""
EVENTS_WITHIN_S = 60.0
WORKERS_WITHIN_S = 120.0
PATIENT_S = 20.0
"""How long the provider is waited for where it is not to hang: a slow machine is no fault of a cell."""
_ENDED = ("SUCCEEDED", "DECLINED")


@dataclass
class House:
    """See the module."""

    dsn: str
    db: Database
    clock: Clock
    sandbox: SandboxSide
    provider: SandboxProvider
    worker: PaymentWorker
    webhooks: Webhooks
    api: Api
    quiet: Api
    event_id: int
    folder: Path
    anew: bool
    events_port: int
    free_seat: int = 0
    heard: list[str] = field(default_factory=list)
    """What became of the provider's events, as they came."""

    # ------------------------------------------------------------ steps of a sale, over the API

    async def post(self, api: Api, path: str, body: object, token: str, key: str | None = None) -> Any:
        """One call that has to succeed; its answer."""
        answer = await api.call("POST", path, body, token=token, key=key)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()

    async def ordered(self, token: str, seats: int = 2) -> dict[str, Any]:
        """An order of some seats of 40.00 each that nobody has paid."""
        chosen = list(range(self.free_seat, self.free_seat + seats))
        self.free_seat += seats
        held = await self.post(self.quiet, f"/v1/events/{self.event_id}/holds", {"seats": chosen}, token)
        lines = [{"seat_no": seat, "price_type_id": ADULT} for seat in chosen]
        asked = {"lines": lines, "shown_total_minor": ADULT_PRICE * seats}
        order: dict[str, Any] = await self.post(self.quiet, f"/v1/holds/{held['hold_id']}/checkout", asked, token)
        return order

    async def staff(self, role: Role) -> str:
        return await self.quiet.staff(role, uuid4())

    async def operation(self, order_id: str, kind: OperationKind) -> PaymentOperation:
        """The newest operation of a kind."""
        order = await order_as_it_stands(self.db, UUID(order_id))
        return [one for one in order.operations if one.kind is kind][-1]

    async def item(self) -> dict[str, Any]:
        """The one item that is open."""
        rows = await self.db.fetch("SELECT item_id, version FROM reconciliation_items WHERE resolved_at IS NULL")
        assert len(rows) == 1, rows
        return dict(rows[0])

    # ------------------------------------------------------------ the workers

    async def all_due(self) -> None:
        """Nobody waits for a pause between two questions."""
        await self.db.fetch(
            "UPDATE payment_operations SET next_attempt_at = booking_now()"
            " WHERE next_attempt_at IS NOT NULL AND provider = 'sandbox'"
        )
        await self.db.fetch(
            "UPDATE provider_events SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL"
        )

    async def round(self) -> None:
        """Every worker once."""
        await self.all_due()
        await apply_waiting(self.db)
        await self.worker.work_once()
        await settle_items.end_settled_items(self.db)
        await issue_tickets.issue_new(self.db)

    async def rest(self) -> None:
        """The fault is gone: until nothing is open, and then for an hour more."""
        if self.anew:
            await self._let_workers_work()
        for _ in range(ROUNDS):
            await self.round()
            if not await self.unsettled():
                break
        await self.clock.move(seconds=AFTERWARDS_S)
        for _ in range(2):
            await sweep_once(self.db)
            await ReconciliationWorker(self.db, {"sandbox": self.provider}).work_once()
            await self.round()

    async def _let_workers_work(self) -> None:
        """A process of all workers, at their own pace, until nothing is open: the rounds then find nothing to do."""
        ready = self.folder / "worker.ready"
        worker = Started(
            "worker", self.folder, anew=True, ready_file=str(ready), dsn=self.dsn, sandbox_url=self.sandbox.url,
            parent=os.getpid(),
        )  # fmt: skip
        await worker.ready(ready)
        try:
            async with asyncio.timeout(WORKERS_WITHIN_S):
                while await self.unsettled():
                    await asyncio.sleep(0.1)
        finally:
            await worker.kill()

    async def unsettled(self) -> list[tuple[str, str]]:
        """(kind, status) of what has no end yet."""
        rows = await self.db.fetch(
            "SELECT kind, status FROM payment_operations WHERE status <> ALL($1) AND NOT at_till", list(_ENDED)
        )
        return [(row["kind"], row["status"]) for row in rows]

    async def listen(self) -> None:
        """From now on the provider tells of what it does."""
        await self.sandbox.tell("webhooks", url=f"http://127.0.0.1:{self.events_port}/v1/webhooks/sandbox")

    async def heard_all(self, expected: int) -> None:
        """Wait until so many events have come."""
        async with asyncio.timeout(EVENTS_WITHIN_S):
            while len(self.heard) < expected:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def open_house(dsn: str, folder: Path, *, anew: bool) -> AsyncIterator[House]:
    """A house on the database at `dsn`. `anew`: processes are started, not forked."""
    async with AsyncExitStack() as stack:
        db = await Database.open(dsn, application="matrix")
        stack.push_async_callback(db.close)
        clock = Clock(db)
        await clock.install()
        sandbox = SandboxSide(folder, anew)
        await sandbox.start()
        stack.push_async_callback(sandbox.end)
        provider = SandboxProvider(sandbox.url, answer_timeout_s=PATIENT_S)
        stack.push_async_callback(provider.close)
        webhooks = Webhooks(db, {"sandbox": sandbox_events.endpoint(SECRET)})
        desk = PaymentDesk(db, {"sandbox": provider}, CheckoutPace())
        stack.push_async_callback(desk.close)
        choice = ProviderChoice(db)
        api = await _api(stack, db, ProviderServices(desk, webhooks, choice))
        quiet = await _api(stack, db, ProviderServices(choice=choice))
        heard: list[str] = []

        async def take(call: Call) -> Reply:
            heard.append(await webhooks.receive("sandbox", call.body, call.headers[SIGNATURE_HEADER.lower()]))
            return Reply(200)

        events = LoopbackServer(take)
        await events.start()
        stack.push_async_callback(events.close)
        await issue_tickets.prepare(db)
        event_id = await make_event(db)
        worker = PaymentWorker(db, {"sandbox": provider})
        house = House(
            dsn, db, clock, sandbox, provider, worker, webhooks, api, quiet, event_id, folder, anew, events.port,
            heard=heard,
        )  # fmt: skip
        yield house


async def _api(stack: AsyncExitStack, db: Database, providers: ProviderServices) -> Api:
    app = create_app(db, providers=providers)
    app.start()
    stack.push_async_callback(app.stop)
    client = await stack.enter_async_context(
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", timeout=30, verify=False)
    )
    return Api(app, client, db)


async def one_person_is_enough(db: Database) -> None:
    """No act needs a second person: that is proven elsewhere."""
    await db.fetch(
        "INSERT INTO reconciliation_settings (second_person_above_minor) VALUES (NULL)"
        " ON CONFLICT (one_row) DO UPDATE SET second_person_above_minor = NULL"
    )


async def sent(house: House, operation_id: UUID) -> None:
    """SENT is committed."""
    assert await take_payment.mark_sent(house.db, operation_id)
