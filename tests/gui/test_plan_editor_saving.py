"""The plan editor and the booking system: live faults, versions, refusals, events, new plans (R13, I3, I4)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core.plan_draft import Selection
from app.core.plan_faults import FaultCode, faults_of
from app.screens.plan_dialogs import NewPlanDialog, OpenPlanDialog
from backend_client.testing_plans import plan_id_of
from backend_client.wire import EventId, EventStatus, FieldProblem, PlanEvent, SeatRef
from tests.gui.conftest import QLoop, rest, until
from tests.gui.plan_stage import LEFT, VENUE, draw, editor_of, put_event
from widgets.plan_canvas import Tool


def test_faults_show_while_drawing_and_lead_to_their_seats(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (_showcase, editor, work):
            await until(lambda: editor.side.faults.count() == 3, "an empty plan's faults")
            assert not editor.save.isEnabled()
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await until(editor.save.isEnabled, "a right plan")
            row = work.draft.rows[0]
            seat = row.seats[2]
            at = editor.canvas.seat_px(seat.guid).toPoint()
            QTest.mouseClick(editor.canvas, LEFT, Qt.KeyboardModifier.AltModifier, at)
            editor.side.seats_page.seat_number.selectAll()
            QTest.keyClicks(editor.side.seats_page.seat_number, "1")
            await until(lambda: editor.side.faults.count() == 1, "a fault")
            assert editor.side.faults.item(0).text() == "✕ Seat A 1 is there twice (Parterre)"
            assert editor.canvas.scene.wrong == {row.seats[0].guid, seat.guid}
            assert not editor.save.isEnabled()
            work.choose(Selection())
            editor.side.faults.setCurrentRow(0)
            editor.side.faults.setFocus()
            QTest.keyClick(editor.side.faults, Qt.Key.Key_Return)
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
            editor.side.plan_page.add_category.click()
            QTest.keyClicks(editor.side.plan_page.categories[-1].name, "Balcony")
            assert [category.name for category in work.draft.categories] == ["Category 1", "Balcony"]
            editor.side.plan_page.categories[0].remove.click()
            assert [category.name for category in work.draft.categories] == ["Balcony"]
            editor.side.plan_page.width_field.setFocus()
            editor.side.plan_page.width_field.selectAll()
            QTest.keyClicks(editor.side.plan_page.width_field, "900")
            QTest.keyClick(editor.side.plan_page.width_field, Qt.Key.Key_Return)
            assert work.draft.width == 900
            assert FaultCode.NO_SEATS in {fault.code for fault in faults_of(work.draft)}
            assert plan_id_of("Studio") not in {key[0] for key in showcase.server.plans.plans}

    qloop.run(scene())
