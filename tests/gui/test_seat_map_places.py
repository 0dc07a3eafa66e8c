"""A person always knows where on the plan they are: names of sections from afar, of section and rows near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import bowl, theatre
from tests.gui.seat_map_stage import SOLD, look_at, press, rest, show_map
from widgets.seat_map import Level, SeatMapPlan, SeatMapTexts, SeatMapWidget
from widgets.seat_map.plan import MapArea
from widgets.seat_map.row_edges import rows_cut_by_view
from widgets.seat_map.tip_place import tip_corner

SCREEN = QRect(0, 0, 1280, 800)


def placed(widget: SeatMapWidget) -> dict[int, QRect]:
    return widget.scene._sections.placed


@pytest.mark.parametrize("size", [(900, 640), (1300, 900)])
def test_from_afar_every_block_with_room_for_its_name_shows_it(qtbot: QtBot, size: tuple[int, int]) -> None:
    """The richest form goes to most; a block between two rich labels says less, and does not fall silent."""
    plan = stadium()
    widget = show_map(qtbot, plan, size=size)
    assert widget.level is Level.FAR
    assert set(placed(widget)) == set(range(len(plan.section_name)))


@pytest.mark.parametrize("size", [(900, 640), (560, 400)])
def test_labels_never_lie_on_each_other(qtbot: QtBot, size: tuple[int, int]) -> None:
    widget = show_map(qtbot, stadium(), size=size)
    boxes = list(placed(widget).values())
    assert boxes
    grown = [box.adjusted(-1, -1, 1, 1) for box in boxes]
    assert not [(a, b) for at, a in enumerate(grown) for b in boxes[at + 1 :] if a.intersects(b)]


def stadium() -> SeatMapPlan:
    """Two tiers of forty blocks about a pitch, each of 12 rows of 14 seats: as large as the demo's from afar."""
    tier, block, ring, seat = (part.ravel() for part in np.mgrid[0:2, 0:40, 0:12, 0:14])
    turn = (block + 0.06 + seat / 13 * 0.88) / 40 * 2 * np.pi
    away = 30.0 + tier * 15.0 + ring
    sections, rows = 80, 80 * 12
    middle = (np.arange(sections) % 40 + 0.5) / 40 * 2 * np.pi
    reach = 36.0 + np.arange(sections) // 40 * 15.0
    return SeatMapPlan(
        name="Stadium",
        x=(away * np.cos(turn) * 1.25).astype(np.float32),
        y=(away * np.sin(turn)).astype(np.float32),
        category=np.zeros(len(turn), np.uint8),
        row_no=((tier * 40 + block) * 12 + ring).astype(np.int32),
        flags=np.zeros(len(turn), np.uint8),
        number=tuple(str(number + 1) for number in seat.tolist()),
        row_section=np.repeat(np.arange(sections), 12).astype(np.int32),
        row_label=tuple(str(row % 12 + 1) for row in range(rows)),
        row_first=np.arange(0, rows * 14, 14, dtype=np.int32),
        row_count=np.full(rows, 14, np.int32),
        section_name=tuple(f"{section // 40 + 1}{section % 40 + 1:02d}" for section in range(sections)),
        section_x=(reach * np.cos(middle) * 1.25).astype(np.float32),
        section_y=(reach * np.sin(middle)).astype(np.float32),
        category_name=("All",),
        category_color=("",),
        areas=(MapArea(shape="rectangle", x=-20, y=-12, width=40, height=24, text="Pitch", text_size=4.0),),
    )


def test_lines_of_an_area_do_not_run_through_a_word(qtbot: QtBot) -> None:
    grass, chalk = "#66AA66", "#FFFFFF"
    pitch = MapArea(shape="rectangle", x=0, y=0, width=800, height=600, color=grass, text="Pitch", text_size=60.0)
    line = MapArea(shape="rectangle", x=396, y=0, width=8, height=600, color=chalk)
    plan = replace(theatre(), areas=(pitch, line))
    widget = show_map(qtbot, plan, size=(1200, 800))

    def chalky(fraction: float) -> int:
        """Pixels of the line beside the middle, at a height given as a share of the pitch."""
        x, y = widget.camera.to_px(400.0, 600.0 * fraction)
        around = widget.grab().toImage().copy(round(x) - 2, round(y) - 2, 5, 4)
        seen = [around.pixelColor(at, down).lightness() for at in range(5) for down in range(4)]
        return sum(light > 200 for light in seen)

    assert chalky(0.2) > 0
    left, top = widget.camera.to_px(400.0, 300.0)
    image = widget.grab().toImage()
    row = [image.pixelColor(round(left) + dx, round(top) - 18).lightness() for dx in (-1, 0, 1)]
    assert max(row) < 200


def test_near_the_corner_names_section_and_rows_in_view_and_nothing_from_afar(qtbot: QtBot) -> None:
    plan = bowl(9_000)
    texts = SeatMapTexts(write_place=lambda place: f"{place.section}|{place.first_row}|{place.last_row}")
    widget = show_map(qtbot, plan, texts=texts)
    assert widget.level is Level.FAR
    assert widget.place_shown == ""
    seat = plan.seat_count // 2
    look_at(qtbot, widget, seat, 30)
    section, first, last = widget.place_shown.split("|")
    assert section == plan.section_name[plan.seat_section[seat]]
    labels = [plan.row_label[row] for row in np.flatnonzero(plan.row_section == plan.seat_section[seat])]
    here = labels.index(plan.row_label[plan.row_no[seat]])
    assert labels.index(first) <= here <= labels.index(last)
    widget.fit()
    rest(qtbot, widget)
    assert widget.place_shown == ""


def test_a_plan_that_is_whole_in_view_needs_no_word_of_where_one_is(qtbot: QtBot) -> None:
    widget = show_map(qtbot, theatre(), size=(1900, 1300))
    assert widget.level is not Level.FAR
    assert widget.place_shown == ""


def test_rows_whose_ends_are_out_of_view_are_named_at_its_edge(qtbot: QtBot) -> None:
    plan = stadium()
    widget = show_map(qtbot, plan, size=(420, 320))
    longest = 126
    middle = int(plan.row_first[longest] + plan.row_count[longest] // 2)
    look_at(qtbot, widget, middle, 40)
    camera = widget.camera
    view = camera.view()
    seats = widget.scene.grid.seats_in(view.left, view.top, view.right, view.bottom)
    edges = rows_cut_by_view(plan, seats, np.empty(0, np.intp), camera)
    assert longest in edges.rows.tolist()
    assert len(set(edges.rows.tolist())) == len(edges.rows)
    assert edges.x.min() >= 0
    assert edges.x.max() <= camera.width
    assert edges.y.min() >= 0
    assert edges.y.max() <= camera.height
    named = rows_cut_by_view(plan, seats, edges.rows, camera)
    assert len(named.rows) == 0
    labels = widget.scene._row_labels
    assert labels is not None
    assert len(labels._edge_fragments) > 0
    whole = rows_cut_by_view(plan, np.arange(plan.seat_count), np.empty(0, np.intp), camera)
    assert len(whole.rows) == 0
    assert len(rows_cut_by_view(plan, np.empty(0, np.intp), np.empty(0, np.intp), camera).rows) == 0


@pytest.mark.parametrize("at", [(640, 400), (1270, 400), (640, 790), (1270, 790), (5, 5)])
def test_a_tool_tip_leaves_the_neighbours_of_its_seat_uncovered_and_stays_on_the_screen(at: tuple[int, int]) -> None:
    pitch, centre, size = 30.0, QPoint(*at), QSize(190, 76)
    tip = QRect(tip_corner(centre, pitch, size, SCREEN), size)
    neighbours = QRect(0, 0, round(2.9 * pitch), round(2.9 * pitch))
    neighbours.moveCenter(centre)
    assert not tip.intersects(neighbours)
    assert SCREEN.contains(tip)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Right])
def test_the_first_key_on_a_map_puts_the_keyboard_on_a_seat_that_can_be_picked(qtbot: QtBot, key: Qt.Key) -> None:
    """After F2 Enter has something to show; it picks nothing that was not seen before."""
    states = np.full(theatre().seat_count, SOLD, np.uint8)
    states[[40, 700]] = 0
    widget = show_map(qtbot, states=states)
    activated: list[int] = []
    widget.seat_activated.connect(activated.append)
    press(widget, key)
    assert widget.focused_seat in {40, 700}
    assert activated == []
    assert widget.rect().contains(widget.seat_rect(widget.focused_seat))
    if key != Qt.Key.Key_Right:
        press(widget, key)
        assert activated == [widget.focused_seat]


def test_the_first_key_shows_a_seat_even_when_none_can_be_picked(qtbot: QtBot) -> None:
    widget = show_map(qtbot, states=np.full(theatre().seat_count, SOLD, np.uint8))
    press(widget, Qt.Key.Key_Return)
    assert widget.focused_seat >= 0
