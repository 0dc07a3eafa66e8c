"""What the counter offers when a pick is lost or leaves a seat single (R14)."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt

from app.core.picking import OfferKind
from app.core.sale import SaleState
from backend_client.wire import OrphanRule
from tests.gui.conftest import QLoop, calm, counter_of, panel_of, pick, rest, state_of, until
from tests.gui.picking_hands import focused, house_of, on_the_map, picked, press, screen_of
from tests.gui.seat_map_stage import click
from widgets.theme import Theme

SOLD = 0b0000_1011


def test_a_lost_race_is_told_where_it_happened_and_enter_takes_what_is_offered(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await pick(showcase, 3, 24)
            house_of(showcase).set_seats((seats[0],), SOLD)
            press(Qt.Key.Key_F5)
            callout = screen_of(showcase).picking.callout
            await until(callout.isVisible, "the word on the map")
            await rest(showcase)
            assert callout.title.startswith("Taken just now: Row")
            assert callout.take.text() == "Take these 3 seats"
            seat_map = screen_of(showcase).map
            for seat in seat_map.marked_seats:
                assert not callout.geometry().contains(seat_map.seat_rect(seat).center())
            offer = showcase.console.desk.store.picking.offer
            assert offer is not None
            assert seats[0] in offer.about
            assert focused() is callout.take
            await calm(callout.take)
            press(Qt.Key.Key_Return)
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold of what was offered")
            await rest(showcase)
            assert sorted(picked(showcase)) == sorted(offer.instead)
            assert not callout.isVisible()

    qloop.run(scene())


def test_escape_turns_an_offer_down_and_leaves_the_rest_of_the_pick(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await pick(showcase, 3, 24)
            house_of(showcase).set_seats((seats[0],), SOLD)
            press(Qt.Key.Key_F5)
            callout = screen_of(showcase).picking.callout
            await until(callout.isVisible, "the word on the map")
            await rest(showcase)
            press(Qt.Key.Key_Escape)
            await rest(showcase)
            assert not callout.isVisible()
            assert picked(showcase) == seats[1:]
            assert focused() is screen_of(showcase).map

    qloop.run(scene())


def test_a_pick_that_the_feed_says_is_sold_is_marked_and_an_offer_made_without_taking_the_keyboard(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await pick(showcase, 2, 24)
            await on_the_map(showcase)
            showcase.server.sell_elsewhere(seats[1])
            callout = screen_of(showcase).picking.callout
            await until(callout.isVisible, "the word on the map")
            await rest(showcase)
            assert picked(showcase) == [seats[0]]
            assert seats[1] in screen_of(showcase).map.marked_seats
            assert panel_of(showcase).banner.title == "Somebody was faster"
            assert focused() is screen_of(showcase).map
            offer = showcase.console.desk.store.picking.offer
            assert offer is not None
            press(Qt.Key.Key_F4)
            assert sorted(picked(showcase)) == sorted(offer.instead)
            assert state_of(showcase) is SaleState.PICKING

    qloop.run(scene())


def test_a_seat_left_single_is_warned_of_before_the_hold_and_f4_moves_by_one(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            house, desk = house_of(showcase), showcase.console.desk
            house.orphan_rule = OrphanRule.STRICT
            desk.store.put_event(await desk.client.event(house.event_id))
            run = house.free_run(5, 24)
            begins = run[0] == house.plan.rows[house.plan.seats.row_no[run[0]]].first_seat
            assert begins or house.states[run[0] - 1] & 7
            counter = screen_of(showcase)
            for seat in run[1:3]:
                counter.map.ensure_visible(seat)
                click(counter.map, counter.map.seat_rect(seat).center())
            callout = counter.picking.callout
            await until(callout.isVisible, "the warning")
            assert callout.title.startswith("Left single")
            offer = desk.store.picking.offer
            assert offer is not None
            assert (offer.kind, offer.about) == (OfferKind.ORPHAN, (run[0],))
            press(Qt.Key.Key_F4)
            assert picked(showcase) == run[:2]
            await rest(showcase)
            assert not callout.isVisible()
            assert state_of(showcase) is SaleState.PICKING

    qloop.run(scene())


def test_a_refusal_for_a_single_seat_is_explained_with_its_seat(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            house = house_of(showcase)
            run = house.free_run(5, 24)
            counter = screen_of(showcase)
            for seat in run[1:3]:
                click(counter.map, counter.map.seat_rect(seat).center())
            house.orphan_rule = OrphanRule.STRICT
            await rest(showcase)
            press(Qt.Key.Key_F5)
            await until(counter.picking.callout.isVisible, "the word on the map")
            await rest(showcase)
            panel = panel_of(showcase)
            assert panel.banner.title == "A seat would be left single"
            assert f"Seat {house.seat(run[0]).number}" in panel.banner.detail
            assert run[0] in counter.map.marked_seats
            assert focused() is counter.picking.callout.take
            press(Qt.Key.Key_F4)
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold of the shifted seats")
            assert picked(showcase) == run[:2]

    qloop.run(scene())
