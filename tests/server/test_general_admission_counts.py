"""Counters equal counted rows after every step of random histories, and quotas sum to the stock (B4, R11)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.domain.caller import Caller, Role
from booking.domain.errors import BookingError
from booking.domain.model import Hold, OperationResult, Order, ResultOutcome, TierQuantity
from booking.domain.states import OperationKind, OperationStatus, TicketStatus
from booking.services.hold_seats import hold_seats
from booking.services.orders import cancel_order
from booking.services.sweep_expired import sweep_once
from booking.services.take_payment import mark_sent, record_result
from booking.store.database import Database
from tests.server.box_office import Clock, digest_of, fan, released, till
from tests.server.general_admission import FLOOR, GALLERY, Counter, counted, make_standing, make_tier, stored, tier
from tests.server.refund_desk import call_off, issued, provider_says, refund

LEADER = till(Role.SUPERVISOR)
_ANSWERS = (ResultOutcome.SUCCEEDED, ResultOutcome.SUCCEEDED, ResultOutcome.DECLINED)

Thing = TypeVar("Thing")

SEED = 20261130
STEPS = 500


@dataclass
class Evening:
    """A random history of one event; everything that is still open, by who owns it."""

    db: Database
    clock: Clock
    event_id: int
    chance: random.Random
    holds: list[tuple[Caller, Hold]] = field(default_factory=list)
    orders: list[tuple[Caller, Order]] = field(default_factory=list)
    sold: list[Order] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)

    async def step(self) -> None:
        name = self.chance.choice(
            ["hold"] * 5 + ["check_out"] * 3 + ["confirm"] * 3 + ["refund"] * 2
            + ["decline", "cancel", "release", "expire", "sweep", "call_off"]
        )  # fmt: skip
        try:
            await getattr(self, name)()
        except NothingOpenError:
            name = "nothing-open"
        except BookingError as refusal:
            name = refusal.code
        self.done[name] = self.done.get(name, 0) + 1

    async def hold(self) -> None:
        caller = self.chance.choice((till, fan))()
        tiers = tuple(
            TierQuantity(tier_id, self.chance.randint(1, 3))
            for tier_id in self.chance.sample((FLOOR, GALLERY), self.chance.randint(1, 2))
        )
        seats = (
            self.chance.sample(range(40), 1)
            if sum(one.quantity for one in tiers) < 4 and self.chance.random() < 0.3
            else []
        )
        key = str(self.chance.random())
        outcome = await hold_seats(
            self.db, caller, self.event_id, seats, key=key, digest=digest_of(seats, tiers), tiers=tiers
        )
        self.holds.append((caller, outcome.value))

    async def check_out(self) -> None:
        caller, hold = self._one_of(self.holds)
        self.orders.append((caller, await Counter(self.db, caller, self.event_id).check_out(hold)))

    async def confirm(self) -> None:
        caller, order = self._one_of(self.orders)
        counter = Counter(self.db, caller, self.event_id)
        if caller.device_id is None:
            await counter.buy_online(order)
        else:
            await counter.pay(order, OperationKind.CASH)
        self.sold.append(order)

    async def refund(self) -> None:
        order = self._one_of(self.sold)
        tickets = [one for one in await issued(self.db, LEADER, order.order_id) if one.status is not TicketStatus.VOID]
        if not tickets:
            raise NothingOpenError("All of them were called off.")
        some = self.chance.sample(tickets, self.chance.randint(1, len(tickets)))
        step = (await refund(self.db, LEADER, order.order_id, some, seats_to_sale=self.chance.random() < 0.7)).value
        for operation in step.refunds:
            if operation.status is OperationStatus.CREATED:
                await provider_says(self.db, operation, self.chance.choice(_ANSWERS))
        if len(some) < len(tickets):
            self.sold.append(order)

    async def call_off(self) -> None:
        order = self._one_of(self.sold)
        tickets = [one for one in await issued(self.db, LEADER, order.order_id) if one.status is not TicketStatus.VOID]
        await call_off(self.db, LEADER, order.order_id, tickets[:1], seats_to_sale=self.chance.random() < 0.7)
        self.sold.append(order)

    async def decline(self) -> None:
        caller, order = self._one_of(self.orders)
        step = await Counter(self.db, caller, self.event_id).pay(order, OperationKind.AUTHORIZE)
        await mark_sent(self.db, step.operation.operation_id)
        declined = OperationResult(ResultOutcome.DECLINED, 0, "ref", "05")
        await record_result(self.db, step.operation.operation_id, declined, source="provider:sandbox")
        self.orders.append((caller, order))

    async def cancel(self) -> None:
        caller, order = self._one_of(self.orders)
        await cancel_order(self.db, caller, order.order_id, "", self.chance.random() < 0.5)

    async def release(self) -> None:
        caller, hold = self._one_of(self.holds)
        await released(self.db, caller, hold.hold_id)

    async def expire(self) -> None:
        await self.clock.move(seconds=self.chance.choice((60, 150, 301)))

    async def sweep(self) -> None:
        await sweep_once(self.db)

    def _one_of(self, things: list[Thing]) -> Thing:
        if not things:
            raise NothingOpenError("There is nothing yet.")
        return things.pop(self.chance.randrange(len(things)))


class NothingOpenError(LookupError):
    """The step needs a hold or an order, and none is open."""


@pytest.mark.parametrize("seed", [SEED, *(pytest.param(SEED + more, marks=pytest.mark.long) for more in range(1, 11))])
async def test_b4_stored_counters_equal_counted_rows_after_each_of_500_random_operations(
    sound_database: Database, clock: Clock, seed: int
) -> None:
    event_id = await make_standing(sound_database, 24, buckets=3)
    await make_tier(sound_database, event_id, GALLERY, 15, name="Gallery")
    evening = Evening(sound_database, clock, event_id, random.Random(seed))
    for _ in range(STEPS):
        await evening.step()
        assert await stored(sound_database, event_id) == await counted(sound_database, event_id), evening.done
        for tier_id in (FLOOR, GALLERY):
            view = await tier(sound_database, event_id, tier_id)
            assert view.available + view.in_holds + view.sold == view.capacity + view.overbooked
            assert min(view.available, view.in_holds, view.overbooked) >= 0
    assert min(evening.done[name] for name in ("hold", "check_out", "confirm", "refund", "release", "expire")) >= 5, (
        evening.done
    )


# ---------------------------------------------------------------- quotas


@given(total=st.integers(0, 10_000), buckets=st.integers(1, 64))
@settings(max_examples=200, deadline=None)
def test_r11_shares_differ_by_one_at_most_and_sum_to_the_stock(total: int, buckets: int) -> None:
    """The rule of `allot_places`, which the next test compares with the database's own."""
    shares = _shares(total, buckets)
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1
    assert shares == sorted(shares, reverse=True)


def _shares(total: int, buckets: int) -> list[int]:
    return [total // buckets + (bucket < total % buckets) for bucket in range(buckets)]


async def test_r11_the_database_allots_every_place(database: Database) -> None:
    rows = await database.fetch(
        "SELECT t AS total, b AS buckets, allot_places(t, b) AS shares"
        " FROM generate_series(0, 200, 7) AS t, generate_series(1, 64, 3) AS b"
    )
    assert len(rows) > 500
    assert [list(row["shares"]) for row in rows] == [_shares(row["total"], row["buckets"]) for row in rows]


@pytest.mark.parametrize("seed", range(6))
async def test_r11_no_buyer_is_refused_while_any_bucket_has_room(sound_database: Database, seed: int) -> None:
    """Random capacities, buckets, holds and releases: a refusal means that the tier has too few places left in all."""
    chance = random.Random(seed)
    capacity, buckets = chance.randint(1, 40), chance.randint(1, 12)
    event_id = await make_standing(sound_database, capacity, buckets=buckets, max_open_holds_till=1_000)
    open_holds: list[tuple[Caller, Hold, int]] = []
    for _ in range(40):
        if open_holds and chance.random() < 0.35:
            caller, hold, _ = open_holds.pop(chance.randrange(len(open_holds)))
            await released(sound_database, caller, hold.hold_id)
        else:
            caller, quantity = till(), chance.randint(1, 6)
            left = capacity - sum(held for _, _, held in open_holds)
            try:
                hold = await Counter(sound_database, caller, event_id).hold(quantity)
            except BookingError as refusal:
                refused = refusal.code
            else:
                refused = ""
                open_holds.append((caller, hold, quantity))
            assert (refused == "") == (quantity <= left), (refused, quantity, left)
        rows = await stored(sound_database, event_id)
        assert sum(held for _, _, held, _ in rows) == sum(held for _, _, held in open_holds)
        assert rows == await counted(sound_database, event_id)
    assert (await tier(sound_database, event_id)).capacity == capacity


@pytest.mark.parametrize("seed", range(4))
async def test_b7_capacity_over_buckets_sums_to_the_stock_and_shows_no_room_while_overbooked(
    sound_database: Database, seed: int
) -> None:
    chance = random.Random(seed)
    buckets = chance.randint(1, 6)
    event_id = await make_standing(sound_database, 30, buckets=buckets, max_open_holds_till=1_000)
    holds = []
    for _ in range(8):
        caller = till()
        holds.append((caller, await Counter(sound_database, caller, event_id).hold(chance.randint(1, 3))))
    for capacity in [chance.randint(0, 40) for _ in range(12)]:
        await sound_database.fetch("SELECT spread_capacity($1, $2, $3)", event_id, FLOOR, capacity)
        rows = await sound_database.fetch("SELECT * FROM ga_tiers WHERE event_id = $1 ORDER BY bucket", event_id)
        used = sum(row["held"] + row["sold"] for row in rows)
        assert sum(row["capacity"] for row in rows) == capacity
        assert sum(row["overbooked"] for row in rows) == max(0, used - capacity)
        rooms = [row["capacity"] - row["held"] - row["sold"] for row in rows]
        assert (min(rooms) >= 0) or (max(rooms) <= 0), "room and overbooking in one tier"
        view = await tier(sound_database, event_id)
        assert (view.available, view.overbooked) == (max(0, capacity - used), max(0, used - capacity))
        if holds:
            caller, hold = holds.pop()
            await released(sound_database, caller, hold.hold_id)
            view = await tier(sound_database, event_id)
            got = 0
            while view.available - got > 0:
                held = await Counter(sound_database, till(), event_id).hold(1)
                got += held.places[0].quantity
            with pytest.raises(BookingError):
                await Counter(sound_database, till(), event_id).hold(1)
