"""No part of a window is ever a window of its own: for a moment it would flash, and take the keyboard from ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from app.screens.settings_form import SettingRow
from tests.gui.conftest import QLoop, counter_of, rest
from widgets.theme import Theme


class WindowsShown(QObject):
    """Which windows were shown, by their class."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        is_window = isinstance(watched, QWidget) and watched.isWindow() and not isinstance(watched, QMainWindow)
        if event.type() == QEvent.Type.Show and is_window:
            self.seen.append(type(watched).__name__)
        return False


@pytest.fixture
def shown(qapp: QApplication) -> Iterator[WindowsShown]:
    windows = WindowsShown()
    qapp.installEventFilter(windows)
    yield windows
    qapp.removeEventFilter(windows)


def test_a_part_without_a_parent_is_seen(shown: WindowsShown) -> None:
    stray = QWidget()
    stray.setVisible(True)
    stray.close()
    assert shown.seen == ["QWidget"]


def test_building_every_screen_shows_no_window_but_ours(
    qloop: QLoop, theme: Theme, tmp_path: Path, shown: WindowsShown
) -> None:
    async def scene() -> None:
        async with counter_of(tmp_path, "ada") as showcase:
            window = showcase.console.window
            for code in ("orders", "reconciliation", "ops", "settings", "counter"):
                window.screen_requested.emit(code)  # as a person goes there: what they show is read
                await rest(showcase)
            assert window.screens.settings.findChildren(SettingRow)
            for language in ("ja", "en"):
                window.language_chosen.emit(language)
                await rest(showcase)
            for size in ((1920, 1080), (853, 533)):
                showcase.console.window.resize(*size)
                await rest(showcase)

    qloop.run(scene())
    assert shown.seen == []
