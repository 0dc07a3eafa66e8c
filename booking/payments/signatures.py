"""Signatures of webhooks: `t=SECONDS,v1=HEX`, an HMAC with SHA-256 over the time, a full stop and the raw body (P31).

The scheme is Stripe's (docs.stripe.com/webhooks#verify-manually), and the sandbox's as well. Several secrets may be
good at once while one is being replaced.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from datetime import UTC, datetime

TOLERANCE_S = 300
"""An event that was signed longer ago, or further in the future, is refused."""

_MOST_SIGNATURES = 8
_SECONDS = re.compile(r"[0-9]{1,11}")


class BadSignatureError(ValueError):
    """Not signed by the provider, or signed too long ago; the text says which."""


def sign(body: bytes, secret: bytes, at: datetime) -> str:
    """The header's value for a body that is sent at `at`."""
    seconds = int(at.timestamp())
    return f"t={seconds},v1={_mac(body, secret, seconds)}"


def verify(body: bytes, header: str, secrets: Sequence[bytes], now: datetime) -> datetime:
    """As `signed_at`, and not longer ago than `TOLERANCE_S` before or after `now`."""
    at = signed_at(body, header, secrets)
    if abs((now - at).total_seconds()) > TOLERANCE_S:
        raise BadSignatureError(f"signed more than {TOLERANCE_S} s ago")
    return at


def signed_at(body: bytes, header: str, secrets: Sequence[bytes]) -> datetime:
    """When it was signed. Raw bytes are checked: whoever parses and writes JSON anew changes them.

    Raises:
        BadSignatureError: no signature of one of these secrets.
    """
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    given = [value for name, _, value in parts if name == "v1"][:_MOST_SIGNATURES]
    if len(times) != 1 or not _SECONDS.fullmatch(times[0]) or not given:
        raise BadSignatureError("no signature")
    seconds = int(times[0])
    # Compared as bytes: compare_digest refuses texts that are not ASCII.
    expected = [_mac(body, secret, seconds).encode() for secret in secrets if secret]
    if not any(hmac.compare_digest(value.encode(), mac) for value in given for mac in expected):
        raise BadSignatureError("not signed by the provider")
    return datetime.fromtimestamp(seconds, UTC)


def _mac(body: bytes, secret: bytes, seconds: int) -> str:
    return hmac.new(secret, b"%d." % seconds + body, hashlib.sha256).hexdigest()
