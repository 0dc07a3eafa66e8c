"""The plan editor of a supervisor with an empty hall, and the hands of whoever draws in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit

from app.actions.load_plan import begin_plan
from app.core.plan_work import PlanWork
from app.screens.plan_dialogs import EventsOnPlanDialog
from app.screens.plan_editor import PlanEditorScreen
from app.showcase import Showcase
from backend_client.wire import Venue
from tests.gui.conftest import counter_of, rest, until
from widgets.plan_canvas import Tool

VENUE = Venue(venue_id=UUID(int=21), name="Teatro da Trindade", zone="Europe/Lisbon")
LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
D = TypeVar("D", bound=QDialog)


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


async def dialog_of(kind: type[D], what: str) -> D:
    """The dialog of this kind, once it is open."""
    await until(lambda: isinstance(QApplication.activeModalWidget(), kind), what)
    found = QApplication.activeModalWidget()
    assert isinstance(found, kind)
    return found


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


async def choose_file(path: Path) -> None:
    await until(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog), "the file dialog")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QFileDialog)
    typed = dialog.findChild(QLineEdit, "fileNameEdit")
    assert isinstance(typed, QLineEdit)
    typed.setText(str(path))
    QTest.keyClick(typed, Qt.Key.Key_Return)
    await until(lambda: QApplication.activeModalWidget() is not dialog, "the file dialog to close")
