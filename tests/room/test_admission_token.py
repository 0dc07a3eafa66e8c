"""Attacks on admission tokens, as a table: each changes one thing of a good token, and each is refused (R18, W6)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from uuid import UUID

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from booking.domain.admission_token import (
    LARGEST_TOKEN,
    SKEW_S,
    Admission,
    UnknownAdmissionKeyError,
    check_bound,
    read,
    session_digest,
    sign,
)
from booking.domain.errors import AdmissionRefusedError

NOW = 1_800_000_000
KEY_ID, OTHER_ID = "key-one-1", "key-two-2"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
KEYS = {KEY_ID: KEY.public_key(), OTHER_ID: OTHER.public_key()}
EVENT, ACCOUNT, SECRET = 7, UUID(int=5), "a secret of this browser"
GOOD = Admission(
    slot_id=UUID(int=9), event_id=EVENT, account_id=ACCOUNT, session=session_digest(SECRET), generation=1,
    not_before=NOW - 10, expires_at=NOW + 60, slot_ends_at=NOW + 600,
)  # fmt: skip
TOKEN = sign(GOOD, KEY_ID, KEY)


def let_in(token: str, now: float = NOW) -> Admission:
    """What the gateway does before it asks the database."""
    admission = read(token, KEYS, now)
    check_bound(admission, EVENT, ACCOUNT, SECRET)
    return admission


def changed(**members: object) -> str:
    """A token that the room itself would have signed, with other members."""
    return sign(msgspec.structs.replace(GOOD, **members), KEY_ID, KEY)


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def parts(token: str) -> list[str]:
    return token.split(".")


def resigned(body: bytes, key_id: str = KEY_ID, prefix: str = "tqa1") -> str:
    """Signed by our own key, whatever it says."""
    signed = f"{prefix}.{key_id}.{b64(body)}"
    return f"{signed}.{b64(KEY.sign(signed.encode()))}"


def with_claims(**members: object) -> str:
    """The claims changed, the signature left as it was."""
    prefix, key_id, body, signature = parts(TOKEN)
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    return ".".join([prefix, key_id, b64(json.dumps(claims | members).encode()), signature])


def jwt(algorithm: str, key: bytes) -> str:
    header = b64(json.dumps({"alg": algorithm, "typ": "JWT", "kid": KEY_ID}).encode())
    signed = f"{header}.{parts(TOKEN)[2]}"
    mac = b64(hmac.new(key, signed.encode(), hashlib.sha256).digest()) if algorithm != "none" else ""
    return f"{signed}.{mac}"


def mac_under_public_key() -> str:
    """The classic confusion: our public key used as a secret."""
    signed = TOKEN.rpartition(".")[0]
    mac = hmac.new(KEY.public_key().public_bytes_raw(), signed.encode(), hashlib.sha512).digest()
    return f"{signed}.{b64(mac)}"


def last_bit_spelt_otherwise() -> str:
    """Base64 leaves bits over in its last letter: another spelling of the very same signature."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return TOKEN[:-1] + letters[letters.index(TOKEN[-1]) ^ 1]


ATTACKS: dict[str, tuple[Callable[[], str], str]] = {
    "no token at all": (lambda: "", "malformed"),
    "forged: another signature": (lambda: TOKEN[:-86] + b64(bytes(64)), "forged"),
    "forged: claims changed": (lambda: with_claims(event_id=EVENT + 1), "forged"),
    "forged: longer life": (lambda: with_claims(expires_at=NOW + 6000), "forged"),
    "forged: another generation": (lambda: with_claims(generation=99), "forged"),
    "another key under our key id": (lambda: sign(GOOD, KEY_ID, OTHER), "forged"),
    "our key under another key id": (lambda: sign(GOOD, OTHER_ID, KEY), "forged"),
    "unknown key id": (lambda: sign(GOOD, "no-such-key", OTHER), "key"),
    "key id that is a path": (lambda: TOKEN.replace(KEY_ID, "../../etc"), "malformed"),
    "key id that is empty": (lambda: TOKEN.replace(KEY_ID, ""), "malformed"),
    "algorithm none": (lambda: jwt("none", b""), "malformed"),
    "algorithm HS256 under the public key": (lambda: jwt("HS256", KEY.public_key().public_bytes_raw()), "malformed"),
    "HMAC where the signature belongs": (mac_under_public_key, "forged"),
    "a prefix of its own": (lambda: resigned(msgspec.json.encode(GOOD), prefix="tqa0"), "malformed"),
    "an access token": (lambda: "tq1.e30.e30", "malformed"),
    "another event": (lambda: changed(event_id=EVENT + 1), "event"),
    "another account": (lambda: changed(account_id=UUID(int=6)), "account"),
    "copied to a second session": (lambda: changed(session=session_digest("another browser")), "session"),
    "expired": (lambda: changed(expires_at=NOW - SKEW_S), "expired"),
    "not yet good": (lambda: changed(not_before=NOW + SKEW_S + 1), "early"),
    "outlives its slot": (lambda: changed(slot_ends_at=NOW + 59), "times"),
    "lives for ever": (lambda: changed(expires_at=NOW + 10**6, slot_ends_at=NOW + 10**6), "times"),
    "ends before it begins": (lambda: changed(not_before=NOW, expires_at=NOW), "times"),
    "truncated by a letter": (lambda: TOKEN[:-1], "forged"),
    "truncated to half": (lambda: TOKEN[: len(TOKEN) // 2], "malformed"),
    "without signature": (lambda: TOKEN.rpartition(".")[0] + ".", "forged"),
    "spelt otherwise": (last_bit_spelt_otherwise, "forged"),
    "padded": (lambda: TOKEN + "=", "forged"),
    "something behind it": (lambda: TOKEN + ".x", "malformed"),
    "blanks around it": (lambda: f" {TOKEN} ", "malformed"),
    "huge": (lambda: TOKEN + "A" * 10_000_000, "malformed"),
    "just too long": (lambda: TOKEN.ljust(LARGEST_TOKEN + 1, "A"), "malformed"),
    "not ASCII": (lambda: TOKEN[:-1] + "é", "malformed"),
    "lone surrogate": (lambda: TOKEN[:-1] + "\ud800", "malformed"),
    "NUL": (lambda: TOKEN + "\0", "forged"),
    "signed, and no JSON": (lambda: resigned(b"\xff\xfe"), "forged"),
    "signed, and deep": (lambda: resigned(b"[" * 600), "forged"),
    "signed, with a member of its own": (
        lambda: resigned(msgspec.json.encode(msgspec.to_builtins(GOOD) | {"admin": True})), "forged",
    ),
    "signed, with a member missing": (lambda: resigned(b'{"event_id":7}'), "forged"),
    "signed, with a text for a number": (
        lambda: resigned(msgspec.json.encode(msgspec.to_builtins(GOOD) | {"expires_at": "9999999999"})), "forged",
    ),
}  # fmt: skip


def test_a_good_token_lets_its_account_in() -> None:
    assert let_in(TOKEN) == GOOD


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(name: str) -> None:
    make, reason = ATTACKS[name]
    with pytest.raises(AdmissionRefusedError) as refused:
        let_in(make())
    assert refused.value.reason == reason
    assert [(fault.pointer, fault.message) for fault in refused.value.fields] == [("header:Admission-Token", reason)]


def test_a_caller_without_an_account_is_let_in_by_no_token() -> None:
    with pytest.raises(AdmissionRefusedError):
        check_bound(GOOD, EVENT, None, SECRET)


@pytest.mark.parametrize("place", range(0, len(TOKEN), 7))
def test_no_letter_can_be_changed(place: int) -> None:
    other = "A" if TOKEN[place] != "A" else "B"
    with pytest.raises(AdmissionRefusedError):
        let_in(TOKEN[:place] + other + TOKEN[place + 1 :])


def test_clocks_may_differ_a_little_and_no_more() -> None:
    last = GOOD.expires_at + SKEW_S - 0.001
    assert let_in(TOKEN, GOOD.not_before - SKEW_S) == let_in(TOKEN, last) == GOOD
    for now in (GOOD.not_before - SKEW_S - 0.001, GOOD.expires_at + SKEW_S):
        with pytest.raises(AdmissionRefusedError):
            let_in(TOKEN, now)


def test_a_retired_key_lets_nobody_in() -> None:
    with pytest.raises(UnknownAdmissionKeyError):
        read(TOKEN, {OTHER_ID: OTHER.public_key()}, NOW)
