"""Screens that are built anew leave nothing of the old ones behind: a window lives for a week."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

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
