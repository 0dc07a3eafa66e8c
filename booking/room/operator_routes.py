"""What operators call: open a room, read its figures, set it, its registration codes, its log, its keys (R20, R21)."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from starlette.responses import Response

from backend_client import wire
from booking.domain.admission_control import BY_CONTROLLER
from booking.domain.caller import ADMISSION_CONTROLLER
from booking.domain.text import storable_texts
from booking.room.calls import OPERATOR_BODY, Call, Route, answer
from booking.room.house import Hosted, House
from booking.room.settings import Queueing, Settings
from booking.room.status import instant
from booking.web.bodies import invalid
from booking.web.who import ADMINS, ANYONE, LEADERS, OPERATORS, STAFF

_ROOM = "/v1/rooms/{event_id}"
_CHANGES_SHOWN = 200
_FARTHEST_S = 10 * 365.25 * 86_400


async def rooms(call: Call) -> Response:
    """All rooms."""
    return answer(wire.RoomList(rooms=tuple(figures(call.house, one) for one in call.house.rooms.values())))


async def room(call: Call) -> Response:
    """One room's figures and settings."""
    return answer(figures(call.house, call.house.hosted(call.event_id)))


async def open_room(call: Call) -> Response:
    """A waiting room for an event; the one that it has, if it has one."""
    body = call.body(wire.RoomOpening)
    (reason,) = storable_texts({"/reason": body.reason})
    settings = Settings(queueing=Queueing(body.queueing))
    if body.opens_at.timestamp() > call.house.now() + _FARTHEST_S:
        raise invalid("/opens_at", "must be within the next ten years")
    known = call.event_id in call.house.rooms
    who = _name(call)
    hosted = await call.house.open_room(call.event_id, body.opens_at.timestamp(), settings, who, reason)
    return answer(figures(call.house, hosted), 200 if known else 201)


async def change_settings(call: Call) -> Response:
    """Change settings from the version named."""
    body = call.body(wire.RoomSettingsChange)
    (reason,) = storable_texts({"/reason": body.reason})
    before = call.house.hosted(call.event_id).room.settings
    given: dict[str, Any] = {
        name: value
        for name, value in msgspec.structs.asdict(body).items()
        if value is not None and name not in ("expected_version", "reason")
    }
    if "queueing" in given:
        given["queueing"] = Queueing(given["queueing"])
    wanted = msgspec.structs.replace(before, **given)
    after = await call.house.change_settings(call.event_id, body.expected_version, wanted, _name(call), reason)
    return answer(msgspec.convert(after, wire.RoomSettings, from_attributes=True))


async def add_codes(call: Call) -> Response:
    """Registration codes."""
    body = call.body(wire.RegistrationCodes)
    (reason,) = storable_texts({"/reason": body.reason})
    count = await call.house.add_codes(call.event_id, list(body.codes), _name(call), reason)
    return answer(wire.RegistrationCodeCount(event_id=wire.EventId(call.event_id), codes=count))


async def changes(call: Call) -> Response:
    """The room's log: who, when, from, to, why."""
    call.house.hosted(call.event_id)
    found = await call.house.changes(call.event_id, _CHANGES_SHOWN)
    told = [
        wire.RoomChange(at=instant(one.at), who=one.who, what=one.what, was=one.was, now=one.now, reason=one.reason)
        for one in found
    ]
    return answer(wire.RoomChangeList(event_id=wire.EventId(call.event_id), changes=tuple(told)))


async def keys(call: Call) -> Response:
    """The public keys of admission tokens."""
    now = call.house.now()
    published = {name: key.public_bytes_raw().hex() for name, key in call.house.keys.published(now).items()}
    return answer(wire.AdmissionKeys(keys=published, signs=call.house.keys.signs(now)))


async def rotate_keys(call: Call) -> Response:
    """A new signing key."""
    body = call.body(wire.KeyRotation)
    (reason,) = storable_texts({"/reason": body.reason})
    await call.house.rotate_keys(_name(call), reason, at_once=body.at_once)
    return await keys(call)


async def health(_call: Call) -> Response:
    """The process answers."""
    return answer(wire.Health(status="ok"))


def figures(house: House, hosted: Hosted) -> wire.RoomFigures:
    """One room as operators see it."""
    room, now = hosted.room, house.now()
    return wire.RoomFigures(
        event_id=wire.EventId(room.event_id),
        phase=wire.RoomPhase(room.phase),
        availability=wire.RoomAvailability(room.availability),
        opens_at=instant(room.opens_at),
        places=len(room.places),
        waiting=room.places.waiting,
        active=room.active,
        let_in_per_minute=round(room.pace.per_minute(now), 1),
        is_letting_in=room.is_letting_in,
        authority_is_there=house.authority_is_there,
        registration_codes=len(hosted.codes),
        settings=msgspec.convert(room.settings, wire.RoomSettings, from_attributes=True),
        server_time=instant(now),
    )


def _name(call: Call) -> str:
    caller = call.signed_in
    if caller.staff_id == ADMISSION_CONTROLLER:
        return BY_CONTROLLER
    return f"staff:{caller.staff_id}" if caller.staff_id else caller.principal


OPERATOR_ROUTES: Final[tuple[Route, ...]] = (
    Route("GET", "/healthz", health, ANYONE, "The process answers"),
    Route("GET", "/v1/rooms", rooms, STAFF, "All rooms"),
    Route("GET", _ROOM, room, STAFF, "One room's figures and settings"),
    Route("PUT", _ROOM, open_room, OPERATORS, "A waiting room for an event", OPERATOR_BODY),
    Route("PUT", f"{_ROOM}/settings", change_settings, OPERATORS, "Change settings", OPERATOR_BODY),
    Route("POST", f"{_ROOM}/codes", add_codes, LEADERS, "Registration codes", OPERATOR_BODY),
    Route("GET", f"{_ROOM}/changes", changes, STAFF, "The log: who, when, from, to, why"),
    Route("GET", "/v1/admission-keys", keys, ANYONE, "Public keys of admission tokens"),
    Route("POST", "/v1/admission-keys", rotate_keys, ADMINS, "A new signing key", OPERATOR_BODY),
)
