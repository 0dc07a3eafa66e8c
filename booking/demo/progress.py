"""What the demo tells the person while it works: one line a step on standard error, with its duration."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def say(text: str) -> None:
    """One line, at once."""
    sys.stderr.write(f"demo: {text}\n")
    sys.stderr.flush()


@contextmanager
def step(what: str, done: str) -> Iterator[None]:
    """Say that `what` is `done` and how long it took. A step that does not get there says so; its error goes on."""
    started = time.monotonic()
    try:
        yield
    except asyncio.CancelledError:
        raise  # another step failed, or we are told to stop: that is the news
    except BaseException:
        say(f"{what}: failed after {time.monotonic() - started:.1f} s")
        raise
    say(f"{what} {done} ({time.monotonic() - started:.1f} s)")
