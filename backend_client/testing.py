"""`FakeBookingServer`: a booking API in memory for tests of clients and consoles, with faults on command.

server = FakeBookingServer()
client = BookingClient(server.base_url, device_id=…, transport=server.transport)
server.fail(Fault.ANSWER_LOST, "/payments")      # the next payment call takes effect; its answer never arrives
async for event in SeatFeed(client, server.house.event_id, dial=server.dial).events(): …
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

import httpx
import msgspec
from uuid_utils.compat import uuid7

from backend_client.seat_frames import HolderKind, StaffStatus, staff_state
from backend_client.testing_feed import FeedSide
from backend_client.testing_house import RefusalError
from backend_client.testing_items import AreaCall, ItemShelf
from backend_client.testing_ops import OpsDesk
from backend_client.testing_plans import PlanShelf
from backend_client.testing_refunds import OrderBook
from backend_client.testing_routes import ROUTES
from backend_client.testing_rules import field_of
from backend_client.testing_settings import SettingsBook
from backend_client.wire import (
    IDEMPOTENCY_KEY_HEADER,
    PROBLEM_MEDIA_TYPE,
    REPLAYED_HEADER,
    REQUEST_ID_HEADER,
    SEATS_MEDIA_TYPE,
    DeviceId,
    ErrorCode,
    FieldProblem,
    LoginRequest,
    Problem,
    RefreshRequest,
    Role,
    SeatRef,
    StaffSession,
    TierList,
)


class Fault(StrEnum):
    """What goes wrong with one call."""

    UNREACHABLE = "unreachable"
    """Nothing reaches the server."""
    REQUEST_LOST = "request-lost"
    """It left, and the server never saw it; the caller cannot tell."""
    ANSWER_LOST = "answer-lost"
    """It took effect, and the answer is lost."""
    BUSY = "busy"
    """503 with Retry-After, nothing done."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request that reached the server."""

    method: str
    path: str
    key: str
    replayed: bool


@dataclass(slots=True)
class _Planned:
    fault: Fault
    path_part: str
    times: int


_STATUS_OF = {
    ErrorCode.NOT_SIGNED_IN: 401,
    ErrorCode.TOKEN_EXPIRED: 401,
    ErrorCode.WRONG_CREDENTIALS: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.INVALID_REQUEST: 422,
    ErrorCode.BUSY: 503,
}


@dataclass(slots=True)
class FakeBookingServer(FeedSide):
    """See the module. `house` holds the rules and the state; `calls` is what reached the server, in order.

    `on_step`, when set, is called with "sent" as a call reaches the server and with "done" after its effect, so that a
    test can let the caller die at that instant.
    """

    staff: dict[str, tuple[str, Role]] = field(default_factory=lambda: {"carla": ("secret", Role.CLERK)})
    base_url: str = "http://127.0.0.1:1"
    access_life_s: float = 600.0
    calls: list[Call] = field(default_factory=list)
    refreshes: int = 0
    on_step: Callable[[str], None] | None = None
    plans: PlanShelf = field(default_factory=PlanShelf)
    items: ItemShelf = field(default_factory=ItemShelf)
    order_book: OrderBook = field(init=False)
    settings: SettingsBook = field(init=False)
    _delays: list[tuple[str, float]] = field(default_factory=list)
    _planned: deque[_Planned] = field(default_factory=deque)
    _sessions: dict[str, tuple[StaffSession, Role]] = field(default_factory=dict)
    _refresh_tokens: dict[str, str] = field(default_factory=dict)
    _answers: dict[str, tuple[str, int, bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.order_book = OrderBook(self.house)
        self.settings = SettingsBook(self.house)
        self.ops = OpsDesk(self.house, self._send_ops)
        self.items.now = self.house.now

    @property
    def transport(self) -> httpx.MockTransport:
        """For `BookingClient(transport=…)`."""
        return httpx.MockTransport(self._handle)

    def fail(self, fault: Fault, path_part: str = "", *, times: int = 1) -> None:
        """Let the next `times` calls whose path contains `path_part` go wrong."""
        self._planned.append(_Planned(fault, path_part, times))

    def delay(self, path_part: str, seconds: float, *, times: int = 1) -> None:
        """The answers of the next `times` calls whose path contains `path_part` come late."""
        self._delays += [(path_part, seconds)] * times

    def lose_holds(self) -> None:
        """All holds end now, and somebody else buys the seats (a till that was away for too long)."""
        self.house.lose_holds()
        self.push_deltas()

    def heal(self) -> None:
        """Forget all planned faults."""
        self._planned.clear()
        self._delays.clear()

    def expire_tokens(self) -> None:
        """All access tokens are expired from now on; refresh tokens still work."""
        self._sessions.clear()

    def sign_everybody_out(self) -> None:
        """No token is valid any more."""
        self._sessions.clear()
        self._refresh_tokens.clear()

    def pass_time(self, seconds: float) -> None:
        """Move the server's clock on."""
        self.house.offset += timedelta(seconds=seconds)

    def sell_elsewhere(self, *seats: int) -> None:
        """Somebody else buys seats; feeds hear of it."""
        self.house.set_seats(seats, staff_state(StaffStatus.SOLD, HolderKind.FAN))
        self.push_deltas()

    # ------------------------------------------------------------ HTTP

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        fault = self._fault_of(request.url.path)
        if fault is Fault.UNREACHABLE:
            raise httpx.ConnectError("unreachable", request=request)
        if fault is Fault.REQUEST_LOST:
            raise httpx.ReadError("connection reset", request=request)
        if fault is Fault.BUSY:
            return self._problem(ErrorCode.BUSY, (), {"Retry-After": "1"})
        self._step("sent")
        answer = self._answer(request)
        self.push_deltas()
        self._step("done")
        for delay in self._delays:
            if delay[0] in request.url.path:
                self._delays.remove(delay)
                await asyncio.sleep(delay[1])
                break
        if fault is Fault.ANSWER_LOST:
            raise httpx.ReadTimeout("no answer", request=request)
        return answer

    def _step(self, what: str) -> None:
        if self.on_step is not None:
            self.on_step(what)

    def _fault_of(self, path: str) -> Fault | None:
        for planned in self._planned:
            if planned.path_part in path:
                planned.times -= 1
                if planned.times <= 0:
                    self._planned.remove(planned)
                return planned.fault
        return None

    def _answer(self, request: httpx.Request) -> httpx.Response:
        key = request.headers.get(IDEMPOTENCY_KEY_HEADER, "")
        digest = hashlib.sha256(f"{request.method} {request.url.path} ".encode() + request.content).hexdigest()
        known = self._answers.get(key) if key else None
        self.calls.append(Call(request.method, request.url.path, key, known is not None))
        try:
            role, device_id = self._caller(request)
            if known is not None:
                return self._replay(known, digest, self.ops.read_again(request.method, request.url.path))
            answer = self._route(request, role, device_id)
        except RefusalError as error:
            return self._problem(error.code, error.seats, {}, error.offer, error.fields)
        except msgspec.ValidationError as error:
            return self._problem(ErrorCode.INVALID_REQUEST, (), {}, fields=(field_of(error),))
        if isinstance(answer, bytes):
            return httpx.Response(200, content=answer, headers={"Content-Type": SEATS_MEDIA_TYPE})
        status = 201 if request.method == "POST" else 200
        content = msgspec.json.encode(answer)
        if key:
            self._answers[key] = (digest, status, content)
        return httpx.Response(status, content=content, headers=_JSON)

    def _replay(self, known: tuple[str, int, bytes], digest: str, now: object | None) -> httpx.Response:
        if known[0] != digest:
            return self._problem(ErrorCode.KEY_REUSED, (), {})
        content = known[2] if now is None else msgspec.json.encode(now)
        return httpx.Response(known[1], content=content, headers={**_JSON, REPLAYED_HEADER: "true"})

    def _problem(
        self,
        code: ErrorCode,
        seats: tuple[SeatRef, ...],
        headers: dict[str, str],
        offer: tuple[SeatRef, ...] = (),
        fields: tuple[FieldProblem, ...] = (),
    ) -> httpx.Response:
        status = _STATUS_OF.get(code, 404 if code.value.endswith("not-found") else 409)
        problem = Problem(
            type="about:blank", title=code.value, status=status, code=code, seats=seats, offer=offer, fields=fields
        )
        return httpx.Response(
            status, content=msgspec.json.encode(problem), headers={"Content-Type": PROBLEM_MEDIA_TYPE, **headers}
        )

    def _caller(self, request: httpx.Request) -> tuple[Role, DeviceId]:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not token:
            return Role.FAN, DeviceId(UUID(int=0))
        if token not in self._sessions:
            raise RefusalError(ErrorCode.TOKEN_EXPIRED if self._refresh_tokens else ErrorCode.NOT_SIGNED_IN)
        session, role = self._sessions[token]
        return role, session.device_id

    def _route(self, request: httpx.Request, role: Role, device_id: DeviceId) -> object:
        for method, pattern, needs_staff, handler in ROUTES:
            match = re.fullmatch(pattern, request.url.path)
            if match is None or method != request.method:
                continue
            if needs_staff and role is Role.FAN:
                raise RefusalError(ErrorCode.NOT_SIGNED_IN)
            if needs_staff and role is Role.OPS and method != "GET" and not request.url.path.startswith("/v1/staff/"):
                raise RefusalError(ErrorCode.FORBIDDEN)
            return handler(self, request, match, device_id)
        return self._ask_area(request, role, device_id)

    def _ask_area(self, request: httpx.Request, role: Role, device_id: DeviceId) -> object:
        """The areas that know who calls."""
        session, _role = self._sessions.get(
            request.headers.get("Authorization", "").removeprefix("Bearer "), (None, role)
        )
        name = "" if session is None else session.name
        query = dict(request.url.params)
        call = AreaCall(request.method, request.url.path, query, request.content, name, role, device_id)
        for area in (self.items, self.order_book, self.settings, self.ops):
            answer = area.answer(call)
            if answer is not None:
                return answer
        raise RefusalError(ErrorCode.NOT_FOUND)

    # ------------------------------------------------------------ staff

    def log_in(self, body: LoginRequest) -> StaffSession:
        """A session for one of `staff`."""
        password, role = self.staff.get(body.name, ("", Role.CLERK))
        if not password or body.password != password:
            raise RefusalError(ErrorCode.WRONG_CREDENTIALS)
        return self._open_session(body.name, role, body.device_id)

    def refresh(self, body: RefreshRequest) -> StaffSession:
        """A refresh token is used once."""
        name = self._refresh_tokens.pop(body.refresh_token, None)
        if name is None:
            raise RefusalError(ErrorCode.NOT_SIGNED_IN)
        self.refreshes += 1
        return self._open_session(name, self.staff[name][1], body.device_id)

    def _open_session(self, name: str, role: Role, device_id: DeviceId) -> StaffSession:
        session = StaffSession(
            access_token=f"access-{uuid7()}",
            access_expires_at=self.house.now() + timedelta(seconds=self.access_life_s),
            refresh_token=f"refresh-{uuid7()}",
            staff_id=uuid7(),
            name=name,
            display_name=name.title(),
            role=role,
            device_id=device_id,
            server_time=self.house.now(),
        )
        self._sessions[session.access_token] = (session, role)
        self._refresh_tokens[session.refresh_token] = name
        return session

    def tiers(self) -> TierList:
        """What is left of the house's tiers."""
        return TierList(event_id=self.house.event_id, tiers=self.house.tiers, server_time=self.house.now())


_JSON = {"Content-Type": "application/json", REQUEST_ID_HEADER: "fake"}
