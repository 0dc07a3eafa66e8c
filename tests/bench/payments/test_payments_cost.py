"""What a sale's steps cost in CPU, as a ratio to a yardstick and to one call each; never wall clock (design §7)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest

from booking.embedded import Cluster
from tests.bench.measuring import measured_cluster, seed_event, seeded_database, yardstick_s
from tests.bench.payments.__main__ import CAP, Bench, as_table
from tests.bench.payments.one_call import one_call_each
from tests.bench.payments.sales import Steps

SEATS, ATTEMPTS = 6_000, 4
# CPU of PostgreSQL and API together, in yardsticks for 100 requests: about twice what an idle machine needs.
AT_MOST = {"checkout": 9.0, "payment": 8.0, "confirm": 7.0, "order-status": 2.0}
# PostgreSQL CPU of one call each against that of a batch: about half of what was measured.
AT_LEAST = {"checkout": 1.5, "payment": 1.5, "confirm": 2.0, "order-status": 2.0}

Figures = Mapping[str, float]


@pytest.fixture(scope="module")
def synced_cluster() -> Iterator[Cluster]:
    """A server that syncs, as the one that is measured."""
    with measured_cluster() as cluster:
        yield cluster


async def test_lanes_spend_a_part_of_the_cpu_of_one_call_each(synced_cluster: Cluster) -> None:
    """The least of a few attempts counts: neighbours on the same cores only ever add."""
    found: list[str] = []
    async with seeded_database(synced_cluster, "cost") as db, one_call_each(db.dsn) as alone:
        for _ in range(ATTEMPTS):
            bench = Bench(synced_cluster, await seed_event(db, SEATS, paying_cap=CAP), rounds=1)
            yardstick = yardstick_s()
            lanes = await bench.closed(Steps(db))
            calls = await bench.closed(Steps(alone))
            found = faults(lanes, calls, max(yardstick, yardstick_s()))
            if not found:
                break
    assert found == []


def faults(lanes: Mapping[str, Figures], calls: Mapping[str, Figures], yardstick: float) -> list[str]:
    """What is dearer than it may be, or was not carried out."""
    found = []
    for name, figures in lanes.items():
        cost = 100 * (figures["pg_us"] + figures["api_us"]) / 1e6 / yardstick
        if figures["failed"] or calls[name]["failed"]:
            found.append(f"{name}: not all were carried out: {figures}, {calls[name]}")
        if cost > AT_MOST[name]:
            found.append(f"{name}: {cost:.1f} yardsticks for 100: {figures}")
        if calls[name]["pg_us"] < AT_LEAST[name] * figures["pg_us"]:
            found.append(f"{name}: {figures} against {calls[name]} one call each")
    return found


def test_a_dear_step_and_a_failed_one_are_faults() -> None:
    cheap, dear = ({"pg_us": us, "api_us": us, "failed": 0} for us in (100.0, 10_000.0))
    assert faults({"confirm": cheap}, {"confirm": dear}, 0.01) == []
    assert len(faults({"confirm": dear}, {"confirm": cheap}, 0.01)) == 2
    assert len(faults({"confirm": {**cheap, "failed": 1}}, {"confirm": dear}, 0.01)) == 1


def test_the_report_is_a_table_and_json() -> None:
    row = {"per_s": 1.0, "pg_us": 2.0}
    report = {
        "settings": {"fsync": "on"}, "yardstick_ms": [11.0], "lanes": {"confirm": row}, "one_call": {"confirm": row},
        "ratios": {"confirm": {"rate": 1.0}}, "open": {}, "waits": {"lanes": {}},
    }  # fmt: skip
    text = as_table(json.loads(json.dumps(report)))
    assert "fsync" in text
    assert next(line.split() for line in text.splitlines() if line.startswith("confirm")) == ["confirm", "1.0", "2.0"]
