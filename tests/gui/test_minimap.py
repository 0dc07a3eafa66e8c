"""The small map: there when zoomed in, true to the view, draggable, and never over a seat that matters."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.seat_map_stage import FREE, SOLD, look_at, post, rest, show_map
from widgets.seat_map import SeatMapWidget
from widgets.seat_map.minimap import MiniMap
from widgets.theme import Theme


def with_minimap(qtbot: QtBot, size: tuple[int, int] = (900, 600)) -> tuple[SeatMapWidget, MiniMap]:
    widget = show_map(qtbot, size=size, states=np.zeros(theatre().seat_count, np.uint8))
    return widget, MiniMap(Theme.light(), widget, "The whole plan")


def covered(widget: SeatMapWidget, minimap: MiniMap, seats: list[int]) -> list[int]:
    return [seat for seat in seats if minimap.geometry().intersects(widget.seat_rect(seat))]


def test_it_is_there_only_while_the_plan_is_not_whole_in_view(qtbot: QtBot) -> None:
    widget, minimap = with_minimap(qtbot)
    assert not minimap.isVisible()
    look_at(qtbot, widget, 300, 30)
    assert minimap.isVisible()
    widget.fit()
    assert not minimap.isVisible()


def test_it_can_be_put_away_and_comes_back(qtbot: QtBot) -> None:
    widget, minimap = with_minimap(qtbot)
    minimap.set_wished(False)
    look_at(qtbot, widget, 300, 30)
    assert not minimap.isVisible()
    minimap.set_wished(True)
    assert minimap.isVisible()


def test_its_frame_is_the_part_in_view(qtbot: QtBot) -> None:
    widget, minimap = with_minimap(qtbot)
    look_at(qtbot, widget, 300, 30)
    bounds, view = widget.camera.bounds, widget.camera.view()
    share = view.width / bounds.width
    assert abs(minimap.frame.width() / minimap.width() - share) < 0.25
    first = minimap.frame.center()
    widget.look_at(widget.camera.x + view.width / 4, widget.camera.y)
    assert minimap.frame.center().x() > first.x()


def test_a_drag_on_it_moves_the_map(qtbot: QtBot) -> None:
    widget, minimap = with_minimap(qtbot)
    look_at(qtbot, widget, 300, 40)
    scale = widget.camera.scale
    spots = (QPoint(minimap.width() // 4, minimap.height() // 3), QPoint(minimap.width() // 2, minimap.height() // 2))
    QTest.mousePress(minimap, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spots[0])
    first = widget.camera.x
    QTest.mouseMove(minimap, spots[1])
    QTest.mouseRelease(minimap, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spots[1])
    assert widget.camera.x != first
    assert widget.camera.scale == scale


def test_it_never_covers_seats_that_matter_wherever_they_are(qtbot: QtBot) -> None:
    """Picked, offered and under the keyboard; where every corner would cover one it stays away."""
    widget, minimap = with_minimap(qtbot)
    look_at(qtbot, widget, 300, 26)
    shown = 0
    for seat in range(0, widget.plan.seat_count, 7):
        widget.set_mine([seat])
        shown += minimap.isVisible()
        if minimap.isVisible():
            assert covered(widget, minimap, [seat]) == []
    assert shown > 30
    corners = [QRect(0, 0, 220, 220), QRect(680, 0, 220, 220), QRect(0, 380, 220, 220), QRect(680, 380, 220, 220)]
    seats = range(widget.plan.seat_count)
    found = [[seat for seat in seats if corner.contains(widget.seat_rect(seat).center())] for corner in corners]
    crowd = [near[len(near) // 2] for near in found if near]
    assert len(crowd) >= 2
    widget.set_mine(crowd)
    assert not minimap.isVisible() or covered(widget, minimap, crowd) == []


def test_its_picture_follows_the_seats_without_work_for_the_map(qtbot: QtBot) -> None:
    widget, minimap = with_minimap(qtbot)
    look_at(qtbot, widget, 300, 26)
    before, picture = widget.stats.copy(), minimap.grab().toImage()
    post(widget, list(range(widget.plan.seat_count)), SOLD)
    rest(qtbot, widget)
    qtbot.waitUntil(lambda: minimap.grab().toImage() != picture, timeout=4000)
    assert widget.stats.since(before).full <= 1


def test_its_picture_is_as_good_after_changes_as_a_new_one(qtbot: QtBot) -> None:
    """The second drawing must not go into a picture that nobody shows: it came out without a single seat."""
    widget, minimap = with_minimap(qtbot)
    look_at(qtbot, widget, 300, 26)
    shown = [minimap.grab().toImage()]
    for state in (SOLD, FREE, SOLD):
        post(widget, list(range(widget.plan.seat_count)), state)
        rest(qtbot, widget)
        qtbot.waitUntil(lambda: minimap.grab().toImage() != shown[-1], timeout=4000)
        shown.append(minimap.grab().toImage())
    new = MiniMap(Theme.light(), widget, "The whole plan")
    new.set_wished(True)
    assert minimap.grab().toImage() == new.grab().toImage()


def test_a_small_map_has_none(qtbot: QtBot) -> None:
    widget, minimap = with_minimap(qtbot, size=(400, 300))
    look_at(qtbot, widget, 300, 30)
    assert not minimap.isVisible()


def test_it_shows_the_plan_that_is_shown(qtbot: QtBot) -> None:
    widget, minimap = with_minimap(qtbot)
    look_at(qtbot, widget, 300, 30)
    first = minimap.grab().toImage()
    plan = bowl(6_000)
    widget.set_plan(plan)
    widget.set_states(np.zeros(plan.seat_count, np.uint8))
    look_at(qtbot, widget, 300, 30)
    assert minimap.isVisible()
    assert minimap.grab().toImage() != first
