"""What people asked for and what is running: each deed runs once at a time, whatever is clicked meanwhile (P1).

Screens emit wishes; whoever binds them starts deeds here. Deeds outlive screens, as a language switch rebuilds every
window while a card payment may be running.
"""

from __future__ import annotations

from asyncio import Task
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.bridge.tasks import TaskOwner


class Deeds(QObject):
    """Runs coroutines by name. A name that runs already is not started again."""

    started = Signal(str)
    ended = Signal(str)
    """However it ended; comes after `refused`."""
    refused = Signal(str, object)
    """The deed's name and the exception that ended it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = TaskOwner(self)
        self._running: dict[str, Task[Any] | None] = {}

    def start(self, name: str, deed: Callable[[], Coroutine[Any, Any, Any]]) -> bool:
        """Start `deed`; False when one of that name runs already."""
        if name in self._running:
            return False
        self._running[name] = None
        self.started.emit(name)
        task = self._tasks.start(deed(), name=name)
        if task is None:
            self._forget(name)
            return False
        self._running[name] = task
        task.add_done_callback(self._on_task_done)
        return True

    def cancel(self, name: str) -> None:
        """Cancel the deed of that name, if it runs; the name is free at once."""
        task = self._running.get(name)
        if task is not None:
            task.cancel()
            self._forget(name)

    def set_aside(self, name: str, other_name: str) -> None:
        """The deed of that name goes on under another one; the name is free at once."""
        task = self._running.pop(name, None)
        if task is None:
            return
        task.set_name(other_name)
        self._running[other_name] = task
        self.ended.emit(name)

    def is_running(self, name: str) -> bool:
        """True while a deed of that name runs."""
        return name in self._running

    @property
    def running(self) -> frozenset[str]:
        """Names of the deeds that run now."""
        return frozenset(self._running)

    async def stop(self, grace_s: float = 5.0) -> list[str]:
        """Cancel everything and wait; returns the names of deeds that would not stop."""
        return await self._tasks.stop(grace_s)

    def _on_task_done(self, task: Task[Any]) -> None:
        name = task.get_name()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.refused.emit(name, error)
        if self._running.get(name) is task:
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._running.pop(name, None)
        self.ended.emit(name)
