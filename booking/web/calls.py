"""What a route is, and what its handler gets: the types that the table, the gate and the handlers share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar
from uuid import UUID

import msgspec
from starlette.responses import Response
from starlette.types import Scope
from starlette.websockets import WebSocket

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.errors import NotSignedInError
from booking.domain.model import PaymentOperation, SettledStep
from booking.domain.replay import Outcome
from booking.figures.meter import Meter
from booking.figures.standing import Standing
from booking.services.admission import AdmissionGate
from booking.services.choose_provider import ProviderChoice
from booking.services.payment_desk import PaymentDesk
from booking.services.webhooks import Webhooks
from booking.store.database import Database
from booking.web import addresses
from booking.web.client_address import Network
from booking.web.feed_places import FeedPlaces
from booking.web.headers import header
from booking.web.ops_board import OpsBoard
from booking.web.ops_broadcast import OpsBroadcast
from booking.web.rate_limit import RateLimits
from booking.web.seat_tail import SeatTail

SMALL_BODY = 64 * 1024

Who = frozenset[Role | None]
"""Roles that may call; None stands for a caller without a token."""


class KeyRule(Enum):
    """Whether a call must carry `Idempotency-Key` (R6)."""

    READS = "changes nothing"
    REQUIRED = "required"
    SIGNS_IN = "none: who calls is not known yet, and the refresh token is itself a key that is used once"
    OPENS_ACCOUNT = "none: there is no caller yet whom a key could belong to; an account that nobody uses is harmless"
    RENEWS = "none: the secret is itself a key that is used once, and the caller names its successor"
    LOOKS_ON = "none: nothing is stored; the same body gets the same answer"
    SIGNS_OUT = "none: a session ends once, whoever asks again"
    SIGNED = "none: the provider signs each event, and the event's own id is its key"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a route: a wire message, or bytes of a media type."""

    status: int
    message: type[msgspec.Struct] | None = None
    media_type: str = "application/json"
    words: str = "Done"


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A query parameter as OpenAPI tells it."""

    name: str
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class ProviderServices:
    """What this process has of payment providers. `desk` drives payments; None where it speaks to none of them.

    `webhooks` takes their events; None where none are taken. `choice` knows the settings; None lets every one pass.
    """

    desk: PaymentDesk | None = None
    webhooks: Webhooks | None = None
    choice: ProviderChoice | None = None


@dataclass(frozen=True, slots=True)
class OpsServices:
    """What this process knows of the whole system. `standing` is None where nothing is collected.

    `metrics_token`: what a scraper has to show; without one `/metrics` answers this machine alone.
    """

    standing: Standing | None = None
    board: OpsBoard | None = None
    metrics_token: str = ""
    broadcast: OpsBroadcast | None = None

    @classmethod
    def of(cls, standing: Standing | None, metrics_token: str) -> OpsServices:
        """Of a process; None: it collects nothing."""
        if standing is None:
            return cls(metrics_token=metrics_token)
        board = OpsBoard(standing)
        return cls(standing, board, metrics_token, OpsBroadcast(standing, board))


@dataclass(frozen=True, slots=True)
class Services:
    """What handlers work with. `payments` drives provider payments at once; None without a provider.

    `rates`: how often somebody may call; None for no limit. `trusted_proxies`: who may say for whom they call.
    `admission`: the gate of events with a waiting room. `meter` counts what this process does. `feeds`: who may follow
    a map.
    """

    db: Database
    seats: SeatTail
    payments: PaymentStarter | None = None
    rates: RateLimits | None = None
    trusted_proxies: tuple[Network, ...] = ()
    providers: ProviderServices = ProviderServices()
    admission: AdmissionGate | None = None
    meter: Meter = field(default_factory=Meter)
    ops: OpsServices = OpsServices()
    feeds: FeedPlaces = field(default_factory=FeedPlaces)


PaymentStarter = Callable[[PaymentOperation], Coroutine[Any, Any, SettledStep | None]]
"""Takes an operation that was just opened to its provider; the last step that was recorded, None when none was."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that has passed the gate: the caller's role is allowed, the body decoded, the key checked."""

    services: Services
    scope: Scope
    caller: Caller | None
    token: str = ""
    body: wire.RequestMessage | None = None
    key: str = ""
    digest: bytes = b""
    query: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = b""
    """The body as it came, of a route that has a `raw_limit`."""

    @property
    def db(self) -> Database:
        return self.services.db

    @property
    def signed_in(self) -> Caller:
        """The caller; routes that allow anonymous calls use `caller`."""
        if self.caller is None:
            raise NotSignedInError("Sign in first.")
        return self.caller

    def id(self, name: str) -> UUID:
        """A UUID of the path."""
        return addresses.uuid_of(self.path_values, name)

    @property
    def event_id(self) -> int:
        return addresses.event_id_of(self.path_values)

    @property
    def path_values(self) -> Mapping[str, str]:
        """What stands at the places that the route's path names."""
        values: Mapping[str, str] = self.scope["path_params"]
        return values

    def header(self, name: bytes) -> str:
        """The header of this lower-case name; nothing without one."""
        return header(self.scope, name) or ""


Handler = Callable[[Call], Awaitable[Response]]
SocketHandler = Callable[[WebSocket, "Route", Services], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the table. Method `WS` is a WebSocket, and is served elsewhere.

    `raw_limit`: it takes so many bytes of whatever kind as they come, because they are signed; 0 for every other route.
    `own_gate`: the handler itself looks at who calls, a machine with a token of another kind. `socket` serves a `WS`.
    """

    method: str
    path: str
    handler: Handler
    who: Who
    words: str
    key: KeyRule
    answers: tuple[Answer, ...]
    body: type[wire.RequestMessage] | None = None
    body_limit: int = SMALL_BODY
    query: tuple[QueryParameter, ...] = ()
    raw_limit: int = 0
    own_gate: bool = False
    socket: SocketHandler | None = None

    @property
    def name(self) -> str:
        """`POST /v1/events/{event_id}/holds`."""
        return f"{self.method} {self.path}"


T = TypeVar("T")
M = TypeVar("M", bound=msgspec.Struct)


def answer(message: msgspec.Struct, status: int = 200, *, replayed: bool = False) -> Response:
    """A JSON answer; a replay says so and has the status of the first time (R6)."""
    headers = {wire.REPLAYED_HEADER: "true"} if replayed else None
    return Response(msgspec.json.encode(message), status, headers=headers, media_type="application/json")


def to_wire(value: object, kind: type[M]) -> M:
    """A domain object as the wire message of the same member names."""
    return msgspec.convert(value, kind, from_attributes=True)


def answer_outcome(outcome: Outcome[T], kind: type[M], status: int = 201) -> Response:
    """The answer of a call that carries a key."""
    return answer(to_wire(outcome.value, kind), status, replayed=outcome.replayed)


class TypedBody(Generic[M]):
    """Reads `Call.body` as the type that the table promised."""

    def __init__(self, kind: type[M]) -> None:
        self._kind = kind

    def __call__(self, call: Call) -> M:
        if not isinstance(call.body, self._kind):
            raise TypeError(f"{call.scope['path']} got {type(call.body).__name__}, not {self._kind.__name__}")
        return call.body
