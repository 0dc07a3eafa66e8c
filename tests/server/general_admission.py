"""What the tests of general admission share: events with tiers, the steps of a sale of places, counted rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from booking.domain.caller import Caller
from booking.domain.model import (
    CheckoutLine,
    CheckoutPlaces,
    Hold,
    OperationResult,
    Order,
    PaymentOperation,
    PaymentStep,
    ResultOutcome,
    Tier,
    TierQuantity,
)
from booking.domain.states import OperationKind
from booking.services.check_out import check_out
from booking.services.hold_seats import hold_seats
from booking.services.take_payment import mark_sent, record_result
from booking.store import tier_queries
from booking.store.database import Database
from tests.server.box_office import ADULT, ADULT_PRICE, Desk, digest_of, make_event

FLOOR, GALLERY = 1, 2


async def make_tier(
    db: Database, event_id: int, tier_id: int = FLOOR, capacity: int = 10, *, buckets: int = 1, name: str = "Floor"
) -> None:
    """A tier of the event's one category, its capacity allotted over buckets."""
    await db.fetch(
        "INSERT INTO ga_tiers (event_id, tier_id, bucket, name, category_no, capacity)"
        " SELECT $1, $2, a.place - 1, $5, 0, a.capacity"
        " FROM unnest(allot_places($3, $4)) WITH ORDINALITY AS a (capacity, place)",
        event_id, tier_id, capacity, buckets, name,
    )  # fmt: skip


async def make_standing(db: Database, capacity: int = 10, *, buckets: int = 1, **columns: object) -> int:
    """An event on sale with 40 seats and one tier, FLOOR."""
    event_id = await make_event(db, 40, **columns)
    await make_tier(db, event_id, capacity=capacity, buckets=buckets)
    return event_id


async def tier(db: Database, event_id: int, tier_id: int = FLOOR) -> Tier:
    """A tier as readers see it now."""
    tiers, _ = await tier_queries.read_tiers(db, event_id)
    return next(one for one in tiers if one.tier_id == tier_id)


@dataclass(frozen=True)
class Counter:
    """One caller's sale of places, step by step, each step with a key of its own unless one is given."""

    db: Database
    caller: Caller
    event_id: int

    async def hold(
        self, quantity: int = 1, *seats: int, tier_id: int = FLOOR, key: str | None = None,
        tiers: Sequence[TierQuantity] = (),
    ) -> Hold:  # fmt: skip
        wanted = tuple(tiers) or (TierQuantity(tier_id, quantity),)
        outcome = await hold_seats(
            self.db, self.caller, self.event_id, seats, key=key or str(uuid4()), digest=digest_of(seats, wanted),
            tiers=wanted,
        )  # fmt: skip
        return outcome.value

    async def check_out(self, hold: Hold, *, key: str | None = None, price_type: int = ADULT) -> Order:
        lines = [CheckoutLine(seat.seat_no, ADULT) for seat in hold.seats]
        places = [CheckoutPlaces(held.tier_id, price_type, held.quantity) for held in hold.places]
        total = ADULT_PRICE * (len(lines) + sum(held.quantity for held in hold.places))
        outcome = await check_out(
            self.db, self.caller, hold.hold_id, lines, total, key=key or str(uuid4()),
            digest=digest_of(lines, places, total), places=places,
        )  # fmt: skip
        return outcome.value

    async def pay(self, order: Order, kind: OperationKind) -> PaymentStep:
        return await Desk(self.db, self.caller, self.event_id).pay(order, kind)

    async def buy_online(self, order: Order) -> Order:
        """Authorized by the provider, so confirmed, and captured."""
        charge = (await self.pay(order, OperationKind.AUTHORIZE)).operation
        confirmed = await self._provider_took(charge)
        (capture,) = (one for one in confirmed.operations if one.parent_id == charge.operation_id)
        return await self._provider_took(capture)

    async def _provider_took(self, operation: PaymentOperation) -> Order:
        await mark_sent(self.db, operation.operation_id)
        paid = OperationResult(ResultOutcome.SUCCEEDED, operation.amount_minor, str(uuid4()))
        return (await record_result(self.db, operation.operation_id, paid, source="provider:sandbox")).order

    async def sell(self, quantity: int = 1, *seats: int, kind: OperationKind = OperationKind.CASH) -> PaymentStep:
        """Hold, check out, and open a payment of the kind."""
        return await self.pay(await self.check_out(await self.hold(quantity, *seats)), kind)


async def counted(db: Database, event_id: int) -> list[tuple[int, int, int, int]]:
    """(tier, bucket, places of holds that run or are paid, valid places of orders), counted from rows."""
    rows = await db.fetch(
        "SELECT t.tier_id, t.bucket,"
        " (SELECT coalesce(sum(g.quantity), 0) FROM ga_holds g WHERE g.event_id = t.event_id"
        "   AND g.tier_id = t.tier_id AND g.bucket = t.bucket AND g.status IN (1, 2)) AS held,"
        " (SELECT count(*) FROM order_places l WHERE l.event_id = t.event_id AND l.tier_id = t.tier_id"
        "   AND l.bucket = t.bucket AND l.valid) AS sold"
        " FROM ga_tiers t WHERE t.event_id = $1 ORDER BY 1, 2",
        event_id,
    )
    return [tuple(row) for row in rows]


async def stored(db: Database, event_id: int) -> list[tuple[int, int, int, int]]:
    """The same as the counters have it."""
    rows = await db.fetch(
        "SELECT tier_id, bucket, held, sold FROM ga_tiers WHERE event_id = $1 ORDER BY 1, 2", event_id
    )
    return [tuple(row) for row in rows]


async def places_in(db: Database, hold_id: UUID) -> int:
    """Places that a hold still has."""
    rows = await db.fetch(
        "SELECT coalesce(sum(quantity), 0) FROM ga_holds WHERE hold_id = $1 AND status IN (1, 2)", hold_id
    )
    number: int = rows[0][0]
    return number


PLACE_PLANTS: Mapping[str, str] = {
    "places-counted-equal-places-stored": "UPDATE ga_tiers SET held = held + 1 WHERE tier_id = 1 AND bucket = 0",
    "tier-is-not-oversold":
        "ALTER TABLE ga_tiers DROP CONSTRAINT tier_never_oversold; UPDATE ga_tiers SET capacity = 0 WHERE tier_id = 1",
    "places-have-no-more-tickets-than-sold":
        "UPDATE ga_tiers SET sold = 0 WHERE tier_id = 1",
    "places-belong-to-their-hold": "UPDATE ga_holds SET quantity = quantity + 1 WHERE status = 1",
    "confirmed-order-owns-its-places": "UPDATE order_places SET valid = false WHERE place_no = 1",
}  # fmt: skip
"""Rule → what breaks it, on the sales of `test_general_admission_invariants`; also what no other rule may miss."""
