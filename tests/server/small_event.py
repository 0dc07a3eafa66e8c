"""A small event put straight into the tables, so that tests of the web need no plan file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from backend_client import wire
from booking.store.database import Database

ADULT, CHILD = 1, 2
PRICE_MINOR = {ADULT: 5000, CHILD: 2500}


async def make_event(db: Database, seats: int = 40, **columns: object) -> int:
    """An event on sale with `seats` seats in rows of ten, one category, two price types. `columns` override."""
    plan_id = uuid7()
    async with db.transaction() as connection:
        venue_id = uuid7()
        await connection.execute(
            "INSERT INTO venues (venue_id, name, zone) VALUES ($1, $2, 'Europe/Berlin')", venue_id, f"Hall {venue_id}"
        )
        await connection.execute(
            "INSERT INTO plans (plan_id, version, venue_id, name, document, seat_count, digest)"
            " VALUES ($1, 1, $2, 'Plan', $3, $4, ''::bytea)",
            plan_id, venue_id, msgspec.json.encode(_plan(plan_id, seats)), seats,
        )  # fmt: skip
        await connection.execute(
            "INSERT INTO plan_seats (plan_id, version, seat_no, guid, section, row_label, number, category_no)"
            " SELECT $1, 1, n, 'guid-' || n, 'Stalls', chr(65 + n / 10), (n % 10 + 1)::text, 0"
            " FROM generate_series(0, $2 - 1) AS n",
            plan_id, seats,
        )  # fmt: skip
        chosen: dict[str, object] = {
            "venue_id": venue_id,
            "plan_id": plan_id,
            "plan_version": 1,
            "name": "Matinee",
            "starts_at": datetime.now(UTC) + timedelta(days=30),
            "zone": "Europe/Berlin",
            "currency": "EUR",
            "sale_opens_at": datetime.now(UTC) - timedelta(days=1),
            **columns,
        }
        marks = ", ".join(f"${number}" for number in range(1, len(chosen) + 1))
        event_id: int = await connection.fetchval(
            f"INSERT INTO events ({', '.join(chosen)}) VALUES ({marks}) RETURNING event_id", *chosen.values()
        )
        await connection.execute("INSERT INTO event_feed (event_id) VALUES ($1)", event_id)
        await connection.execute(
            "INSERT INTO seats (event_id, seat_no) SELECT $1, n FROM generate_series(0, $2 - 1) AS n", event_id, seats
        )
        await connection.execute("INSERT INTO price_categories VALUES ($1, 0, 'Stalls', '#336699')", event_id)
        for price_type_id, name in ((ADULT, "Adult"), (CHILD, "Child")):
            await connection.execute("INSERT INTO price_types VALUES ($1, $2, $3)", event_id, price_type_id, name)
            await connection.execute(
                "INSERT INTO prices VALUES ($1, 1, 0, $2, $3)", event_id, price_type_id, PRICE_MINOR[price_type_id]
            )
    return event_id


def _plan(plan_id: UUID, seats: int) -> wire.Plan:
    rows = range((seats + 9) // 10)
    return wire.Plan(
        plan_id=plan_id,
        version=1,
        name="Plan",
        width=200.0,
        height=200.0,
        seat_radius=8.0,
        categories=(wire.PriceCategory(category_no=0, name="Stalls", color="#336699"),),
        sections=(wire.PlanSection(name="Stalls", label_x=0.0, label_y=0.0),),
        rows=tuple(
            wire.PlanRow(section_no=0, label=chr(65 + row), first_seat=row * 10, seat_count=min(10, seats - row * 10))
            for row in rows
        ),
        areas=(),
        seats=wire.PlanSeats(
            guid=tuple(f"guid-{n}" for n in range(seats)),
            number=tuple(str(n % 10 + 1) for n in range(seats)),
            row_no=tuple(n // 10 for n in range(seats)),
            category_no=(0,) * seats,
            x=tuple(20.0 * (n % 10) for n in range(seats)),
            y=tuple(20.0 * (n // 10) for n in range(seats)),
            flags=(0,) * seats,
        ),
    )
