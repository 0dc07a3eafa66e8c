"""Picking at the counter: several together, the best available, and back again."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.core.sale import SaleState
from app.screens.picking_words import best_spoken
from tests.gui.conftest import QLoop, counter_of, panel_of, pick, rest, sale_of, state_of, until
from tests.gui.picking_hands import CTRL, SHIFT, house_of, on_the_map, picked, press, screen_of
from tests.gui.seat_map_stage import centre_of, click, hover
from widgets.theme import Theme


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
