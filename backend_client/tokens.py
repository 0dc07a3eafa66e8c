"""The signed-in session's tokens: a short-lived access token, and the refresh token that is used once.

However many calls find the access token expired, one refresh runs and all wait for it. Nothing here is logged, and no
`repr` shows a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from backend_client.errors import NothingDoneError, NotSignedInError
from backend_client.steady_time import steady_seconds
from backend_client.wire import ErrorCode, Problem, StaffSession

REFRESH_EARLY_S = 15.0

_NOBODY = Problem(type="about:blank", title="Nobody is signed in", status=401, code=ErrorCode.NOT_SIGNED_IN)
Refresh = Callable[[StaffSession], Awaitable[StaffSession]]


class Tokens:
    """`refresh` exchanges the session for a new one; it raises when that is refused or not possible."""

    def __init__(self, refresh: Refresh) -> None:
        self._refresh = refresh
        self._session: StaffSession | None = None
        self._expires_at = 0.0
        self._running: asyncio.Task[StaffSession] | None = None

    @property
    def session(self) -> StaffSession | None:
        """The session in use."""
        return self._session

    def put(self, session: StaffSession | None) -> None:
        """Use this session from now on; its life is counted on the local steady clock from now."""
        self._session = session
        if session is not None:
            life_s = (session.access_expires_at - session.server_time).total_seconds()
            self._expires_at = steady_seconds() + life_s

    async def access_token(self) -> str | None:
        """A token that is not about to expire; None when nobody is signed in."""
        session = self._session
        if session is None:
            return None
        left_s = self._expires_at - steady_seconds()
        if left_s > REFRESH_EARLY_S:
            return session.access_token
        try:
            return (await self.renew(session.access_token)).access_token
        except NothingDoneError:
            if left_s <= 0:
                raise
            return session.access_token

    async def renew(self, rejected_token: str) -> StaffSession:
        """The session after a refresh. A token that another call has replaced meanwhile needs none.

        Cancelling one waiting call does not cancel the refresh: its answer is given once and must be kept.

        Raises:
            NotSignedInError: the person has signed out meanwhile, or the refresh is refused.
            BookingClientError: it cannot be renewed now.
        """
        session = self._session
        if session is None:
            raise NotSignedInError(_NOBODY)
        if session.access_token != rejected_token:
            return session
        if self._running is None:
            self._running = asyncio.create_task(self._run(session), name="refresh-token")
            self._running.add_done_callback(self._on_done)
        return await asyncio.shield(self._running)

    async def _run(self, session: StaffSession) -> StaffSession:
        renewed = await self._refresh(session)
        self.put(renewed)
        return renewed

    def _on_done(self, task: asyncio.Task[StaffSession]) -> None:
        self._running = None
        if not task.cancelled():
            task.exception()
