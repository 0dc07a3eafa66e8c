"""What a clerk's hands do about money in the tests of windows."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow

from app.core.sale import SaleState
from app.devices.fake_terminal import LoseLine
from app.showcase import Showcase
from backend_client.wire import OperationKind, OperationStatus
from tests.gui.conftest import calm, hold, panel_of, rest, sale_of, state_of, until
from widgets.async_button import AsyncButton


async def press(key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Where the keyboard is; after a dialog nobody gives it back on a screen without windows, so the test does."""
    if QApplication.activeWindow() is None:
        for window in QApplication.topLevelWidgets():
            if isinstance(window, QMainWindow) and window.isVisible():
                window.activateWindow()
        await until(lambda: QApplication.activeWindow() is not None, "an active window")
    target = QApplication.focusWidget() or QApplication.activeWindow()
    assert target is not None
    QTest.keyClick(target, key, modifier)


def modal() -> Any:
    return QApplication.activeModalWidget()


async def opened() -> Any:
    await until(lambda: modal() is not None, "a dialog")
    return modal()


async def other_than(dialog: Any) -> Any:
    """The dialog that comes after `dialog`."""
    await until(lambda: modal() is not None and modal() is not dialog, "the next dialog")
    return modal()


async def paid_so_far(showcase: Showcase, amount_minor: int) -> None:
    await until(lambda: sale_of(showcase).paid_minor == amount_minor, f"{amount_minor} in parts")


async def mean_it(button: AsyncButton) -> None:
    """Press twice, with a moment between."""
    await calm(button)
    button.click()
    await until(lambda: button.means_it, "the question to be answered")  # type: ignore[attr-defined]
    button.click()


async def lose_card(showcase: Showcase, *, booked: bool) -> None:
    """A sale before it, so that the terminal has a last transaction; then one whose end nobody heard."""
    showcase.terminal.silent = True
    showcase.terminal.play(LoseLine(booked=booked))
    await hold(showcase)
    panel_of(showcase).sale_page.card.click()
    await until(lambda: state_of(showcase) is SaleState.UNKNOWN, "an unclear payment")
    await rest(showcase)


async def sell(showcase: Showcase) -> None:
    await hold(showcase, 1, 25)
    panel_of(showcase).sale_page.card.click()
    await until(lambda: state_of(showcase) is SaleState.DONE, "a sale")
    await rest(showcase)
    await calm(panel_of(showcase).outcome_page.next)
    await press(Qt.Key.Key_F10)
    await until(lambda: showcase.console.desk.store.sale is None, "the next customer")


def kinds(showcase: Showcase) -> list[tuple[OperationKind, OperationStatus]]:
    order = list(showcase.server.house.orders.values())[-1]
    return [(one.kind, one.status) for one in order.operations]
