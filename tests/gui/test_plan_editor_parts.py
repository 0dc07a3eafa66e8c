"""What a hall has besides rows, under real hands: tables, standing places, floors, pictures, neighbours (R13)."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest

from app.core.plan_draft import Selection
from app.core.plan_faults import FaultCode, faults_of
from app.screens.plan_hall_boxes import FloorLine
from tests.gui.conftest import QLoop, rest, until
from tests.gui.plan_stage import CTRL, LEFT, NONE, choose_file, drag, draw, editor_of, px
from widgets.plan_canvas import Tool
from widgets.plan_canvas.picking import Grip


def choose_in(box: object, data: object) -> None:
    """Choose an entry of a choice box as a hand does."""
    place = box.findData(data)  # type: ignore[attr-defined]
    assert place >= 0
    box.setCurrentIndex(place)  # type: ignore[attr-defined]
    box.activated.emit(place)  # type: ignore[attr-defined]


def test_a_table_is_drawn_filled_turned_into_a_booth_and_back(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.TABLE, (200, 200), (300, 260))
            await rest(showcase)
            (row,) = work.draft.rows
            assert row.table is not None
            assert (row.label, row.table.kind, row.table.width, row.table.height) == ("T1", "table", 100, 60)
            assert work.selection == Selection(frozenset({row.row_id}))
            page = editor.side.seats_page
            assert page.title.text() == "Parterre · Table T1"
            page.count.setFocus()
            page.count.selectAll()
            QTest.keyClicks(page.count, "8")
            QTest.keyClick(page.count, Qt.Key.Key_Return)
            assert [seat.number for seat in work.draft.rows[0].seats] == list("12345678")
            first = work.draft.rows[0].seats[0].guid
            choose_in(page.table.form, "rectangle")
            choose_in(page.table.kind, "booth")
            booth = work.draft.rows[0]
            assert [(seat.guid, seat.place) for seat in booth.seats] == [(first, (250.0, 230.0))]
            for _step in range(2):
                work.undo()
            assert len(work.draft.rows[0].seats) == 8
            corner = editor.canvas.handle_px(Grip.CORNER)
            assert corner is not None
            drag(editor, corner, corner + px(editor, 50, 20) - px(editor, 0, 0))
            wider = work.draft.rows[0].table
            assert wider is not None
            assert (wider.x, wider.y, wider.width, wider.height) == (275, 240, 150, 80)
            assert faults_of(work.draft) == ()

    qloop.run(scene())


def test_a_click_is_enough_for_a_table_and_a_booth(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (_showcase, editor, work):
            for tool, x in ((Tool.TABLE, 200), (Tool.BOOTH, 400)):
                QTest.mouseClick(editor.tools.tools[tool], LEFT)
                QTest.mouseClick(editor.canvas, LEFT, NONE, px(editor, x, 300).toPoint())
            table, booth = work.draft.rows
            assert (table.label, booth.label) == ("T1", "B1")
            assert len(table.seats) > 3
            assert len(booth.seats) == 1
            # A press on the table itself, where no seat is, takes it and moves it with its seats.
            middle = px(editor, 200, 300)
            drag(editor, middle, middle + px(editor, 40, 0) - px(editor, 0, 0))
            moved = work.draft.rows[0]
            assert moved.table is not None
            assert moved.table.x - 200 == pytest.approx(moved.seats[0].x - table.seats[0].x)
            assert moved.table.x > 230

    qloop.run(scene())


def test_standing_places_are_named_counted_and_priced(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (_showcase, editor, work):
            draw(editor, Tool.STANDING, (200, 300), (400, 400))
            (area,) = work.draft.standing
            assert (area.name, area.capacity, area.area.width, area.area.height) == ("Standing 1", 50, 200, 100)
            page = editor.side.shape_page
            assert page.name.hasFocus()
            QTest.keyClicks(page.name, "Pit")
            page.capacity.setFocus()
            page.capacity.selectAll()
            QTest.keyClicks(page.capacity, "120")
            QTest.keyClick(page.capacity, Qt.Key.Key_Return)
            assert [(one.name, one.capacity) for one in work.draft.standing] == [("Pit", 120)]
            assert "120 standing places" in editor._standing.text()
            choose_in(page.form, "ellipse")
            assert (work.draft.standing[0].area.shape, work.draft.standing[0].area.x) == ("ellipse", 300)
            page.name.clear()
            page.name.textEdited.emit("")
            await until(lambda: FaultCode.STANDING_UNNAMED in {fault.code for fault in editor._faults}, "the fault")
            assert "Standing places have no name" in " ".join(
                editor.side.faults.item(row).text() for row in range(editor.side.faults.count())
            )
            QTest.keyClick(editor.canvas, Qt.Key.Key_D, CTRL)
            assert len(work.draft.standing) == 2

    qloop.run(scene())


def test_floors_are_added_drawn_on_and_things_move_between_them(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (300, 200))
            draw(editor, Tool.ROW, (200, 240), (300, 240))
            draw(editor, Tool.STAGE, (200, 50), (400, 100))
            work.choose(Selection())
            assert not editor.floors.isVisible()
            editor.side.plan_page.floors.add.click()
            await rest(showcase)
            assert work.draft.floors == ("Floor 1", "Floor 2")
            assert (work.floor_no, editor.floors.isVisible(), editor.floors.currentIndex()) == (1, True, 1)
            assert (editor.canvas.scene.rows, editor.canvas.scene.shapes) == ((), ())
            line: FloorLine = editor.side.plan_page.floors.lines[1]
            assert line.name.hasFocus()
            QTest.keyClicks(line.name, "Balcony")
            assert editor.floors.tabText(1) == "Balcony"
            assert line.remove.isEnabled()
            draw(editor, Tool.ROW, (200, 200), (300, 200))  # where a row of the floor below is
            assert [section.floor_no for section in work.draft.sections] == [0, 1]
            assert not faults_of(work.draft)
            editor.canvas.setFocus()
            QTest.keyClick(editor.canvas, Qt.Key.Key_PageDown, CTRL)
            assert (work.floor_no, len(editor.canvas.scene.rows)) == (0, 2)
            work.choose(Selection(frozenset({work.draft.rows[1].row_id})))
            choose_in(editor.side.seats_page.floor.floor, 1)
            assert work.floor_no == 1  # the row that moved is followed
            assert len(editor.canvas.scene.rows) == 2
            work.undo()
            assert (work.floor_no, len(editor.canvas.scene.rows)) == (0, 2)
            work.choose(Selection(shapes=frozenset({work.draft.shapes[0].shape_id})))
            choose_in(editor.side.shape_page.floor.floor, 1)
            assert work.draft.shapes[0].floor_no == 1
            QTest.mouseClick(editor.floors, LEFT, NONE, editor.floors.tabRect(0).center())
            assert (work.floor_no, bool(work.selection)) == (0, False)

    qloop.run(scene())


def test_a_fault_on_another_floor_shows_that_floor(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (_showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (300, 200))
            work.choose(Selection())
            editor.side.plan_page.floors.add.click()
            draw(editor, Tool.ROW, (200, 200), (300, 200))
            seats = work.draft.rows[1].seats
            work.choose(Selection(seats=frozenset({seats[1].guid})))
            editor.side.seats_page.seat_number.selectAll()
            QTest.keyClicks(editor.side.seats_page.seat_number, "1")
            work.show_floor(0)
            await until(lambda: editor.side.faults.count() == 1, "the fault")
            editor.side.faults.itemClicked.emit(editor.side.faults.item(0))
            assert (work.floor_no, len(work.selection.seats)) == (1, 2)

    qloop.run(scene())


def test_a_picture_lies_under_the_drawing(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            picture = QImage(80, 40, QImage.Format.Format_RGB32)
            picture.fill(QColor("#cc2200"))
            assert picture.save(str(tmp_path / "hall.png"))
            (tmp_path / "no.png").write_bytes(b"GIF89a")
            editor.side.plan_page.pictures.add.click()
            await choose_file(tmp_path / "no.png")
            await until(lambda: editor.banner.title == "This picture cannot be put under the drawing", "the refusal")
            await rest(showcase)
            assert not work.draft.pictures
            editor.side.plan_page.pictures.add.click()
            await choose_file(tmp_path / "hall.png")
            await until(lambda: len(work.draft.pictures) == 1, "the picture")
            await rest(showcase)
            (one,) = work.draft.pictures
            assert (one.x, one.y, one.width, one.height) == (0, 100, 800, 400)
            work.choose(Selection())
            shown = editor.canvas.grab().toImage()
            at = px(editor, 400, 300).toPoint() * shown.devicePixelRatio()
            assert shown.pixelColor(at).red() > shown.pixelColor(at).blue() + 60
            QTest.mouseClick(editor.canvas, LEFT, NONE, px(editor, 400, 300).toPoint())
            assert not work.selection  # a press on it begins a frame
            QTest.mouseClick(editor.canvas, LEFT, Qt.KeyboardModifier.AltModifier, px(editor, 400, 300).toPoint())
            assert work.selection == Selection(shapes=frozenset({one.picture_id}))
            corner = editor.canvas.handle_px(Grip.CORNER)
            assert corner is not None
            drag(editor, corner, corner - QPointF(px(editor, 400, 0) - px(editor, 0, 0)))
            smaller = work.draft.pictures[0]
            assert (smaller.width, smaller.height) == (400, 200)
            QTest.keyClick(editor.canvas, Qt.Key.Key_Delete)
            assert not work.draft.pictures
            work.undo()
            assert [*work.draft.pictures] == [smaller]

    qloop.run(scene())


def test_where_people_look_is_shown_and_set(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (_showcase, editor, work):
            draw(editor, Tool.STAGE, (200, 50), (400, 100))
            work.choose(Selection())
            box = editor.side.plan_page.focus
            assert (box.x_field.text(), box.y_field.text()) == ("300", "75")
            assert box.words.text() == "Found: the middle of the stage that the drawing names."
            assert editor.canvas.scene.focus is not None
            assert editor.canvas.scene.focus.is_derived
            editor.canvas.setFocus()
            QTest.keyClick(editor.canvas, Qt.Key.Key_F)
            QTest.mouseClick(editor.canvas, LEFT, NONE, px(editor, 500, 90).toPoint())
            assert [work.draft.focal] == [(500, 90)]
            assert box.words.text() == "As somebody has set it."
            box.derive.click()
            assert not work.draft.focal
            work.undo()
            assert [work.draft.focal] == [(500, 90)]

    qloop.run(scene())


def test_neighbours_are_shown_and_an_aisle_is_opened_and_closed(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (_showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (380, 200))
            row = work.draft.rows[0]
            editor.canvas.setFocus()
            QTest.keyClick(editor.canvas, Qt.Key.Key_N)
            assert editor.tools.neighbours.isChecked()
            assert editor.canvas.scene.aisles == {}
            box = editor.side.seats_page.neighbours
            assert box.words.text() == "All seats of a row sit side by side."
            work.choose(Selection(seats=frozenset({row.seats[4].guid})))
            box.open.click()
            assert editor.canvas.scene.aisles == {row.row_id: (4,)}
            assert box.words.text() == "Side by side: 4 + 6"
            assert not box.open.isVisible()
            work.choose(Selection(frozenset({row.row_id})))
            box.close_up.click()
            assert work.draft.rows[0].seats == row.seats
            # Two seats that change places are neighbours of others until somebody has them ordered.
            work.choose(Selection(seats=frozenset({row.seats[0].guid})))
            QTest.keyClick(editor.canvas, Qt.Key.Key_Right, CTRL)
            for _step in range(8):
                QTest.keyClick(editor.canvas, Qt.Key.Key_Right, CTRL)
            work.choose(Selection(frozenset({row.row_id})))
            box.order.click()
            assert [seat.number for seat in work.draft.rows[0].seats][:4] == ["2", "3", "1", "4"]

    qloop.run(scene())
