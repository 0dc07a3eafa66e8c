"""The local steady clock: it never jumps when somebody sets the computer's time, and goes on through sleep."""

from __future__ import annotations

import sys
import time


def steady_seconds() -> float:
    """Seconds since some instant. On Linux it counts sleep too, so that a woken laptop shows the right countdown."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    else:  # noqa: RET505  # the type checker reads the platform
        return time.monotonic()
