"""What a visitor is told, and when to ask again: seldom from afar, often shortly before the turn, spread over time."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import msgspec

from backend_client import wire
from booking.room.asking import POLLS_PER_S, SPREAD, asks_every_s
from booking.room.event_room import EventRoom, Phase, Standing
from booking.room.places import State

_STATES = {
    State.WAITING: wire.QueueState.WAITING,
    State.AWAY: wire.QueueState.AWAY,
    State.ADMITTED: wire.QueueState.ADMITTED,
    State.BOUGHT: wire.QueueState.BOUGHT,
    State.LEFT: wire.QueueState.LEFT,
    State.OVER: wire.QueueState.OVER,
}
_LAST_S = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
_ADMITTED_S, _OUT_S = 10.0, 30.0


def instant(seconds: float) -> datetime:
    """Seconds since 1970 → instant; what lies beyond the calendar is its last second."""
    return datetime.fromtimestamp(min(seconds, _LAST_S), UTC)


def status_of(room: EventRoom, number: int, now: float, token: str = "", expires_at: float = 0.0) -> wire.QueueStatus:
    """How it stands for one place; `token` is this session's, when it has the turn."""
    standing = room.standing(number, now)
    estimate = standing.estimate
    return wire.QueueStatus(
        event_id=wire.EventId(room.event_id),
        state=_STATES[standing.state],
        phase=wire.RoomPhase(room.phase),
        availability=wire.RoomAvailability(room.availability),
        is_letting_in=room.is_letting_in,
        waiting=standing.waiting,
        opens_at=instant(room.opens_at),
        retry_after_s=ask_again_after_s(room, standing, number, now),
        server_time=instant(now),
        ahead=standing.ahead,
        estimate=msgspec.convert(estimate, wire.QueueEstimate, from_attributes=True) if estimate else None,
        admission_token=token,
        token_expires_at=instant(expires_at) if token else None,
        slot_ends_at=instant(standing.slot_ends_at) if standing.slot_ends_at is not None and token else None,
        is_elsewhere=standing.state is State.ADMITTED and not token,
    )


def ask_again_after_s(room: EventRoom, standing: Standing, number: int, now: float) -> int:
    """Whole seconds; never so many that who keeps to them would count as gone."""
    if standing.state in (State.BOUGHT, State.LEFT, State.OVER) or room.phase is Phase.CLOSED:
        return int(_OUT_S)
    if standing.state is State.ADMITTED:
        return int(min(_ADMITTED_S, room.settings.collect_within_s / 4, room.settings.token_life_s / 3))
    settings = room.settings
    wanted = asks_every_s(
        standing.waiting, settings.away_after_s, settings.collect_within_s, _seconds_to_turn(room, standing, now)
    )
    spread = 1 - SPREAD + 2 * SPREAD * (number * 2654435761 % 2**32) / 2**32
    return max(1, round(wanted * spread))


def _seconds_to_turn(room: EventRoom, standing: Standing, now: float) -> float | None:
    if room.phase is Phase.EARLY:
        # The opening is news for everybody: all come nearer together, as near as the line's share allows.
        return max(room.opens_at - now, 4 * standing.waiting / POLLS_PER_S)
    return float(standing.estimate.low_s) if standing.estimate else None


def tag_of(status: wire.QueueStatus) -> str:
    """The entity tag: the same as long as nothing has changed that a visitor would want to know."""
    settled = msgspec.structs.replace(status, server_time=status.opens_at, retry_after_s=0, waiting=0)
    return f'"{hashlib.sha256(msgspec.json.encode(settled)).hexdigest()[:20]}"'
