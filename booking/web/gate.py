"""What every HTTP call passes: who calls, whether the role may, the key, the body; then the handler.

Around all of it: the request id, and a problem for whatever went wrong.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from time import perf_counter

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect
from uuid_utils import uuid7

from backend_client import wire
from booking.domain.caller import Caller
from booking.domain.errors import BookingError, ForbiddenError, NotSignedInError
from booking.figures.meter import RequestEnd, RequestKind, end_of
from booking.services.sign_in import caller_of_token
from booking.store.database import Database
from booking.web import addresses, bodies, problems
from booking.web.calls import Call, KeyRule, Route, Services, Who
from booking.web.client_address import client_address
from booking.web.headers import header
from booking.web.problems import BodyLateError, KeyMissingError, MethodNotAllowedError, UnknownAddressError

_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_REQUEST_ID_HEADER = wire.REQUEST_ID_HEADER.lower().encode("ascii")
_KEY_HEADER = wire.IDEMPOTENCY_KEY_HEADER.lower().encode("ascii")

log = logging.getLogger(__name__)


class Endpoint:
    """A route's handler behind its gate, as the ASGI application that the router calls.

    It is no endpoint function of Starlette's: what that wraps around one, the gate and `Front` do as well.
    """

    def __init__(self, route: Route, services: Services) -> None:
        self._route, self._services = route, services
        self._name, self._changes = route.name, route.key is KeyRule.REQUIRED
        self._kind = request_kind_of(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        try:
            response = await self._answer(scope, receive)
        except Exception as error:
            if not is_gone(error):
                self._services.meter.request(self._kind, _end_of(error), perf_counter() - began)
            raise
        self._services.meter.request(self._kind, end_of(response.status_code, ""), perf_counter() - began)
        await response(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        route, services = self._route, self._services
        token = None if route.own_gate else bearer_token(header(scope, b"authorization") or "")
        caller = await caller_for(services.db, token, route.who)
        if services.rates is not None:
            address = client_address(scope, services.trusted_proxies)
            services.rates.admit(self._name, self._changes, caller, address)
        query = addresses.parse_query(scope["query_string"])
        key = _key_of(scope) if self._changes else ""
        body, digest = None, b""
        if route.body is not None:
            raw = await bodies.read_body(scope, receive, route.body_limit)
            body = bodies.decode_body(raw, route.body)
            digest = bodies.digest_of(route.method, scope["path"], raw)
        signed = await bodies.read_raw(scope, receive, route.raw_limit) if route.raw_limit else b""
        return await route.handler(Call(services, scope, caller, token or "", body, key, digest, query, signed))


_KINDS: Mapping[tuple[str, str], RequestKind] = {
    ("POST", "/holds"): RequestKind.HOLD,
    ("POST", "/checkout"): RequestKind.CHECKOUT,
    ("POST", "/payments"): RequestKind.PAYMENT,
    ("PUT", "/result"): RequestKind.RESULT,
    ("GET", "/v1/orders/{order_id}"): RequestKind.ORDER,
    ("GET", "/seats"): RequestKind.MAP,
}


def request_kind_of(route: Route) -> RequestKind:
    """Whose latency a route's answers belong to."""
    ends = ((method, end) for method, end in _KINDS if method == route.method and route.path.endswith(end))
    return next((_KINDS[found] for found in ends), RequestKind.OTHER)


def _end_of(error: Exception) -> RequestEnd:
    """How a request ended that is answered with a problem."""
    if isinstance(error, BookingError):
        status, _ = problems.STATUS_AND_TITLE[wire.ErrorCode(error.code)]
        return end_of(status, error.code)
    return end_of(error.status_code if isinstance(error, HTTPException) else 500, "")


def bearer_token(header: str) -> str | None:
    """The token of an `Authorization` header; None without one.

    Raises:
        NotSignedInError: there is a header, and it is no bearer token.
    """
    if not header:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotSignedInError("Send the access token as `Authorization: Bearer …`.")
    return token.strip()


async def caller_for(db: Database, token: str | None, who: Who) -> Caller | None:
    """The caller, if the role is among `who`.

    Raises:
        NotSignedInError, TokenExpiredError: no token where one is needed, or not a good one.
        ForbiddenError: the role may not.
    """
    caller = None if token is None else await caller_of_token(db, token)
    role = None if caller is None else caller.role
    if role in who:
        return caller
    if role is None:
        raise NotSignedInError("Sign in first.")
    raise ForbiddenError(f"The role {role} may not do this.")


def _key_of(scope: Scope) -> str:
    key = header(scope, _KEY_HEADER)
    if key is None:
        raise KeyMissingError("Every call that changes something carries an Idempotency-Key of its own.")
    if not _KEY.fullmatch(key):
        raise bodies.invalid(f"header:{wire.IDEMPOTENCY_KEY_HEADER}", "must be 1 to 200 visible ASCII characters")
    return key


class Front:
    """The outermost layer: gives each HTTP request an id, and answers every failure as a problem."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = request_id_of(scope)
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), (_REQUEST_ID_HEADER, request_id.encode("ascii"))]
            await send(message)

        try:
            addresses.check_path(scope["path"], scope.get("raw_path") or b"")
            await self._app(scope, receive, send_with_id)
        except Exception as error:
            if is_gone(error):
                log.debug("request %s: the client went away", request_id)
                return  # nobody is there to be answered, and nothing of ours has failed
            response = response_for(error, request_id, f"{scope['method']} {scope['path']}")
            if started:
                raise
            await response(scope, receive, send_with_id)


def is_gone(error: BaseException) -> bool:
    """Whether this says that the client has left: anybody may do so at any time, and it is no fault of anybody."""
    return isinstance(error, (ClientDisconnect, WebSocketDisconnect))


def response_for(error: Exception, request_id: str, what: str) -> Response:
    """The problem for an error; what nobody foresaw is logged with its trace and told without it."""
    if isinstance(error, HTTPException):
        error = _of_starlette(error)
    if isinstance(error, BookingError):
        headers = [("Allow", error.allowed)] if isinstance(error, MethodNotAllowedError) else []
        if isinstance(error, BodyLateError):
            headers.append(("Connection", "close"))
        problem = problems.problem_of(error, request_id)
        if problem.status >= 500:
            log.warning("request %s, %s: %s", request_id, what, problem.code)
        return problems.problem_response(problem, headers)
    log.error("request %s, %s failed", request_id, what, exc_info=error)
    return problems.problem_response(problems.internal_problem(request_id))


def _of_starlette(error: HTTPException) -> Exception:
    if error.status_code == 404:
        return UnknownAddressError("There is nothing at this address.")
    if error.status_code == 405:
        return MethodNotAllowedError((error.headers or {}).get("Allow", ""))
    return error


def request_id_of(scope: Scope) -> str:
    """The client's own id if it is one that can stand in a log, else a new one."""
    given = header(scope, _REQUEST_ID_HEADER)
    return given if given is not None and _REQUEST_ID.fullmatch(given) else str(uuid7())
