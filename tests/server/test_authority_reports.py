"""Who may say what became of a payment, and what follows when a capture fails or a reversal was advised (R24–R26)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID, uuid4

import pytest

from booking import sql
from booking.domain import errors
from booking.domain.caller import Caller, Role
from booking.domain.model import Advice, Evidence, OperationResult, PaymentIntent, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, SeatStatus
from booking.services import issue_tickets
from booking.services.check_invariants import breaches_of
from booking.services.orders import read_order
from booking.services.take_payment import due_operations, mark_sent, open_payment, record_result
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, reported, seat_states, till
from tests.server.web_api import api_over
from tests.server.wired import AUTHORIZE, CASH, SALE, Wired

PAID = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE, "ref-1")
DECLINED = OperationResult(ResultOutcome.DECLINED, 0, decline_code="reversed")
UNKNOWN = OperationResult(ResultOutcome.UNKNOWN, 0)


async def operation_of_kind(db: Database, desk: Desk, kind: str) -> UUID:
    """An operation that the desk's own device opened, or that followed from one, of each kind there is."""
    if kind in ("cash", "authorize"):
        return (await desk.sell(1, kind=OperationKind(kind))).operation.operation_id
    step = await desk.sell(1, kind=AUTHORIZE)
    charge = step.operation.operation_id
    assert await mark_sent(db, charge)
    if kind == "void":
        await db.fetch("UPDATE events SET status = 'CANCELLED'")
    done = await record_result(db, charge, PAID, source="provider:sandbox")
    follow_up = done.order.operations[1]
    if kind == "refund":  # opened by a later flow; the rule is the same
        await db.fetch("UPDATE payment_operations SET kind = 'refund' WHERE kind = 'capture'")
    return follow_up.operation_id


@pytest.mark.usefixtures("breaks_rules")
@pytest.mark.parametrize("kind", [kind.value for kind in OperationKind if kind is not SALE])
@pytest.mark.parametrize("outcome", list(ResultOutcome))
async def test_r24_a_device_reports_its_terminals_sales_and_nothing_else(
    database: Database, kind: str, outcome: ResultOutcome
) -> None:
    """A till that opened an authorization cannot say that it succeeded: the provider does."""
    event = await make_event(database)
    desk = Desk(database, till(Role.SUPERVISOR), event)
    operation = await operation_of_kind(database, desk, kind)
    query = "SELECT status, decided_by, provider_ref FROM payment_operations ORDER BY operation_id"
    before, evidence = await database.fetch(query), (Evidence(datetime.fromisoformat("2026-01-01T00Z"), "in", "x"),)

    with pytest.raises(errors.OperationNotYoursError):
        await reported(
            database, desk.caller, operation, OperationResult(outcome, ADULT_PRICE, "mine", evidence=evidence)
        )

    assert await database.fetch(query) == before
    assert await count(database, "SELECT count(*) FROM operation_evidence WHERE body = 'x'") == 0


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (AUTHORIZE, "provider:another"), (AUTHORIZE, "device:x"), (AUTHORIZE, "provider"), (AUTHORIZE, "supervisor:"),
        (SALE, "provider:sandbox"), (SALE, "provider:zvt"), (SALE, "authority"), (CASH, "supervisor:sofia"),
        (CASH, "provider:drawer"), (AUTHORIZE, "authority"),
    ],
)  # fmt: skip
async def test_r26_nobody_speaks_for_another(sound_database: Database, kind: OperationKind, source: str) -> None:
    """The database decides it, whoever calls: another provider, a provider of a terminal's sale, anybody of cash."""
    event = await make_event(sound_database)
    step = await Desk(sound_database, till(), event).sell(1, kind=kind)
    for result in (PAID, UNKNOWN):
        with pytest.raises(errors.OperationNotYoursError):
            await record_result(sound_database, step.operation.operation_id, result, source=source)
    assert (await sound_database.fetch("SELECT status FROM payment_operations"))[0]["status"] == step.operation.status


async def test_the_source_of_every_answer_is_on_record(sound_database: Database) -> None:
    event = await make_event(sound_database)
    clerk = till()
    desk, buyer = Desk(sound_database, clerk, event), Desk(sound_database, fan(), event)
    await desk.sell(1)
    await reported(sound_database, clerk, (await desk.sell(2, kind=SALE)).operation.operation_id, PAID)
    online = (await buyer.sell(3, kind=AUTHORIZE)).operation.operation_id
    assert await mark_sent(sound_database, online)
    await record_result(sound_database, online, PAID, source="provider:sandbox")
    settled = (await desk.sell(4, kind=SALE)).operation.operation_id
    await record_result(sound_database, settled, PAID, source="supervisor:sofia")
    rows = await sound_database.fetch(
        "SELECT decided_by FROM payment_operations WHERE kind <> 'capture' ORDER BY operation_id"
    )
    assert [row["decided_by"] for row in rows] == [
        f"drawer:{clerk.principal}", f"device:{clerk.device_id}", "provider:sandbox", "supervisor:sofia",
    ]  # fmt: skip


async def test_who_signed_in_at_a_device_is_on_record_also_when_it_is_another_tills(wired: Wired) -> None:
    """A device's id is what the till says it is: what is done under it is told apart by the person."""
    device = wired.desk.caller.device_id
    await wired.api.staff(Role.SUPERVISOR, device)
    rows = await wired.db.fetch(
        "SELECT s.role FROM audit_log a JOIN staff s ON s.staff_id::text = a.subject"
        " WHERE a.action = 'login' AND a.principal = $1 ORDER BY a.audit_id",
        f"device:{device}",
    )
    assert [row["role"] for row in rows] == ["clerk", "supervisor"]


async def confirmed_online(db: Database, *seats: int) -> tuple[UUID, UUID]:
    """A fan's confirmed order and its capture, which is CREATED."""
    event = await make_event(db)
    step = await Desk(db, fan(), event).sell(*seats, kind=AUTHORIZE)
    assert await mark_sent(db, step.operation.operation_id)
    paid = OperationResult(ResultOutcome.SUCCEEDED, step.order.amount_minor, "ref-1")
    done = await record_result(db, step.operation.operation_id, paid, source="provider:sandbox")
    return done.order.order_id, done.order.operations[1].operation_id


async def test_r25_tickets_wait_for_the_compensation_of_a_failed_capture(sound_database: Database) -> None:
    """The issuer passes such an order by, and issues once a supervisor has settled the item."""
    await issue_tickets.prepare(sound_database)
    order, capture = await confirmed_online(sound_database, 1, 2)
    await record_result(sound_database, capture, DECLINED, source="provider:sandbox")
    for _ in range(2):
        assert await issue_tickets.issue_new(sound_database) == 0

    await sound_database.fetch(
        "UPDATE reconciliation_items"
        " SET resolved_at = booking_now(), resolved_by = 'sofia', resolution = 'paid by transfer'"
    )

    assert await issue_tickets.issue_new(sound_database) == 2
    assert await count(sound_database, "SELECT count(*) FROM tickets WHERE order_id = $1", order) == 2


async def test_a_capture_that_is_not_refused_holds_no_ticket_back(sound_database: Database) -> None:
    await issue_tickets.prepare(sound_database)
    _, capture = await confirmed_online(sound_database, 1)
    await record_result(sound_database, capture, UNKNOWN, source="provider:sandbox")
    assert await issue_tickets.issue_new(sound_database) == 1


async def test_r25_a_capture_that_stays_open_is_an_item_once_and_ends_with_the_capture(
    sound_database: Database, clock: Clock
) -> None:
    """Half an hour, well before `check` asks for an item; the worker goes on asking, and a capture closes it."""
    _, capture = await confirmed_online(sound_database, 1)
    await clock.move(seconds=29 * 60)
    assert [each.operation_id for each in await due_operations(sound_database, 10)] == [capture]
    assert await count(sound_database, "SELECT count(*) FROM reconciliation_items") == 0
    for _ in range(2):
        await clock.move(seconds=31 * 60)
        assert [each.operation_id for each in await due_operations(sound_database, 10)] == [capture]
    (item,) = await sound_database.fetch("SELECT kind, operation_id, resolved_at FROM reconciliation_items")
    assert (item["kind"], item["operation_id"], item["resolved_at"]) == ("capture-overdue", capture, None)
    await record_result(sound_database, capture, PAID, source="provider:sandbox")
    (item,) = await sound_database.fetch("SELECT resolved_by, resolution FROM reconciliation_items")
    assert (item["resolved_by"], item["resolution"]) == ("provider:sandbox", "captured")


@pytest.mark.usefixtures("breaks_rules")
@pytest.mark.parametrize("settled", [False, True])
async def test_r25_check_asks_for_the_item_of_every_capture_that_failed(database: Database, settled: bool) -> None:
    """Deleted it is a breach, whatever the age of the capture; settled by a supervisor it says how, and is none."""
    (rule,) = [rule for rule in sql.invariants() if rule.name == "uncaptured-sale-has-an-item"]
    _, capture = await confirmed_online(database, 1)
    await record_result(database, capture, DECLINED, source="provider:sandbox")
    async with database.transaction() as connection:
        assert await breaches_of(connection, rule) == ()
        if settled:
            await connection.execute(
                "UPDATE reconciliation_items SET resolved_at = now(), resolved_by = 'sofia', resolution = 'cash'"
            )
            assert await breaches_of(connection, rule) == ()
        await connection.execute("DELETE FROM reconciliation_items")
        (breach,) = await breaches_of(connection, rule)
    assert str(capture) in breach.detail


async def test_r25_a_till_reports_that_it_reversed_what_it_was_advised_to(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    operation = step.operation.operation_id
    await sound_database.fetch("UPDATE events SET status = 'CANCELLED'")
    assert (await reported(sound_database, desk.caller, operation, PAID)).advice is Advice.REVERSE

    for _ in range(2):
        told = await reported(sound_database, desk.caller, operation, DECLINED)
        assert (told.advice, told.operation.status) == (Advice.REVERSE, OperationStatus.SUCCEEDED)
        assert [(each.kind, each.status) for each in told.order.operations] == [
            ("sale", "SUCCEEDED"), ("void", "SUCCEEDED"),
        ]  # fmt: skip
    (item,) = await sound_database.fetch("SELECT kind, resolved_by, resolution FROM reconciliation_items")
    assert (item["kind"], item["resolution"]) == ("paid-not-confirmed", "reversed at the terminal")
    assert item["resolved_by"] == f"device:{desk.caller.device_id}"


async def test_a_reversal_that_nobody_advised_is_a_conflict(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    operation = (await desk.sell(1, kind=SALE)).operation.operation_id
    assert (await reported(sound_database, desk.caller, operation, PAID)).advice is Advice.GOODS_ISSUED
    with pytest.raises(errors.ResultConflictError):
        await reported(sound_database, desk.caller, operation, DECLINED)
    assert await count(sound_database, "SELECT count(*) FROM payment_operations WHERE kind = 'void'") == 0
    assert (await seat_states(sound_database, event))[1][0] == SeatStatus.SOLD


@pytest.mark.parametrize("kind", [CASH, SALE, AUTHORIZE])
async def test_no_payment_begins_for_a_cancelled_event(sound_database: Database, kind: OperationKind) -> None:
    """R22: nobody is asked for money that is known to have to go back."""
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    order = await desk.check_out(await desk.hold(1))
    await sound_database.fetch("UPDATE events SET status = 'CANCELLED'")
    with pytest.raises(errors.EventNotOnSaleError):
        await desk.pay(order, kind)
    assert await count(sound_database, "SELECT count(*) FROM payment_operations") == 0


@pytest.fixture
async def wired(sound_database: Database) -> AsyncIterator[Wired]:
    event = await make_event(sound_database)
    async with api_over(sound_database) as api:
        device = uuid4()
        token = await api.staff(Role.CLERK, device)
        caller = Caller.at_till(device, uuid4(), Role.CLERK)
        yield Wired(api, sound_database, Desk(sound_database, caller, event), token)


async def test_the_advice_after_an_unknown_report_issues_no_goods_and_moves_nothing(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    told = await reported(sound_database, desk.caller, step.operation.operation_id, UNKNOWN)
    assert told.advice is Advice.REVERSE
    assert [each.kind for each in told.order.operations] == ["sale"]
    assert await count(sound_database, "SELECT count(*) FROM reconciliation_items") == 0
    assert (await seat_states(sound_database, event))[1][0] == SeatStatus.PAYING


async def test_an_unknown_method_of_a_provider_is_kept_as_its_reference(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    order = await desk.check_out(await desk.hold(1))
    method = f"pm_{uuid4()}"
    intent = PaymentIntent(AUTHORIZE, "sandbox", order.amount_minor, payment_method=method)
    outcome = await open_payment(sound_database, desk.caller, order.order_id, intent, key="k", digest=b"d")
    assert outcome.value.operation.payment_method == method
    assert (await read_order(sound_database, desk.caller, order.order_id)).status is OrderStatus.PENDING
