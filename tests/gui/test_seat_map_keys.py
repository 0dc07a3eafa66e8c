"""The map by keyboard alone, and for those who listen (D10)."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.seat_map_stage import look_at, press, rest, seats_can_be_picked, show_map
from widgets.seat_map import SeatMapPlan, SeatMapTexts
from widgets.seat_map.navigation import Step, next_seat
from widgets.seat_map.seat_grid import SeatGrid


def test_arrows_step_along_the_row_and_to_the_rows_before_and_behind(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    row = widget.plan.seats_of_row(21)
    widget.focus_seat(row[3])
    for key, expected in [(Qt.Key.Key_Right, row[4]), (Qt.Key.Key_Right, row[5]), (Qt.Key.Key_Left, row[4])]:
        press(widget, key)
        assert widget.focused_seat == expected
    press(widget, Qt.Key.Key_Down)
    assert widget.plan.y[widget.focused_seat] > widget.plan.y[row[4]]
    below = int(widget.plan.row_no[widget.focused_seat])
    assert below != int(widget.plan.row_no[row[4]])
    press(widget, Qt.Key.Key_Up)
    assert widget.plan.y[widget.focused_seat] < widget.plan.y[widget.plan.seats_of_row(below)[0]] + 200


def test_a_step_off_the_end_of_a_row_crosses_the_aisle() -> None:
    plan = theatre()
    grid = SeatGrid(plan)
    left_block = plan.seats_of_row(20)
    assert plan.row_label[20] == "K"
    over = next_seat(plan, grid, left_block[-1], Step.RIGHT)
    assert plan.row_section[plan.row_no[over]] != plan.row_section[20]
    assert plan.row_label[int(plan.row_no[over])] == "K"
    assert next_seat(plan, grid, over, Step.LEFT) == left_block[-1]


@pytest.mark.parametrize("plan", [theatre(), bowl(3_000)], ids=["theatre", "bowl"])
def test_arrows_alone_reach_every_seat(plan: SeatMapPlan) -> None:
    grid = SeatGrid(plan)
    reached, edge = {0}, [0]
    while edge:
        seat = edge.pop()
        for step in Step:
            found = next_seat(plan, grid, seat, step)
            if found not in reached:
                reached.add(found)
                edge.append(found)
    assert len(reached) == plan.seat_count


def test_at_the_edge_of_the_plan_a_step_stays() -> None:
    plan = theatre()
    last = int(plan.y.argmax())
    assert next_seat(plan, SeatGrid(plan), last, Step.DOWN) == last


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_space_and_enter_pick_the_focused_seat(qtbot: QtBot, key: Qt.Key) -> None:
    widget = show_map(qtbot)
    widget.focus_seat(30)
    with qtbot.waitSignal(widget.seat_activated) as blocker:
        press(widget, key)
    assert blocker.args == [30]


def test_space_held_with_a_drag_pans_and_picks_nothing(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    look_at(qtbot, widget, 300, 30)
    widget.focus_seat(300)
    activated: list[int] = []
    widget.seat_activated.connect(activated.append)
    before = widget.camera.x
    QTest.keyPress(widget, Qt.Key.Key_Space)
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center())
    QTest.mouseMove(widget, widget.rect().center() * 0.8)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center() * 0.8)
    QTest.keyRelease(widget, Qt.Key.Key_Space)
    assert widget.camera.x != before
    assert activated == []


def test_plus_minus_and_nought_zoom_and_show_the_whole_plan(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    fitting = widget.camera.scale
    press(widget, Qt.Key.Key_Plus)
    assert widget.camera.scale == pytest.approx(fitting * 1.25)
    press(widget, Qt.Key.Key_Minus)
    assert widget.camera.scale == pytest.approx(fitting)
    for key in (Qt.Key.Key_0, Qt.Key.Key_Home):
        widget.zoom(3)
        press(widget, key)
        assert widget.camera.scale == pytest.approx(fitting)
        assert widget.camera.follows


def test_page_keys_go_through_the_sections(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    sections = []
    for _ in range(4):
        press(widget, Qt.Key.Key_PageDown)
        sections.append(int(widget.plan.seat_section[widget.focused_seat]))
    assert sections == [0, 1, 2, 0]
    press(widget, Qt.Key.Key_PageUp)
    assert int(widget.plan.seat_section[widget.focused_seat]) == 2


def test_the_focused_seat_comes_into_view_large_enough_to_pick(qtbot: QtBot) -> None:
    widget = show_map(qtbot, bowl(30_000), size=(700, 500))
    assert not seats_can_be_picked(widget)
    for _ in range(3):
        press(widget, Qt.Key.Key_PageDown)
        rest(qtbot, widget)
        assert seats_can_be_picked(widget)
        assert widget.rect().contains(widget.seat_rect(widget.focused_seat))


def test_the_focus_ring_is_seen(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    look_at(qtbot, widget, 300, 24)
    before = widget.grab().toImage()
    widget.focus_seat(300)
    rest(qtbot, widget)
    after = widget.grab().toImage()
    box = widget.seat_rect(300).adjusted(-8, -8, 8, 8)
    differing = sum(
        before.pixel(x, y) != after.pixel(x, y)
        for x in range(box.left(), box.right())
        for y in range(box.top(), box.bottom())
    )
    assert differing > 60


def test_the_focused_seat_is_spoken(qtbot: QtBot) -> None:
    widget = show_map(qtbot, texts=SeatMapTexts(name="Plan", hint="Keys", spoken=lambda seat: f"row A, seat {seat}"))
    assert widget.accessibleName() == "Plan"
    assert widget.accessibleDescription() == "Keys"
    widget.focus_seat(12)
    assert widget.accessibleDescription() == "row A, seat 12"
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface.text(QAccessible.Text.Name) == "Plan"


def test_keys_that_mean_nothing_here_go_to_the_window(qtbot: QtBot) -> None:
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtGui import QKeyEvent

    widget = show_map(qtbot, states=np.zeros(theatre().seat_count, np.uint8))
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_F9, Qt.KeyboardModifier.NoModifier)
    QCoreApplication.sendEvent(widget, event)
    assert not event.isAccepted()
