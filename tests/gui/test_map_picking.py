"""Picking on the map widget alone: previews, lasso, ranges by keyboard, marks and the spotlight; and what they cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.seat_map_stage import FREE, SOLD, centre_of, click, hover, look_at, pixels, post, rest, show_map, work
from tests.gui.test_seat_map_plan_parts import two_floors
from widgets.seat_map import SeatMapWidget
from widgets.seat_map.lasso import Lasso, seats_inside
from widgets.seat_map.minimap import MiniMap
from widgets.seat_map.overlays import band_around
from widgets.seat_map.seat_grid import SeatGrid
from widgets.seat_map.spotlight import FADE_S, STAY_S, STRENGTH, Spotlight
from widgets.theme import Theme

SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


def all_free(qtbot: QtBot) -> SeatMapWidget:
    return show_map(qtbot, states=np.zeros(theatre().seat_count, np.uint8))


def threes(seat_no: int) -> Sequence[int]:
    """The block of three that begins at a seat of an even number, nothing at odd ones."""
    return (seat_no, seat_no + 1, seat_no + 2) if seat_no % 2 == 0 else ()


def previewed(widget: SeatMapWidget) -> tuple[int, ...]:
    return widget.previewed


# ---------------------------------------------------------------- the block under the pointer


def test_the_block_is_shown_under_the_pointer_before_the_click_and_taken_by_it(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    widget.set_block_of(threes)
    chosen: list[tuple[int, ...]] = []
    clicked: list[int] = []
    widget.block_chosen.connect(chosen.append)
    widget.seat_clicked.connect(clicked.append)
    hover(widget, centre_of(widget, 40))
    assert previewed(widget) == (40, 41, 42)
    hover(widget, centre_of(widget, 41))
    assert previewed(widget) == ()
    click(widget, widget.seat_rect(40).center())
    click(widget, widget.seat_rect(41).center())
    assert chosen == [(40, 41, 42)]
    assert clicked == [41]


def test_the_keyboard_shows_and_takes_the_same_block(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    widget.set_block_of(threes)
    chosen: list[tuple[int, ...]] = []
    widget.block_chosen.connect(chosen.append)
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    widget.focus_seat(40)
    widget.refresh_preview()
    assert previewed(widget) == (40, 41, 42)
    QTest.keyClick(widget, Qt.Key.Key_Return)
    assert chosen == [(40, 41, 42)]


def test_a_preview_that_moves_with_the_pointer_stamps_no_seat(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    widget.set_block_of(lambda seat: range(seat, seat + 4))
    before, picture = widget.stats.copy(), pixels(widget)
    for seat in (10, 11, 12, 13):
        hover(widget, centre_of(widget, seat))
        rest(qtbot, widget)
    done = work(qtbot, widget, before)
    assert (done.full, done.stamped) == (0, 0)
    assert done.paints >= 4
    assert np.array_equal(pixels(widget), picture)


def test_a_preview_repaints_a_small_part_of_the_map(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    widget.set_block_of(lambda seat: range(seat, seat + 4))
    hover(widget, centre_of(widget, 10))
    rest(qtbot, widget)
    before = widget.stats.copy()
    hover(widget, centre_of(widget, 11))
    done = work(qtbot, widget, before)
    assert 0 < done.painted_px < widget.width() * widget.height() / 20


@pytest.mark.parametrize(("key", "count"), [(Qt.Key.Key_1, 1), (Qt.Key.Key_4, 4), (Qt.Key.Key_6, 6)])
def test_a_digit_says_how_many(qtbot: QtBot, key: Qt.Key, count: int) -> None:
    widget = all_free(qtbot)
    typed: list[int] = []
    widget.count_typed.connect(typed.append)
    QTest.keyClick(widget, key)
    assert typed == [count]


# ---------------------------------------------------------------- lasso


def loop_around(widget: SeatMapWidget, seats: Sequence[int], beyond_px: float) -> list[QPoint]:
    """A ring of points around the middle of some seats."""
    centres = [centre_of(widget, seat) for seat in seats]
    x = sum(at.x() for at in centres) / len(centres)
    y = sum(at.y() for at in centres) / len(centres)
    reach = max(math.hypot(at.x() - x, at.y() - y) for at in centres) + beyond_px
    turns = [2 * math.pi * step / 24 for step in range(25)]
    return [QPoint(round(x + reach * math.cos(turn)), round(y + reach * math.sin(turn))) for turn in turns]


def draw(widget: SeatMapWidget, points: list[QPoint], keys: Qt.KeyboardModifier = CTRL) -> None:
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, keys, points[0])
    for point in points[1:]:
        QTest.mouseMove(widget, point)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, keys, points[-1])


def test_a_loop_drawn_with_ctrl_tells_the_free_seats_inside(qtbot: QtBot) -> None:
    plan = theatre()
    states = np.where(np.arange(plan.seat_count) % 5 == 0, SOLD, FREE).astype(np.uint8)
    widget = show_map(qtbot, states=states)
    around = loop_around(widget, (100, 101, 102, 103), 4)
    camera = (widget.camera.x, widget.camera.y)
    with qtbot.waitSignal(widget.seats_banded) as banded:
        draw(widget, around)
    inside = set(banded.args[0].tolist())
    assert {101, 102, 103} <= inside
    assert 100 not in inside
    assert all(states[seat] == FREE for seat in inside)
    assert (widget.camera.x, widget.camera.y) == camera


def test_a_loop_around_nothing_tells_nothing_and_escape_drops_one(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    told: list[object] = []
    widget.seats_banded.connect(told.append)
    draw(widget, [QPoint(2, 2), QPoint(12, 2), QPoint(12, 12), QPoint(2, 12)])
    assert told == []
    around = loop_around(widget, (100, 101), 6)
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, CTRL, around[0])
    for point in around[1:]:
        QTest.mouseMove(widget, point)
    QTest.keyClick(widget, Qt.Key.Key_Escape)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, CTRL, around[-1])
    assert told == []


def test_drawing_a_loop_stamps_no_seat(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    before = widget.stats.copy()
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, CTRL, QPoint(100, 100))
    for step in range(12):
        QTest.mouseMove(widget, QPoint(100 + 10 * step, 100 + (step % 3) * 12))
        rest(qtbot, widget)
    done = work(qtbot, widget, before)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, CTRL, QPoint(220, 100))
    assert (done.full, done.stamped) == (0, 0)
    assert done.paints > 5


def test_seats_inside_a_loop_are_those_of_a_search_over_all() -> None:
    plan = bowl(6_000)
    grid = SeatGrid(plan)
    rng = np.random.default_rng(8)
    for _ in range(40):
        corners = rng.uniform((plan.x.min(), plan.y.min()), (plan.x.max(), plan.y.max()), (5, 2))
        expected = [seat for seat in range(plan.seat_count) if _is_inside(plan.x[seat], plan.y[seat], corners)]
        assert seats_inside(plan, grid, corners).tolist() == expected


def _is_inside(x: float, y: float, corners: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> bool:
    """Crossings of a ray to the right, one side at a time."""
    odd = False
    for place in range(len(corners)):
        (x1, y1), (x2, y2) = corners[place], corners[(place + 1) % len(corners)]
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) / (y2 - y1) * (x2 - x1):
            odd = not odd
    return odd


def test_a_lasso_leaves_out_points_that_no_hand_means() -> None:
    lasso = Lasso()
    lasso.begin(0, 0)
    assert [lasso.reach(1, 1), lasso.reach(5, 0), lasso.reach(6, 1), lasso.reach(5, 9)] == [False, True, False, True]
    assert lasso.close().tolist() == [[0, 0], [5, 0], [5, 9]]
    lasso.begin(0, 0)
    assert len(lasso.close()) == 0


# ---------------------------------------------------------------- ranges by keyboard


def test_shift_and_an_arrow_picks_on_in_the_row(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    row = widget.plan.seats_of_row(5)
    banded: list[list[int]] = []
    widget.seats_banded.connect(lambda seats: banded.append(seats.tolist()))
    widget.focus_seat(row[3])
    towards = Qt.Key.Key_Right if widget.plan.x[row[4]] > widget.plan.x[row[3]] else Qt.Key.Key_Left
    QTest.keyClick(widget, towards, SHIFT)
    QTest.keyClick(widget, towards, SHIFT)
    assert banded == [list(row[3:5]), list(row[3:6])]
    assert widget.focused_seat == row[5]


def test_a_range_ends_with_the_row(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    row = widget.plan.seats_of_row(5)
    widget.focus_seat(row[-1])
    ahead = Qt.Key.Key_Right if widget.plan.x[row[-1]] > widget.plan.x[row[-2]] else Qt.Key.Key_Left
    QTest.keyClick(widget, ahead, SHIFT)
    assert widget.focused_seat == row[-1]


# ---------------------------------------------------------------- marks


def test_marks_of_an_offer_lie_over_the_picture_and_go_again(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    bare = widget.grab().toImage()
    before, picture = widget.stats.copy(), pixels(widget)
    widget.show_offer((20,), (21, 22))
    assert widget.marked_seats == (20, 21, 22)
    rest(qtbot, widget)
    assert widget.grab().toImage() != bare
    assert np.array_equal(pixels(widget), picture)
    widget.show_offer((), ())
    rest(qtbot, widget)
    assert widget.grab().toImage() == bare
    assert widget.stats.since(before).stamped == 0


def test_thousands_of_changes_start_no_animation(qtbot: QtBot) -> None:
    """Issue E, point 6: what strangers buy is drawn and not danced; only own picks pulse and own losses blink."""
    plan = bowl(20_000)
    widget = show_map(qtbot, plan, states=np.zeros(plan.seat_count, np.uint8))
    post(widget, list(range(0, 20_000, 3)), SOLD)
    rest(qtbot, widget)
    assert not widget._motion_timer.isActive()
    widget.set_mine([1])
    assert widget._motion_timer.isActive()


# ---------------------------------------------------------------- spotlight


def test_the_spotlight_dims_all_but_its_seats_and_goes_out_by_itself(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    look_at(qtbot, widget, 300, 24)
    lit, other = widget.seat_rect(300).center(), widget.seat_rect(303).center()
    before = widget.grab().toImage()
    widget.spotlight((300,))
    assert widget.spot == (300,)
    dimmed = widget.grab().toImage()
    off = QPoint(6, 0)  # beside the number
    assert dimmed.pixel(lit + off) == before.pixel(lit + off)
    assert dimmed.pixel(other + off) != before.pixel(other + off)
    qtbot.waitUntil(lambda: not widget.spot, timeout=4000)
    rest(qtbot, widget)
    assert widget.grab().toImage() == before


def test_without_motion_it_stands_as_long_and_does_not_fade() -> None:
    spot = Spotlight((1,), 0, 100.0)
    assert spot.strength(100.0 + STAY_S / 2, still=True) == STRENGTH
    assert spot.strength(100.0 + STAY_S + FADE_S / 2, still=True) == 0.0
    assert 0 < spot.strength(100.0 + STAY_S + FADE_S / 2, still=False) < STRENGTH
    assert spot.strength(100.0 + STAY_S + FADE_S + 0.01, still=False) == 0.0
    assert not spot.fades(100.0 + STAY_S / 2)


def test_a_whole_section_is_lit_by_its_ground(qtbot: QtBot) -> None:
    plan = bowl(20_000)
    widget = show_map(qtbot, plan, states=np.zeros(plan.seat_count, np.uint8))
    seats = np.flatnonzero(plan.seat_section == 3).tolist() * 3
    widget.spotlight(seats)
    assert widget._overlays.spot is not None
    assert widget._overlays.spot.by_ground == (len(seats) > 240)
    before = widget.stats.copy()
    widget.update()
    assert work(qtbot, widget, before).full == 0


def test_seats_are_revealed_only_when_they_are_out_of_sight_or_too_small(qtbot: QtBot) -> None:
    widget = all_free(qtbot)
    look_at(qtbot, widget, 300, 24)
    seen = widget.camera.looks_at
    widget.reveal((300, 301))
    assert widget.camera.looks_at == seen
    far = next(seat for seat in range(widget.plan.seat_count) if not widget.rect().contains(widget.seat_rect(seat)))
    widget.reveal((far,))
    assert widget.rect().contains(widget.seat_rect(far).center())
    assert abs(centre_of(widget, far).x() - widget.width() / 2) < widget.width() / 2
    widget.reveal(())
    assert widget.seat_at(QPointF(widget.seat_rect(far).center())) == far


def test_the_band_around_a_block_keeps_its_distance_on_both_sides_and_at_its_ends() -> None:
    centres = [QPointF(10 * place, place * place) for place in range(5)]
    band = band_around(centres, 6.0)
    corners = [band.at(place) for place in range(band.count())]
    nearest = [min(math.hypot(at.x() - c.x(), at.y() - c.y()) for c in centres) for at in corners]
    assert max(nearest) == pytest.approx(6.0, abs=1e-6)
    assert min(nearest) > 4.5
    assert all(band.containsPoint(centre, Qt.FillRule.OddEvenFill) for centre in centres)


def test_what_is_found_on_another_floor_brings_that_floor_and_its_small_map(qtbot: QtBot) -> None:
    plan = two_floors()
    widget = show_map(qtbot, plan, states=np.zeros(plan.seat_count, np.uint8))
    minimap = MiniMap(Theme.light(), widget, "The whole plan")
    upper = int(np.flatnonzero(plan.seat_section == 2)[5])
    widget.centre_on((upper,))
    rest(qtbot, widget)
    assert widget.scene.floor == 1
    assert widget.rect().contains(widget.seat_rect(upper).center())
    first = minimap.grab().toImage()
    widget.reveal((0,))
    rest(qtbot, widget)
    assert widget.scene.floor == 0
    assert widget.rect().contains(widget.seat_rect(0).center())
    assert not minimap.isVisible() or minimap.grab().toImage() != first
