"""Tasks that belong to a QObject: a late result never reaches a dead widget, and no task is collected half-way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal


class TaskOwner(QObject):
    """Starts coroutines and keeps them alive; cancels them all when `owner` is destroyed.

    It is no child of `owner`: `destroyed` is connected to a method of this object, as one of the owner's own would be
    gone by then. Whoever makes a TaskOwner keeps it; `owner` keeps none of its results.
    """

    task_failed = Signal(str, object)
    """A task's name and the exception that ended it."""
    idle_reached = Signal()
    """The last running task ended."""

    def __init__(self, owner: QObject) -> None:
        super().__init__()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False
        owner.destroyed.connect(self.cancel_all)

    def start(self, coroutine: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any] | None:
        """Start a task; returns None when the owner is gone already."""
        if self._closed:
            coroutine.close()
            return None
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)
        return task

    def running(self) -> list[str]:
        """Names of the tasks that run now."""
        return sorted(task.get_name() for task in self._tasks)

    def cancel_all(self) -> None:
        """Cancel everything; no task starts here any more."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()

    async def stop(self, grace_s: float = 5.0) -> list[str]:
        """Cancel everything and wait for it; returns the names of tasks that would not stop."""
        self.cancel_all()
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=grace_s)
        return self.running()

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if self._closed:
            return
        if error is not None:
            self.task_failed.emit(task.get_name(), error)
        if not self._tasks:
            self.idle_reached.emit()
