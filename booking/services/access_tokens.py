"""Access tokens: who calls, signed, good for minutes, read without a trip to the database.

`tq1.<claims>.<mac>`: claims are JSON, the MAC is HMAC-SHA256 over everything before it, both in base64url without
padding. The key lives in `api_keys`; its id is one of the claims, so that keys can be changed while tokens are out.
Instants are the API host's clock, because a token is read by hosts that may not reach the database.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from binascii import Error as BadBase64
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from booking.domain.caller import Caller, Channel, Role
from booking.domain.errors import NotSignedInError, TokenExpiredError

_PREFIX = "tq1"
LARGEST_TOKEN = 2048


class Claims(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a token says. `expires_at` is in seconds since 1970; `session_id` is the staff session it came from."""

    key_id: UUID
    expires_at: int
    role: Role
    device_id: UUID | None = None
    staff_id: UUID | None = None
    account_id: UUID | None = None
    session_id: UUID | None = None
    display_name: str = ""

    def caller(self) -> Caller:
        """The caller that the claims describe."""
        if self.account_id is not None:
            return Caller.fan(self.account_id, self.display_name)
        if self.device_id is None or self.staff_id is None:
            raise NotSignedInError("The access token names neither staff nor account.")
        return Caller(
            principal=f"device:{self.device_id}",
            role=self.role,
            channel=Channel.TILL,
            device_id=self.device_id,
            staff_id=self.staff_id,
            display_name=self.display_name,
        )


_claims = msgspec.json.Decoder(Claims)


def sign(claims: Claims, secret: bytes) -> str:
    """Claims → token."""
    signed = f"{_PREFIX}.{_to_text(msgspec.json.encode(claims))}"
    return f"{signed}.{_to_text(_mac(signed, secret))}"


def read(token: str, secrets: Mapping[UUID, bytes], now: datetime) -> Claims:
    """Token → claims.

    Raises:
        UnknownKeyError: signed with a key that is not among `secrets`; reading the keys again may help.
        NotSignedInError: not a token of ours.
        TokenExpiredError: it was one; refresh it.
    """
    prefix, _, rest = token.partition(".")
    body, _, mac = rest.partition(".")
    if prefix != _PREFIX or not mac or len(token) > LARGEST_TOKEN or not token.isascii():
        raise NotSignedInError("The access token is not one of ours.")
    try:
        claims = _claims.decode(_to_bytes(body))
        given = _to_bytes(mac)
    except (BadBase64, msgspec.DecodeError, UnicodeDecodeError):
        raise NotSignedInError("The access token is not one of ours.") from None
    secret = secrets.get(claims.key_id)
    if secret is None:
        raise UnknownKeyError("The access token was signed with a key that is not in use.")
    if not hmac.compare_digest(given, _mac(f"{prefix}.{body}", secret)):
        raise NotSignedInError("The access token is not one of ours.")
    if now.timestamp() >= claims.expires_at:
        raise TokenExpiredError("The access token has expired; refresh it.")
    return claims


class UnknownKeyError(NotSignedInError):
    """The token names a key that this process has not read (yet)."""


def utc_now() -> datetime:
    """The clock of tokens."""
    return datetime.now(UTC)


def _mac(signed: str, secret: bytes) -> bytes:
    return hmac.new(secret, signed.encode("ascii"), hashlib.sha256).digest()


def _to_text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _to_bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
