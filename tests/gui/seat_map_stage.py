"""A shown map for tests: plans, states, and waiting until the map has drawn what it was given."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import mixed_states, theatre
from widgets.seat_map import Level, SeatMapPlan, SeatMapTexts, SeatMapWidget, Stats
from widgets.theme import Theme

FREE, SOLD = 0, 3


def show_map(
    qtbot: QtBot,
    plan: SeatMapPlan | None = None,
    *,
    size: tuple[int, int] = (900, 600),
    states: npt.NDArray[np.uint8] | None = None,
    texts: SeatMapTexts | None = None,
) -> SeatMapWidget:
    """A map on the (offscreen) screen, drawn and at rest."""
    plan = theatre() if plan is None else plan
    widget = SeatMapWidget(Theme.light(), texts=texts)
    qtbot.addWidget(widget)
    widget.resize(*size)
    widget.set_plan(plan)
    widget.set_states(mixed_states(plan.seat_count) if states is None else states)
    with qtbot.waitExposed(widget):
        widget.show()
    rest(qtbot, widget)
    return widget


def rest(qtbot: QtBot, widget: SeatMapWidget) -> None:
    """Wait until everything posted is flushed and painted."""
    qtbot.waitUntil(lambda: not widget._pending and not widget._flush_timer.isActive())
    before = -1
    while widget.stats.paints != before:
        before = widget.stats.paints
        QCoreApplication.sendPostedEvents()
        QCoreApplication.processEvents()


def look_at(qtbot: QtBot, widget: SeatMapWidget, seat_no: int, seat_px: float) -> None:
    """Centre a seat at a size."""
    x, y = widget.scene.position(seat_no)
    widget.camera.look_at(x, y, seat_px / widget.scene.seat_diameter)
    widget._change_view()
    rest(qtbot, widget)


def post(widget: SeatMapWidget, seats: list[int], state: int) -> None:
    """Post the same state for some seats."""
    widget.apply_changes(np.array(seats, np.uint32), np.full(len(seats), state, np.uint8))


def work(qtbot: QtBot, widget: SeatMapWidget, before: Stats) -> Stats:
    """Work done since `before`, with everything at rest."""
    rest(qtbot, widget)
    return widget.stats.since(before)


def centre_of(widget: SeatMapWidget, seat_no: int) -> QPointF:
    return widget._centre(seat_no)


def hover(widget: QWidget, at: QPointF) -> None:
    """Move the pointer without a button."""
    event = QMouseEvent(
        QEvent.Type.MouseMove, at, widget.mapToGlobal(at), Qt.MouseButton.NoButton, Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QCoreApplication.sendEvent(widget, event)


def pixels(widget: SeatMapWidget) -> npt.NDArray[np.uint32]:
    """A copy of the picture of the seats."""
    return widget.scene.renderer.canvas.pixels.copy()


def click(widget: QWidget, at: QPoint, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, keys, at)


def double_click(widget: QWidget, at: QPoint) -> None:
    """What a mouse sends: press, release, double press, release."""
    click(widget, at)
    QTest.mouseDClick(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)


def press(widget: QWidget, key: Qt.Key) -> None:
    QTest.keyClick(widget, key)


def seats_can_be_picked(widget: SeatMapWidget) -> bool:
    return widget.level is not Level.FAR
