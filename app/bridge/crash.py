"""One reporter for everything that nobody caught: slots, threads, finalizers, tasks, the loop (D3).

Each kind of failure is shown once; every single one is logged with its trace. The program goes on.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections import Counter
from types import TracebackType
from typing import Any

from PySide6.QtCore import QObject, Signal

_LOG = logging.getLogger("taquilla.crash")


class CrashReporter(QObject):
    """Install once at start; `failure_seen` is emitted in the interface's thread, once for each kind of failure."""

    failure_seen = Signal(str)
    """A short technical line: type and place of the failure."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._before: tuple[Any, Any, Any] | None = None

    def install(self) -> None:
        """Take over the process-wide hooks."""
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._on_slot_failure
        threading.excepthook = self._on_thread_failure
        sys.unraisablehook = self._on_unraisable

    def uninstall(self) -> None:
        """Give the hooks back."""
        if self._before is not None:
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
            self._before = None

    def report(self, where: str, error: BaseException | None, text: str = "") -> None:
        """Log the failure; show it when it is the first of its kind."""
        kind = _kind_of(where, error, text)
        _LOG.error("%s: %s", where, text or error, exc_info=error)
        with self._lock:
            self.seen[kind] += 1
            is_first = self.seen[kind] == 1
        if is_first:
            self.failure_seen.emit(kind)

    def on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any], /) -> None:
        """The event loop's exception handler."""
        del loop
        error = context.get("exception")
        if isinstance(error, asyncio.CancelledError):
            return
        self.report("loop", error, str(context.get("message", "")))

    def on_task_failure(self, name: str, error: BaseException) -> None:
        """A task of a TaskOwner failed and nobody awaited it."""
        self.report(f"task {name}", error)

    def _on_slot_failure(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None, /) -> None:
        del trace
        if issubclass(kind, KeyboardInterrupt | SystemExit):
            sys.__excepthook__(kind, error, error.__traceback__)
            return
        self.report("slot", error)

    def _on_thread_failure(self, failure: threading.ExceptHookArgs, /) -> None:
        if failure.exc_type is SystemExit:
            return
        name = failure.thread.name if failure.thread is not None else "?"
        self.report(f"thread {name}", failure.exc_value)

    def _on_unraisable(self, failure: sys.UnraisableHookArgs, /) -> None:
        self.report("finalizer", failure.exc_value, failure.err_msg or "")


def _kind_of(where: str, error: BaseException | None, text: str) -> str:
    """Failures of one kind share where they were caught, their type and the line that raised."""
    if error is None:
        return f"{where}: {text}"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}" if trace is not None else "?"
    return f"{where}: {type(error).__name__} at {place}"
