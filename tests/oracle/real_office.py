"""The real box office: the HTTP application over a real PostgreSQL, twice, with a clock that stands where it is put.

Two applications with pools and lanes of their own stand for two API processes. Providers and the sweeper have no HTTP
call: their services are called as the workers call them.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import msgspec

from backend_client import wire
from booking.domain.caller import Role
from booking.domain.errors import BookingError
from booking.domain.model import OperationResult, ResultOutcome
from booking.services import sign_in, take_payment
from booking.services.sweep_expired import sweep_once
from booking.store.database import Database
from booking.web.application import Application, create_app
from tests.oracle.records import PROVIDER_OF, Person, Rules
from tests.oracle.requests import Request
from tests.server.box_office import Clock, make_event
from tests.server.web_api import PASSWORD

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
KEPT_APART = timedelta(hours=6)

_SEATS = """
SELECT seat_no, status, hold_id, order_id, hold_expires_at FROM seats WHERE event_id = $1
"""
_HOLDS = """
SELECT h.hold_id, h.principal, h.status, h.seats, h.expires_at, h.grace_used, h.created_at,
       (SELECT oh.order_id FROM order_holds oh WHERE oh.hold_id = h.hold_id AND oh.live) AS order_id
  FROM holds h WHERE h.event_id = $1
"""
_ORDERS = """
SELECT o.order_id, o.principal, o.status, o.amount_minor, o.created_at,
       ARRAY(SELECT l.seat_no FROM order_seats l WHERE l.order_id = o.order_id ORDER BY 1) AS seats,
       ARRAY(SELECT l.seat_no FROM order_seats l WHERE l.order_id = o.order_id AND l.valid ORDER BY 1) AS valid
  FROM orders o WHERE o.event_id = $1
"""
_OPERATIONS = """
SELECT p.operation_id, p.order_id, p.parent_id, p.kind, p.status, p.amount_minor, p.advice, p.provider_ref,
       p.decline_code, p.principal, p.created_at, p.updated_at
  FROM payment_operations p WHERE p.event_id = $1
"""
_ITEMS = """
SELECT operation_id, kind, bool_or(resolved_at IS NULL) AS open
  FROM reconciliation_items WHERE event_id = $1 GROUP BY 1, 2
"""
_COUNTS = "SELECT principal, sold FROM account_limits WHERE event_id = $1 AND sold <> 0"


@dataclass(frozen=True)
class Told:
    """What the real box office answered. `status` is 0 where there is no HTTP."""

    status: int
    code: str = ""
    replayed: bool = False
    seats: tuple[int, ...] = ()
    body: Any = None
    count: int = 0


@dataclass
class Snapshot:
    """All of one event, as rows by their id."""

    seats: dict[int, asyncpg.Record]
    holds: dict[UUID, asyncpg.Record]
    orders: dict[UUID, asyncpg.Record]
    operations: dict[UUID, asyncpg.Record]
    items: dict[tuple[UUID, str], bool]
    sold: dict[str, int]


class RealOffice:
    """One database with its clock, two applications, people with tokens; a fresh event for each history."""

    def __init__(self, databases: list[Database], applications: list[Application], clock: Clock) -> None:
        self.databases = databases
        self.applications = applications
        self.clock = clock
        self.tokens: dict[Person, str] = {}
        self.principals: dict[Person, str] = {}
        self.event_id = 0
        self.start = EPOCH
        self.ids: dict[str, UUID] = {}
        self.asked = 0

    @classmethod
    async def open(cls, dsn: str, people: tuple[Person, ...], stack: AsyncExitStack) -> RealOffice:
        """Open it; `stack` closes it."""
        databases, applications = [], []
        for number in (1, 2):
            database = await Database.open(dsn, application=f"oracle {number}", general_size=3, sale_size=3)
            stack.push_async_callback(database.close)
            application = create_app(database)
            application.start()
            stack.push_async_callback(application.stop)
            databases.append(database)
            applications.append(application)
        clock = Clock(databases[0])
        await clock.install()
        office = cls(databases, applications, clock)
        for person in people:
            await office._sign_in(person)
        return office

    async def _sign_in(self, person: Person) -> None:
        db = self.databases[0]
        if not person.at_till:
            account = await sign_in.create_account(db)
            self.tokens[person] = account.access_token
            self.principals[person] = f"account:{account.account_id}"
            return
        role = Role.SUPERVISOR if person.is_supervisor else Role.CLERK
        device = uuid4()
        await sign_in.create_staff(db, person.name, person.name, role, PASSWORD)
        session = await sign_in.login(db, person.name, PASSWORD, device, person.name)
        self.tokens[person] = session.access_token
        self.principals[person] = f"device:{device}"

    async def begin(self, rules: Rules) -> None:
        """A new event on sale, long after all that was before: nothing of an earlier history can expire in this one."""
        self.start += KEPT_APART
        self.ids = {}
        await self.clock.stand_at(self.start)
        await self.sweep()
        await take_payment.due_operations(self.databases[0], 1_000)  # what stayed open becomes a supervisor's item
        self.event_id = await make_event(
            self.databases[0], rules.seats, hold_ttl_s=rules.hold_ttl_s, grace_s=rules.grace_s,
            max_per_account=rules.max_per_account, max_open_holds_till=rules.max_open_holds_till,
            paying_cap=rules.paying_cap,
        )  # fmt: skip

    def instant(self, now: int) -> datetime:
        """The model's time as the database's."""
        return self.start + timedelta(microseconds=now)

    async def stand_at(self, now: int) -> None:
        """Move the clock, to the microsecond."""
        await self.clock.stand_at(self.instant(now))

    async def set_event_state(self, state: str) -> None:
        """Pause, resume or cancel the event."""
        await self.databases[0].fetch("UPDATE events SET status = $2 WHERE event_id = $1", self.event_id, state)

    async def ask(self, request: Request, process: int = 0) -> Told:
        """Send one request to one of the two processes."""
        self.asked += 1
        match request.call:
            case "sweep":
                return Told(0, count=await self.sweep())
            case "send":
                sent = await take_payment.mark_sent(self.databases[process], self.ids[request.subject])
                return Told(0, count=int(sent))
            case "provider":
                return await self._provider_says(request, process)
            case _:
                return await self._http(request, process)

    async def sweep(self) -> int:
        """Until nothing is left."""
        ended = 0
        while (now := await sweep_once(self.databases[0])) > 0:
            ended += now
        return ended

    async def _provider_says(self, request: Request, process: int) -> Told:
        result = OperationResult(
            ResultOutcome(request.outcome), request.amount, request.ref,
            decline_code="no" if request.outcome == "declined" else "",
        )  # fmt: skip
        try:
            step = await take_payment.record_result(
                self.databases[process], self.ids[request.subject], result, source=request.kind
            )
        except BookingError as error:
            return Told(0, error.code)
        return Told(0, body=step)

    async def _http(self, request: Request, process: int) -> Told:
        method, path, body = self._call_of(request)
        headers = [(b"authorization", f"Bearer {self.tokens[request.who]}".encode())]
        if request.key:
            headers.append((b"idempotency-key", request.key.encode()))
        content = b"" if body is None else msgspec.json.encode(body)
        if content:
            headers.append((b"content-type", b"application/json"))
            headers.append((b"content-length", str(len(content)).encode()))
        status, answered, raw = await call_asgi(self.applications[process], method, path, headers, content)
        replayed = answered.get(wire.REPLAYED_HEADER.lower()) == "true"
        if status >= 400:
            problem = msgspec.json.decode(raw, type=wire.Problem)
            return Told(status, problem.code, replayed, tuple(seat.seat_no for seat in problem.seats))
        return Told(status, "", replayed, body=msgspec.json.decode(raw, type=_MESSAGE_OF[request.call]))

    def _call_of(self, ask: Request) -> tuple[str, str, dict[str, Any] | None]:
        about = self.ids.get(ask.subject, UUID(int=1))
        match ask.call:
            case "hold":
                return "POST", f"/v1/events/{self.event_id}/holds", {"seats": ask.seats}
            case "release":
                return "DELETE", f"/v1/holds/{about}", None
            case "read-hold":
                return "GET", f"/v1/holds/{about}", None
            case "read-order":
                return "GET", f"/v1/orders/{about}", None
            case "checkout":
                lines = [{"seat_no": seat, "price_type_id": kind} for seat, kind in ask.lines]
                return "POST", f"/v1/holds/{about}/checkout", {"lines": lines, "shown_total_minor": ask.amount}
            case "cancel":
                return "POST", f"/v1/orders/{about}/cancel", {"reason": "oracle", "keep_seats": ask.keep_seats}
            case "pay":
                body: dict[str, Any] = {
                    "kind": ask.kind, "provider": PROVIDER_OF[ask.kind], "amount_minor": ask.amount,
                }  # fmt: skip
                if ask.in_parts:
                    body["in_parts"] = True
                if ask.instead_of:
                    body["instead_of"] = str(self.ids[ask.instead_of])
                return (
                    "POST",
                    f"/v1/orders/{about}/payments",
                    body | ({} if ask.tendered is None else {"tendered_minor": ask.tendered}),
                )
            case "report":
                declined = {"decline_code": "no"} if ask.outcome == "declined" else {}
                body = {"outcome": ask.outcome, "amount_minor": ask.amount, "provider_ref": ask.ref}
                return "PUT", f"/v1/payments/{about}/result", body | declined
            case _:
                raise ValueError(f"no such call: {ask.call}")

    async def follow_up(self, parent: UUID, kind: str) -> UUID | None:
        """The capture or void of a charge: the wire does not say whose it is."""
        rows = await self.databases[0].fetch(
            "SELECT operation_id FROM payment_operations WHERE parent_id = $1 AND kind = $2", parent, kind
        )
        return rows[0]["operation_id"] if rows else None

    async def snapshot(self) -> Snapshot:
        """Everything of this history's event, in one transaction."""
        async with self.databases[0].transaction() as connection:
            rows = {name: await connection.fetch(sql, self.event_id) for name, sql in _QUERIES.items()}
        return Snapshot(
            {row["seat_no"]: row for row in rows["seats"]},
            {row["hold_id"]: row for row in rows["holds"]},
            {row["order_id"]: row for row in rows["orders"]},
            {row["operation_id"]: row for row in rows["operations"]},
            {(row["operation_id"], row["kind"]): row["open"] for row in rows["items"]},
            {row["principal"]: row["sold"] for row in rows["counts"]},
        )


_MESSAGE_OF: dict[str, type[wire.Message]] = {
    "hold": wire.Hold, "release": wire.Hold, "read-hold": wire.Hold, "checkout": wire.Order, "cancel": wire.Order,
    "read-order": wire.Order, "pay": wire.PaymentAnswer, "report": wire.ResultAnswer,
}  # fmt: skip
_QUERIES = {
    "seats": _SEATS, "holds": _HOLDS, "orders": _ORDERS, "operations": _OPERATIONS, "items": _ITEMS, "counts": _COUNTS,
}  # fmt: skip


async def call_asgi(
    application: Application, method: str, path: str, headers: list[tuple[bytes, bytes]], content: bytes
) -> tuple[int, dict[str, str], bytes]:
    """One HTTP exchange with the application in this process: status, headers, body."""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http", "headers": headers,
        "client": ("127.0.0.1", 40_000), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    sent: list[Any] = []
    body = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive() -> Any:
        return next(body, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        sent.append(message)

    await application(scope, receive, send)
    head = sent[0]
    answered = {name.decode().lower(): value.decode() for name, value in head["headers"]}
    return head["status"], answered, b"".join(message.get("body", b"") for message in sent[1:])
