"""A task that must go on: whatever ends one try, the next one starts, with a growing pause."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from booking.domain.errors import UnavailableError

_PAUSES_S = (0.1, 0.2, 0.5, 1.0, 2.0)
_STEADY_AFTER_S = 10.0

log = logging.getLogger(__name__)


async def keep_running(what: str, once: Callable[[], Awaitable[None]]) -> None:
    """Await `once` again and again until cancelled.

    A database that is away is said once, without a trace; anything else is logged with its trace, because it is a
    fault of ours, and does not end the task either.
    """
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        started_at = loop.time()
        try:
            await once()
            log.warning("%s ended by itself, starting it again", what)
        except UnavailableError as error:
            if failures == 0 or loop.time() - started_at > _STEADY_AFTER_S:
                log.warning("%s: %s", what, error.detail or error.code)
        except Exception:
            # The one supervisor: a task that stays dead would be worse than one that fails again.
            log.exception("%s failed", what)
        failures = 0 if loop.time() - started_at > _STEADY_AFTER_S else failures + 1
        await asyncio.sleep(_PAUSES_S[min(failures, len(_PAUSES_S)) - 1 if failures else 0])
