"""A token of the service account that sets rooms' rates (R20): signed with the keys in the database, good for a minute.

It stands on no command line and in no file. The key is kept while the database is away, so that the room can be told to
let nobody in just then.
"""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from booking.domain.caller import ADMISSION_CONTROLLER, Role
from booking.services import access_tokens
from booking.services.access_tokens import Claims
from booking.store import staff_queries
from booking.store.database import Database

LIVES_S = 60
_KEY_IS_GOOD_FOR_S = 30


class ServiceAccount:
    """Signs tokens of the account; from one event loop."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._key: tuple[UUID, bytes] | None = None
        self._read_at = 0.0

    async def learn_key(self) -> None:
        """Read the key that signs, now and then.

        Raises:
            AuthorityAwayError: the database cannot be asked; what was read before goes on being used.
        """
        now = datetime.now(UTC).timestamp()
        if self._key is not None and now - self._read_at < _KEY_IS_GOOD_FOR_S:
            return
        keys = await staff_queries.read_signing_keys(self._db)
        if keys:
            self._key, self._read_at = list(keys.items())[-1], now

    def token(self) -> str | None:
        """A token; None while there is no key, which the first sign-in makes."""
        if self._key is None:
            return None
        key_id, secret = self._key
        expires_at = int(datetime.now(UTC).timestamp()) + LIVES_S
        claims = Claims(
            key_id=key_id, expires_at=expires_at, role=Role.OPS, device_id=ADMISSION_CONTROLLER,
            staff_id=ADMISSION_CONTROLLER, display_name="admission controller",
        )  # fmt: skip
        return access_tokens.sign(claims, secret)
