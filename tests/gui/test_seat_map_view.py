"""What is in view: the whole plan at first, the shown event only, sharp on every screen, never mirrored."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, mixed_states, theatre
from tests.gui.seat_map_stage import FREE, SOLD, look_at, pixels, post, rest, show_map
from widgets.seat_map import Level, SeatMapWidget, SeatOutOfPlanError
from widgets.seat_map.seat_bits import Look
from widgets.theme import Theme


def whole_plan_in_view(widget: SeatMapWidget) -> bool:
    rect = widget.rect()
    corners = (widget.plan.x.argmin(), widget.plan.x.argmax(), widget.plan.y.argmin(), widget.plan.y.argmax())
    return all(rect.contains(widget.seat_rect(int(seat))) for seat in corners)


def test_s9_a_map_built_while_hidden_shows_the_whole_plan(qtbot: QtBot) -> None:
    """S9: plan and states arrive before the first show, at whatever size the layout gives later."""
    window = QWidget()
    qtbot.addWidget(window)
    layout = QHBoxLayout(window)
    widget = SeatMapWidget(Theme.light())
    layout.addWidget(widget)
    widget.set_plan(theatre())
    widget.set_states(np.zeros(theatre().seat_count, np.uint8))
    window.resize(1100, 700)
    with qtbot.waitExposed(window):
        window.show()
    rest(qtbot, widget)
    assert whole_plan_in_view(widget)
    bed = Theme.light().map_color("bed").rgb()
    ground = Theme.light().map_color("ground").rgb()
    colours = set(np.unique(pixels(widget)).tolist())
    assert colours - {bed, ground}, "seats are drawn, not only their ground"
    window.resize(700, 500)
    rest(qtbot, widget)
    assert whole_plan_in_view(widget), "it stays in view until a person zooms"


def test_a_view_that_a_person_chose_is_kept_when_the_window_changes(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    look_at(qtbot, widget, 300, 30)
    scale, x = widget.camera.scale, widget.camera.x
    widget.resize(800, 560)
    rest(qtbot, widget)
    assert widget.camera.scale == scale
    assert widget.camera.x == pytest.approx(x)


def test_s7_changes_of_the_event_before_do_not_reach_the_event_shown_now(qtbot: QtBot) -> None:
    """S7: A → B → A quickly with changes in flight."""
    first, second = theatre(), bowl(900)
    widget = show_map(qtbot, first, states=np.zeros(first.seat_count, np.uint8))
    post(widget, [1, 2, 3], SOLD)
    widget.set_plan(second)
    widget.set_states(np.zeros(second.seat_count, np.uint8))
    post(widget, [700], SOLD)
    widget.set_plan(first)
    widget.set_states(np.zeros(first.seat_count, np.uint8))
    post(widget, [5], SOLD)
    rest(qtbot, widget)
    looks = [widget.scene.states.look_of_seat(seat) for seat in (1, 2, 3, 5)]
    assert looks == [Look.FREE, Look.FREE, Look.FREE, Look.SOLD]


def test_a_snapshot_replaces_changes_that_were_posted_before_it(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    post(widget, [1], SOLD)
    widget.set_states(np.zeros(widget.plan.seat_count, np.uint8))
    rest(qtbot, widget)
    assert widget.scene.states.look_of_seat(1) is Look.FREE


def test_a_seat_of_another_plan_is_refused_at_once(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    count = widget.plan.seat_count
    with pytest.raises(SeatOutOfPlanError) as caught:
        post(widget, [0, count], SOLD)
    assert caught.value.code == "seat-out-of-plan"
    with pytest.raises(SeatOutOfPlanError):
        widget.set_states(np.zeros(count - 1, np.uint8))
    for ask in (widget.seat_rect, widget.ensure_visible):
        with pytest.raises(SeatOutOfPlanError):
            ask(-1)


def test_until_states_are_known_nothing_is_offered(qtbot: QtBot) -> None:
    widget = SeatMapWidget(Theme.light())
    qtbot.addWidget(widget)
    widget.set_plan(theatre())
    assert widget.scene.states.look_of_seat(0) is Look.BLOCKED
    assert widget.scene.states.free_by_section().sum() == 0


def test_the_map_is_not_mirrored_where_writing_runs_right_to_left(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    layout = QHBoxLayout(window)
    widget = SeatMapWidget(Theme.light())
    layout.addWidget(widget)
    widget.set_plan(theatre())
    window.resize(800, 600)
    with qtbot.waitExposed(window):
        window.show()
    rest(qtbot, widget)
    before = widget.seat_rect(3), pixels(widget)
    window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    rest(qtbot, widget)
    assert widget.layoutDirection() == Qt.LayoutDirection.LeftToRight
    assert widget.seat_rect(3) == before[0]
    assert np.array_equal(pixels(widget), before[1])


def test_own_seats_closed_seats_and_a_filter_change_looks_and_back(qtbot: QtBot) -> None:
    widget = show_map(qtbot, states=np.zeros(theatre().seat_count, np.uint8))
    plain = pixels(widget)
    widget.set_mine([10, 11])
    assert widget.scene.states.look_of_seat(10) is Look.MINE
    widget.set_sellable(np.arange(widget.plan.seat_count) != 12)
    assert widget.scene.states.look_of_seat(12) is Look.CLOSED
    widget.dim_categories([1])
    rest(qtbot, widget)
    assert not np.array_equal(pixels(widget), plain)
    widget.set_mine([])
    widget.set_sellable(None)
    widget.dim_categories([])
    rest(qtbot, widget)
    assert np.array_equal(pixels(widget), plain)


def test_free_seats_of_sections_are_counted_from_what_is_shown(qtbot: QtBot) -> None:
    plan = bowl(9_000)
    widget = show_map(qtbot, plan, states=np.zeros(plan.seat_count, np.uint8))
    counts = widget.scene.states.free_by_section()
    assert counts.sum() == plan.seat_count
    seat = 4_000
    post(widget, [seat], SOLD)
    rest(qtbot, widget)
    after = widget.scene.states.free_by_section()
    assert (counts - after).nonzero()[0].tolist() == [int(plan.seat_section[seat])]


def test_section_names_with_free_counts_are_painted_when_far(qtbot: QtBot) -> None:
    plan = bowl(9_000)
    widget = show_map(qtbot, plan, size=(1100, 800), states=np.zeros(plan.seat_count, np.uint8))
    assert widget.level is Level.FAR
    bare = pixels(widget)
    image = widget.grab().toImage()
    painted = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())
    assert (bare != painted).mean() > 0.005


def test_the_count_of_a_section_follows_its_seats_without_a_full_redraw(qtbot: QtBot) -> None:
    plan = bowl(9_000)
    widget = show_map(qtbot, plan, size=(1900, 1300), states=np.zeros(plan.seat_count, np.uint8))
    widget.zoom(1.05)
    rest(qtbot, widget)
    labels = widget.scene._sections
    assert widget.level is Level.FAR
    assert labels.shows_counts
    section = next(iter(labels.placed))
    seat = int(plan.row_first[plan.row_section == section][0])
    before = widget.stats.copy()
    post(widget, [seat], SOLD)
    qtbot.waitUntil(lambda: not widget._count_timer.isActive() and not widget._flush_timer.isActive())
    assert labels._counts[section] == int(widget.scene.states.free_by_section()[section])
    assert widget.stats.since(before).full == 0


def test_lost_seats_flash_and_then_rest(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    from widgets.seat_map import overlays

    monkeypatch.setattr(overlays, "LOST_S", 0.2)
    widget = show_map(qtbot)
    look_at(qtbot, widget, 300, 24)
    before = widget.grab().toImage()
    widget.show_lost([300])
    assert widget.grab().toImage() != before
    qtbot.waitUntil(lambda: not widget._motion_timer.isActive())
    rest(qtbot, widget)
    assert widget.grab().toImage() == before


def test_reduced_motion_shows_own_seats_without_pulses(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    widget.set_reduced_motion(True)
    widget.set_mine([20])
    assert not widget._motion_timer.isActive()
    widget.set_reduced_motion(False)
    widget.set_mine([20, 21])
    assert widget._motion_timer.isActive()


def test_a_stale_map_is_veiled_and_says_so(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    live = widget.grab().toImage()
    widget.set_stale(True, "Not live")
    rest(qtbot, widget)
    stale = widget.grab().toImage()
    assert stale != live
    widget.set_stale(False)
    rest(qtbot, widget)
    assert widget.grab().toImage() == live


def test_another_theme_changes_the_colours_and_not_the_view(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    look_at(qtbot, widget, 300, 24)
    rect, light = widget.seat_rect(300), pixels(widget)
    widget.set_theme(Theme.dark())
    rest(qtbot, widget)
    assert widget.seat_rect(300) == rect
    assert not np.array_equal(pixels(widget), light)
    widget.set_theme(Theme.light())
    rest(qtbot, widget)
    assert np.array_equal(pixels(widget), light)


SHARPNESS = """
import numpy as np, sys
from PySide6.QtWidgets import QApplication
app = QApplication([])
from tests.bench.seat_map.plans import mixed_states, theatre
from widgets.seat_map import SeatMapTexts, SeatMapWidget
from widgets.theme import Theme
plan = theatre()
widget = SeatMapWidget(Theme.light(), texts=SeatMapTexts(write_place=lambda *_: ""))
widget.setFocusPolicy(__import__("PySide6.QtCore").QtCore.Qt.FocusPolicy.NoFocus)
widget.resize(603, 401)
widget.set_plan(plan)
widget.set_states(mixed_states(plan.seat_count))
widget.show()
widget.camera.look_at(*widget.scene.position(300), 9 / widget.scene.seat_diameter)
image = widget.grab().toImage().convertToFormat(image_format := widget.scene.renderer.canvas.image.format())
dpr = widget.devicePixelRatioF()
assert dpr == float(sys.argv[1]), dpr
canvas = widget.scene.renderer.canvas
shown = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)[:, : image.width()]
height, width = min(shown.shape[0], canvas.height_px), min(shown.shape[1], canvas.width_px)
assert abs(canvas.width_px - 603 * dpr) < 1 and abs(image.width() - canvas.width_px) <= 1
differing = (shown[:height, :width] != canvas.pixels[:height, :width]).mean()
assert differing == 0.0, differing
print("sharp")
"""


@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_d7_the_screen_shows_the_picture_pixel_by_pixel(scale: str) -> None:
    """D7: what the window shows at 100, 150 and 200 % is the picture itself, not a scaled copy."""
    import os

    environment = {**os.environ, "QT_SCALE_FACTOR": scale, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", SHARPNESS, scale],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sharp" in done.stdout


def test_free_seats_of_a_real_mix_are_those_with_a_free_state(qtbot: QtBot) -> None:
    plan = theatre()
    widget = show_map(qtbot, plan)
    assert widget.scene.states.free_by_section().sum() == (mixed_states(plan.seat_count) == FREE).sum()
