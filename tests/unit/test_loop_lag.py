"""Whoever keeps the event loop of a process from everything else is seen, whenever in a second that was (R32)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from booking.domain.errors import AuthorityAwayError
from booking.domain.figures import Figure
from booking.figures.collector import Collector
from booking.figures.loop_lag import EVERY_S, LoopLag
from booking.figures.meter import Meter
from booking.figures.model import ProcessKind
from booking.figures.watch import Watch
from booking.store.database import Database

STALL_S = 0.2
SOON_S = 60.0


@pytest.fixture
async def lag() -> AsyncIterator[LoopLag]:
    lag = LoopLag(asyncio.get_running_loop().time)
    looking = asyncio.create_task(lag.run())
    await asyncio.sleep(0)
    yield lag
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)


async def test_a_stall_is_seen_once(lag: LoopLag) -> None:
    time.sleep(STALL_S)
    async with asyncio.timeout(SOON_S):
        while (worst_s := lag.take_worst_s()) == 0:
            await asyncio.sleep(0)
    assert worst_s >= STALL_S - EVERY_S
    assert lag.take_worst_s() == 0, "it was taken"


async def test_a_stall_in_the_midst_of_a_second_is_in_the_next_report() -> None:
    """A timer of one a second had seen it only if it came due just then."""

    async def fetch(*_: object) -> Any:
        raise AuthorityAwayError("no database in this test")

    watch = Watch(
        cast("Database", SimpleNamespace(fetch=fetch)), Collector(ProcessKind.API, Meter()),
        clock=asyncio.get_running_loop().time,
    )  # fmt: skip

    def told() -> float:
        return 0.0 if watch.standing.own is None else watch.standing.own.figures[Figure.LOOP_LAG_MS]

    running = asyncio.create_task(watch.run())
    try:
        async with asyncio.timeout(SOON_S):
            while watch.standing.number == 0:
                await asyncio.sleep(0)
            await asyncio.sleep(EVERY_S)  # the next report is due later
            time.sleep(STALL_S)
            while told() < (STALL_S - EVERY_S) * 1000:
                await watch.standing.wait(SOON_S)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert not any(task.get_name() == "loop-lag" and not task.cancelling() for task in asyncio.all_tasks())
