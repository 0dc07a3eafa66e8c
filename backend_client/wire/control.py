"""What operators change while an event is on sale: settings, tiers, access codes, seats of the house."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from backend_client.wire.base import EventId, Instant, Message, RequestMessage, SeatNumber, ShortText
from backend_client.wire.events import OrphanRule
from backend_client.wire.problems import SeatRef


class EventSettings(Message, frozen=True, kw_only=True):
    """What operators set per event. `version` rises with each change: a change names the version it was made from.

    `max_refund_by_clerk_minor`: what a clerk may give back of one order without a supervisor. `admission`: fans hold
    only with an admission token of the waiting room (R18).
    """

    event_id: EventId
    version: int
    hold_ttl_s: int
    grace_s: int
    max_per_account: int
    max_per_card: int
    max_open_holds_till: int
    paying_cap: int
    orphan_rule: OrphanRule
    max_refund_by_clerk_minor: int = 20_000
    admission: bool = False


class EventSettingsChange(RequestMessage, frozen=True, kw_only=True):
    """Members left out stay as they are. What clerks may give back is set by supervisors and admins alone."""

    expected_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    reason: ShortText
    hold_ttl_s: Annotated[int, Meta(ge=1, le=900)] | None = None
    grace_s: Annotated[int, Meta(ge=0, le=900)] | None = None
    max_per_account: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    max_per_card: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    max_open_holds_till: Annotated[int, Meta(ge=1, le=1_000)] | None = None
    paying_cap: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    orphan_rule: OrphanRule | None = None
    max_refund_by_clerk_minor: Annotated[int, Meta(ge=0, le=10**12)] | None = None
    admission: bool | None = None


class EventStatusChange(RequestMessage, frozen=True, kw_only=True):
    """Pause, resume or cancel an event: `POST /v1/events/{id}/pause|resume|cancel`."""

    expected_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    reason: ShortText


class PlanChange(RequestMessage, frozen=True, kw_only=True):
    """Put an event on another version of its plan. With `dry_run` nothing changes and the report says what would."""

    expected_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    plan_version: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    reason: ShortText
    dry_run: bool = False


class PlanChangeReport(Message, frozen=True, kw_only=True):
    """Seats are matched by guid (I4). `relabelled` keep their sale under a new name."""

    event_id: EventId
    plan_version: int
    applied: bool
    kept: int
    added: int
    removed: int
    relabelled: tuple[SeatRef, ...] = ()


class TierChange(RequestMessage, frozen=True, kw_only=True):
    """A new capacity. Below what is sold or held it is refused, unless the overbooking is accepted by name (B7)."""

    capacity: Annotated[int, Meta(ge=0, le=10_000_000)]
    reason: ShortText
    accept_overbooking: bool = False


class AccessCodeRequest(RequestMessage, frozen=True, kw_only=True):
    """A code that raises the ticket limit of the account that uses it (B17). Upper and lower case are the same."""

    code: Annotated[str, Meta(min_length=4, max_length=60)]
    max_per_account: Annotated[int, Meta(ge=1, le=10_000)]
    max_uses: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    valid_until: Instant | None = None


class AccessCode(Message, frozen=True, kw_only=True):
    event_id: EventId
    code: str
    max_per_account: int
    uses: int
    max_uses: int | None = None
    valid_until: datetime | None = None


class AccessCodeList(Message, frozen=True, kw_only=True):
    event_id: EventId
    access_codes: tuple[AccessCode, ...]
    server_time: datetime


class HouseHoldKind(StrEnum):
    """For whom the house keeps seats back."""

    PROMOTER = "promoter"
    ARTIST = "artist"
    TECHNICAL = "technical"
    ACCESSIBLE = "accessible"
    PRESS = "press"
    SPONSOR = "sponsor"
    OTHER = "other"


class HouseHoldRequest(RequestMessage, frozen=True, kw_only=True):
    """Keeps free seats back, all or nothing; they return to sale at `release_at` by themselves."""

    kind: HouseHoldKind
    reason: ShortText
    seats: Annotated[tuple[SeatNumber, ...], Meta(min_length=1, max_length=2_000)]
    release_at: Instant | None = None


class HouseHold(Message, frozen=True, kw_only=True):
    """`seats` are those that it still keeps."""

    house_hold_id: UUID
    event_id: EventId
    kind: HouseHoldKind
    reason: str
    seats: tuple[SeatRef, ...]
    release_at: datetime | None
    created_at: datetime
    created_by: str
    released_at: datetime | None = None


class HouseHoldList(Message, frozen=True, kw_only=True):
    event_id: EventId
    house_holds: tuple[HouseHold, ...]
    server_time: datetime


class HouseHoldRelease(RequestMessage, frozen=True, kw_only=True):
    """Gives seats of a house hold back to sale; all of them when none are named."""

    reason: ShortText
    seats: Annotated[tuple[SeatNumber, ...], Meta(max_length=2_000)] = ()
