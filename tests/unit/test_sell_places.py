"""Places without numbers at the counter: live counts, picking, hold, price types, payment, tickets (R11, R13)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.actions.follow_seats import follow_seats
from app.actions.hold_seats import hold_picked, release_hold
from app.actions.pay_cash import pay_cash
from app.actions.pick_places import drop_place, pick_places, places_left, tier_of_area
from app.actions.pick_seats import clear_picks, place_party, set_price_type, toggle_seat
from app.actions.print_tickets import print_tickets
from app.actions.propose_seats import redo_pick, show_best, undo_pick
from app.actions.resume_sales import resume_open_sales
from app.core.errors import PlacesNotPickableError, TooManySeatsError
from app.core.sale import SaleState
from app.core.store import Change
from backend_client.errors import AnswerUnknownError, BookingRefusedError
from backend_client.testing import Fault
from backend_client.wire import CheckoutPlaces, ErrorCode, EventId, OrphanRule, Tier, TierCount, TierQuantity
from tests.unit.counter import Counter, make_counter, open_journal, until

FLOOR, BALCONY = 1, 2


def tier(tier_id: int, name: str, category_no: int, capacity: int) -> Tier:
    return Tier(
        tier_id=tier_id, name=name, category_no=category_no, capacity=capacity, available=capacity, in_holds=0, sold=0
    )


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    made.server.house.tiers = (tier(FLOOR, "Floor", 1, 8), tier(BALCONY, "Balcony", 0, 3))
    await made.open()
    yield made
    await made.desk.client.close()
    await journal.close()


def left(counter: Counter) -> list[int]:
    event = counter.desk.store.event
    assert event is not None
    return [tier.available for tier in event.tiers]


async def test_places_from_pick_to_printed_tickets(counter: Counter) -> None:
    """Three places at two price types and a seat: one hold, one order, a ticket for each."""
    desk = counter.desk
    pick_places(desk, FLOOR, 3)
    toggle_seat(desk, 0)
    assert counter.sale.total_minor == 3 * 3000 + 4500
    assert counter.sale.tiers == (TierQuantity(tier_id=FLOOR, quantity=3),)
    assert counter.sale.seats == {0}
    held = await hold_picked(desk)
    assert held.state is SaleState.HELD
    assert held.hold is not None
    assert [(places.name, places.quantity) for places in held.hold.places] == [("Floor", 3)]
    child = await set_price_type(desk, held.place_picks[0].seat_no, 2)
    assert child.total_minor == 1500 + 2 * 3000 + 4500
    assert child.priced_places == (
        CheckoutPlaces(tier_id=FLOOR, price_type_id=1, quantity=2),
        CheckoutPlaces(tier_id=FLOOR, price_type_id=2, quantity=1),
    )
    paid = await pay_cash(desk, 12000)
    assert paid.state is SaleState.PAID
    await print_tickets(desk)
    [sheet] = counter.printer.sheets
    assert sorted((face.section, face.row, face.number, face.price_type) for face in sheet.tickets) == [
        ("Floor", "", "", "Adult"), ("Floor", "", "", "Adult"), ("Floor", "", "", "Child"),
        ("Stalls", "A", "1", "Adult"),
    ]  # fmt: skip
    assert [(one.available, one.in_holds, one.sold) for one in counter.server.house.tiers] == [(5, 0, 3), (3, 0, 0)]


async def test_counts_are_live_and_told_as_a_change_of_their_own(counter: Counter) -> None:
    """A count that moves draws no plan anew."""
    told: list[Change] = []
    following = asyncio.create_task(follow_seats(counter.desk, dial=counter.server.dial))
    await until(lambda: bool(counter.server.open_links))
    counter.desk.store.subscribe(told.append)
    counter.server.house.hold_seats((), (TierQuantity(tier_id=BALCONY, quantity=2),))
    counter.server.push_deltas()
    await until(lambda: left(counter) == [8, 1])
    assert Change.PLACES in told
    assert not any(change & Change.EVENT for change in told)
    counter.server.pass_time(1000)
    counter.server.house.snapshot()
    counter.server.push_deltas()
    await until(lambda: left(counter) == [8, 3])
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


async def test_counts_of_another_event_are_ignored(counter: Counter) -> None:
    """S7: words in flight of the event that was shown before."""
    counter.server.house.hold_seats((), (TierQuantity(tier_id=FLOOR, quantity=2),))
    counter.desk.store.put_places(EventId(counter.server.house.event_id + 1), told(counter))
    assert left(counter) == [8, 3]
    counter.desk.store.put_places(counter.server.house.event_id, told(counter))
    assert left(counter) == [6, 3]


async def test_no_more_places_are_picked_than_are_left_or_a_sale_takes(counter: Counter) -> None:
    desk = counter.desk
    with pytest.raises(PlacesNotPickableError) as none:
        pick_places(desk, BALCONY, 4)
    assert (none.value.name, none.value.left) == ("Balcony", 3)
    pick_places(desk, BALCONY, 2)
    balcony = desk.store.tier(BALCONY)
    assert balcony is not None
    assert places_left(desk, balcony) == 1
    with pytest.raises(PlacesNotPickableError):
        pick_places(desk, BALCONY, 2)
    with pytest.raises(TooManySeatsError):
        pick_places(desk, FLOOR, 5)
    with pytest.raises(PlacesNotPickableError) as unknown:
        pick_places(desk, 9, 1)
    assert unknown.value.left is None
    assert len(counter.sale.picks) == 2


async def test_an_area_is_sold_under_the_name_of_its_tier(counter: Counter) -> None:
    found = tier_of_area(counter.desk, "Floor")
    assert found is not None
    assert found.tier_id == FLOOR
    assert tier_of_area(counter.desk, "Bar") is None


async def test_undo_and_redo_go_over_places_too(counter: Counter) -> None:
    desk = counter.desk
    pick_places(desk, FLOOR, 2)
    toggle_seat(desk, 4)
    drop_place(desk, counter.sale.place_picks[0].seat_no)
    assert (len(counter.sale.place_picks), counter.sale.seats) == (1, frozenset({4}))
    assert undo_pick(desk)
    assert (len(counter.sale.place_picks), counter.sale.seats) == (2, frozenset({4}))
    assert undo_pick(desk)
    assert (len(counter.sale.place_picks), counter.sale.seats) == (2, frozenset())
    assert redo_pick(desk)
    assert counter.sale.seats == {4}
    clear_picks(desk)
    assert desk.store.sale is None


async def test_undo_gives_no_place_back_that_is_gone_meanwhile(counter: Counter) -> None:
    desk = counter.desk
    pick_places(desk, BALCONY, 3)
    clear_picks(desk)
    counter.server.house.hold_seats((), (TierQuantity(tier_id=BALCONY, quantity=2),))
    desk.store.put_places(counter.server.house.event_id, told(counter))
    assert undo_pick(desk)
    assert len(counter.sale.place_picks) == 1


def told(counter: Counter) -> list[TierCount]:
    """What the feed says of the house's tiers."""
    return [
        TierCount(tier_id=one.tier_id, available=one.available, capacity=one.capacity)
        for one in counter.server.house.tiers
    ]


async def test_seats_are_moved_and_places_stay(counter: Counter) -> None:
    """A party that is placed elsewhere, the best block, an orphan's rule: all of them are about numbered seats."""
    desk = counter.desk
    counter.server.house.orphan_rule = OrphanRule.STRICT
    pick_places(desk, FLOOR, 2)
    place_party(desk, [0, 1])
    place_party(desk, [12, 13])
    assert (len(counter.sale.place_picks), counter.sale.seats) == (2, frozenset({12, 13}))
    show_best(desk)
    assert (len(counter.sale.place_picks), len(counter.sale.seats)) == (2, 1)
    with pytest.raises(TooManySeatsError):
        place_party(desk, [20, 21, 22, 23, 24])


async def test_a_refused_hold_leaves_the_picks_and_says_why(counter: Counter) -> None:
    """R11, R14: places that others hold may come back, those that are sold do not."""
    house = counter.server.house
    pick_places(counter.desk, BALCONY, 2)
    house.hold_seats((), (TierQuantity(tier_id=BALCONY, quantity=2),))
    with pytest.raises(BookingRefusedError) as held:
        await hold_picked(counter.desk)
    assert held.value.problem.code is ErrorCode.TIER_IN_HOLDS
    assert counter.sale.state is SaleState.PICKING
    house.lose_holds()
    with pytest.raises(BookingRefusedError) as sold:
        await hold_picked(counter.desk)
    assert sold.value.problem.code is ErrorCode.TIER_SOLD_OUT
    assert len(counter.sale.place_picks) == 2


async def test_a_lost_seat_of_a_mixed_sale_leaves_its_places(counter: Counter) -> None:
    pick_places(counter.desk, FLOOR, 2)
    toggle_seat(counter.desk, 3)
    counter.server.sell_elsewhere(3)
    sale = await hold_picked(counter.desk)
    assert sale.state is SaleState.PICKING
    assert (len(sale.place_picks), sale.seats) == (2, frozenset())


async def test_released_places_come_back(counter: Counter) -> None:
    pick_places(counter.desk, FLOOR, 4)
    await hold_picked(counter.desk)
    assert counter.server.house.tiers[0].available == 4
    await release_hold(counter.desk)
    assert counter.server.house.tiers[0].available == 8


async def test_places_survive_a_power_cut(counter: Counter, tmp_path: Path) -> None:
    """T4: the answer of the hold was lost and the console died; the same key finds the same places."""
    counter.server.fail(Fault.ANSWER_LOST, "/holds", times=3)
    pick_places(counter.desk, FLOOR, 2)
    with pytest.raises(AnswerUnknownError):
        await hold_picked(counter.desk)
    again = counter.restart(counter.desk.journal)
    await again.open()
    [sale] = await resume_open_sales(again.desk)
    assert sale.state is SaleState.HELD
    assert sale.tiers == (TierQuantity(tier_id=FLOOR, quantity=2),)
    assert counter.server.house.tiers[0].in_holds == 2
    await again.desk.client.close()
