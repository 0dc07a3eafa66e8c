"""The inbox over HTTP: roles, pages, filters, bad input by the name of its field, the spreadsheet (R33, I5)."""

from __future__ import annotations

import csv
import io
from base64 import b64encode
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import httpx
import pytest
from uuid_utils.compat import uuid7

from backend_client import wire
from backend_client.client import BookingClient
from backend_client.errors import BookingRefusedError
from booking.domain.caller import Role
from booking.domain.csv_text import csv_line
from booking.services import sign_in
from booking.store.database import Database
from tests.server.box_office import make_event
from tests.server.web_api import PASSWORD, Api, api_over, problem, read

ITEMS = "/v1/reconciliation/items"
RUNS = "/v1/reconciliation/runs"
SETTINGS = "/v1/reconciliation/settings"
AT_THE_END_OF_TIME = b64encode(f'["9999-12-31T23:59:59-14:00", "{UUID(int=7)}"]'.encode()).decode().rstrip("=")


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


async def make_item(
    db: Database, kind: str = "provider-only", amount: int = 8_000, event: int | None = None, provider: str = "sandbox",
    detail: str = "{}",
) -> UUID:  # fmt: skip
    item_id = uuid7()
    await db.fetch(
        "SELECT open_item_about($1, $2, $3, $4, NULL, NULL, $5, $6, 'EUR', $7::text::jsonb, booking_now())",
        item_id, kind, str(item_id), event, provider, amount, detail,
    )  # fmt: skip
    return item_id


async def kinds_of(api: Api, query: str, token: str) -> list[str]:
    return [item.kind for item in read(await api.call("GET", f"{ITEMS}{query}", token=token), wire.ItemList).items]


async def test_pages_go_from_the_oldest_to_the_newest_and_say_how_many_are_open(api: Api) -> None:
    made = [await make_item(api.db, amount=n) for n in range(5)]
    token = await api.staff(Role.OPS)
    seen: list[UUID] = []
    query, pages = "?limit=2", 0
    while True:
        page = read(await api.call("GET", f"{ITEMS}{query}", token=token), wire.ItemList)
        assert page.open_count == 5
        seen += [item.item_id for item in page.items]
        pages += 1
        if not page.next:
            break
        query = f"?limit=2&after={page.next}"
    assert (seen, pages) == (made, 3)


async def test_filters(api: Api) -> None:
    event_id = await make_event(api.db)
    await make_item(api.db, "ours-only", 100, event_id)
    await make_item(api.db, "amount-differs", 9_000, provider="stripe", detail='{"provider_ref": "pi_7"}')
    third = await make_item(api.db, "state-differs", 5_000)
    token = await api.staff(Role.SUPERVISOR)
    assert await kinds_of(api, "?kind=ours-only", token) == ["ours-only"]
    assert await kinds_of(api, f"?event={event_id}", token) == ["ours-only"]
    assert await kinds_of(api, "?provider=stripe", token) == ["amount-differs"]
    assert await kinds_of(api, "?min_minor=5000", token) == ["amount-differs", "state-differs"]
    assert await kinds_of(api, "?q=pi_7", token) == ["amount-differs"]
    act = wire.ItemActionRequest(
        action=wire.ItemAction.SETTLED_OUTSIDE, version=1, reason="seen", reference="dashboard"
    )
    done = read(await api.call("POST", f"{ITEMS}/{third}/actions", act, token=token), wire.ItemDetail)
    assert done.item.state is wire.ItemState.RESOLVED
    assert done.item.resolved_by == "Some supervisor"
    assert await kinds_of(api, "", token) == ["ours-only", "amount-differs"]
    assert await kinds_of(api, "?state=resolved", token) == ["state-differs"]
    assert await kinds_of(api, "?state=all", token) == ["ours-only", "amount-differs", "state-differs"]
    assert await kinds_of(api, "?state=awaiting-approval", token) == []
    assert await kinds_of(api, "?q=dashboard&state=all", token) == ["state-differs"]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("state=closed", "query:state"), ("event=x", "query:event"), ("event=0", "query:event"),
        ("min_minor=-1", "query:min_minor"), ("min_minor=9999999999999", "query:min_minor"),
        ("after=%25%25", "query:after"), ("after=bm90IGpzb24", "query:after"),
        (f"after={AT_THE_END_OF_TIME}", "query:after"), ("limit=0", "query:limit"),
        ("limit=201", "query:limit"), (f"q={'x' * 201}", "query:q"), ("kind=a%00", "query:kind"),
    ],
)  # fmt: skip
async def test_a_bad_query_is_refused_by_its_name(api: Api, query: str, pointer: str) -> None:
    token = await api.staff(Role.OPS)
    for path in (ITEMS, f"{ITEMS}.csv") if pointer not in ("query:after", "query:limit") else (ITEMS,):
        found = problem(await api.call("GET", f"{path}?{query}", token=token), wire.ErrorCode.INVALID_REQUEST)
        assert [fault.pointer for fault in found.fields] == [pointer]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b'{"action": "force-done", "version": 1, "reason": "x"}', "/action"),
        (b'{"action": "note", "version": "1", "reason": "x"}', "/version"),
        (b'{"action": "note", "version": 1, "reason": ""}', "/reason"),
        (b'{"action": "note", "version": 1}', "/reason"),
        (b'{"action": "settled-outside", "version": 1, "reason": "x"}', "/reference"),
        (b'{"action": "refund", "version": 1, "reason": "x", "amount_minor": 1.5}', "/amount_minor"),
        (b'{"action": "attach", "version": 1, "reason": "x"}', "/order_id"),
        (b'{"action": "note", "version": 1, "reason": "x", "force": true}', "/force"),
    ],
)
async def test_a_bad_act_is_refused_by_the_name_of_its_member_and_does_nothing(
    api: Api, body: bytes, pointer: str
) -> None:
    item_id = await make_item(api.db)
    token = await api.staff(Role.SUPERVISOR)
    found = problem(
        await api.call("POST", f"{ITEMS}/{item_id}/actions", body, token=token), wire.ErrorCode.INVALID_REQUEST
    )
    assert [fault.pointer for fault in found.fields] == [pointer]
    assert read(await api.call("GET", f"{ITEMS}/{item_id}", token=token), wire.ItemDetail).item.version == 1


async def test_ops_read_and_do_not_act_and_clerks_do_not_even_read(api: Api) -> None:
    item_id = await make_item(api.db)
    ops, clerk = await api.staff(Role.OPS), await api.staff(Role.CLERK)
    detail = read(await api.call("GET", f"{ITEMS}/{item_id}", token=ops), wire.ItemDetail)
    assert [each.action for each in detail.actions] == ["attach", "settled-outside", "note"]
    act = wire.ItemActionRequest(action=wire.ItemAction.NOTE, version=1, reason="seen")
    problem(await api.call("POST", f"{ITEMS}/{item_id}/actions", act, token=ops), wire.ErrorCode.FORBIDDEN)
    problem(await api.call("GET", f"{ITEMS}/{item_id}", token=clerk), wire.ErrorCode.FORBIDDEN)


async def test_two_persons_over_http_and_the_console_of_the_asker_cannot_approve(api: Api) -> None:
    item_id = await make_item(api.db, amount=90_000)
    ana, bo = await api.staff(Role.SUPERVISOR), await api.staff(Role.ADMIN)
    act = wire.ItemActionRequest(action=wire.ItemAction.SETTLED_OUTSIDE, version=1, reason="seen", reference="bank")
    asked = read(await api.call("POST", f"{ITEMS}/{item_id}/actions", act, token=ana), wire.ItemDetail)
    assert asked.item.state is wire.ItemState.AWAITING_APPROVAL
    assert asked.item.asked_by == "Some supervisor"
    assert asked.approval is not None
    assert not asked.approval.may_decide
    yes = wire.ApprovalDecision(approve=True, version=asked.item.version, reason="seen as well")
    path = f"{ITEMS}/{item_id}/approval"
    problem(await api.call("POST", path, yes, token=ana), wire.ErrorCode.SECOND_PERSON_NEEDED)
    stale = wire.ApprovalDecision(approve=True, version=1, reason="seen as well")
    problem(await api.call("POST", path, stale, token=bo), wire.ErrorCode.ITEM_CHANGED)
    done = read(await api.call("POST", path, yes, token=bo), wire.ItemDetail)
    assert (done.item.state, done.item.resolved_by) == (wire.ItemState.RESOLVED, "Some supervisor")
    people = [(entry.title, entry.source) for entry in done.timeline if entry.kind is wire.TimelineKind.PERSON]
    assert people == [
        ("approval-asked", "Some supervisor"), ("approval-given", "Some admin"),
        ("act-settled-outside", "Some supervisor"),
    ]  # fmt: skip


async def test_the_same_person_at_another_till_is_no_second_person(api: Api) -> None:
    item_id = await make_item(api.db, amount=90_000)
    await sign_in.create_staff(api.db, "ana", "Ana", Role.SUPERVISOR, PASSWORD)
    here, there = [(await sign_in.login(api.db, "ana", PASSWORD, uuid4(), f"Till {n}")).access_token for n in range(2)]
    act = wire.ItemActionRequest(action=wire.ItemAction.SETTLED_OUTSIDE, version=1, reason="seen", reference="bank")
    asked = read(await api.call("POST", f"{ITEMS}/{item_id}/actions", act, token=here), wire.ItemDetail)
    yes = wire.ApprovalDecision(approve=True, version=asked.item.version, reason="me again")
    problem(
        await api.call("POST", f"{ITEMS}/{item_id}/approval", yes, token=there), wire.ErrorCode.SECOND_PERSON_NEEDED
    )


async def test_what_is_not_there_is_not_found(api: Api) -> None:
    token = await api.staff(Role.SUPERVISOR)
    problem(await api.call("GET", f"{ITEMS}/{uuid7()}", token=token), wire.ErrorCode.ITEM_NOT_FOUND)
    problem(await api.call("GET", f"{RUNS}/{uuid7()}", token=token), wire.ErrorCode.RUN_NOT_FOUND)


async def test_i5_a_spreadsheet_reads_the_file_and_runs_nothing_of_it(api: Api) -> None:
    event_id = await make_event(api.db, name="=1+1")
    await make_item(api.db, "amount-differs", 500, event_id, provider="@x")
    for _ in range(3):
        await make_item(api.db)
    answer = await api.call("GET", f"{ITEMS}.csv?event={event_id}", token=await api.staff(Role.OPS))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [(row["event"], row["provider"], row["amount"], row["kind"]) for row in rows] == [
        ("'=1+1", "'@x", "5.00", "amount-differs")
    ]


async def test_the_file_goes_on_over_many_pages(api: Api) -> None:
    await api.db.fetch(
        "SELECT open_item_about(gen_random_uuid(), 'ours-only', 's' || n, NULL, NULL, NULL, 'sandbox', n, 'JPY', '{}',"
        " booking_now()) FROM generate_series(1, 450) AS n"
    )
    answer = await api.call("GET", f"{ITEMS}.csv", token=await api.staff(Role.OPS))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [row["amount"] for row in rows] == [str(n) for n in range(1, 451)]


@pytest.mark.parametrize("text", ["=1+1", "@x", "+x", "-x", "\tx", "  =1", "＝1", "\u00a0@x"])
def test_i5_text_that_would_run_is_made_harmless_and_a_number_stays_one(text: str) -> None:
    ((shown, number, plain),) = csv.reader(io.StringIO(csv_line((text, Decimal("-5.00"), "Ann"))))
    assert (shown, number, plain) == (f"'{text}", "-5.00", "Ann")


async def test_settings_name_their_version_and_are_audited(api: Api) -> None:
    admin = await api.staff(Role.ADMIN)
    seen = read(await api.call("GET", SETTINGS, token=await api.staff(Role.OPS)), wire.ReconciliationSettings)
    assert (seen.version, seen.second_person_above_minor, seen.run_at_hour) == (1, 50_000, 5)
    change = wire.ReconciliationSettingsChange(
        expected_version=1, second_person_above_minor=None, limits_by_currency={"JPY": 80_000}, run_at_hour=4,
        zone="Asia/Tokyo", unknown_after_s=600, reason="a smaller team",
    )  # fmt: skip
    changed = read(await api.call("PUT", SETTINGS, change, token=admin), wire.ReconciliationSettings)
    assert (changed.version, changed.second_person_above_minor, changed.zone) == (2, None, "Asia/Tokyo")
    assert changed.limits_by_currency == {"JPY": 80_000}
    problem(await api.call("PUT", SETTINGS, change, token=admin), wire.ErrorCode.SETTINGS_CHANGED)
    rows = await api.db.fetch("SELECT reason FROM audit_log WHERE action = 'reconciliation-settings-changed'")
    assert [row["reason"] for row in rows] == ["a smaller team"]


@pytest.mark.parametrize(
    ("member", "value", "pointer"),
    [
        ("zone", "Mars/Olympus", "/zone"), ("run_at_hour", 24, "/run_at_hour"),
        ("unknown_after_s", 59, "/unknown_after_s"), ("limits_by_currency", {"XXX": 5}, "/limits_by_currency/XXX"),
        ("second_person_above_minor", -1, "/second_person_above_minor"),
    ],
)  # fmt: skip
async def test_bad_settings_are_refused_by_name(api: Api, member: str, value: object, pointer: str) -> None:
    body = {
        "expected_version": 1, "second_person_above_minor": 5, "run_at_hour": 4, "zone": "UTC",
        "unknown_after_s": 600, "reason": "x", member: value,
    }  # fmt: skip
    found = problem(
        await api.call("PUT", SETTINGS, body, token=await api.staff(Role.ADMIN)), wire.ErrorCode.INVALID_REQUEST
    )
    assert [fault.pointer for fault in found.fields] == [pointer]


async def test_a_run_is_begun_once_for_its_key_and_shows_its_progress(api: Api) -> None:
    token = await api.staff(Role.SUPERVISOR)
    today = datetime.now(UTC).date()
    body = wire.ReconciliationRunRequest(provider="sandbox", day=today)
    run = read(await api.call("POST", RUNS, body, token=token, key="k"), wire.ReconciliationRun, 201)
    again = await api.call("POST", RUNS, body, token=token, key="k")
    assert again.headers[wire.REPLAYED_HEADER] == "true"
    shown = read(await api.call("GET", f"{RUNS}/{run.run_id}", token=token), wire.ReconciliationRun)
    assert (shown.state, shown.started_by, shown.day) == (wire.RunState.RUNNING, "Some supervisor", today)
    listed = read(await api.call("GET", RUNS, token=token), wire.ReconciliationRunList)
    assert [each.run_id for each in listed.runs] == [run.run_id]
    late = wire.ReconciliationRunRequest(provider="sandbox", day=today + timedelta(days=3))
    found = problem(await api.call("POST", RUNS, late, token=token), wire.ErrorCode.INVALID_REQUEST)
    assert [fault.pointer for fault in found.fields] == ["/day"]


async def test_the_console_client_speaks_all_of_it(api: Api) -> None:
    await sign_in.create_staff(api.db, "ana", "Ana", Role.ADMIN, PASSWORD)
    item_id = wire.ItemId(await make_item(api.db, detail='{"provider_ref": "ch_1"}'))
    client = BookingClient("http://127.0.0.1", device_id=wire.DeviceId(uuid4()), transport=httpx.ASGITransport(api.app))
    try:
        await client.sign_in("ana", PASSWORD, "Office")
        assert [item.item_id for item in (await client.items(q="ch_1", min_minor=1)).items] == [item_id]
        assert b"provider-only" in await client.items_csv(kind="provider-only")
        noted = await client.act_on_item(
            item_id, wire.ItemActionRequest(action=wire.ItemAction.NOTE, version=1, reason="seen"), key="note"
        )
        assert (await client.item(item_id)).item.version == noted.item.version == 2
        with pytest.raises(BookingRefusedError, match="Nothing waits"):
            await client.decide_item(
                item_id, wire.ApprovalDecision(approve=False, version=2, reason="no"), key="decide"
            )
        settings = await client.reconciliation_settings()
        change = wire.ReconciliationSettingsChange(
            expected_version=settings.version, second_person_above_minor=1, run_at_hour=3, zone="UTC",
            unknown_after_s=60, reason="stricter",
        )  # fmt: skip
        assert (await client.change_reconciliation_settings(change, key="settings")).run_at_hour == 3
        run = await client.start_run("cash", datetime.now(UTC).date(), key="run")
        assert (await client.run(run.run_id)).provider == "cash"
        assert len((await client.runs()).runs) == 1
        report = wire.TerminalTotalsReport(
            terminal_id="1", provider="zvt", closed_at=datetime.now(UTC), currency="EUR", total_minor=0
        )
        assert (await client.report_terminal_totals(report, key="totals")).difference_minor == 0
    finally:
        await client.close()
