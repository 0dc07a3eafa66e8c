"""The demo as a set of processes: one on a folder, watched, taken down in order, found again after a crash."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import pytest

from booking.demo.waiting_room import EVENT
from tests.end2end.conftest import free_seats
from tests.end2end.http_client import Buyer, client
from tests.end2end.processes import (
    ROOT,
    Demo,
    StackFacts,
    check_invariants,
    demo_folder,
    environment,
    kill,
    lives,
    until,
    until_async,
)

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One data folder for all starts of this module: the first fills it, the others must find what is there."""
    data = demo_folder()
    yield data
    shutil.rmtree(data.parent, ignore_errors=True)


@asynccontextmanager
async def demo_on(folder: Path) -> AsyncIterator[tuple[Demo, StackFacts]]:
    demo = Demo(folder, "--no-console")
    try:
        yield demo, await demo.is_up()
    finally:
        await demo.end()


async def stopped_sound(demo: Demo, stack: StackFacts) -> bool:
    """End a demo that is up; its house must be in order, whatever was done to it (R39)."""
    assert await check_invariants(stack.dsn) == []
    return await demo.stop() == 0


def family(stack: StackFacts) -> list[psutil.Process]:
    """Every process of the stack, the children of its children too."""
    leaders = [psutil.Process(pid) for pid in stack.pids.values()]
    everyone = [found for leader in leaders for found in [leader, *leader.children(recursive=True)]]
    return list({found.pid: found for found in everyone}.values())


async def answers(url: str, path: str = "/readyz") -> bool:
    try:
        async with client(url) as http:
            return (await http.get(path)).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signal_takes_everything_down_and_the_next_start_finds_its_data(
    folder: Path, number: signal.Signals
) -> None:
    key = str(uuid4())
    async with demo_on(folder) as (demo, stack):
        processes = family(stack)
        event_id, free = await free_seats(stack.api_url)
        async with client(stack.api_url) as http:
            fan = await Buyer.new_fan(http)
            first = await fan.hold(event_id, free[:2], key=key)
            assert first.status_code == 201
            await one_event_is_sold_through_the_waiting_room(stack, fan)
        demo.tell(number)
        assert await demo.ended(45) == 0, demo.words()
        assert [found for found in processes if lives(found.pid)] == []
        assert not (folder / "stack.json").exists()
    async with demo_on(folder) as (demo, stack), client(stack.api_url) as http:
        again = await Buyer(http, fan.token).hold(event_id, free[:2], key=key)
        assert again.json()["hold_id"] == first.json()["hold_id"], "the same data, and the same signing key"
        assert await stopped_sound(demo, stack)


async def one_event_is_sold_through_the_waiting_room(stack: StackFacts, fan: Buyer) -> None:
    """Its page is there, its queue is open, and without a turn nobody holds a seat of it."""
    events = (await fan.get("/v1/events")).json()["events"]
    (event_id,) = [event["event_id"] for event in events if event["name"] == EVENT]
    assert await answers(stack.page_url, f"/events/{event_id}")
    async with client(stack.page_url) as room:
        assert (await room.get(f"/v1/events/{event_id}/room")).json()["queueing"] == "random"
    refused = await fan.hold(event_id, [0])
    assert (refused.status_code, refused.json()["code"]) == (403, "admission-required")


async def test_crash_of_the_demo_leaves_nothing_that_blocks_the_next_start(folder: Path) -> None:
    async with demo_on(folder) as (demo, stack):
        processes = family(stack)
        kill(demo.pid)
        await demo.ended(5)
        await until(lambda: not any(lives(found.pid) for found in processes), 20, "the children to follow")
    async with demo_on(folder) as (demo, stack):
        assert await answers(stack.api_url)
        assert await stopped_sound(demo, stack)


async def test_next_start_does_not_wait_for_what_a_crash_left_running(folder: Path) -> None:
    """The new demo starts at once, while the children of the killed one are still there."""
    async with demo_on(folder) as (demo, _):
        kill(demo.pid)
        await demo.ended(5)
        async with demo_on(folder) as (second, stack):
            assert await answers(stack.api_url)
            assert await stopped_sound(second, stack)


async def test_second_demo_on_one_folder_is_refused_and_the_first_goes_on(folder: Path) -> None:
    async with demo_on(folder) as (demo, stack):
        command = [sys.executable, "-m", "booking", "demo", "--no-console", "--data", str(folder)]
        second = await asyncio.to_thread(
            subprocess.run, command, check=False, capture_output=True, text=True, cwd=ROOT, env=environment(),
            stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        assert second.returncode == 3
        assert f"a demo (process {demo.pid}) already runs" in second.stderr
        assert "--data" in second.stderr
        assert (folder / "stack.json").exists(), "the first one's, untouched"
        assert await answers(stack.api_url)
        assert await stopped_sound(demo, stack)


async def test_process_that_dies_is_reported_and_started_again_at_its_address(folder: Path) -> None:
    async with demo_on(folder) as (demo, stack):
        for name in ("api", "workers", "sandbox", "terminal", "room"):
            kill(stack.pids[name])
        await until(
            lambda: all(
                f"{name} is back" in demo.words() for name in ("api", "workers", "sandbox", "terminal", "room")
            ),
            60,
            "all of them to be back",
        )
        assert "api ended (SIGKILL); starting it again" in demo.words()
        assert await answers(stack.api_url)
        _, writer = await asyncio.open_connection(*stack.terminal.split(":"))
        writer.close()
        assert await stopped_sound(demo, stack)


async def test_database_that_dies_is_started_again_under_its_clients(folder: Path) -> None:
    async with demo_on(folder) as (demo, stack):
        kill(stack.pids["postgres"])
        await until(lambda: "the database ended" in demo.words(), 20, "the report")
        await until_async(lambda: answers(stack.api_url), 60, "the API to reach the authority again")
        event_id, free = await free_seats(stack.api_url)
        async with client(stack.api_url) as http:
            fan = await Buyer.new_fan(http)
            assert (await fan.hold(event_id, free[:1])).status_code == 201
        assert await stopped_sound(demo, stack)
