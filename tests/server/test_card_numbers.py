"""No card number is stored, wherever a request carries one (R43)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.model import OperationResult, ResultOutcome
from booking.services import issue_tickets
from booking.services.take_payment import mark_sent, record_result
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Desk, count, fan, make_event
from tests.server.web_api import PASSWORD, api_over, problem, read
from tests.server.wired import AUTHORIZE, EVIDENCE, Wired

PAN = "4111 1111 1111 1111"
TRACK = ";4111111111111111=25121010000000000000?"


@pytest.fixture
async def wired(sound_database: Database) -> AsyncIterator[Wired]:
    event = await make_event(sound_database)
    async with api_over(sound_database) as api:
        device = uuid4()
        token = await api.staff(Role.CLERK, device)
        caller = Caller.at_till(device, uuid4(), Role.CLERK)
        yield Wired(api, sound_database, Desk(sound_database, caller, event), token)


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
