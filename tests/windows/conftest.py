"""What tests of windows need: a stack of real processes, a loop, a theme, and an end that leaves no window behind."""

from __future__ import annotations

from tests.end2end.conftest import stack
from tests.gui.conftest import english, qloop, theme, tidy

__all__ = ["english", "qloop", "stack", "theme", "tidy"]
