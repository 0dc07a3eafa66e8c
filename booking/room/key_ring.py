"""The keys that sign admission tokens: made here, kept in the room's store, changed while tokens are out (R18)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from booking.domain.admission_token import LONGEST_LIFE_S, SKEW_S, Admission, sign
from booking.room.store import KeyRow

TAKES_OVER_AFTER_S: Final = 60.0
"""How long a new key is published before it signs: gateways have read it by then."""

KEPT_AFTER_S: Final = float(LONGEST_LIFE_S + 2 * SKEW_S)
"""How long a key that no longer signs is still published: as long as a token of it may live."""


class KeyRing:
    """The keys by id. The newest one that has been published long enough signs."""

    def __init__(self, rows: Iterable[KeyRow] = ()) -> None:
        self._rows = {row.key_id: row for row in rows}
        self._private = {row.key_id: Ed25519PrivateKey.from_private_bytes(row.private) for row in self._rows.values()}

    def rotate(self, now: float, *, at_once: bool = False) -> list[KeyRow]:
        """A new key. `at_once`: the others are retired now, as after a theft. Returns the rows to store."""
        private = Ed25519PrivateKey.generate()
        row = KeyRow(secrets.token_urlsafe(9), private.private_bytes_raw(), now)
        changed = [row]
        if at_once:
            changed += [replace(old, retired_at=now) for old in self._rows.values() if old.retired_at is None]
        self._private[row.key_id] = private
        self._rows |= {each.key_id: each for each in changed}
        return changed

    def signs(self, now: float) -> str:
        """The id of the key that signs now."""
        usable = [row for row in self._rows.values() if row.retired_at is None]
        ripe = [row for row in usable if now - row.created_at >= TAKES_OVER_AFTER_S]
        newest = max(ripe, key=lambda row: row.created_at, default=None)
        if newest is None:
            newest = min(usable, key=lambda row: row.created_at)
        return newest.key_id

    def published(self, now: float) -> dict[str, Ed25519PublicKey]:
        """Public keys of which a good token may be out, or will be: what gateways go by."""
        signing = self._rows[self.signs(now)]
        since = max(signing.created_at + TAKES_OVER_AFTER_S, 0.0)
        return {
            row.key_id: self._private[row.key_id].public_key()
            for row in self._rows.values()
            if row.retired_at is None and (row.created_at >= signing.created_at or now - since < KEPT_AFTER_S)
        }

    def retired(self, now: float) -> frozenset[str]:
        """The ids of our keys that are published no longer: no token of theirs is good."""
        return frozenset(self._rows) - self.published(now).keys()

    def sign(self, admission: Admission, now: float) -> str:
        """A token, of the key that signs now."""
        key_id = self.signs(now)
        return sign(admission, key_id, self._private[key_id])

    def __bool__(self) -> bool:
        return any(row.retired_at is None for row in self._rows.values())
