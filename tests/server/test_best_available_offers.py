"""What those are offered who lost seats: the nearest block like theirs, promised to nobody (R30)."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from backend_client import wire
from booking.domain import errors
from booking.domain.errors import BookingError
from booking.store.database import Database
from tests.server.box_office import Desk, count, fan, make_event
from tests.server.drawn_event import drawn_event, seats_of
from tests.server.web_api import api_over, problem, read


async def test_who_loses_is_offered_the_nearest_block(sound_database: Database) -> None:
    event = await drawn_event(sound_database, ["....... .......", "..............."])
    await Desk(sound_database, fan(), event).hold(2, 3)
    desk = Desk(sound_database, fan(), event)
    with pytest.raises(errors.SeatsTakenError) as caught:
        await desk.hold(3, 4)
    offer = caught.value.offer
    assert [seat.seat_no for seat in caught.value.seats] == [3]
    assert [seat.seat_no for seat in offer] == [4, 5]
    assert {(seat.section, seat.row) for seat in offer} == {("Section 0", "10")}
    assert seats_of(await desk.hold(*(seat.seat_no for seat in offer))) == [4, 5]


async def test_an_offer_is_of_the_same_category_and_size_or_there_is_none(sound_database: Database) -> None:
    event = await drawn_event(sound_database, ["11222", "2211"])
    await Desk(sound_database, fan(), event).hold(0, 1)
    with pytest.raises(errors.SeatsTakenError) as caught:
        await Desk(sound_database, fan(), event).hold(0, 1)
    assert [seat.seat_no for seat in caught.value.offer] == [7, 8]
    await Desk(sound_database, fan(), event).hold(8)
    with pytest.raises(errors.SeatsTakenError) as caught:
        await Desk(sound_database, fan(), event).hold(7, 8)
    assert caught.value.offer == ()


async def test_fifty_who_lose_one_seat_are_offered_different_ones(sound_database: Database) -> None:
    event = await make_event(sound_database, seats=400)
    await Desk(sound_database, fan(), event).hold(210)
    outcomes = await asyncio.gather(
        *(Desk(sound_database, fan(), event).hold(210) for _ in range(50)), return_exceptions=True
    )
    offers = Counter(
        tuple(seat.seat_no for seat in outcome.offer) for outcome in outcomes if isinstance(outcome, BookingError)
    )
    assert sum(offers.values()) == 50
    assert len(offers) == 16
    assert max(offers.values()) <= 4
    assert () not in offers
    assert await count(sound_database, "SELECT count(*) FROM holds") == 1, "an offer is promised to nobody"


async def test_a_refusal_does_not_fail_for_want_of_an_offer(
    sound_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = await make_event(sound_database, seats=4)
    await Desk(sound_database, fan(), event).hold(0)

    async def away(*_args: object) -> None:
        raise errors.AuthorityAwayError("nobody there")

    monkeypatch.setattr(sound_database.blocks.offers, "next_block", away)
    with pytest.raises(errors.SeatsTakenError) as caught:
        await Desk(sound_database, fan(), event).hold(0)
    assert caught.value.offer == ()


async def test_over_http_a_hold_of_the_best_and_an_offer(sound_database: Database) -> None:
    event = await make_event(sound_database, seats=40)
    async with api_over(sound_database) as api:
        path = f"/v1/events/{event}/holds"
        wish = {"best_available": {"count": 3}}
        token = await api.fan()
        held = read(await api.call("POST", path, wish, token=token, key="k"), wire.Hold, 201)
        again = await api.call("POST", path, wish, token=token, key="k")
        assert again.headers[wire.REPLAYED_HEADER] == "true"
        assert read(again, wire.Hold, 201).hold_id == held.hold_id
        lost = await api.call("POST", path, {"seats": [held.seats[0].seat_no]}, token=await api.fan())
        found = problem(lost, wire.ErrorCode.SEATS_TAKEN)
        assert [seat.seat_no for seat in found.seats] == [held.seats[0].seat_no]
        (offered,) = found.offer
        taken = await api.call("POST", path, {"seats": [offered.seat_no]}, token=await api.fan())
        assert read(taken, wire.Hold, 201).seats == (offered,)
        big = await api.call("POST", path, {"best_available": {"count": 2, "accessible": 3}}, token=await api.fan())
        assert [f.pointer for f in problem(big, wire.ErrorCode.INVALID_REQUEST).fields] == [
            "/best_available/accessible"
        ]
