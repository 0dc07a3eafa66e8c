"""What a plan has beside seats: floors, areas without numbers, tables, pictures; drawn, found and spoken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QIODevice, QPointF, Qt
from PySide6.QtGui import QAccessible, QColor, QImage
from pytestqt.qtbot import QtBot

from tests.bench.seat_map.plans import theatre
from tests.gui.seat_map_stage import click, press, rest, show_map
from widgets.floor_tabs import FloorTabs
from widgets.seat_map import MapArea, MapImage, SeatMapPlan, SeatMapPlanError, SeatMapTexts, SeatMapWidget
from widgets.seat_map.beds import lay_beds
from widgets.seat_map.pictures import MOST_BYTES, MOST_SIDE_PX, picture_of
from widgets.seat_map.seat_grid import SeatGrid


def plan_with(**changes: Any) -> SeatMapPlan:
    """The theatre with something else in it."""
    plan = theatre()
    values = {f.name: getattr(plan, f.name) for f in fields(SeatMapPlan) if f.init}
    return SeatMapPlan(**{**values, **changes})


def two_floors() -> SeatMapPlan:
    """Stalls below, the balcony on a floor above, drawn over each other."""
    plan = theatre()
    y = plan.y.copy()
    above = plan.seat_section == 2
    y[above] -= 600
    upper = MapArea(shape="rectangle", x=500, y=560, width=120, height=40, floor_no=1)
    return plan_with(y=y, floor_name=("Stalls", "Balcony"), section_floor=(0, 0, 1), areas=(*plan.areas, upper))


def test_one_floor_is_shown_at_a_time_and_the_others_never_come_into_view(qtbot: QtBot) -> None:
    widget = show_map(qtbot, two_floors(), size=(300, 900))
    plan = widget.plan
    floors = np.array(plan.section_floor)[plan.seat_section]
    for floor in (0, 1, 0):
        widget.show_floor(floor)
        rest(qtbot, widget)
        view = widget.camera.view()
        seen = widget.scene.grid.seats_in(view.left, view.top, view.right, view.bottom)
        assert set(floors[seen].tolist()) == {floor}
        assert len(seen) == int((floors == floor).sum())
        assert widget.place_shown == "", "a whole floor in view needs no name of a part"
        for _ in range(30):
            widget.zoom(0.5)
            widget.camera.pan(4000, -4000)
        view = widget.camera.view()
        seen = widget.scene.grid.seats_in(view.left, view.top, view.right, view.bottom)
        assert set(floors[seen].tolist()) <= {floor}


def test_a_seat_on_another_floor_brings_its_floor_and_its_tab(qtbot: QtBot) -> None:
    widget = show_map(qtbot, two_floors())
    tabs = FloorTabs(widget, "Floors")
    qtbot.addWidget(tabs)
    tabs.show_plan()
    assert [tabs.tabText(index) for index in range(tabs.count())] == ["Stalls", "Balcony"]
    assert not tabs.isHidden()
    upstairs = int(np.flatnonzero(widget.plan.seat_section == 2)[5])
    widget.focus_seat(upstairs)
    rest(qtbot, widget)
    assert (widget.scene.floor, tabs.currentIndex()) == (1, 1)
    assert widget.rect().contains(widget.seat_rect(upstairs))
    tabs.setCurrentIndex(0)
    assert widget.scene.floor == 0
    assert not widget.rect().contains(widget.seat_rect(upstairs))
    press(widget, Qt.Key.Key_PageDown)
    assert widget.scene.floor == 0, "from the balcony the next section is the first"
    widget.set_plan(theatre())
    tabs.show_plan()
    assert tabs.isHidden()


def test_a_rebuilt_map_goes_on_with_the_same_floor(qtbot: QtBot) -> None:
    widget, again = show_map(qtbot, two_floors()), show_map(qtbot, two_floors())
    widget.show_floor(1)
    widget.zoom(2)
    again.take_view_of(widget)
    assert again.scene.floor == 1
    assert again.camera.looks_at == widget.camera.looks_at


def test_a_plan_with_floors_for_some_sections_only_is_refused() -> None:
    with pytest.raises(SeatMapPlanError, match="floors for some"):
        plan_with(floor_name=("One", "Two"), section_floor=(0,))
    with pytest.raises(SeatMapPlanError, match="floor"):
        plan_with(floor_name=("One", "Two"), section_floor=(0, 1, 2))


STANDING = MapArea(shape="rectangle", x=20, y=20, width=200, height=80, text="Pit", kind="standing")


def test_an_area_without_numbers_tells_what_is_left_and_is_found_by_the_hand(qtbot: QtBot) -> None:
    texts = SeatMapTexts(
        write_places=lambda count: f"{count} left", spoken_standing=lambda name, free: f"{name}/{free}"
    )
    widget = show_map(qtbot, plan_with(areas=(STANDING,)), texts=texts)
    at = QPointF(*widget.camera.to_px(60, 60))
    empty = widget.grab().toImage()
    widget.set_standing({"Pit": 120})
    rest(qtbot, widget)
    counted = widget.grab().toImage()
    assert empty != counted
    before = widget.stats.copy()
    widget.set_standing({"Pit": 119})
    rest(qtbot, widget)
    assert widget.stats.since(before).full == 0, "a new count draws no seat"
    assert widget.grab().toImage() != counted
    assert widget.standing_at(at) == "Pit"
    assert widget.standing_at(QPointF(1, 1)) == ""
    with qtbot.waitSignal(widget.standing_clicked) as blocker:
        click(widget, at.toPoint())
    assert blocker.args == ["Pit"]
    tree = QAccessible.queryAccessibleInterface(widget)
    node = tree.child(tree.childCount() - 1)
    assert node.text(QAccessible.Text.Name) == "Pit/119"
    assert node.role() == QAccessible.Role.StaticText
    assert tree.indexOfChild(node) == tree.childCount() - 1
    assert node.rect().contains(widget.mapToGlobal(at.toPoint()))


@pytest.mark.parametrize("kind", ["table", "booth"])
def test_tables_and_booths_stand_upon_the_ground_of_the_seats(qtbot: QtBot, kind: str) -> None:
    row = theatre().seats_of_row(10)
    plain = theatre()
    x, y = float(plain.x[row[4]]), float(plain.y[row[4]])
    table = MapArea(shape="rectangle", x=x - 40, y=y - 40, width=80, height=80, kind=kind, text="T 1")
    plan = plan_with(areas=(table,))
    with_it, without = show_map(qtbot, plan), show_map(qtbot, plan_with(areas=()))
    for widget in (with_it, without):
        widget.show_section(int(plan.seat_section[row[4]]))
        rest(qtbot, widget)
    px = [round(v) for v in with_it.camera.to_px(x - 34, y - 34)]
    assert with_it.grab().toImage().pixelColor(*px) != without.grab().toImage().pixelColor(*px)
    seat = with_it.seat_rect(row[4]).center()
    body = [w.grab().toImage().pixelColor(seat.x() - 4, seat.y()) for w in (with_it, without)]
    assert body[0] == body[1], "seats are drawn over what stands between them"


def test_seats_around_a_table_lie_on_a_disc_that_holds_them_all() -> None:
    angle = np.arange(8) / 8 * 2 * np.pi
    x, y = (np.concatenate([100 + 50 * f(angle), 300 + 50 * f(angle), straight]) for f, straight in (
        (np.cos, np.arange(8) * 40.0), (np.sin, np.full(8, 400.0))))  # fmt: skip
    plan = SeatMapPlan(
        name="Club", x=x.astype(np.float32), y=y.astype(np.float32), category=np.zeros(24, np.uint8),
        row_no=np.repeat(np.arange(3), 8).astype(np.int32), flags=np.zeros(24, np.uint8), number=("1",) * 24,
        row_section=np.zeros(3, np.int32), row_label=("T1", "T2", "A"), row_first=np.array([0, 8, 16], np.int32),
        row_count=np.full(3, 8, np.int32), section_name=("Club",), section_x=np.zeros(1, np.float32),
        section_y=np.zeros(1, np.float32), category_name=("A",), category_color=("",),
    )  # fmt: skip
    beds = lay_beds(plan, SeatGrid(plan).pitch)
    assert len(beds) == 3
    for bed, seats in zip(beds, (slice(0, 8), slice(8, 16), slice(16, 24)), strict=True):
        points = [QPointF(float(a), float(b)) for a, b in zip(plan.x[seats], plan.y[seats], strict=True)]
        assert all(bed.outline.containsPoint(point, Qt.FillRule.WindingFill) for point in points)
    for bed in beds[:2]:
        assert bed.bounds.width == pytest.approx(bed.bounds.height, rel=0.02)
    assert beds[2].bounds.width > 4 * beds[2].bounds.height


def picture(width: int, height: int, form: str = "PNG") -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#FF0000"))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, form)  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def image_of(data: bytes) -> MapImage:
    return MapImage(data=data, x=0, y=0, width=1100, height=200)


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_a_picture_of_the_plan_lies_under_everything(qtbot: QtBot, form: str) -> None:
    widget = show_map(qtbot, plan_with(images=(image_of(picture(40, 40, form)),), areas=()))
    at = [round(v) for v in widget.camera.to_px(550, 100)]
    assert widget.grab().toImage().pixelColor(*at).red() > 240


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(lambda: b"", id="empty"),
        pytest.param(lambda: b"https://example.com/plan.png", id="address"),
        pytest.param(lambda: picture(9, 9)[:60], id="cut"),
        pytest.param(lambda: picture(9, 9, "BMP"), id="bmp"),
        pytest.param(lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", id="svg"),
        pytest.param(lambda: picture(9, 9) + bytes(MOST_BYTES), id="huge"),
    ],
)
def test_bytes_that_are_no_small_picture_are_left_out(qtbot: QtBot, data: Callable[[], bytes]) -> None:
    assert picture_of(image_of(data())) is None
    show_map(qtbot, plan_with(images=(image_of(data()),)))


def test_a_large_picture_is_read_smaller() -> None:
    image = picture_of(image_of(picture(MOST_SIDE_PX * 2, 10)))
    assert image is not None
    assert (image.width(), image.height()) == (MOST_SIDE_PX, 5)


def test_tooltips_and_clicks_of_seats_come_before_areas(qtbot: QtBot) -> None:
    plan = theatre()
    seat = plan.seats_of_row(3)[2]
    area = MapArea(shape="circle", x=float(plan.x[seat]), y=float(plan.y[seat]), width=90, kind="standing", text="Pit")
    widget: SeatMapWidget = show_map(qtbot, plan_with(areas=(area,)))
    widget.ensure_visible(seat)
    rest(qtbot, widget)
    with qtbot.waitSignal(widget.seat_clicked) as blocker:
        click(widget, widget.seat_rect(seat).center())
    assert blocker.args == [seat]
