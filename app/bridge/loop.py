"""One event loop for the interface: qasync, hidden here, so that nothing else knows which library it is."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol, cast

from PySide6.QtWidgets import QApplication

# Before qasync and pyqtgraph choose for themselves; PySide6 is imported first for the same reason.
os.environ["QT_API"] = "pyside6"
os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"

import qasync  # the two lines above must come first

from app.bridge.collector import GuiThreadCollector

STOP_GRACE_S: Final = 5.0
_WORKERS: Final = 4


_COLLECTORS: Final[dict[asyncio.AbstractEventLoop, GuiThreadCollector]] = {}


class LoopErrorHandler(Protocol):
    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any], /) -> object: ...


def new_loop(application: QApplication) -> asyncio.AbstractEventLoop:
    """A loop that runs inside Qt's. The executor is ours: the exit must not hang behind a look-up in the library's.

    From now until `close`, garbage is collected in this thread alone: see `app.bridge.collector`.
    """
    loop = cast("asyncio.AbstractEventLoop", qasync.QEventLoop(application))
    collector = GuiThreadCollector()
    collector.start()
    _COLLECTORS[loop] = collector
    loop.set_default_executor(ThreadPoolExecutor(_WORKERS, thread_name_prefix="taquilla-worker"))
    return loop


def run(
    application: QApplication, main: Callable[[], Coroutine[Any, Any, int]], on_loop_error: LoopErrorHandler
) -> int:
    """Run `main` to its end inside Qt's loop, then stop what is left: tasks, async generators, workers.

    `main` returns the exit code. The application does not quit with its last window: `main` decides when it is over.
    """
    application.setQuitOnLastWindowClosed(False)
    loop = new_loop(application)
    loop.set_exception_handler(on_loop_error)
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main())
    finally:
        close(loop)


def close(loop: asyncio.AbstractEventLoop) -> None:
    """Stage by stage: cancel what still runs, let it hear so, close generators, drop the workers, close the loop."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(_gather(left))
    loop.run_until_complete(loop.shutdown_asyncgens())
    executor = getattr(loop, "_QEventLoop__default_executor", None)
    if isinstance(executor, ThreadPoolExecutor):
        executor.shutdown(wait=False, cancel_futures=True)
    asyncio.set_event_loop(None)
    loop.close()
    collector = _COLLECTORS.pop(loop, None)
    if collector is not None:
        collector.stop()


async def _gather(left: set[asyncio.Task[Any]]) -> None:
    _, still_running = await asyncio.wait(left, timeout=STOP_GRACE_S)
    for task in still_running:
        logging.getLogger(__name__).error("task did not stop: %s", task.get_name())
