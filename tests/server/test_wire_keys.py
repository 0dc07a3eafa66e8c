"""What a key is worth over the wire, and which instants a request may name (R6)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import get_type_hints
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.states import SeatStatus
from booking.services import issue_tickets
from booking.store.database import Database
from booking.web.routes import ROUTES
from tests.server.box_office import ADULT_PRICE, Desk, count, make_event, seat_states
from tests.server.web_api import api_over, problem, read
from tests.server.wired import EVIDENCE, Wired


@pytest.fixture
async def wired(sound_database: Database) -> AsyncIterator[Wired]:
    event = await make_event(sound_database)
    async with api_over(sound_database) as api:
        device = uuid4()
        token = await api.staff(Role.CLERK, device)
        caller = Caller.at_till(device, uuid4(), Role.CLERK)
        yield Wired(api, sound_database, Desk(sound_database, caller, event), token)


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


@pytest.mark.parametrize("instant", STRANGE_INSTANTS)
@pytest.mark.parametrize("member", ["backend_started_at", "transaction_started_at"])
async def test_a_session_of_the_database_is_named_by_the_same_rule(wired: Wired, member: str, instant: str) -> None:
    admin = await wired.api.staff(Role.ADMIN)
    body = {"backend_started_at": "2026-11-30T10:00:00Z", "reason": "keeps others waiting", member: instant}
    answer = await wired.api.call("POST", "/v1/ops/sessions/1/end", body, token=admin)
    refused = problem(answer, wire.ErrorCode.INVALID_REQUEST)
    assert [field.pointer for field in refused.fields] == [f"/{member}"]


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
        ("TerminalTotalsReport", "closed_at"), ("OpsSessionEnd", "backend_started_at"),
        ("OpsSessionEnd", "transaction_started_at"),
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
