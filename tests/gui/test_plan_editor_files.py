"""Files of the plan editor, and the draft that outlives the console (R13)."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.journal.plan_draft_file import FILE_NAME
from app.screens.dialogs import AskDialog
from tests.gui.conftest import QLoop, counter_of, rest, until
from tests.gui.plan_stage import VENUE, choose_file, dialog_of, draw, editor_of
from widgets.plan_canvas import Tool


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


def test_closing_with_a_draft_that_the_disk_does_not_take_is_asked_about(
    qloop: QLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        async with editor_of(tmp_path) as (showcase, editor, work):
            draw(editor, Tool.ROW, (200, 200), (400, 200))
            await until((tmp_path / FILE_NAME).exists, "the kept draft")
            draw(editor, Tool.ROW, (200, 230), (400, 230))
            kept = showcase.console.desk.plan_drafts
            assert kept is not None
            write = type(kept).write

            async def full(_self: object, _data: bytes) -> None:
                raise OSError(28, "No space left on device")

            monkeypatch.setattr(type(kept), "write", full)
            closing: list[bool] = []
            showcase.console.bindings.closing.connect(lambda: closing.append(True))
            showcase.console.window.close()
            question = await dialog_of(AskDialog, "the question")
            question.no.click()
            await rest(showcase)
            assert not closing
            assert showcase.console.window.isVisible()
            assert len(work.draft.rows) == 2
            monkeypatch.setattr(type(kept), "write", write)
            showcase.console.window.close()
            await until(lambda: bool(closing), "the end")
            await rest(showcase)

    qloop.run(scene())


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
