"""What a sale's steps cost in CPU, as a ratio to a yardstick and to one call each; never wall clock (design §7)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from booking.embedded import Cluster
from tests.bench.measuring import measured_cluster, seed_event, seeded_database, yardstick_s
from tests.bench.payments.__main__ import CAP, Bench, as_table
from tests.bench.payments.one_call import one_call_each
from tests.bench.payments.sales import Steps

SEATS = 6_000
# CPU of PostgreSQL and API together, in yardsticks for 100 requests: about twice what an idle machine needs.
AT_MOST = {"checkout": 9.0, "payment": 8.0, "confirm": 7.0, "order-status": 2.0}
# Batches of PostgreSQL CPU against one call each: half of what the table in README shows.
AT_LEAST = {"checkout": 1.5, "payment": 1.5, "confirm": 2.0, "order-status": 4.0}


@pytest.fixture(scope="module")
def synced_cluster() -> Iterator[Cluster]:
    """A server that syncs, as the one that is measured."""
    with measured_cluster() as cluster:
        yield cluster


async def test_lanes_spend_a_part_of_the_cpu_of_one_call_each(synced_cluster: Cluster) -> None:
    async with seeded_database(synced_cluster, "cost") as db, one_call_each(db.dsn) as alone:
        event_id = await seed_event(db, SEATS, paying_cap=CAP)
        bench = Bench(synced_cluster, event_id, rounds=1)
        yardstick = yardstick_s()
        lanes = await bench.closed(Steps(db))
        calls = await bench.closed(Steps(alone))
        yardstick = max(yardstick, yardstick_s())
    for name, figures in lanes.items():
        assert figures["failed"] == calls[name]["failed"] == 0
        cost = 100 * (figures["pg_us"] + figures["api_us"]) / 1e6 / yardstick
        assert cost <= AT_MOST[name], (name, figures, yardstick)
        assert calls[name]["pg_us"] >= AT_LEAST[name] * figures["pg_us"], (name, figures, calls[name])


def test_the_report_is_a_table_and_json() -> None:
    row = {"per_s": 1.0, "pg_us": 2.0}
    report = {
        "settings": {"fsync": "on"}, "yardstick_ms": [11.0], "lanes": {"confirm": row}, "one_call": {"confirm": row},
        "ratios": {"confirm": {"rate": 1.0}}, "open": {}, "waits": {"lanes": {}},
    }  # fmt: skip
    text = as_table(json.loads(json.dumps(report)))
    assert "fsync" in text
    assert next(line.split() for line in text.splitlines() if line.startswith("confirm")) == ["confirm", "1.0", "2.0"]
