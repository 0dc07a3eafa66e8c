"""The buttons over the map, and the place on the map that stays when everything round it is built anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.screens.counter import CounterScreen
from app.showcase import Showcase
from tests.gui.conftest import QLoop, counter_of, panel_of, pick, rest
from widgets.theme import Theme

_LEFT = Qt.MouseButton.LeftButton


def counter(showcase: Showcase) -> CounterScreen:
    return showcase.console.window.screens.counter


def test_the_buttons_zoom_in_out_and_to_the_whole_plan_and_leave_the_keyboard_on_the_map(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            screen = counter(showcase)
            camera = screen.map.camera
            screen.focus_map()
            whole = camera.scale
            QTest.mouseClick(screen.zoom.zoom_in, _LEFT)
            QTest.mouseClick(screen.zoom.zoom_in, _LEFT)
            assert camera.scale == pytest.approx(whole * 1.25**2)
            QTest.mouseClick(screen.zoom.zoom_out, _LEFT)
            assert camera.scale == pytest.approx(whole * 1.25)
            assert screen.map.hasFocus()
            screen.zoom.fit.setFocus(Qt.FocusReason.TabFocusReason)
            QTest.keyClick(screen.zoom.fit, Qt.Key.Key_Space)
            assert camera.follows
            assert camera.scale == pytest.approx(whole)
            assert showcase.console.desk.store.sale is None  # no seat below was clicked

    qloop.run(scene())


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_buttons_lie_in_the_corner_where_lines_end_and_say_their_keys(
    qloop: QLoop, theme: Theme, tmp_path: Path, language: str
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            if language != "en":
                showcase.console.window.language_chosen.emit(language)
            await rest(showcase)
            screen = counter(showcase)
            for width in (showcase.console.window.width(), 1500):
                showcase.console.window.resize(width, 820)
                await rest(showcase)
                box, around = screen.zoom.geometry(), screen.map.rect()
                assert around.contains(box)
                assert around.bottom() - box.bottom() < 24
                beside = box.left() if language == "ar" else around.right() - box.right()
                assert beside < 24
            buttons = (screen.zoom.zoom_in, screen.zoom.zoom_out, screen.zoom.fit)
            assert all(button.isVisible() for button in buttons)
            assert len({button.accessibleName() for button in buttons} - {""}) == 3
            for button, key in zip(buttons, "+\N{MINUS SIGN}0", strict=True):
                assert button.toolTip() == f"{button.accessibleName()} ({key})"

    qloop.run(scene())


def test_a_switch_of_language_or_theme_keeps_the_place_on_the_map_and_the_keyboard(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window
            window.activateWindow()
            before = counter(showcase).map
            before.focus_seat(200)
            before.zoom(4.0)
            before.camera.pan(-60, 35)
            counter(showcase).focus_map()
            await rest(showcase)
            view = before.camera.looks_at
            for wish, choice in ((window.language_chosen, "ja"), (window.theme_chosen, "dark")):
                wish.emit(choice)
                await rest(showcase)
                after = counter(showcase).map
                assert after is not before
                assert after.camera.looks_at == view
                assert after.focused_seat == 200
                assert after.hasFocus()

    qloop.run(scene())


def test_a_whole_plan_stays_whole_and_a_price_type_keeps_the_keyboard(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window
            window.activateWindow()
            await pick(showcase)
            counter(showcase).map.fit()
            panel_of(showcase).sale_page.lines[1].types.setFocus()
            window.theme_chosen.emit("dark")
            await rest(showcase)
            assert counter(showcase).map.camera.follows
            assert panel_of(showcase).sale_page.lines[1].types.hasFocus()

    qloop.run(scene())


def test_what_was_typed_into_the_search_stays(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, open_event=False) as showcase:
            QTest.keyClicks(showcase.console.window.screens.events.search, "travi")
            showcase.console.window.language_chosen.emit("pt")
            await rest(showcase)
            assert showcase.console.window.screens.events.search.text() == "travi"

    qloop.run(scene())
