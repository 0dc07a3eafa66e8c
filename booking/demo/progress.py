"""What the demo tells the person while it works: one line a step on standard error, with its duration."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def say(text: str) -> None:
    """One line, at once."""
    sys.stderr.write(f"demo: {text}\n")
    sys.stderr.flush()


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what was done and how long it took; a step that fails says so and lets the error go on."""
    started = time.monotonic()
    try:
        yield
    except BaseException:
        say(f"{what}: failed after {time.monotonic() - started:.1f} s")
        raise
    say(f"{what} ({time.monotonic() - started:.1f} s)")
