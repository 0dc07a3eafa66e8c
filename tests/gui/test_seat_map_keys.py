"""The map by keyboard alone, and for those who listen (D10)."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.seat_map_stage import look_at, press, rest, seats_can_be_picked, show_map
from widgets.seat_map import SeatMapPlan, SeatMapTexts
from widgets.seat_map.key_steps import RowTyping
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
    widget.zoom(3)
    press(widget, Qt.Key.Key_0)
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


CTRL = Qt.KeyboardModifier.ControlModifier


def test_ctrl_and_arrows_go_from_row_to_row_and_from_section_to_section(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    plan = widget.plan
    rows = np.flatnonzero(plan.row_section == 0)
    widget.focus_seat(plan.seats_of_row(int(rows[3]))[4])
    QTest.keyClick(widget, Qt.Key.Key_Down, CTRL)
    assert plan.row_no[widget.focused_seat] == rows[4]
    QTest.keyClick(widget, Qt.Key.Key_Up, CTRL)
    assert widget.focused_seat == plan.seats_of_row(int(rows[3]))[4]
    widget.focus_seat(plan.seats_of_row(int(rows[-1]))[0])
    QTest.keyClick(widget, Qt.Key.Key_Down, CTRL)
    assert plan.row_no[widget.focused_seat] == rows[-1], "the last row of a section is its end"
    for expected in (1, 2, 0):
        QTest.keyClick(widget, Qt.Key.Key_Right, CTRL)
        assert plan.seat_section[widget.focused_seat] == expected
    QTest.keyClick(widget, Qt.Key.Key_Left, CTRL)
    assert plan.seat_section[widget.focused_seat] == 2


def test_home_and_end_go_to_the_ends_of_the_row_and_with_ctrl_of_the_section(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    plan = widget.plan
    rows = np.flatnonzero(plan.row_section == 1)
    seats = plan.seats_of_row(int(rows[2]))
    widget.focus_seat(seats[3])
    press(widget, Qt.Key.Key_End)
    assert widget.focused_seat == seats[-1]
    press(widget, Qt.Key.Key_Home)
    assert widget.focused_seat == seats[0]
    QTest.keyClick(widget, Qt.Key.Key_End, CTRL)
    assert widget.focused_seat == plan.seats_of_row(int(rows[-1]))[-1]
    QTest.keyClick(widget, Qt.Key.Key_Home, CTRL)
    assert widget.focused_seat == plan.seats_of_row(int(rows[0]))[0]


def test_a_rows_letter_goes_to_that_row_of_the_same_section(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    plan = widget.plan
    at = plan.seats_of_row(int(np.flatnonzero(plan.row_section == 1)[0]))[2]
    widget.focus_seat(at)
    QTest.keyClick(widget, Qt.Key.Key_K, Qt.KeyboardModifier.ShiftModifier)
    assert plan.row_label[int(plan.row_no[widget.focused_seat])] == "K"
    assert plan.seat_section[widget.focused_seat] == 1
    before = widget.focused_seat
    QTest.keyClicks(widget, "#")
    assert widget.focused_seat == before


def test_letters_in_quick_succession_spell_a_row_and_slow_ones_begin_anew() -> None:
    plan = with_rows(theatre(), ["1", "10", "2", "A", "AA", "AB"])
    typing = RowTyping()

    def row_after(letter: str, at_s: float) -> str:
        seat = typing.type(plan, 0, letter, at_s)
        return plan.row_label[int(plan.row_no[seat])] if seat >= 0 else ""

    assert [row_after("1", 0.0), row_after("0", 0.5)] == ["1", "10"]
    assert [row_after("1", 10.0), row_after("2", 10.2)] == ["1", "2"], "no row is called 12"
    assert [row_after("a", 20.0), row_after("b", 20.4)] == ["A", "AB"]
    assert [row_after("a", 30.0), row_after("a", 32.0)] == ["A", "A"]
    assert row_after("z", 40.0) == ""
    assert not typing.under_way(40.1)


def with_rows(plan: SeatMapPlan, first: list[str]) -> SeatMapPlan:
    """The plan with other names for its first rows."""
    values = {f.name: getattr(plan, f.name) for f in fields(SeatMapPlan) if f.init}
    others = [f"Y{row}" for row in range(len(first), len(plan.row_label))]
    section = np.zeros(len(plan.row_label), np.int32)
    return SeatMapPlan(**{**values, "row_label": tuple(first + others), "row_section": section})


def test_nought_goes_on_with_a_rows_name_and_shows_the_plan_otherwise(qtbot: QtBot) -> None:
    widget = show_map(qtbot, with_rows(theatre(), ["A1", "A10"]))
    widget.focus_seat(0)
    QTest.keyClick(widget, Qt.Key.Key_A, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(widget, "10")
    assert widget.plan.row_label[int(widget.plan.row_no[widget.focused_seat])] == "A10"
    assert not widget.camera.follows
    widget._row_typing = RowTyping()
    QTest.keyClicks(widget, "0")
    assert widget.camera.follows
