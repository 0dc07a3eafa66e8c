"""Import and export of seating plans: a plan belongs to a venue, its versions never change (R13).

The same plan twice is the same version; a changed plan of the same name is the next version of it, and its seats keep
the numbers that they had (see seating_plan/numbering.py). Events stay on the version they were made with until somebody
changes their plan.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.domain.errors import FieldFault, InvalidRequestError, NotFoundError, PlanChangedError
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
from booking.store.connection import JOB_LIMITS, Connection
from booking.store.database import Database
from booking.store.plan_queries import NewPlan

MAX_KEPT_REPAIRS = 200


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
    source_format: str = "",
    principal: str = "system",
) -> ImportedPlan:
    """Store a plan at a venue, which is made when there is none of that name.

    The format that the plan came in, and the repairs that were made on the way, are kept with the plan and in the
    audit log: all kinds with their numbers, and the first 200 one by one.

    Raises:
        InvalidRequestError: No venue name, an unknown zone, or another zone than the venue has.
        AuthorityAwayError, BusyError: As every transaction.
    """
    name = venue_name.strip()
    if not 0 < len(name) <= MAX_LABEL:
        raise InvalidRequestError("A venue has a name.", fields=(FieldFault("/venue", f"1 to {MAX_LABEL} characters"),))
    zone_of(zone)
    prepared = await prepare_plan(plan, source_of(source_format, repairs))
    async with db.transaction(JOB_LIMITS) as connection:
        venue = await plan_queries.lock_venue(connection, uuid7(), name, zone)
        if venue["zone"] != zone:
            message = f'the venue "{name}" is in {venue["zone"]}'
            raise InvalidRequestError("The venue has another zone.", fields=(FieldFault("/zone", message),))
        return await store_version(connection, venue["venue_id"], prepared, principal)


@dataclass(frozen=True, slots=True)
class PreparedPlan:
    """A plan ready to be stored: everything that needs no database is done."""

    plan: SeatingPlan
    body: bytes
    digest: bytes
    origin: dict[str, object]


@dataclass(frozen=True, slots=True)
class PlanSource:
    """Where a plan came from: the format of its file, how many repairs of each kind were made on the way, and the first
    of them one by one (pointer, code, message).
    """

    format: str = ""
    repair_counts: dict[str, int] = field(default_factory=dict)
    repairs: tuple[tuple[str, str, str], ...] = ()


def source_of(source_format: str, repairs: tuple[Finding, ...] = ()) -> PlanSource:
    """The source of a plan that was read just now."""
    counts = dict(Counter(repair.code.value for repair in repairs))
    return PlanSource(source_format, counts, tuple((one.pointer, one.code.value, one.message) for one in repairs))


async def prepare_plan(plan: SeatingPlan, source: PlanSource) -> PreparedPlan:
    """Encode and digest a plan, away from the loop."""
    body = await asyncio.to_thread(encode_body, plan)
    return PreparedPlan(plan, body, digest_of_body(body), _origin(source))


async def store_version(
    connection: Connection,
    venue_id: UUID,
    prepared: PreparedPlan,
    principal: str,
    expected_version: int | None = None,
    staff_id: UUID | None = None,
) -> ImportedPlan:
    """The plan as the newest version of the plan of its name, unless it is there already. The venue is locked.

    Raises:
        PlanChangedError: the newest version is another than `expected_version`.
    """
    versions = await plan_queries.list_plan_versions(connection, venue_id, prepared.plan.name)
    for stored in versions:
        if bytes(stored["digest"]) == prepared.digest:
            return ImportedPlan(_uuid(stored["plan_id"]), stored["version"], is_new=False)
    newest = versions[-1]["version"] if versions else 0
    if expected_version is not None and expected_version != newest:
        raise PlanChangedError(f"The newest version is {newest}. Read it and decide anew.")
    plan_id = _uuid(versions[-1]["plan_id"]) if versions else uuid7()
    version = newest + 1
    numbered = prepared.body
    if versions:
        before = await plan_queries.read_newest_document(connection, plan_id)
        numbered = await asyncio.to_thread(number_as_before, prepared.body, before)
    new = NewPlan(
        plan_id,
        version,
        venue_id,
        prepared.plan.name,
        document_of_body(numbered, plan_id, version, prepared.origin),
        prepared.digest,
        None if numbered is prepared.body else document_of_body(prepared.body, plan_id, version, prepared.origin),
    )
    await plan_queries.insert_plan(connection, new)
    detail: dict[str, object] = {
        "version": version, "seats": prepared.plan.seat_count, "repairs": [], **prepared.origin,
    }  # fmt: skip
    if staff_id is not None:
        detail["staff_id"] = str(staff_id)
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


def _origin(source: PlanSource) -> dict[str, object]:
    """As it is kept, bounded; empty when there is nothing to say."""
    origin: dict[str, object] = {"format": source.format} if source.format else {}
    if source.repair_counts:
        origin["repair_counts"] = source.repair_counts
        origin["repairs"] = [
            {"pointer": pointer, "code": code, "message": message}
            for pointer, code, message in source.repairs[:MAX_KEPT_REPAIRS]
        ]
    return origin


def _uuid(value: object) -> UUID:
    """A plain UUID of the driver's own kind."""
    return UUID(str(value))
