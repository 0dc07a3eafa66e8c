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
STRIPE: Final = "stripe"
_PUBLISHABLE = re.compile(r"pk_(test|live)_[A-Za-z0-9_]{1,200}")
_HCAPTCHA = ("https://hcaptcha.com", "https://*.hcaptcha.com")
_RECAPTCHA = ("https://www.google.com/recaptcha/", "https://www.gstatic.com/recaptcha/")
_WIDGETS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "hcaptcha.com": dict.fromkeys(("script-src", "frame-src", "style-src", "connect-src"), _HCAPTCHA),
    "google.com": {
        "script-src": _RECAPTCHA,
        "frame-src": ("https://www.google.com/recaptcha/", "https://recaptcha.google.com/recaptcha/"),
        "connect-src": ("https://www.google.com/recaptcha/",),
    },
    "recaptcha.net": {
        "script-src": ("https://www.recaptcha.net/recaptcha/", "https://www.gstatic.com/recaptcha/"),
        "frame-src": ("https://www.recaptcha.net/recaptcha/",),
        "connect-src": ("https://www.recaptcha.net/recaptcha/",),
    },
}
"""What bot checks need beside the origin of their script, by the domain of it, as their makers document."""
_STRIPE_JS: Final[Mapping[str, tuple[str, ...]]] = {
    "script-src": ("https://js.stripe.com", "https://*.js.stripe.com"),
    "frame-src": ("https://js.stripe.com", "https://*.js.stripe.com", "https://hooks.stripe.com"),
    "connect-src": ("https://api.stripe.com",),
}
"""As Stripe documents for Stripe.js; its hosts for addresses on maps are left out: nobody is asked for an address."""
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_COMMENT = re.compile(rb"(?m)^[ ]*//.*$")
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
    (Turnstile, hCaptcha, reCAPTCHA), `site_key` its public key; `stripe_key` is Stripe's publishable key: only what
    these two bring may come from another host.
    """

    booking_url: str = ""
    payments: str = ""
    widget_url: str = ""
    site_key: str = ""
    stripe_key: str = ""

    def __post_init__(self) -> None:
        """Refuse addresses that the page could not be fenced in with, and keys that are not for the public."""
        for name, url in (("booking_url", self.booking_url), ("widget_url", self.widget_url)):
            if url:
                _origin(url, name)
        if (self.payments == STRIPE) != bool(self.stripe_key):
            raise _fault("stripe_key", "Payments by Stripe and a publishable key go together.", "goes with payments")
        if self.stripe_key and not _PUBLISHABLE.fullmatch(self.stripe_key):
            raise _fault("stripe_key", "That is no publishable key of Stripe.", "begins with pk_test_ or pk_live_")


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
            name: Served(_File(_sent(name, content), _MEDIA_TYPES[name[name.rfind(".") :]], _FOR_EVER, {}))
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


def _sent(name: str, content: bytes) -> bytes:
    """A file as it travels: lines of comment are empty, so that the others keep their numbers."""
    return _COMMENT.sub(b"", content) if name.endswith(".js") else content


def content_security_policy(settings: PageSettings) -> str:
    """The policy of the document: everything that is not named here is refused."""
    booking = _connections(settings.booking_url) if settings.booking_url else []
    rules = {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'", *booking],
        "worker-src": ["'self'"],
        "frame-src": [],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
    others = _others(settings)
    for needed in others:
        for name, sources in needed.items():
            rules[name] += [source for source in sources if source not in rules[name]]
    rules["frame-src"] = rules["frame-src"] or ["'none'"]
    if not others:  # scripts of others write scripts of their own
        rules |= {"trusted-types": ["page"], "require-trusted-types-for": ["'script'"]}
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in rules.items())


def _others(settings: PageSettings) -> list[Mapping[str, tuple[str, ...]]]:
    """What scripts of other hosts need, of those that were named."""
    needed: list[Mapping[str, tuple[str, ...]]] = []
    if settings.widget_url:
        origin = _origin(settings.widget_url, "widget_url")
        host = urlsplit(origin).hostname or ""
        known = next((name for name in _WIDGETS if f".{host}".endswith(f".{name}")), "")
        needed += [_WIDGETS[known]] if known else [{"script-src": (origin,), "frame-src": (origin,)}]
    if settings.stripe_key:
        needed.append(_STRIPE_JS)
    return needed


def _connections(booking_url: str) -> list[str]:
    """The origin of booking's calls and of its feed."""
    origin = _origin(booking_url, "booking_url")
    return [origin, origin.replace("http", "ws", 1)]


def _fault(name: str, detail: str, words: str) -> InvalidRequestError:
    return InvalidRequestError(detail, fields=(FieldFault(f"/{name}", words),))


def _origin(url: str, name: str) -> str:
    parts = urlsplit(url)
    try:
        return parse_origin(f"{parts.scheme}://{parts.netloc}".lower())
    except ValueError:
        words = "must be an address that begins with http:// or https://"
        raise _fault(name, f"{url!r} is no address for browsers.", words) from None


def _filled(document: str, settings: PageSettings, folder: str) -> str:
    values = {
        "folder": folder,
        "booking-url": settings.booking_url.rstrip("/"),
        "payments": settings.payments,
        "widget-url": settings.widget_url,
        "site-key": settings.site_key,
        "stripe-key": settings.stripe_key,
    }
    return _PLACEHOLDER.sub(lambda found: html.escape(values[found[1]]), document)
