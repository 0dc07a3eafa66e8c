"""How a long-running process of the booking system behaves: ready file, clean end on signals, end with its parent."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_PARENT_CHECK_S = 1.0

log = logging.getLogger(__name__)


def add_process_arguments(parser: argparse.ArgumentParser) -> None:
    """`--ready-file` and `--parent-pid`, the same for every process."""
    parser.add_argument("--ready-file", type=Path, help="written as JSON once the process really works")
    parser.add_argument("--parent-pid", type=int, help="stop when this process is gone")


def log_to_standard_error() -> None:
    """Progress goes to standard error, one line each."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)-7s %(name)s: %(message)s"
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)  # a line a request: workers ask their room each second


def write_ready_file(path: Path | None, facts: dict[str, object]) -> None:
    """Write `{"pid": …, **facts}` so that a reader finds either nothing or all of it."""
    if path is None:
        return
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"pid": os.getpid(), **facts}, file)
    Path(name).replace(path)


@contextmanager
def ending(parent_pid: int | None) -> Iterator[asyncio.Event]:
    """An event that is set by SIGTERM, SIGINT, or the parent's death. Enter inside the running loop."""
    end = asyncio.Event()
    forget_signals = _set_on_signals(end)
    watch = asyncio.create_task(_end_with_parent(parent_pid, end), name="parent-watch") if parent_pid else None
    try:
        yield end
    finally:
        if watch is not None:
            watch.cancel()
        forget_signals()


def _set_on_signals(end: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)
    if sys.platform == "win32":
        before = [(number, signal.signal(number, lambda *_: loop.call_soon_threadsafe(end.set))) for number in numbers]
    else:
        before = [(number, loop.add_signal_handler(number, end.set)) for number in numbers]

    def forget() -> None:
        for number, handler in before:
            if sys.platform == "win32":
                signal.signal(number, handler)
            else:
                loop.remove_signal_handler(number)

    return forget


async def _end_with_parent(parent_pid: int, end: asyncio.Event) -> None:
    try:
        parent = psutil.Process(parent_pid)
        while parent.is_running() and parent.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - of another process
            await asyncio.sleep(_PARENT_CHECK_S)
    except psutil.NoSuchProcess:
        pass
    log.warning("process %d, which started this one, is gone: stopping", parent_pid)
    end.set()
