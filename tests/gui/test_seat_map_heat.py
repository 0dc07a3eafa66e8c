"""How much is left in each section, from afar: told by colour and by the closeness of lines."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.seat_map_stage import FREE, SOLD, look_at, post, rest, show_map
from widgets.map_legend import LegendWords, MapLegend
from widgets.seat_map import Level, SeatMapWidget
from widgets.seat_map.heat import Heat, heat_brush, heat_of
from widgets.seat_map.palette import MapPalette, luminance
from widgets.theme import Theme


def free_bowl(qtbot: QtBot) -> SeatMapWidget:
    plan = bowl(20_000)
    widget = show_map(qtbot, plan, size=(700, 500), states=np.zeros(plan.seat_count, np.uint8))
    assert widget.level is Level.FAR
    return widget


def test_steps_follow_the_share_of_free_seats() -> None:
    free = np.array([100, 50, 35, 34, 24, 10, 9, 1, 0, 0])
    seats = np.array([100] * 9 + [0])
    assert [Heat(step).name for step in heat_of(free, seats).tolist()] == [
        "PLENTY", "PLENTY", "PLENTY", "LITTLE", "LITTLE", "LITTLE", "FEW", "FEW", "NONE", "PLENTY",
    ]  # fmt: skip


@pytest.mark.parametrize("theme", [Theme.light(), Theme.dark()], ids=lambda theme: theme.name)
@pytest.mark.parametrize("dpr", [1.0, 1.5, 2.0])
def test_less_means_more_ink_whatever_the_colour(qapp: QApplication, theme: Theme, dpr: float) -> None:
    """The second channel: reduced to lightness, each step covers more of the section than the one before."""
    palette = MapPalette.of(theme, theatre())
    side = round(96 * dpr)
    inked = []
    for step in (Heat.LITTLE, Heat.FEW):
        image = QImage(side, side, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(dpr)
        image.fill(palette.bed)
        painter = QPainter(image)
        painter.fillRect(0, 0, 96, 96, heat_brush(palette, step, dpr))
        painter.end()
        light = [abs(luminance(image.pixelColor(x, side // 2)) - luminance(palette.bed)) for x in range(side)]
        inked.append(float(np.mean(np.array(light) > 0.02)))
    assert inked[0] > 0.05
    assert inked[1] > inked[0] * 1.6


def test_a_section_that_sells_out_is_crossed_without_drawing_a_whole_picture(qtbot: QtBot) -> None:
    widget = free_bowl(qtbot)
    seats = np.flatnonzero(widget.plan.seat_section == 7)
    assert widget.scene.heat.step_of(7) is Heat.PLENTY
    before = widget.stats.copy()
    post(widget, seats.tolist(), SOLD)
    qtbot.waitUntil(lambda: widget.scene.heat.step_of(7) is Heat.NONE)
    assert widget.stats.since(before).full <= 1, "only the redraw that rest brings"
    assert widget.scene.heat.step_of(8) is Heat.PLENTY
    rest(qtbot, widget)
    shown = widget.grab().toImage()
    widget.scene.show_counts(widget.scene.states.seats_by_section())
    plain = widget.grab().toImage()
    box = widget.seats_rect(seats)
    differing = sum(
        shown.pixel(x, y) != plain.pixel(x, y)
        for x in range(box.left(), box.right())
        for y in range(box.top(), box.bottom())
    )
    assert differing > box.width() * box.height() * 0.05
    post(widget, seats.tolist(), FREE)
    qtbot.waitUntil(lambda: widget.scene.heat.step_of(7) is Heat.PLENTY)


def test_seats_are_counted_when_they_changed_and_not_at_every_frame(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    widget = free_bowl(qtbot)
    counted: list[int] = []
    count = widget.scene.states.free_by_section

    def counting() -> object:
        counted.append(1)
        return count()

    monkeypatch.setattr(widget.scene.states, "free_by_section", counting)
    for _ in range(3):
        widget.zoom(1.05)
        rest(qtbot, widget)
    assert counted == []
    post(widget, [1], SOLD)
    qtbot.waitUntil(lambda: counted == [1])


def test_near_seats_are_not_hatched(qtbot: QtBot) -> None:
    plan = theatre()
    widget = show_map(qtbot, plan, states=np.full(plan.seat_count, SOLD, np.uint8))
    look_at(qtbot, widget, 100, 20)
    assert widget.level is not Level.FAR
    before = widget.grab().toImage()
    widget.scene.heat.set_counts(widget.scene.states.free_by_section())
    assert widget.grab().toImage() == before


def test_the_legend_explains_sections_from_afar_and_seats_from_near(qapp: QApplication) -> None:
    words = LegendWords("Yours", "Counter", "Buyer", "House", "Sold", "Blocked", "Accessible", "Companion",
                        "Restricted", "Printed", "Few left", "Sold out")  # fmt: skip
    legend = MapLegend(Theme.light(), words)
    legend.show()
    assert "Few left" not in legend.explained
    assert "Sold" in legend.explained
    legend.show_far(True)
    assert set(legend.explained) == {"Few left", "Sold out"}
    legend.show_far(False)
    assert "Sold" in legend.explained
