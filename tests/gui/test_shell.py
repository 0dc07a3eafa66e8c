"""The window: signing in, the list of events, language and theme at run time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from app.actions.sign_in import sign_in
from app.core.sale import SaleState
from app.devices.fake_terminal import AwaitAbort
from app.i18n import current_language
from app.main import Options, make_application
from app.settings import LANGUAGE, THEME, Settings
from app.showcase import PASSWORD, make_showcase, programme
from backend_client.testing import Fault
from tests.gui.conftest import QLoop, counter_of, hold, panel_of, pick, rest, sale_of, state_of, until
from tests.unit.counter import MemoryVault
from widgets.theme import Theme


def test_a_wrong_password_is_explained_and_leaves_the_field_empty(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        showcase = make_showcase(tmp_path, Settings())
        console = showcase.console
        console.window.show()
        console.bindings.start()
        screen = console.window.screens.sign_in
        await until(lambda: "start" not in console.deeds.running, "the sign-in screen")
        assert console.window.screens.current is screen
        QTest.keyClicks(screen.name, "carla")
        QTest.keyClick(screen.name, Qt.Key.Key_Return)
        assert screen.password.hasFocus()
        QTest.keyClicks(screen.password, "wrong")
        QTest.keyClick(screen.password, Qt.Key.Key_Return)
        await until(screen.banner.isVisible, "an explanation")
        await rest(showcase)
        assert screen.banner.title == "Name or password is wrong"
        assert screen.password.text() == ""
        assert not screen.sign_in.busy
        QTest.keyClicks(screen.password, PASSWORD)
        QTest.keyClick(screen.password, Qt.Key.Key_Return)
        await until(lambda: console.window.screens.current is console.window.screens.events, "the events")
        await rest(showcase)
        await showcase.close()

    qloop.run(scene())


@pytest.mark.parametrize("signs_in_first", [False, True])
def test_a_kept_session_comes_back_once_the_booking_system_answers(
    qloop: QLoop, theme: Theme, tmp_path: Path, signs_in_first: bool
) -> None:
    async def scene() -> None:
        showcase = make_showcase(tmp_path, Settings())
        console, server = showcase.console, showcase.server
        desk, screens = console.desk, console.window.screens
        desk.vault = MemoryVault()
        await sign_in(desk, "carla", PASSWORD)
        desk.store.put_session(None)
        server.fail(Fault.UNREACHABLE, "/staff/refresh", times=10_000)
        console.window.show()
        console.bindings.start()
        await until(screens.sign_in.banner.isVisible, "an explanation")
        assert screens.current is screens.sign_in
        assert screens.sign_in.banner.title == "The booking system cannot be reached"
        assert console.deeds.is_running("restore")
        console.window.language_chosen.emit("pt")
        screens = console.window.screens
        assert screens.sign_in.banner.title == "O sistema de reservas está inacessível"
        screens.sign_in.password.setText("half typed")
        if signs_in_first:
            screens.sign_in.sign_in_requested.emit("sofia", PASSWORD)
        else:
            server.heal()
        await until(lambda: screens.current is screens.events, "the events")
        await rest(showcase)
        assert desk.store.session is not None
        assert desk.store.session.name == ("sofia" if signs_in_first else "carla")
        assert screens.sign_in.password.text() == ""
        assert not console.deeds.is_running("restore")
        await showcase.close()

    qloop.run(scene())


def test_without_a_keyring_the_person_is_told_that_it_is_for_this_session_d9(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> str:
        async with counter_of(tmp_path) as showcase:
            lamp = showcase.console.window.screens.strip.keyring
            assert lamp.isVisible()
            assert "no keyring" in lamp.accessibleDescription()
            await rest(showcase)
            return lamp.text

    assert qloop.run(scene()) == "Signed in for this session only"
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"refresh-" not in file.read_bytes()


def test_events_are_searched_by_words_and_opened_by_return(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, open_event=False) as showcase:
            console = showcase.console
            store, screen = console.desk.store, console.window.screens.events
            store.put_events(programme(store.events[0]))
            await rest(showcase)
            assert screen.model.rowCount() == 6
            QTest.keyClicks(screen.search, "norte derby")
            assert screen.model.rowCount() == 1
            screen.search.setText("nothing like it")
            assert screen.model.rowCount() == 0
            assert any(label.text() == "No event matches these words." for label in screen.findChildren(QLabel))
            screen.search.setText("traviata")
            QTest.keyClick(screen.search, Qt.Key.Key_Return)
            await until(lambda: console.window.screens.current is console.window.screens.counter, "the counter")
            await rest(showcase)

    qloop.run(scene())


def test_the_event_that_is_being_opened_says_so_at_its_line(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, open_event=False) as showcase:
            console, screen = showcase.console, showcase.console.window.screens.events
            line = screen.list.visualRect(screen.model.index(0))
            before = screen.list.viewport().grab(line).toImage()
            showcase.server.delay("/plan", 0.3)
            QTest.mouseClick(
                screen.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, line.center()
            )
            await until(lambda: screen.opening == 1, "the line to say so")
            assert screen.list.viewport().grab(line).toImage() != before
            await until(lambda: console.window.screens.current is console.window.screens.counter, "the counter")
            assert screen.opening is None
            await rest(showcase)

    qloop.run(scene())


def test_nothing_large_is_loaded_at_the_first_pick() -> None:
    code = "import sys, widgets.seat_map; print('numpy.ma' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "True"


def test_one_changed_event_changes_one_row_and_resets_nothing(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> tuple[int, int]:
        async with counter_of(tmp_path, open_event=False) as showcase:
            store, model = showcase.console.desk.store, showcase.console.window.screens.events.model
            events = programme(store.events[0])
            model.show_events(events, store.clock.now())
            resets: list[int] = []
            changed: list[int] = []
            model.modelReset.connect(lambda: resets.append(1))
            model.dataChanged.connect(lambda *_: changed.append(1))
            renamed = tuple(
                type(event)(**{**{name: getattr(event, name) for name in event.__struct_fields__}, "name": "Renamed"})
                if number == 2
                else event
                for number, event in enumerate(events)
            )
            model.show_events(renamed, store.clock.now())
            return len(resets), len(changed)

    assert qloop.run(scene()) == (0, 1)


def test_arabic_mirrors_the_layout_at_run_time_and_the_sale_goes_on(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window
            await hold(showcase)
            picks = sale_of(showcase).picks
            left_panel_x = panel_of(showcase).mapTo(window, panel_of(showcase).rect().topLeft()).x()
            assert left_panel_x > window.width() / 2
            window.language_chosen.emit("ar")
            await rest(showcase)
            panel = panel_of(showcase)
            assert QApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft
            assert panel.mapTo(window, panel.rect().topLeft()).x() < window.width() / 2
            assert window.screens.counter.map.layoutDirection() is Qt.LayoutDirection.LeftToRight
            assert panel.sale_page.release.text() == "تحرير المقاعد"
            assert sale_of(showcase).picks == picks
            assert showcase.console.settings.get(LANGUAGE) == "ar"
            assert showcase.console.desk.language == "ar"
            panel.sale_page.exact_cash.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "a sale in Arabic")
            await rest(showcase)
            window.language_chosen.emit("en")
            assert QApplication.layoutDirection() is Qt.LayoutDirection.LeftToRight
            assert current_language().code == "en"
            await rest(showcase)

    qloop.run(scene())


def test_a_language_switch_while_the_terminal_works_loses_nothing(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            showcase.terminal.play(AwaitAbort(approve_anyway=True))
            await hold(showcase)
            panel_of(showcase).sale_page.card.click()
            await until(lambda: showcase.console.desk.store.terminal_progress, "the terminal")
            showcase.console.window.language_chosen.emit("ja")
            await asyncio.sleep(0.02)
            panel = panel_of(showcase)
            assert state_of(showcase) is SaleState.PAYING
            assert panel.paying_page.progress.text() == "お客様にカードの提示をお願いしてください"
            assert panel.sale_page.card.busy
            panel.paying_page.stop.click()
            await until(lambda: state_of(showcase) is SaleState.DONE, "the approval that crossed the stop (T9)")
            await rest(showcase)
            assert not panel.sale_page.card.busy

    qloop.run(scene())


def test_the_theme_switches_at_run_time_and_keeps_the_screen(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window
            await pick(showcase)
            before = window.grab().toImage().pixelColor(4, window.height() // 2).lightness()
            window.theme_chosen.emit("dark")
            await rest(showcase)
            after = window.grab().toImage().pixelColor(4, window.height() // 2).lightness()
            assert before > 200
            assert after < 80
            assert window.screens.current is window.screens.counter
            assert len(panel_of(showcase).sale_page.lines) == 2
            assert showcase.console.settings.get(THEME) == "dark"

    qloop.run(scene())


def test_the_program_has_an_icon_of_its_own(qapp: QApplication, tmp_path: Path) -> None:
    make_application(Settings(), Options(data=tmp_path))
    assert not qapp.windowIcon().isNull()
