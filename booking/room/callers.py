"""Who calls the room: booking's own access tokens, read without booking (R16)."""

from __future__ import annotations

import asyncio
import re
from time import monotonic
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import AuthorityAwayError, ForbiddenError, NotSignedInError
from booking.room.house import House
from booking.services import access_tokens
from booking.web.bodies import invalid
from booking.web.calls import Who
from booking.web.gate import bearer_token

_MOST_KNOWN = 50_000
_ASK_AGAIN_AFTER_S = 1.0
_SESSION = re.compile(r"[A-Za-z0-9_-]{16,128}")


class Callers:
    """Reads access tokens; those that were right are remembered, because a visitor sends one many times."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._known: dict[str, tuple[float, UUID, Caller]] = {}
        self._asked_at = float("-inf")
        self._asking = asyncio.Lock()

    async def caller(self, authorization: str, who: Who) -> Caller | None:
        """The caller, if the role is among `who`.

        Raises:
            NotSignedInError, TokenExpiredError: no token where one is needed, or not a good one.
            ForbiddenError: the role may not.
        """
        token = bearer_token(authorization)
        caller = None if token is None else await self._caller_of(token)
        role = None if caller is None else caller.role
        if role in who:
            return caller
        if role is None:
            raise NotSignedInError("Sign in first.")
        raise ForbiddenError(f"The role {role} may not do this.")

    async def _caller_of(self, token: str) -> Caller:
        """Booking is asked only for a key that was not heard of, once a second at most: forged ids become no load.

        Raises:
            AuthorityAwayError: nobody knows the key, and booking, which may, is not there.
        """
        try:
            return self._read(token)
        except access_tokens.UnknownKeyError:
            await self._hear()
        try:
            return self._read(token)
        except access_tokens.UnknownKeyError:
            if self._house.authority_is_there:
                raise
            raise AuthorityAwayError("Booking cannot be asked who you are.") from None

    async def _hear(self) -> None:
        """Those who come while booking is asked wait for its answer, too."""
        async with self._asking:
            if monotonic() - self._asked_at >= _ASK_AGAIN_AFTER_S:
                await self._house.hear()
                self._asked_at = monotonic()

    def _read(self, token: str) -> Caller:
        known = self._known.get(token)
        if known is not None and self._house.now() < known[0] and known[1] in self._house.account_keys:
            return known[2]
        claims = access_tokens.read(token, self._house.account_keys, access_tokens.utc_now())
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        caller = claims.caller()
        self._known[token] = (claims.expires_at, claims.key_id, caller)
        return caller


def session_secret(header: str) -> str:
    """The secret of the caller's session.

    Raises:
        InvalidRequestError: there is none, or it is no secret of the form.
    """
    if not _SESSION.fullmatch(header):
        raise invalid("header:Admission-Session", "must be 16 to 128 letters, digits, `-` or `_`")
    return header
