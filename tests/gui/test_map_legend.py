"""The legend explains what the map draws, with the map's own strokes."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage, QPainter, QRegion
from PySide6.QtWidgets import QWidget

from tests.gui.conftest import QLoop, counter_of, rest, until
from widgets.map_legend import LegendCategory, LegendWords, MapLegend
from widgets.seat_map import Level
from widgets.seat_map.palette import MapPalette
from widgets.seat_map.seat_bits import Look
from widgets.seat_map.sprites import paint_seat
from widgets.theme import Theme

WORDS = LegendWords(
    "Yours", "Counter", "Buyer", "House", "Sold", "Blocked", "Accessible", "Companion", "Restricted", "Printed",
    paying="Paying", used="Used",
)  # fmt: skip


def legend_of(theme: Theme) -> MapLegend:
    made = MapLegend(theme, WORDS)
    made.show_categories((LegendCategory(0, "", "Stalls", "€10.00"),))
    made.show()
    return made


def test_a_struck_through_seat_is_explained_once_there_is_one(theme: Theme) -> None:
    made = legend_of(theme)
    assert "Printed" not in made.explained
    made.show_states(np.array([0, 3, 1, 3 | 64 | 128], np.uint8))  # a used ticket's seat is dotted, not struck
    assert "Printed" not in made.explained
    made.show_states(np.array([0, 3, 3 | 64], np.uint8))
    assert "Printed" in made.explained
    made.show_states(np.zeros(3, np.uint8))
    assert "Printed" not in made.explained


def test_a_half_filled_and_a_dotted_seat_are_explained_while_there_is_one(theme: Theme) -> None:
    made = legend_of(theme)
    assert not {"Paying", "Used"} & set(made.explained)
    made.show_states(np.array([0, 3, 2 | 1 << 3, 3 | 64 | 128], np.uint8))
    assert {"Paying", "Used"} <= set(made.explained)
    made.show_far(far=True)
    assert not {"Paying", "Used"} & set(made.explained)
    made.show_far(far=False)
    made.show_states(np.zeros(3, np.uint8))
    assert not {"Paying", "Used"} & set(made.explained)


def test_a_legend_of_many_lines_leaves_the_room_to_the_map_and_still_says_everything(theme: Theme) -> None:
    kinds = tuple(f"Guests of the house, kind {kind}" for kind in range(8))
    made = MapLegend(theme, dataclasses.replace(WORDS, house_kinds=kinds))
    made.show_categories(tuple(LegendCategory(no, "", f"Category {no}", "€10.00 – €20.00") for no in range(7)))
    made.resize(800, 200)
    made.show()
    roomy = made.heightForWidth(800)
    made.show_house_kinds(range(1, 8))
    folded = [mark for mark in made._marks if mark.house_kind and not mark.isHidden()]
    assert len(folded) == 7
    assert all(mark.toolTip() == mark.accessibleName() for mark in folded)
    assert all(not mark.toolTip() for mark in made._marks if not mark.house_kind)
    assert made.heightForWidth(800) <= roomy * 1.5
    made.resize(4000, 200)
    assert all(not mark.toolTip() for mark in folded), "where there is room the words stand beside the marks"


def test_a_low_window_keeps_every_mark_and_puts_its_words_into_tool_tips(theme: Theme) -> None:
    made = legend_of(theme)
    before, room = made.explained, made.heightForWidth(440)
    made.show_marks(worded=False)
    assert made.explained == before
    assert made.heightForWidth(440) < room
    assert {mark.toolTip() for mark in made._marks if not mark.isHidden()} == set(before)


def test_a_choice_stays_when_prices_change_and_goes_where_it_is_told(theme: Theme) -> None:
    made = legend_of(theme)
    told: list[list[int]] = []
    made.categories_dimmed.connect(told.append)
    two = (LegendCategory(0, "", "Stalls", "€10.00"), LegendCategory(3, "", "Circle", "€8.00"))
    made.show_categories(two)
    made.chips[1].click()
    assert (made.chosen, told[-1]) == ((3,), [0])
    made.show_categories(two)
    assert (made.chosen, told[-1]) == ((3,), [0])
    made.choose(())
    assert (made.chosen, told[-1]) == ((), [])
    made.choose((3, 99))
    assert (made.chosen, told[-1]) == ((3,), [0])


def test_the_filter_survives_another_theme_and_another_language(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            window = showcase.console.window
            window.screens.counter.legend.chips[1].click()
            chosen = window.screens.counter.legend.chosen
            dimmed = window.screens.counter.map.scene.states.dimmed.copy()
            assert 0 < dimmed.sum() < len(dimmed)
            for wish, value in ((window.theme_chosen, "dark"), (window.language_chosen, "ar")):
                before = window.screens.counter
                wish.emit(value)
                await rest(showcase)
                after = window.screens.counter
                assert after is not before
                assert after.legend.chosen == chosen
                assert np.array_equal(after.map.scene.states.dimmed, dimmed)

    qloop.run(scene())


def test_marks_are_the_maps_own(theme: Theme) -> None:
    """A house seat in the legend is a house seat of the map, pixel by pixel."""
    made = legend_of(theme)
    for kind, look in (("house", Look.BLOCKED_HOUSE), ("blocked", Look.BLOCKED), ("till", Look.HELD_TILL)):
        [mark] = [mark for mark in made._marks if mark.kind == kind]
        mark.resize(mark.sizeHint())
        shown = QImage(mark.size(), QImage.Format.Format_RGB32)
        shown.fill(QColor("white"))
        mark.render(shown, QPoint(), QRegion(), QWidget.RenderFlag(0))
        seat = QImage(14, 14, QImage.Format.Format_RGB32)
        seat.fill(QColor("white"))
        painter = QPainter(seat)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_seat(painter, MapPalette.without_plan(theme), look, 0, 0, 14)
        painter.end()
        assert shown.copy(8, (mark.height() - 14) // 2, 14, 14) == seat


def test_legend_and_map_come_to_rest_in_a_window_of_any_size(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    """The legend takes its height from the map, and explains what a map of that height shows: it never swings."""

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await rest(showcase)
            counter, window = showcase.console.window.screens.counter, showcase.console.window
            views: list[bool] = []
            counter.map.view_changed.connect(lambda: views.append(counter.map.level is Level.FAR))
            kept, told = set(), set()
            for size in [(820, 545), (1090, 500), (1180, 500), (1270, 500), (1360, 500), (1280, 800), (820, 500)]:
                window.resize(*size)
                views.clear()
                for _turn in range(20):
                    await asyncio.sleep(0)
                assert len(views) <= 8, size
                assert counter.legend.is_far == (counter.map.level is Level.FAR), size
                kept.add(counter.legend.keeps_room)
                told.add(counter.legend.explained)
            assert kept == {True, False}
            assert len(told) == 2
            counter.map.zoom_by_steps(4)
            await until(lambda: counter.map.level is not Level.FAR, "seats")
            await rest(showcase)
            assert not counter.legend.is_far
            window.resize(1270, 500)
            counter.map.fit()
            await rest(showcase)
            assert counter.legend.is_far == (counter.map.level is Level.FAR)

    qloop.run(scene())
