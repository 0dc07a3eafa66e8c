"""What tests of windows need: a stack of real processes, a loop, a theme, and an end that leaves no window behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from tests.end2end.conftest import stack
from tests.end2end.processes import StackFacts
from tests.gui.conftest import english, qloop, theme, tidy
from tests.windows.shared import House, house_on
from widgets.theme import Theme, apply_theme

__all__ = ["english", "qloop", "stack", "theme", "tidy"]


@pytest.fixture(scope="module")
def house(stack: StackFacts, qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One console on the real stack, for all tests of a module."""
    apply_theme(qapp, Theme.light())
    with house_on(stack, qapp, tmp_path_factory.mktemp("house")) as opened:
        yield opened
