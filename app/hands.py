"""The hands and eyes of whoever drives the windows from inside: clicks, typing, waiting for what must come.

Everything goes through mouse and key events of the real widgets, and every wait is for a condition with a deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView, QWidget

from app.main import Console
from app.screens.bindings import Credentials
from widgets.async_button import AsyncButton
from widgets.seat_map import SeatMapWidget

WAIT_S: Final = 30.0
_LOOK_S: Final = 0.01
_LEFT: Final = Qt.MouseButton.LeftButton
_NONE: Final = Qt.KeyboardModifier.NoModifier


class HandsError(Exception):
    """The console did not do what was expected."""

    code = "hands-found-nothing"


async def until(condition: Callable[[], object], what: str, within_s: float = WAIT_S) -> None:
    """Wait for a condition.

    Raises:
        HandsError: it did not come within `within_s`; `what` says what was waited for.
    """
    end = monotonic() + within_s
    while not condition():
        if monotonic() > end:
            raise HandsError(f"waited {within_s:.0f} s for {what}")
        await asyncio.sleep(_LOOK_S)


async def press(button: QWidget, within_s: float = WAIT_S) -> None:
    """Click the middle of a button, once it listens.

    Raises:
        HandsError: it is not there, is off, or stays busy.
    """
    if isinstance(button, AsyncButton):
        await until(lambda: button.listens, f"{button.accessibleName()!r} to listen", within_s)
    if not button.isVisible() or not button.isEnabled():
        raise HandsError(f"cannot press {button.accessibleName()!r}: it is not there")
    QTest.mouseClick(button, _LEFT, _NONE, QPoint(button.width() // 2, button.height() // 2))


def type_into(field: QWidget, text: str) -> None:
    """Type with the keyboard on this field."""
    field.setFocus()
    QTest.keyClicks(field, text)


async def click_seat(seat_map: SeatMapWidget, seat_no: int) -> None:
    """Click a seat where the map shows it."""
    seat_map.ensure_visible(seat_no)
    await asyncio.sleep(0)
    QTest.mouseClick(seat_map, _LEFT, _NONE, seat_map.seat_rect(seat_no).center())


def click_line(view: QListView, line: QModelIndex) -> None:
    """Click a line of a list."""
    view.scrollTo(line)
    QTest.mouseClick(view.viewport(), _LEFT, _NONE, view.visualRect(line).center())


async def sign_in(console: Console, who: Credentials, within_s: float = WAIT_S) -> None:
    """Type name and password, and wait until the person is signed in and what comes with that is loaded."""
    screen = console.window.screens.sign_in
    screen.name.clear()
    type_into(screen.name, who.name)
    type_into(screen.password, who.password)
    await press(screen.sign_in)
    await until(lambda: console.desk.store.session is not None, "the sign-in to be accepted", within_s)
