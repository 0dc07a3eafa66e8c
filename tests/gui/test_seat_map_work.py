"""How much work the map does: gates on counters, which no busy machine can falsify (design §8)."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, mixed_states
from tests.gui.seat_map_stage import FREE, SOLD, centre_of, hover, look_at, post, rest, show_map, work


def test_one_change_stamps_one_seat_and_redraws_nothing(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    seat = int(np.flatnonzero(mixed_states(widget.plan.seat_count) == FREE)[50])
    before = widget.stats.copy()
    post(widget, [seat], SOLD)
    done = work(qtbot, widget, before)
    assert (done.full, done.stamped, done.flushes, done.paints) == (0, 1, 1, 1)
    assert 0 < done.pixels <= widget.scene.renderer.diameter**2
    assert done.painted_px <= (widget.scene.renderer.diameter + 2) ** 2


def test_a_change_to_the_same_state_stamps_nothing(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    before = widget.stats.copy()
    post(widget, [5], int(mixed_states(widget.plan.seat_count)[5]))
    done = work(qtbot, widget, before)
    assert (done.stamped, done.paints) == (0, 0)


def test_a_hundred_posts_in_one_turn_make_one_flush(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    before = widget.stats.copy()
    for round_no in range(100):
        post(widget, [7, 8, 9], SOLD if round_no % 2 else FREE)
    done = work(qtbot, widget, before)
    assert (done.flushes, done.full) == (1, 0)
    assert done.stamped <= 3
    assert done.paints <= 1


def test_the_last_of_several_changes_of_one_seat_wins(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    widget.apply_changes(np.array([11, 11, 11], np.uint32), np.array([SOLD, 4, FREE], np.uint8))
    post(widget, [12], FREE)
    post(widget, [12], SOLD)
    rest(qtbot, widget)
    states = widget.scene.states
    assert states.state[states.slot_of(11)] == FREE
    assert states.state[states.slot_of(12)] == SOLD


def test_moving_the_pointer_stamps_no_seat(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    before = widget.stats.copy()
    for seat in (3, 4, 5):
        hover(widget, centre_of(widget, seat))
        rest(qtbot, widget)
    hover(widget, QPointF(2, 2))
    done = work(qtbot, widget, before)
    assert (done.full, done.stamped) == (0, 0)
    assert done.paints >= 3


def test_a_zoom_step_draws_everything_exactly_once(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    before = widget.stats.copy()
    widget.zoom(1.25)
    assert work(qtbot, widget, before).full == 1
    before = widget.stats.copy()
    for _ in range(4):
        widget.zoom(1.1)
    assert work(qtbot, widget, before).full == 1, "several steps in one turn are one picture"


def test_a_zoom_step_at_the_limit_draws_nothing(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    widget.zoom(1e6)
    rest(qtbot, widget)
    before = widget.stats.copy()
    widget.zoom(2.0)
    done = work(qtbot, widget, before)
    assert (done.full, done.paints) == (0, 0)


def test_changes_out_of_view_paint_nothing(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    look_at(qtbot, widget, 0, 40)
    far = widget.plan.seat_count - 1
    assert not widget.rect().contains(widget.seat_rect(far))
    before = widget.stats.copy()
    post(widget, [far - 1, far], SOLD)
    done = work(qtbot, widget, before)
    assert (done.flushes, done.full, done.stamped, done.paints) == (1, 0, 0, 0)


def test_changes_of_a_hidden_map_draw_nothing_until_it_is_shown(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    widget.hide()
    before = widget.stats.copy()
    post(widget, [1, 2, 3], SOLD)
    done = work(qtbot, widget, before)
    assert (done.full, done.stamped, done.paints) == (0, 0, 0)
    with qtbot.waitExposed(widget):
        widget.show()
    rest(qtbot, widget)
    states = widget.scene.states
    assert states.state[states.slot_of(2)] == SOLD
    assert widget.stats.since(before).full >= 1


def test_twelve_thousand_changes_make_one_flush_and_one_paint(qtbot: QtBot) -> None:
    plan = bowl(20_000)
    widget = show_map(qtbot, plan, states=np.zeros(plan.seat_count, np.uint8))
    rng = np.random.default_rng(1)
    before = widget.stats.copy()
    widget.apply_changes(rng.integers(0, plan.seat_count, 12_000).astype(np.uint32), np.full(12_000, SOLD, np.uint8))
    qtbot.waitUntil(lambda: widget.stats.paints > before.paints)
    done = widget.stats.since(before)
    assert (done.full, done.flushes, done.paints) == (0, 1, 1)
    assert 0 < done.stamped <= 12_000


def test_overlapping_sprites_are_put_right_by_one_full_redraw_when_changes_rest(qtbot: QtBot) -> None:
    plan = bowl(20_000)
    widget = show_map(qtbot, plan, size=(500, 400), states=np.zeros(plan.seat_count, np.uint8))
    assert widget.scene.renderer.diameter <= 3
    before = widget.stats.copy()
    post(widget, [100, 200], SOLD)
    rest(qtbot, widget)
    post(widget, [101, 201], SOLD)
    rest(qtbot, widget)
    assert widget.stats.since(before).full == 0
    qtbot.waitUntil(lambda: widget.stats.since(before).full == 1)
    rest(qtbot, widget)
    assert widget.stats.since(before).full == 1


@pytest.mark.parametrize("action", ["stale", "focus", "lost"])
def test_overlays_stamp_no_seat(qtbot: QtBot, action: str) -> None:
    widget = show_map(qtbot)
    widget.ensure_visible(4)
    rest(qtbot, widget)
    before = widget.stats.copy()
    if action == "stale":
        widget.set_stale(True, "Not live")
    elif action == "focus":
        widget.focus_seat(4)
    else:
        widget.show_lost([4, 5])
    done = work(qtbot, widget, before)
    assert (done.full, done.stamped) == (0, 0)
    assert done.paints >= 1
