"""R44: the delayed expiry message may come late, twice, out of order or never; it ends its own hold or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median
from uuid import uuid4

import pytest

from booking.domain.errors import AuthorityAwayError
from booking.domain.model import Hold, OperationResult, ResultOutcome
from booking.domain.states import HoldStatus, OperationKind, OrderStatus
from booking.services import expire_holds
from booking.services.expire_holds import CONSUMER, ExpiryMessages, HeapCarrier
from booking.services.hold_seats import read_hold
from booking.services.orders import read_order
from booking.services.sweep_expired import sweep_once
from booking.store import expiry_queries
from booking.store.database import Database
from booking.store.expiry_queries import HoldEnds, Verdict
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, released, reported, till

TTL_S, GRACE_S = 300, 120
ATOM = timedelta(microseconds=1)
NO_STRETCH = timedelta()


@pytest.fixture
async def event_id(sound_database: Database, clock: Clock) -> int:
    return await make_event(sound_database)


@pytest.fixture
def desk(sound_database: Database, event_id: int) -> Desk:
    return Desk(sound_database, till(), event_id)


def end_of(hold: Hold) -> HoldEnds:
    return HoldEnds(hold.expires_at, hold.hold_id)


async def deliver(db: Database, *messages: HoldEnds) -> list[Verdict]:
    """What becomes of messages that come together, in the order in which they were given."""
    verdicts = dict(await expiry_queries.expire_holds(db, messages))
    return [verdicts[message] for message in messages]


async def rows_of(db: Database, *seats: int) -> list[tuple[int, int]]:
    """(status, version) of each seat."""
    found = await db.fetch("SELECT status, version FROM seats WHERE seat_no = ANY ($1) ORDER BY seat_no", list(seats))
    return [(row["status"], row["version"]) for row in found]


# ---------------------------------------------------------------- the handler


async def test_r4_a_message_ends_its_hold_at_the_exact_instant_and_not_before(desk: Desk, clock: Clock) -> None:
    held = await desk.hold(1, 2)
    await clock.stand_at(held.expires_at - ATOM)
    assert await deliver(desk.db, end_of(held)) == [Verdict.EARLY]
    assert await rows_of(desk.db, 1, 2) == [(1, 1), (1, 1)]
    await clock.stand_at(held.expires_at)
    assert await deliver(desk.db, end_of(held)) == [Verdict.ENDED]
    assert await rows_of(desk.db, 1, 2) == [(0, 2), (0, 2)]
    assert (await read_hold(desk.db, desk.caller, held.hold_id)).status is HoldStatus.EXPIRED


async def test_r44_twice_and_late_and_out_of_order_each_message_counts_once(desk: Desk, clock: Clock) -> None:
    first = await desk.hold(1)
    await clock.move(seconds=10)
    second = await desk.hold(2)
    await clock.move(seconds=TTL_S + 60)
    assert await deliver(desk.db, end_of(second)) == [Verdict.ENDED]
    assert await deliver(desk.db, end_of(first), end_of(second)) == [Verdict.ENDED, Verdict.MOOT]
    assert await deliver(desk.db, end_of(first), end_of(second)) == [Verdict.MOOT, Verdict.MOOT]
    assert await rows_of(desk.db, 1, 2) == [(0, 2), (0, 2)]
    assert await count(desk.db, "SELECT count(*) FROM outbox WHERE type = 'seats-released'") == 2


async def test_r5_an_old_message_is_moot_once_a_checkout_has_moved_the_deadline(desk: Desk, clock: Clock) -> None:
    held = await desk.hold(1)
    await clock.move(seconds=TTL_S - 30)
    order = await desk.check_out(held)
    assert order.pay_until is not None
    assert order.pay_until > held.expires_at
    for instant in (held.expires_at, order.pay_until + timedelta(seconds=1)):
        await clock.stand_at(instant)
        assert await deliver(desk.db, end_of(held)) == [Verdict.MOOT]
    assert await rows_of(desk.db, 1) == [(2, 2)]


async def test_r7_after_a_decline_the_message_of_the_moved_deadline_counts_and_the_old_one_does_not(
    desk: Desk, clock: Clock
) -> None:
    held = await desk.hold(1)
    await clock.move(seconds=TTL_S - 30)
    step = await desk.pay(await desk.check_out(held), OperationKind.SALE)
    declined = OperationResult(ResultOutcome.DECLINED, ADULT_PRICE)
    await reported(desk.db, desk.caller, step.operation.operation_id, declined)
    again = await read_hold(desk.db, desk.caller, held.hold_id)
    assert (again.status, again.expires_at > held.expires_at) == (HoldStatus.HELD, True)

    await clock.stand_at(again.expires_at)
    assert await deliver(desk.db, end_of(held)) == [Verdict.MOOT]
    assert await deliver(desk.db, end_of(again)) == [Verdict.ENDED]
    assert (await read_order(desk.db, desk.caller, step.order.order_id)).status is OrderStatus.EXPIRED
    assert (await rows_of(desk.db, 1))[0][0] == 0


async def test_b10_an_old_message_touches_no_seat_that_a_newer_hold_has_taken_over(
    desk: Desk, clock: Clock, event_id: int
) -> None:
    older = await desk.hold(1, 2)
    await clock.move(seconds=TTL_S + 1)
    buyer = Desk(desk.db, fan(), event_id)
    newer = await buyer.hold(2, 3)
    assert await deliver(desk.db, end_of(older)) == [Verdict.ENDED]
    assert await rows_of(desk.db, 1, 2, 3) == [(0, 2), (1, 2), (1, 1)]
    assert await deliver(desk.db, end_of(older)) == [Verdict.MOOT]
    assert (await read_hold(desk.db, buyer.caller, newer.hold_id)).status is HoldStatus.HELD


@pytest.mark.parametrize("end", ["sold", "released", "swept"])
async def test_a_message_for_a_hold_that_has_ended_otherwise_is_moot(desk: Desk, clock: Clock, end: str) -> None:
    held = await desk.hold(1)
    if end == "sold":
        await desk.pay(await desk.check_out(held), OperationKind.CASH)
    elif end == "released":
        await released(desk.db, desk.caller, held.hold_id)
    await clock.move(seconds=TTL_S + GRACE_S + 1)
    if end == "swept":
        await desk.db.fetch("SELECT sweep_expired(10)")
    before = await rows_of(desk.db, 1)
    assert await deliver(desk.db, end_of(held)) == [Verdict.MOOT]
    assert await rows_of(desk.db, 1) == before


async def test_a_message_that_names_another_time_or_no_hold_is_moot(desk: Desk, clock: Clock) -> None:
    held = await desk.hold(1)
    await clock.move(seconds=TTL_S + 1)
    other_time = HoldEnds(held.expires_at - ATOM, held.hold_id)
    assert await deliver(desk.db, other_time, HoldEnds(held.expires_at, uuid4())) == [Verdict.MOOT, Verdict.MOOT]
    assert await rows_of(desk.db, 1) == [(1, 1)]


@pytest.mark.parametrize("table", ["holds", "seats", "orders"])
async def test_a_message_waits_for_no_lock_and_comes_again(desk: Desk, clock: Clock, table: str) -> None:
    held = await desk.hold(1)
    if table == "orders":
        step = await desk.pay(await desk.check_out(held), OperationKind.SALE)
        declined = OperationResult(ResultOutcome.DECLINED, ADULT_PRICE)
        await reported(desk.db, desk.caller, step.operation.operation_id, declined)
        held = await read_hold(desk.db, desk.caller, held.hold_id)
    await clock.move(seconds=TTL_S + GRACE_S)
    async with desk.db.transaction() as rival:
        await rival.execute(f"SELECT FROM {table} FOR UPDATE")
        async with asyncio.timeout(60):
            assert await deliver(desk.db, end_of(held)) == [Verdict.LOCKED]
    assert await deliver(desk.db, end_of(held)) == [Verdict.ENDED]


async def test_a_checkout_that_commits_while_a_message_looks_keeps_its_seats(desk: Desk, clock: Clock) -> None:
    """Grace 0: the deadline stays, so the time alone would not tell that the hold came into an order meanwhile."""
    await desk.db.fetch("UPDATE events SET grace_s = 0, min_time_to_pay_s = 0")
    held = await desk.hold(1)
    await clock.stand_at(held.expires_at - ATOM)
    await desk.check_out(held)
    await clock.stand_at(held.expires_at)
    assert await deliver(desk.db, end_of(held)) == [Verdict.MOOT]
    assert await rows_of(desk.db, 1) == [(2, 2)]


# ---------------------------------------------------------------- the worker and its carriers


class UnreliableCarrier(HeapCarrier):
    """Gives everything twice, newest first, and loses what it is told to."""

    def __init__(self, *lost: HoldEnds) -> None:
        super().__init__()
        self.lost = lost

    async def receive(self, now: datetime, at_most: int) -> list[HoldEnds]:
        due = [message for message in await super().receive(now, at_most) if message not in self.lost]
        return [message for message in reversed(due) for _ in range(2)]


class Broker(HeapCarrier):
    """Keeps its messages whatever happens to the workers."""

    keeps_messages = True


async def working(db: Database, carrier: HeapCarrier | None = None) -> ExpiryMessages:
    messages = ExpiryMessages(db, carrier, stretch=NO_STRETCH)
    await messages.prepare()
    return messages


async def place_of(db: Database) -> str:
    rows = await db.fetch("SELECT snap::text FROM consumer_offsets WHERE consumer = $1", CONSUMER)
    place: str = rows[0][0]
    return place


async def test_a_worker_ends_each_hold_at_its_time(desk: Desk, clock: Clock) -> None:
    worker = await working(desk.db)
    first = await desk.hold(1)
    await clock.move(seconds=5)
    await desk.hold(2)
    assert await worker.step() == 0
    await clock.stand_at(first.expires_at)
    assert await worker.step() == 1
    assert [status for status, _ in await rows_of(desk.db, 1, 2)] == [0, 1]
    await clock.move(seconds=6)
    assert await worker.step() == 1
    assert worker.verdicts == {Verdict.ENDED: 2}


async def test_the_place_in_the_outbox_moves_only_behind_what_was_delivered(desk: Desk, clock: Clock) -> None:
    worker = await working(desk.db)
    beginning = await place_of(desk.db)
    held = await desk.hold(1)
    await worker.step()
    assert await place_of(desk.db) == beginning
    await clock.stand_at(held.expires_at)
    await worker.step()
    assert await place_of(desk.db) != beginning


async def test_a_worker_that_dies_with_messages_under_way_loses_none_of_them(desk: Desk, clock: Clock) -> None:
    dying = await working(desk.db)
    held = await desk.hold(1)
    await dying.step()
    heir = await working(desk.db)
    await clock.stand_at(held.expires_at)
    assert await heir.step() == 1
    assert await dying.step() == 0, "and if it was only slow, nothing happens twice"


async def test_a_carrier_that_keeps_its_messages_lets_the_place_move_at_once(desk: Desk, clock: Clock) -> None:
    broker = Broker()
    worker = await working(desk.db, broker)
    beginning = await place_of(desk.db)
    held = await desk.hold(1)
    await worker.step()
    assert await place_of(desk.db) != beginning
    heir = await working(desk.db, broker)
    await clock.stand_at(held.expires_at)
    assert await heir.step() == 1


async def test_r44_a_carrier_that_doubles_reorders_and_loses_does_no_harm(desk: Desk, clock: Clock) -> None:
    holds = [await desk.hold(seat) for seat in range(4)]
    carrier = UnreliableCarrier(end_of(holds[0]))
    worker = ExpiryMessages(desk.db, carrier, stretch=NO_STRETCH)
    await worker.prepare()
    await carrier.send([(end_of(hold), hold.expires_at) for hold in holds])
    await clock.move(seconds=TTL_S + 1)
    assert await worker.step() == 3
    assert worker.verdicts[Verdict.MOOT] == 3
    assert await rows_of(desk.db, 0, 1, 2, 3) == [(1, 1), (0, 2), (0, 2), (0, 2)]
    newer = await Desk(desk.db, fan(), desk.event_id).hold(0)
    assert newer.status is HoldStatus.HELD, "what a lost message left behind is the next buyer's"


async def test_a_hold_that_was_locked_is_ended_by_the_message_that_comes_again(desk: Desk, clock: Clock) -> None:
    worker = await working(desk.db)
    await desk.hold(1)
    await worker.step()
    await clock.move(seconds=TTL_S + 1)
    async with desk.db.transaction() as rival:
        await rival.execute("SELECT FROM seats FOR UPDATE")
        assert await worker.step() == 0
    await clock.move(seconds=expire_holds.LOCKED_AGAIN_S)
    assert await worker.step() == 1


async def test_a_message_that_could_not_be_handled_is_handled_in_the_next_round(desk: Desk, clock: Clock) -> None:
    carrier = HeapCarrier()
    worker = await working(desk.db, carrier)
    await desk.hold(1)
    await worker.step()
    await clock.move(seconds=TTL_S + 1)
    handle = expiry_queries.expire_holds

    async def fail(db: Database, messages: Sequence[HoldEnds]) -> list[tuple[HoldEnds, Verdict]]:
        raise AuthorityAwayError("cut")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expiry_queries, "expire_holds", fail)
        with pytest.raises(AuthorityAwayError):
            await worker.step()
    assert expiry_queries.expire_holds is handle
    assert len(carrier) == 1
    assert await worker.step() == 1


async def test_a_full_heap_leaves_the_rest_to_the_scan(desk: Desk, clock: Clock) -> None:
    carrier = HeapCarrier(limit=1)
    worker = await working(desk.db, carrier)
    await desk.hold(1)
    await desk.hold(2)
    await worker.step()
    assert carrier.dropped == 1
    await clock.move(seconds=TTL_S + 1)
    assert await worker.step() == 1
    assert await count(desk.db, "SELECT sweep_expired(10)") == 1


async def test_two_workers_at_once_end_each_hold_once(desk: Desk, clock: Clock, event_id: int) -> None:
    workers = [await working(desk.db) for _ in range(2)]
    for seat in range(20):
        await Desk(desk.db, fan(), event_id).hold(seat)
    await asyncio.gather(*(worker.step() for worker in workers))
    await clock.move(seconds=TTL_S + 1)
    ended = 0
    for _ in range(20):
        ended += sum(await asyncio.gather(*(worker.step() for worker in workers)))
        await clock.move(seconds=0.2)
    assert ended == 20
    assert await count(desk.db, "SELECT count(*) FROM outbox WHERE type = 'seats-released'") == 20


async def test_holds_from_before_the_first_start_are_the_scans(desk: Desk, clock: Clock) -> None:
    await desk.hold(1)
    worker = await working(desk.db)
    await clock.move(seconds=TTL_S + 1)
    assert await worker.step() == 0
    assert await count(desk.db, "SELECT sweep_expired(10)") == 1


async def poison(db: Database, hold: Hold) -> None:
    """A hold that the database refuses to end."""
    async with db.transaction() as connection:
        await connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a bad row'; END $$;"
            "CREATE TRIGGER poisoned BEFORE UPDATE ON holds FOR EACH ROW"
            f" WHEN (old.hold_id = '{hold.hold_id}') EXECUTE FUNCTION refuse()"
        )


async def test_p32_one_hold_that_cannot_be_ended_never_stops_the_others(desk: Desk, clock: Clock) -> None:
    worker = await working(desk.db)
    bad = await desk.hold(1)
    await desk.hold(2)
    await worker.step()
    await poison(desk.db, bad)
    await clock.move(seconds=TTL_S + 1)
    assert await worker.step() == 1
    third = await desk.hold(3)
    await clock.stand_at(third.expires_at)
    assert await sweep_once(desk.db) == 1
    assert [status for status, _ in await rows_of(desk.db, 1, 2, 3)] == [1, 0, 0]
    assert await worker.step() == 0
    assert worker.verdicts == {Verdict.ENDED: 1, Verdict.MOOT: 1}, "the third was swept before its message came"


async def test_seats_are_free_within_a_moment_of_their_instant_without_the_sweeper(sound_database: Database) -> None:
    """How long after `until` the seats were told to be free, by the database's own clock."""
    db = sound_database
    event_id = await make_event(db, hold_ttl_s=1, min_time_to_pay_s=0)
    worker = asyncio.create_task(expire_holds.run(db), name="expiry")
    try:
        async with asyncio.timeout(60):
            while not await count(db, "SELECT count(*) FROM consumer_offsets WHERE consumer = $1", CONSUMER):
                await asyncio.sleep(0.01)
        for seat in range(20):
            await Desk(db, fan(), event_id).hold(seat)
        async with asyncio.timeout(60):
            while await count(db, "SELECT count(*) FROM seats WHERE status = 1"):
                await asyncio.sleep(0.02)
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    rows = await db.fetch(
        "SELECT extract(epoch FROM r.created_at - h.expires_at)::float8 AS late FROM holds h"
        " JOIN outbox r ON r.aggregate_id = h.hold_id AND r.type = 'seats-released'"
    )
    late = sorted(row["late"] for row in rows)
    print(f"free after the instant: p50 {median(late) * 1000:.0f} ms, worst {late[-1] * 1000:.0f} ms")
    assert len(late) == 20
    assert late[0] >= 0
    assert median(late) < 0.2, "four ticks of the sweeper would be more"
