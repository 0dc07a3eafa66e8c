"""B13's last clause: every view lets holds end by themselves, with the sweeper and the expiry messages stopped (R5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from statistics import median

import numpy as np
import pytest

from backend_client import wire
from backend_client.seat_frames import Layout, PublicState, decode_snapshot
from booking.domain.caller import Role
from booking.domain.control import HouseHoldKind, HouseWish
from booking.domain.model import Hold, OperationResult, ResultOutcome
from booking.domain.states import OperationKind
from booking.services import follow_seats, house_holds, sequence_feed
from booking.services.sequence_feed import Tick
from booking.store.database import Database
from booking.web.seat_projection import Batch
from booking.web.seat_tail import EventFeed
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, reported, till
from tests.server.web_api import Api, api_over, read

TTL_S = 300
ATOM = timedelta(microseconds=1)


@pytest.fixture
async def event_id(sound_database: Database, clock: Clock) -> int:
    event_id = await make_event(sound_database)
    await sequence_feed.prepare(sound_database)
    return event_id


@pytest.fixture
def desk(sound_database: Database, event_id: int) -> Desk:
    return Desk(sound_database, till(), event_id)


class DeathError(Exception):
    """Ends a transaction before its commit."""


Told = list[tuple[int, int, int]]


async def told(db: Database) -> list[Told]:
    """The feed's versions, each as (seat, status, seat version); versions are dense, or the test fails."""
    rows = await db.fetch("SELECT version, body FROM seat_feed ORDER BY event_id, version")
    assert [row["version"] for row in rows] == list(range(1, len(rows) + 1))
    batches = (np.frombuffer(row["body"], "<u4").reshape(-1, 2) for row in rows)
    return [[(int(word) >> 8, int(word) & 7, int(version)) for word, version in batch] for batch in batches]


async def test_a_hold_that_ends_by_time_alone_is_told_once_at_its_instant_and_no_row_changes(
    desk: Desk, clock: Clock
) -> None:
    held = await desk.hold(1, 2)
    await sequence_feed.tick(desk.db)
    await clock.stand_at(held.expires_at - ATOM)
    assert await sequence_feed.tick(desk.db) == Tick()
    rows = await desk.db.fetch("SELECT * FROM seats ORDER BY seat_no")
    await clock.stand_at(held.expires_at)
    for _ in range(3):
        await sequence_feed.tick(desk.db)
    assert await told(desk.db) == [[(1, 1, 1), (2, 1, 1)], [(1, 0, 1), (2, 0, 1)]]
    assert await desk.db.fetch("SELECT * FROM seats ORDER BY seat_no") == rows
    await clock.move(seconds=1)
    assert await sequence_feed.tick(desk.db) == Tick()


async def test_r7_a_payment_keeps_its_seats_in_every_view_whatever_the_time(desk: Desk, clock: Clock) -> None:
    order = await desk.check_out(await desk.hold(1))
    await desk.pay(order, OperationKind.SALE)
    await sequence_feed.tick(desk.db)
    await clock.move(seconds=10_000)
    assert await sequence_feed.tick(desk.db) == Tick()
    image = await follow_seats.read_seats(desk.db, desk.event_id)
    assert image.states[1] & 7 == 2


async def test_a_hold_that_comes_back_from_a_payment_ends_by_its_new_deadline(desk: Desk, clock: Clock) -> None:
    held = await desk.hold(1)
    await clock.move(seconds=TTL_S - 30)
    step = await desk.pay(await desk.check_out(held), OperationKind.SALE)
    await reported(
        desk.db, desk.caller, step.operation.operation_id, OperationResult(ResultOutcome.DECLINED, ADULT_PRICE)
    )
    await sequence_feed.tick(desk.db)
    await clock.stand_at(held.expires_at)
    assert await sequence_feed.tick(desk.db) == Tick()
    await clock.move(seconds=120)
    await sequence_feed.tick(desk.db)
    assert (await told(desk.db))[-1] == [(1, 0, 3)]


async def test_a_seat_that_was_taken_over_meanwhile_is_told_as_held(desk: Desk, clock: Clock, event_id: int) -> None:
    await desk.hold(1, 2)
    await sequence_feed.tick(desk.db)
    await clock.move(seconds=TTL_S + 1)
    await Desk(desk.db, fan(), event_id).hold(2)
    await sequence_feed.tick(desk.db)
    assert (await told(desk.db))[-1] == [(2, 1, 2), (1, 0, 1)]


async def test_a_hold_that_is_seen_only_after_its_end_is_told_with_its_end(desk: Desk, clock: Clock) -> None:
    """As when its transaction is slow: ticks have looked past its end before they could see it."""
    held = await desk.hold(1)
    await desk.db.fetch("UPDATE consumer_offsets SET updated_at = $1", held.expires_at + timedelta(seconds=1))
    await clock.stand_at(held.expires_at + timedelta(seconds=2))
    await sequence_feed.tick(desk.db)
    assert await told(desk.db) == [[(1, 1, 1), (1, 0, 1)]]


async def test_what_ended_while_the_sequencer_was_stopped_is_told_when_it_is_back(desk: Desk, clock: Clock) -> None:
    await desk.hold(1)
    await sequence_feed.tick(desk.db)
    await clock.move(seconds=10_000)
    await sequence_feed.prepare(desk.db)
    await sequence_feed.tick(desk.db)
    assert (await told(desk.db))[-1] == [(1, 0, 1)]


async def test_a_clock_that_is_set_back_loses_no_end(desk: Desk, clock: Clock) -> None:
    await clock.move(seconds=10_000)
    await desk.hold(1)
    await sequence_feed.tick(desk.db)
    await clock.move(seconds=-10_000)
    second = await Desk(desk.db, till(), desk.event_id).hold(2)
    await sequence_feed.tick(desk.db)
    await clock.stand_at(second.expires_at)
    await sequence_feed.tick(desk.db)
    assert (await told(desk.db))[-1] == [(2, 0, 1)]


async def test_a_tick_that_dies_before_its_commit_tells_the_ends_again(desk: Desk, clock: Clock) -> None:
    await desk.hold(1)
    await sequence_feed.tick(desk.db)
    await clock.move(seconds=TTL_S + 1)
    with suppress(DeathError):
        async with desk.db.transaction() as connection:
            assert len((await sequence_feed.sequence(connection)).versions) == 1
            raise DeathError
    await sequence_feed.tick(desk.db)
    assert await told(desk.db) == [[(1, 1, 1)], [(1, 0, 1)]]


async def test_two_sequencers_tell_an_end_once(desk: Desk, clock: Clock, other_database: Database) -> None:
    await desk.hold(1)
    await sequence_feed.tick(desk.db)
    await clock.move(seconds=TTL_S + 1)
    for db in (desk.db, other_database):
        async with db.transaction() as connection:
            await sequence_feed.sequence(connection)
    assert await told(desk.db) == [[(1, 1, 1)], [(1, 0, 1)]]


async def test_seats_that_the_house_kept_until_now_are_told_as_free(desk: Desk, clock: Clock) -> None:
    until = await clock.now() + timedelta(seconds=60)
    wish = HouseWish(HouseHoldKind.PRESS, "critics", (7,), until)
    supervisor = till(Role.SUPERVISOR)
    await house_holds.keep_seats_back(desk.db, supervisor, desk.event_id, wish, key="k", digest=b"d")
    await sequence_feed.tick(desk.db)
    await clock.stand_at(until)
    await sequence_feed.tick(desk.db)
    assert await told(desk.db) == [[(7, 4, 1)], [(7, 0, 1)]]
    assert (await follow_seats.read_seats(desk.db, desk.event_id)).states[7] == 0


# ---------------------------------------------------------------- what the API shows


@pytest.fixture
async def small_event(sound_database: Database, clock: Clock) -> int:
    event_id = await make_event(sound_database, seats=10)
    await sequence_feed.prepare(sound_database)
    return event_id


@pytest.fixture
async def api(sound_database: Database, small_event: int) -> AsyncIterator[Api]:
    async with api_over(sound_database) as api:
        yield api


async def free_seats(api: Api, event_id: int) -> int:
    """How many seats the public map shows as free."""
    response = await api.call("GET", f"/v1/events/{event_id}/seats")
    return int(np.count_nonzero(decode_snapshot(response.content).states == PublicState.AVAILABLE))


async def test_b13_nine_of_ten_expire_with_everything_stopped_and_every_view_says_none_is_held(
    api: Api, sound_database: Database, small_event: int, clock: Clock
) -> None:
    token, db = await api.fan(), sound_database
    response = await api.call("POST", f"/v1/events/{small_event}/holds", {"seats": [0, 1, 2, 3, 4, 5]}, token=token)
    hold_id = read(response, wire.Hold, 201).hold_id
    await Desk(db, fan(), small_event).hold(6, 7, 8)
    await sequence_feed.tick(db)
    assert await free_after(api, small_event, 1)

    await clock.move(seconds=TTL_S + 1)
    await sequence_feed.tick(db)

    assert await free_after(api, small_event, 10)
    image = await follow_seats.read_seats(db, small_event)
    assert set(image.states) == {0}
    shown = read(await api.call("GET", f"/v1/holds/{hold_id}", token=token), wire.Hold)
    assert shown.status == "EXPIRED"
    assert await count(db, "SELECT count(*) FROM seats WHERE status = 1") == 9, "nobody swept"
    next_buyer: Hold = await Desk(db, fan(), small_event).hold(3, 4)
    assert len(next_buyer.seats) == 2


async def free_after(api: Api, event_id: int, expected: int) -> bool:
    """Whether the map comes to show that many free seats, when the tail has looked."""
    async with asyncio.timeout(60):
        while await free_seats(api, event_id) != expected:
            await asyncio.sleep(0.01)
    return True


async def test_a_process_whose_reading_was_ahead_of_the_feed_ends_up_right(desk: Desk, clock: Clock) -> None:
    """Read before the hold was numbered, before its end, and after both: the same batches lead to the same map."""
    held = await desk.hold(1)
    early = EventFeed(await follow_seats.read_seats(desk.db, desk.event_id))
    await clock.stand_at(held.expires_at)
    late = EventFeed(await follow_seats.read_seats(desk.db, desk.event_id))
    assert (early.projection.states(Layout.STAFF)[1] & 7, late.projection.states(Layout.STAFF)[1]) == (1, 0)
    await sequence_feed.tick(desk.db)
    for row in await desk.db.fetch("SELECT version, body FROM seat_feed ORDER BY version"):
        for feed in (early, late):
            feed.apply(Batch.from_body(row["version"], bytes(row["body"])))
    assert [int(feed.projection.states(Layout.STAFF)[1]) for feed in (early, late)] == [0, 0]
    newer = await Desk(desk.db, fan(), desk.event_id).hold(1)
    assert newer.seats[0].seat_no == 1
    await sequence_feed.tick(desk.db)
    rows = await desk.db.fetch("SELECT version, body FROM seat_feed ORDER BY version DESC LIMIT 1")
    late.apply(Batch.from_body(rows[0]["version"], bytes(rows[0]["body"])))
    assert late.projection.states(Layout.STAFF)[1] & 7 == 1


async def test_maps_are_told_within_a_moment_of_the_instant_with_all_that_sweep_stopped(
    sound_database: Database,
) -> None:
    """How long after its deadline a hold's end has its version, by the database's own clock."""
    db = sound_database
    event_id = await make_event(db, hold_ttl_s=1, min_time_to_pay_s=0)
    sequencer = asyncio.create_task(sequence_feed.run(db), name="sequencer")
    try:
        ends = {seat: (await Desk(db, fan(), event_id).hold(seat)).expires_at for seat in range(20)}
        late: dict[int, float] = {}
        async with asyncio.timeout(60):
            while len(late) < len(ends):
                await asyncio.sleep(0.02)
                for row in await db.fetch("SELECT created_at, body FROM seat_feed ORDER BY version"):
                    words = np.frombuffer(row["body"], "<u4").reshape(-1, 2)[:, 0]
                    free = {int(word) >> 8 for word in words if not word & 0xFF}
                    late |= {seat: (row["created_at"] - ends[seat]).total_seconds() for seat in free - late.keys()}
    finally:
        sequencer.cancel()
        await asyncio.gather(sequencer, return_exceptions=True)
    delays = sorted(late.values())
    print(f"told after the instant: p50 {median(delays) * 1000:.0f} ms, worst {delays[-1] * 1000:.0f} ms")
    assert delays[0] >= 0
    assert median(delays) < 0.2, "the sweeper alone would take 125 ms on the average, when it runs"
    assert await count(db, "SELECT count(*) FROM seats WHERE status = 1") == 20, "nobody swept"
