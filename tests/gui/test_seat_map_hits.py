"""Which seat is meant: the index is exact, and fingers are forgiven."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, mixed_states, theatre
from tests.gui.seat_map_stage import (
    FREE,
    SOLD,
    centre_of,
    click,
    double_click,
    hover,
    look_at,
    press,
    rest,
    seats_can_be_picked,
    show_map,
)
from widgets.seat_map import SeatMapPlan, SeatMapPlanError, SeatMapTexts, SeatMapWidget
from widgets.seat_map.plan import empty_plan
from widgets.seat_map.seat_grid import SeatGrid

PLANS = {"theatre": theatre(), "bowl": bowl(6_000)}


@pytest.mark.parametrize("name", PLANS)
def test_the_nearest_seat_is_that_of_a_search_over_all(name: str) -> None:
    plan = PLANS[name]
    grid = SeatGrid(plan)
    rng = np.random.default_rng(5)
    spread = float(np.ptp(plan.x))
    for _ in range(400):
        x = float(rng.uniform(plan.x.min() - 0.1 * spread, plan.x.max() + 0.1 * spread))
        y = float(rng.uniform(plan.y.min(), plan.y.max()))
        radius = float(rng.uniform(0.2, 6.0)) * grid.pitch
        squares = (plan.x - np.float32(x)) ** 2 + (plan.y - np.float32(y)) ** 2
        best = int(squares.argmin())
        expected = best if squares[best] <= radius * radius else -1
        assert grid.nearest(x, y, radius) == expected


@pytest.mark.parametrize("name", PLANS)
def test_the_seats_of_a_rectangle_are_those_of_a_search_over_all(name: str) -> None:
    plan = PLANS[name]
    grid = SeatGrid(plan)
    rng = np.random.default_rng(6)
    for _ in range(200):
        (left, right), (top, bottom) = (
            np.sort(rng.uniform(plan.x.min(), plan.x.max(), 2)),
            np.sort(rng.uniform(plan.y.min(), plan.y.max(), 2)),
        )
        inside = (plan.x >= left) & (plan.x <= right) & (plan.y >= top) & (plan.y <= bottom)
        assert np.array_equal(grid.seats_in(left, top, right, bottom), np.flatnonzero(inside))


def test_every_seat_is_hit_at_its_own_centre(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    assert all(widget.seat_at(centre_of(widget, seat)) == seat for seat in range(widget.plan.seat_count))


def test_a_finger_beside_a_small_seat_still_means_it(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    seat = 0
    look_at(qtbot, widget, seat, 8)
    assert widget.seat_at(centre_of(widget, seat) + QPointF(-10, 0)) == seat
    assert widget.seat_at(centre_of(widget, seat) + QPointF(-14, 0)) == -1


def test_a_click_tells_the_seat_and_does_not_move_the_map(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    clicked: list[int] = []
    widget.seat_clicked.connect(clicked.append)
    scale = widget.camera.scale
    click(widget, widget.seat_rect(42).center())
    assert clicked == [42]
    assert widget.camera.scale == scale


def test_a_double_click_on_a_seat_is_one_wish(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    clicked: list[int] = []
    widget.seat_clicked.connect(clicked.append)
    at = widget.seat_rect(42).center()
    double_click(widget, at)
    assert clicked == [42]


def drag(widget: SeatMapWidget, start: QPoint, end: QPoint, *, shift: bool = False, middle: bool = False) -> None:
    keys = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
    button = Qt.MouseButton.MiddleButton if middle else Qt.MouseButton.LeftButton
    QTest.mousePress(widget, button, keys, start)
    for part in range(1, 5):
        QTest.mouseMove(widget, start + (end - start) * part / 4)
    QTest.mouseRelease(widget, button, keys, end)


@pytest.mark.parametrize("middle", [False, True])
def test_a_drag_moves_the_map_and_picks_nothing(qtbot: QtBot, middle: bool) -> None:
    widget = show_map(qtbot)
    look_at(qtbot, widget, 300, 30)
    clicked: list[int] = []
    widget.seat_clicked.connect(clicked.append)
    before = centre_of(widget, 300)
    drag(widget, QPoint(450, 300), QPoint(390, 270), middle=middle)
    assert centre_of(widget, 300) - before == QPointF(-60, -30)
    assert clicked == []


def test_a_rubber_band_tells_the_seats_inside_that_can_be_picked(qtbot: QtBot) -> None:
    widget = show_map(qtbot, states=np.where(np.arange(theatre().seat_count) % 3 == 0, SOLD, FREE).astype(np.uint8))
    banded: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    widget.seats_banded.connect(banded.append)
    box = widget.seat_rect(100).united(widget.seat_rect(103)).adjusted(-2, -2, 2, 2)
    start = widget.camera
    at = (start.x, start.y)
    drag(widget, box.topLeft(), box.bottomRight(), shift=True)
    assert (start.x, start.y) == at
    inside = [
        seat
        for seat in range(widget.plan.seat_count)
        if box.contains(centre_of(widget, seat).toPoint()) and seat % 3 != 0
    ]
    assert len(banded) == 1
    assert banded[0].tolist() == inside
    assert {100, 101, 103} <= set(inside)


@pytest.mark.parametrize("modifier", [Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier])
def test_a_range_in_the_row_runs_from_the_last_click(qtbot: QtBot, modifier: Qt.KeyboardModifier) -> None:
    widget = show_map(qtbot, states=np.zeros(theatre().seat_count, np.uint8))
    row = widget.plan.seats_of_row(5)
    click(widget, widget.seat_rect(row[2]).center())
    with qtbot.waitSignal(widget.seats_banded) as blocker:
        click(widget, widget.seat_rect(row[6]).center(), modifier)
    assert blocker.args[0].tolist() == list(row[2:7])


def test_from_afar_a_click_picks_nothing_and_a_double_click_opens_the_section(qtbot: QtBot) -> None:
    widget = show_map(qtbot, bowl(30_000), size=(700, 500))
    assert not seats_can_be_picked(widget)
    clicked: list[int] = []
    widget.seat_clicked.connect(clicked.append)
    seat = 12_345
    at = widget.seat_rect(seat).center()
    section = int(widget.plan.seat_section[seat])
    click(widget, at)
    assert widget.section_at(QPointF(at)) == section
    double_click(widget, at)
    rest(qtbot, widget)
    assert clicked == []
    assert seats_can_be_picked(widget)
    bounds = widget.scene.section_bounds(section)
    view = widget.camera.view()
    assert view.left < (bounds.left + bounds.right) / 2 < view.right


def test_the_pointer_tells_the_seat_under_it_once_and_when_it_leaves(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    seen: list[int] = []
    widget.seat_hovered.connect(seen.append)
    hover(widget, centre_of(widget, 8))
    hover(widget, centre_of(widget, 8) + QPointF(1, 0))
    hover(widget, QPointF(1, 1))
    assert seen == [8, -1]


def test_a_seat_explains_itself_in_the_words_of_the_host(qtbot: QtBot) -> None:
    widget = show_map(qtbot, texts=SeatMapTexts(tooltip=lambda seat: f"seat no. {seat}"))

    at = widget.seat_rect(77).center()
    QCoreApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at)))
    assert QToolTip.text() == "seat no. 77"
    QToolTip.hideText()


def test_the_wheel_zooms_about_the_pointer(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    look_at(qtbot, widget, 300, 20)
    point = QPointF(500, 250)
    before = widget.camera.to_plan(point.x(), point.y())

    event = QWheelEvent(
        point, widget.mapToGlobal(point), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    scale = widget.camera.scale
    QCoreApplication.sendEvent(widget, event)
    assert widget.camera.scale == pytest.approx(scale * 1.25)
    a_pixel = 1 / scale  # the plan stands on whole ones
    assert widget.camera.to_plan(point.x(), point.y()) == pytest.approx(before, abs=a_pixel)
    for step in (1.07, 1 / 1.07) * 20:
        widget.zoom(step, point)
    assert widget.camera.to_plan(point.x(), point.y()) == pytest.approx(before, abs=a_pixel), "nothing adds up"


def test_an_empty_plan_can_be_shown_and_touched(qtbot: QtBot) -> None:

    widget = show_map(qtbot, empty_plan(), states=np.empty(0, np.uint8))
    double_click(widget, QPoint(100, 100))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_PageDown, Qt.Key.Key_Space, Qt.Key.Key_Plus, Qt.Key.Key_0):
        press(widget, key)
    rest(qtbot, widget)
    assert widget.focused_seat == -1


def test_columns_that_do_not_fit_together_are_refused() -> None:

    good = PLANS["theatre"]
    values = {f.name: getattr(good, f.name) for f in fields(SeatMapPlan) if f.init}
    for broken in (
        {"number": good.number[:-1]},
        {"row_no": good.row_no[::-1].copy()},
        {"category": np.full(good.seat_count, 99, np.uint8)},
        {"x": np.full(good.seat_count, np.nan, np.float32)},
    ):
        with pytest.raises(SeatMapPlanError):
            SeatMapPlan(**{**values, **broken})


def test_mixed_states_hold_every_state() -> None:
    assert len(np.unique(mixed_states(5_000))) == 11
