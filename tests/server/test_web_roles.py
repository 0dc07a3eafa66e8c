"""Role × route: the table decides, before the handler; a route that is not in this test's table fails it (R35)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from uuid import uuid4

import msgspec
import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.store.database import Database
from booking.web.calls import Route
from booking.web.routes import ROUTES
from tests.server.box_office import make_event
from tests.server.web_api import Api, api_over

ANYONE: set[Role | None] = {None, Role.FAN, Role.CLERK, Role.OPS, Role.SUPERVISOR, Role.ADMIN}
SIGNED_IN: set[Role | None] = ANYONE - {None}
STAFF: set[Role | None] = SIGNED_IN - {Role.FAN}
SELLERS: set[Role | None] = {Role.CLERK, Role.SUPERVISOR, Role.ADMIN}
BUYERS: set[Role | None] = SELLERS | {Role.FAN}
LEADERS: set[Role | None] = {Role.SUPERVISOR, Role.ADMIN}
OPERATORS: set[Role | None] = LEADERS | {Role.OPS}

# Written out by hand, so that a change of the table is a change here too.
EXPECTED: dict[str, set[Role | None]] = {
    "GET /healthz": ANYONE,
    "GET /readyz": ANYONE,
    "GET /v1/openapi.json": ANYONE,
    "GET /v1/events": ANYONE,
    "GET /v1/events/{event_id}": ANYONE,
    "GET /v1/events/{event_id}/plan": ANYONE,
    "GET /v1/events/{event_id}/seats": ANYONE,
    "GET /v1/events/{event_id}/seats/{seat_no}": STAFF,
    "GET /v1/events/{event_id}/tiers": ANYONE,
    "WS /v1/events/{event_id}/seats/feed": ANYONE,
    "POST /v1/staff/login": ANYONE,
    "POST /v1/staff/refresh": ANYONE,
    "POST /v1/staff/logout": STAFF,
    "POST /v1/accounts": ANYONE,
    "POST /v1/renewals": ANYONE,
    "POST /v1/renewals/next": ANYONE,
    "POST /v1/renewals/spare": ANYONE,
    "POST /v1/renewals/end": ANYONE,
    "GET /v1/me": SIGNED_IN,
    "POST /v1/events/{event_id}/holds": BUYERS,
    "GET /v1/holds/{hold_id}": SIGNED_IN,
    "DELETE /v1/holds/{hold_id}": BUYERS,
    "POST /v1/holds/{hold_id}/checkout": BUYERS,
    "GET /v1/orders": STAFF,
    "GET /v1/orders/{order_id}": SIGNED_IN,
    "POST /v1/orders/{order_id}/payments": BUYERS,
    "POST /v1/orders/{order_id}/cancel": BUYERS,
    "GET /v1/orders/{order_id}/tickets": SIGNED_IN,
    "PUT /v1/payments/{operation_id}/result": SELLERS,
    "POST /v1/orders/{order_id}/print-jobs": SELLERS,
    "GET /v1/orders/{order_id}/refundable": STAFF,
    "GET /v1/returns": SELLERS,
    "POST /v1/orders/{order_id}/refunds": SELLERS,
    "POST /v1/orders/{order_id}/cancel-tickets": SELLERS,
    "PUT /v1/print-jobs/{print_job_id}": SELLERS,
    "GET /v1/events/{event_id}/house-holds": STAFF,
    "POST /v1/events/{event_id}/house-holds": LEADERS,
    "POST /v1/house-holds/{house_hold_id}/release": LEADERS,
    "GET /v1/events/{event_id}/access-codes": LEADERS,
    "POST /v1/events/{event_id}/access-codes": LEADERS,
    "GET /v1/events/{event_id}/settings": STAFF,
    "PUT /v1/events/{event_id}/settings": OPERATORS,
    "PUT /v1/events/{event_id}/plan": LEADERS,
    "PUT /v1/events/{event_id}/tiers/{tier_id}": LEADERS,
    "POST /v1/events/{event_id}/pause": OPERATORS,
    "POST /v1/events/{event_id}/resume": OPERATORS,
    "POST /v1/events/{event_id}/cancel": LEADERS,
    "GET /v1/venues": LEADERS,
    "GET /v1/venues/{venue_id}/plans": LEADERS,
    "POST /v1/venues/{venue_id}/plans": LEADERS,
    "POST /v1/plan-files": LEADERS,
    "GET /v1/plans/{plan_id}/versions/{version}": LEADERS,
    "POST /v1/webhooks/{provider}": ANYONE,
    "POST /v1/payments/{operation_id}/withdraw": BUYERS,
    "GET /v1/payments/{operation_id}/page-secret": {Role.FAN},
    "GET /v1/payment-providers": OPERATORS,
    "PUT /v1/payment-providers": {Role.ADMIN},
    "GET /v1/readers": OPERATORS,
    "PUT /v1/devices/{device_id}/reader": {Role.ADMIN},
    "GET /v1/ops/payments": OPERATORS,
    "GET /v1/reconciliation/items": OPERATORS,
    "GET /v1/reconciliation/items.csv": OPERATORS,
    "GET /v1/reconciliation/items/{item_id}": OPERATORS,
    "POST /v1/reconciliation/items/{item_id}/actions": LEADERS,
    "POST /v1/reconciliation/items/{item_id}/approval": LEADERS,
    "GET /v1/reconciliation/settings": OPERATORS,
    "PUT /v1/reconciliation/settings": {Role.ADMIN},
    "POST /v1/reconciliation/runs": LEADERS,
    "GET /v1/reconciliation/runs": OPERATORS,
    "GET /v1/reconciliation/runs/{run_id}": OPERATORS,
    "POST /v1/terminal-totals": SELLERS,
    "GET /v1/tills": OPERATORS,
    "GET /v1/events/{event_id}/admission": OPERATORS,
    "PUT /v1/events/{event_id}/admission": OPERATORS,
    "POST /v1/events/{event_id}/admission/preview": OPERATORS,
    "GET /v1/events/{event_id}/admission/changes": OPERATORS,
    "GET /metrics": ANYONE,  # the handler looks at the machine, or at a token of another kind
    "WS /v1/ops/feed": OPERATORS,
    "GET /v1/ops/figures": OPERATORS,
    "GET /v1/ops/history": OPERATORS,
    "GET /v1/ops/lock-waits": OPERATORS,
    "POST /v1/ops/sessions/{pid}/end": {Role.ADMIN},
    "GET /v1/ops/alarms": OPERATORS,
    "POST /v1/ops/alarms/{alarm_id}/acknowledge": OPERATORS,
    "GET /v1/ops/alarm-rules": OPERATORS,
    "PUT /v1/ops/alarm-rules/{rule}": OPERATORS,
    "GET /v1/ops/log": OPERATORS,
}

# A good body for each route, about things that do not exist: the answer is then 404 or 2xx, never 401 or 403.
BODIES: dict[type[wire.RequestMessage], wire.RequestMessage] = {
    wire.RenewalOpening: wire.RenewalOpening(secret="a" * 32),
    wire.RenewalUse: wire.RenewalUse(secret="b" * 32, next_secret="c" * 32),
    wire.RenewalSpareRequest: wire.RenewalSpareRequest(secret="b" * 32, spare_secret="c" * 32),
    wire.RenewalEnd: wire.RenewalEnd(secret="b" * 32),
    wire.HoldRequest: wire.HoldRequest(seats=(0,)),
    wire.CheckoutRequest: wire.CheckoutRequest(
        lines=(wire.CheckoutLine(seat_no=0, price_type_id=1),), shown_total_minor=1
    ),
    wire.PaymentRequest: wire.PaymentRequest(kind=wire.OperationKind.AUTHORIZE, provider="sandbox", amount_minor=1),
    wire.CancelRequest: wire.CancelRequest(reason="changed their mind", keep_seats=False),
    wire.ResultReport: wire.ResultReport(outcome=wire.ResultOutcome.DECLINED, amount_minor=1),
    wire.PrintJobRequest: wire.PrintJobRequest(ticket_ids=(wire.TicketId(uuid4()),), printer="Counter 1"),
    wire.RefundRequest: wire.RefundRequest(
        ticket_ids=(wire.TicketId(uuid4()),),
        way=wire.RefundWay.SAME,
        expected_minor=1,
        seats_to_sale=True,
        reason="ill",
    ),
    wire.TicketCancelRequest: wire.TicketCancelRequest(
        ticket_ids=(wire.TicketId(uuid4()),), seats_to_sale=True, reason="ill"
    ),
    wire.PrintJobReport: wire.PrintJobReport(status=wire.PrintJobStatus.CONFIRMED),
    wire.HouseHoldRequest: wire.HouseHoldRequest(kind=wire.HouseHoldKind.PRESS, reason="critics", seats=(1,)),
    wire.AccessCodeRequest: wire.AccessCodeRequest(code="friends-2026", max_per_account=12),
    wire.HouseHoldRelease: wire.HouseHoldRelease(reason="not wanted"),
    wire.EventSettingsChange: wire.EventSettingsChange(expected_version=1, reason="a long queue", hold_ttl_s=240),
    wire.PlanChange: wire.PlanChange(expected_version=99, plan_version=2, reason="a platform for the cameras"),
    wire.TierChange: wire.TierChange(capacity=12, reason="two more"),
    wire.PlanFile: wire.PlanFile(data=b"{}"),
    wire.ChannelProvidersChange: wire.ChannelProvidersChange(
        channel=wire.SaleChannel.ONLINE, providers=("sandbox",), reason="the season opens"
    ),
    wire.CardReaderChange: wire.CardReaderChange(reader_ref="tmr_1", reason="a new reader"),
    wire.PlanUpload: wire.PlanUpload(plan=msgspec.Raw(b"{}")),
    wire.EventStatusChange: wire.EventStatusChange(expected_version=99, reason="the stage is wet"),
    wire.ItemActionRequest: wire.ItemActionRequest(action=wire.ItemAction.NOTE, version=1, reason="seen"),
    wire.ApprovalDecision: wire.ApprovalDecision(approve=False, version=1, reason="no"),
    wire.ReconciliationSettingsChange: wire.ReconciliationSettingsChange(
        expected_version=99,
        second_person_above_minor=None,
        run_at_hour=5,
        zone="UTC",
        unknown_after_s=900,
        reason="a new team",
    ),
    wire.AdmissionSettingsChange: wire.AdmissionSettingsChange(
        expected_version=99, reason="a slow provider", cap_per_minute=60
    ),
    wire.AdmissionPreviewRequest: wire.AdmissionPreviewRequest(cap_per_minute=60),
    wire.OpsSessionEnd: wire.OpsSessionEnd(
        backend_started_at=datetime(2026, 1, 1, tzinfo=UTC), reason="keeps seats locked"
    ),
    wire.OpsAlarmAcknowledgement: wire.OpsAlarmAcknowledgement(note="on it"),
    wire.OpsAlarmRuleChange: wire.OpsAlarmRuleChange(expected_version=99, reason="too nervous", raise_at=12.0),
    wire.ReconciliationRunRequest: wire.ReconciliationRunRequest(provider="sandbox", day=date(2026, 1, 1)),
    wire.TerminalTotalsReport: wire.TerminalTotalsReport(
        terminal_id="1", provider="zvt", closed_at=datetime(2026, 1, 1, tzinfo=UTC), currency="EUR", total_minor=0
    ),
}
# The credentials are in the body, and these are wrong.
SIGN_IN_ROUTES = {
    "POST /v1/staff/login", "POST /v1/staff/refresh", "POST /v1/renewals/next", "POST /v1/renewals/spare",
}  # fmt: skip


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with api_over(database) as api:
        yield api


def test_each_route_of_the_table_is_expected_here_and_the_other_way_round() -> None:
    assert {route.name: set(route.who) for route in ROUTES} == EXPECTED


def test_nothing_is_served_that_is_not_in_the_table() -> None:
    from starlette.routing import Route as Mounted
    from starlette.routing import WebSocketRoute

    from booking.web.application import _mounted
    from booking.web.calls import Services

    services = Services(None, None)  # type: ignore[arg-type]
    mounted = [one for route in ROUTES for one in _mounted(route, services)]
    served = {
        f"{'WS' if isinstance(one, WebSocketRoute) else min((one.methods or set()) - {'HEAD'})} {one.path}"
        for one in mounted
        if isinstance(one, Mounted | WebSocketRoute)
    }
    # A feed's address answers a plain GET as well: with a problem, see the tests of the feed.
    refused = {name.replace("WS ", "GET ") for name in EXPECTED if name.startswith("WS ")}
    assert served == set(EXPECTED) | refused


async def status_of(api: Api, route: Route, token: str | None, event_id: int) -> int:
    path = (
        route.path.replace("{event_id}", str(event_id))
        .replace("{tier_id}", "1")
        .replace("{seat_no}", "1")
        .replace("{version}", "1")
        .replace("{provider}", "sandbox")
        .replace("{rule}", "locks-waiting")
        .replace("{pid}", "4711")
    )
    for name in (
        "hold_id",
        "order_id",
        "operation_id",
        "print_job_id",
        "house_hold_id",
        "venue_id",
        "plan_id",
        "device_id",
        "item_id",
        "run_id",
        "alarm_id",
    ):
        path = path.replace(f"{{{name}}}", str(uuid4()))
    body = None if route.body is None else BODIES[route.body]
    return (await api.call(route.method, path, body, token=token)).status_code


@pytest.mark.parametrize("role", [None, *Role], ids=str)
async def test_an_allowed_role_is_let_in_and_any_other_is_not(api: Api, role: Role | None) -> None:
    event_id = await make_event(api.db)
    token = await api.token_of(role)
    wrong: dict[str, int] = {}
    for route in ROUTES:
        if route.method == "WS" or route.name in SIGN_IN_ROUTES:
            continue  # the feed has a test of its own; at sign-in 401 is the answer about the password
        status = await status_of(api, route, token, event_id)
        refused = {401} if role is None else {403}
        expected_refusal = role not in EXPECTED[route.name]
        if (status in {401, 403}) != expected_refusal or (expected_refusal and status not in refused) or status >= 500:
            wrong[route.name] = status
        if route.name == "POST /v1/staff/logout":
            token = await api.token_of(role)
    assert wrong == {}


async def test_sign_in_is_open_to_everybody_and_says_that_the_credentials_are_wrong(api: Api) -> None:
    login = wire.LoginRequest(name="nobody", password="x", device_id=wire.DeviceId(uuid4()), device_name="Till")
    refresh = wire.RefreshRequest(refresh_token="unknown", device_id=wire.DeviceId(uuid4()))
    assert (await api.call("POST", "/v1/staff/login", login)).json()["code"] == "wrong-credentials"
    assert (await api.call("POST", "/v1/staff/refresh", refresh)).json()["code"] == "not-signed-in"
    for path, body in (("next", BODIES[wire.RenewalUse]), ("spare", BODIES[wire.RenewalSpareRequest])):
        assert (await api.call("POST", f"/v1/renewals/{path}", body)).json()["code"] == "not-signed-in"


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("Bearer nonsense", "not-signed-in"),
        ("Bearer tq1.e30.e30", "not-signed-in"),
        ("Basic Y2FybGE6eA==", "not-signed-in"),
        ("Bearer", "not-signed-in"),
    ],
)
async def test_a_bad_token_is_refused_even_where_none_is_needed(api: Api, header: str, code: str) -> None:
    response = await api.call("GET", "/v1/events", headers={"Authorization": header})
    assert (response.status_code, response.json()["code"]) == (401, code)
    assert response.headers["www-authenticate"] == "Bearer"
