"""What the workers have before them: lag, backlog and the oldest item of each (R32, R42).

All of it is read from the database, so that anybody can ask, also while the worker in question is stopped.
`python -m booking work` logs it once a minute, `work --figures` prints it and ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import msgspec

from booking import sql
from booking.store.database import Database

LOG_EVERY_S = 60.0

log = logging.getLogger(__name__)


class WorkerFigures(msgspec.Struct, frozen=True):
    """Of one worker. Times are seconds ago; None: nothing waits, or the worker leaves no sign of itself.

    `backlog` counts outbox rows that a reader has not read, or what is overdue for the others (holds past their time,
    payments to be asked about); it stops at 10,000. `oldest_s` is the age of the oldest of these: the lag. The sweeper
    counts also holds whose payment is not settled: they are overdue by R24 until it is. Webhooks: events that wait for
    what they are about. Retention: the oldest row of the outbox. `seen_s`: the last sign of life.
    """

    worker: str
    backlog: int
    oldest_s: float | None
    seen_s: float | None


async def figures(db: Database) -> Sequence[WorkerFigures]:
    """The figures of every worker, by name.

    Raises:
        AuthorityAwayError: the database cannot be reached.
    """
    rows = await db.fetch(sql.query("read_worker_figures"))
    return [WorkerFigures(row["worker"], row["backlog"], row["oldest_s"], row["seen_s"]) for row in rows]


def in_words(found: Sequence[WorkerFigures]) -> str:
    """One line: `sequencer 0; sweeper 3, oldest 0.2 s; …`."""
    return "; ".join(
        f"{each.worker} {each.backlog}" + ("" if each.oldest_s is None else f", oldest {each.oldest_s:.1f} s")
        for each in found
    )


async def log_figures(db: Database, *, every_s: float = LOG_EVERY_S) -> None:
    """Log the figures until cancelled.

    Raises:
        AuthorityAwayError: the connection was lost; the caller starts it again.
    """
    while True:
        await asyncio.sleep(every_s)
        log.info("%s", in_words(await figures(db)))
