"""Fill a database for the demo: venues, events, staff, and enough sales that the map is alive.

Idempotent: what is there already is left as it is, so that a second start of the demo is instant and changes nothing.
Sales go through the same services as everybody's, so the invariants hold for them too (R39).
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from booking import sql
from booking.domain.model import EventId
from booking.domain.seating_plan.model import SeatingPlan
from booking.services.create_event import EventSpec, TierSpec, create_event
from booking.services.import_plan import ImportedPlan, import_plan
from booking.services.sample_programme import EVENTS, PRICE_TYPES, STAFF, SampleEvent, SampleVenue
from booking.services.sample_sales import sell_samples
from booking.services.sign_in import create_staff
from booking.store import plan_queries, staff_queries
from booking.store.database import Database


@dataclass(frozen=True, slots=True)
class LoadedSamples:
    """What this run added; both empty when everything was there."""

    events: tuple[EventId, ...]
    staff: tuple[str, ...]


async def load_samples(db: Database) -> LoadedSamples:
    """Add the sample venues, events, sales and staff that are not there yet.

    Staff get a random password that nobody knows: whoever starts the demo sets one with `sign_in.set_password`.

    Raises:
        AuthorityAwayError, BusyError: As every service.
    """
    staff = await _add_staff(db)
    missing = [
        event for event in EVENTS if await plan_queries.find_event_at_venue(db, event.venue.name, event.name) is None
    ]
    plans: dict[str, tuple[SeatingPlan, ImportedPlan]] = {}
    added: list[EventId] = []
    for event in missing:
        if event.venue.name not in plans:
            plans[event.venue.name] = await _import_venue(db, event.venue)
        plan, stored = plans[event.venue.name]
        spec = await _spec_of(db, event, plan, stored)
        event_id = await create_event(db, spec)
        await sell_samples(db, event_id, event, plan, taken=frozenset(spec.house_seats))
        added.append(event_id)
    return LoadedSamples(tuple(added), staff)


async def _add_staff(db: Database) -> tuple[str, ...]:
    added: list[str] = []
    for person in STAFF:
        async with db.transaction() as connection:
            known = await staff_queries.read_staff_by_name(connection, person.name)
        if known is None:
            await create_staff(db, person.name, person.display_name, person.role, secrets.token_urlsafe(32))
            added.append(person.name)
    return tuple(added)


async def _import_venue(db: Database, venue: SampleVenue) -> tuple[SeatingPlan, ImportedPlan]:
    plan = await asyncio.to_thread(venue.plan)
    return plan, await import_plan(db, venue.name, venue.zone, plan, principal="samples")


async def _spec_of(db: Database, event: SampleEvent, plan: SeatingPlan, stored: ImportedPlan) -> EventSpec:
    zone = event.venue.zone
    return EventSpec(
        name=event.name,
        plan_id=stored.plan_id,
        plan_version=stored.version,
        starts_at=datetime.combine(await _today(db, zone) + timedelta(days=event.days_ahead), event.starts),
        zone=zone,
        currency=event.currency,
        price_types=PRICE_TYPES,
        prices=event.prices(),
        house_seats=event.house_seats(plan),
        tiers=tuple(TierSpec(tier.name, tier.category, tier.capacity) for tier in event.standing),
    )


async def _today(db: Database, zone: str) -> date:
    """The date on the venue's calendar, by the database's clock."""
    row = await db.fetchrow(sql.query("read_time"))
    if row is None:
        raise LookupError("the database's clock answered nothing")
    now: datetime = row[0]
    return now.astimezone(ZoneInfo(zone)).date()
