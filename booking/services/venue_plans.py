"""What a plan editor works with: venues, their plans with all versions, one version as a file, a new version (R13, I3).

A saved plan is a new version; no event moves by it. Events are moved by `change_plan`, which obeys I4.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import FieldFault, InvalidRequestError, NotFoundError
from booking.domain.model import EventId, EventStatus
from booking.domain.replay import Outcome
from booking.domain.seating_plan import own_reader
from booking.domain.seating_plan.faults import Finding, PlanReading
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.own_writer import write_own
from booking.domain.venues import PlanEvent, PlanVersion, SavedPlan, Venue, VenueList, VenuePlan, VenuePlanList
from booking.services.import_plan import (
    ImportedPlan,
    PlanSource,
    PreparedPlan,
    export_plan,
    prepare_plan,
    store_version,
)
from booking.services.refusals import key_use, refusal
from booking.store import venue_queries
from booking.store.connection import JOB_LIMITS, Connection, Record
from booking.store.database import Database
from booking.store.sale_calls import KeyUse

MAX_FIELDS: Final = 1_000
"""Findings that an answer names; further ones are counted."""
_AT: Final = "/plan"
_NOTHING_MENDED: Final = ReadOptions(repairs=frozenset())


async def list_venues(db: Database) -> VenueList:
    """All venues, by name."""
    rows, server_time = await venue_queries.list_venues(db)
    return VenueList(tuple(_venue_of(row) for row in rows), server_time)


async def list_plans(db: Database, venue_id: UUID) -> VenuePlanList:
    """The plans of a venue with their versions and the events on them.

    Raises:
        NotFoundError: there is no such venue.
    """
    rows, server_time = await venue_queries.list_venues(db, venue_id)
    if not rows:
        raise NotFoundError("There is no such venue.")
    versions = await venue_queries.list_venue_plans(db, venue_id)
    events = await venue_queries.list_venue_plan_events(db, venue_id)
    plans = {row["plan_id"]: row["name"] for row in versions}
    return VenuePlanList(
        _venue_of(rows[0]),
        tuple(
            VenuePlan(
                UUID(str(plan_id)),
                name,
                tuple(
                    PlanVersion(row["version"], row["seat_count"], row["created_at"])
                    for row in versions
                    if row["plan_id"] == plan_id
                ),
                tuple(_event_of(row) for row in events if row["plan_id"] == plan_id),
            )
            for plan_id, name in plans.items()
        ),
        server_time,
    )


async def read_plan_file(db: Database, plan_id: UUID, version: int) -> bytes:
    """A version as a file of our own format; saved as it is, it is the same version.

    Raises:
        NotFoundError: there is no such plan or version.
    """
    plan = await export_plan(db, plan_id, version)
    return await asyncio.to_thread(write_own, plan)


async def save_plan(
    db: Database,
    caller: Caller,
    venue_id: UUID,
    data: bytes,
    expected_version: int | None = None,
    *,
    key: str,
    digest: bytes,
    origin: PlanSource | None = None,
) -> Outcome[SavedPlan]:
    """Store a plan file of our own format as the newest version of the plan of its name. `origin`: what its author says
    about where it came from, kept with it.

    Raises:
        InvalidRequestError: everything that is wrong with the file, each with its place; nothing is stored (I3).
        NotFoundError: there is no such venue.
        PlanChangedError: somebody else has saved another version meanwhile.
        KeyReusedError, BusyError, AuthorityAwayError: as they say.
    """
    use = key_use(key, digest)
    reading = await asyncio.to_thread(read_plan, data, _NOTHING_MENDED, format_name=own_reader.FORMAT)
    prepared = await prepare_plan(_plan_of(reading), origin or PlanSource(own_reader.FORMAT))
    async with db.transaction(JOB_LIMITS) as connection:
        if not await venue_queries.lock_venue_by_id(connection, venue_id):
            raise NotFoundError("There is no such venue.")
        before = await _stored_before(connection, caller, venue_id, prepared, use)
        if before is not None:
            return Outcome(_saved(before, prepared, reading), replayed=True)
        stored = await store_version(
            connection, venue_id, prepared, caller.principal, expected_version, caller.staff_id
        )
        await venue_queries.spend_plan_key(connection, caller.principal, use, venue_id, stored.plan_id)
    return Outcome(_saved(stored, prepared, reading), replayed=False)


async def _stored_before(
    connection: Connection, caller: Caller, venue_id: UUID, prepared: PreparedPlan, use: KeyUse
) -> ImportedPlan | None:
    """What this key stored; None when it is new.

    Raises:
        KeyReusedError: it stored something else.
    """
    seen = await venue_queries.see_plan_key(connection, caller.principal, use, venue_id)
    if seen["code"] is None:
        return None
    if seen["code"]:
        raise refusal(seen["code"])
    version = await venue_queries.find_plan_version(connection, seen["result_id"], prepared.digest)
    return ImportedPlan(UUID(str(seen["result_id"])), version, is_new=True)


def _saved(stored: ImportedPlan, prepared: PreparedPlan, reading: PlanReading) -> SavedPlan:
    warnings = tuple(_fields(reading.warnings))
    return SavedPlan(stored.plan_id, stored.version, stored.is_new, prepared.plan.seat_count, warnings)


def _plan_of(reading: PlanReading) -> SeatingPlan:
    if reading.plan is None:
        raise InvalidRequestError("This plan has faults.", fields=tuple(_fields(reading.faults)))
    return reading.plan


def _fields(findings: Iterable[Finding]) -> Iterable[FieldFault]:
    """Findings with pointers into the request; what is beyond the bound is counted."""
    found = tuple(findings)
    for finding in found[:MAX_FIELDS]:
        saying = finding.saying
        message = f"{finding.message} [{finding.code}]"
        yield FieldFault(_AT + finding.pointer, message, saying.says.key, dict(saying.values))
    if len(found) > MAX_FIELDS:
        yield FieldFault(_AT, f"{len(found) - MAX_FIELDS:,} more")


def _venue_of(row: Record) -> Venue:
    return Venue(UUID(str(row["venue_id"])), row["name"], row["zone"])


def _event_of(row: Record) -> PlanEvent:
    return PlanEvent(
        EventId(row["event_id"]), row["name"], row["starts_at"], row["zone"], EventStatus(row["status"]),
        row["plan_version"], row["settings_version"],
    )  # fmt: skip
