"""Who may say what became of a payment, what of it is stored, and what a key is worth (R6, R24–R26, R43)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_type_hints
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest

from backend_client import wire
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
from booking.web.routes import ROUTES
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, reported, seat_states, till
from tests.server.web_api import PASSWORD, Api, api_over, problem, read

CASH, SALE, AUTHORIZE = OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE
PAID = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE, "ref-1")
DECLINED = OperationResult(ResultOutcome.DECLINED, 0, decline_code="reversed")
UNKNOWN = OperationResult(ResultOutcome.UNKNOWN, 0)
PAN = "4111 1111 1111 1111"
TRACK = ";4111111111111111=25121010000000000000?"


# ---------------------------------------------------------------- who may say so


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


# ---------------------------------------------------------------- captures that fail (R25)


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


# ---------------------------------------------------------------- a reversal that was advised (R25)


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


# ---------------------------------------------------------------- over the wire


@dataclass
class Wired:
    """A clerk at a till, and an order of theirs with a terminal's sale."""

    api: Api
    db: Database
    desk: Desk
    token: str

    async def sale(self, seat: int) -> str:
        operation = (await self.desk.sell(seat, kind=SALE)).operation
        return f"/v1/payments/{operation.operation_id}/result"

    async def put(self, path: str, body: dict[str, Any], key: str | None = None) -> httpx.Response:
        return await self.api.call("PUT", path, body, token=self.token, key=key)

    async def rows(self) -> dict[str, int]:
        tables = (
            "operation_evidence",
            "reconciliation_items",
            "payment_operations",
            "idempotency",
            "outbox",
            "audit_log",
        )
        return {table: await count(self.db, f"SELECT count(*) FROM {table}") for table in tables}


@pytest.fixture
async def wired(sound_database: Database) -> AsyncIterator[Wired]:
    event = await make_event(sound_database)
    async with api_over(sound_database) as api:
        device = uuid4()
        token = await api.staff(Role.CLERK, device)
        caller = Caller.at_till(device, uuid4(), Role.CLERK)
        yield Wired(api, sound_database, Desk(sound_database, caller, event), token)


EVIDENCE = {"at": "2026-01-01T00:00:00Z", "direction": "in", "body": "06 0F 00"}


@pytest.mark.parametrize("outcome", ["succeeded", "declined", "unknown"])
async def test_r6_the_key_of_a_report_is_worth_one_report(wired: Wired, outcome: str) -> None:
    path, other = await wired.sale(1), await wired.sale(2)
    amount = ADULT_PRICE if outcome == "succeeded" else 0
    body = {"outcome": outcome, "amount_minor": amount, "evidence": [EVIDENCE]}
    first = await wired.put(path, body, "k")
    rows = await wired.rows()

    again = await wired.put(path, body, "k")

    answer, same = read(first, wire.ResultAnswer), read(again, wire.ResultAnswer)
    assert (same.operation, same.advice, same.order.status) == (answer.operation, answer.advice, answer.order.status)
    assert wire.REPLAYED_HEADER not in first.headers
    assert again.headers[wire.REPLAYED_HEADER] == "true"
    for path_, body_ in ((path, body | {"card_brand": "Visa"}), (other, body)):
        problem(await wired.put(path_, body_, "k"), wire.ErrorCode.KEY_REUSED)
    assert await wired.rows() == rows


async def test_r6_a_conflict_is_replayed_as_the_same_conflict(wired: Wired) -> None:
    path = await wired.sale(1)
    read(await wired.put(path, {"outcome": "succeeded", "amount_minor": ADULT_PRICE}), wire.ResultAnswer)
    contradiction = {"outcome": "declined", "amount_minor": 0, "evidence": [EVIDENCE]}
    problem(await wired.put(path, contradiction, "c"), wire.ErrorCode.RESULT_CONFLICT)
    rows = await wired.rows()
    problem(await wired.put(path, contradiction, "c"), wire.ErrorCode.RESULT_CONFLICT)
    assert await wired.rows() == rows


async def test_r6_the_key_of_a_print_report_is_worth_one_report(wired: Wired) -> None:
    await issue_tickets.prepare(wired.db)
    order = (await wired.desk.sell(1, 2)).order
    await issue_tickets.issue_new(wired.db)
    rows = await wired.db.fetch("SELECT ticket_id FROM tickets ORDER BY seat_no")
    jobs = []
    for row in rows:
        opened = await wired.api.call(
            "POST", f"/v1/orders/{order.order_id}/print-jobs", {"ticket_ids": [row["ticket_id"]], "printer": "PDF"},
            token=wired.token,
        )  # fmt: skip
        jobs.append(f"/v1/print-jobs/{read(opened, wire.PrintJob, 201).print_job_id}")
    sent = {"status": "SENT", "detail": "tray 1"}
    first = read(await wired.put(jobs[0], sent, "k"), wire.PrintJob)
    again = await wired.put(jobs[0], sent, "k")
    assert read(again, wire.PrintJob) == first
    assert again.headers[wire.REPLAYED_HEADER] == "true"
    for job, body in ((jobs[0], {"status": "CONFIRMED"}), (jobs[1], sent)):
        problem(await wired.put(job, body, "k"), wire.ErrorCode.KEY_REUSED)
    assert await count(wired.db, "SELECT count(*) FROM print_jobs WHERE status = 'SENT'") == 1


async def test_r6_the_key_of_a_release_is_worth_one_hold(wired: Wired) -> None:
    first, second = await wired.desk.hold(1), await wired.desk.hold(2)

    async def release(hold_id: UUID) -> httpx.Response:
        return await wired.api.call("DELETE", f"/v1/holds/{hold_id}", token=wired.token, key="k")

    assert read(await release(first.hold_id), wire.Hold).status is wire.HoldStatus.RELEASED
    rows = await wired.rows()
    again = await release(first.hold_id)
    assert read(again, wire.Hold).status is wire.HoldStatus.RELEASED
    assert again.headers[wire.REPLAYED_HEADER] == "true"
    problem(await release(second.hold_id), wire.ErrorCode.KEY_REUSED)
    assert await wired.rows() == rows
    assert (await seat_states(wired.db, wired.desk.event_id))[2][0] == SeatStatus.HELD


STRANGE_INSTANTS = [
    "2026-01-01T00:00:00", "1999-12-31T23:59:59Z", "2100-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59", "1970-01-01T00:00:00Z",
]  # fmt: skip


@pytest.mark.parametrize("instant", STRANGE_INSTANTS)
async def test_instants_without_offset_or_of_another_century_are_refused_by_name(wired: Wired, instant: str) -> None:
    path = await wired.sale(1)
    evidence = [EVIDENCE, EVIDENCE | {"at": instant}]
    answer = await wired.put(path, {"outcome": "unknown", "amount_minor": 0, "evidence": evidence})
    refused = problem(answer, wire.ErrorCode.INVALID_REQUEST)
    assert [field.pointer for field in refused.fields] == ["/evidence/1/at"]
    assert await count(wired.db, "SELECT count(*) FROM operation_evidence") == 0


@pytest.mark.parametrize("instant", STRANGE_INSTANTS)
async def test_operators_meet_the_same_rule_for_their_instants(wired: Wired, instant: str) -> None:
    admin = await wired.api.staff(Role.ADMIN)
    event = f"/v1/events/{wired.desk.event_id}"
    code = {"code": "FRIENDS-2026", "max_per_account": 9, "valid_until": instant}
    house = {"kind": "press", "reason": "critics", "seats": [1], "release_at": instant}
    for path, body, pointer in (("access-codes", code, "/valid_until"), ("house-holds", house, "/release_at")):
        answer = await wired.api.call("POST", f"{event}/{path}", body, token=admin)
        refused = problem(answer, wire.ErrorCode.INVALID_REQUEST)
        assert [field.pointer for field in refused.fields] == [pointer]
    assert await count(wired.db, "SELECT count(*) FROM access_codes") == 0
    assert await count(wired.db, "SELECT count(*) FROM house_holds") == 0


@pytest.mark.parametrize("instant", STRANGE_INSTANTS)
async def test_a_terminals_end_of_day_meets_the_same_rule(wired: Wired, instant: str) -> None:
    clerk = await wired.api.staff(Role.CLERK)
    day = {"terminal_id": "1", "provider": "zvt", "closed_at": instant, "currency": "EUR", "total_minor": 0}
    refused = problem(
        await wired.api.call("POST", "/v1/terminal-totals", day, token=clerk), wire.ErrorCode.INVALID_REQUEST
    )
    assert [field.pointer for field in refused.fields] == ["/closed_at"]
    assert await count(wired.db, "SELECT count(*) FROM terminal_totals") == 0


async def test_an_instant_with_an_offset_is_stored_as_the_instant_it_is(wired: Wired) -> None:
    evidence = [EVIDENCE | {"at": "2026-06-01T02:00:00+02:00"}]
    read(await wired.put(await wired.sale(1), {"outcome": "unknown", "amount_minor": 0, "evidence": evidence}), object)
    (row,) = await wired.db.fetch("SELECT at FROM operation_evidence")
    assert row["at"] == datetime.fromisoformat("2026-06-01T00:00:00Z")


def test_every_instant_of_a_request_is_one_that_the_tests_above_know() -> None:
    """Another one in a request needs its check, and its line here."""
    found: set[tuple[str, str]] = set()
    for route in ROUTES:
        if route.body is not None:
            found |= _instants_of(route.body)
    assert found == {
        ("EvidenceItem", "at"), ("AccessCodeRequest", "valid_until"), ("HouseHoldRequest", "release_at"),
        ("TerminalTotalsReport", "closed_at"),
    }  # fmt: skip


def _instants_of(kind: type) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for name, hint in get_type_hints(kind).items():
        for part in (hint, *getattr(hint, "__args__", ())):
            if part is datetime:
                found.add((kind.__name__, name))
            elif isinstance(part, type) and issubclass(part, msgspec.Struct):
                found |= _instants_of(part)
    return found


# ---------------------------------------------------------------- card numbers (R43)


async def everything_stored(db: Database) -> str:
    """Every row of every table, as text."""
    names = await db.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    stored = [await db.fetch(f"SELECT t::text AS row FROM {name['tablename']} t") for name in names]
    return "\n".join(row["row"] for rows in stored for row in rows)


@pytest.mark.parametrize("number", ["4111111111111111", PAN, "4111-1111-1111-1111", "371449635398431", TRACK])
@pytest.mark.parametrize("field", ["payment_method", "provider"])
async def test_r43_a_card_number_as_a_reference_is_refused_and_not_stored(
    wired: Wired, field: str, number: str
) -> None:
    order = await wired.desk.check_out(await wired.desk.hold(1))
    body = {"kind": "authorize", "provider": "sandbox", "amount_minor": order.amount_minor, field: number[:40]}
    answer = await wired.api.call("POST", f"/v1/orders/{order.order_id}/payments", body, token=wired.token)
    refused = problem(answer, wire.ErrorCode.INVALID_REQUEST)
    assert [field_.pointer for field_ in refused.fields] == [f"/{field}"]
    assert "1111" not in answer.text
    assert await count(wired.db, "SELECT count(*) FROM payment_operations") == 0


async def test_r43_no_text_that_cannot_be_refused_keeps_a_card_number(wired: Wired) -> None:
    """Evidence, references, reasons, details and names are stored, masked: money or a person's work depends on them."""
    await issue_tickets.prepare(wired.db)
    sold = (await wired.desk.sell(1)).order
    await issue_tickets.issue_new(wired.db)
    ticket = (await wired.db.fetch("SELECT ticket_id FROM tickets"))[0]["ticket_id"]
    given_up = await wired.desk.check_out(await wired.desk.hold(2))
    report = {
        "outcome": "declined", "amount_minor": 0, "provider_ref": PAN, "decline_code": f"05 {PAN}", "card_brand": PAN,
        "evidence": [{"at": EVIDENCE["at"], "direction": PAN[:20], "body": f"read {TRACK} and {PAN}"}],
    }  # fmt: skip
    read(await wired.put(await wired.sale(3), report), wire.ResultAnswer)

    async def post(path: str, body: dict[str, Any], token: str | None = wired.token) -> httpx.Response:
        return await wired.api.call("POST", path, body, token=token)

    reason = {"reason": f"paid with {PAN}", "keep_seats": False}
    assert (await post(f"/v1/orders/{given_up.order_id}/cancel", reason)).status_code == 200
    opened = await post(f"/v1/orders/{sold.order_id}/print-jobs", {"ticket_ids": [ticket], "printer": PAN})
    job = read(opened, wire.PrintJob, 201)
    read(await wired.put(f"/v1/print-jobs/{job.print_job_id}", {"status": "SENT", "detail": PAN}), wire.PrintJob)
    swiped = {"name": PAN, "password": PASSWORD, "device_id": uuid4(), "device_name": f"till {PAN}"}
    problem(await post("/v1/staff/login", swiped, None), wire.ErrorCode.WRONG_CREDENTIALS)
    name = (await wired.db.fetch("SELECT name FROM staff"))[0]["name"]
    assert (await post("/v1/staff/login", swiped | {"name": name}, None)).status_code == 200

    stored = await everything_stored(wired.db)
    assert stored.count("**** **** **** 1111") >= 9
    for secret in ("4111 1111", "4111111111", "25121010", ";4111"):
        assert secret not in stored
    assert "track data removed" in stored


async def test_a_providers_reference_is_kept_to_the_letter(sound_database: Database) -> None:
    """Captures and voids name the charge by it, whatever it looks like; what its provider says beside it is masked."""
    event = await make_event(sound_database)
    step = await Desk(sound_database, fan(), event).sell(1, kind=AUTHORIZE)
    assert await mark_sent(sound_database, step.operation.operation_id)
    told = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE, "8836123456789010", card_brand=PAN)
    done = await record_result(sound_database, step.operation.operation_id, told, source="provider:sandbox")
    assert [each.provider_ref for each in done.order.operations] == ["8836123456789010"] * 2
    assert (await sound_database.fetch("SELECT card_brand FROM payment_operations WHERE kind = 'authorize'"))[0][
        "card_brand"
    ] == "**** **** **** 1111"


# ---------------------------------------------------------------- unknown


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
