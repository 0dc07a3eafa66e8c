"""Stripe as the tests have it: a referee for each file of tests, charges, and a house whose money goes there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import pytest

from booking.domain.model import OperationResult, PaymentIntent, PaymentOperation, PaymentStep, ResultOutcome
from booking.domain.states import OperationKind
from booking.payments import stripe_events
from booking.payments.pace import CheckoutPace
from booking.payments.sandbox_http import Call, LoopbackServer, Reply
from booking.payments.stripe_calls import StripeCalls
from booking.payments.stripe_provider import StripeProvider
from booking.payments.stripe_terminal import StripeTerminalProvider
from booking.services import providers, take_payment
from booking.services.orders import order_as_it_stands
from booking.services.payment_desk import PaymentDesk
from booking.services.webhooks import Webhooks
from booking.store.database import Database
from booking.workers.payment_worker import PaymentWorker
from tests.payments_lab.processes import HOOK_SECRET, KEY, Lab, payments_lab
from tests.server.box_office import Desk, digest_of, fan, make_event
from tests.unit.payments.conftest import operation

PATIENCE_S, HASTE_S = 10.0, 1.0


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with payments_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture
def lab(running: Lab) -> Lab:
    running.control("DELETE", "faults")
    return running


@dataclass
class Under:
    """The provider under test; `kept` is what it had remembered of each operation."""

    lab: Lab
    calls: StripeCalls
    provider: StripeProvider
    terminal: StripeTerminalProvider
    kept: dict[str, str] = field(default_factory=dict)

    def fault(self, on: str, fault: str, times: int = 1, seconds: float = 0.0) -> None:
        """Plan a fault. Only who hangs is given up soon: a busy machine is no fault."""
        if fault.startswith("hang"):
            self.calls._timeout_s = HASTE_S
        self.lab.control("POST", "faults", {"on": on, "fault": fault, "times": times, "seconds": seconds})

    def fired(self, name: str) -> int:
        fired = self.lab.control("GET", "faults")["fired"]
        assert isinstance(fired, dict)
        return int(fired.get(name, 0))

    def kept_of(self, asked: PaymentOperation) -> PaymentOperation:
        """As the database would have it by now."""
        return replace(asked, provider_ref=asked.provider_ref or self.kept.get(asked.idempotency_key, ""))

    async def settle(
        self, ask: Callable[[PaymentOperation], Awaitable[OperationResult]], asked: PaymentOperation
    ) -> OperationResult:
        """As a worker drives it: ask, then enquire, then the same again, until there is an answer."""
        result: OperationResult | None = await ask(asked)
        self.calls._timeout_s = PATIENCE_S
        for _ in range(6):
            if result is not None and result.outcome is not ResultOutcome.UNKNOWN:
                return result
            asked = replace(self.kept_of(asked), attempts=asked.attempts + 1)
            result = await self.provider.enquire(asked) or await ask(asked)
        raise AssertionError("it never settled")

    def intents(self, asked: PaymentOperation) -> list[dict[str, Any]]:
        """All intents at the referee that bear the operation's key."""
        found = self.lab.ask("GET", "/v1/payment_intents?limit=100")["data"]
        assert isinstance(found, list)
        return [each for each in found if (each["metadata"] or {}).get("operation_id") == asked.idempotency_key]

    def money(self, reference: str) -> list[tuple[str, int]]:
        """What moved of a charge at the referee."""
        intent = self.lab.ask("GET", f"/v1/payment_intents/{reference}")
        charge = intent["latest_charge"]
        assert isinstance(charge, dict)
        entries = self.lab.ask("GET", "/v1/balance_transactions?limit=100&expand[]=data.source")["data"]
        assert isinstance(entries, list)
        mine = [
            (str(entry["type"]), int(entry["amount"]))
            for entry in entries
            if charge["id"] in (entry["source"]["id"], entry["source"].get("charge"))
        ]
        return sorted(mine)


@pytest.fixture
async def under(lab: Lab) -> AsyncIterator[Under]:
    calls = StripeCalls(KEY, api_url=lab.api, answer_timeout_s=PATIENCE_S)
    kept: dict[str, str] = {}

    async def remember(asked: PaymentOperation, reference: str) -> None:
        kept[asked.idempotency_key] = reference

    yield Under(lab, calls, StripeProvider(calls, remember), StripeTerminalProvider(calls, remember), kept)
    await calls.close()


def charge(**changes: Any) -> PaymentOperation:
    return operation(provider="stripe", payment_method="pm_card_visa", **changes)


@dataclass
class House:
    """A database whose payments go to the referee; what it tells by itself comes in over HTTP."""

    db: Database
    under: Under
    desk: PaymentDesk
    worker: PaymentWorker
    webhooks: Webhooks
    event_id: int
    became: list[tuple[bytes, str]]
    """Each event as it came in, and what became of it: the referee tells late, also of a test before."""
    seat: int = 0

    def became_of(self, intent: str) -> list[str]:
        return [outcome for body, outcome in self.became if intent.encode() in body]

    async def open(self, provider: str, method: str, seller: Desk | None = None) -> PaymentStep:
        desk = seller or Desk(self.db, fan(), self.event_id)
        order = await desk.check_out(await desk.hold(self.seat))
        self.seat += 1
        intent = PaymentIntent(OperationKind.AUTHORIZE, provider, order.amount_minor, payment_method=method)
        outcome = await take_payment.open_payment(
            self.db, desk.caller, order.order_id, intent, key=str(uuid4()), digest=digest_of(intent)
        )
        return outcome.value

    async def statuses(self, step: PaymentStep) -> dict[str, str]:
        order = await order_as_it_stands(self.db, step.order.order_id)
        return {"order": order.status.value, **{op.kind.value: op.status.value for op in order.operations}}

    async def work(self, rounds: int = 1) -> None:
        for _ in range(rounds):
            await self.db.fetch(
                "UPDATE payment_operations SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL"
            )
            await self.worker.work_once()

    async def until(self, step: PaymentStep, status: str, kind: str = "order") -> None:
        async with asyncio.timeout(60):
            while (await self.statuses(step)).get(kind) != status:
                await asyncio.sleep(0.05)

    async def work_until(self, step: PaymentStep, status: str, kind: str = "order") -> None:
        """Rounds of the worker until it is so, however long the processes of the lab take."""
        async with asyncio.timeout(60):
            while (await self.statuses(step)).get(kind) != status:
                await self.work()
                await asyncio.sleep(0.05)


@pytest.fixture
async def house(database: Database, lab: Lab) -> AsyncIterator[House]:
    calls = StripeCalls(KEY, api_url=lab.api, answer_timeout_s=PATIENCE_S)

    async def remember(asked: PaymentOperation, reference: str) -> None:
        await providers.remember_reference(database, asked, reference)

    online, at_reader = StripeProvider(calls, remember), StripeTerminalProvider(calls, remember)
    own = {"stripe": online, "stripe-terminal": at_reader}
    webhooks = Webhooks(database, {"stripe": stripe_events.endpoint(HOOK_SECRET.encode())})
    became: list[tuple[bytes, str]] = []

    async def receive(call: Call) -> Reply:
        outcome = await webhooks.receive("stripe", call.body, call.headers.get("stripe-signature", ""))
        became.append((call.body, outcome))
        return Reply(200)

    server = LoopbackServer(receive)
    await server.start()
    lab.control("POST", "hooks", {"url": f"http://127.0.0.1:{server.port}/"})
    desk = PaymentDesk(database, own, CheckoutPace(), look_every_s=0.05)
    house = House(
        database, Under(lab, calls, online, at_reader), desk, PaymentWorker(database, own), webhooks,
        await make_event(database), became,
    )  # fmt: skip
    yield house
    lab.control("POST", "hooks", {"url": ""})
    await desk.close()
    await server.close()
    await calls.close()
