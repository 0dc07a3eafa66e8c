"""Holds of general-admission places: never below zero, all or nothing, expiry without a sweeper (R11, B13, B18, W7)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from booking.domain.errors import (
    AccessCodeRefusedError,
    AccountLimitError,
    EventNotOnSaleError,
    HoldExpiredError,
    InvalidRequestError,
    KeyReusedError,
    OpenHoldExistsError,
    SeatsTakenError,
    TierInHoldsError,
    TierSoldOutError,
    TierUnknownError,
)
from booking.domain.model import TierQuantity
from booking.domain.states import HoldStatus
from booking.services.hold_seats import hold_seats, read_hold
from booking.services.sweep_expired import sweep_once
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, count, fan, released, seat_states, till
from tests.server.general_admission import (
    FLOOR,
    GALLERY,
    Counter,
    counted,
    make_standing,
    make_tier,
    places_in,
    stored,
    tier,
)


async def test_r11_a_hold_of_places_is_counted_and_read_back(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 10)
    buyer = fan()
    hold = await Counter(sound_database, buyer, event_id).hold(4)
    assert [(held.tier_id, held.name, held.quantity) for held in hold.places] == [(FLOOR, "Floor", 4)]
    assert (hold.seats, hold.status) == ((), HoldStatus.HELD)
    assert (await read_hold(sound_database, buyer, hold.hold_id)).places == hold.places
    now = await tier(sound_database, event_id)
    assert (now.capacity, now.available, now.in_holds, now.sold, now.overbooked) == (10, 6, 4, 0, 0)


async def test_r6_the_same_key_gives_the_same_places_and_another_digest_is_refused(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 10)
    counter = Counter(sound_database, fan(), event_id)
    first = await counter.hold(2, key="k")
    again = await counter.hold(2, key="k")
    assert (again.hold_id, again.places, again.expires_at) == (first.hold_id, first.places, first.expires_at)
    with pytest.raises(KeyReusedError):
        await counter.hold(3, key="k")
    assert await stored(sound_database, event_id) == [(FLOOR, 0, 2, 0)]


async def test_b13_an_expired_hold_is_free_with_the_sweeper_stopped_and_every_view_says_so(
    sound_database: Database, clock: Clock
) -> None:
    event_id = await make_standing(sound_database, 10)
    slow = fan()
    first = await Counter(sound_database, slow, event_id).hold(6)
    await Counter(sound_database, fan(), event_id).hold(3)
    await clock.move(seconds=300)
    view = await tier(sound_database, event_id)
    assert (view.available, view.in_holds) == (10, 0), "9 of 10 have expired, and nobody has swept"
    assert (await Counter(sound_database, fan(), event_id).hold(2)).places[0].quantity == 2
    view = await tier(sound_database, event_id)
    assert (view.available, view.in_holds) == (8, 2)
    assert (await read_hold(sound_database, slow, first.hold_id)).status is HoldStatus.EXPIRED
    with pytest.raises(HoldExpiredError):
        await Counter(sound_database, slow, event_id).check_out(first)


async def test_b13_the_exact_instant_of_the_deadline_is_expired(sound_database: Database, clock: Clock) -> None:
    event_id = await make_standing(sound_database, 6)
    hold = await Counter(sound_database, fan(), event_id).hold(6)
    await clock.stand_at(hold.expires_at)
    assert (await tier(sound_database, event_id)).available == 6
    assert (await Counter(sound_database, fan(), event_id).hold(6)).places[0].quantity == 6


async def test_r5_the_sweeper_gives_back_what_no_claim_has_and_nothing_twice(
    sound_database: Database, clock: Clock
) -> None:
    event_id = await make_standing(sound_database, 10)
    taken_over = await Counter(sound_database, fan(), event_id).hold(6)
    await clock.move(seconds=300)
    await Counter(sound_database, fan(), event_id).hold(5)
    assert await places_in(sound_database, taken_over.hold_id) == 0, "the claim took them"
    left = await Counter(sound_database, fan(), event_id).hold(3)
    await clock.move(seconds=300)
    assert await places_in(sound_database, left.hold_id) == 3
    assert await sweep_once(sound_database) == 3
    assert await stored(sound_database, event_id) == [(FLOOR, 0, 0, 0)]
    assert await sweep_once(sound_database) == 0
    assert await stored(sound_database, event_id) == await counted(sound_database, event_id)


async def test_w7_what_is_in_holds_may_come_back_and_what_is_sold_does_not(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 8)
    owner = fan()
    hold = await Counter(sound_database, owner, event_id).hold(6)
    with pytest.raises(TierInHoldsError) as in_holds:
        await Counter(sound_database, fan(), event_id).hold(3)
    assert [fault.pointer for fault in in_holds.value.fields] == ["/tiers/0"]
    await Counter(sound_database, till(), event_id).sell(2)
    with pytest.raises(TierInHoldsError):
        await Counter(sound_database, fan(), event_id).hold(3)
    seller = Counter(sound_database, till(), event_id)
    await released(sound_database, owner, hold.hold_id)
    await seller.sell(5)
    with pytest.raises(TierSoldOutError):
        await Counter(sound_database, fan(), event_id).hold(3)
    assert (await Counter(sound_database, fan(), event_id).hold(1)).places[0].quantity == 1


async def test_b5_places_that_are_given_back_are_free_at_once_and_held_again(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 5)
    buyers = [fan() for _ in range(5)]
    holds = [await Counter(sound_database, buyer, event_id).hold(1) for buyer in buyers]
    with pytest.raises(TierInHoldsError):
        await Counter(sound_database, fan(), event_id).hold(1)
    for buyer, hold in list(zip(buyers, holds, strict=True))[:2]:
        assert (await released(sound_database, buyer, hold.hold_id)).status is HoldStatus.RELEASED
        await released(sound_database, buyer, hold.hold_id)
    assert (await tier(sound_database, event_id)).available == 2
    assert (await Counter(sound_database, fan(), event_id).hold(2)).places[0].quantity == 2
    changes = await sound_database.fetch(
        "SELECT payload ->> 'change' AS change, count(*) AS n FROM outbox WHERE type = 'places-changed' GROUP BY 1"
    )
    assert {row["change"]: row["n"] for row in changes} == {"held": 6, "released": 2}


async def test_b17_limits_count_places_across_tiers_and_beside_seats(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 50, max_per_account=4)
    await make_tier(sound_database, event_id, GALLERY, 50, name="Gallery")
    buyer = Counter(sound_database, fan(), event_id)
    both = (TierQuantity(FLOOR, 2), TierQuantity(GALLERY, 3))
    with pytest.raises(AccountLimitError):
        await buyer.hold(tiers=both)
    with pytest.raises(AccountLimitError):
        await buyer.hold(3, 1, 2)
    hold = await buyer.hold(2, 1, 2)
    with pytest.raises(OpenHoldExistsError):
        await buyer.hold(1)
    with pytest.raises(OpenHoldExistsError):
        await Desk(sound_database, buyer.caller, event_id).hold(9)
    await buyer.buy_online(await buyer.check_out(hold))
    with pytest.raises(AccountLimitError):
        await buyer.hold(1)
    assert await stored(sound_database, event_id) == [(FLOOR, 0, 0, 2), (GALLERY, 0, 0, 0)]


async def test_b17_an_access_code_raises_the_limit_for_places_and_is_refused_when_it_is_none(
    sound_database: Database,
) -> None:
    event_id = await make_standing(sound_database, 50, max_per_account=2)
    await sound_database.fetch(
        "INSERT INTO access_codes (access_code_id, event_id, code, max_per_account, created_at)"
        " VALUES (gen_random_uuid(), $1, 'choir', 5, booking_now())",
        event_id,
    )
    wanted = (TierQuantity(FLOOR, 4),)
    for code, seats in (("nobody", ()), ("nobody", (1,))):
        with pytest.raises(AccessCodeRefusedError):
            await hold_seats(
                sound_database, fan(), event_id, seats, key="k", digest=b"", tiers=wanted, access_code=code
            )
    for seats in ((), (2,)):
        buyer = fan()
        outcome = await hold_seats(
            sound_database, buyer, event_id, seats, key="k", digest=b"", tiers=wanted, access_code="Choir"
        )
        assert outcome.value.places[0].quantity == 4
        await released(sound_database, buyer, outcome.value.hold_id)
        assert (await Counter(sound_database, buyer, event_id).hold(5)).places[0].quantity == 5, "raised for good"


@pytest.mark.parametrize("quantity", [-1, 0, 1.5, "1", True, None, 10**9, 2**63, 7])
async def test_b18_a_quantity_that_is_none_is_refused_and_no_row_is_written(
    sound_database: Database, quantity: Any
) -> None:
    event_id = await make_standing(sound_database, 50)
    with pytest.raises(InvalidRequestError) as refused:
        await Counter(sound_database, fan(), event_id).hold(quantity)
    assert [fault.pointer for fault in refused.value.fields] == ["/tiers/0/quantity"]
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0
    assert await count(sound_database, "SELECT count(*) FROM account_limits") == 0


async def test_b18_more_than_six_of_both_kinds_or_one_tier_twice_is_refused(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 50)
    counter = Counter(sound_database, till(), event_id)
    for seats, tiers in (
        ((1, 2, 3), (TierQuantity(FLOOR, 4),)),
        ((), (TierQuantity(FLOOR, 2), TierQuantity(FLOOR, 2))),
        ((), (TierQuantity(FLOOR, 4), TierQuantity(GALLERY, 3))),
    ):
        with pytest.raises(InvalidRequestError) as refused:
            await counter.hold(1, *seats, tiers=tiers)
        assert [fault.pointer for fault in refused.value.fields] == ["/tiers"]
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0


async def test_a_tier_that_is_not_there_is_named(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 50)
    counter = Counter(sound_database, fan(), event_id)
    for seats in ((), (1,)):
        with pytest.raises(TierUnknownError) as unknown:
            await counter.hold(1, *seats, tiers=(TierQuantity(FLOOR, 1), TierQuantity(9, 1)))
        assert [fault.pointer for fault in unknown.value.fields] == ["/tiers/1"]
    assert await count(sound_database, "SELECT count(*) FROM holds") == 0


async def test_an_event_that_is_not_on_sale_sells_no_places(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 50, status="PAUSED")
    with pytest.raises(EventNotOnSaleError):
        await Counter(sound_database, fan(), event_id).hold(1)
    with pytest.raises(EventNotOnSaleError):
        await Counter(sound_database, fan(), event_id).hold(1, 3)


# ---------------------------------------------------------------- seats and places in one hold


async def test_r3_seats_and_places_are_held_together(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 10)
    buyer = fan()
    counter = Counter(sound_database, buyer, event_id)
    hold = await counter.hold(2, 4, 3, key="k")
    assert ([seat.seat_no for seat in hold.seats], hold.places[0].quantity) == ([3, 4], 2)
    assert (await counter.hold(2, 4, 3, key="k")).hold_id == hold.hold_id
    read = await read_hold(sound_database, buyer, hold.hold_id)
    assert (read.seats, read.places) == (hold.seats, hold.places)
    await released(sound_database, buyer, hold.hold_id)
    assert (await tier(sound_database, event_id)).available == 10
    assert {state for state, _, _ in (await seat_states(sound_database, event_id)).values()} == {0}


async def test_r3_what_is_lost_of_either_kind_takes_nothing_and_both_losses_are_named(
    sound_database: Database,
) -> None:
    event_id = await make_standing(sound_database, 3)
    other = Counter(sound_database, till(), event_id)
    await other.hold(1, 7)
    buyer = Counter(sound_database, fan(), event_id)
    with pytest.raises(SeatsTakenError) as both:
        await buyer.hold(3, 6, 7)
    assert [seat.seat_no for seat in both.value.seats] == [7]
    assert [fault.pointer for fault in both.value.fields] == ["/tiers/0"]
    with pytest.raises(SeatsTakenError) as seats:
        await buyer.hold(2, 6, 7)
    assert seats.value.fields == ()
    with pytest.raises(TierInHoldsError) as places:
        await buyer.hold(3, 6)
    assert places.value.seats == ()
    assert (await seat_states(sound_database, event_id))[6][0] == 0
    assert await stored(sound_database, event_id) == [(FLOOR, 0, 1, 0)]
    assert await count(sound_database, "SELECT count(*) FROM holds") == 1


async def test_r3_places_of_two_tiers_are_all_or_nothing(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 10)
    await make_tier(sound_database, event_id, GALLERY, 1, name="Gallery")
    counter = Counter(sound_database, fan(), event_id)
    with pytest.raises(TierSoldOutError) as lost:
        await counter.hold(tiers=(TierQuantity(FLOOR, 2), TierQuantity(GALLERY, 2)))
    assert [fault.pointer for fault in lost.value.fields] == ["/tiers/1"]
    hold = await counter.hold(tiers=(TierQuantity(GALLERY, 1), TierQuantity(FLOOR, 2)))
    assert [(held.tier_id, held.quantity) for held in hold.places] == [(FLOOR, 2), (GALLERY, 1)]
    assert await stored(sound_database, event_id) == [(FLOOR, 0, 2, 0), (GALLERY, 0, 1, 0)]


# ---------------------------------------------------------------- buckets


async def test_r11_a_buyer_is_served_from_several_buckets_and_refused_only_when_none_has_room(
    sound_database: Database,
) -> None:
    event_id = await make_standing(sound_database, 7, buckets=5)
    capacities = await sound_database.fetch(
        "SELECT capacity FROM ga_tiers WHERE event_id = $1 ORDER BY bucket", event_id
    )
    assert [row[0] for row in capacities] == [2, 2, 1, 1, 1]
    assert (await Counter(sound_database, fan(), event_id).hold(6)).places[0].quantity == 6
    with pytest.raises(TierInHoldsError):
        await Counter(sound_database, fan(), event_id).hold(2)
    assert (await Counter(sound_database, fan(), event_id).hold(1)).places[0].quantity == 1
    assert (await tier(sound_database, event_id)).available == 0


async def test_r11_a_crowd_empties_every_bucket_to_the_last_place(sound_database: Database) -> None:
    event_id = await make_standing(sound_database, 50, buckets=8)

    async def buy() -> bool:
        try:
            await Counter(sound_database, fan(), event_id).hold(1)
        except (TierInHoldsError, TierSoldOutError):
            return False
        return True

    assert sum(await asyncio.gather(*(buy() for _ in range(120)))) == 50
    assert (await tier(sound_database, event_id)).available == 0
