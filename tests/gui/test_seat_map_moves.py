"""A picture that is moved is the picture that is drawn anew, at every level and device pixel ratio.

Seats and grounds bit for bit; soft lines, which Qt begins anew at the edge of a picture, to a shade nobody sees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, mixed_states, theatre
from tests.gui.seat_map_stage import show_map, work
from tests.gui.test_seat_map_pixels import renderer_of
from widgets.seat_map import MapArea
from widgets.seat_map.canvas import Words
from widgets.seat_map.plan import SeatMapPlan
from widgets.seat_map.renderer import Renderer, Stamps
from widgets.theme import Theme

FAINT = 2  # of 255
MOVES = [(9.0, 0.0), (-13.0, 0.0), (0.0, 17.0), (0.0, -5.0), (31.4, -22.7), (-0.3, 0.2), (-150.0, 90.0)]


def stacked() -> SeatMapPlan:
    """Seats that lie on each other, so that the order in which they are drawn shows."""
    plan = theatre()
    moved = plan.x.copy()
    moved[-300:] = plan.x[:300] + 1.5
    y = plan.y.copy()
    y[-300:] = plan.y[:300]
    values = {f.name: getattr(plan, f.name) for f in fields(SeatMapPlan) if f.init}
    return SeatMapPlan(**{**values, "x": moved, "y": y})


def differing(renderer: Renderer, moved: Words, full: Words) -> tuple[int, int, float]:
    """Pixels of seats that differ, the largest difference of a channel, and the share of all pixels that differ."""
    canvas = renderer.canvas
    seats = np.zeros_like(canvas.memory)
    left, top = renderer.corners(slice(None))
    size = renderer.diameter
    seen = (left > -size) & (left < canvas.width_px) & (top > -size) & (top < canvas.height_px)
    seats[renderer.written(Stamps(left[seen], top[seen], size))] = 1
    rim = canvas.padding_px
    inner = seats.reshape(-1, canvas.stride)[rim : rim + canvas.height_px, rim : rim + canvas.width_px]
    apart = np.abs(moved.view(np.uint8).astype(np.int16) - full.view(np.uint8))
    differs = moved != full
    return int((differs & (inner == 1)).sum()), int(apart.max()), float(differs.mean())


@pytest.mark.parametrize("dpr", [1.0, 1.5])
@pytest.mark.parametrize("seat_px", [2.0, 5.0, 8.0, 24.0, 47.0])
@pytest.mark.parametrize("make_plan", [theatre, stacked, lambda: bowl(9_000)], ids=["theatre", "stacked", "bowl"])
def test_a_moved_picture_is_the_one_that_is_drawn_anew(
    qapp: QApplication, make_plan: Callable[[], SeatMapPlan], seat_px: float, dpr: float
) -> None:
    renderer, camera = renderer_of(make_plan(), seat_px, dpr, Theme.light())
    camera.bounds = replace(camera.bounds, left=-1e4, right=1e4, top=-1e4, bottom=1e4)
    for dx, dy in MOVES:
        camera.pan(dx, dy)
        stamped = renderer.stats.stamped
        assert renderer.move_to(camera)
        stamped = renderer.stats.stamped - stamped
        moved = renderer.canvas.pixels.copy()
        before = renderer.stats.stamped
        renderer.full(camera)
        assert stamped <= renderer.stats.stamped - before, "what stays in view is not drawn again"
        of_seats, most, share = differing(renderer, moved, renderer.canvas.pixels.copy())
        assert (of_seats, most <= FAINT, share < 0.005) == (0, True, True), (dx, dy, of_seats, most, share)
    assert renderer.stats.moved == len(MOVES)


def test_what_cannot_be_moved_is_drawn_anew(qapp: QApplication) -> None:
    """Another scale, another size, other colours, a jump: nothing of the picture is of use."""
    renderer, camera = renderer_of(theatre(), 24.0, 1.0, Theme.light())
    camera.zoom_about(10.0, 10.0, 1.1)
    assert not renderer.move_to(camera)
    renderer.full(camera)
    renderer.resize(500, 420, 1.0)
    assert not renderer.move_to(camera)
    renderer.full(camera)
    renderer.set_theme(Theme.dark())
    assert not renderer.move_to(camera)
    renderer.full(camera)
    camera.bounds = replace(camera.bounds, left=-1e5, right=1e5)
    camera.pan(5_000.0, 0.0)
    assert not renderer.move_to(camera)


def test_dots_of_standing_places_are_laid_from_the_corner_and_never_moved(qapp: QApplication) -> None:
    plan = theatre()
    values = {f.name: getattr(plan, f.name) for f in fields(SeatMapPlan) if f.init}
    area = MapArea(shape="rectangle", x=0.0, y=0.0, width=200.0, height=90.0, text="Floor", kind="standing")
    renderer, camera = renderer_of(SeatMapPlan(**{**values, "areas": (area,)}), 24.0, 1.0, Theme.light())
    assert camera.pan(0.0, 9.0) or camera.pan(0.0, -9.0)
    assert not renderer.move_to(camera)


def test_a_map_that_is_dragged_draws_only_what_comes_into_view(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    widget.ensure_visible(400)
    work(qtbot, widget, widget.stats.copy())
    before = widget.stats.copy()
    assert widget.camera.pan(12.0, 0.0)
    widget._change_view()
    done = work(qtbot, widget, before)
    assert (done.full, done.moved, done.paints) == (0, 1, 1)


def test_a_change_while_the_map_is_dragged_is_in_the_picture(qtbot: QtBot) -> None:
    widget = show_map(qtbot)
    widget.ensure_visible(400)
    work(qtbot, widget, widget.stats.copy())
    widget.camera.pan(12.0, 0.0)
    widget._change_view()
    widget.apply_changes(np.array([400, 401]), np.array([3, 3], np.uint8))
    widget._flush()
    before = widget.stats.copy()
    assert work(qtbot, widget, before).full == 1
    shown = widget.scene.renderer.canvas.pixels.copy()
    widget.scene.renderer.full(widget.camera)
    assert np.array_equal(shown, widget.scene.renderer.canvas.pixels)


def test_moves_wait_for_changes_to_settle_where_seats_overlap(qtbot: QtBot) -> None:
    """Until then the picture is not what a full one shows, and moving it would keep it so."""
    plan = stacked()
    widget = show_map(qtbot, plan, states=mixed_states(plan.seat_count))
    widget.ensure_visible(400)
    work(qtbot, widget, widget.stats.copy())
    assert widget.scene.renderer.overlaps
    widget.apply_changes(np.array([400, 401]), np.array([3, 3], np.uint8))
    widget._flush()
    before = widget.stats.copy()
    widget.camera.pan(12.0, 0.0)
    widget._change_view()
    done = work(qtbot, widget, before)
    assert (done.full, done.moved) == (1, 0)
