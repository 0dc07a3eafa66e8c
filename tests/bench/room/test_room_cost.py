"""What a join, a poll and a waiting visitor cost with each store: CPU against a yardstick of the same run, commits,
bytes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.bench.measuring import yardstick_s
from tests.bench.room.crowd import Measured, StoreAt, crowd_at, resident_bytes, store_at

MOST_FOR_100_JOINS, MOST_FOR_100_POLLS = 5.0, 2.2
"""In yardsticks: about twice what an idle machine needs."""

MOST_BYTES_OF_FEW, MOST_BYTES = 1_500, 450
"""For each visitor; with few of them, what the process itself still takes is most of it."""

MOST_STORED_OF_FEW, MOST_STORED = 400, 120
"""The same of the store: about 45 in Valkey, 60 in SQLite, and what either has not given back yet."""

NO_WHEEL = pytest.mark.skipif(sys.platform == "win32", reason="there is no Valkey for Windows")


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("valkey", marks=NO_WHEEL)])
@pytest.mark.parametrize(
    ("waiting", "most_bytes", "most_stored"),
    [
        (20_000, MOST_BYTES_OF_FEW, MOST_STORED_OF_FEW),
        pytest.param(200_000, MOST_BYTES, MOST_STORED, marks=pytest.mark.long),
    ],
)
async def test_joins_polls_and_memory_stay_cheap(
    tmp_path: Path, kind: str, waiting: int, most_bytes: int, most_stored: int
) -> None:
    before_it = yardstick_s()
    with store_at(kind, tmp_path) as at:
        joins, polls, grown, stored = await _measured(at, waiting)
    yardstick = max(before_it, yardstick_s())
    assert joins.commits < joins.calls / 20
    assert grown / waiting < most_bytes
    assert stored / waiting < most_stored
    figures = f"join {joins.cpu_us:.0f} µs, poll {polls.cpu_us:.0f} µs, yardstick {yardstick * 1e3:.1f} ms"
    assert 100 * joins.cpu_us / 1e6 / yardstick < MOST_FOR_100_JOINS, figures
    assert 100 * polls.cpu_us / 1e6 / yardstick < MOST_FOR_100_POLLS, figures


async def _measured(at: StoreAt, waiting: int) -> tuple[Measured, Measured, int, int]:
    """A thousand joins and polls at their best; bytes that the process and the store have grown by."""
    async with crowd_at(at) as crowd:
        joins = min([await crowd.join(range(n, n + 1000)) for n in (0, 1000, 2000)], key=lambda one: one.cpu_us)
        before, stored = resident_bytes(), at.stored_bytes()
        await crowd.fill(3000, waiting)
        grown, stored = resident_bytes() - before, at.stored_bytes() - stored
        await asyncio.sleep(0)
        polls = min([await crowd.poll(range(1000)) for _ in range(3)], key=lambda one: one.cpu_us)
    return joins, polls, grown, stored
