"""Venues, their plans, and the events on them. Field names equal the wire's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from booking.domain.errors import FieldFault
from booking.domain.model import EventId, EventStatus


@dataclass(frozen=True, slots=True)
class Venue:
    """`zone` is an IANA time zone."""

    venue_id: UUID
    name: str
    zone: str


@dataclass(frozen=True, slots=True)
class VenueList:
    venues: tuple[Venue, ...]
    server_time: datetime


@dataclass(frozen=True, slots=True)
class PlanVersion:
    version: int
    seat_count: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PlanEvent:
    """An event on some version of a plan."""

    event_id: EventId
    name: str
    starts_at: datetime
    zone: str
    status: EventStatus
    plan_version: int
    settings_version: int


@dataclass(frozen=True, slots=True)
class VenuePlan:
    """`versions` newest first, `events` by their start."""

    plan_id: UUID
    name: str
    versions: tuple[PlanVersion, ...]
    events: tuple[PlanEvent, ...]


@dataclass(frozen=True, slots=True)
class VenuePlanList:
    venue: Venue
    plans: tuple[VenuePlan, ...]
    server_time: datetime


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """Where a plan was stored; `is_new` is false when this very plan was there already."""

    plan_id: UUID
    version: int
    is_new: bool
    seat_count: int
    warnings: tuple[FieldFault, ...] = ()
