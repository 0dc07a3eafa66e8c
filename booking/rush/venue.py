"""The event of a run of our own: a hall of any number of seats in straight rows, one price, on sale at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from booking.domain.seating_plan.model import Category, Row, Seat, SeatingPlan, Section
from booking.rush.plan import Sale
from booking.services import sign_in
from booking.services.create_event import EventSpec, create_event
from booking.services.import_plan import import_plan
from booking.services.migrate import migrate
from booking.store.database import Database

ROW_SEATS = 50
SECTION_ROWS = 40
_PRICE = 4_500
_PRICE_TYPE = 1
_PITCH = 10.0
_CATEGORY = Category("Hall", "#0072b2")
_PAYING_CAP = 1_000_000
_ACCOUNTS_AT_ONCE = 8


def hall(seats: int) -> SeatingPlan:
    """Rows of 50, sections of 40 rows, one behind the other; the last row may be shorter."""
    rows = [
        Row(str(number + 1), tuple(_seats_of_row(number, min(ROW_SEATS, seats - number * ROW_SEATS))))
        for number in range(-(-seats // ROW_SEATS))
    ]
    remaining = iter(rows)
    sections: list[Section] = []
    while part := tuple(islice(remaining, SECTION_ROWS)):
        sections.append(Section(f"Block {len(sections) + 1}", part))
    height = (len(rows) + 2) * _PITCH
    return SeatingPlan("Hall of a rush", (ROW_SEATS + 2) * _PITCH, height, (_CATEGORY,), tuple(sections), ())


def _seats_of_row(row: int, count: int) -> Iterator[Seat]:
    for place in range(count):
        yield Seat(f"seat-{row * ROW_SEATS + place}", str(place + 1), (place + 1) * _PITCH, (row + 1) * _PITCH, 0)


async def open_sale(dsn: str, seats: int, accounts: int) -> tuple[Sale, tuple[str, ...]]:
    """Bring the schema to `dsn`, put a hall on sale, and open accounts: the sale and the accounts' tokens."""
    await migrate(dsn)
    db = await Database.open(dsn, lanes=False, application="taquilla rush")
    try:
        plan = await import_plan(db, "Rush", "UTC", await asyncio.to_thread(hall, seats))
        row = await db.fetchrow("SELECT booking_now() AS now")
        if row is None:
            raise LookupError("the database's clock answered nothing")
        starts_at: datetime = row["now"] + timedelta(days=30)
        spec = EventSpec(
            name="The opening minute",
            plan_id=plan.plan_id,
            plan_version=plan.version,
            starts_at=starts_at.replace(tzinfo=None),
            zone="UTC",
            currency="EUR",
            price_types=("Adult",),
            prices={_CATEGORY.name: (_PRICE,)},
        )
        event_id = await create_event(db, spec)
        # The cap protects a real house from a provider that hangs; here it would end the load.
        await db.fetch("UPDATE events SET paying_cap = $2 WHERE event_id = $1", event_id, _PAYING_CAP)
        tokens = await _open_accounts(db, accounts)
    finally:
        await db.close()
    return Sale(event_id=event_id, prices=(_PRICE,) * seats, price_type_id=_PRICE_TYPE), tokens


async def _open_accounts(db: Database, count: int) -> tuple[str, ...]:
    owed = iter(range(count))

    async def some() -> list[str]:
        return [(await sign_in.create_account(db)).access_token for _ in owed]

    parts = await asyncio.gather(*(some() for _ in range(_ACCOUNTS_AT_ONCE)))
    return tuple(token for part in parts for token in part)
