"""What the database forgets, and when (R6, R13, R43): idempotency keys, the outbox, the seat feed, sign-ins.

Nothing here decides a sale: everything that is deleted has been read by all who need it, or can mean only a new
request. Each batch is one short transaction that skips what somebody else holds locked, so that several workers at
once, a worker that dies, and a busy sale are all harmless. `Retention` is the one place of its settings.

- An idempotency key is kept at least `keys`, and `keys_after_order` beyond the end of the order that it is about; while
  an order is open, or money of it is not settled, its keys stay. A key that was deleted is a new request. The key of a
  hold is the hold's own row and stays with it.
- The outbox is deleted from its beginning, and only what every consumer has read, once the sequencer and the ticket
  issuer have a place in it. A consumer that is gone for good keeps it all (`work --figures` tells of it): delete its
  row of `consumer_offsets`.
- The seat feed is kept as long as a client may come back to its place; older clients load the snapshot again.
- Minutes of figures stay `figures` long, alarms that ended `alarms` long; the audit log keeps what was done about them.
- Refresh tokens go `tokens` after their session has ended, renewals of accounts as long after their own end, and counts
  of failed sign-ins `login_attempts` after the last.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from booking.services import issue_tickets, sequence_feed
from booking.store import retention_queries
from booking.store.database import Database
from booking.store.retention_queries import KeyPosition

BATCH = 1_000
READERS = (sequence_feed.CONSUMER, issue_tickets.CONSUMER)
EVERY_S = 600.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long each kind of row is kept."""

    keys: timedelta = timedelta(hours=24)
    keys_after_order: timedelta = timedelta(hours=24)
    outbox: timedelta = timedelta(days=7)
    seat_feed: timedelta = timedelta(hours=1)
    tokens: timedelta = timedelta(days=1)
    login_attempts: timedelta = timedelta(days=1)
    figures: timedelta = timedelta(days=90)
    alarms: timedelta = timedelta(days=400)


DEFAULT = Retention()


async def run(db: Database, settings: Retention = DEFAULT, *, every_s: float = EVERY_S) -> None:
    """Forget what is old, again and again, until cancelled.

    Raises:
        AuthorityAwayError: the connection was lost; the caller starts it again.
    """
    while True:
        gone = await forget(db, settings)
        if any(gone.values()):
            log.info("forgotten: %s", ", ".join(f"{what} {count}" for what, count in gone.items() if count))
        await asyncio.sleep(every_s)


async def forget(db: Database, settings: Retention = DEFAULT, *, batch: int = BATCH) -> Mapping[str, int]:
    """Delete everything that is old enough, batch by batch. Returns how many rows of each kind."""
    return {
        "keys": await _forget_keys(db, settings, batch),
        "outbox": await _until_none(lambda: retention_queries.prune_outbox(db, settings.outbox, batch, READERS), batch),
        "seat_feed": await _until_none(lambda: retention_queries.prune_seat_feed(db, settings.seat_feed, batch), batch),
        "tokens": await _until_none(lambda: retention_queries.forget_tokens(db, settings.tokens, batch), batch),
        "renewals": await _until_none(lambda: retention_queries.forget_renewals(db, settings.tokens, batch), batch),
        "login_attempts": await _until_none(
            lambda: retention_queries.forget_login_attempts(db, settings.login_attempts, batch), batch
        ),
        "figures": await _until_none(lambda: retention_queries.prune_figures(db, settings.figures, batch), batch),
        "alarms": await _until_none(lambda: retention_queries.prune_alarms(db, settings.alarms, batch), batch),
    }


async def _forget_keys(db: Database, settings: Retention, batch: int) -> int:
    """Once through all keys, in stretches, so that no index by time has to be kept for each of them."""
    place: KeyPosition | None = KeyPosition()
    gone = 0
    while place is not None:
        place, count = await retention_queries.forget_keys(db, place, settings.keys, settings.keys_after_order, batch)
        gone += count
    return gone


async def _until_none(delete: Callable[[], Awaitable[int]], batch: int) -> int:
    gone = 0
    while True:
        count = await delete()
        gone += count
        if count < batch:
            return gone
