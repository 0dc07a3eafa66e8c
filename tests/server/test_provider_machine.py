"""Answers, time-outs, enquiries, events and deaths in every order that Hypothesis thinks of, on a real database.

The provider is a double in this process: its books are a sandbox's, and the machine decides of each answer whether it
arrives. At every moment no order has two charges that may take money; at the end, when the network is well again, the
provider's books and ours say the same, nothing is unknown, and `check` is clean.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Coroutine
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from booking.domain.errors import (
    BookingError,
    HoldExpiredError,
    OrderNotPayableError,
    PaymentRunningError,
    TooLittleTimeError,
)
from booking.domain.model import OperationResult, PaymentIntent, PaymentOperation, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus
from booking.payments import sandbox_events
from booking.payments.exponents import provider_amount
from booking.payments.provider import MovementPage
from booking.payments.sandbox_ledger import (
    ChargeStatus,
    Kind,
    Operation,
    Request,
    SandboxLedger,
    Status,
)
from booking.payments.sandbox_server import Sandbox
from booking.payments.signatures import sign
from booking.services import drive_operation, take_payment
from booking.services.check_invariants import check
from booking.services.orders import order_as_it_stands
from booking.services.webhooks import Webhooks, apply_waiting
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, digest_of, fan, make_event
from tests.server.database_shelf import DatabaseShelf

SECRET = b"of the machine"
OUTCOMES = {
    Status.SUCCEEDED: ResultOutcome.SUCCEEDED,
    Status.DECLINED: ResultOutcome.DECLINED,
    Status.ACTION_REQUIRED: ResultOutcome.ACTION_REQUIRED,
}
T = TypeVar("T")
MOST_ORDERS = 4
METHODS = st.sampled_from(["card-approve", "card-approve", "card-decline", "card-3ds"])
FORTUNES = st.sampled_from(
    [
        [], ["mute"], ["deaf"], ["well", "mute"], ["well", "deaf"], ["mute", "deaf"], ["deaf", "mute"],
        ["well", "deaf", "deaf"], ["deaf", "deaf", "well", "deaf"], ["mute", "mute", "well", "mute"],
    ]
)  # fmt: skip


@dataclass
class Double:
    """A provider in this process. `fortunes` of the next calls: well, mute (heard, and not answered), or deaf."""

    ledger: SandboxLedger
    fortunes: list[str] = field(default_factory=list)
    name: str = "sandbox"

    @property
    def fortune(self) -> str:
        return self.fortunes.pop(0) if self.fortunes else "well"

    async def authorize(self, operation: PaymentOperation) -> OperationResult:
        return self._ask(lambda: self._authorize(operation))

    async def capture(self, operation: PaymentOperation) -> OperationResult:
        return self._ask(lambda: self.ledger.carry_out(_request(Kind.CAPTURE, operation)))

    async def void(self, operation: PaymentOperation) -> OperationResult:
        return self._ask(lambda: self.ledger.carry_out(_request(Kind.VOID, operation)))

    async def refund(self, operation: PaymentOperation) -> OperationResult:
        return self._ask(lambda: self.ledger.carry_out(_request(Kind.REFUND, operation)))

    async def withdraw(self, operation: PaymentOperation) -> OperationResult:
        return self._ask(lambda: self.ledger.withdraw(_request(Kind.AUTHORIZE, operation)))

    async def enquire(self, operation: PaymentOperation) -> OperationResult | None:
        if self.fortune != "well":
            return OperationResult(ResultOutcome.UNKNOWN, 0)
        known = self.ledger.operations.get(operation.idempotency_key)
        return None if known is None else _result(known)

    async def page_secret(self, operation: PaymentOperation) -> str:
        return ""

    async def list_movements(self, since: datetime, until: datetime, cursor: str = "") -> MovementPage:
        return MovementPage(())

    async def close(self) -> None:
        return

    def _authorize(self, operation: PaymentOperation) -> Operation:
        refuse = "card-declined" if operation.payment_method == "card-decline" else ""
        return self.ledger.carry_out(
            _request(Kind.AUTHORIZE, operation), refuse_with=refuse, needs_action=operation.payment_method == "card-3ds"
        )

    def _ask(self, act: Any) -> OperationResult:
        fortune = self.fortune
        if fortune == "deaf":
            return OperationResult(ResultOutcome.UNKNOWN, 0)
        done: Operation = act()
        return OperationResult(ResultOutcome.UNKNOWN, 0) if fortune == "mute" else _result(done)


def _request(kind: Kind, operation: PaymentOperation) -> Request:
    amount = provider_amount("sandbox", operation.currency, operation.amount_minor)
    charge = "" if kind is Kind.AUTHORIZE else operation.provider_ref
    method = operation.payment_method if kind is Kind.AUTHORIZE else ""
    return Request(operation.idempotency_key, kind, amount, operation.currency, method, charge)


def _result(done: Operation) -> OperationResult:
    outcome = OUTCOMES[done.status]
    return OperationResult(
        outcome,
        0 if outcome is ResultOutcome.DECLINED else done.request.amount,
        provider_ref=done.charge,
        decline_code=done.decline_code,
        next_action="challenge" if outcome is ResultOutcome.ACTION_REQUIRED else "",
    )


class Payments(RuleBasedStateMachine):
    """A few orders, with payments that meet every fortune."""

    shelf: DatabaseShelf
    events_delivered = 0
    ended: Counter[str]

    @initialize(plan=st.lists(st.tuples(METHODS, FORTUNES), min_size=MOST_ORDERS, max_size=MOST_ORDERS))
    def begin(self, plan: list[tuple[str, list[str]]]) -> None:
        """Every example has payments that met something: the rules then go on from there."""
        self.stack = ExitStack()
        self.runner = self.stack.enter_context(asyncio.Runner())
        self.name = self.shelf.take()
        self.db = self.run(Database.open(self.shelf.dsn(self.name), application="machine"))
        self.clock = Clock(self.db)
        self.run(self.clock.install())
        self.event_id = self.run(make_event(self.db, seats=20))
        self.sandbox = Sandbox()
        self.sandbox.ledger.on_change = self.heard
        self.provider = Double(self.sandbox.ledger)
        self.webhooks = Webhooks(self.db, {"sandbox": sandbox_events.endpoint(SECRET)})
        self.desks: dict[UUID, Desk] = {}
        self.events: list[dict[str, Any]] = []
        for which, (method, fortunes) in enumerate(plan):
            self.pay(which, method, at_once=True, fortunes=fortunes)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def heard(self, operation: Operation) -> None:
        name = f"evt_{operation.request.operation_id}_{operation.status.value}"
        kind = f"{operation.request.kind.value}.{operation.status.value}"
        self.events.append({"id": name, "type": kind, "created": 0, "data": self.sandbox.answer_body(operation)})

    # ------------------------------------------------------------ what a buyer does

    @rule(
        which=st.integers(0, MOST_ORDERS - 1),
        method=METHODS,
        at_once=st.sampled_from([True, True, False]),
        fortunes=FORTUNES,
    )
    def pay(self, which: int, method: str, at_once: bool, fortunes: list[str]) -> None:
        if which >= len(self.desks):
            desk = Desk(self.db, fan(), self.event_id)
            self.desks[self.run(_ordered(desk, 2 * len(self.desks)))] = desk
        order_id = list(self.desks)[which % len(self.desks)]
        order = self.run(order_as_it_stands(self.db, order_id))
        intent = PaymentIntent(OperationKind.AUTHORIZE, "sandbox", order.amount_minor, payment_method=method)
        try:
            opened = self.run(
                take_payment.open_payment(
                    self.db, self.desks[order_id].caller, order_id, intent, key=str(uuid4()), digest=digest_of(intent)
                )
            )
        except (PaymentRunningError, OrderNotPayableError, HoldExpiredError, TooLittleTimeError):
            return
        if at_once:
            self.provider.fortunes[:] = fortunes
            self.run(drive_operation.take_at_once(self.db, self.provider, opened.value.operation))

    @rule(approve=st.booleans())
    def answer_a_challenge(self, approve: bool) -> None:
        for operation in self.sandbox.ledger.operations.values():
            if operation.status is Status.ACTION_REQUIRED:
                self.sandbox.ledger.complete_action(operation.request.operation_id, approve=approve)
                return

    @precondition(lambda self: self.desks)
    @rule(which=st.integers(0, MOST_ORDERS - 1), fortunes=FORTUNES)
    def call_off(self, which: int, fortunes: list[str]) -> None:
        self.provider.fortunes[:] = fortunes
        order_id = list(self.desks)[which % len(self.desks)]
        for operation in self.operations(order_id):
            with suppress(BookingError):
                self.run(drive_operation.withdraw(self.db, self.provider, operation))

    # ------------------------------------------------------------ what the network and time do

    @rule(seconds=st.sampled_from([1, 20, 60, 130, 400]))
    def time_passes(self, seconds: int) -> None:
        self.run(self.clock.move(seconds=seconds))

    @precondition(lambda self: self.events)
    @rule(which=st.integers(0, 30), twice=st.booleans())
    def an_event_comes(self, which: int, twice: bool) -> None:
        event = self.events[which % len(self.events)]
        for _ in range(2 if twice else 1):
            self.deliver(event)

    @precondition(lambda self: self.events)
    @rule(which=st.integers(0, 30))
    def an_event_is_lost(self, which: int) -> None:
        del self.events[which % len(self.events)]

    @rule(fortunes=FORTUNES)
    def the_worker_works(self, fortunes: list[str]) -> None:
        self.provider.fortunes[:] = fortunes
        for operation in self.run(take_payment.due_operations(self.db, 32)):
            step = self.run(drive_operation.drive(self.db, self.provider, operation))
            if step is not None:
                self.run(drive_operation.follow_up(self.db, self.provider, step))

    @precondition(lambda self: self.desks)
    @rule(which=st.integers(0, MOST_ORDERS - 1))
    def a_driver_dies_having_sent(self, which: int) -> None:
        """SENT is committed, the request is heard, and nobody is there for the answer."""
        order_id = list(self.desks)[which % len(self.desks)]
        for operation in self.operations(order_id):
            if operation.status is OperationStatus.CREATED and self.run(
                take_payment.mark_sent(self.db, operation.operation_id)
            ):
                ask = {"authorize": self.provider.authorize, "capture": self.provider.capture}.get(operation.kind.value)
                if ask is not None:
                    self.run(ask(operation))

    def operations(self, order_id: UUID) -> tuple[PaymentOperation, ...]:
        return self.run(order_as_it_stands(self.db, order_id)).operations

    def deliver(self, event: dict[str, Any]) -> None:
        type(self).events_delivered += 1
        body = json.dumps(event).encode()
        # Signed by the clock that the receiver goes by: events that come late are signed anew.
        now = self.run(self.clock.now())
        assert self.run(self.webhooks.receive("sandbox", body, sign(body, SECRET, now))) in {
            "applied",
            "seen",
            "parked",
        }

    # ------------------------------------------------------------ what is always so

    @invariant()
    def no_order_has_two_charges(self) -> None:
        for order_id in getattr(self, "desks", ()):
            keys = {op.idempotency_key for op in self.operations(order_id) if op.kind is OperationKind.AUTHORIZE}
            held = [
                charge for charge in self.sandbox.ledger.charges.values()
                if charge.operation_id in keys and charge.status is ChargeStatus.CAPTURED
            ]  # fmt: skip
            assert len(held) <= 1, held

    def teardown(self) -> None:
        if not hasattr(self, "stack"):
            return
        try:
            self.settle()
        finally:
            self.run(self.db.close())
            self.stack.close()
            self.shelf.give_back(self.name)

    def settle(self) -> None:
        """The network is well, and everything that is open comes due, until nothing is left to do."""
        for _ in range(6):
            for event in list(self.events):
                self.deliver(event)
            self.run(self.clock.move(seconds=400))
            self.run(_all_due(self.db))
            self.run(apply_waiting(self.db))
            self.the_worker_works(fortunes=[])
        for order_id in self.desks:
            self.compare(order_id)
        report = self.run(check(self.shelf.dsn(self.name)))
        assert [breach for breach in report.breaches if breach.rule != "clock-is-the-servers"] == []

    def compare(self, order_id: UUID) -> None:
        operations = self.operations(order_id)
        assert all(op.status in (OperationStatus.SUCCEEDED, OperationStatus.DECLINED) for op in operations), operations
        for op in operations:
            known = self.sandbox.ledger.operations.get(op.idempotency_key)
            if op.status is OperationStatus.SUCCEEDED:
                assert known is not None
                assert known.status is Status.SUCCEEDED
            elif known is not None:
                assert known.status is Status.DECLINED
        order = self.run(order_as_it_stands(self.db, order_id))
        keys = {op.idempotency_key for op in operations if op.kind is OperationKind.AUTHORIZE}
        charges = [op for op in operations if op.kind is OperationKind.AUTHORIZE]
        self.ended[f"{order.status} {charges[-1].status if charges else 'NONE'}"] += 1
        taken = sum(c.captured for c in self.sandbox.ledger.charges.values() if c.operation_id in keys)
        assert taken == (order.amount_minor if order.status == "CONFIRMED" else 0)


async def _ordered(desk: Desk, seat: int) -> UUID:
    return (await desk.check_out(await desk.hold(seat, seat + 1))).order_id


async def _all_due(db: Database) -> None:
    await db.fetch("UPDATE payment_operations SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL")
    await db.fetch("UPDATE provider_events SET next_attempt_at = booking_now() WHERE next_attempt_at IS NOT NULL")


def run_machine(shelf: DatabaseShelf, examples: int, steps: int, *, shrinks: bool) -> None:
    """Without shrinking a failure is told at once, in as many steps as it took."""

    class Machine(Payments):
        ended: Counter[str] = Counter()  # noqa: RUF012 - one for all examples

    Machine.shelf = shelf
    phases = [Phase.generate, *([Phase.shrink] if shrinks else [])]
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    assert Machine.events_delivered > examples
    assert {"CONFIRMED SUCCEEDED", "EXPIRED DECLINED"} <= set(Machine.ended), Machine.ended


@pytest.mark.timeout(400)
def test_p10_p14_p15_p30_every_fortune_of_a_payment_ends_the_same(shelf: DatabaseShelf) -> None:
    run_machine(shelf, examples=15, steps=25, shrinks=False)


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_every_fortune_of_a_payment_for_long(shelf: DatabaseShelf) -> None:
    run_machine(shelf, examples=400, steps=50, shrinks=True)
