"""What the booking system refuses, in the plan editor: a list that leads to each thing, and the way out (I3, I4)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.plan_draft import Selection
from app.core.plan_work import PlanWork
from app.screens.plan_editor import PlanEditorScreen
from app.showcase import Showcase
from backend_client.testing import Fault
from backend_client.wire import EventId, EventStatus, FieldProblem, PlanEvent, SeatRef
from tests.gui.conftest import QLoop, rest, until
from tests.gui.plan_stage import VENUE, draw, editor_of, put_event
from widgets.plan_canvas import Tool

FADO = PlanEvent(
    event_id=EventId(7), name="Fado", starts_at=datetime(2027, 1, 15, 20, tzinfo=UTC), zone="Europe/Lisbon",
    status=EventStatus.ON_SALE, plan_version=1, settings_version=3,
)  # fmt: skip


async def saved(editor: PlanEditorScreen, work: PlanWork, showcase: Showcase) -> None:
    await until(editor.save.isEnabled, "a right plan")
    editor.save.click()
    await until(lambda: not work.is_changed, "the version")
    await rest(showcase)


def test_sold_seats_that_are_gone_are_listed_shown_and_put_back(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            shelf = showcase.server.plans
            shelf.events["Small hall"] = [FADO]
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await saved(editor, work, showcase)
            row = work.draft.rows[0]
            work.choose(Selection(seats=frozenset({row.seats[4].guid, row.seats[5].guid})))
            QTest.keyClick(editor.canvas, Qt.Key.Key_Delete)
            await saved(editor, work, showcase)
            assert work.origin.version == 2
            shelf.taken = (
                SeatRef(seat_no=4, section="Parterre", row="A", number="5"),
                SeatRef(seat_no=7, section="Parterre", row="A", number="8"),
            )
            await put_event(editor)
            refusals = editor.side.refusals
            await until(refusals.isVisible, "the list")
            await rest(showcase)
            assert refusals.title.text() == "2 seats are in the way"
            words = [refusals.entries.item(number).text() for number in range(2)]
            assert words == ["Parterre · Row A · Seat 5 (not in this plan)", "Parterre · Row A · Seat 8"]
            assert editor.window().focusWidget() is refusals.entries
            assert [seat.number for seat in editor.canvas.scene.ghosts] == ["5"]
            QTest.keyClick(refusals.entries, Qt.Key.Key_Down)
            QTest.keyClick(refusals.entries, Qt.Key.Key_Return)
            assert work.selection == Selection(seats=frozenset({row.seats[7].guid}))
            editor.canvas.view.pan(4000, 4000)
            refusals.entries.itemClicked.emit(refusals.entries.item(0))
            shown = editor.canvas.view.to_px(*row.seats[4].place)
            assert editor.canvas.rect().contains(shown.toPoint())
            refusals.restore.click()
            assert [seat.guid for seat in work.draft.rows[0].seats] == [
                seat.guid for seat in row.seats if seat.guid != row.seats[5].guid
            ]
            assert work.draft.rows[0].seats[4] == row.seats[4]
            assert editor.canvas.scene.ghosts == ()
            assert not refusals.restore.isVisible()
            work.undo()
            assert refusals.restore.isVisible()
            refusals.close_list.click()
            assert not refusals.isVisible()

    qloop.run(scene())


def test_a_seat_in_the_way_that_was_renamed_and_moved_is_found_by_who_it_is(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            shelf = showcase.server.plans
            shelf.events["Small hall"] = [FADO]
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await saved(editor, work, showcase)
            seat = work.draft.rows[0].seats[4]
            work.choose(Selection(seats=frozenset({seat.guid})))
            editor.side.seats_page.seat_number.selectAll()
            QTest.keyClicks(editor.side.seats_page.seat_number, "99")
            await saved(editor, work, showcase)
            work.choose(Selection())
            shelf.taken = (SeatRef(seat_no=4, section="Parterre", row="A", number="5"),)  # as version 1 calls it
            await put_event(editor)
            await until(editor.side.refusals.isVisible, "the list")
            await rest(showcase)
            assert work.selection == Selection(seats=frozenset({seat.guid}))
            assert not work.may_restore_taken

    qloop.run(scene())


def test_a_refused_plan_lists_each_fault_and_leads_to_it(qloop: QLoop, tmp_path: Path) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            draw(editor, Tool.STANDING, (200, 300), (400, 400))
            showcase.server.plans.faults = (
                FieldProblem(pointer="/plan/sections/0/rows/0/seats/3/number", message="odd"),
                FieldProblem(pointer="/plan/standing/0/name", message="odder"),
                FieldProblem(pointer="/plan/name", message="oddest"),
            )
            await until(editor.save.isEnabled, "a right plan")
            editor.save.click()
            refusals = editor.side.refusals
            await until(refusals.isVisible, "the list")
            await rest(showcase)
            assert refusals.title.text() == "3 things were refused"
            refusals.entries.itemActivated.emit(refusals.entries.item(0))
            assert work.selection == Selection(seats=frozenset({work.draft.rows[0].seats[3].guid}))
            refusals.entries.itemActivated.emit(refusals.entries.item(1))
            assert work.selection == Selection(shapes=frozenset({work.draft.standing[0].area.shape_id}))
            refusals.entries.itemActivated.emit(refusals.entries.item(2))
            assert not work.selection
            assert work.is_changed
            showcase.server.plans.faults = ()
            await saved(editor, work, showcase)
            assert not refusals.isVisible()

    qloop.run(scene())


def test_the_booking_system_away_loses_nothing_and_a_lost_answer_stores_one_version(
    qloop: QLoop, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await until(editor.save.isEnabled, "a right plan")
            showcase.server.fail(Fault.UNREACHABLE, "/plans", times=20)
            editor.save.click()
            await until(lambda: editor.save.isEnabled() and "save-plan" not in showcase.console.deeds.running,
                        "the call to give up")  # fmt: skip
            await rest(showcase)
            assert work.is_changed
            assert showcase.server.plans.plans == {}
            draft = work.draft
            showcase.server.heal()
            showcase.server.fail(Fault.ANSWER_LOST, "/plans")
            editor.save.click()
            await until(lambda: not work.is_changed, "the version")
            await rest(showcase)
            assert work.draft is draft
            stored = showcase.server.plans.plans[VENUE.venue_id, "Small hall"]
            assert [len(json.loads(data)["sections"][0]["rows"]) for data in stored] == [1]

    qloop.run(scene())


def test_what_was_moved_and_what_was_not_tried_is_told_beside_the_event_that_stays(
    qloop: QLoop, tmp_path: Path
) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            shelf = showcase.server.plans
            later = replace(FADO, event_id=EventId(int(FADO.event_id) + 1), name="Second night")
            shelf.events["Small hall"] = [FADO, later]
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await saved(editor, work, showcase)
            draw(editor, Tool.ROW, (200, 300), (400, 300))
            await saved(editor, work, showcase)
            shelf.taken = (SeatRef(seat_no=4, section="Parterre", row="A", number="5"),)
            await put_event(editor)
            refusals = editor.side.refusals
            await until(refusals.isVisible, "the list")
            await rest(showcase)
            assert editor.banner.title == f"{FADO.name} stays on its version: seats are in the way"
            assert editor.banner.detail.endswith("1 more was not tried")
            shelf.taken = ()
            draw(editor, Tool.ROW, (200, 400), (400, 400))
            await saved(editor, work, showcase)
            assert not refusals.isVisible()  # what was in the way was said of the version before

    qloop.run(scene())
