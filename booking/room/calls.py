"""What a route of the room is, and what its handler gets; around each: caller, limits, body, problems."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.errors import NotSignedInError, RateLimitedError
from booking.room.bot_check import BotCheck
from booking.room.callers import Callers
from booking.room.house import House
from booking.web import addresses, bodies
from booking.web.calls import Who
from booking.web.client_address import Network, client_address
from booking.web.headers import header
from booking.web.rate_limit import Allowance, Buckets

FAN_BODY = 8 * 1024
OPERATOR_BODY = 1024 * 1024

B = TypeVar("B", bound=wire.RequestMessage)


@dataclass(slots=True)
class Limits:
    """How often somebody may call, far above what a page does that keeps to `retry_after_s`."""

    per_account: Buckets = field(default_factory=lambda: Buckets(Allowance(2, 30)))
    joins_per_address: Buckets = field(default_factory=lambda: Buckets(Allowance(50, 1_000)))
    refused: int = 0

    def admit(self, caller: Caller | None, address: str | None, *, joins: bool) -> None:
        """Count a call.

        Raises:
            RateLimitedError: the caller's account or address has used up its allowance; nothing is counted then.
        """
        now = monotonic()
        owned: list[tuple[Buckets, str]] = []
        if caller is not None and caller.role is Role.FAN:
            owned.append((self.per_account, caller.principal))
        if joins and address is not None:
            owned.append((self.joins_per_address, address))
        wait_s = max((buckets.wait_s(owner, now) for buckets, owner in owned), default=0.0)
        if wait_s > 0:
            self.refused += 1
            raise RateLimitedError("Too many requests. Come again in a moment.", retry_after_s=math.ceil(wait_s))
        for buckets, owner in owned:
            buckets.take(owner, now)


@dataclass(slots=True)
class Services:
    """What handlers work with. `limits` is None for measurements."""

    house: House
    callers: Callers
    bot_check: BotCheck | None = None
    limits: Limits | None = field(default_factory=Limits)
    trusted_proxies: tuple[Network, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One call whose caller may make it."""

    services: Services
    scope: Scope
    caller: Caller | None
    address: str | None
    raw: bytes

    @property
    def house(self) -> House:
        return self.services.house

    @property
    def signed_in(self) -> Caller:
        """The caller of a route that asks for one."""
        if self.caller is None:
            raise NotSignedInError("Sign in first.")
        return self.caller

    @property
    def account(self) -> bytes:
        """The fan's account."""
        account_id = self.signed_in.account_id
        if account_id is None:
            raise NotSignedInError("The access token names no account.")
        return account_id.bytes

    @property
    def event_id(self) -> int:
        values: Mapping[str, str] = self.scope["path_params"]
        return addresses.event_id_of(values)

    @property
    def query(self) -> dict[str, str]:
        return addresses.parse_query(self.scope["query_string"])

    def header(self, name: bytes) -> str:
        """The header of this lower-case name; nothing without one."""
        return header(self.scope, name) or ""

    def body(self, kind: type[B]) -> B:
        """The body.

        Raises:
            InvalidRequestError: naming the field that is wrong.
        """
        return bodies.decode_body(self.raw, kind)


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the table. `body_limit` 0: it takes none."""

    method: str
    path: str
    handler: Callable[[Call], Awaitable[Response]]
    who: Who
    words: str
    body_limit: int = 0
    joins: bool = False


class Endpoint:
    """A route's handler behind its gate."""

    def __init__(self, route: Route, services: Services) -> None:
        self._route, self._services = route, services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route, services = self._route, self._services
        caller = await services.callers.caller(header(scope, b"authorization") or "", route.who)
        address = client_address(scope, services.trusted_proxies)
        if services.limits is not None:
            services.limits.admit(caller, address, joins=route.joins)
        raw = await bodies.read_body(scope, receive, route.body_limit) if route.body_limit else b""
        response = await route.handler(Call(services, scope, caller, address, raw))
        await response(scope, receive, send)


def answer(message: msgspec.Struct, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer that nobody on the way may keep."""
    named = {"Cache-Control": "no-store"} | dict(headers or {})
    return Response(msgspec.json.encode(message), status, headers=named, media_type="application/json")
