"""The counter's map and what stands around it: the small map, who may only look, less motion, narrow windows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.screens.looks import wants_less_motion
from app.settings import MOTION
from tests.gui.conftest import QLoop, counter_of, pick, rest
from tests.gui.picking_hands import focused, house_of, on_the_map, picked, press, screen_of
from tests.gui.seat_map_stage import click
from widgets.seat_map import Level
from widgets.theme import Theme


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
