"""Venues and their plans of `FakeBookingServer`: versions in memory, and refusals of the real thing by command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import msgspec

from backend_client.testing_house import RefusalError
from backend_client.wire import (
    ErrorCode,
    FieldProblem,
    PlanChange,
    PlanChangeReport,
    PlanEvent,
    PlanFile,
    PlanFileReport,
    PlanFinding,
    PlanOriginNote,
    PlanUpload,
    PlanVersion,
    SavedPlan,
    SeatRef,
    Venue,
    VenueList,
    VenuePlan,
    VenuePlanList,
)

_SAVED_AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass(slots=True)
class PlanShelf:
    """`plans` are the stored files by venue and plan name, oldest first. `faults` refuse the next save; `taken` seats
    keep every event from moving.
    """

    venues: list[Venue] = field(
        default_factory=lambda: [Venue(venue_id=UUID(int=21), name="Teatro da Trindade", zone="Europe/Lisbon")]
    )
    plans: dict[tuple[UUID, str], list[bytes]] = field(default_factory=dict)
    events: dict[str, list[PlanEvent]] = field(default_factory=dict)
    faults: tuple[FieldProblem, ...] = ()
    taken: tuple[SeatRef, ...] = ()
    changes: list[tuple[int, PlanChange]] = field(default_factory=list)
    reader: Callable[[PlanFile], PlanFileReport] | None = None
    """Reads files of other formats; without it every file is one that nobody knows."""
    looked_at: list[PlanFile] = field(default_factory=list)
    notes: list[PlanOriginNote | None] = field(default_factory=list)

    def list_venues(self) -> VenueList:
        """All venues."""
        return VenueList(venues=tuple(self.venues), server_time=_SAVED_AT)

    def list_plans(self, venue_id: UUID) -> VenuePlanList:
        """The plans of one, the newest version first."""
        venue = next((venue for venue in self.venues if venue.venue_id == venue_id), None)
        if venue is None:
            raise RefusalError(ErrorCode.NOT_FOUND)
        plans = tuple(
            VenuePlan(
                plan_id=plan_id_of(name),
                name=name,
                versions=tuple(
                    PlanVersion(version=number, seat_count=_seats_in(data), created_at=_SAVED_AT)
                    for number, data in reversed(list(enumerate(versions, start=1)))
                ),
                events=tuple(self.events.get(name, ())),
            )
            for (owner, name), versions in self.plans.items()
            if owner == venue_id
        )
        return VenuePlanList(venue=venue, plans=plans, server_time=_SAVED_AT)

    def read(self, plan_id: UUID, version: int) -> bytes:
        """One version as it was saved."""
        for (_venue, name), versions in self.plans.items():
            if plan_id_of(name) == plan_id and 0 < version <= len(versions):
                return versions[version - 1]
        raise RefusalError(ErrorCode.NOT_FOUND)

    def look_at(self, file: PlanFile) -> PlanFileReport:
        """What is in a file."""
        self.looked_at.append(file)
        if self.reader is not None:
            return self.reader(file)
        fault = PlanFinding(pointer="", code="unknown-format", message="this is no plan")
        return PlanFileReport(
            format="unknown", seats=0, ga_capacity=0, sections=0, categories=0, fault_count=1, faults=(fault,)
        )

    def save(self, venue_id: UUID, upload: PlanUpload) -> SavedPlan:
        """A new version, unless `faults` say otherwise."""
        if self.faults:
            raise RefusalError(ErrorCode.INVALID_REQUEST, fields=self.faults)
        data = bytes(upload.plan)
        name = str(msgspec.json.decode(data)["name"])
        versions = self.plans.setdefault((venue_id, name), [])
        if upload.expected_version is not None and upload.expected_version != len(versions):
            raise RefusalError(ErrorCode.PLAN_CHANGED)
        is_new = data not in versions
        self.notes.append(upload.origin)
        if is_new:
            versions.append(data)
        number = versions.index(data) + 1
        return SavedPlan(plan_id=plan_id_of(name), version=number, is_new=is_new, seat_count=_seats_in(data))

    def change(self, event_id: int, change: PlanChange) -> PlanChangeReport:
        """Put an event on another version, unless seats are `taken`."""
        if self.taken:
            raise RefusalError(ErrorCode.PLAN_CONFLICT, self.taken)
        for events in self.events.values():
            for place, event in enumerate(events):
                if event.event_id == event_id:
                    self.changes.append((event_id, change))
                    if not change.dry_run:
                        events[place] = msgspec.structs.replace(
                            event, plan_version=change.plan_version, settings_version=event.settings_version + 1
                        )
                    return PlanChangeReport(
                        event_id=event.event_id, plan_version=change.plan_version, applied=not change.dry_run,
                        kept=10, added=2, removed=1,
                    )  # fmt: skip
        raise RefusalError(ErrorCode.EVENT_NOT_FOUND)


def plan_id_of(name: str) -> UUID:
    """The id that the fake gives a plan of this name."""
    return uuid5(UUID(int=0), name)


def _seats_in(data: bytes) -> int:
    plan: dict[str, Any] = msgspec.json.decode(data)
    return sum(len(row["seats"]) for section in plan["sections"] for row in section["rows"])
