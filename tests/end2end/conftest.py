"""One stack of real processes for the tests that share it; each takes seats of its own."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from backend_client.seat_frames import PublicState, decode_snapshot
from tests.end2end.browser import Browsers, browsers, need_chromium
from tests.end2end.fan_house import House, house_of
from tests.end2end.http_client import client
from tests.end2end.processes import Demo, StackFacts, check_invariants, demo_folder


@pytest.fixture(scope="session")
def stack() -> Iterator[StackFacts]:
    """A demo without a console that stays up. It must also stop well."""
    folder = demo_folder()
    demo = Demo(folder, "--no-console", "--terminal-delay", "0.3")
    try:
        yield asyncio.run(demo.is_up())
        assert asyncio.run(demo.stop()) == 0, demo.words()
    finally:
        asyncio.run(demo.end())
        shutil.rmtree(folder.parent, ignore_errors=True)


@dataclass
class OpenEvent:
    """An event on sale, and free seats of it that nobody else in this session takes."""

    event_id: int
    take: Callable[[int], list[int]]


@pytest.fixture(scope="session")
def open_event(stack: StackFacts) -> OpenEvent:
    """The event on sale with the most seats, so that the tests do not meet each other."""
    event_id, free = asyncio.run(free_seats(stack.api_url))
    seats = iter(free)
    return OpenEvent(event_id, lambda count: list(itertools.islice(seats, count)))


async def free_seats(api_url: str) -> tuple[int, list[int]]:
    """The event on sale with the most seats, and those that are free in it."""
    async with client(api_url) as http:
        events = (await http.get("/v1/events")).json()["events"]
        event = max((event for event in events if event["status"] == "ON_SALE"), key=lambda event: event["seat_count"])
        snapshot = decode_snapshot((await http.get(f"/v1/events/{event['event_id']}/seats")).content)
    return event["event_id"], [int(seat) for seat in np.flatnonzero(snapshot.states == PublicState.AVAILABLE)]


@pytest.fixture(scope="module")
def lent() -> Iterator[Browsers]:
    need_chromium()
    with browsers() as lent:
        yield lent


@pytest.fixture(scope="module")
def sound_stack(lent: Browsers, stack: StackFacts) -> Iterator[StackFacts]:
    """The house is in order after all that these tests did (R39)."""
    yield stack
    assert asyncio.run(check_invariants(stack.dsn)) == []


@pytest.fixture
async def house(lent: Browsers, sound_stack: StackFacts) -> AsyncIterator[House]:
    async with house_of(sound_stack, lent) as house:
        yield house
