"""The map as a screen reader walks it (D10): lazily, section → row → seat, and without a trace left behind."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QPoint
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.conftest import QLoop, counter_of
from tests.gui.conftest import rest as at_rest
from tests.gui.seat_map_stage import FREE, SOLD, post, rest, show_map
from widgets.seat_map import SeatMapTexts, SeatMapWidget, accessible_tree
from widgets.seat_map.accessible_tree import MapTree
from widgets.theme import Theme

TEXTS = SeatMapTexts(
    name="Plan",
    spoken=lambda seat: f"seat {seat}",
    spoken_row=lambda row, _kind, free: f"row {row}: {free}",
    spoken_section=lambda section, free: f"{section}: {free}",
)
NAME = QAccessible.Text.Name


@pytest.fixture
def listening() -> Iterator[None]:
    """A screen reader is there."""
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


def tree_of(widget: SeatMapWidget) -> MapTree:
    tree = QAccessible.queryAccessibleInterface(widget)
    assert isinstance(tree, MapTree)
    return tree


def child(parent: QAccessibleInterface, index: int) -> QAccessibleInterface:
    found = parent.child(index)
    assert found is not None
    return found


def test_a_reader_walks_from_section_to_row_to_seat_and_back(qtbot: QtBot) -> None:
    plan = theatre()
    widget = show_map(qtbot, texts=TEXTS, states=np.zeros(plan.seat_count, np.uint8))
    tree = tree_of(widget)
    assert tree.childCount() == 3
    section = child(tree, 1)
    assert section.text(NAME) == f"{plan.section_name[1]}: {int((plan.seat_section == 1).sum())}"
    rows = np.flatnonzero(plan.row_section == 1)
    assert section.childCount() == len(rows)
    row = child(section, 4)
    assert row.text(NAME) == f"row {plan.row_label[rows[4]]}: {plan.row_count[rows[4]]}"
    assert row.childCount() == plan.row_count[rows[4]]
    seat = child(row, 2)
    assert seat.text(NAME) == f"seat {plan.row_first[rows[4]] + 2}"
    assert seat.childCount() == 0
    beyond: list[object] = [seat.child(0), row.child(10_000)]
    assert beyond == [None, None]
    for node, parent, place in ((seat, row, 2), (row, section, 4), (section, tree, 1)):
        assert node.parent() is parent
        assert parent.indexOfChild(node) == place
    assert [node.role() for node in (section, row, seat)] == [
        QAccessible.Role.Grouping, QAccessible.Role.List, QAccessible.Role.ListItem,
    ]  # fmt: skip


def test_nodes_are_made_when_they_are_asked_for(qtbot: QtBot) -> None:
    widget = show_map(qtbot, bowl(60_000), texts=TEXTS)
    tree = tree_of(widget)
    assert tree.childCount() > 100
    assert tree.node_count == 0
    row = child(child(tree, 5), 0)
    assert row.childCount() > 4
    assert tree.node_count == 2
    child(row, 3)
    assert child(row, 3) is child(row, 3)
    assert tree.node_count == 3


def test_a_seat_tells_whether_it_can_be_picked_is_mine_and_has_the_keyboard(qtbot: QtBot) -> None:
    plan = theatre()
    widget = show_map(qtbot, texts=TEXTS, states=np.zeros(plan.seat_count, np.uint8))
    post(widget, [1], SOLD)
    rest(qtbot, widget)
    widget.set_mine([2])
    row = child(child(tree_of(widget), 0), 0)
    free, sold, mine = (child(row, index).state() for index in range(3))
    assert (free.selectable, free.selected, free.focusable) == (True, False, True)
    assert (sold.selectable, sold.selected) == (False, False)
    assert (mine.selectable, mine.selected) == (True, True)
    assert not free.focused
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    widget.focus_seat(0)
    assert child(row, 0).state().focused
    assert tree_of(widget).focusChild() is child(row, 0)


def test_a_seat_is_found_where_it_is_drawn(qtbot: QtBot) -> None:
    widget = show_map(qtbot, texts=TEXTS)
    widget.ensure_visible(40)
    rest(qtbot, widget)
    tree = tree_of(widget)
    at = widget.mapToGlobal(widget.seat_rect(40).center())
    found = tree.childAt(at.x(), at.y())
    assert found is not None
    assert found.text(NAME) == "seat 40"
    assert found.rect().contains(at)
    row = found.parent()
    assert row is not None
    assert row.rect().contains(found.rect())
    assert tree.childAt(at.x() - 5000, at.y()) is None
    assert not found.state().offscreen
    widget.ensure_visible(widget.plan.seat_count - 1)
    assert found.state().offscreen or widget.rect().intersects(widget.seat_rect(40))


def test_widgets_on_the_map_stay_its_children(qtbot: QtBot) -> None:
    widget = show_map(qtbot, texts=TEXTS)
    note = QLabel("Note", widget)
    tree = tree_of(widget)
    assert tree.childCount() == 4
    assert child(tree, 0).object() is note
    assert child(tree, 1).text(NAME).startswith(widget.plan.section_name[0])
    assert tree.indexOfChild(child(tree, 1)) == 1
    assert tree.indexOfChild(child(tree, 0)) == 0


@pytest.mark.usefixtures("listening")
def test_moving_the_keyboard_tells_the_reader_which_seat_it_is_on(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[QAccessible.Event, str]] = []

    def hear(event: object) -> None:
        interface = event.accessibleInterface()  # type: ignore[attr-defined]
        told.append((event.type(), interface.text(NAME)))  # type: ignore[attr-defined]

    widget = show_map(qtbot, texts=TEXTS, states=np.zeros(theatre().seat_count, np.uint8))
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    widget.focus_seat(12)
    assert (QAccessible.Event.Focus, "seat 12") in told
    told.clear()
    post(widget, [12, 13], SOLD)
    rest(qtbot, widget)
    assert told == [(QAccessible.Event.NameChanged, "seat 12")]
    told.clear()
    post(widget, [13], FREE)
    rest(qtbot, widget)
    assert told == []
    widget.set_mine([12])
    assert told == [(QAccessible.Event.NameChanged, "seat 12")]


def test_another_plan_hands_all_nodes_of_the_old_one_back(qtbot: QtBot) -> None:
    widget = show_map(qtbot, texts=TEXTS)
    tree = tree_of(widget)
    node = child(child(child(tree, 0), 0), 0)
    number = QAccessible.uniqueId(node)
    assert QAccessible.accessibleInterface(number) is node
    widget.set_plan(bowl(3_000))
    assert not shiboken6.isValid(node)
    assert QAccessible.accessibleInterface(number) is None
    assert tree.node_count == 0
    assert child(tree_of(widget), 0).text(NAME)


def test_the_end_of_a_map_ends_its_nodes_and_nothing_keeps_the_map(qtbot: QtBot) -> None:
    ends: list[weakref.ref[SeatMapWidget]] = []
    for _ in range(30):
        widget = SeatMapWidget(Theme.light(), texts=TEXTS)
        widget.set_plan(theatre())
        tree = tree_of(widget)
        node = child(child(child(tree, 2), 1), 1)
        number = QAccessible.uniqueId(node)
        ends.append(weakref.ref(widget))
        shiboken6.delete(widget)
        assert not shiboken6.isValid(tree)
        assert not shiboken6.isValid(node)
        assert QAccessible.accessibleInterface(number) is None
        del widget, tree, node
    gc.collect()
    assert [end() for end in ends] == [None] * 30


@pytest.mark.usefixtures("listening")
def test_a_window_that_is_deleted_later_with_nobody_holding_its_map_ends_well(qtbot: QtBot) -> None:
    """Qt destroys the map's Python object before it tells its cache: the interface must outlive that object."""
    before = len(accessible_tree._TREES)
    for _ in range(20):
        window = QWidget()
        made = SeatMapWidget(Theme.light(), window, texts=TEXTS)
        made.set_plan(theatre())
        made.focus_seat(5)
        node = child(child(child(tree_of(made), 0), 0), 0)
        number = QAccessible.uniqueId(node)
        window.deleteLater()
        del window, made, node
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        assert QAccessible.accessibleInterface(number) is None
    assert len(accessible_tree._TREES) <= before + 1, "trees that Qt deleted are let go"


@pytest.mark.usefixtures("listening")
def test_a_map_that_is_asked_for_again_gets_an_interface_of_its_own(qtbot: QtBot) -> None:
    """Qt deletes every interface that it was given; one given twice would be deleted twice."""
    widget = show_map(qtbot, texts=TEXTS)
    first = tree_of(widget)
    child(first, 0)
    second = accessible_tree._interface_of("SeatMapWidget", widget)
    assert isinstance(second, MapTree)
    assert second is not first
    assert first.node_count == 0
    QAccessible.registerAccessibleInterface(second)
    assert child(second, 0).parent() is second


@pytest.mark.usefixtures("listening")
def test_a_console_that_was_read_from_end_to_end_closes_well(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    def walk(node: QAccessibleInterface) -> int:
        count = 1
        for index in range(node.childCount()):
            found = node.child(index)
            if isinstance(found, QAccessibleInterface):
                QAccessible.uniqueId(found)
                assert isinstance(found.text(NAME), str)
                count += walk(found)
        return count

    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            await at_rest(showcase)
            counter = showcase.console.window.screens.counter
            counter.map.focus_seat(3)
            assert walk(QAccessible.queryAccessibleInterface(showcase.console.window)) > counter.map.plan.seat_count
            showcase.console.window.theme_chosen.emit("dark")
            await at_rest(showcase)
            again = showcase.console.window.screens.counter.map
            assert again is not counter.map
            assert walk(QAccessible.queryAccessibleInterface(showcase.console.window)) > again.plan.seat_count

    qloop.run(scene())


def test_without_a_reader_nothing_is_made(qtbot: QtBot) -> None:
    widget = show_map(qtbot, texts=TEXTS)
    QAccessible.setActive(False)
    widget.focus_seat(3)
    assert tree_of(widget).node_count == 0
    assert widget.childAt(QPoint(1, 1)) is None
