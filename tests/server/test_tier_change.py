"""Another capacity for a tier under sales (R11, B7): to be had at once, refused, or overbooked by name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from backend_client import wire
from booking.domain.caller import Role
from booking.domain.control import TierWish
from booking.domain.errors import (
    BookingError,
    CapacityTooSmallError,
    EventNotFoundError,
    EventStateConflictError,
    InvalidRequestError,
    TierUnknownError,
)
from booking.domain.model import Tier
from booking.services.change_tier import change_tier
from booking.store.database import Database
from tests.server.box_office import Clock, digest_of, fan, till
from tests.server.general_admission import FLOOR, Counter, make_standing, tier
from tests.server.web_api import Api, api_over, problem, read


async def give(
    db: Database, event_id: int, capacity: int, *, accept: bool = False, tier_id: int = FLOOR, key: str | None = None
) -> Tier:
    """Set a capacity, as a supervisor."""
    wish = TierWish(event_id, tier_id, capacity, "barriers moved", accept)
    boss = till(Role.SUPERVISOR)
    return (await change_tier(db, boss, wish, key=key or str(uuid4()), digest=digest_of(wish))).value


@pytest.mark.parametrize("buckets", [1, 4])
async def test_ten_of_ten_sold_then_twelve_then_eight(sound_database: Database, buckets: int) -> None:
    """B7: two more are to be had at once; eight is refused, or by name overbooked by two, and never minus two."""
    event_id = await make_standing(sound_database, 10, buckets=buckets)
    for _ in range(5):
        await Counter(sound_database, till(), event_id).sell(2)
    with pytest.raises(BookingError):
        await Counter(sound_database, fan(), event_id).hold(1)
    more = await give(sound_database, event_id, 12)
    assert (more.capacity, more.available, more.sold, more.overbooked) == (12, 2, 10, 0)
    with pytest.raises(CapacityTooSmallError) as refused:
        await give(sound_database, event_id, 8)
    assert "10" in str(refused.value)
    assert await tier(sound_database, event_id) == more
    less = await give(sound_database, event_id, 8, accept=True)
    assert (less.capacity, less.available, less.sold, less.overbooked) == (8, 0, 10, 2)
    with pytest.raises(BookingError) as sold_out:
        await Counter(sound_database, fan(), event_id).hold(1)
    assert sold_out.value.code == "tier-sold-out"
    again = await give(sound_database, event_id, 12)
    assert (again.available, again.overbooked) == (2, 0)
    await Counter(sound_database, fan(), event_id).hold(2)


async def test_what_expired_holds_and_dead_sales_still_have_is_in_nobodys_way(
    sound_database: Database, clock: Clock
) -> None:
    """R5: with the sweeper stopped."""
    event_id = await make_standing(sound_database, 10)
    await Counter(sound_database, fan(), event_id).hold(6)
    dead = Counter(sound_database, fan(), event_id)
    await dead.check_out(await dead.hold(3))
    with pytest.raises(CapacityTooSmallError):
        await give(sound_database, event_id, 8)
    await clock.move(seconds=301)
    less = await give(sound_database, event_id, 8)
    assert (less.capacity, less.available, less.in_holds, less.overbooked) == (8, 8, 0, 0)


async def test_places_that_are_held_count_and_their_sales_go_on(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 10)
    counter = Counter(sound_database, till(), event_id)
    hold = await counter.hold(6)
    less = await give(sound_database, event_id, 4, accept=True)
    assert (less.available, less.in_holds, less.overbooked) == (0, 6, 2)
    await counter.check_out(hold)
    assert (await tier(sound_database, event_id)).overbooked == 2


async def test_a_capacity_changes_in_a_storm_of_buyers_and_nothing_is_oversold(
    sound_database: Database, other_database: Database
) -> None:
    event_id = await make_standing(sound_database, 20, buckets=2)

    refused: list[str] = []

    async def buyer(db: Database) -> int:
        try:
            await Counter(db, till(), event_id).sell(2)
        except BookingError as error:
            refused.append(error.code)
            return 0
        return 2

    async def changes() -> int:
        given = 20
        for capacity in (30, 10, 40, 36):
            try:
                given = (await give(other_database, event_id, capacity)).capacity
            except CapacityTooSmallError:
                continue
        return given

    *bought, given = await asyncio.gather(
        *(buyer(db) for db in (sound_database, other_database) for _ in range(25)), changes()
    )
    now = await tier(sound_database, event_id)
    assert set(refused) <= {"tier-sold-out", "tier-in-holds"}
    assert (now.capacity, now.sold, now.overbooked) == (given, sum(bought), 0)
    assert now.sold <= now.capacity


async def test_it_is_audited_and_bad_requests_are_refused_by_name(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 10)
    await give(sound_database, event_id, 12)
    row = await sound_database.fetchrow("SELECT * FROM audit_log WHERE action = 'tier-changed'")
    assert row is not None
    detail = json.loads(row["detail"])
    assert (row["reason"], detail["tier_id"], detail["from"], detail["to"]) == ("barriers moved", FLOOR, 10, 12)
    with pytest.raises(TierUnknownError):
        await give(sound_database, event_id, 12, tier_id=77)
    with pytest.raises(EventNotFoundError):
        await give(sound_database, event_id + 1, 12)
    for capacity in (-1, 10_000_001, True):
        with pytest.raises(InvalidRequestError) as refused:
            await give(sound_database, event_id, capacity)
        assert [fault.pointer for fault in refused.value.fields] == ["/capacity"]
    await sound_database.fetch("UPDATE events SET status = 'CANCELLED'")
    with pytest.raises(EventStateConflictError):
        await give(sound_database, event_id, 14)
    assert (await tier(sound_database, event_id)).capacity == 12


@pytest.fixture
async def api(sound_database: Database) -> AsyncIterator[Api]:
    async with api_over(sound_database) as api:
        yield api


async def test_a_supervisor_changes_a_tier_over_http(api: Api) -> None:
    event_id = await make_standing(api.db, 10)
    boss = await api.staff(Role.SUPERVISOR)
    path = f"/v1/events/{event_id}/tiers/{FLOOR}"
    body = wire.TierChange(capacity=14, reason="barriers moved")
    first = await api.call("PUT", path, body, token=boss, key="once")
    assert read(first, wire.Tier).available == 14
    again = await api.call("PUT", path, body, token=boss, key="once")
    assert again.headers[wire.REPLAYED_HEADER] == "true"
    await Counter(api.db, till(), event_id).sell(2)
    small = await api.call("PUT", path, wire.TierChange(capacity=1, reason="less"), token=boss)
    problem(small, wire.ErrorCode.CAPACITY_TOO_SMALL)
    tiers = read(await api.call("GET", f"/v1/events/{event_id}/tiers"), wire.TierList)
    assert [(one.capacity, one.available) for one in tiers.tiers] == [(14, 12)]
    problem(await api.call("PUT", f"{path}x", body, token=boss), wire.ErrorCode.INVALID_REQUEST)
