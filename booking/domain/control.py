"""What operators decide about an event: what is kept back, its settings, its plan. Field names equal the wire's."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from booking.domain.model import EventId, OrphanRule, SeatRef

MAX_HOUSE_SEATS = 2_000
MAX_CAPACITY = 10_000_000


class HouseHoldKind(StrEnum):
    """For whom the house keeps seats back."""

    PROMOTER = "promoter"
    ARTIST = "artist"
    TECHNICAL = "technical"
    ACCESSIBLE = "accessible"
    PRESS = "press"
    SPONSOR = "sponsor"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class HouseWish:
    """Seats to be kept back, for whom, why, and until when; None: until they are released."""

    kind: HouseHoldKind
    reason: str
    seats: tuple[int, ...]
    release_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class HouseHold:
    """Seats that the house keeps back. `seats` are those that it still keeps at the time of the answer."""

    house_hold_id: UUID
    event_id: EventId
    kind: HouseHoldKind
    reason: str
    seats: tuple[SeatRef, ...]
    release_at: datetime | None
    created_at: datetime
    created_by: str
    released_at: datetime | None


@dataclass(frozen=True, slots=True)
class HouseHoldList:
    event_id: EventId
    house_holds: tuple[HouseHold, ...]
    server_time: datetime


@dataclass(frozen=True, slots=True)
class EventSettings:
    """What operators set per event; `version` rises with each change of settings, status or plan.

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
    max_refund_by_clerk_minor: int
    admission: bool = False


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """New values by name; None leaves a setting as it is."""

    hold_ttl_s: int | None = None
    grace_s: int | None = None
    max_per_account: int | None = None
    max_per_card: int | None = None
    max_open_holds_till: int | None = None
    paying_cap: int | None = None
    orphan_rule: OrphanRule | None = None
    max_refund_by_clerk_minor: int | None = None
    admission: bool | None = None

    def given(self) -> dict[str, Any]:
        """The settings that are to change, as JSON values by column name."""
        named = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class TierWish:
    """Another capacity for a tier; `accept_overbooking` takes one below what is held and sold."""

    event_id: int
    tier_id: int
    capacity: int
    reason: str
    accept_overbooking: bool = False


@dataclass(frozen=True, slots=True)
class PlanWish:
    """Another version of its plan for an event. With `dry_run` nothing changes."""

    event_id: int
    expected: int
    plan_version: int
    reason: str
    dry_run: bool


@dataclass(frozen=True, slots=True)
class PlanChangeReport:
    """What a change of plan did, or would do. `relabelled` are taken seats that have another name now."""

    event_id: EventId
    plan_version: int
    applied: bool
    kept: int
    added: int
    removed: int
    relabelled: tuple[SeatRef, ...]
