"""A clerk picks seats in the real windows, by mouse and by keys, over a booking system in memory."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core.picking import OfferKind
from app.core.sale import SaleState
from app.screens.counter import CounterScreen
from app.screens.looks import wants_less_motion
from app.screens.picking_words import best_spoken
from app.settings import MOTION
from app.showcase import Showcase, TheatreHouse
from backend_client.wire import OrphanRule
from tests.gui.conftest import QLoop, calm, counter_of, panel_of, pick, rest, sale_of, state_of, until
from tests.gui.seat_map_stage import centre_of, click, hover
from widgets.find_box import FindBox
from widgets.seat_map import Level
from widgets.theme import Theme

SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
SOLD = 0b0000_1011


def press(key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    target = QApplication.focusWidget() or QApplication.activeWindow()
    assert target is not None
    QTest.keyClick(target, key, keys)


def screen_of(showcase: Showcase) -> CounterScreen:
    return showcase.console.window.screens.counter


def house_of(showcase: Showcase) -> TheatreHouse:
    house = showcase.server.house
    assert isinstance(house, TheatreHouse)
    return house


def picked(showcase: Showcase) -> list[int]:
    sale = showcase.console.desk.store.sale
    return [] if sale is None else [pick.seat_no for pick in sale.picks]


async def on_the_map(showcase: Showcase) -> None:
    screen_of(showcase).focus_map()
    await until(screen_of(showcase).map.hasFocus, "the keyboard on the map")


def results(search: FindBox) -> tuple[str, ...]:
    return search.results


def focused() -> QWidget | None:
    return QApplication.focusWidget()


# ---------------------------------------------------------------- together


def test_four_together_are_shown_under_the_mouse_and_picked_by_one_click(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat_map, store = screen_of(showcase).map, showcase.console.desk.store
            await on_the_map(showcase)
            press(Qt.Key.Key_4)
            assert store.picking.together == 4
            await rest(showcase)
            assert screen_of(showcase).picking.bar.counts[3].isChecked()
            run = house_of(showcase).free_run(6, 24)
            hover(seat_map, centre_of(seat_map, run[2]))
            assert len(seat_map.previewed) == 4
            assert run[2] in seat_map.previewed
            shown = list(seat_map.previewed)
            click(seat_map, seat_map.seat_rect(run[2]).center())
            assert picked(showcase) == shown
            await rest(showcase)
            other = house_of(showcase).free_run(5, 40)
            click(seat_map, seat_map.seat_rect(other[1]).center())
            assert len(picked(showcase)) == 4
            assert not set(picked(showcase)) & set(shown)

    qloop.run(scene())


def test_the_numbers_can_be_clicked_and_a_place_too_narrow_says_so(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat_map, house = screen_of(showcase).map, house_of(showcase)
            run = house.free_run(6, 24)
            showcase.server.sell_elsewhere(run[0], run[3])
            store = showcase.console.desk.store
            await until(
                lambda: store.seat_map is not None and not store.seat_map.is_pickable(run[3]), "the feed's word"
            )
            screen_of(showcase).picking.bar.counts[4].click()
            click(seat_map, seat_map.seat_rect(run[1]).center())
            assert picked(showcase) == []
            assert panel_of(showcase).banner.title == "Only 2 seats are free together here"
            screen_of(showcase).picking.bar.counts[1].click()
            click(seat_map, seat_map.seat_rect(run[1]).center())
            assert picked(showcase) == [run[1], run[2]]
            assert not panel_of(showcase).banner.isVisible()

    qloop.run(scene())


def test_a_lasso_picks_what_a_sale_has_room_for_and_says_so(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seat_map = screen_of(showcase).map
            around = seat_map.rect().adjusted(120, 120, -120, -160)
            corners = [around.topLeft(), around.topRight(), around.bottomRight(), around.bottomLeft()]
            QTest.mousePress(seat_map, Qt.MouseButton.LeftButton, CTRL, corners[0])
            for corner in (*corners[1:], corners[0] + QPoint(0, 8)):
                QTest.mouseMove(seat_map, corner)
            QTest.mouseRelease(seat_map, Qt.MouseButton.LeftButton, CTRL, corners[0] + QPoint(0, 8))
            assert len(picked(showcase)) == 6
            assert "6 of" in panel_of(showcase).banner.title

    qloop.run(scene())


# ---------------------------------------------------------------- best available


def test_b_shows_the_best_and_again_the_next_and_the_hold_takes_what_is_shown(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter = screen_of(showcase)
            await on_the_map(showcase)
            press(Qt.Key.Key_2)
            press(Qt.Key.Key_B)
            first = picked(showcase)
            assert len(first) == 2
            assert counter.map.spot == tuple(first)
            await rest(showcase)
            assert counter.picking.bar.rank.text() == "1 of 32"
            press(Qt.Key.Key_B)
            second = picked(showcase)
            assert not set(first) & set(second)
            await rest(showcase)
            assert counter.picking.bar.rank.text() == "2 of 32"
            assert counter.picking.bar.best.text() == "Next best"
            press(Qt.Key.Key_B, CTRL)
            assert picked(showcase) == first
            press(Qt.Key.Key_B)
            best = showcase.console.desk.store.picking.best
            assert best is not None
            assert best_spoken(best, showcase.console.desk.store).startswith("Best available · 2 of 32 · Row ")
            press(Qt.Key.Key_F5)
            await until(lambda: state_of(showcase) is SaleState.HELD, "a hold")
            await rest(showcase)
            hold = sale_of(showcase).hold
            assert hold is not None
            assert sorted(seat.seat_no for seat in hold.seats) == sorted(second)
            assert not counter.picking.bar.best.isEnabled()
            assert counter.picking.bar.rank.text() == ""

    qloop.run(scene())


def test_the_legend_and_the_section_say_where_to_look(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter, plan = screen_of(showcase), house_of(showcase).plan
            chip = next(chip for chip in counter.legend.chips if chip.category_no == 2)
            chip.click()
            counter.picking.bar.best.click()
            assert {plan.seats.category_no[seat] for seat in picked(showcase)} == {2}
            chip.click()
            await on_the_map(showcase)
            press(Qt.Key.Key_S)
            await until(lambda: counter.picking.bar.where.view().isVisible(), "the list of sections")
            press(Qt.Key.Key_Down)
            press(Qt.Key.Key_Return)
            await until(lambda: showcase.console.desk.store.picking.sections != (), "a section")
            await on_the_map(showcase)
            press(Qt.Key.Key_B)
            sections = {plan.rows[plan.seats.row_no[seat]].section_no for seat in picked(showcase)}
            assert sections == set(showcase.console.desk.store.picking.sections)

    qloop.run(scene())


def test_where_no_so_many_sit_together_it_says_how_many_do(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            house = house_of(showcase)
            keep = house.free_run(3, 24)
            showcase.server.sell_elsewhere(*(seat for seat in range(len(house.states)) if seat not in keep))
            store = showcase.console.desk.store
            await until(
                lambda: store.seat_map is not None and store.seat_map.counts().available == 3, "the feed's word"
            )
            await on_the_map(showcase)
            press(Qt.Key.Key_5)
            press(Qt.Key.Key_B)
            assert panel_of(showcase).banner.title == "No 5 seats together are left"
            assert panel_of(showcase).banner.detail == "3 seats together are left."
            assert picked(showcase) == []

    qloop.run(scene())


# ---------------------------------------------------------------- undo


def test_ctrl_z_takes_back_and_ctrl_shift_z_does_again_also_what_escape_let_go(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await pick(showcase, 2)
            await on_the_map(showcase)
            press(Qt.Key.Key_Escape)
            assert picked(showcase) == []
            press(Qt.Key.Key_Z, CTRL)
            assert picked(showcase) == seats
            press(Qt.Key.Key_Z, CTRL)
            assert picked(showcase) == seats[:1]
            await rest(showcase)
            bar = screen_of(showcase).picking.bar
            assert bar.redo.isEnabled()
            press(Qt.Key.Key_Z, CTRL | SHIFT)
            assert picked(showcase) == seats
            bar.undo.click()
            bar.undo.click()
            assert picked(showcase) == []
            await rest(showcase)
            assert not bar.undo.isEnabled()

    qloop.run(scene())


# ---------------------------------------------------------------- offers


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


# ---------------------------------------------------------------- finding


def test_a_slash_finds_a_seat_while_typing_and_enter_shows_it(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter, house = screen_of(showcase), house_of(showcase)
            await on_the_map(showcase)
            press(Qt.Key.Key_Slash)
            search = counter.picking.bar.search
            await until(search.hasFocus, "the keyboard in the field")
            QTest.keyClicks(search, "centre k 5")
            assert len(results(search)) == 1
            assert results(search)[0].startswith("Stalls centre · Row K · Seat 5")
            QTest.keyClick(search, Qt.Key.Key_Return)
            seat = counter.map.focused_seat
            assert (house.seat(seat).row, house.seat(seat).number) == ("K", "5")
            assert counter.map.spot == (seat,)
            assert focused() is counter.map
            assert results(search) == ()

    qloop.run(scene())


def test_arrows_choose_in_the_list_and_rows_and_sections_are_found_too(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter, house = screen_of(showcase), house_of(showcase)
            press(Qt.Key.Key_F, CTRL)
            search = counter.picking.bar.search
            await until(search.hasFocus, "the keyboard in the field")
            QTest.keyClicks(search, "k")
            assert [line.split(" · ")[0] for line in results(search)] == [
                "Stalls left",
                "Stalls centre",
                "Stalls right",
            ]
            QTest.keyClick(search, Qt.Key.Key_Down)
            assert search.accessibleDescription().startswith("Stalls centre · Row K")
            QTest.keyClick(search, Qt.Key.Key_Return)
            assert house.seat(counter.map.focused_seat).section == "Stalls centre"
            assert house.seat(counter.map.focused_seat).row == "K"
            counter.picking.bar.search.begin()
            QTest.keyClicks(search, "balc")
            QTest.keyClick(search, Qt.Key.Key_Return)
            assert house.seat(counter.map.focused_seat).section == "Balcony"

    qloop.run(scene())


def test_what_is_not_found_is_said_and_escape_goes_back_to_the_map_with_the_pick(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await pick(showcase, 1)
            counter = screen_of(showcase)
            search = counter.picking.bar.search
            search.begin()
            QTest.keyClicks(search, "zz 99")
            assert results(search) == ("No seat, row or section of that name",)
            QTest.keyClick(search, Qt.Key.Key_Return)
            assert search.hasFocus()
            QTest.keyClick(search, Qt.Key.Key_Escape)
            assert results(search) == ()
            assert focused() is counter.map
            assert picked(showcase) == seats

    qloop.run(scene())


def test_the_list_can_be_clicked(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter = screen_of(showcase)
            search = counter.picking.bar.search
            search.begin()
            QTest.keyClicks(search, "k 5")
            box = search.list.visualItemRect(search.list.item(2)).center()
            QTest.mouseClick(search.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, box)
            assert house_of(showcase).seat(counter.map.focused_seat).section == "Stalls right"

    qloop.run(scene())


# ---------------------------------------------------------------- the rest


def test_m_puts_the_small_map_away_and_it_never_covers_the_pick(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter = screen_of(showcase)
            minimap = counter.picking.minimap
            await on_the_map(showcase)
            for _step in range(3):
                press(Qt.Key.Key_Plus)
            assert minimap.isVisible()
            rng = np.random.default_rng(2)
            free = np.flatnonzero(house_of(showcase).states == 0)
            for seat in rng.choice(free, 12).tolist():
                counter.map.ensure_visible(seat)
                click(counter.map, counter.map.seat_rect(seat).center())
                await rest(showcase)
                if picked(showcase) and minimap.isVisible():
                    assert not any(
                        minimap.geometry().intersects(counter.map.seat_rect(own)) for own in picked(showcase)
                    )
            await on_the_map(showcase)
            press(Qt.Key.Key_M)
            assert not minimap.isVisible()

    qloop.run(scene())


def test_who_may_not_sell_sees_no_tools_of_sale_and_may_still_find_a_seat(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "omar") as showcase:
            counter = screen_of(showcase)
            bar = counter.picking.bar
            assert not any(part.isVisible() for part in (*bar.counts, bar.best, bar.undo, bar.redo, bar.where))
            await on_the_map(showcase)
            press(Qt.Key.Key_B)
            assert picked(showcase) == []
            press(Qt.Key.Key_Slash)
            QTest.keyClicks(bar.search, "balcony b1 3")
            QTest.keyClick(bar.search, Qt.Key.Key_Return)
            assert house_of(showcase).seat(counter.map.focused_seat).row == "B1"

    qloop.run(scene())


def test_the_line_over_the_map_is_walked_through_in_reading_order(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            seats = await pick(showcase, 1)
            assert seats
            bar = screen_of(showcase).picking.bar
            bar.counts[0].setFocus()
            walked: list[QWidget | None] = [focused()]
            for _step in range(5):
                press(Qt.Key.Key_Tab)
                walked.append(focused())
            assert walked == [bar.counts[0], bar.best, bar.where, bar.undo, bar.search, screen_of(showcase).map]

    qloop.run(scene())


def test_from_afar_the_best_is_brought_near_enough_to_see(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            counter = screen_of(showcase)
            showcase.console.window.resize(820, 500)
            await rest(showcase)
            counter.picking.bar.best.click()
            assert counter.map.level is not Level.FAR
            assert counter.map.rect().contains(counter.map.seat_rect(picked(showcase)[0]).center())

    qloop.run(scene())


def test_less_motion_is_a_choice_that_is_kept_and_outlives_another_theme(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window, settings = showcase.console.window, showcase.console.bindings._settings
            assert not screen_of(showcase).map.reduced_motion
            choice = next(
                action for action in window.findChildren(QAction) if action.text() == "Less motion on the map"
            )
            choice.trigger()
            assert screen_of(showcase).map.reduced_motion
            assert settings.get(MOTION) == "less"
            window.theme_chosen.emit("dark")
            await rest(showcase)
            assert screen_of(showcase).map.reduced_motion
            window.theme_chosen.emit("light")
            await rest(showcase)

    qloop.run(scene())


def test_the_desktops_wish_for_less_motion_counts_until_a_person_chooses(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wants_less_motion("less")
    assert not wants_less_motion("full")
    assert not wants_less_motion("system")
    monkeypatch.setattr(QApplication, "style", lambda *_: SimpleNamespace(styleHint=lambda _hint: 0))
    assert wants_less_motion("system")
    assert not wants_less_motion("full")


def test_in_a_narrow_window_parts_step_back_and_none_lies_over_another(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            bar = screen_of(showcase).picking.bar
            for width in (820, 900, 1000, 1280):
                showcase.console.window.resize(width, 600)
                bar.best.click()
                await rest(showcase)
                parts = [*bar.counts, bar.best, bar.where, bar.rank, bar.undo, bar.redo, bar.search]
                shown = [part.geometry() for part in parts if part.isVisible()]
                assert bar.best.isVisible()
                assert bar.search.isVisible()
                assert not any(one.intersects(other) for one in shown for other in shown if one is not other)
                assert max(box.right() for box in shown) < bar.width()
            assert bar.where.isVisible()

    qloop.run(scene())
