"""How many people an event lets in: what operators set, what the controller does with it, and why (R20).

Rates are new users per minute. The public half of the waiting room is in `queue`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from backend_client.wire.base import EventId, Message, RequestMessage, ShortText
from backend_client.wire.causes import Cause
from backend_client.wire.queue import RoomAvailability, RoomPhase

PerMinute = Annotated[int, Meta(ge=0, le=600_000)]
Target = Annotated[float, Meta(gt=0, le=1_000_000)]
Share = Annotated[float, Meta(gt=0, le=1)]


class AdmissionMode(StrEnum):
    """AUTOMATIC follows what the sale feels, MANUAL a rate that was named, PAUSED lets nobody in."""

    AUTOMATIC = "automatic"
    MANUAL = "manual"
    PAUSED = "paused"


class AdmissionReason(StrEnum):
    """Why the rate is what it is."""

    STRAIN = "strain"
    RECOVERING = "recovering"
    PROBING = "probing"
    SHOPPERS_AT_LIMIT = "shoppers-at-limit"
    FEW_SEATS_LEFT = "few-seats-left"
    AUTHORITY_AWAY = "authority-away"
    FIGURES_MISSING = "figures-missing"
    PAUSED = "paused"
    MANUAL = "manual"
    CAP = "cap"
    SET_BY_OPS = "set-by-ops"


class AdmissionTargets(Message, frozen=True, kw_only=True):
    """Where each figure presses with a strain of 1; `completion_share` is the least that is well."""

    queue_age_ms: float
    hold_p99_ms: float
    lock_waits: float
    ticketing_lag_s: float
    payment_error_share: float
    payments_unknown: float
    completion_share: float


class AdmissionSettings(Message, frozen=True, kw_only=True):
    """What operators set. `version` rises with each change; 0: nobody has set anything yet.

    `cap_per_minute` holds in every mode. `least_per_minute` is let in under strain too, so that recovery shows.
    `mode_before_pause` is what a resume goes back to. `changed_by` is a name for people.
    """

    version: int
    mode: AdmissionMode
    mode_before_pause: AdmissionMode
    cap_per_minute: int
    manual_per_minute: int
    least_per_minute: int
    total_active_users: int
    targets: AdmissionTargets
    changed_at: datetime | None = None
    changed_by: str = ""


class AdmissionFigures(Message, frozen=True, kw_only=True):
    """What the controller saw last; absent: not known. Shares from 0 to 1. `strains`: figure over its target."""

    measured_at: datetime
    strains: dict[str, float]
    queue_age_ms: float | None = None
    hold_p99_ms: float | None = None
    lock_waits: float | None = None
    ticketing_lag_s: float | None = None
    payment_error_share: float | None = None
    payments_unknown: float | None = None
    completion_share: float | None = None
    active_shoppers: float | None = None
    departures_per_minute: float | None = None
    seats_free: float | None = None


class AdmissionRoom(Message, frozen=True, kw_only=True):
    """The event's room as the controller saw it last. `is_there`: it answered the last time it was asked.

    `new_users_per_minute` is set in the room now, `let_in_per_minute` measured there; `problem`: why it is not, in
    English, and `problem_cause` the same in a code.
    """

    url: str
    is_there: bool
    heard_at: datetime | None = None
    phase: RoomPhase | None = None
    availability: RoomAvailability | None = None
    waiting: int = 0
    active: int = 0
    new_users_per_minute: int = 0
    total_active_users: int = 0
    let_in_per_minute: float = 0.0
    is_letting_in: bool = False
    is_paused: bool = False
    problem: str = ""
    problem_cause: Cause | None = None


class AdmissionControl(Message, frozen=True, kw_only=True):
    """Set beside measured. `per_minute` is what the room is told; `good_per_minute` the rate that went well.

    `is_steered`: a controller has decided within the last seconds (`decided_at`); without one the room keeps its rate.
    `words` says in English why it is so, `cause` the same in a code.
    `room` is absent for an event whose room has not made itself known.
    """

    event_id: EventId
    settings: AdmissionSettings
    per_minute: float
    good_per_minute: float
    reason: AdmissionReason
    words: str
    is_steered: bool
    server_time: datetime
    decided_at: datetime | None = None
    figures: AdmissionFigures | None = None
    room: AdmissionRoom | None = None
    cause: Cause | None = None


class AdmissionTargetsChange(RequestMessage, frozen=True, kw_only=True):
    """Members left out stay as they are."""

    queue_age_ms: Target | None = None
    hold_p99_ms: Target | None = None
    lock_waits: Target | None = None
    ticketing_lag_s: Target | None = None
    payment_error_share: Share | None = None
    payments_unknown: Target | None = None
    completion_share: Share | None = None


class AdmissionSettingsChange(RequestMessage, frozen=True, kw_only=True):
    """Members left out stay as they are. `expected_version` is the one that the change was made from."""

    expected_version: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    reason: ShortText
    mode: AdmissionMode | None = None
    cap_per_minute: PerMinute | None = None
    manual_per_minute: PerMinute | None = None
    least_per_minute: PerMinute | None = None
    total_active_users: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    targets: AdmissionTargetsChange | None = None


class AdmissionPreviewRequest(RequestMessage, frozen=True, kw_only=True):
    """What would be set: as in a change."""

    mode: AdmissionMode | None = None
    cap_per_minute: PerMinute | None = None
    manual_per_minute: PerMinute | None = None
    least_per_minute: PerMinute | None = None
    total_active_users: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    targets: AdmissionTargetsChange | None = None


class AdmissionPreviewPoint(Message, frozen=True, kw_only=True):
    """The rate so many seconds from now."""

    after_s: int
    per_minute: float


class AdmissionPreview(Message, frozen=True, kw_only=True):
    """What a setting would give if all figures stayed as they are now: the law, run forward.

    `all_in_after_s`: when the last of `waiting` would be let in; absent: not within a day. `shoppers_inside` then, by
    today's stay; absent while nobody has left.
    """

    per_minute: float
    at_most_per_minute: float
    waiting: int
    reason: AdmissionReason
    rates: tuple[AdmissionPreviewPoint, ...]
    all_in_after_s: int | None = None
    shoppers_inside: float | None = None


class AdmissionChange(Message, frozen=True, kw_only=True):
    """One line of the log: who, when, from, to, why. `by` is `controller` or `staff:ID`; `numbers`: its grounds.

    `words` are a person's own, or the controller's in English, with `cause` as the same in a code.
    """

    change_no: int
    at: datetime
    by: str
    by_name: str
    mode: AdmissionMode
    from_per_minute: float
    to_per_minute: float
    reason: AdmissionReason
    words: str
    numbers: dict[str, float]
    cause: Cause | None = None


class AdmissionChangeList(Message, frozen=True, kw_only=True):
    """Changes, newest first; `next` is where the following, older ones begin, absent at the end."""

    event_id: EventId
    changes: tuple[AdmissionChange, ...]
    next: int | None = None
