"""For GUI tests: a loop inside Qt's that fails on what was left behind, and a themed application."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from time import monotonic
from typing import Any, TypeVar

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge.loop import close, new_loop
from app.i18n import use_language
from app.screens.looks import apply_direction
from widgets.theme import Theme, apply_theme

Answer = TypeVar("Answer")
DEADLINE_S = 10.0


class QLoop:
    """Runs coroutines in Qt's loop; knows what went wrong in it."""

    def __init__(self, application: QApplication) -> None:
        self.application = application
        self.errors: list[str] = []
        self.loop = new_loop(application)
        self.loop.set_exception_handler(self._take_error)
        asyncio.set_event_loop(self.loop)

    def run(self, coroutine: Coroutine[Any, Any, Answer], timeout_s: float = 30.0) -> Answer:
        """Run `coroutine` to its end."""
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, timeout_s))

    def leftovers(self) -> list[str]:
        """Names of tasks that still run."""
        return sorted(task.get_name() for task in asyncio.all_tasks(self.loop))

    def _take_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.errors.append(f"{context.get('message')}: {context.get('exception')!r}")


@pytest.fixture
def qloop(qapp: QApplication) -> Iterator[QLoop]:
    """A loop for one test; fails on tasks that outlive it and on errors that only the loop saw."""
    running = QLoop(qapp)
    yield running
    left = running.leftovers()
    close(running.loop)
    assert left == [], f"tasks outlive the test: {left}"
    assert running.errors == [], running.errors


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    """The light theme, applied."""
    made = Theme.light()
    apply_theme(qapp, made)
    return made


@pytest.fixture(autouse=True)
def english(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test begins in English, left to right, whatever the one before did."""
    yield
    use_language("en")
    if QApplication.instance() is not None:
        apply_direction()


async def until(condition: Callable[[], object], what: str = "", deadline_s: float = DEADLINE_S) -> None:
    """Wait for a condition while Qt and asyncio go on; fails at the deadline."""
    end = monotonic() + deadline_s
    while not condition():
        if monotonic() > end:
            pytest.fail(f"did not happen within {deadline_s:.0f} s: {what or condition}")
        await asyncio.sleep(0.005)
