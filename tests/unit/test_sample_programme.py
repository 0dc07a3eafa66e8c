"""Prices and house seats of the demo's programme, without a database."""

from __future__ import annotations

import pytest

from booking.domain.currencies import check_price
from booking.domain.seating_plan.model import SeatFlag
from booking.services.sample_programme import EVENTS, PRICE_TYPES, SampleEvent


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.currency + " " + event.name)
def test_every_category_with_seats_has_a_chargeable_price_for_each_type(event: SampleEvent) -> None:
    plan = event.venue.plan()
    prices = event.prices()
    used = {plan.categories[seat.category_no].name for seat in plan.seats()}
    assert prices.keys() == used
    for amounts in prices.values():
        assert len(amounts) == len(PRICE_TYPES)
        assert list(amounts) == sorted(amounts, reverse=True)
        assert all(amount % event.step == 0 for amount in amounts)
        for amount in amounts:
            check_price(amount, event.currency, pointer="/prices")


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.currency + " " + event.name)
def test_the_house_keeps_some_seats_and_never_a_wheelchair_place(event: SampleEvent) -> None:
    plan = event.venue.plan()
    seats = list(plan.seats())
    kept = event.house_seats(plan)
    assert 0 < len(kept) < plan.seat_count // 10
    assert not any(seats[seat_no].flags & (SeatFlag.ACCESSIBLE | SeatFlag.COMPANION) for seat_no in kept)
