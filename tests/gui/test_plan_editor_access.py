"""Who gets into the plan editor, and what goes on behind it (R13)."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.actions.load_plan import begin_plan
from tests.gui.conftest import QLoop, counter_of, rest, until
from tests.gui.plan_stage import CTRL, SHIFT, VENUE, draw
from widgets.plan_canvas import Tool


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
            assert "الصف A" in editor.side.seats_page.title.text()
            draw(editor, Tool.ROW, (200, 240), (400, 240))
            assert len(store.plan_work.draft.rows) == 2
            editor.back.click()
            await until(lambda: window.screens.current is window.screens.counter, "the counter")
            await rest(showcase)

    qloop.run(scene())
