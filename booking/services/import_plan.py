"""Import and export of seating plans: a plan belongs to a venue, its versions never change (R13).

The same plan twice is the same version; a changed plan of the same name is the next version of it, and its seats keep
the numbers that they had (see seating_plan/numbering.py). Events stay on the version they were made with until somebody
changes their plan.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.domain.errors import FieldFault, InvalidRequestError, NotFoundError
from booking.domain.local_time import zone_of
from booking.domain.seating_plan.document import (
    digest_of_body,
    document_of_body,
    encode_body,
    plan_of_document,
)
from booking.domain.seating_plan.faults import Finding
from booking.domain.seating_plan.model import MAX_LABEL, SeatingPlan
from booking.domain.seating_plan.numbering import number_as_before
from booking.store import plan_queries
from booking.store.connection import JOB_LIMITS
from booking.store.database import Database
from booking.store.plan_queries import NewPlan


@dataclass(frozen=True, slots=True)
class ImportedPlan:
    """Where the plan is stored; `is_new` is false when this very plan was there already."""

    plan_id: UUID
    version: int
    is_new: bool


async def import_plan(
    db: Database,
    venue_name: str,
    zone: str,
    plan: SeatingPlan,
    *,
    repairs: tuple[Finding, ...] = (),
    principal: str = "system",
) -> ImportedPlan:
    """Store a plan at a venue, which is made when there is none of that name. `repairs` go into the audit log.

    Raises:
        InvalidRequestError: No venue name, an unknown zone, or another zone than the venue has.
        AuthorityAwayError, BusyError: As every transaction.
    """
    name = venue_name.strip()
    if not 0 < len(name) <= MAX_LABEL:
        raise InvalidRequestError("A venue has a name.", fields=(FieldFault("/venue", f"1 to {MAX_LABEL} characters"),))
    zone_of(zone)
    body = await asyncio.to_thread(encode_body, plan)
    digest = digest_of_body(body)
    async with db.transaction(JOB_LIMITS) as connection:
        venue = await plan_queries.lock_venue(connection, uuid7(), name, zone)
        if venue["zone"] != zone:
            message = f'the venue "{name}" is in {venue["zone"]}'
            raise InvalidRequestError("The venue has another zone.", fields=(FieldFault("/zone", message),))
        versions = await plan_queries.list_plan_versions(connection, venue["venue_id"], plan.name)
        for stored in versions:
            if bytes(stored["digest"]) == digest:
                return ImportedPlan(_uuid(stored["plan_id"]), stored["version"], is_new=False)
        plan_id = _uuid(versions[-1]["plan_id"]) if versions else uuid7()
        version = versions[-1]["version"] + 1 if versions else 1
        numbered = body
        if versions:
            before = await plan_queries.read_newest_document(connection, plan_id)
            numbered = await asyncio.to_thread(number_as_before, body, before)
        new = NewPlan(
            plan_id,
            version,
            venue["venue_id"],
            plan.name,
            document_of_body(numbered, plan_id, version),
            digest,
            None if numbered is body else document_of_body(body, plan_id, version),
        )
        await plan_queries.insert_plan(connection, new)
        detail: dict[str, object] = {
            "version": version,
            "seats": plan.seat_count,
            "repairs": [
                {"pointer": repair.pointer, "code": repair.code, "message": repair.message} for repair in repairs
            ],
        }
        await plan_queries.record_plan_import(connection, principal, str(plan_id), detail)
    return ImportedPlan(plan_id, version, is_new=True)


async def export_plan(db: Database, plan_id: UUID, version: int | None = None) -> SeatingPlan:
    """A stored plan, of the given version or the newest.

    Raises:
        NotFoundError: There is no such plan or version.
    """
    stored = await plan_queries.read_stored_plan(db, plan_id, version)
    if stored is None:
        which = f"version {version} of plan" if version else "plan"
        raise NotFoundError(f"There is no {which} {plan_id}.")
    return plan_of_document(bytes(stored["document"]))


def _uuid(value: object) -> UUID:
    """A plain UUID of the driver's own kind."""
    return UUID(str(value))
