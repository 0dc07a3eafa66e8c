"""What the authority's tests share: events made directly in SQL, callers, a movable clock, the steps of a sale."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID, uuid4

import msgspec
from uuid_utils.compat import uuid7

from backend_client import wire
from booking.domain.caller import Caller, Role
from booking.domain.model import (
    CheckoutLine,
    Hold,
    OperationResult,
    Order,
    PaymentIntent,
    PaymentStep,
    SettledStep,
)
from booking.domain.states import OperationKind
from booking.services.check_out import check_out
from booking.services.hold_seats import hold_seats, release_hold
from booking.services.take_payment import open_payment, report_device_result
from booking.store.database import Database

ADULT, CHILD = 1, 2
ADULT_PRICE, CHILD_PRICE = 4_000, 1_500
SEATS_PER_ROW = 20


def fan() -> Caller:
    """A fan with an account of their own."""
    return Caller.fan(uuid4())


def till(role: Role = Role.CLERK) -> Caller:
    """Staff at a till of their own."""
    return Caller.at_till(uuid4(), uuid4(), role)


def digest_of(*words: object) -> bytes:
    """A request digest, as the web makes one from a body."""
    return sha256(repr(words).encode()).digest()


async def make_event(db: Database, seats: int = 40, **columns: object) -> int:
    """An event that is on sale, in rows of 20 seats of one category; `columns` win over the defaults of `events`."""
    venue_id, plan_id = uuid7(), uuid7()
    plan = _plan(plan_id, seats)
    values: dict[str, object] = {
        "venue_id": venue_id, "plan_id": plan_id, "plan_version": 1, "name": "An evening", "zone": "Europe/Madrid",
        "currency": "EUR", **columns,
    }  # fmt: skip
    async with db.transaction() as connection:
        await connection.execute(
            "INSERT INTO venues (venue_id, name, zone) VALUES ($1, $2, 'Europe/Madrid')", venue_id, f"Hall {venue_id}"
        )
        document = msgspec.json.encode(plan)
        await connection.execute(
            "INSERT INTO plans (plan_id, version, venue_id, name, document, seat_count, digest)"
            " VALUES ($1, 1, $2, 'Hall', $3, $4, $5)",
            plan_id, venue_id, document, seats, sha256(document).digest(),
        )  # fmt: skip
        await connection.execute(
            "INSERT INTO plan_seats (plan_id, version, seat_no, guid, section, row_label, number, category_no,"
            " starts_part)"
            " SELECT $1, 1, s, 'guid-' || s, 'Stalls', chr(65 + s / $3), (s % $3 + 1)::text, 0, s % $3 = 0"
            " FROM generate_series(0, $2 - 1) AS s",
            plan_id, seats, SEATS_PER_ROW,
        )  # fmt: skip
        names = list(values)
        event_id: int = await connection.fetchval(
            f"INSERT INTO events ({', '.join(names)}, starts_at, sale_opens_at)"
            f" VALUES ({', '.join(f'${n}' for n in range(1, len(names) + 1))},"
            " booking_now() + interval '30 days', booking_now() - interval '1 day') RETURNING event_id",
            *values.values(),
        )
        await connection.execute(
            "INSERT INTO seats (event_id, seat_no) SELECT $1, s FROM generate_series(0, $2 - 1) AS s", event_id, seats
        )
        await connection.execute("INSERT INTO price_categories VALUES ($1, 0, 'Stalls', '#336699')", event_id)
        await connection.execute("INSERT INTO price_types VALUES ($1, 1, 'Adult'), ($1, 2, 'Child')", event_id)
        await connection.execute(
            "INSERT INTO prices VALUES ($1, 1, 0, 1, $2), ($1, 1, 0, 2, $3)", event_id, ADULT_PRICE, CHILD_PRICE
        )
        await connection.execute("INSERT INTO event_feed (event_id) VALUES ($1)", event_id)
    return event_id


def _plan(plan_id: UUID, seats: int) -> wire.Plan:
    rows = [(first, min(SEATS_PER_ROW, seats - first)) for first in range(0, seats, SEATS_PER_ROW)]
    numbers = range(seats)
    return wire.Plan(
        plan_id=plan_id, version=1, name="Hall", width=500.0, height=500.0, seat_radius=4.0,
        categories=(wire.PriceCategory(category_no=0, name="Stalls", color="#336699"),),
        sections=(wire.PlanSection(name="Stalls", label_x=250.0, label_y=10.0),),
        rows=tuple(
            wire.PlanRow(section_no=0, label=chr(65 + n), first_seat=first, seat_count=count)
            for n, (first, count) in enumerate(rows)
        ),
        areas=(),
        seats=wire.PlanSeats(
            guid=tuple(f"guid-{n}" for n in numbers), number=tuple(str(n % SEATS_PER_ROW + 1) for n in numbers),
            row_no=tuple(n // SEATS_PER_ROW for n in numbers), category_no=(0,) * seats,
            x=tuple(20.0 + n % SEATS_PER_ROW * 10 for n in numbers),
            y=tuple(40.0 + n // SEATS_PER_ROW * 10 for n in numbers), flags=(0,) * seats,
        ),
    )  # fmt: skip


class Clock:
    """booking_now() of one throw-away database: runs, moves, or stands still."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def install(self) -> None:
        """Replace booking_now() in this database alone."""
        async with self._db.transaction() as connection:
            await connection.execute(
                "CREATE TABLE IF NOT EXISTS test_clock (shift interval NOT NULL, frozen timestamptz);"
                "INSERT INTO test_clock VALUES ('0', NULL);"
                "CREATE OR REPLACE FUNCTION booking_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS"
                " 'SELECT coalesce(frozen, clock_timestamp()) + shift FROM test_clock'"
            )

    async def move(self, *, seconds: float) -> None:
        """Move on (or back)."""
        await self._db.fetch("UPDATE test_clock SET shift = shift + $1", timedelta(seconds=seconds))

    async def stand_at(self, instant: datetime) -> None:
        """Stand still at an instant, to the microsecond."""
        await self._db.fetch("UPDATE test_clock SET shift = '0', frozen = $1", instant)

    async def now(self) -> datetime:
        """What the database takes the time to be."""
        now: datetime = (await self._db.fetch("SELECT booking_now() AS now"))[0]["now"]
        return now


@dataclass(frozen=True)
class Desk:
    """One caller's sale, step by step, each step with a key of its own unless one is given."""

    db: Database
    caller: Caller
    event_id: int

    async def hold(self, *seats: int, key: str | None = None) -> Hold:
        outcome = await hold_seats(
            self.db, self.caller, self.event_id, seats, key=key or str(uuid4()), digest=digest_of(seats)
        )
        return outcome.value

    async def check_out(self, hold: Hold, *, key: str | None = None) -> Order:
        lines = [CheckoutLine(seat.seat_no, ADULT) for seat in hold.seats]
        total = ADULT_PRICE * len(lines)
        outcome = await check_out(
            self.db, self.caller, hold.hold_id, lines, total, key=key or str(uuid4()), digest=digest_of(lines, total)
        )
        return outcome.value

    async def pay(self, order: Order, kind: OperationKind, *, key: str | None = None) -> PaymentStep:
        intent = PaymentIntent(
            kind, "drawer" if kind is OperationKind.CASH else "zvt" if kind is OperationKind.SALE else "sandbox",
            order.amount_minor, order.amount_minor if kind is OperationKind.CASH else None,
        )  # fmt: skip
        outcome = await open_payment(
            self.db, self.caller, order.order_id, intent, key=key or str(uuid4()), digest=digest_of(intent)
        )
        return outcome.value

    async def sell(self, *seats: int, kind: OperationKind = OperationKind.CASH) -> PaymentStep:
        """Hold, check out, and open a payment of the kind."""
        return await self.pay(await self.check_out(await self.hold(*seats)), kind)


async def reported(db: Database, caller: Caller, operation_id: UUID, report: OperationResult) -> SettledStep:
    """What a till is answered to a report, under a key of its own."""
    outcome = await report_device_result(
        db, caller, operation_id, report, key=str(uuid4()), digest=digest_of(operation_id, report)
    )
    return outcome.value


async def released(db: Database, caller: Caller, hold_id: UUID) -> Hold:
    """A hold after its release, under a key of its own."""
    return (await release_hold(db, caller, hold_id, key=str(uuid4()), digest=b"")).value


async def seat_states(db: Database, event_id: int) -> dict[int, tuple[int, UUID | None, UUID | None]]:
    """seat_no → (status, hold, order)."""
    rows = await db.fetch("SELECT seat_no, status, hold_id, order_id FROM seats WHERE event_id = $1", event_id)
    return {row["seat_no"]: (row["status"], row["hold_id"], row["order_id"]) for row in rows}


async def count(db: Database, query: str, *args: object) -> int:
    """The one number that a query answers with."""
    number: int = (await db.fetch(query, *args))[0][0]
    return number
