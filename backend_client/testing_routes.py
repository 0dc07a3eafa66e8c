"""The table of routes of `FakeBookingServer`: method, path, whether one has to be signed in, what is done."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

import httpx
import msgspec

from backend_client.seat_frames import encode_snapshot
from backend_client.wire import (
    CancelRequest,
    CheckoutRequest,
    DeviceId,
    EventList,
    EventSummary,
    Health,
    HoldRequest,
    LoginRequest,
    Me,
    PaymentRequest,
    PlanChange,
    PlanFile,
    PlanUpload,
    PrintJobReport,
    PrintJobRequest,
    RefreshRequest,
    ResultReport,
    Role,
    TerminalTotalsReport,
)

if TYPE_CHECKING:
    from backend_client.testing import FakeBookingServer

T = TypeVar("T")
Handler = Callable[["FakeBookingServer", httpx.Request, re.Match[str], DeviceId], object]


def body_of(request: httpx.Request, kind: type[T]) -> T:
    """The body of a request."""
    return msgspec.json.decode(request.content, type=kind)


def _events(server: FakeBookingServer) -> EventList:
    detail = server.house.event()
    names = EventSummary.__struct_fields__
    summary = EventSummary(**{name: getattr(detail, name) for name in names})
    return EventList(events=(summary,), server_time=server.house.now())


def _me(server: FakeBookingServer, device_id: DeviceId) -> Me:
    return Me(principal=f"device:{device_id}", role=Role.CLERK, server_time=server.house.now())


_ID = "([0-9a-f-]{36})"
_EVENT = r"/v1/events/\d+"


def _cancel(server: FakeBookingServer, request: httpx.Request, order_id: UUID) -> object:
    return server.house.cancel_order(order_id, keep_seats=body_of(request, CancelRequest).keep_seats)


def _open_job(server: FakeBookingServer, request: httpx.Request, order_id: UUID) -> object:
    body = body_of(request, PrintJobRequest)
    return server.house.open_print_job(order_id, body.ticket_ids, body.printer)


def _report_job(server: FakeBookingServer, request: httpx.Request, print_job_id: UUID) -> object:
    body = body_of(request, PrintJobReport)
    return server.house.report_print_job(print_job_id, body.status, body.detail)


ROUTES: tuple[tuple[str, str, bool, Handler], ...] = (
    ("POST", "/v1/staff/login", False, lambda s, r, _m, _d: s.log_in(body_of(r, LoginRequest))),
    ("POST", "/v1/staff/refresh", False, lambda s, r, _m, _d: s.refresh(body_of(r, RefreshRequest))),
    ("POST", "/v1/staff/logout", True, lambda _s, _r, _m, _d: None),
    ("GET", "/healthz", False, lambda _s, _r, _m, _d: Health(status="ok")),
    ("GET", "/v1/me", True, lambda s, _r, _m, d: _me(s, d)),
    ("GET", "/v1/events", False, lambda s, _r, _m, _d: _events(s)),
    ("GET", _EVENT, False, lambda s, _r, _m, _d: s.house.event()),
    ("GET", f"{_EVENT}/tiers", False, lambda s, _r, _m, _d: s.tiers()),
    ("GET", f"{_EVENT}/house-holds", True, lambda s, _r, _m, _d: s.house.list_house_holds()),
    ("GET", f"{_EVENT}/plan", False, lambda s, _r, _m, _d: s.house.plan),
    ("GET", rf"{_EVENT}/seats/(\d+)", True, lambda s, _r, m, _d: s.house.seat_detail(int(m[1]))),
    ("GET", f"{_EVENT}/seats", False, lambda s, _r, _m, _d: encode_snapshot(s.house.snapshot())),
    ("POST", f"{_EVENT}/holds", True, lambda s, r, _m, _d: s.house.hold(body_of(r, HoldRequest))),
    ("GET", f"/v1/holds/{_ID}", True, lambda s, _r, m, _d: s.house.read_hold(UUID(m[1]))),
    ("DELETE", f"/v1/holds/{_ID}", True, lambda s, _r, m, _d: s.house.release_hold(UUID(m[1]))),
    ("POST", f"/v1/holds/{_ID}/checkout", True,
     lambda s, r, m, _d: s.house.check_out(UUID(m[1]), body_of(r, CheckoutRequest))),
    ("GET", f"/v1/orders/{_ID}", True, lambda s, _r, m, _d: s.house.read_order(UUID(m[1]))),
    ("POST", f"/v1/orders/{_ID}/cancel", True, lambda s, r, m, _d: _cancel(s, r, UUID(m[1]))),
    ("POST", f"/v1/orders/{_ID}/payments", True,
     lambda s, r, m, d: s.house.pay(UUID(m[1]), body_of(r, PaymentRequest), d)),
    ("PUT", f"/v1/payments/{_ID}/result", True,
     lambda s, r, m, _d: s.house.report_result(UUID(m[1]), body_of(r, ResultReport))),
    ("POST", f"/v1/payments/{_ID}/withdraw", True, lambda s, _r, m, _d: s.house.withdraw(UUID(m[1]))),
    ("POST", "/v1/terminal-totals", True,
     lambda s, r, _m, d: s.house.take_totals(body_of(r, TerminalTotalsReport), d)),
    ("GET", f"/v1/orders/{_ID}/tickets", True, lambda s, _r, m, _d: s.house.tickets(UUID(m[1]))),
    ("POST", f"/v1/orders/{_ID}/print-jobs", True, lambda s, r, m, _d: _open_job(s, r, UUID(m[1]))),
    ("PUT", f"/v1/print-jobs/{_ID}", True, lambda s, r, m, _d: _report_job(s, r, UUID(m[1]))),
    ("GET", "/v1/venues", True, lambda s, _r, _m, _d: s.plans.list_venues()),
    ("GET", f"/v1/venues/{_ID}/plans", True, lambda s, _r, m, _d: s.plans.list_plans(UUID(m[1]))),
    ("POST", f"/v1/venues/{_ID}/plans", True,
     lambda s, r, m, _d: s.plans.save(UUID(m[1]), body_of(r, PlanUpload))),
    ("POST", "/v1/plan-files", True, lambda s, r, _m, _d: s.plans.look_at(body_of(r, PlanFile))),
    ("GET", rf"/v1/plans/{_ID}/versions/(\d+)", True, lambda s, _r, m, _d: s.plans.read(UUID(m[1]), int(m[2]))),
    ("PUT", r"/v1/events/(\d+)/plan", True, lambda s, r, m, _d: s.plans.change(int(m[1]), body_of(r, PlanChange))),
)  # fmt: skip
