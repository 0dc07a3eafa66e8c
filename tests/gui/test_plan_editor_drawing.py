"""The plan editor under real hands: drawing, choosing, dragging, bending, typing, undoing (R13)."""

from __future__ import annotations

import math
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from app.core.plan_draft import SeatMark, Selection
from app.core.plan_faults import faults_of
from tests.gui.conftest import QLoop, rest, until
from tests.gui.plan_stage import LEFT, NONE, drag, draw, editor_of, px
from widgets.plan_canvas import Tool
from widgets.plan_canvas.picking import Grip


def test_a_drawn_row_is_numbered_named_and_chosen(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await rest(showcase)
            (row,) = work.draft.rows
            assert row.label == "A"
            assert [seat.number for seat in row.seats] == [str(number) for number in range(1, 12)]
            assert (row.seats[0].place, row.seats[-1].place) == ((200, 200), (400, 200))
            assert work.selection == Selection(frozenset({row.row_id}))
            assert editor.canvas.tool is Tool.CHOOSE
            assert editor.side.seats_page.row_label.hasFocus()
            assert editor.side.seats_page.count.text() == "11"

    qloop.run(scene())


def test_a_block_goes_on_with_the_letters_and_skips_i(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROWS, (100, 150), (300, 450))
            await rest(showcase)
            assert [row.label for row in work.draft.rows] == list("ABCDEFGHJKL")
            assert len(work.selection.rows) == 11
            assert faults_of(work.draft) == ()
            await until(lambda: not editor.side.faults.isVisible(), "no faults")
            assert editor.save.isEnabled()

    qloop.run(scene())


def test_a_row_is_dragged_in_line_and_undo_puts_it_back(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            draw(editor, Tool.ROW, (250, 300), (450, 300))
            await rest(showcase)
            moved = work.draft.rows[1]
            seat = QPointF(editor.canvas.seat_px(moved.seats[3].guid))
            # Nearly below the first row: the guide takes the rest of the way.
            drag(editor, seat, seat + px(editor, 202, 330) - px(editor, 250, 300))
            assert work.draft.rows[1].seats[0].place == (200.0, 330.0)
            editor.canvas.setFocus()
            QTest.keyClick(editor.canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
            assert work.draft.rows[1] == moved
            QTest.keyClick(
                editor.canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
            )
            assert work.draft.rows[1].seats[0].place == (200.0, 330.0)

    qloop.run(scene())


def test_handles_bend_and_lengthen_a_row(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await rest(showcase)
            middle = editor.canvas.handle_px(Grip.MIDDLE)
            assert middle is not None
            drag(editor, middle, middle + px(editor, 0, 30) - px(editor, 0, 0))
            line = work.draft.rows[0].line
            assert line is not None
            assert math.isclose(line.bend, 30, abs_tol=1.5)
            end = editor.canvas.handle_px(Grip.END)
            assert end is not None
            drag(editor, end, end + px(editor, 100, 0) - px(editor, 0, 0))
            longer = work.draft.rows[0].line
            assert longer is not None
            assert longer.end == (500.0, 200.0)
            assert math.isclose(longer.bend, line.bend * 1.5, abs_tol=0.5)

    qloop.run(scene())


def test_numbering_marks_and_category_from_the_side(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (300, 200))
            await rest(showcase)
            page = editor.side.seats_page
            box = page.numbering
            box.counting.setCurrentIndex(box.counting.findData("odd"))
            box.counting.activated.emit(box.counting.currentIndex())
            box.backwards.click()
            assert box.preview.text() == "11 9 7 5 3 1"
            box.apply.click()
            assert [seat.number for seat in work.draft.rows[0].seats] == ["11", "9", "7", "5", "3", "1"]
            page.marks[SeatMark.COMPANION].click()
            assert all(seat.marks == SeatMark.COMPANION for seat in work.draft.rows[0].seats)
            page.count.setFocus()
            QTest.keyClick(page.count, Qt.Key.Key_Up)
            assert [seat.number for seat in work.draft.rows[0].seats] == ["13", "11", "9", "7", "5", "3", "1"]
            page.row_label.setFocus()
            page.row_label.selectAll()
            QTest.keyClicks(page.row_label, "Box 1")
            assert work.draft.rows[0].label == "Box 1"
            work.undo()
            assert work.draft.rows[0].label == "A"  # typing is one step

    qloop.run(scene())


def test_the_keyboard_alone_draws_and_edits(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            canvas = editor.canvas
            canvas.setFocus()
            QTest.keyClick(canvas, Qt.Key.Key_B)
            assert canvas.tool is Tool.ROWS
            QTest.keyClick(canvas, Qt.Key.Key_Return)
            await rest(showcase)
            assert len(work.draft.rows) > 3
            canvas.setFocus()
            QTest.keyClick(canvas, Qt.Key.Key_Escape)
            assert not work.selection
            QTest.keyClick(canvas, Qt.Key.Key_Down)
            assert work.selection == Selection(frozenset({work.draft.rows[0].row_id}))
            QTest.keyClick(canvas, Qt.Key.Key_Right)
            QTest.keyClick(canvas, Qt.Key.Key_Right)
            assert work.selection == Selection(seats=frozenset({work.draft.rows[0].seats[1].guid}))
            assert canvas.accessibleDescription() == "Parterre · Row A · Seat 2 · Stalls"
            before = work.draft.rows[0].seats[1]
            QTest.keyClick(canvas, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
            assert work.draft.rows[0].seats[1].x == before.x - 5
            QTest.keyClick(canvas, Qt.Key.Key_Return)
            assert editor.side.seats_page.seat_number.hasFocus()
            canvas.setFocus()
            QTest.keyClick(canvas, Qt.Key.Key_Delete)
            assert before.guid not in {seat.guid for seat in work.draft.rows[0].seats}
            QTest.keyClick(canvas, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
            assert len(work.selection.rows) == len(work.draft.rows)

    qloop.run(scene())


def test_a_frame_chooses_and_a_click_with_alt_takes_one_seat(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROWS, (200, 200), (300, 260))
            await rest(showcase)
            drag(editor, px(editor, 150, 180), px(editor, 400, 215))
            assert work.selection == Selection(frozenset({work.draft.rows[0].row_id}))
            drag(editor, px(editor, 150, 180), px(editor, 250, 310))
            chosen = work.selection.seats_in(work.draft)
            assert {seat.number for seat in chosen} == {"1", "2", "3"}
            seat = work.draft.rows[1].seats[4]
            at = editor.canvas.seat_px(seat.guid).toPoint()
            QTest.mouseClick(editor.canvas, LEFT, Qt.KeyboardModifier.AltModifier, at)
            assert work.selection == Selection(seats=frozenset({seat.guid}))
            QTest.mouseClick(editor.canvas, LEFT, NONE, QPoint(3, 3))
            assert not work.selection

    qloop.run(scene())


def test_shapes_are_drawn_worded_and_resized(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.STAGE, (200, 50), (400, 100))
            await rest(showcase)
            (stage,) = work.draft.shapes
            assert (stage.x, stage.y, stage.width, stage.height, stage.text) == (200, 50, 200, 50, "Stage")
            corner = editor.canvas.handle_px(Grip.CORNER)
            assert corner is not None
            drag(editor, corner, corner + px(editor, 50, 20) - px(editor, 0, 0))
            assert (work.draft.shapes[0].width, work.draft.shapes[0].height) == (250, 70)
            draw(editor, Tool.TEXT, (500, 500), (500, 500))
            await rest(showcase)
            assert editor.side.shape_page.text.hasFocus()
            QTest.keyClicks(editor.side.shape_page.text, "Bar")
            assert work.draft.shapes[1].text == "Bar"

    qloop.run(scene())
