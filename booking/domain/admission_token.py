"""Admission tokens: the waiting room lets an account in, signed with Ed25519, read by the gateway without asking (R18).

`tqa1.<key id>.<claims>.<signature>`: claims are JSON, the signature (RFC 8032) covers everything before it, both in
base64url without padding. The prefix fixes the algorithm: a token cannot name one, and a key id means one public key
and nothing else. A token says which event, which account, which session; when it begins and ends; until when the slot
lasts that it came from, which it never outlives (W4). `generation` rises whenever the account takes the slot over in
another session: the authority lets the highest one in and no other.

Instants are whole seconds since 1970, of the clocks of room and gateway, which may differ by `SKEW_S`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from binascii import Error as BadBase64
from collections.abc import Mapping
from typing import Final
from uuid import UUID

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from booking.domain.errors import AdmissionRefusedError

PREFIX: Final = "tqa1"
LARGEST_TOKEN: Final = 1024
SKEW_S: Final = 5
LONGEST_LIFE_S: Final = 3600
"""No token of ours lives longer, whatever it says of itself."""

_KEY_ID = re.compile(r"[A-Za-z0-9_-]{8,32}")
_PARTS = 4
_SESSION_BYTES = 16


class Admission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a token says. `session` is `session_digest` of the secret that the browser keeps beside its token.

    All tokens of one slot name it; with `single_purchase` a purchase spends the slot, and all of them with it.
    """

    slot_id: UUID
    event_id: int
    account_id: UUID
    session: str
    generation: int
    not_before: int
    expires_at: int
    slot_ends_at: int
    single_purchase: bool = True


_claims = msgspec.json.Decoder(Admission)


def session_digest(secret: str) -> str:
    """What a token says of its session's secret: the token alone does not let anybody else in."""
    return _to_text(hashlib.sha256(b"admission session " + secret.encode()).digest()[:_SESSION_BYTES])


def sign(admission: Admission, key_id: str, key: Ed25519PrivateKey) -> str:
    """Claims → token."""
    signed = f"{PREFIX}.{key_id}.{_to_text(msgspec.json.encode(admission))}"
    return f"{signed}.{_to_text(key.sign(signed.encode('ascii')))}"


def key_id_of(token: str) -> str:
    """The key that a token names; nothing of it is believed by that.

    Raises:
        AdmissionRefusedError: not the form of a token.
    """
    parts = token.split(".") if len(token) <= LARGEST_TOKEN and token.isascii() else []
    if len(parts) != _PARTS or parts[0] != PREFIX or not _KEY_ID.fullmatch(parts[1]):
        raise AdmissionRefusedError("The admission token is not one of ours.", reason="malformed")
    return parts[1]


def read(token: str, keys: Mapping[str, Ed25519PublicKey], now: float) -> Admission:
    """Token → claims, of a token that is good at `now`.

    Raises:
        UnknownAdmissionKeyError: signed with a key that is not among `keys`; reading the keys again may help.
        AdmissionRefusedError: not one of ours, not yet good, or no longer.
    """
    key = keys.get(key_id_of(token))
    if key is None:
        raise UnknownAdmissionKeyError("The admission token was signed with a key that is not in use.", reason="key")
    signed, _, signature = token.rpartition(".")
    try:
        key.verify(_to_bytes(signature), signed.encode("ascii"))
        admission = _claims.decode(_to_bytes(signed.rpartition(".")[2]))
    except (BadBase64, InvalidSignature, msgspec.DecodeError, UnicodeDecodeError):
        raise AdmissionRefusedError("The admission token is not one of ours.", reason="forged") from None
    check_time(admission, now)
    return admission


def check_time(admission: Admission, now: float) -> None:
    """Whether the token is good at `now`, give or take `SKEW_S`; a deadline that is reached is over.

    Raises:
        AdmissionRefusedError: too early, too late, or times that no token of ours has.
    """
    starts, ends = admission.not_before, admission.expires_at
    if not (starts < ends <= admission.slot_ends_at and ends - starts <= LONGEST_LIFE_S):
        raise AdmissionRefusedError("The admission token has times of its own.", reason="times")
    if now < starts - SKEW_S:
        raise AdmissionRefusedError("The admission token is not good yet.", reason="early")
    if now >= ends + SKEW_S:
        raise AdmissionRefusedError("Your turn is over. Join the queue again.", reason="expired")


def check_bound(admission: Admission, event_id: int, account_id: UUID | None, session_secret: str) -> None:
    """Whether the token is this caller's, for this event, in this session.

    Raises:
        AdmissionRefusedError: it is somebody else's, another event's, or was copied out of its session.
    """
    if admission.event_id != event_id:
        raise AdmissionRefusedError("The admission token is for another event.", reason="event")
    if account_id is None or admission.account_id != account_id:
        raise AdmissionRefusedError("The admission token is for another account.", reason="account")
    if not hmac.compare_digest(admission.session, session_digest(session_secret)):
        raise AdmissionRefusedError("The admission token belongs to another session.", reason="session")


class UnknownAdmissionKeyError(AdmissionRefusedError):
    """The token names a key that this process has not read (yet)."""


def _to_text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _to_bytes(text: str) -> bytes:
    """Only the one spelling that `_to_text` gives: a token has no second form that a list of spent ones would miss."""
    raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if _to_text(raw) != text:
        raise BadBase64("another spelling")
    return raw
