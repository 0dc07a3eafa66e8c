"""Picking at the counter without a window: together, best and next best, undo, offers after a loss, single seats."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from app.actions.follow_seats import follow_seats
from app.actions.hold_seats import hold_picked
from app.actions.pick_seats import clear_picks, pick_seats, place_party, set_price_type, toggle_seat
from app.actions.propose_seats import (
    block_under,
    dismiss_offer,
    look_in,
    lose_taken_picks,
    redo_pick,
    run_at,
    set_together,
    show_best,
    take_offer,
    undo_pick,
)
from app.core.errors import NoBlockLeftError, SaleNotReadyError, SeatNotPickableError
from app.core.picking import OfferKind
from app.core.sale import SaleState
from app.core.store import NoticeCode
from backend_client.errors import BookingRefusedError, SeatOrphanedError
from backend_client.seat_frames import HolderKind, StaffStatus, staff_state
from backend_client.wire import BestAvailable, ErrorCode, EventId, OrphanRule, Tier
from tests.unit.counter import Counter, until

SOLD = staff_state(StaffStatus.SOLD, HolderKind.FAN)


async def reload(counter: Counter) -> None:
    """The map as the booking system has it now."""
    house = counter.server.house
    counter.desk.store.load_seats(await counter.desk.client.seat_snapshot(house.event_id))


async def with_rule(counter: Counter, rule: OrphanRule) -> None:
    counter.server.house.orphan_rule = rule
    counter.desk.store.put_event(await counter.desk.client.event(counter.server.house.event_id))


def picked(counter: Counter) -> list[int]:
    sale = counter.desk.store.sale
    return [] if sale is None else [pick.seat_no for pick in sale.picks]


# ---------------------------------------------------------------- together


async def test_a_party_is_seated_in_one_step_and_moves_as_one(counter: Counter) -> None:
    set_together(counter.desk, 4)
    place_party(counter.desk, block_under(counter.desk, 4))
    assert picked(counter) == [3, 4, 5, 6]
    place_party(counter.desk, block_under(counter.desk, 24))
    assert picked(counter) == [23, 24, 25, 26]
    place_party(counter.desk, [23, 24, 25, 26])
    assert picked(counter) == []


async def test_a_party_keeps_its_price_types_where_it_moves_to(counter: Counter) -> None:
    place_party(counter.desk, [0, 1])
    await set_price_type(counter.desk, 1, 2)
    place_party(counter.desk, [31, 32])
    assert [(pick.price_type_id, pick.amount_minor) for pick in counter.sale.picks] == [(1, 3000), (2, 1500)]


async def test_a_party_that_moves_by_one_counts_its_own_seats_as_free(counter: Counter) -> None:
    counter.server.house.set_seats((3, 4, 5, 6, 7, 8, 9), SOLD)
    await reload(counter)
    set_together(counter.desk, 2)
    place_party(counter.desk, [0, 1])
    assert block_under(counter.desk, 1) == (1, 2)
    assert run_at(counter.desk, 1) == 3
    set_together(counter.desk, 4)
    assert block_under(counter.desk, 1) == ()


async def test_a_party_is_never_larger_than_a_hold(counter: Counter) -> None:
    set_together(counter.desk, 99)
    assert counter.desk.store.picking.together == 6
    set_together(counter.desk, -1)
    assert counter.desk.store.picking.together == 1


async def test_no_block_is_shown_once_seats_are_held(counter: Counter) -> None:
    await counter.hold(0)
    assert block_under(counter.desk, 5) == ()
    with pytest.raises(SaleNotReadyError):
        place_party(counter.desk, [5, 6])


# ---------------------------------------------------------------- best available


async def test_the_best_is_picked_and_again_the_next_best_and_back(counter: Counter) -> None:
    set_together(counter.desk, 2)
    first = show_best(counter.desk)
    assert picked(counter) == list(first.block) == [4, 5]
    assert (first.rank, first.total) == (1, 30)
    second = show_best(counter.desk)
    assert second.rank == 2
    assert picked(counter) == list(second.block)
    assert not set(first.block) & set(second.block)
    assert show_best(counter.desk, back=True).block == first.block
    assert picked(counter) == list(first.block)


async def test_after_the_last_comes_the_best_again(counter: Counter) -> None:
    counter.server.house.set_seats(tuple(range(4, 60)), SOLD)
    await reload(counter)
    set_together(counter.desk, 2)
    shown = [show_best(counter.desk) for _ in range(3)]
    assert [one.block for one in shown] == [(2, 3), (0, 1), (2, 3)]
    assert [one.rank for one in shown] == [1, 2, 1]


async def test_the_hold_takes_exactly_what_is_shown(counter: Counter) -> None:
    set_together(counter.desk, 3)
    show_best(counter.desk)
    shown = show_best(counter.desk)
    sale = await hold_picked(counter.desk)
    assert sale.hold is not None
    assert tuple(seat.seat_no for seat in sale.hold.seats) == shown.block
    assert counter.desk.store.picking.best is None


async def test_best_looks_where_it_is_asked_to_and_begins_anew_there(counter: Counter) -> None:
    set_together(counter.desk, 2)
    show_best(counter.desk)
    show_best(counter.desk)
    look_in(counter.desk, categories=[1])
    shown = show_best(counter.desk)
    assert (shown.rank, shown.block) == (1, (34, 35))
    look_in(counter.desk, categories=[])
    assert show_best(counter.desk).block == (4, 5)


async def test_a_click_ends_the_cycle(counter: Counter) -> None:
    set_together(counter.desk, 2)
    show_best(counter.desk)
    show_best(counter.desk)
    toggle_seat(counter.desk, 50)
    assert counter.desk.store.picking.best is None
    assert show_best(counter.desk).rank == 1


async def test_when_no_so_many_sit_together_the_most_that_do_is_told(counter: Counter) -> None:
    counter.server.house.set_seats(tuple(seat for seat in range(60) if seat % 10 not in {3, 4, 5}), SOLD)
    await reload(counter)
    set_together(counter.desk, 5)
    with pytest.raises(NoBlockLeftError) as refused:
        show_best(counter.desk)
    assert (refused.value.count, refused.value.most) == (5, 3)
    assert picked(counter) == []


async def test_best_offers_nothing_that_has_no_price(counter: Counter) -> None:
    del counter.server.house.prices[0, 1], counter.server.house.prices[0, 2]
    counter.desk.store.put_event(await counter.desk.client.event(counter.server.house.event_id))
    assert show_best(counter.desk).block == (34,)


# ---------------------------------------------------------------- undo and redo


async def test_undo_and_redo_walk_through_the_picks(counter: Counter) -> None:
    toggle_seat(counter.desk, 0)
    pick_seats(counter.desk, [1, 2])
    place_party(counter.desk, [20, 21])
    clear_picks(counter.desk)
    assert picked(counter) == []
    states = []
    while undo_pick(counter.desk):
        states.append(picked(counter))
    assert states == [[20, 21], [0, 1, 2], [0], []]
    for expected in ([0], [0, 1, 2], [20, 21], []):
        assert redo_pick(counter.desk)
        assert picked(counter) == expected
    assert not redo_pick(counter.desk)


async def test_a_new_pick_after_undo_leaves_nothing_to_redo(counter: Counter) -> None:
    toggle_seat(counter.desk, 0)
    toggle_seat(counter.desk, 1)
    undo_pick(counter.desk)
    toggle_seat(counter.desk, 5)
    assert not redo_pick(counter.desk)
    assert picked(counter) == [0, 5]


async def test_undo_brings_back_no_seat_that_was_taken_meanwhile(counter: Counter) -> None:
    pick_seats(counter.desk, [0, 1])
    clear_picks(counter.desk)
    counter.server.house.set_seats((0,), SOLD)
    await reload(counter)
    assert undo_pick(counter.desk)
    assert picked(counter) == [1]


async def test_undo_leaves_price_types_as_they_are_now(counter: Counter) -> None:
    toggle_seat(counter.desk, 0)
    toggle_seat(counter.desk, 1)
    await set_price_type(counter.desk, 0, 2)
    undo_pick(counter.desk)
    assert [(pick.seat_no, pick.price_type_id) for pick in counter.sale.picks] == [(0, 2)]


async def test_held_seats_are_beyond_undo(counter: Counter) -> None:
    await counter.hold(0, 1)
    with pytest.raises(SaleNotReadyError):
        undo_pick(counter.desk)
    assert counter.desk.store.picking.history.past == ()


# ---------------------------------------------------------------- lost seats


async def test_a_lost_race_offers_the_block_that_the_booking_system_names(counter: Counter) -> None:
    pick_seats(counter.desk, [3, 4])
    counter.server.house.set_seats((4,), SOLD)
    sale = await hold_picked(counter.desk)
    offer = counter.desk.store.picking.offer
    assert offer is not None
    assert (offer.kind, offer.about, offer.refused) == (OfferKind.LOST, (4,), True)
    assert sale.state is SaleState.PICKING
    taken = take_offer(counter.desk)
    assert taken is not None
    assert picked(counter) == list(offer.instead)
    assert counter.desk.store.picking.offer is None
    held = await hold_picked(counter.desk)
    assert held.state is SaleState.HELD


async def test_a_pick_taken_by_another_is_lost_where_the_feed_tells_it(counter: Counter) -> None:
    house = counter.server.house
    pick_seats(counter.desk, [3, 4])
    dial = counter.server.dial

    async def sell_and_see() -> None:
        await until(lambda: counter.desk.store.feed_state.value == "live")
        counter.server.sell_elsewhere(4)
        await until(lambda: picked(counter) == [3])

    task = asyncio.get_running_loop().create_task(follow_seats(counter.desk, dial=dial))
    await sell_and_see()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert counter.sale.lost_seats == (house.seat(4),)
    assert NoticeCode.SEATS_LOST in counter.notices
    offer = counter.desk.store.picking.offer
    assert offer is not None
    assert (offer.kind, offer.about, offer.refused) == (OfferKind.LOST, (4,), False)
    assert offer.instead == (2, 3)


async def test_a_seat_that_this_hold_takes_is_not_lost_to_it(counter: Counter) -> None:
    """The feed may tell of our own hold before its answer comes."""
    task = asyncio.get_running_loop().create_task(follow_seats(counter.desk, dial=counter.server.dial))
    await until(lambda: counter.desk.store.feed_state.value == "live")
    counter.server.delay("/holds", 0.05)
    sale = await counter.hold(3, 4)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert sale.state is SaleState.HELD
    assert counter.notices == []


async def test_an_offer_that_is_gone_too_says_so(counter: Counter) -> None:
    pick_seats(counter.desk, [3, 4])
    counter.server.house.set_seats((4,), SOLD)
    await hold_picked(counter.desk)
    offer = counter.desk.store.picking.offer
    assert offer is not None
    counter.server.house.set_seats(offer.instead, SOLD)
    await reload(counter)
    with pytest.raises(SeatNotPickableError):
        take_offer(counter.desk)
    assert counter.desk.store.picking.offer is None
    assert take_offer(counter.desk) is None


# ---------------------------------------------------------------- seats left single


@pytest.mark.parametrize("rule", [OrphanRule.STRICT, OrphanRule.LENIENT])
async def test_a_pick_that_leaves_a_seat_single_warns_before_the_hold_with_the_shift(
    counter: Counter, rule: OrphanRule
) -> None:
    await with_rule(counter, rule)
    pick_seats(counter.desk, [1, 2])
    offer = counter.desk.store.picking.offer
    assert offer is not None
    assert (offer.kind, offer.about, offer.instead, offer.refused) == (OfferKind.ORPHAN, (0,), (0, 1), False)
    take_offer(counter.desk)
    assert picked(counter) == [0, 1]
    assert counter.desk.store.picking.offer is None
    assert (await hold_picked(counter.desk)).state is SaleState.HELD


async def test_without_the_rule_nobody_is_warned(counter: Counter) -> None:
    pick_seats(counter.desk, [1, 2])
    assert counter.desk.store.picking.offer is None


async def test_a_refusal_for_single_seats_names_them_and_offers_the_shift(counter: Counter) -> None:
    """The rule was set while the console still knew the event without it."""
    counter.server.house.orphan_rule = OrphanRule.STRICT
    pick_seats(counter.desk, [1, 2])
    with pytest.raises(SeatOrphanedError):
        await hold_picked(counter.desk)
    assert counter.sale.state is SaleState.PICKING
    offer = counter.desk.store.picking.offer
    assert offer is not None
    assert (offer.about, offer.instead, offer.refused) == ((0,), (0, 1), True)


async def test_a_read_offer_is_over_and_the_pick_stays(counter: Counter) -> None:
    await with_rule(counter, OrphanRule.STRICT)
    pick_seats(counter.desk, [1, 2])
    dismiss_offer(counter.desk)
    assert counter.desk.store.picking.offer is None
    assert picked(counter) == [1, 2]


# ---------------------------------------------------------------- the calls behind it


async def test_the_client_can_ask_for_the_best_with_a_code_and_read_tiers_and_settings(counter: Counter) -> None:
    house, client = counter.server.house, counter.desk.client
    house.access_codes = frozenset({"FRIENDS"})
    house.tiers = (Tier(tier_id=1, name="Pit", category_no=0, capacity=9, available=5, in_holds=0, sold=4),)
    wish = BestAvailable(count=2, categories=(1,))
    hold = await client.hold_seats(house.event_id, key="a", best_available=wish, access_code="FRIENDS")
    assert [seat.seat_no for seat in hold.seats] == [30, 31]
    with pytest.raises(BookingRefusedError) as refused:
        await client.hold_seats(house.event_id, [5], key="b", access_code="OTHERS")
    assert refused.value.problem.code is ErrorCode.ACCESS_CODE_REFUSED
    assert (await client.tiers(house.event_id)).tiers == house.tiers
    assert (await client.event_settings(house.event_id)).orphan_rule is OrphanRule.OFF


async def test_another_event_begins_with_clean_paper(counter: Counter) -> None:
    set_together(counter.desk, 3)
    look_in(counter.desk, sections=[0])
    show_best(counter.desk)
    event, plan = counter.desk.store.event, counter.desk.store.plan
    assert event is not None
    assert plan is not None
    counter.desk.store.open_event(event, plan)
    picking = counter.desk.store.picking
    assert (picking.together, picking.sections, picking.best, picking.history.past) == (3, (), None, ())


async def test_the_map_of_another_event_takes_no_pick_away_s7(counter: Counter) -> None:
    """A → B with a pick of A at the counter: what is sold in B says nothing about it."""
    pick_seats(counter.desk, [3, 4])
    event, plan = counter.desk.store.event, counter.desk.store.plan
    assert event is not None
    assert plan is not None
    counter.desk.store.open_event(msgspec.structs.replace(event, event_id=EventId(2)), plan)
    snapshot = counter.server.house.snapshot()
    sold = np.full(len(snapshot.states), SOLD, np.uint8)
    counter.desk.store.load_seats(replace(snapshot, event_id=2, states=sold))
    assert lose_taken_picks(counter.desk) == ()
    assert picked(counter) == [3, 4]
