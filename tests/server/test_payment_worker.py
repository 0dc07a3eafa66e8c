"""Operations are driven to their answer on a real database, against the sandbox, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from booking.domain.errors import CurrencyNotTakenError
from booking.domain.model import OperationResult, PaymentIntent, PaymentOperation, PaymentStep
from booking.domain.states import OperationKind, OperationStatus, SeatStatus
from booking.payments import exponents
from booking.payments.sandbox_client import SandboxProvider
from booking.payments.sandbox_faults import Fault, Planned
from booking.payments.sandbox_http import LoopbackServer
from booking.payments.sandbox_ledger import ChargeStatus
from booking.payments.sandbox_server import Sandbox
from booking.services import drive_operation, take_payment
from booking.services.orders import order_as_it_stands
from booking.store.database import Database
from booking.workers.payment_worker import PaymentWorker
from tests.payments_lab.haste import haste
from tests.server.box_office import Clock, Desk, count, digest_of, fan, make_event, seat_states

BEFORE_DONE = [Fault.HANG_BEFORE, Fault.DROP_BEFORE, Fault.STATUS_429, Fault.STATUS_500, Fault.STATUS_503]
AFTER_DONE = [Fault.HANG_AFTER, Fault.DROP_AFTER, Fault.BROKEN_ANSWER, Fault.STATUS_500_AFTER]


@dataclass
class House:
    """An event on sale, a sandbox, and a worker whose rounds are called by hand."""

    db: Database
    sandbox: Sandbox
    server: LoopbackServer
    provider: SandboxProvider
    worker: PaymentWorker
    event_id: int
    free_seat: int = field(default=0)

    async def open_payment(self, *, payment_method: str = "card-approve") -> PaymentStep:
        """A fan's hold, checkout and authorization, on seats of their own; nobody has been asked yet."""
        desk = Desk(self.db, fan(), self.event_id)
        order = await desk.check_out(await desk.hold(self.free_seat, self.free_seat + 1))
        self.free_seat += 2
        intent = PaymentIntent(OperationKind.AUTHORIZE, "sandbox", order.amount_minor, payment_method=payment_method)
        outcome = await take_payment.open_payment(
            self.db, desk.caller, order.order_id, intent, key=str(uuid4()), digest=digest_of(intent)
        )
        return outcome.value

    async def work(self, rounds: int = 1) -> None:
        """Rounds of the worker, each with every unsettled operation due."""
        for _ in range(rounds):
            await self.db.fetch(
                "UPDATE payment_operations SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL"
            )
            await self.worker.work_once()

    async def statuses(self, order_id: UUID) -> dict[str, str]:
        order = await order_as_it_stands(self.db, order_id)
        return {"order": order.status.value, **{op.kind.value: op.status.value for op in order.operations}}

    async def seats_of(self, order_id: UUID) -> set[SeatStatus]:
        states = await seat_states(self.db, self.event_id)
        lines = (await order_as_it_stands(self.db, order_id)).lines
        return {SeatStatus(states[line.seat.seat_no][0]) for line in lines}

    @property
    def charges(self) -> list[tuple[ChargeStatus, int]]:
        return [(charge.status, charge.captured) for charge in self.sandbox.ledger.charges.values()]


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    sandbox = Sandbox()
    server = LoopbackServer(sandbox.handle)
    await server.start()
    provider = SandboxProvider(f"http://127.0.0.1:{server.port}")
    worker = PaymentWorker(database, {"sandbox": provider})
    yield House(database, sandbox, server, provider, worker, await make_event(database))
    await provider.close()
    await server.close()


async def test_an_authorization_confirms_and_is_captured_at_once(house: House) -> None:
    step = await house.open_payment()
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    assert await house.statuses(step.order.order_id) == {
        "order": "CONFIRMED",
        "authorize": "SUCCEEDED",
        "capture": "SUCCEEDED",
    }
    assert await house.seats_of(step.order.order_id) == {SeatStatus.SOLD}
    assert house.charges == [(ChargeStatus.CAPTURED, step.order.amount_minor)]


async def test_a_decline_gives_the_seats_back_to_the_hold(house: House) -> None:
    step = await house.open_payment(payment_method="card-decline")
    settled = await drive_operation.authorize(house.db, house.provider, step.operation)
    assert settled is not None
    assert (settled.operation.status, settled.operation.decline_code) == (OperationStatus.DECLINED, "card-declined")
    assert settled.order.status == "PENDING"
    assert await house.seats_of(step.order.order_id) == {SeatStatus.HELD}


@pytest.mark.parametrize("fault", [*BEFORE_DONE, *AFTER_DONE])
async def test_p3_a_lost_answer_is_unknown_keeps_the_seats_and_converges_on_one_charge(
    house: House, fault: Fault
) -> None:
    step = await house.open_payment()
    house.sandbox.faults.planned.append(Planned("authorize", fault, 1))
    with haste(house.provider, fault):
        await drive_operation.take_at_once(house.db, house.provider, step.operation)
    assert await house.statuses(step.order.order_id) == {"order": "RECONCILING", "authorize": "UNKNOWN"}
    assert await house.seats_of(step.order.order_id) == {SeatStatus.PAYING}
    await house.work(rounds=2)
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"
    assert house.charges == [(ChargeStatus.CAPTURED, step.order.amount_minor)]
    assert house.sandbox.faults.fired == {f"authorize:{fault.value}": 1}


@pytest.mark.parametrize("fault", [*BEFORE_DONE, *AFTER_DONE])
async def test_r25_a_sale_stays_confirmed_while_its_capture_is_unknown(house: House, fault: Fault) -> None:
    step = await house.open_payment()
    house.sandbox.faults.planned.append(Planned("capture", fault, 1))
    settled = await drive_operation.authorize(house.db, house.provider, step.operation)
    assert settled is not None
    with haste(house.provider, fault):
        await drive_operation.follow_up(house.db, house.provider, settled)
    assert await house.statuses(step.order.order_id) == {
        "order": "CONFIRMED",
        "authorize": "SUCCEEDED",
        "capture": "UNKNOWN",
    }
    await house.work(rounds=2)
    assert (await house.statuses(step.order.order_id))["capture"] == "SUCCEEDED"
    assert house.charges == [(ChargeStatus.CAPTURED, step.order.amount_minor)]


@pytest.mark.parametrize("asked", [False, True])
async def test_b14_p5_a_driver_killed_around_the_request_is_taken_over(house: House, asked: bool) -> None:
    """SENT is committed; whether the provider was asked, only the provider knows."""
    step = await house.open_payment()
    assert await take_payment.mark_sent(house.db, step.operation.operation_id)
    if asked:
        await house.provider.authorize(step.operation)
    await house.work(rounds=2)
    assert (await house.statuses(step.order.order_id))["capture"] == "SUCCEEDED"
    assert house.charges == [(ChargeStatus.CAPTURED, step.order.amount_minor)]


async def test_b14_a_driver_killed_before_it_sent_is_taken_over(house: House) -> None:
    step = await house.open_payment()
    await house.work(rounds=2)
    assert (await house.statuses(step.order.order_id))["capture"] == "SUCCEEDED"


async def test_a_worker_killed_while_it_asks_loses_nothing(house: House) -> None:
    step = await house.open_payment(payment_method="card-hang-after")
    working = asyncio.create_task(house.work())
    async with asyncio.timeout(60):
        while not house.charges:
            await asyncio.sleep(0.005)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await house.work(rounds=2)
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"
    assert len(house.charges) == 1


async def test_p30_an_enquiry_without_an_answer_changes_nothing_and_waits_longer_each_time(house: House) -> None:
    step = await house.open_payment(payment_method="card-answer-lost")
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    house.sandbox.faults.planned.append(Planned("enquire", Fault.STATUS_500, 3))
    waits = []
    for _ in range(3):
        await house.work()
        assert (await house.statuses(step.order.order_id)) == {"order": "RECONCILING", "authorize": "UNKNOWN"}
        waits.append(
            await count(
                house.db, "SELECT extract(epoch FROM next_attempt_at - booking_now())::int FROM payment_operations"
            )
        )
    assert waits == sorted(waits)
    assert waits[0] < waits[-1]
    await house.work()
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"


class OneBadRow(SandboxProvider):
    """A provider that fails in its own code for one operation."""

    def __init__(self, url: str, bad: UUID) -> None:
        super().__init__(url)
        self._bad = bad

    async def authorize(self, operation: PaymentOperation) -> OperationResult:
        if operation.operation_id == self._bad:
            raise RuntimeError("a fault of ours")
        return await super().authorize(operation)


async def test_p32_one_bad_row_never_stops_the_run_and_comes_again(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    bad, *good = [await house.open_payment() for _ in range(3)]
    flawed = OneBadRow(f"http://127.0.0.1:{house.server.port}", bad.operation.operation_id)
    house.worker = PaymentWorker(house.db, {"sandbox": flawed})
    await house.work(rounds=2)
    await flawed.close()
    assert [(await house.statuses(step.order.order_id))["order"] for step in good] == ["CONFIRMED"] * 2
    assert "could not be driven" in caplog.text
    house.worker = PaymentWorker(house.db, {"sandbox": house.provider})
    await house.work(rounds=2)
    assert (await house.statuses(bad.order.order_id))["order"] == "CONFIRMED"


async def test_r25_money_for_a_sale_that_is_not_to_be_is_voided(house: House) -> None:
    """The event was cancelled while the answer was on its way."""
    step = await house.open_payment(payment_method="card-answer-lost")
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    await house.db.fetch("UPDATE events SET status = 'CANCELLED'")
    await house.work(rounds=2)
    statuses = await house.statuses(step.order.order_id)
    assert (statuses["order"], statuses["void"]) == ("CANCELLED", "SUCCEEDED")
    assert house.charges == [(ChargeStatus.VOIDED, 0)]
    assert await house.seats_of(step.order.order_id) == {SeatStatus.AVAILABLE}


async def test_after_the_buyers_time_an_unheard_authorization_is_closed_not_sent(house: House, clock: Clock) -> None:
    step = await house.open_payment(payment_method="card-500")
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    await clock.move(seconds=1000)
    await house.work()
    assert await house.statuses(step.order.order_id) == {"order": "EXPIRED", "authorize": "DECLINED"}
    assert house.charges == [(ChargeStatus.DECLINED, 0)]
    late = await house.provider.authorize(step.operation)
    assert late.decline_code == "withdrawn"


async def test_after_the_buyers_time_an_authorization_that_was_granted_still_confirms(
    house: House, clock: Clock
) -> None:
    """While its result was unknown nobody took the seats over (R7), so the late success is a sale."""
    step = await house.open_payment(payment_method="card-answer-lost")
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    await clock.move(seconds=1000)
    await house.work(rounds=2)
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"


async def test_an_authorization_that_was_never_sent_ends_with_the_buyers_time(house: House, clock: Clock) -> None:
    """The API that opened it died, and the workers that run were not told of its provider."""
    house.worker = PaymentWorker(house.db, {})
    step = await house.open_payment()
    await house.work()
    assert (await house.statuses(step.order.order_id))["authorize"] == "CREATED"
    await clock.move(seconds=1000)
    await house.work()
    assert await house.statuses(step.order.order_id) == {"order": "EXPIRED", "authorize": "DECLINED"}


@pytest.mark.parametrize(("approve", "order"), [(True, "CONFIRMED"), (False, "PENDING")])
async def test_a_challenge_is_settled_when_the_buyer_has_answered(house: House, approve: bool, order: str) -> None:
    step = await house.open_payment(payment_method="card-3ds")
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    await house.work()
    assert (await house.statuses(step.order.order_id))["authorize"] == "ACTION_REQUIRED"
    house.sandbox.ledger.complete_action(step.operation.idempotency_key, approve=approve)
    await house.work()
    assert (await house.statuses(step.order.order_id))["order"] == order


async def test_a_challenge_that_nobody_answers_ends_with_the_buyers_time(house: House, clock: Clock) -> None:
    step = await house.open_payment(payment_method="card-3ds")
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    await clock.move(seconds=1000)
    await house.work()
    assert await house.statuses(step.order.order_id) == {"order": "EXPIRED", "authorize": "DECLINED"}


async def test_p22_a_currency_that_the_provider_cannot_count_is_refused_before_anything_is_stored(house: House) -> None:
    house.event_id = await make_event(house.db, currency="TWD")
    with pytest.raises(CurrencyNotTakenError):
        await house.open_payment()
    assert await count(house.db, "SELECT count(*) FROM payment_operations") == 0
    assert house.sandbox.requests == 0


async def test_p22_a_provider_that_has_unlearned_a_currency_is_not_asked(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = await house.open_payment()
    monkeypatch.delitem(exponents.PROVIDER_EXPONENTS, ("sandbox", "EUR"))
    settled = await drive_operation.authorize(house.db, house.provider, step.operation)
    assert settled is not None
    assert (settled.operation.status, settled.operation.decline_code) == (OperationStatus.DECLINED, "unknown-exponent")
    assert house.sandbox.requests == 0


async def test_p1_two_workers_and_the_call_itself_ask_once(house: House) -> None:
    step = await house.open_payment()
    other = PaymentWorker(house.db, {"sandbox": house.provider})
    await asyncio.gather(
        drive_operation.authorize(house.db, house.provider, step.operation), house.work(), other.work_once()
    )
    assert len(house.charges) == 1
    assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE kind = 'authorize'") == 1


async def test_g7_r23_no_transaction_is_open_while_a_provider_is_asked(house: House) -> None:
    """All eight hang far longer than it takes to ask for them, so none is being recorded when we look."""
    steps = [await house.open_payment(payment_method="card-hang") for _ in range(8)]
    patient = SandboxProvider(f"http://127.0.0.1:{house.server.port}", answer_timeout_s=3)
    driving = [asyncio.create_task(drive_operation.authorize(house.db, patient, step.operation)) for step in steps]
    async with asyncio.timeout(60):
        while house.sandbox.requests < len(steps):
            await asyncio.sleep(0.005)
    open_transactions = await count(
        house.db,
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend' AND xact_start IS NOT NULL AND pid <> pg_backend_pid()",
    )
    assert not any(task.done() for task in driving)
    await asyncio.gather(*driving)
    await patient.close()
    assert open_transactions == 0


async def test_evidence_of_every_attempt_is_kept(house: House) -> None:
    step = await house.open_payment(payment_method="card-answer-lost")
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    await house.work(rounds=2)
    rows = await house.db.fetch(
        "SELECT source, direction, body FROM operation_evidence WHERE operation_id = $1 ORDER BY evidence_id",
        step.operation.operation_id,
    )
    assert {row["source"] for row in rows} == {"provider:sandbox"}
    assert [row["direction"] for row in rows] == ["sent", "received"] * 2
    assert "unknown" in rows[1]["body"]
    assert "succeeded" in rows[3]["body"]


async def test_evidence_is_dated_by_the_database_and_not_by_who_drove_it(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host whose clock is wrong tells the pauses between what was asked and answered; the rest is not its to say."""
    await clock.move(seconds=5_000)
    heard, unsent = [await house.open_payment() for _ in range(2)]
    opened_at = await clock.now()
    await drive_operation.take_at_once(house.db, house.provider, heard.operation)
    monkeypatch.delitem(exponents.PROVIDER_EXPONENTS, ("sandbox", "EUR"))
    await drive_operation.authorize(house.db, house.provider, unsent.operation)
    rows = await house.db.fetch("SELECT operation_id, at, body FROM operation_evidence ORDER BY evidence_id")
    assert [row["operation_id"] for row in rows].count(unsent.operation.operation_id) == 1
    assert len(rows) == 5
    now = await clock.now()
    assert all(opened_at <= row["at"] <= now for row in rows)
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)


async def test_the_worker_runs_until_cancelled(house: House) -> None:
    step = await house.open_payment()
    await house.db.fetch("UPDATE payment_operations SET next_attempt_at = booking_now()")
    running = asyncio.create_task(house.worker.run())
    async with asyncio.timeout(60):
        while (await house.statuses(step.order.order_id)).get("capture") != "SUCCEEDED":
            await asyncio.sleep(0.02)
    running.cancel()
    assert isinstance((await asyncio.gather(running, return_exceptions=True))[0], asyncio.CancelledError)
