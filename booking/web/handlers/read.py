"""Reading: health, the API's own description, events, plans, seats."""

from __future__ import annotations

import asyncio
import gzip
from collections import OrderedDict
from uuid import UUID

from starlette.responses import Response

from backend_client import wire
from backend_client.seat_frames import Layout
from booking.domain.caller import Caller, Role
from booking.services import follow_seats, read_events, read_seat
from booking.web import addresses
from booking.web.calls import Call, answer, to_wire

_PLANS_KEPT = 16
_packed_plans: OrderedDict[tuple[UUID, int], tuple[bytes, bytes]] = OrderedDict()


async def healthz(_: Call) -> Response:
    """The process answers."""
    return answer(wire.Health(status="ok"))


async def readyz(call: Call) -> Response:
    """The process can reach the booking database; 503 otherwise. Selling goes on without the sequencer: a detail."""
    return answer(wire.Health(status="ready", detail=_lateness(await follow_seats.look_at_authority(call.db))))


def _lateness(look: follow_seats.AuthorityLook) -> str:
    if look.sequenced_at is None:
        return "No sequencer has run yet: changes of seats do not reach the maps."
    if (look.server_time - look.sequenced_at).total_seconds() <= wire.FEED_LATE_S:
        return ""
    return f"No change of a seat has been numbered since {look.sequenced_at.isoformat(timespec='seconds')}."


async def events(call: Call) -> Response:
    """All events."""
    return answer(to_wire(await read_events.list_events(call.db), wire.EventList))


async def event(call: Call) -> Response:
    """One event with its prices."""
    return answer(to_wire(await read_events.read_event(call.db, call.event_id), wire.EventDetail))


async def tiers(call: Call) -> Response:
    """What is left of an event's general-admission tiers."""
    return answer(to_wire(await read_events.read_tiers(call.db, call.event_id), wire.TierList))


async def plan(call: Call) -> Response:
    """The plan of an event. A version never changes, so its bytes are packed once and checked by tag."""
    detail = await read_events.read_event(call.db, call.event_id)
    key = (detail.plan_id, detail.plan_version)
    etag = f'"{detail.plan_id}-{detail.plan_version}"'
    if _is_known(call, etag):
        return _not_modified(etag)
    packed = _packed_plans.get(key)
    if packed is None:
        document = await read_events.read_plan_document(call.db, *key)
        packed = document, await asyncio.to_thread(gzip.compress, document, 6, mtime=0)
        _packed_plans[key] = packed
        while len(_packed_plans) > _PLANS_KEPT:
            _packed_plans.popitem(last=False)
    return _bytes(call, *packed, etag, "application/json")


async def seats(call: Call) -> Response:
    """All seats in the caller's layout, from memory: the authority need not be there (R14, R15)."""
    feed = await call.services.seats.feed(call.event_id)
    packed = feed.projection.packed(layout_for(call.caller))
    if _is_known(call, packed.etag):
        return _not_modified(packed.etag)
    return _bytes(call, packed.plain, packed.gzipped, packed.etag, wire.SEATS_MEDIA_TYPE)


async def seat(call: Call) -> Response:
    """One seat with its history, for staff."""
    seat_no = addresses.seat_no_of(call.path_values)
    detail = to_wire(await read_seat.read_seat(call.db, call.event_id, seat_no), wire.SeatDetail)
    return answer(detail)


def layout_for(caller: Caller | None) -> Layout:
    """Staff see who holds a seat; the public sees whether it is free."""
    return Layout.PUBLIC if caller is None or caller.role is Role.FAN else Layout.STAFF


def _is_known(call: Call, etag: str) -> bool:
    """`If-None-Match` names this tag (weakly compared, RFC 9110 §13.1.2)."""
    named = call.header(b"if-none-match")
    return named.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in named.split(","))


def _not_modified(etag: str) -> Response:
    return Response(status_code=304, headers=_cache_headers(etag))


def _bytes(call: Call, plain: bytes, gzipped: bytes, etag: str, media_type: str) -> Response:
    headers = _cache_headers(etag)
    if _accepts_gzip(call.header(b"accept-encoding")):
        headers["Content-Encoding"] = "gzip"
        return Response(gzipped, headers=headers, media_type=media_type)
    return Response(plain, headers=headers, media_type=media_type)


def _cache_headers(etag: str) -> dict[str, str]:
    return {"ETag": etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding, Authorization"}


def _accepts_gzip(header: str) -> bool:
    for item in header.split(","):
        name, _, parameters = item.partition(";")
        if name.strip().lower() in {"gzip", "*"}:
            return parameters.replace(" ", "").lower() not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
