"""Events on plans drawn as text (see tests/unit/seat_rows.py), imported and put on sale like everybody's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import uuid4

from booking.domain.caller import Caller
from booking.domain.errors import BusyError
from booking.domain.model import BestAvailable, Hold, OrphanRule
from booking.domain.replay import Outcome
from booking.domain.seating_plan.model import SeatingPlan
from booking.services.create_event import EventSpec, create_event
from booking.services.hold_seats import hold_seats
from booking.services.import_plan import import_plan
from booking.store.database import Database
from tests.server.box_office import digest_of, fan
from tests.unit.seat_rows import plan_of

ZONE = "Europe/Madrid"
BUSY_TRIES = 400
BUSY_PAUSE_S = 0.05

T = TypeVar("T")


async def patient(step: Callable[[], Awaitable[T]]) -> T:
    """A step as a client takes it: told that the server is busy, it sends the same key again."""
    for _ in range(BUSY_TRIES):
        try:
            return await step()
        except BusyError:
            await asyncio.sleep(BUSY_PAUSE_S)  # a lock that was not given in time, on a machine that does much else
    return await step()


async def event_on(db: Database, plan: SeatingPlan, rule: OrphanRule = OrphanRule.OFF, **columns: object) -> int:
    """An event on sale on that plan; `columns` of its row are set afterwards."""
    stored = await import_plan(db, f"Hall {uuid4()}", ZONE, plan)
    prices = {category.name: [4_000] for category in plan.categories}
    starts_at = datetime(2027, 6, 1, 20, 0)  # noqa: DTZ001 - a local time of the venue
    event_id = await create_event(
        db, EventSpec("An evening", stored.plan_id, stored.version, starts_at, ZONE, "EUR", ["Adult"], prices)
    )
    for name, value in {"orphan_rule": str(rule), **columns}.items():
        await db.fetch(f"UPDATE events SET {name} = $2 WHERE event_id = $1", event_id, value)
    return event_id


async def drawn_event(db: Database, words: Sequence[str], rule: OrphanRule = OrphanRule.OFF, **columns: object) -> int:
    """As `event_on`, one section of drawn rows."""
    return await event_on(db, plan_of(words), rule, **columns)


async def best(
    db: Database, event: int, wish: BestAvailable, caller: Caller | None = None, *, key: str | None = None
) -> Outcome[Hold]:
    """Hold what is best for a fan of their own, or for `caller`."""
    who, key = caller or fan(), key or str(uuid4())
    return await patient(
        lambda: hold_seats(db, who, event, (), key=key, digest=digest_of(wish), best_available=wish)
    )  # fmt: skip


def seats_of(hold: Hold) -> list[int]:
    return [seat.seat_no for seat in hold.seats]
