"""Sending the same call again: the same key, never a new one; with jitter, capped, and with an eye on Retry-After.

Once an attempt's answer was unknown, a later "unavailable" does not make the call undone: the whole call then ends as
AnswerUnknownError. A refusal after an unknown answer is definite, because the API looks the key up first (R6): unless
it is about the caller alone, who was refused before any key was looked up. What a key's first call does is unknown too
while that still runs.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from backend_client.errors import (
    AnswerUnknownError,
    BookingRefusedError,
    KeyInProgressError,
    ServiceUnavailableError,
)
from backend_client.steady_time import steady_seconds

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `attempts` within `within_s`; the pause before attempt n is uniform in 0 … min(cap, base × 2ⁿ)."""

    attempts: int = 4
    base_s: float = 0.25
    cap_s: float = 2.0
    within_s: float = 12.0
    random: random.Random = field(default_factory=random.Random, compare=False)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def pause_s(self, attempt: int, retry_after_s: float | None) -> float:
        """Seconds to wait after attempt number `attempt` (from 0); never less than the server asked for."""
        jitter = self.random.uniform(0.0, min(self.cap_s, self.base_s * 2**attempt))
        return jitter if retry_after_s is None else retry_after_s + jitter


ONCE = RetryPolicy(attempts=1)


async def call_with_retry(call: Callable[[], Awaitable[T]], policy: RetryPolicy) -> T:
    """Await `call()` until it answers, is refused, or the policy's attempts or time are used up.

    Raises:
        AnswerUnknownError: some attempt may have taken effect and no later one answered.
        ServiceUnavailableError: no attempt had an effect.
        BookingRefusedError: the API's definite no.
    """
    deadline = steady_seconds() + policy.within_s
    unknown: AnswerUnknownError | None = None
    attempt = 0
    while True:
        try:
            return await call()
        except BookingRefusedError as error:
            if not isinstance(error, KeyInProgressError):
                if unknown is not None and not error.is_word:
                    raise AnswerUnknownError(str(unknown), request_id=unknown.request_id) from error
                raise
            unknown = unknown or AnswerUnknownError(str(error), request_id=error.request_id)
            trouble: Exception = error
        except (AnswerUnknownError, ServiceUnavailableError) as error:
            unknown = error if isinstance(error, AnswerUnknownError) else unknown
            trouble = error
        pause_s = policy.pause_s(attempt, _retry_after_s(trouble))
        attempt += 1
        if attempt >= policy.attempts or steady_seconds() + pause_s >= deadline:
            if unknown is not None and unknown is not trouble:
                raise AnswerUnknownError(str(unknown), request_id=unknown.request_id) from trouble
            raise trouble
        await policy.sleep(pause_s)


def _retry_after_s(error: Exception) -> float | None:
    if isinstance(error, ServiceUnavailableError):
        return error.retry_after_s
    if isinstance(error, KeyInProgressError):
        return None if error.problem.retry_after_s is None else float(error.problem.retry_after_s)
    return None
