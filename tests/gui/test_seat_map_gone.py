"""Seats that a later version of the plan took away (flag 8): their numbers stay, they are nowhere on the map (I4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.seat_map_stage import FREE, SOLD, centre_of, click, look_at, pixels, post, press, rest, show_map
from widgets.seat_map import SeatMapPlan, SeatMapTexts, SeatMapWidget, SeatOutOfPlanError
from widgets.seat_map.accessible_tree import MapNode, MapTree
from widgets.seat_map.seat_bits import GONE_FLAG, Look
from widgets.seat_map.seat_grid import SeatGrid

ROW = 4
TEXTS = SeatMapTexts(
    spoken=lambda seat: f"seat {seat}", spoken_row=lambda row, _kind, free: f"row {row}: {free}",
    spoken_section=lambda section, free: f"{section}: {free}",
)  # fmt: skip


def without(plan: SeatMapPlan, seats: list[int]) -> SeatMapPlan:
    flags = plan.flags.copy()
    flags[seats] |= GONE_FLAG
    return replace(plan, flags=flags)


def gone_in_row(plan: SeatMapPlan, places: list[int]) -> list[int]:
    return [plan.seats_of_row(ROW)[place] for place in places]


def shown_without(qtbot: QtBot, places: list[int]) -> tuple[SeatMapWidget, list[int]]:
    plan = theatre()
    gone = gone_in_row(plan, places)
    widget = show_map(
        qtbot, without(plan, gone), states=np.full(plan.seat_count, FREE, np.uint8), size=(900, 700), texts=TEXTS
    )
    look_at(qtbot, widget, gone[0], 24)
    return widget, gone


def test_no_pixel_of_the_picture_knows_a_seat_that_is_gone(qtbot: QtBot) -> None:
    """Wherever it says that the seat stood, whatever the feed says of it, alone and among others."""
    widget, gone = shown_without(qtbot, [5, 6])
    before = pixels(widget)
    done = widget.stats.copy()
    post(widget, gone, SOLD)
    widget.set_mine([gone[0]])
    widget.set_mine([])
    rest(qtbot, widget)
    assert widget.stats.since(done).stamped == 0
    widget._redraw_later()
    rest(qtbot, widget)
    assert np.array_equal(before, pixels(widget))
    assert widget.scene.states.look_of_seat(gone[0]) is Look.BLOCKED
    moved = replace(widget.plan, x=np.where(widget.plan.gone, 1e7, widget.plan.x).astype(np.float32))
    assert SeatGrid(moved).extent == SeatGrid(widget.plan).extent


def test_a_seat_that_is_gone_cannot_be_found_or_picked(qtbot: QtBot) -> None:
    widget, gone = shown_without(qtbot, [5, 6])
    clicked: list[int] = []
    banded: list[list[int]] = []
    widget.seat_clicked.connect(clicked.append)
    widget.seats_banded.connect(lambda seats: banded.append(seats.tolist()))
    at = centre_of(widget, gone[0])
    assert widget.seat_at(at) not in gone
    click(widget, at.toPoint())
    assert not set(clicked) & set(gone)
    assert not widget.pickable(np.array(gone)).any()
    row = widget.plan.seats_of_row(ROW)
    widget._emit_selectable(np.array(row))
    assert banded == [[seat for seat in row if seat not in gone]]
    with pytest.raises(SeatOutOfPlanError):
        widget.scene.states.slots_of([widget.plan.seat_count])


def nodes_below(parent: QAccessibleInterface) -> list[MapNode]:
    below = [parent.child(at) for at in range(parent.childCount())]
    return [node for node in below if isinstance(node, MapNode)]


def test_keys_step_over_a_seat_that_is_gone(qtbot: QtBot) -> None:
    widget, gone = shown_without(qtbot, [0, 5])
    row = widget.plan.seats_of_row(ROW)
    widget.focus_seat(row[4])
    press(widget, Qt.Key.Key_Right)
    assert widget.focused_seat == row[6]
    press(widget, Qt.Key.Key_Home)
    assert widget.focused_seat == row[1]
    QTest.keyClick(widget, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert widget.focused_seat == row[1], "the row begins here now"
    widget.focus_seat(row[4])
    QTest.keyClick(widget, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert widget.focused_seat == row[6]
    assert gone[1] not in widget.plan.present_in_row(ROW)


def test_a_seat_that_is_gone_is_not_counted(qtbot: QtBot) -> None:
    plan = bowl(9_000)
    gone = np.flatnonzero(plan.seat_section == 3)[::2]
    widget = show_map(qtbot, without(plan, gone.tolist()), states=np.zeros(plan.seat_count, np.uint8))
    left = int((plan.seat_section == 3).sum()) - len(gone)
    assert widget.scene.states.seats_by_section()[3] == left
    assert widget.scene.states.free_by_section()[3] == left
    post(widget, gone.tolist(), FREE)
    rest(qtbot, widget)
    assert widget.scene.states.free_by_section()[3] == left
    assert widget.stats.stamped % (plan.seat_count - len(gone)) == 0


def test_a_seat_that_is_gone_is_not_spoken(qtbot: QtBot) -> None:
    QAccessible.setActive(True)
    try:
        widget, gone = shown_without(qtbot, [0, 5, 6])
        tree = QAccessible.queryAccessibleInterface(widget)
        assert isinstance(tree, MapTree)
        section = tree.child(0)
        rows = nodes_below(section)
        row = next(node for node in rows if node.number == ROW)
        there = nodes_below(row)
        assert [node.number for node in there] == widget.plan.present_in_row(ROW).tolist()
        assert not {node.number for node in there} & set(gone)
        assert [row.indexOfChild(node) for node in there] == list(range(len(there)))
        assert row.text(QAccessible.Text.Name) == f"row {widget.plan.row_label[ROW]}: {len(there)}"
    finally:
        QAccessible.setActive(False)
        QCoreApplication.sendPostedEvents()


def test_a_row_and_a_plan_without_a_seat_left_are_no_trouble(qtbot: QtBot) -> None:
    plan = theatre()
    row = list(plan.seats_of_row(ROW))
    widget = show_map(qtbot, without(plan, row))
    press(widget, Qt.Key.Key_PageDown)
    assert widget.focused_seat not in row
    assert not (widget.plan.row_no[widget.scene.grid.seats_in(-1e6, -1e6, 1e6, 1e6)] == ROW).any()
    first, last = widget.plan.row_ends
    assert last[ROW] < first[ROW]
    empty = show_map(qtbot, without(plan, list(range(plan.seat_count))))
    press(empty, Qt.Key.Key_Right)
    assert (empty.focused_seat, empty.seat_at(empty.rect().center().toPointF())) == (-1, -1)
