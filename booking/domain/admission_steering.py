"""One second of steering an event's room: what was decided, seen beside what the room really does (R20).

The law decides a rate; the room has one. They differ when the room was not reachable, was started with another store,
was set by somebody, or when a controller is started anew. What happens then is here: never a jump upwards. All values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil

from booking.domain.admission_causes import Cause
from booking.domain.admission_control import (
    AdmissionChange,
    AdmissionMode,
    AdmissionSettings,
    AdmissionState,
    AdmissionWhy,
    decide_and_say,
)
from booking.domain.admission_control_law import LawState
from booking.domain.admission_control_signals import AdmissionSignals


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomSight:
    """A room as it was seen last. `version` is that of its settings; `problem` says why it is not there.

    `problem_cause` is the same in a code.
    `pause_told`: the pause that the room is in was told by the controller, which may also end it; one that somebody
    made in the room itself is left alone. It is true from before the order on, whose answer may be lost. `obeyed_at`:
    when it last did what was decided, by the authority's time.
    """

    url: str
    is_there: bool = False
    heard_at: datetime | None = None
    phase: str | None = None
    availability: str | None = None
    waiting: int = 0
    active: int = 0
    new_users_per_minute: int = 0
    total_active_users: int = 0
    let_in_per_minute: float = 0.0
    is_letting_in: bool = False
    is_paused: bool = False
    version: int = 0
    pause_told: bool = False
    problem: str = ""
    problem_cause: Cause | None = None
    obeyed_at: datetime | None = None


def take_over(state: AdmissionState | None, settings: AdmissionSettings, room: RoomSight) -> AdmissionState:
    """Where a controller begins that is new to this event: where the last one stopped, or with what the room does.

    Of the two the lower rate: after an outage the room may have been stopped in the meantime.
    """
    rate = min(float(room.new_users_per_minute), settings.cap_per_minute)
    if state is None:
        return AdmissionState(rate, LawState(rate=rate, good=settings.cap_per_minute))
    if not room.is_there or state.per_minute <= rate:
        return state
    return replace(state, per_minute=rate, law=replace(state.law, rate=min(state.law.rate, rate), calm_s=0.0))


def step(
    state: AdmissionState, settings: AdmissionSettings, signals: AdmissionSignals, measured_at: datetime,
    room: RoomSight, at: datetime,
) -> tuple[AdmissionState, AdmissionWhy, AdmissionChange | None]:  # fmt: skip
    """The state a second later, why, and the change to be recorded, if there is one.

    What a room that is not there cannot be told is not raised: it would come back to a rate that nobody has tried.
    """
    after, why, change = decide_and_say(state, settings, signals, measured_at, at)
    if room.is_there or after.per_minute <= state.per_minute:
        return after, why, change
    kept = replace(after, per_minute=state.per_minute, law=replace(after.law, rate=state.law.rate))
    return kept, why, None


def orders(state: AdmissionState, settings: AdmissionSettings, room: RoomSight) -> Mapping[str, int | bool]:
    """What the room has to be told, by the names of its settings; empty when it does all of it already."""
    rate = ceil(state.per_minute) if state.per_minute < 1 else round(state.per_minute)
    told: dict[str, int | bool] = {}
    if room.new_users_per_minute != rate:
        told["new_users_per_minute"] = rate
    if room.total_active_users != settings.total_active_users:
        told["total_active_users"] = settings.total_active_users
    is_paused = settings.mode is AdmissionMode.PAUSED
    if is_paused != room.is_paused and (is_paused or room.pause_told):
        told["paused"] = is_paused
    return told
