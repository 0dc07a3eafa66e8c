"""Names of slanted sections lie along them; floors and areas that belong to none are on all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import Rows, theatre
from tests.gui.seat_map_stage import rest, show_map
from tests.gui.test_seat_map_plan_parts import two_floors
from widgets.seat_map import Level, MapArea, SeatMapPlan
from widgets.seat_map.plan import EVERY_FLOOR
from widgets.seat_map.section_axes import section_axes

TURNS = (0, 35, -50, 90, -90, 10, 60)


def slanted() -> SeatMapPlan:
    """Seven long stands, each turned otherwise; every row runs along its stand."""
    rows = Rows()
    names, places = [], []
    for stand, degrees in enumerate(TURNS):
        turn = np.radians(degrees)
        x, y = stand % 4 * 700.0, stand // 4 * 900.0
        for row in range(5):
            along, across = (np.arange(24) - 11.5) * 25, (row - 2) * 28
            rows.add(
                stand, str(row + 1), stand, x + along * np.cos(turn) - across * np.sin(turn),
                y + along * np.sin(turn) + across * np.cos(turn),
            )  # fmt: skip
        names.append(f"Tribune {stand}")
        places.append((x, y))
    return rows.plan("Stands", names, places, ())


def test_axes_are_those_of_the_rows() -> None:
    plan = slanted()
    axes = section_axes(plan, np.arange(len(TURNS)), 10.0)
    expected = [-90.0 if turn == 90 else float(turn) for turn in TURNS]
    assert axes.turn == pytest.approx(expected, abs=0.01)
    assert axes.length == pytest.approx([23 * 25 + 20] * 7, abs=0.1)
    assert axes.width == pytest.approx([4 * 28 + 20] * 7, abs=0.1)
    moved = replace(plan, flags=np.where(np.arange(plan.seat_count) % 24 < 12, 8, 0).astype(np.uint8))
    assert section_axes(moved, np.arange(7), 10.0).length[0] == pytest.approx(11 * 25 + 20, abs=0.1)


def test_a_name_lies_along_its_section_where_it_fits_better(qtbot: QtBot) -> None:
    widget = show_map(qtbot, slanted(), size=(520, 400))
    assert widget.level is Level.FAR
    labels = widget.scene._sections
    assert set(labels.placed) == set(range(7)), "every stand has its name"
    assert set(labels.turned) == {1, 2, 3, 4, 6}, "one that is nearly level is written level"
    assert all(-90 <= turn <= 90 for turn in labels.turned.values()), "never upside down"
    boxes = [labels.placed[section] for section in range(7)]
    assert not any(one.intersects(other) for at, one in enumerate(boxes) for other in boxes[at + 1 :])
    # The ink of a turned name stays on its stand: beside the stand is only ground.
    image = widget.grab().toImage()
    ground = QColor(widget.scene.palette.ground).rgb()
    for section in (1, 2, 6):
        box = labels.placed[section]
        corners = [box.topLeft(), box.topRight(), box.bottomLeft(), box.bottomRight()]
        assert sum(image.pixel(corner) == ground for corner in corners) >= 2


def test_seats_of_a_hall_that_stands_level_have_level_names(qtbot: QtBot) -> None:
    widget = show_map(qtbot, theatre(), size=(300, 260))
    assert widget.level is Level.FAR
    assert widget.scene._sections.turned == {}


def test_an_area_that_belongs_to_no_floor_is_on_every_floor(qtbot: QtBot) -> None:
    plan = two_floors()
    screen = MapArea(shape="rectangle", x=300, y=20, width=500, height=110, color="#FF0000", floor_no=EVERY_FLOOR)
    bar = MapArea(shape="circle", x=60, y=60, width=80, kind="standing", text="Bar", floor_no=EVERY_FLOOR)
    widget = show_map(qtbot, replace(plan, areas=(*plan.areas[1:], screen, bar)), size=(600, 700))
    widget.set_standing({"Bar": 9})
    places = []
    for floor in (0, 1):
        widget.show_floor(floor)
        rest(qtbot, widget)
        image = widget.grab().toImage()
        red = sum(
            QColor(image.pixel(x, y)).redF() > QColor(image.pixel(x, y)).greenF() + 0.2
            for x in range(0, image.width(), 4)
            for y in range(0, image.height(), 4)
        )
        assert red > 50
        box = widget.scene.standing.rect(0, widget.camera)
        assert widget.rect().contains(box)
        assert widget.standing_at(box.center().toPointF()) == "Bar"
        places.append(box)
    assert widget.scene.standing.names == ("Bar",)
    single = replace(theatre(), areas=(screen,))
    assert show_map(qtbot, single).plan.areas == (screen,), "a plan without floors draws it where it is"
