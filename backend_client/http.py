"""HTTP to the booking API: the one place that knows httpx and turns its errors into ours.

What could not be sent had no effect; whatever fails after that may have had one. A 503 with code `busy` was shed before
anything began; every other 5xx leaves the outcome of a mutating call open.
"""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
from uuid_utils.compat import uuid7

from backend_client.errors import (
    AnswerUnknownError,
    AnswerUnreadableError,
    BookingClientError,
    InsecureAddressError,
    ServiceUnavailableError,
    refusal,
)
from backend_client.steady_time import steady_seconds
from backend_client.wire import IDEMPOTENCY_KEY_HEADER, PROBLEM_MEDIA_TYPE, REQUEST_ID_HEADER, ErrorCode, Problem

TIMEOUT = httpx.Timeout(10.0, connect=2.0, pool=2.0)
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
_problems = msgspec.json.Decoder(Problem)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """One call. A call with a `key` is mutating. `within_s` bounds this attempt; None means the usual time-outs."""

    method: str
    path: str
    body: msgspec.Struct | None = None
    key: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    within_s: float | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A 2xx or 304 answer; `sent_at` and `received_at` are seconds of the local steady clock."""

    status: int
    headers: httpx.Headers
    content: bytes
    request_id: str
    sent_at: float
    received_at: float


def is_loopback(host: str) -> bool:
    """True for this machine's own addresses."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(base_url: str) -> str:
    """The address without a trailing slash.

    Raises:
        InsecureAddressError: not HTTPS, and not plain HTTP to this machine; or no address at all.
    """
    parts = urlsplit(base_url)
    if not parts.hostname or parts.scheme not in ("http", "https"):
        raise InsecureAddressError(f"no HTTP address: {base_url!r}")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise InsecureAddressError("plain HTTP is used on this machine only")
    return base_url.rstrip("/")


class Http:
    """Sends requests; knows nothing of tokens or of what the calls mean."""

    def __init__(self, base_url: str, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.base_url = check_address(base_url)
        parts = urlsplit(self.base_url)
        self._client = httpx.AsyncClient(
            base_url=self.base_url,
            timeout=TIMEOUT,
            transport=transport,
            follow_redirects=False,
            trust_env=not is_loopback(parts.hostname or ""),
            verify=ssl.create_default_context() if parts.scheme == "https" else False,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def send(self, request: Request, token: str | None) -> Response:
        """Send once.

        Raises:
            ServiceUnavailableError: it did not leave, or was shed unbegun.
            AnswerUnknownError: it left, and no readable answer came.
            BookingRefusedError: a definite no.
        """
        request_id = str(uuid7())
        headers = {REQUEST_ID_HEADER: request_id, **dict(request.headers)}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if request.key:
            headers[IDEMPOTENCY_KEY_HEADER] = request.key
        content: bytes | None = None
        if request.body is not None:
            content = msgspec.json.encode(request.body)
            headers["Content-Type"] = "application/json"
        timeout = TIMEOUT if request.within_s is None else _shorter(request.within_s)
        sent_at = steady_seconds()
        try:
            answer = await self._client.request(
                request.method, request.path, content=content, headers=headers, timeout=timeout
            )
        except _NOT_SENT as error:
            raise ServiceUnavailableError(f"not reached: {error}", request_id=request_id) from error
        except httpx.HTTPError as error:
            raise _no_answer(request, f"no answer: {type(error).__name__}", request_id) from error
        if answer.status_code < 300 or answer.status_code == HTTPStatus.NOT_MODIFIED:
            return Response(answer.status_code, answer.headers, answer.content, request_id, sent_at, steady_seconds())
        raise _error_of(request, answer, request_id)


def decode(response: Response, message_type: type[T], *, mutating: bool) -> T:
    """The body as a message.

    Raises:
        AnswerUnknownError: a mutating call's answer cannot be read: it took effect, and we cannot say which.
        AnswerUnreadableError: the same for a reading call.
    """
    try:
        return msgspec.json.decode(response.content, type=message_type)
    except msgspec.DecodeError as error:
        kind = AnswerUnknownError if mutating else AnswerUnreadableError
        raise kind(f"unreadable answer: {error}", request_id=response.request_id) from error


def _shorter(within_s: float) -> httpx.Timeout:
    return httpx.Timeout(within_s, connect=min(2.0, within_s), pool=min(2.0, within_s))


def _no_answer(request: Request, message: str, request_id: str) -> BookingClientError:
    """A mutating call may have taken effect; a reading one can simply be made again."""
    if request.key:
        return AnswerUnknownError(message, request_id=request_id)
    return ServiceUnavailableError(message, request_id=request_id)


def _error_of(request: Request, answer: httpx.Response, request_id: str) -> BookingClientError:
    problem = _problem_of(answer)
    if answer.status_code >= 500:
        busy = problem is not None and problem.code is ErrorCode.BUSY
        if busy or (answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE and not request.key):
            return ServiceUnavailableError("busy", request_id=request_id, retry_after_s=_retry_after(answer, problem))
        return _no_answer(request, f"status {answer.status_code}", request_id)
    if problem is None:
        return _no_answer(request, f"status {answer.status_code} without a problem that we can read", request_id)
    return refusal(problem)


def _problem_of(answer: httpx.Response) -> Problem | None:
    if not answer.headers.get("content-type", "").startswith(PROBLEM_MEDIA_TYPE):
        return None
    try:
        return _problems.decode(answer.content)
    except msgspec.DecodeError:
        return None


def _retry_after(answer: httpx.Response, problem: Problem | None) -> float | None:
    """Seconds from the header (a number of seconds, or a date beside the answer's own date) or from the problem."""
    said = answer.headers.get("retry-after", "")
    if said.isdigit():
        return float(said)
    if said and "date" in answer.headers:
        try:
            pause = parsedate_to_datetime(said) - parsedate_to_datetime(answer.headers["date"])
        except ValueError:
            return None
        return max(0.0, pause.total_seconds())
    return None if problem is None or problem.retry_after_s is None else float(problem.retry_after_s)
