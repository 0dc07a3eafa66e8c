"""What lies over the seats from afar is mixed with them as Qt mixes it, once a view and then pixel by pixel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, mixed_states
from tests.gui.seat_map_stage import FREE, SOLD, look_at, post, rest, show_map
from widgets.seat_map import Level, SeatMapWidget
from widgets.seat_map.veil import over

Words = npt.NDArray[np.uint32]


def test_pixels_are_mixed_to_the_last_bit_as_qt_mixes_them(qapp: QApplication) -> None:
    rng = np.random.default_rng(5)
    seats = rng.integers(0, 1 << 24, 4096).astype(np.uint32) | np.uint32(0xFF000000)
    alpha = rng.integers(0, 256, 4096)
    alpha[:500], alpha[500:1000] = 0, 255
    veil = alpha.astype(np.uint32) << np.uint32(24)
    for shift in (16, 8, 0):
        veil |= (rng.random(4096) * (alpha + 1)).astype(np.uint32).clip(0, alpha.astype(np.uint32)) << np.uint32(shift)
    mixed = seats.copy()
    below = QImage(mixed.data.cast("B"), 64, 64, 256, QImage.Format.Format_RGB32)
    above = QImage(veil.data.cast("B"), 64, 64, 256, QImage.Format.Format_ARGB32_Premultiplied)
    painter = QPainter(below)
    painter.drawImage(0, 0, above)
    painter.end()
    assert np.array_equal(over(veil, seats), mixed)


def shown(widget: SeatMapWidget) -> npt.NDArray[np.int16]:
    """The widget's own picture, by channel."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    words = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)
    return words[:, : image.width(), :3].astype(np.int16)


@pytest.mark.parametrize("seat_px", [4.4, 4.9])
def test_changes_leave_behind_what_a_new_view_shows(qtbot: QtBot, seat_px: float) -> None:
    """Names, counts and hatching on: within the rounding of one mixing more or less."""
    plan = bowl(9_000)
    widget = show_map(qtbot, plan, size=(800, 600), states=mixed_states(plan.seat_count))
    look_at(qtbot, widget, 3_000, seat_px)
    assert (widget.level, widget.scene.renderer.diameter) == (Level.FAR, 4)
    rng = np.random.default_rng(8)
    for turn in range(6):
        seats = rng.integers(0, plan.seat_count, 300)
        widget.apply_changes(seats, mixed_states(300, turn))
        rest(qtbot, widget)
    widget._count_timer.stop()
    widget._recount()
    rest(qtbot, widget)
    changed = shown(widget)
    widget._settle()
    rest(qtbot, widget)
    apart = np.abs(changed - shown(widget))
    assert int(apart.max()) <= 3
    assert (changed != changed[0, 0]).any(), "there is something to see"


def test_a_change_far_away_paints_no_label_again(qtbot: QtBot) -> None:
    plan = bowl(9_000)
    widget = show_map(qtbot, plan, states=np.zeros(plan.seat_count, np.uint8))
    assert widget.level is Level.FAR
    veil = widget.scene._veil
    drawn: list[object] = []
    draw = veil._draw

    def counted(painter: QPainter, clip: QRect, dpr: float) -> None:
        drawn.append(clip)
        draw(painter, clip, dpr)

    veil._draw = counted
    for turn in range(5):
        widget._count_timer.stop()
        post(widget, [100 + turn, 4_000 + turn], SOLD)
        rest(qtbot, widget)
    assert len(drawn) == 1, "the layer of this view, with the first change"
    widget._settle()
    rest(qtbot, widget)
    assert len(drawn) == 2, "a new view is painted straight away"
    assert (veil._front, veil._layer) == (None, None), "what only changes need is let go at rest"
    post(widget, [100], FREE)
    rest(qtbot, widget)
    widget.zoom(1.1)
    rest(qtbot, widget)
    assert len(drawn) == 4


def test_a_small_repaint_before_any_change_paints_what_lies_there(qtbot: QtBot) -> None:
    plan = bowl(9_000)
    widget = show_map(qtbot, plan, states=mixed_states(plan.seat_count))
    before = shown(widget)
    box = next(iter(widget.scene._sections.placed.values()))
    widget.update(box)
    rest(qtbot, widget)
    assert widget.scene._veil._front is None
    assert np.array_equal(before, shown(widget))
