"""What a join, a poll and a waiting visitor cost: CPU against a yardstick of the same run, commits, bytes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.bench.measuring import yardstick_s
from tests.bench.room.crowd import crowd_at, resident_bytes

MOST_FOR_100_JOINS, MOST_FOR_100_POLLS = 5.0, 2.2
"""In yardsticks: about twice what an idle machine needs."""

MOST_BYTES_OF_FEW, MOST_BYTES = 1_500, 450
"""For each visitor; with few of them, what the process itself still takes is most of it."""


@pytest.mark.parametrize(
    ("waiting", "most_bytes"), [(20_000, MOST_BYTES_OF_FEW), pytest.param(200_000, MOST_BYTES, marks=pytest.mark.long)]
)
async def test_joins_polls_and_memory_stay_cheap(tmp_path: Path, waiting: int, most_bytes: int) -> None:
    before_it = yardstick_s()
    async with crowd_at(tmp_path) as crowd:
        joins = min([await crowd.join(range(n, n + 1000)) for n in (0, 1000, 2000)], key=lambda one: one.cpu_us)
        before = resident_bytes()
        await crowd.fill(3000, waiting)
        grown = resident_bytes() - before
        await asyncio.sleep(0)
        polls = min([await crowd.poll(range(1000)) for _ in range(3)], key=lambda one: one.cpu_us)
    yardstick = max(before_it, yardstick_s())
    assert joins.commits < joins.calls / 20
    assert grown / waiting < most_bytes
    figures = f"join {joins.cpu_us:.0f} µs, poll {polls.cpu_us:.0f} µs, yardstick {yardstick * 1e3:.1f} ms"
    assert 100 * joins.cpu_us / 1e6 / yardstick < MOST_FOR_100_JOINS, figures
    assert 100 * polls.cpu_us / 1e6 / yardstick < MOST_FOR_100_POLLS, figures
