"""How often somebody may guess a password (R8).

A pair of name and device has five tries; after that each further one costs a wait that doubles from 30 s to 15 min.
Because a device id is the caller's own invention, a name also has a cap over all devices that it never signed in at;
a device that it did sign in at is not locked out by strangers. A try is counted as failed before the password is
looked at, so that a hundred guesses at once count a hundred times.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from uuid import UUID

from booking.domain.errors import TooManyAttemptsError
from booking.store import staff_queries
from booking.store.connection import Connection
from booking.store.staff_queries import Attempts

FREE_TRIES = 5
STRANGE_TRIES = 50
FORGET_AFTER = timedelta(minutes=15)
FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(minutes=15)


async def begin_try(connection: Connection, name: str, device_id: UUID, now: datetime) -> None:
    """Count one try of a pair as failed; `staff_queries.forget_failures` takes it back after a success.

    Raises:
        TooManyAttemptsError: the pair, or the name among strange devices, has to wait; `retry_after_s` says how long.
    """
    attempts = await staff_queries.lock_attempts(connection, name, device_id, now)
    if attempts.blocked_until is not None and now < attempts.blocked_until:
        raise _too_many(attempts.blocked_until - now)
    if not await staff_queries.is_known_device(connection, name, device_id):
        strange = await staff_queries.count_strange_failures(connection, name, now)
        if strange >= STRANGE_TRIES:
            raise _too_many(FORGET_AFTER)
    await staff_queries.save_attempts(connection, name, device_id, after_failure(attempts, now))


def after_failure(attempts: Attempts, now: datetime) -> Attempts:
    """The count after one more failure at `now`, and until when the next try is refused."""
    failures = 1 if now - attempts.last_failed_at >= FORGET_AFTER else attempts.failures + 1
    counted = replace(attempts, failures=failures, last_failed_at=now, blocked_until=None)
    if failures < FREE_TRIES:
        return counted
    wait = min(FIRST_WAIT * 2 ** min(failures - FREE_TRIES, 10), LONGEST_WAIT)
    return replace(counted, blocked_until=now + wait)


def _too_many(wait: timedelta) -> TooManyAttemptsError:
    error = TooManyAttemptsError("Too many failed attempts to sign in with this name.")
    error.retry_after_s = max(1, ceil(wait.total_seconds()))
    return error
