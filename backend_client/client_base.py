"""What every call of the booking API goes through: tokens, retries, and who hears of it.

The methods that the business names are in `client` and the `client_…` modules beside it, by area.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

import httpx

from backend_client.errors import (
    AnswerUnknownError,
    BookingRefusedError,
    NotSignedInError,
    ServiceUnavailableError,
)
from backend_client.http import Http, Request, Response, decode
from backend_client.retry import RetryPolicy, call_with_retry
from backend_client.steady_time import steady_seconds
from backend_client.tokens import Tokens
from backend_client.wire import (
    REPLAYED_HEADER,
    DeviceId,
    ErrorCode,
    Hold,
    Me,
    Order,
    PaymentAnswer,
    RefreshRequest,
    RefundAnswer,
    ResultAnswer,
    StaffSession,
)

T = TypeVar("T")
TimeListener = Callable[[datetime, float, float], None]
_TELLS_TIME = (Hold, Order, StaffSession, Me)
"""Messages whose `server_time` is read when they are made; lists of events may come from a cache."""


class ClientBase:
    """See the module. The three `on_…` callbacks are called on the loop that makes the calls."""

    def __init__(
        self,
        base_url: str,
        *,
        device_id: DeviceId,
        transport: httpx.AsyncBaseTransport | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.device_id = device_id
        self.on_session: Callable[[StaffSession | None], None] = _ignore
        """A sign-in or a refresh gave a new session (its refresh token replaces the old one), or the session ended."""
        self.on_time: TimeListener = _ignore
        """A reading of the server's clock: the time, and the steady instants of asking and hearing."""
        self.on_reached: Callable[[bool], None] = _ignore
        """Whether the last call reached the booking system."""
        self.reached_at = float("-inf")
        """The steady instant of the last answer."""
        self._http = Http(base_url, transport=transport)
        self._retry = RetryPolicy() if retry is None else retry
        self._tokens = Tokens(self._exchange_session)

    @property
    def base_url(self) -> str:
        """The address of the booking system."""
        return self._http.base_url

    @property
    def session(self) -> StaffSession | None:
        """The signed-in session."""
        return self._tokens.session

    async def access_token(self) -> str | None:
        """A fresh access token, for the seat feed."""
        return await self._tokens.access_token()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    async def _read(self, path: str, message_type: type[T]) -> T:
        return await self._call(Request("GET", path), message_type)

    async def _call(
        self, request: Request, message_type: type[T], policy: RetryPolicy | None = None, *, anonymous: bool = False
    ) -> T:
        async def attempt() -> T:
            response = await self._attempt(request, anonymous=anonymous)
            message = decode(response, message_type, mutating=bool(request.key))
            self._hear_time(message, response)
            return message

        return await call_with_retry(attempt, self._retry if policy is None else policy)

    async def _answer(self, request: Request, policy: RetryPolicy) -> Response:
        return await call_with_retry(lambda: self._attempt(request), policy)

    async def _attempt(self, request: Request, *, anonymous: bool = False) -> Response:
        """Send once, with a fresh token; once more when the API says that the token has expired."""
        try:
            response = await self._send_signed(request, anonymous=anonymous)
        except ServiceUnavailableError as error:
            self._hear_reached(error.retry_after_s is not None)
            raise
        except AnswerUnknownError:
            self._hear_reached(False)
            raise
        except BookingRefusedError:
            self._hear_reached(True)
            raise
        self._hear_reached(True)
        return response

    def _hear_reached(self, reached: bool) -> None:
        if reached:
            self.reached_at = steady_seconds()
        self.on_reached(reached)

    async def _send_signed(self, request: Request, *, anonymous: bool) -> Response:
        token = None if anonymous else await self._tokens.access_token()
        try:
            return await self._http.send(request, token)
        except NotSignedInError as error:
            if token is None or error.problem.code is not ErrorCode.TOKEN_EXPIRED:
                self._end_session(token)
                raise
        renewed = await self._tokens.renew(token)
        return await self._http.send(request, renewed.access_token)

    async def _exchange_session(self, session: StaffSession) -> StaffSession:
        body = RefreshRequest(refresh_token=session.refresh_token, device_id=session.device_id)
        request = Request("POST", "/v1/staff/refresh", body)
        try:
            renewed = decode(await self._http.send(request, None), StaffSession, mutating=False)
        except NotSignedInError:
            self._end_session(session.access_token)
            raise
        self.on_session(renewed)
        return renewed

    def _take_session(self, session: StaffSession) -> None:
        self._tokens.put(session)
        self.on_session(session)

    def _end_session(self, token: str | None) -> None:
        """The API no longer knows the session that `token` belongs to; one that replaced it meanwhile stays."""
        session = self._tokens.session
        if session is not None and session.access_token == token:
            self._tokens.put(None)
            self.on_session(None)

    def _hear_time(self, message: object, response: Response) -> None:
        """A replayed answer carries the time of the first one, and says nothing about now."""
        if REPLAYED_HEADER in response.headers:
            return
        told = message.order if isinstance(message, PaymentAnswer | ResultAnswer | RefundAnswer) else message
        if isinstance(told, _TELLS_TIME):
            self.on_time(told.server_time, response.sent_at, response.received_at)


def _ignore(*_arguments: object) -> None:
    """Nobody listens."""
