"""Events, prices, tiers, and how an event is sold."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from backend_client.wire.base import EventId, Message
from backend_client.wire.states import EventStatus


class EventSummary(Message, frozen=True, kw_only=True):
    event_id: EventId
    name: str
    venue_name: str
    starts_at: datetime
    zone: str
    currency: str
    status: EventStatus
    sale_opens_at: datetime
    plan_id: UUID
    plan_version: int
    seat_count: int


class EventList(Message, frozen=True, kw_only=True):
    events: tuple[EventSummary, ...]
    server_time: datetime


class PriceCategory(Message, frozen=True, kw_only=True):
    """`category_no` is the index of the category in the plan."""

    category_no: int
    name: str
    color: str


class PriceType(Message, frozen=True, kw_only=True):
    """Adult, child, … ; `price_type_id` is stable within the event."""

    price_type_id: int
    name: str


class Price(Message, frozen=True, kw_only=True):
    category_no: int
    price_type_id: int
    amount_minor: int


class OrphanRule(StrEnum):
    """Whether a hold may leave one free seat between taken ones: never, only where it cannot be helped, or always."""

    STRICT = "strict"
    LENIENT = "lenient"
    OFF = "off"


class Tier(Message, frozen=True, kw_only=True):
    """A general-admission tier: places without numbers (R11). `available` is as of the answer, never below zero.

    `in_holds` are places that may come back; `overbooked` is by how much more was sold than a lowered capacity holds.
    """

    tier_id: int
    name: str
    category_no: int
    capacity: int
    available: int
    in_holds: int
    sold: int
    overbooked: int = 0


class TierList(Message, frozen=True, kw_only=True):
    event_id: EventId
    tiers: tuple[Tier, ...]
    server_time: datetime


class EventDetail(EventSummary, frozen=True, kw_only=True):
    """An event with all a seller needs; prices are those of `price_version`."""

    hold_ttl_s: int
    grace_s: int
    max_per_account: int
    price_version: int
    categories: tuple[PriceCategory, ...]
    price_types: tuple[PriceType, ...]
    prices: tuple[Price, ...]
    server_time: datetime
    tiers: tuple[Tier, ...] = ()
    orphan_rule: OrphanRule = OrphanRule.OFF
    settings_version: int = 1
