"""What the tests of changing plans share: halls of a few rows, an event in one, and the change itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID, uuid4

from booking.domain.caller import Role
from booking.domain.control import PlanChangeReport, PlanWish
from booking.domain.seating_plan.model import Category, LabelPosition, Row, Seat, SeatingPlan, Section
from booking.services.change_plan import change_plan
from booking.services.create_event import EventSpec, create_event
from booking.services.import_plan import ImportedPlan, import_plan
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, CHILD_PRICE, digest_of, till

ZONE = "Europe/Madrid"


def names(label: str, *numbers: int) -> list[str]:
    """Guids of seats: `A1`, `A2` …"""
    return [f"{label}{number}" for number in numbers]


def hall(
    rows: Mapping[str, Sequence[str]],
    *,
    categories: Sequence[str] = ("Stalls",),
    of: Mapping[str, int] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> SeatingPlan:
    """Rows of seats by guid. `of`: the category of a seat that is not in the first; `renamed`: printed numbers."""
    sections = tuple(
        Row(
            label,
            tuple(
                Seat(guid, (renamed or {}).get(guid, guid[1:]), 20.0 * place, 30.0 * line, (of or {}).get(guid, 0))
                for place, guid in enumerate(guids)
            ),
            LabelPosition.BOTH,
        )
        for line, (label, guids) in enumerate(rows.items())
    )
    colored = tuple(Category(name, "#336699") for name in categories)
    return SeatingPlan("Hall", 1_000.0, 500.0, colored, (Section("Stalls", sections),))


async def load(db: Database, plan: SeatingPlan) -> ImportedPlan:
    """The next version of the hall's plan."""
    return await import_plan(db, "House", ZONE, plan)


async def evening(db: Database, stored: ImportedPlan, *priced: str) -> int:
    """An event on that version, its prices those of `box_office`."""
    spec = EventSpec(
        name=f"Evening {uuid4()}", plan_id=stored.plan_id, plan_version=stored.version,
        starts_at=datetime(2027, 5, 1, 20, 0), zone=ZONE, currency="EUR", price_types=("Adult", "Child"),  # noqa: DTZ001
        prices=dict.fromkeys(priced or ("Stalls",), (ADULT_PRICE, CHILD_PRICE)),
    )  # fmt: skip
    return await create_event(db, spec)


async def change(
    db: Database, event_id: int, version: int, *, expected: int = 1, dry_run: bool = False, key: str | None = None
) -> PlanChangeReport:
    """Put the event on that version, as a supervisor."""
    wish = PlanWish(event_id, expected, version, "a platform for the cameras", dry_run)
    boss = till(Role.SUPERVISOR)
    return (await change_plan(db, boss, wish, key=key or str(uuid4()), digest=digest_of(wish))).value


async def numbers_of(db: Database, plan_id: UUID, version: int) -> dict[str, int]:
    """guid → seat_no of the seats that a version has."""
    rows = await db.fetch(
        "SELECT guid, seat_no FROM plan_seats WHERE plan_id = $1 AND version = $2 AND flags & 8 = 0", plan_id, version
    )
    return {row["guid"]: row["seat_no"] for row in rows}
