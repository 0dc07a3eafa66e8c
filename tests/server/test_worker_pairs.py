"""Two of every worker at once while people hold, pay, let go and let run out: nothing twice, nothing missed.

R5, R13, R28, R40.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

from booking.domain.errors import BookingError
from booking.domain.states import OperationKind
from booking.services import expire_holds, issue_tickets, retention, sequence_feed, sweep_expired
from booking.services.keep_running import keep_running
from booking.services.worker_figures import figures
from booking.store.database import Database
from tests.server.box_office import Desk, count, fan, make_event, released, till

SEATS = 60
BUYERS, ROUNDS = 12, 25
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"

WORKERS: dict[str, Callable[[Database], Awaitable[None]]] = {
    "sequencer": lambda db: sequence_feed.run(db, tick_s=0.005),
    "sweeper": lambda db: sweep_expired.run(db, tick_s=0.02),
    "expiry": lambda db: expire_holds.run(db, tick_s=0.01),
    "tickets": lambda db: issue_tickets.run(db, tick_s=0.02),
    "retention": lambda db: retention.run(db, every_s=0.05),
}


async def buy_and_leave(db: Database, event_id: int, chance: random.Random) -> None:
    """A buyer or a till: seats are held, and then paid, let go, or left to run out. Refusals are part of it."""
    for _ in range(ROUNDS):
        desk = Desk(db, till() if chance.random() < 0.5 else fan(), event_id)
        with suppress(BookingError):
            hold = await desk.hold(*chance.sample(range(SEATS), chance.randint(1, 3)))
            fate = chance.random()
            if fate < 0.1:
                await desk.pay(await desk.check_out(hold), OperationKind.CASH)
            elif fate < 0.4:
                await released(db, desk.caller, hold.hold_id)
            else:
                await asyncio.sleep(chance.uniform(0, 0.05))


async def until_quiet(db: Database) -> None:
    """Nothing is overdue and everything was read."""
    async with asyncio.timeout(60):
        while await count(db, "SELECT count(*) FROM seats WHERE status = 1") or any(
            each.backlog for each in await figures(db)
        ):
            await asyncio.sleep(0.02)


@pytest.fixture
async def event_id(sound_database: Database) -> int:
    return await make_event(sound_database, seats=SEATS, hold_ttl_s=1, min_time_to_pay_s=0, max_open_holds_till=1_000)


async def test_two_of_each_worker_at_once_under_load(
    sound_database: Database, other_database: Database, event_id: int
) -> None:
    both = (sound_database, other_database)
    tasks = [
        asyncio.create_task(keep_running(name, partial(work, db)), name=name)
        for name, work in WORKERS.items()
        for db in both
    ]
    try:
        await asyncio.gather(*(buy_and_leave(both[n % 2], event_id, random.Random(n)) for n in range(BUYERS)))
        await until_quiet(sound_database)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await assert_all_was_told_and_nothing_twice(sound_database)
    assert await count(sound_database, DEADLOCKS) == 0


async def assert_all_was_told_and_nothing_twice(db: Database) -> None:
    rows = await db.fetch("SELECT version, body FROM seat_feed ORDER BY version")
    assert [row["version"] for row in rows] == list(range(1, len(rows) + 1))
    last: dict[int, tuple[int, int]] = {}
    for row in rows:
        for word, version in np.frombuffer(row["body"], "<u4").reshape(-1, 2).tolist():
            known = last.get(word >> 8, (0, 0))
            # The next version, or the end of the hold that has this one.
            assert version == known[0] + 1 or (version, word & 0xFF) == (known[0], 0), (word >> 8, known)
            last[word >> 8] = (version, word & 0xFF)
    stored = await db.fetch(
        "SELECT seat_no, version, staff_byte(status, holder, printed, used) AS state FROM seats WHERE version > 0"
    )
    assert {row["seat_no"]: (row["version"], row["state"]) for row in stored} == last
    sold = await count(db, "SELECT count(*) FROM order_seats WHERE valid")
    assert sold > 0
    assert await count(db, "SELECT count(*) FROM tickets") == sold
    ended = "SELECT count(*) FROM outbox WHERE type = 'seats-released' GROUP BY aggregate_id HAVING count(*) > 1"
    assert await db.fetch(ended) == [], "a hold is ended once"
    assert await count(db, "SELECT count(*) FROM holds WHERE status = 'EXPIRED'") > 0
