"""The line to a waiting room: its figures, and its settings, over the operators' calls (R20)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

import httpx
import msgspec

from booking.domain.admission_causes import Cause, CauseCode
from booking.domain.admission_steering import RoomSight

ANSWERS_WITHIN_S = 0.8


class Line(Protocol):
    """How the controller speaks with a room."""

    async def look(self, url: str, event_id: int, before: RoomSight | None) -> RoomSight:
        """The room as it is now; one that does not answer is as it was `before`, and not there."""
        ...

    async def tell(self, room: RoomSight, event_id: int, orders: Mapping[str, int | bool], reason: str) -> RoomSight:
        """Set what is ordered; the room as it is then, with its `problem` when it did not do it."""
        ...


class _Settings(msgspec.Struct):
    version: int
    total_active_users: int
    new_users_per_minute: int
    paused: bool


class _Figures(msgspec.Struct):
    phase: str
    availability: str
    waiting: int
    active: int
    let_in_per_minute: float
    is_letting_in: bool
    settings: _Settings
    server_time: datetime


class RoomLine:
    """A `Line` over HTTP. `token` gives a fresh token of the service account, None while there is none."""

    def __init__(self, token: Callable[[], str | None], *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._token = token
        self._client = httpx.AsyncClient(timeout=ANSWERS_WITHIN_S, transport=transport, trust_env=False)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def look(self, url: str, event_id: int, before: RoomSight | None) -> RoomSight:
        """See `Line.look`."""
        known = RoomSight(url=url) if before is None or before.url != url else before
        try:
            answer = await self._ask("GET", f"{url}/v1/rooms/{event_id}")
            seen = msgspec.json.decode(answer.content, type=_Figures)
        except (httpx.HTTPError, msgspec.MsgspecError, _RefusedError) as error:
            return _absent(known, error)
        return _seen(known, seen)

    async def tell(self, room: RoomSight, event_id: int, orders: Mapping[str, int | bool], reason: str) -> RoomSight:
        """See `Line.tell`."""
        body = {**orders, "expected_version": room.version, "reason": reason[:200]}
        try:
            answer = await self._ask("PUT", f"{room.url}/v1/rooms/{event_id}/settings", body)
            done = msgspec.json.decode(answer.content, type=_Settings)
        except (httpx.HTTPError, msgspec.MsgspecError, _RefusedError) as error:
            return _absent(room, error)
        return _with_settings(room, done, orders)

    async def _ask(self, method: str, url: str, body: object = None) -> httpx.Response:
        if not _is_private(url):
            raise _RefusedError(Cause(CauseCode.ROOM_ADDRESS_OPEN))
        token = self._token()
        if token is None:
            raise _RefusedError(Cause(CauseCode.ROOM_NO_KEY))
        headers = {"Authorization": f"Bearer {token}"}
        answer = await self._client.request(method, url, json=body, headers=headers)
        if answer.status_code != httpx.codes.OK:
            raise _RefusedError(
                Cause(CauseCode.ROOM_REFUSED, numbers={"status": float(answer.status_code)}), _code(answer)
            )
        return answer


def _is_private(url: str) -> bool:
    """Whether what is sent there can be read by nobody on the way."""
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


class _RefusedError(Exception):
    """The room answered, and did not do it; or it is not asked. `code`: its own word for it."""

    def __init__(self, cause: Cause, code: str = "") -> None:
        super().__init__(f"{cause.words} {code}".rstrip())
        self.cause = cause


class _Problem(msgspec.Struct):
    code: str = ""


def _code(answer: httpx.Response) -> str:
    try:
        return msgspec.json.decode(answer.content, type=_Problem).code
    except msgspec.MsgspecError:
        return ""


def _seen(known: RoomSight, seen: _Figures) -> RoomSight:
    now = seen.settings
    return replace(
        known, is_there=True, heard_at=seen.server_time, phase=seen.phase, availability=seen.availability,
        waiting=seen.waiting, active=seen.active, let_in_per_minute=seen.let_in_per_minute,
        is_letting_in=seen.is_letting_in, new_users_per_minute=now.new_users_per_minute,
        total_active_users=now.total_active_users, is_paused=now.paused, version=now.version,
        pause_told=known.pause_told and now.paused, problem="", problem_cause=None,
    )  # fmt: skip


def _with_settings(room: RoomSight, done: _Settings, orders: Mapping[str, int | bool]) -> RoomSight:
    return replace(
        room, new_users_per_minute=done.new_users_per_minute, total_active_users=done.total_active_users,
        is_paused=done.paused, version=done.version,
        pause_told=bool(orders["paused"]) if "paused" in orders else room.pause_told, problem="",
        problem_cause=None,
    )  # fmt: skip


def _absent(room: RoomSight, error: Exception) -> RoomSight:
    """A room that is silent is not there; one that refuses is there, and has a problem."""
    if isinstance(error, _RefusedError):
        return replace(room, is_there=room.version > 0, problem=str(error), problem_cause=error.cause)
    if isinstance(error, httpx.TimeoutException):
        cause = Cause(CauseCode.ROOM_NO_ANSWER, numbers={"within_s": ANSWERS_WITHIN_S})
        return replace(room, is_there=False, problem=cause.words, problem_cause=cause)
    cause = Cause(CauseCode.ROOM_UNREACHABLE)
    return replace(room, is_there=False, problem=str(error) or type(error).__name__, problem_cause=cause)
