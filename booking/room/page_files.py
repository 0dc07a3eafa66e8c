"""The fans' page as the room serves it: its files, packed and tagged at the start, and the headers that fence it in.

`/` and `/events/{id}` are the same document, asked for anew each time (it is small, and answered by its tag). All it
loads lies under `/page/{digest of all files}/`, so browsers and edges may keep that for ever. The
Content-Security-Policy lets the page load its own files, speak to its own host and to booking, and nothing else.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.routing import Route as HttpRoute
from starlette.types import Receive, Scope, Send

from booking.domain.errors import FieldFault, InvalidRequestError
from booking.web.cross_origin import parse_origin
from booking.web.headers import header

_DOCUMENT: Final = "index.html"
_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PLACEHOLDER = re.compile(r"\{\{([a-z-]+)\}\}")
_FENCE: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_DOCUMENT_FENCE: Final[Mapping[str, str]] = {
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@dataclass(frozen=True, slots=True)
class PageSettings:
    """What the page is told. `booking_url`: where browsers find the API, empty for the page's own host.

    `payments` names the provider that it pays with; empty: it sells nothing. `widget_url` is the script of a bot check
    (Turnstile, hCaptcha, reCAPTCHA), `site_key` its public key; the only thing that may come from another host.
    """

    booking_url: str = ""
    payments: str = ""
    widget_url: str = ""
    site_key: str = ""

    def __post_init__(self) -> None:
        """Refuse addresses that the page could not be fenced in with."""
        for name, url in (("booking_url", self.booking_url), ("widget_url", self.widget_url)):
            if url:
                _origin(url, name)


@dataclass(frozen=True, slots=True)
class _File:
    """One file as it is sent. `cache` is its Cache-Control."""

    plain: bytes
    media_type: str
    cache: str
    fence: Mapping[str, str]

    def headers(self) -> dict[str, str]:
        tag = f'"{hashlib.sha256(self.plain).hexdigest()[:20]}"'
        return {"Cache-Control": self.cache, "ETag": tag, "Vary": "Accept-Encoding", **_FENCE, **self.fence}


class PageFiles:
    """All files of the page. `sizes`: bytes of each as it travels, packed."""

    def __init__(self, settings: PageSettings) -> None:
        found = {
            one.name: one.read_bytes()
            for one in files("booking.room.page").iterdir()
            if one.name[one.name.rfind(".") :] in _MEDIA_TYPES
        }
        digest = hashlib.sha256()
        for name in sorted(found):
            digest.update(name.encode() + b"\0" + found[name])
        self.folder = f"/page/{digest.hexdigest()[:16]}"
        document = _filled(found.pop(_DOCUMENT).decode(), settings, self.folder)
        fence = {**_DOCUMENT_FENCE, "Content-Security-Policy": content_security_policy(settings)}
        self._document = Served(_File(document.encode(), _MEDIA_TYPES[".html"], "no-cache", fence))
        self._assets = {
            name: Served(
                _File(content, _MEDIA_TYPES[name[name.rfind(".") :]], "public, max-age=31536000, immutable", {})
            )
            for name, content in found.items()
        }
        self.sizes = {name: asset.size for name, asset in self._assets.items()} | {_DOCUMENT: self._document.size}

    def routes(self) -> list[HttpRoute]:
        """Where the page is found."""
        document = [HttpRoute(path, self._document, methods=["GET"]) for path in ("/", "/events/{event_id:int}")]
        assets = [HttpRoute(f"{self.folder}/{name}", asset, methods=["GET"]) for name, asset in self._assets.items()]
        return [*document, *assets]


class Served:
    """One file as an ASGI application: packed once, answered by its tag."""

    def __init__(self, file: _File) -> None:
        self._file, self._headers = file, file.headers()
        self._packed = gzip.compress(file.plain, 9, mtime=0)
        self.size = len(self._packed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        known = header(scope, b"if-none-match") or ""
        if self._headers["ETag"] in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(status_code=304, headers=self._headers)
        if "gzip" in (header(scope, b"accept-encoding") or ""):
            packed = {**self._headers, "Content-Encoding": "gzip"}
            return Response(self._packed, headers=packed, media_type=self._file.media_type)
        return Response(self._file.plain, headers=self._headers, media_type=self._file.media_type)


def content_security_policy(settings: PageSettings) -> str:
    """The policy of the document: everything that is not named here is refused."""
    widget = [_origin(settings.widget_url, "widget_url")] if settings.widget_url else []
    booking = _connections(settings.booking_url) if settings.booking_url else []
    rules = {
        "default-src": ["'none'"],
        "script-src": ["'self'", *widget],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'", *booking],
        "worker-src": ["'self'"],
        "frame-src": widget or ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
    if not widget:  # a widget writes scripts of its own
        rules |= {"trusted-types": ["page"], "require-trusted-types-for": ["'script'"]}
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in rules.items())


def _connections(booking_url: str) -> list[str]:
    """The origin of booking's calls and of its feed."""
    origin = _origin(booking_url, "booking_url")
    return [origin, origin.replace("http", "ws", 1)]


def _origin(url: str, name: str) -> str:
    parts = urlsplit(url)
    try:
        return parse_origin(f"{parts.scheme}://{parts.netloc}".lower())
    except ValueError:
        fault = FieldFault(f"/{name}", "must be an address that begins with http:// or https://")
        raise InvalidRequestError(f"{url!r} is no address for browsers.", fields=(fault,)) from None


def _filled(document: str, settings: PageSettings, folder: str) -> str:
    values = {
        "folder": folder,
        "booking-url": settings.booking_url.rstrip("/"),
        "payments": settings.payments,
        "widget-url": settings.widget_url,
        "site-key": settings.site_key,
    }
    return _PLACEHOLDER.sub(lambda found: html.escape(values[found[1]]), document)
