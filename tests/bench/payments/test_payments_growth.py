"""A step of a sale reads as much when the tables have filled as when they were empty, also before anybody has analysed
them: a session plans once, in the first seconds of a sale, and goes on with that plan through its opening minute.

Buffers are counted by EXPLAIN on one connection, the same on every machine.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import asyncpg
import pytest

from booking.embedded import Cluster
from booking.sql import query
from booking.store.lanes import Lane
from booking.store.sale_lanes import SaleAnswer, SaleAsk
from tests.bench.measuring import closed_loop, measured_cluster, seed_event, seeded_database
from tests.bench.payments.__main__ import CAP
from tests.bench.payments.sales import SEATS_EACH, Steps, held_sales

BETWEEN, MEASURED = 2_400, 4
SEATS = (BETWEEN + 3 * MEASURED) * SEATS_EACH
STEPS = ("check_out_batch", "open_payment_batch", "record_result_batch")
GROWTH_AT_MOST = 1.6
"""Indexes get a level, and pages have more on them: 1.4. Plans that begin at a whole table: 2.2, and 5."""


@pytest.fixture(scope="module")
def synced_cluster() -> Iterator[Cluster]:
    """A server that nobody analyses while the test runs."""
    with measured_cluster(autovacuum="off") as cluster:
        yield cluster


class CountedLane(Lane[SaleAsk, SaleAnswer]):
    """Decides on a connection of its own and counts what that reads; the true lane then answers the replay."""

    def __init__(
        self, lane: Lane[SaleAsk, SaleAnswer], connection: asyncpg.Connection[asyncpg.Record], name: str
    ) -> None:
        self._lane = lane
        self._connection = connection
        self._explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query(name)}"
        self.buffers = 0

    async def decide(self, request: SaleAsk) -> SaleAnswer:
        told = await self._connection.fetchval(self._explain, f"[{request.arguments.decode()}]", False)
        plan = json.loads(told)[0]["Plan"]
        self.buffers += int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])
        return await self._lane.decide(request)


async def test_a_step_reads_no_more_when_the_tables_have_filled_since_it_was_planned(synced_cluster: Cluster) -> None:
    async with seeded_database(synced_cluster, "growth") as db:
        event_id = await seed_event(db, SEATS, paying_cap=CAP)
        connection = await asyncpg.connect(db.dsn)
        lanes = (db.check_outs, db.payments, db.results)
        counted = [CountedLane(lane, connection, name) for lane, name in zip(lanes, STEPS, strict=True)]

        steps = Steps(db)

        async def read_by(first: int) -> Counter[str]:
            for lane in counted:
                lane.buffers = 0
            db.check_outs, db.payments, db.results = counted
            for sale in await held_sales(steps, event_id, MEASURED, first * SEATS_EACH):
                await steps.check_out(sale)
                await steps.open_payment(sale)
                await steps.confirm(sale)
            db.check_outs, db.payments, db.results = lanes
            return Counter({name: lane.buffers for name, lane in zip(STEPS, counted, strict=True)})

        await read_by(0)  # the first reading plans, and reads the catalogue
        before = await read_by(MEASURED)
        sales = await held_sales(steps, event_id, BETWEEN, 2 * MEASURED * SEATS_EACH)
        paid = sales[: BETWEEN // 2]  # the others stay held
        for step in (steps.check_out, steps.open_payment, steps.confirm):
            await closed_loop(synced_cluster, paid, step, at_once=64)
        after = await read_by(2 * MEASURED + BETWEEN)
        await connection.close()
    for name in STEPS:
        assert after[name] <= GROWTH_AT_MOST * before[name], (before, after)
