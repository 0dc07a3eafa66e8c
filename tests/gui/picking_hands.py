"""What a clerk's hands and eyes do on the map in the tests of windows."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.screens.counter import CounterScreen
from app.showcase import Showcase, TheatreHouse
from tests.gui.conftest import until

SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


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


def focused() -> QWidget | None:
    return QApplication.focusWidget()
