"""What a hold costs as the house fills with seats, history and events; and whether its tables stay small under churn.

CPU is that of the one backend that runs the batches; buffers are counted by EXPLAIN, the same on every machine. Between
two batches the seats are freed on another connection, which is not measured.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic

import asyncpg

from booking.sql import query
from booking.store.database import Database
from booking.store.hold_lane import HoldAsk, columns
from booking.store.micro_batches import BATCH_LIMIT
from tests.bench.holds.asks import SEATS_EACH, ask
from tests.bench.measuring import cpu_s

_FREE = """
WITH ended AS (UPDATE holds SET status = 'RELEASED', ended_at = booking_now() WHERE hold_id = ANY ($2) RETURNING 1)
UPDATE seats SET status = 0, holder = 0, hold_id = NULL, hold_expires_at = NULL, version = version + 1
 WHERE event_id = $1 AND seat_no = ANY ($3)
"""
_HISTORY = """
INSERT INTO holds (hold_id, event_id, principal, channel, status, seats, price_version, expires_at, idem_key, digest,
                   created_at, ended_at)
SELECT gen_random_uuid(), $1, 'account:' || gen_random_uuid(), 'online', 'RELEASED', ARRAY[n % 1000], 1,
       booking_now() - interval '1 day', gen_random_uuid()::text, '\\x00'::bytea,
       booking_now() - interval '1 day', booking_now() - interval '1 day'
  FROM generate_series(1, $2::integer) AS n
"""
_EVENTS = """
WITH made AS (
    INSERT INTO events (venue_id, plan_id, plan_version, name, starts_at, zone, currency, sale_opens_at)
    SELECT e.venue_id, e.plan_id, e.plan_version, 'Evening ' || n, e.starts_at, e.zone, e.currency, e.sale_opens_at
      FROM events e CROSS JOIN generate_series(1, $2::integer) AS n
     WHERE e.event_id = $1
    RETURNING event_id)
INSERT INTO seats (event_id, seat_no)
SELECT m.event_id, s.seat_no FROM made m CROSS JOIN seats s WHERE s.event_id = $1
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """One hold of three seats in full batches: µs of CPU in PostgreSQL (the least of some batches), buffers touched."""

    pg_us: float
    buffers: float


async def cost_of_a_hold(db: Database, event_id: int, seats: int, batches: int = 24) -> Cost:
    """Measure `batches` full batches on random free seats of an event with n seats."""
    choice = random.Random(7)
    lane = await asyncpg.connect(db.dsn)
    helper = await asyncpg.connect(db.dsn)
    try:
        pid = lane.get_server_pid()
        costs: list[float] = []
        for _ in range(batches):
            asks = _batch(choice, event_id, seats)
            before = cpu_s(pid)
            await lane.fetch(query("hold_seats_batch"), *columns(asks), False, False)
            costs.append((cpu_s(pid) - before) / len(asks))
            await _free(helper, asks)
        asks = _batch(choice, event_id, seats)
        buffers = await _buffers(lane, asks)
        await _free(helper, asks)
    finally:
        await lane.close()
        await helper.close()
    costs.sort()
    return Cost(round(1e6 * costs[len(costs) // 4], 1), round(buffers / BATCH_LIMIT, 1))


def _batch(choice: random.Random, event_id: int, seats: int) -> list[HoldAsk]:
    places = choice.sample(range(seats // SEATS_EACH), BATCH_LIMIT)
    return [ask(event_id, place * SEATS_EACH) for place in places]


async def _buffers(connection: asyncpg.Connection[asyncpg.Record], asks: list[HoldAsk]) -> int:
    explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query('hold_seats_batch')}"
    plan = json.loads(await connection.fetchval(explain, *columns(asks), False, False))[0]["Plan"]
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


async def _free(connection: asyncpg.Connection[asyncpg.Record], asks: Iterable[HoldAsk]) -> None:
    asks = list(asks)
    seats = [seat for one in asks for seat in one.seats]
    await connection.execute(_FREE, asks[0].event_id, [one.hold_id for one in asks], seats)


async def add_history(db: Database, event_id: int, holds: int) -> None:
    """Holds that ended yesterday."""
    await _run(db, _HISTORY, event_id, holds)


async def add_events(db: Database, event_id: int, events: int) -> None:
    """More events like `event_id`: the same plan, all seats free."""
    await _run(db, _EVENTS, event_id, events)


async def _run(db: Database, statement: str, *arguments: object) -> None:
    connection = await asyncpg.connect(db.dsn)
    try:
        await connection.execute(statement, *arguments)
        await connection.execute("VACUUM (ANALYZE)")
    finally:
        await connection.close()


@dataclass(frozen=True, slots=True)
class Churn:
    """Bytes of the seats table and its key before, halfway and after `holds` holds were made and freed."""

    holds: int
    before: int
    halfway: int
    after: int


async def churn(db: Database, event_id: int, seats: int, *, holds: int, seconds: float) -> Churn:
    """Hold and free seats over and over until so many holds were made or the time is over."""
    choice = random.Random(11)
    lane = await asyncpg.connect(db.dsn)
    helper = await asyncpg.connect(db.dsn)
    sizes = [await _size(helper)]
    made, until = 0, monotonic() + seconds
    try:
        while made < holds and monotonic() < until:
            asks = _batch(choice, event_id, seats)
            await lane.fetch(query("hold_seats_batch"), *columns(asks), False, False)
            await _free(helper, asks)
            made += len(asks)
            if len(sizes) == 1 and (made >= holds / 2 or monotonic() > until - seconds / 2):
                sizes.append(await _size(helper))
        after = await _size(helper)
    finally:
        await lane.close()
        await helper.close()
    return Churn(made, sizes[0], sizes[-1], after)


async def _size(connection: asyncpg.Connection[asyncpg.Record]) -> int:
    size: int = await connection.fetchval("SELECT pg_total_relation_size('seats')")
    return size
