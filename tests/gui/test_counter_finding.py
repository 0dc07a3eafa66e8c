"""Seats, rows and sections found by typing."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.gui.conftest import QLoop, counter_of, pick, until
from tests.gui.picking_hands import CTRL, focused, house_of, on_the_map, picked, press, screen_of
from widgets.find_box import FindBox
from widgets.theme import Theme


def results(search: FindBox) -> tuple[str, ...]:
    return search.results


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
