"""Pages of other origins that may call this API from a browser: exactly those that were named, and never with cookies.

An origin that was not named gets no header of ours, so its browser shows it nothing. Callers still need a token: being
named lets a page read answers, not do more than anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend_client import wire
from booking.web.headers import header

_ORIGIN = re.compile(r"https?://(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?")
_ASKED_ANEW_AFTER_S = 7200
_METHODS = "GET, POST, PUT, DELETE"
_SENT = ", ".join(
    (
        "Authorization", "Content-Type", "If-None-Match", wire.IDEMPOTENCY_KEY_HEADER, wire.REQUEST_ID_HEADER,
        wire.ADMISSION_TOKEN_HEADER, wire.ADMISSION_SESSION_HEADER,
    )
)  # fmt: skip
_SHOWN = ", ".join(("ETag", "Retry-After", wire.REQUEST_ID_HEADER, wire.REPLAYED_HEADER))


def parse_origin(text: str) -> str:
    """`https://tickets.example` or `http://127.0.0.1:8080`, as browsers write it.

    Raises:
        ValueError: it is none; a path, a trailing slash and `*` are not part of one.
    """
    if not _ORIGIN.fullmatch(text):
        raise ValueError(f"{text!r} is no origin such as https://tickets.example")
    return text


class CrossOrigin:
    """Around the API: answers what browsers ask before a call, and marks answers as readable for the named origins."""

    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = header(scope, b"origin") if scope["type"] == "http" else None
        if origin is None or origin not in self._origins:
            await self._app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method") is not None:
            await _permission(origin)(scope, receive, send)
            return
        marks = [
            (b"access-control-allow-origin", origin.encode("ascii")),
            (b"access-control-expose-headers", _SHOWN.encode("ascii")),
        ]

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*_varied(message.get("headers", ())), *marks]
            await send(message)

        await self._app(scope, receive, send_marked)


def _permission(origin: str) -> Response:
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": _SENT,
            "Access-Control-Max-Age": str(_ASKED_ANEW_AFTER_S),
            "Vary": "Origin",
        },
    )


def _varied(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What is kept on the way is kept for each origin apart."""
    kept = list(headers)
    named = [value for name, value in kept if name.lower() == b"vary"]
    others = [(name, value) for name, value in kept if name.lower() != b"vary"]
    return [*others, (b"vary", b", ".join([*named, b"Origin"]))]
