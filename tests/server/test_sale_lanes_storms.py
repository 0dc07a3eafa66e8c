"""The lanes of two API processes on the same tills, seats and orders at once: no deadlock, nothing half done (G8)."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from booking.domain.caller import Caller
from booking.domain.errors import BookingError
from booking.domain.model import Hold, OperationResult, Order, ResultOutcome
from booking.domain.states import OperationKind
from booking.services.hold_seats import release_hold
from booking.services.orders import cancel_order
from booking.services.take_payment import record_result
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Desk, count, make_event, till

SEATS, TILLS, WORKERS = 24, 5, 24
PROVIDER = "provider:sandbox"
OUTCOMES = (
    OperationResult(ResultOutcome.SUCCEEDED, 0, "ref"),
    OperationResult(ResultOutcome.SUCCEEDED, 0, "ref", card_fingerprint="one card"),
    OperationResult(ResultOutcome.DECLINED, 0, decline_code="05"),
    OperationResult(ResultOutcome.UNKNOWN, 0),
)


@dataclass
class Storm:
    """What all workers of both processes work on."""

    event_id: int
    tills: list[Caller]
    dice: random.Random
    holds: list[tuple[Caller, Hold]] = field(default_factory=list)
    orders: list[tuple[Caller, Order]] = field(default_factory=list)
    charges: list[tuple[UUID, int]] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    async def hold(self, db: Database) -> None:
        caller = self.dice.choice(self.tills)
        seats = self.dice.sample(range(SEATS), self.dice.randint(1, 3))
        self.holds.append((caller, await Desk(db, caller, self.event_id).hold(*seats)))

    async def check_out(self, db: Database) -> None:
        caller, hold = self.dice.choice(self.holds)
        self.orders.append((caller, await Desk(db, caller, self.event_id).check_out(hold)))

    async def release(self, db: Database) -> None:
        caller, hold = self.dice.choice(self.holds)
        await release_hold(db, caller, hold.hold_id, key=str(uuid4()), digest=b"")

    async def pay(self, db: Database) -> None:
        caller, order = self.dice.choice(self.orders)
        kind = self.dice.choice((OperationKind.CASH, OperationKind.AUTHORIZE, OperationKind.AUTHORIZE))
        step = await Desk(db, caller, self.event_id).pay(order, kind)
        if kind is OperationKind.AUTHORIZE:
            self.charges.append((step.operation.operation_id, step.operation.amount_minor))

    async def tell(self, db: Database) -> None:
        operation_id, amount = self.dice.choice(self.charges)
        told = self.dice.choice(OUTCOMES)
        result = OperationResult(
            told.outcome, amount, told.provider_ref, told.decline_code, card_fingerprint=told.card_fingerprint
        )
        await record_result(db, operation_id, result, source=PROVIDER)

    async def cancel(self, db: Database) -> None:
        caller, order = self.dice.choice(self.orders)
        await cancel_order(db, caller, order.order_id, "storm", self.dice.random() < 0.5, key=str(uuid4()), digest=b"")

    def next_step(self) -> Callable[[Database], Awaitable[None]]:
        possible: list[Callable[[Database], Awaitable[None]]] = [self.hold, self.hold]
        if self.holds:
            possible += [self.check_out, self.check_out, self.release]
        if self.orders:
            possible += [self.pay, self.pay, self.cancel]
        if self.charges:
            possible += [self.tell, self.tell]
        return self.dice.choice(possible)


async def _blow(storm: Storm, db: Database, steps: int) -> None:
    for _ in range(steps):
        step = storm.next_step()
        name = getattr(step, "__name__", "?")
        try:
            await step(db)
        except BookingError as error:
            storm.refused[error.code] += 1
        else:
            storm.done[name] += 1


async def _deadlocks(db: Database) -> int:
    await db.fetch("SELECT pg_stat_force_next_flush()")
    return await count(db, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")


@pytest.mark.parametrize("steps", [25, pytest.param(400, marks=pytest.mark.long)])
async def test_g8_a_storm_of_sale_steps_over_two_processes_meets_no_deadlock(
    sound_database: Database, other_database: Database, steps: int
) -> None:
    event_id = await make_event(sound_database, seats=SEATS, max_per_card=1_000)
    storm = Storm(event_id, [till() for _ in range(TILLS)], random.Random(11))
    before = await _deadlocks(sound_database)
    async with asyncio.TaskGroup() as group:
        for number in range(WORKERS):
            db = (sound_database, other_database)[number % 2]
            group.create_task(_blow(storm, db, steps), name=f"worker {number}")
    assert await _deadlocks(sound_database) == before
    for name in ("hold", "check_out", "pay", "tell", "release", "cancel"):
        assert storm.done[name] > 0, (name, storm.done, storm.refused)
    assert "internal" not in storm.refused
    for db in (sound_database, other_database):
        lanes = (db.check_outs, db.payments, db.results)
        assert sum(lane.figures.batches for lane in lanes) > 0
        assert sum(lane.figures.failed_batches for lane in lanes) == 0
    sold = await count(sound_database, "SELECT count(*) FROM order_seats WHERE valid")
    assert await count(sound_database, "SELECT count(*) FROM seats WHERE status = 3") == sold
    paid = await count(
        sound_database,
        "SELECT coalesce(sum(amount_minor), 0) FROM payment_operations WHERE advice = 'goods-issued'",
    )
    assert paid == sold * ADULT_PRICE
