"""No state waits for ever (R25): every row of the table in booking/services/README.md, nobody answering, then all.

Each row is made, left alone for forty minutes while the workers ask a provider that never answers, and has to have
ended or to have its item. Then provider and tills answer again: whatever can end ends, and its item with it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from booking.domain.caller import Caller, Role
from booking.domain.model import Evidence, OperationResult, PaymentOperation, ResultOutcome
from booking.domain.money_back import RefundWay, RefundWish
from booking.domain.states import OperationKind
from booking.services import drive_operation, money_back, settle_items, take_payment
from booking.services.issue_tickets import issue_new, prepare
from booking.services.orders import order_as_it_stands
from booking.services.tickets import tickets_of_order
from booking.store.database import Database
from booking.workers.payment_worker import PaymentWorker
from booking.workers.reconciliation_worker import ReconciliationWorker
from tests.server.box_office import Clock, Desk, reported, till
from tests.server.reconciliation_house import House, open_house

README = Path(__file__).parents[2] / "booking" / "services" / "README.md"
LONG = 40 * 60


def rows_of_the_table() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Operation → (order's status, kinds of its items)."""
    section = README.read_text("utf-8").split("## No state waits for ever")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (?!operation |---)(.+) \|$", section, re.MULTILINE)
    cells = [row.split(" | ") for row in rows]
    return {row[0]: (row[1], () if row[4] == "none" else tuple(sorted(row[4].split(", ")))) for row in cells}


ROWS = rows_of_the_table()


@dataclass
class Silent:
    """A provider that never answers."""

    name: str = "sandbox"

    async def _unknown(self, _: PaymentOperation) -> OperationResult:
        return OperationResult(ResultOutcome.UNKNOWN, 0)

    authorize = capture = void = refund = enquire = withdraw = _unknown


@dataclass
class World:
    """A house whose provider is silent, until it answers."""

    house: House
    clock: Clock
    clerk: Caller
    order_id: UUID = field(default_factory=uuid4)
    operation_id: UUID = field(default_factory=uuid4)

    async def wait(self, seconds: float) -> None:
        """Time goes by, and both workers do their rounds."""
        silent = {"sandbox": Silent()}
        for _ in range(4):
            await self.clock.move(seconds=seconds / 4)
            await PaymentWorker(self.house.db, silent).work_once()  # type: ignore[arg-type]
            await ReconciliationWorker(self.house.db, {}).work_once()

    async def operation(self, kind: OperationKind) -> PaymentOperation:
        operations = (await order_as_it_stands(self.house.db, self.order_id)).operations
        return next(op for op in operations if op.kind is kind)

    async def put(self, kind: OperationKind, status: str) -> None:
        """Bring an operation that is CREATED into a status, the way it gets there."""
        operation = await self.operation(kind)
        self.operation_id = operation.operation_id
        if status == "CREATED":
            return
        assert await take_payment.mark_sent(self.house.db, operation.operation_id)
        if status == "DECLINED":
            await self.house.record(operation.operation_id, ResultOutcome.DECLINED, code="refused")
        elif status == "UNKNOWN":
            await self.house.record(operation.operation_id, ResultOutcome.UNKNOWN)
        elif status == "ACTION_REQUIRED":
            await self.house.record(operation.operation_id, ResultOutcome.ACTION_REQUIRED)


Build = Callable[[World, str], Awaitable[None]]


async def authorization(w: World, status: str) -> None:
    step = await w.house.open_payment()
    w.order_id = step.order.order_id
    await w.put(OperationKind.AUTHORIZE, status)


async def terminal_sale(w: World, status: str) -> None:
    operation = await w.house.sell_at_terminal(w.clerk)
    w.order_id, w.operation_id = operation.order_id, operation.operation_id
    if status == "UNKNOWN":
        await reported(w.house.db, w.clerk, w.operation_id, OperationResult(ResultOutcome.UNKNOWN, 0))
    elif status == "SUCCEEDED, late":
        await w.house.db.fetch("UPDATE events SET status = 'CANCELLED'")
        await reported(
            w.house.db, w.clerk, w.operation_id, OperationResult(ResultOutcome.SUCCEEDED, operation.amount_minor)
        )
        await w.house.db.fetch("UPDATE events SET status = 'ON_SALE'")


async def capture(w: World, status: str) -> None:
    await authorization(w, "CREATED")
    await drive_operation.authorize(w.house.db, w.house.provider, await w.operation(OperationKind.AUTHORIZE))
    if status != "DECLINED":
        await prepare(w.house.db)
        await issue_new(w.house.db)
    await w.put(OperationKind.CAPTURE, status)


async def void(w: World, status: str) -> None:
    await authorization(w, "CREATED")
    await w.house.db.fetch("UPDATE events SET status = 'CANCELLED'")
    await drive_operation.authorize(w.house.db, w.house.provider, await w.operation(OperationKind.AUTHORIZE))
    await w.house.db.fetch("UPDATE events SET status = 'ON_SALE'")
    await w.put(OperationKind.VOID, status)


async def refund(w: World, status: str) -> None:
    w.order_id = (await w.house.sell()).order.order_id
    await open_refund(w, w.house.ana)
    await w.put(OperationKind.REFUND, status)


async def refund_at_a_till(w: World, _: str) -> None:
    operation = await w.house.sell_at_terminal(w.clerk)
    w.order_id = operation.order_id
    report = OperationResult(
        ResultOutcome.SUCCEEDED, operation.amount_minor, "52500038/12/34",
        evidence=(Evidence(operation.created_at, "received", "04 0F"),),
    )  # fmt: skip
    await reported(w.house.db, w.clerk, operation.operation_id, report)
    await prepare(w.house.db)
    await issue_new(w.house.db)
    await open_refund(w, Caller.at_till(w.clerk.device_id or uuid4(), uuid4(), Role.SUPERVISOR))
    w.operation_id = (await w.operation(OperationKind.REFUND)).operation_id


async def open_refund(w: World, caller: Caller) -> None:
    tickets = (await tickets_of_order(w.house.db, w.house.ana, w.order_id)).tickets
    wish = RefundWish(
        tuple(each.ticket_id for each in tickets), RefundWay.SAME, sum(each.amount_minor for each in tickets),
        True, "The artist is ill",
    )  # fmt: skip
    await money_back.open_refund(w.house.db, caller, w.order_id, wish, key=str(uuid4()), digest=b"")


async def without_tickets(w: World, _: str) -> None:
    w.order_id = (await Desk(w.house.db, till(), w.house.event_id).sell(0)).order.order_id


BUILDERS: dict[str, Build] = {
    "authorize": authorization,
    "sale": terminal_sale,
    "capture": capture,
    "void": void,
    "refund": refund,
    "none,": without_tickets,
}


@pytest.fixture
async def world(database: Database, clock: Clock) -> AsyncIterator[World]:
    async with open_house(database) as house:
        yield World(house, clock, till())


async def made(world: World, row: str) -> None:
    kind, _, status = row.partition(" ")
    build = refund_at_a_till if row == "refund SENT, at a till" else BUILDERS[kind]
    await build(world, status)


def test_the_table_has_every_status_in_which_an_operation_may_wait() -> None:
    waiting = {"CREATED", "SENT", "UNKNOWN"}
    for kind in ("authorize", "capture", "void", "refund"):
        assert {f"{kind} {status}" for status in waiting} <= set(ROWS), kind
    assert {"sale SENT", "sale UNKNOWN", "authorize ACTION_REQUIRED"} <= set(ROWS)


@pytest.mark.parametrize("row", ROWS)
async def test_each_state_ends_or_becomes_an_item_and_converges_once_all_answer(world: World, row: str) -> None:
    status, items = ROWS[row]
    await made(world, row)
    assert (await order_as_it_stands(world.house.db, world.order_id)).status == status
    await world.wait(LONG)
    assert tuple(await world.house.open_kinds()) == items
    if not items:
        await nothing_waits(world)
        return
    await everybody_answers(world, row)
    left = [kind for kind in await world.house.open_kinds() if not kind.endswith("-failed")]
    assert left == (["paid-not-confirmed"] if "void DECLINED" in row else [])
    await nothing_waits(world)


async def everybody_answers(world: World, row: str) -> None:
    """The provider is back, and so are the till and the ticket issuer."""
    house = world.house
    if row.startswith("sale"):
        outcome = ResultOutcome.DECLINED  # declined, or taken back as advised
        await reported(house.db, world.clerk, world.operation_id, OperationResult(outcome, 0))
    elif row == "refund SENT, at a till":
        operation = await world.operation(OperationKind.REFUND)
        report = OperationResult(ResultOutcome.SUCCEEDED, operation.amount_minor)
        await reported(house.db, world.clerk, operation.operation_id, report)
    await house.work(3)
    await prepare(house.db)
    await issue_new(house.db)
    await settle_items.end_settled_items(house.db)


async def nothing_waits(world: World) -> None:
    waiting = await world.house.db.fetch(
        "SELECT kind, status FROM payment_operations WHERE status NOT IN ('SUCCEEDED', 'DECLINED')"
    )
    assert [dict(row) for row in waiting] == []
    order = await order_as_it_stands(world.house.db, world.order_id)
    if order.status == "PENDING":  # its hold ends by its time, whoever sweeps
        assert order.pay_until is not None
        assert order.pay_until <= await world.clock.now()
