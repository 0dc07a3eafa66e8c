"""Screens that are built anew leave nothing of the old ones behind: a window lives for a week."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu

from tests.gui.conftest import QLoop, counter_of, rest
from widgets.theme import Theme


def test_widgets_and_actions_are_as_many_after_every_other_look(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window

            async def rebuild_twice() -> tuple[int, int]:
                for patterned in (True, False):
                    window.patterns_chosen.emit(patterned)
                    await asyncio.sleep(0.05)
                    await rest(showcase)
                gc.collect()
                return len(QApplication.allWidgets()), len(window.findChildren(QAction))

            before = await rebuild_twice()
            assert [await rebuild_twice() for _ in range(3)] == [before] * 3

    qloop.run(scene())


def test_python_keeps_no_menu_and_no_action_of_a_bar_that_is_gone(qloop: QLoop, theme: Theme, tmp_path: Path) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path) as showcase:
            window = showcase.console.window

            async def build_menus() -> tuple[int, int]:
                window.set_less_motion(True)
                await rest(showcase)
                QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
                gc.collect()
                kinds = [type(one) for one in gc.get_objects()]
                return sum(issubclass(kind, QMenu) for kind in kinds), sum(issubclass(kind, QAction) for kind in kinds)

            before = [await build_menus() for _ in range(2)][-1]
            assert [await build_menus() for _ in range(3)] == [before] * 3

    qloop.run(scene())
