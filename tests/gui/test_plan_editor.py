"""The plan editor under real hands: drawing, choosing, dragging, bending, typing, undoing, saving (R13, I3, I4)."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit

from app.actions.load_plan import begin_plan
from app.core.plan_draft import SeatMark, Selection
from app.core.plan_faults import FaultCode, faults_of
from app.core.plan_work import PlanWork
from app.journal.plan_draft_file import FILE_NAME
from app.screens.dialogs import AskDialog
from app.screens.plan_dialogs import EventsOnPlanDialog, NewPlanDialog, OpenPlanDialog
from app.screens.plan_editor import PlanEditorScreen
from app.showcase import Showcase
from backend_client.testing_plans import plan_id_of
from backend_client.wire import EventId, EventStatus, FieldProblem, PlanEvent, SeatRef, Venue
from tests.gui.conftest import QLoop, counter_of, rest, until
from widgets.plan_canvas import Tool
from widgets.plan_canvas.picking import Grip

VENUE = Venue(venue_id=UUID(int=21), name="Teatro da Trindade", zone="Europe/Lisbon")
LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@asynccontextmanager
async def editor_of(folder: Path, *, hall: bool = True) -> AsyncIterator[tuple[Showcase, PlanEditorScreen, PlanWork]]:
    """The editor of a supervisor, with an empty hall."""
    async with counter_of(folder, "sofia", open_event=False) as showcase:
        window = showcase.console.window
        QTest.keyClick(window, Qt.Key.Key_P, CTRL | SHIFT)
        editor = window.screens.plans
        await until(lambda: window.screens.current is editor, "the editor")
        await rest(showcase)
        if hall:
            begin_plan(showcase.console.desk, VENUE, "Small hall", "Parterre", "Stalls", "#0f34b4")
            await rest(showcase)
        yield showcase, editor, showcase.console.desk.store.plan_work


def drag(editor: PlanEditorScreen, start: QPointF, end: QPointF, keys: Qt.KeyboardModifier = NONE) -> None:
    """Press, move in steps, release."""
    canvas = editor.canvas
    QTest.mousePress(canvas, LEFT, keys, start.toPoint())
    for step in (0.3, 0.7, 1.0):
        at = start + (end - start) * step
        QTest.mouseMove(canvas, at.toPoint())
    QTest.mouseRelease(canvas, LEFT, keys, end.toPoint())


def px(editor: PlanEditorScreen, x: float, y: float) -> QPointF:
    return editor.canvas.view.to_px(x, y)


def draw(editor: PlanEditorScreen, tool: Tool, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Take a tool in hand with the mouse and draw with it, in plan units."""
    QTest.mouseClick(editor.tools.tools[tool], LEFT)
    drag(editor, px(editor, *start), px(editor, *end))


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
            assert editor.seats_page.row_label.hasFocus()
            assert editor.seats_page.count.text() == "11"

    qloop.run(scene())


def test_a_block_goes_on_with_the_letters_and_skips_i(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROWS, (100, 150), (300, 450))
            await rest(showcase)
            assert [row.label for row in work.draft.rows] == list("ABCDEFGHJKL")
            assert len(work.selection.rows) == 11
            assert faults_of(work.draft) == ()
            await until(lambda: not editor.faults.isVisible(), "no faults")
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
            page = editor.seats_page
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
            assert editor.seats_page.seat_number.hasFocus()
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
            assert editor.shape_page.text.hasFocus()
            QTest.keyClicks(editor.shape_page.text, "Bar")
            assert work.draft.shapes[1].text == "Bar"

    qloop.run(scene())


def test_faults_show_while_drawing_and_lead_to_their_seats(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (_showcase, editor, work):
            await until(lambda: editor.faults.count() == 3, "an empty plan's faults")
            assert not editor.save.isEnabled()
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await until(editor.save.isEnabled, "a right plan")
            row = work.draft.rows[0]
            seat = row.seats[2]
            at = editor.canvas.seat_px(seat.guid).toPoint()
            QTest.mouseClick(editor.canvas, LEFT, Qt.KeyboardModifier.AltModifier, at)
            editor.seats_page.seat_number.selectAll()
            QTest.keyClicks(editor.seats_page.seat_number, "1")
            await until(lambda: editor.faults.count() == 1, "a fault")
            assert editor.faults.item(0).text() == "✕ Seat A 1 is there twice (Parterre)"
            assert editor.canvas.scene.wrong == {row.seats[0].guid, seat.guid}
            assert not editor.save.isEnabled()
            work.choose(Selection())
            editor.faults.setCurrentRow(0)
            editor.faults.setFocus()
            QTest.keyClick(editor.faults, Qt.Key.Key_Return)
            assert work.selection.seats == {row.seats[0].guid, seat.guid}

    qloop.run(scene())


def test_saved_versions_are_opened_again(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await until(editor.save.isEnabled, "a right plan")
            editor.save.click()
            await until(lambda: not work.is_changed, "the first version")
            await rest(showcase)
            assert editor.banner.title == "Saved as version 1"
            draw(editor, Tool.ROW, (200, 230), (400, 230))
            await until(editor.save.isEnabled, "a change")
            QTest.keyClick(editor.canvas, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
            await until(lambda: editor.banner.title == "Saved as version 2", "the second version")
            await rest(showcase)
            stored = showcase.server.plans.plans[VENUE.venue_id, "Small hall"]
            assert [len(json.loads(data)["sections"][0]["rows"]) for data in stored] == [1, 2]
            editor.open_requested.emit()
            await until(lambda: isinstance(QApplication.activeModalWidget(), OpenPlanDialog), "the plans")
            dialog = QApplication.activeModalWidget()
            assert isinstance(dialog, OpenPlanDialog)
            await until(lambda: dialog.versions.count() == 2, "both versions")
            assert dialog.versions.item(1).text() == "Small hall · Version 1 · 11 seats"
            dialog.versions.setCurrentRow(1)
            dialog.yes.click()
            await until(lambda: len(work.draft.rows) == 1, "version 1")
            await rest(showcase)
            assert work.origin.version == 1
            assert work.origin.newest == 2

    qloop.run(scene())


def test_refusals_name_every_fault_and_keep_the_draft(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await until(editor.save.isEnabled, "a right plan")
            showcase.server.plans.faults = (
                FieldProblem(pointer="/plan/sections/0/name", message="odd"),
                FieldProblem(pointer="/plan/name", message="odder"),
            )
            editor.save.click()
            await until(editor.banner.isVisible, "the refusal")
            await rest(showcase)
            assert editor.banner.detail == "/plan/sections/0/name: odd\n/plan/name: odder"
            assert work.is_changed
            showcase.server.plans.faults = ()
            showcase.server.plans.plans[VENUE.venue_id, "Small hall"] = [b'{"name":"Small hall","sections":[]}']
            editor.save.click()
            await until(lambda: "Somebody else" in editor.banner.title, "the other author")
            await rest(showcase)
            assert work.is_changed

    qloop.run(scene())


def test_events_go_on_a_version_unless_seats_are_in_the_way(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            shelf = showcase.server.plans
            shelf.events["Small hall"] = [
                PlanEvent(
                    event_id=EventId(7), name="Fado", starts_at=datetime(2027, 1, 15, 20, tzinfo=UTC),
                    zone="Europe/Lisbon", status=EventStatus.ON_SALE, plan_version=0, settings_version=3,
                )
            ]  # fmt: skip
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await until(editor.save.isEnabled, "a right plan")
            editor.save.click()
            await until(lambda: editor.banner.detail == "1 event is on another version.", "the event")
            await rest(showcase)
            shelf.taken = (SeatRef(seat_no=4, section="Parterre", row="A", number="5"),)
            await put_event(editor)
            await until(lambda: "stays" in editor.banner.title, "the refusal")
            await rest(showcase)
            assert editor.banner.detail == "Parterre · Row A · Seat 5"
            assert [seat.number for seat in work.selection.seats_in(work.draft)] == ["5"]
            shelf.taken = ()
            await put_event(editor)
            await until(lambda: editor.banner.title == "1 event is on this version now", "the move")
            await rest(showcase)
            ((event_id, change),) = shelf.changes
            assert (event_id, change.plan_version, change.expected_version, change.reason) == (7, 1, 3, "new desk")

    qloop.run(scene())


async def put_event(editor: PlanEditorScreen) -> None:
    editor.events_requested.emit()
    await until(lambda: isinstance(QApplication.activeModalWidget(), EventsOnPlanDialog), "the events")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, EventsOnPlanDialog)
    assert not dialog.yes.isEnabled()
    dialog.all.click()
    QTest.keyClicks(dialog.reason, "new desk")
    dialog.yes.click()
    await until(lambda: QApplication.activeModalWidget() is None, "the dialog to close")


def test_a_draft_outlives_the_console(qloop: QLoop, tmp_path: Path) -> None:
    async def first() -> None:
        async with editor_of(tmp_path) as (_showcase, editor, _work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await until((tmp_path / FILE_NAME).exists, "the kept draft")
            draw(editor, Tool.ROW, (200, 230), (400, 230))  # closing keeps this at once

    async def second() -> None:
        async with counter_of(tmp_path, "sofia", open_event=False) as showcase:
            events = showcase.console.window.screens.events
            assert events.banner.title == "A plan that was not saved is kept"
        async with editor_of(tmp_path, hall=False) as (showcase, editor, work):
            assert [row.label for row in work.draft.rows] == ["A", "B"]
            assert work.is_changed
            assert work.origin.venue_name == VENUE.name
            assert editor.banner.title == "This plan was not saved when the console ended"
            await until(editor.save.isEnabled, "a right plan")
            editor.save.click()
            await until(lambda: not work.is_changed, "a version")
            await until(lambda: not (tmp_path / FILE_NAME).exists(), "the draft to be forgotten")
            await rest(showcase)

    qloop.run(first())
    qloop.run(second())


def test_a_damaged_draft_is_put_aside(qloop: QLoop, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"{")

    async def scene() -> None:
        async with editor_of(tmp_path, hall=False) as (_showcase, editor, work):
            assert editor.banner.title == "A plan that was not saved cannot be read"
            assert not work.is_changed
            assert [path.name for path in tmp_path.glob("plan-draft.*")] == ["plan-draft.damaged"]

    qloop.run(scene())


def test_files_go_out_and_come_in(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await rest(showcase)
            path = tmp_path / "hall.json"
            editor.file_save_requested.emit()
            await choose_file(path)
            await until(path.exists, "the file")
            await rest(showcase)
            seats = [seat for row in work.draft.rows for seat in row.seats]
            work.undo()
            editor.file_open_requested.emit()
            await until(lambda: isinstance(QApplication.activeModalWidget(), AskDialog), "the question")
            question = QApplication.activeModalWidget()
            assert isinstance(question, AskDialog)
            question.yes.click()
            await choose_file(path)
            await until(lambda: work.draft.seat_count == 11, "the plan of the file")
            await rest(showcase)
            assert [seat.guid for row in work.draft.rows for seat in row.seats] == [seat.guid for seat in seats]
            (tmp_path / "other.json").write_text('{"taquilla_plan": 1, "lighting": []}')
            work.note_saved(work.draft, 1)
            editor.file_open_requested.emit()
            await choose_file(tmp_path / "other.json")
            await until(lambda: editor.banner.isVisible() and "no seating plan" in editor.banner.title, "the refusal")
            await rest(showcase)
            assert "unknown field `lighting`" in editor.banner.detail
            assert work.draft.seat_count == 11

    qloop.run(scene())


async def choose_file(path: Path) -> None:
    await until(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog), "the file dialog")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QFileDialog)
    typed = dialog.findChild(QLineEdit, "fileNameEdit")
    assert isinstance(typed, QLineEdit)
    typed.setText(str(path))
    QTest.keyClick(typed, Qt.Key.Key_Return)
    await until(lambda: QApplication.activeModalWidget() is not dialog, "the file dialog to close")


def test_a_new_plan_begins_with_a_section_and_a_category(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path, hall=False) as (showcase, editor, work):
            editor.new_requested.emit()
            await until(lambda: isinstance(QApplication.activeModalWidget(), NewPlanDialog), "the question")
            dialog = QApplication.activeModalWidget()
            assert isinstance(dialog, NewPlanDialog)
            assert not dialog.yes.isEnabled()
            QTest.keyClicks(dialog.name, "Studio")
            QTest.keyClick(dialog.name, Qt.Key.Key_Return)
            await until(lambda: work.draft.name == "Studio", "the plan")
            await rest(showcase)
            assert work.origin.venue_id == VENUE.venue_id
            assert [section.name for section in work.draft.sections] == ["Section 1"]
            editor.plan_page.add_category.click()
            QTest.keyClicks(editor.plan_page.categories[-1].name, "Balcony")
            assert [category.name for category in work.draft.categories] == ["Category 1", "Balcony"]
            editor.plan_page.categories[0].remove.click()
            assert [category.name for category in work.draft.categories] == ["Balcony"]
            editor.plan_page.width_field.setFocus()
            editor.plan_page.width_field.selectAll()
            QTest.keyClicks(editor.plan_page.width_field, "900")
            QTest.keyClick(editor.plan_page.width_field, Qt.Key.Key_Return)
            assert work.draft.width == 900
            assert FaultCode.NO_SEATS in {fault.code for fault in faults_of(work.draft)}
            assert plan_id_of("Studio") not in {key[0] for key in showcase.server.plans.plans}

    qloop.run(scene())


def test_a_clerk_finds_no_way_in(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "carla", open_event=False) as showcase:
            window = showcase.console.window
            QTest.keyClick(window, Qt.Key.Key_P, CTRL | SHIFT)
            window.plans_requested.emit()
            await rest(showcase)
            assert window.screens.current is window.screens.events

    qloop.run(scene())


def test_the_counter_goes_on_behind_the_editor_and_a_language_switch_keeps_the_work(
    qloop: QLoop, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "sofia") as showcase:
            window, store = showcase.console.window, showcase.console.desk.store
            window.plans_requested.emit()
            await until(lambda: window.screens.current is window.screens.plans, "the editor")
            begin_plan(showcase.console.desk, VENUE, "Small hall", "Parterre", "Stalls", "#0f34b4")
            draw(window.screens.plans, Tool.ROW, (200, 200), (400, 200))
            showcase.server.sell_elsewhere(0)
            seats = store.seat_map
            assert seats is not None
            await until(lambda: seats.states[0] & 7, "a sale elsewhere")
            window.language_chosen.emit("ar")
            await rest(showcase)
            editor = window.screens.plans
            assert window.screens.current is editor
            assert "الصف A" in editor.seats_page.title.text()
            draw(editor, Tool.ROW, (200, 240), (400, 240))
            assert len(store.plan_work.draft.rows) == 2
            editor.back.click()
            await until(lambda: window.screens.current is window.screens.counter, "the counter")
            await rest(showcase)

    qloop.run(scene())
