"""What visitors call: join, wait, take the turn over, leave; and what everybody may read of a room (R16–R19, R21)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import msgspec
from starlette.responses import Response

from backend_client import wire
from booking.domain.admission_token import session_digest
from booking.domain.caller import Role
from booking.domain.errors import BotCheckFailedError, PlaceNotFoundError
from booking.room.asking import SOONEST_S
from booking.room.callers import session_secret
from booking.room.calls import FAN_BODY, Call, Route, answer
from booking.room.event_room import Phase
from booking.room.house import Hosted
from booking.room.places import State
from booking.room.status import instant, status_of, tag_of
from booking.web.bodies import invalid
from booking.web.calls import Who
from booking.web.who import ANYONE

MOST_WAITING: Final = 5_000
"""Calls that wait at once for news; those above are answered at once, and come again after `retry_after_s`."""

_LONGEST_WAIT_S = 25.0
_FANS: Final[Who] = frozenset({Role.FAN})
_QUEUE = "/v1/events/{event_id}/queue"


async def join(call: Call) -> Response:
    """The account's place in the queue: the one that it has, or a new one (W6)."""
    session = session_secret(call.header(b"admission-session"))
    body = call.body(wire.QueueJoin)
    hosted = call.house.hosted(call.event_id)
    known = hosted.room.places.find(call.account) is not None
    if not known and hosted.room.settings.bot_check:
        if call.services.bot_check is None:
            raise BotCheckFailedError("This room checks who joins, and has nothing to check it with.")
        await call.services.bot_check.check(body.bot_proof, call.address)
    number = await call.house.join(call.event_id, call.account, body.registration_code)
    status = await _status(call, hosted, number, session)
    return _answer(status, 200 if known else 201)


async def read(call: Call) -> Response:
    """How it stands. With `wait` the answer comes when something has changed since `If-None-Match`, or time is up."""
    session = session_secret(call.header(b"admission-session"))
    wait_s = _wait_s(call.query.get("wait", "0"))
    hosted, number = _place(call)
    known = call.header(b"if-none-match").removeprefix("W/")  # as a proxy leaves it that packs answers
    status = await _status(call, hosted, number, session)
    if wait_s and known == tag_of(status) and not status.admission_token and await _wait(hosted, number, wait_s):
        status = _soon_again(await _status(call, hosted, number, session))
    return _answer(status, known=known)


async def take_over(call: Call) -> Response:
    """Take the account's turn over in this session; tokens of the other one are refused from then on."""
    session = session_secret(call.header(b"admission-session"))
    hosted, number = _place(call)
    return _answer(await _status(call, hosted, number, session, take_over=True))


async def leave(call: Call) -> Response:
    """Out of the queue. Whoever joins again stands at its end."""
    _, number = _place(call)
    await call.house.leave(call.event_id, number)
    return Response(status_code=204)


async def notice(call: Call) -> Response:
    """What everybody may read of a room: how it is ordered, whether it is open, what is left."""
    room = call.house.hosted(call.event_id).room
    early = room.phase is Phase.EARLY
    told = wire.RoomNotice(
        event_id=wire.EventId(room.event_id),
        queueing=wire.Queueing(room.settings.queueing),
        phase=wire.RoomPhase(room.phase),
        availability=wire.RoomAvailability(room.availability),
        opens_at=instant(room.opens_at),
        waiting=room.places.waiting,
        registration_required=room.settings.registration_required,
        bot_check=room.settings.bot_check,
        lot_commitment=room.commitment,
        lot_seed="" if early else room.seed.hex(),
        lot_places=room.drawn,
        server_time=instant(call.house.now()),
    )
    return answer(told, headers={"Cache-Control": "public, max-age=2"})


def _place(call: Call) -> tuple[Hosted, int]:
    """The caller's place; asking counts as being there."""
    hosted = call.house.hosted(call.event_id)
    number = hosted.room.places.find(call.account)
    if number is None:
        raise PlaceNotFoundError("This account has not joined the queue.")
    hosted.room.seen(number, call.house.now())
    return hosted, number


async def _status(
    call: Call, hosted: Hosted, number: int, session: str, *, take_over: bool = False
) -> wire.QueueStatus:
    token, expires_at = "", 0.0
    if hosted.room.places.state(number) is State.ADMITTED:
        digest = session_digest(session)
        token, expires_at = await call.house.collect(call.event_id, number, digest, take_over=take_over)
    status = status_of(hosted.room, number, call.house.now(), token, expires_at)
    hosted.room.told_to_wait(number, call.house.now(), status.retry_after_s)
    return status


async def _wait(hosted: Hosted, number: int, wait_s: float) -> bool:
    """Wait for news, or until time is up; False at once when too many do."""
    if len(hosted.waiters) >= MOST_WAITING:
        return False
    future = hosted.waiters.wait_for(number)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await future
    finally:
        hosted.waiters.forget(number, future)
    return True


def _soon_again(status: wire.QueueStatus) -> wire.QueueStatus:
    """While nobody is let in nothing moves, and whoever was kept for news is kept for the next ones: no more than that.

    How long an answer took says nothing of it: to a crowd that went by that, a slow room would say "come again soon".
    """
    if status.state is not wire.QueueState.WAITING or status.is_letting_in:
        return status
    return msgspec.structs.replace(status, retry_after_s=min(status.retry_after_s, int(SOONEST_S)))


def _wait_s(text: str) -> float:
    if not (text.isascii() and text.isdecimal() and int(text[:3]) <= _LONGEST_WAIT_S and len(text) <= 2):
        raise invalid("query:wait", f"must be a whole number of seconds from 0 to {_LONGEST_WAIT_S:g}")
    return float(text)


def _answer(status: wire.QueueStatus, code: int = 200, known: str = "") -> Response:
    """With a tag, but for one that carries a token: that is always given anew."""
    headers = {"Retry-After": str(status.retry_after_s)}
    if not status.admission_token:
        tag = headers["ETag"] = tag_of(status)
        if known == tag:
            return Response(status_code=304, headers=headers | {"Cache-Control": "no-store"})
    return answer(status, code, headers)


FAN_ROUTES: Final[tuple[Route, ...]] = (
    Route("GET", _QUEUE, read, _FANS, "How it stands for the caller; `wait` seconds for news"),
    Route("POST", _QUEUE, join, _FANS, "Join, or find the place again", FAN_BODY, joins=True),
    Route("DELETE", _QUEUE, leave, _FANS, "Leave the queue"),
    Route("POST", f"{_QUEUE}/take-over", take_over, _FANS, "Go on in this session"),
    Route("GET", "/v1/events/{event_id}/room", notice, ANYONE, "What everybody may read of a room"),
)
