"""The pixel oracle: what changes left behind is what a fresh picture shows (D7 at every device pixel ratio)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from tests.bench.seat_map.plans import bowl, mixed_states, theatre
from widgets.seat_map.beds import lay_beds
from widgets.seat_map.camera import Camera
from widgets.seat_map.ground import plan_bounds
from widgets.seat_map.palette import MapPalette, luminance
from widgets.seat_map.plan import SeatMapPlan
from widgets.seat_map.renderer import Renderer, Stats
from widgets.seat_map.seat_bits import Look
from widgets.seat_map.seat_grid import SeatGrid
from widgets.seat_map.seat_states import SeatStates
from widgets.seat_map.sprites import SHAPES_FROM_PX, disc_spans, draw_sprite, fitting_diameter
from widgets.theme import Theme

WIDTH, HEIGHT = 640, 420


def renderer_of(plan: SeatMapPlan, seat_px: float, dpr: float, theme: Theme) -> tuple[Renderer, Camera]:
    """A drawn picture of the middle of a plan, without a widget."""
    grid = SeatGrid(plan)
    states = SeatStates(plan, grid)
    states.set_all(mixed_states(plan.seat_count))
    renderer = Renderer(plan, grid, states, lay_beds(plan, grid.pitch), theme, Stats())
    camera = Camera()
    camera.resize(WIDTH, HEIGHT)
    camera.set_plan(plan_bounds(plan, grid.pitch), renderer.seat_diameter)
    middle = plan.seat_count // 2
    camera.look_at(float(plan.x[middle]), float(plan.y[middle]), seat_px / renderer.seat_diameter)
    renderer.resize(round(WIDTH * dpr), round(HEIGHT * dpr), dpr)
    renderer.full(camera)
    return renderer, camera


def differing_after(renderer: Renderer, camera: Camera, rounds: int) -> float:
    """Share of pixels that differ between many partial redraws and one full redraw."""
    rng = np.random.default_rng(3)
    renderer.stats.stamped = 0
    count = renderer.plan.seat_count
    for _ in range(rounds):
        seats = rng.integers(0, count, 400)
        states = mixed_states(400, int(rng.integers(1 << 30)))
        renderer.partial(renderer.states.apply(seats, states))
    renderer.partial(renderer.states.set_mine(rng.integers(0, count, 30).tolist()))
    renderer.partial(renderer.states.set_closed(rng.random(count) < 0.2))
    renderer.partial(renderer.states.dim_categories([0, 3]))
    assert renderer.stats.stamped > 40
    partial = renderer.canvas.pixels.copy()
    renderer.full(camera)
    return float((partial != renderer.canvas.pixels).mean())


@pytest.mark.parametrize("dpr", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("seat_px", [4.3, 5.0, 7.0, 11.0, 16.0, 24.0, 47.0])
@pytest.mark.parametrize("make_plan", [theatre, lambda: bowl(9_000)], ids=["theatre", "bowl"])
def test_partial_redraws_equal_a_full_one_bit_for_bit(
    qapp: QApplication, make_plan: Callable[[], SeatMapPlan], seat_px: float, dpr: float
) -> None:
    renderer, camera = renderer_of(make_plan(), seat_px, dpr, Theme.light())
    assert renderer.diameter >= 4 or dpr == 1.0
    if renderer.diameter >= 4:
        assert differing_after(renderer, camera, 12) == 0.0


@pytest.mark.parametrize("seat_px", [1.0, 2.0, 3.0])
def test_tiny_seats_differ_in_at_most_half_a_percent_until_changes_rest(qapp: QApplication, seat_px: float) -> None:
    renderer, camera = renderer_of(bowl(20_000), seat_px, 1.0, Theme.light())
    assert renderer.diameter <= 3
    assert renderer.overlaps
    assert differing_after(renderer, camera, 12) <= 0.005


def test_seats_of_two_floors_in_one_place_are_put_right_when_changes_rest(qapp: QApplication) -> None:
    """Real plans draw two floors over each other; their sprites overlap at every size."""
    plan = theatre()
    moved = plan.x.copy()
    moved[-100:] = plan.x[:100] + 1.5
    y = plan.y.copy()
    y[-100:] = plan.y[:100]
    values = {f.name: getattr(plan, f.name) for f in fields(SeatMapPlan) if f.init}
    renderer, _ = renderer_of(SeatMapPlan(**{**values, "x": moved, "y": y}), 20.0, 1.0, Theme.light())
    assert renderer.overlaps
    single, _ = renderer_of(plan, 20.0, 1.0, Theme.light())
    assert not single.overlaps


def test_rows_closer_than_their_seats_do_not_overlap(qapp: QApplication) -> None:
    plan = theatre()
    values = {f.name: getattr(plan, f.name) for f in fields(SeatMapPlan) if f.init}
    flat = SeatMapPlan(**{**values, "y": plan.y * np.float32(0.5)})
    grid = SeatGrid(flat)
    assert grid.pitch < SeatGrid(plan).pitch * 0.85
    renderer, camera = renderer_of(flat, 16.0, 1.0, Theme.light())
    assert differing_after(renderer, camera, 6) <= 0.005


@pytest.mark.parametrize("theme", [Theme.light(), Theme.dark()], ids=lambda theme: theme.name)
def test_two_full_pictures_are_equal(qapp: QApplication, theme: Theme) -> None:
    renderer, camera = renderer_of(theatre(), 20.0, 1.0, theme)
    first = renderer.canvas.pixels.copy()
    renderer.full(camera)
    assert np.array_equal(first, renderer.canvas.pixels)


@pytest.mark.parametrize("dpr", [1.0, 1.25, 1.5, 2.0])
def test_seats_are_drawn_with_the_pixels_of_the_screen(qapp: QApplication, dpr: float) -> None:
    """D7: at 150 % a seat of 20 logical px is 30 px of its own, not 20 px blown up."""
    renderer, _ = renderer_of(theatre(), 20.0, dpr, Theme.light())
    assert renderer.diameter == int(20.0 * dpr)


@given(st.integers(4, 112), st.floats(0, 2 * np.pi), st.floats(0, 1), st.floats(0, 1))
def test_rounded_discs_of_neighbours_never_share_a_pixel(size: int, turn: float, at_x: float, at_y: float) -> None:
    """Why a partial redraw is exact: at the diameter chosen for a distance, neighbours stamp disjoint pixels."""
    distance = size + np.sqrt(2) + 1e-6
    assert fitting_diameter(1000.0, distance) == size
    left, top = np.floor([at_x, at_y])
    other_left = np.floor(at_x + distance * np.cos(turn))
    other_top = np.floor(at_y + distance * np.sin(turn))
    one = {(left + x, top + y) for y, (a, w) in enumerate(disc_spans(size)) for x in (a, a + w - 1)}
    spans = {(other_top + y): (other_left + a, other_left + a + w) for y, (a, w) in enumerate(disc_spans(size))}
    for x, y in one:
        first, past = spans.get(y, (0, 0))
        assert not first <= x < past


def test_states_and_kinds_are_told_without_colour(qapp: QApplication) -> None:
    """D10: reduced to one ink, sprites of every state and of every kind of seat still differ."""
    palette = MapPalette.of(Theme.light(), theatre())
    bed = draw_sprite(palette, Look.BLOCKED, 0, 0, 24)[0, 0]
    distinct = [Look.FREE, Look.MINE, Look.HELD_TILL, Look.HELD_FAN, Look.HELD_HOUSE, Look.PAYING_FAN, Look.PRINTED,
                Look.USED, Look.BLOCKED]  # fmt: skip
    shapes = {}
    for look in distinct:
        sprite = draw_sprite(palette, look, 0, 0, 24)
        grey = (sprite & 0xFF) * 0.07 + (sprite >> 8 & 0xFF) * 0.72 + (sprite >> 16 & 0xFF) * 0.21
        shapes[look] = (np.abs(grey - grey[12, 12]) > 40).tobytes()
    assert len(set(shapes.values())) == len(distinct)
    kinds = {marks: (draw_sprite(palette, Look.FREE, 0, marks, 24) != bed).tobytes() for marks in (0, 1, 2, 4)}
    assert len(set(kinds.values())) == 4


@pytest.mark.parametrize("size", [2, 5, 9, 14, 24])
def test_the_houses_own_seats_look_alike_and_unlike_blocked_ones_and_free_ones(qapp: QApplication, size: int) -> None:
    """Held or blocked for the house is one thing to a clerk; from afar such a seat does not vanish in its bed."""
    palette = MapPalette.of(Theme.light(), theatre())
    house = draw_sprite(palette, Look.BLOCKED_HOUSE, 0, 0, size)
    assert np.array_equal(house, draw_sprite(palette, Look.HELD_HOUSE, 0, 0, size))
    for other in (Look.BLOCKED, Look.FREE, Look.HELD_TILL, Look.PAYING_HOUSE):
        assert not np.array_equal(house, draw_sprite(palette, other, 0, 0, size)) or (
            size < SHAPES_FROM_PX and other is Look.PAYING_HOUSE
        )
    assert contrast(palette.small(Look.BLOCKED_HOUSE, 0), palette.bed) > 1.6  # by colour: test_seat_map_far_colours


def contrast(color: QColor, ground: QColor) -> float:
    """After WCAG 2.2."""
    high, low = sorted((luminance(color), luminance(ground)), reverse=True)
    return (high + 0.05) / (low + 0.05)
