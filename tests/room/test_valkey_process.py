"""The room as a process on a Valkey that is killed, full, or another room's; and moving to one before a sale."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from backend_client import wire
from booking.embedded.valkey import Valkey
from tests.room.room_process import Room, Visitor, know_booking, know_booking_at, let_in, room_running, status_of
from tests.room.stores import ValkeyPlace, ask, new_place, valkey_running

CANNOT_REACH = 3


@pytest.fixture
def own_valkey() -> Iterator[Valkey]:
    with valkey_running() as server:
        yield server


@pytest.fixture
async def place(own_valkey: Valkey) -> ValkeyPlace:
    place = new_place(own_valkey)
    await know_booking_at(place)
    return place


@asynccontextmanager
async def room_at(place: ValkeyPlace, tmp_path: Path) -> AsyncIterator[Room]:
    async with room_running(tmp_path / "data", *place.arguments, "--rate-limits", "off") as room:
        yield room


async def ahead_of(fans: list[Visitor]) -> list[int | None]:
    return [status_of(answer).ahead for answer in await asyncio.gather(*(fan.join() for fan in fans))]


async def test_a_killed_server_does_not_end_the_room(place: ValkeyPlace, tmp_path: Path) -> None:
    """It comes back within the room's patience, as a service manager brings it back: people wait a moment longer."""
    async with room_at(place, tmp_path) as room:
        await room.open(600)
        fans = [room.fan() for _ in range(120)]
        joining = [asyncio.create_task(fan.join()) for fan in fans]
        await asyncio.wait(joining[:30])
        place.server.kill()
        await asyncio.to_thread(place.server.start)
        answers = await asyncio.gather(*joining)
        told = [status_of(answer).ahead for answer in answers]
        assert sorted(told, key=lambda ahead: ahead or 0) == list(range(120))
        assert await room.process.end() == 0
    async with room_at(place, tmp_path) as again:
        for fan in fans:
            fan.client = again.client
        assert await ahead_of(fans) == told


async def test_a_full_server_ends_the_room_and_everybody_keeps_his_place(place: ValkeyPlace, tmp_path: Path) -> None:
    async with room_at(place, tmp_path) as room:
        await room.open()
        await room.set(new_users_per_minute=60_000)
        shopper = room.fan()
        await shopper.join()
        token = (await let_in(shopper)).admission_token
        await room.set(new_users_per_minute=0)
        fans = [room.fan() for _ in range(5)]
        told = await ahead_of(fans)
        assert await ask(place.address, "CONFIG", "SET", "maxmemory", 1) == b"OK"
        late = await room.fan().join()
        assert (late.status_code, late.json()["code"]) == (503, wire.ErrorCode.BUSY)
        assert await asyncio.to_thread(room.process.process.wait, 60) == CANNOT_REACH
    (log,) = (tmp_path / "logs").glob("*.log")
    assert "maxmemory" in log.read_text()
    assert await ask(place.address, "CONFIG", "SET", "maxmemory", 0) == b"OK"
    async with room_at(place, tmp_path) as again:
        for fan in (shopper, *fans):
            fan.client = again.client
        assert await ahead_of(fans) == told
        status = status_of(await shopper.look())
        assert (status.state, bool(status.admission_token), bool(token)) == (wire.QueueState.ADMITTED, True, True)


async def test_a_second_room_on_one_store_ends_with_a_word(place: ValkeyPlace, tmp_path: Path) -> None:
    async with room_at(place, tmp_path) as room:
        with pytest.raises(AssertionError, match=rf"taquilla room: unix:.*{place.prefix}.*another room writes here: "):
            async with room_at(place, tmp_path):
                raise RuntimeError("it must not start")
        await room.open(600)
        assert status_of(await room.fan().join()).state is wire.QueueState.WAITING


async def test_a_room_that_waits_for_its_store_ends_when_it_is_told_to(place: ValkeyPlace, tmp_path: Path) -> None:
    meta = f"{{room:{place.prefix}}}:meta"
    until = int((time.time() + 3600) * 1000)
    await ask(place.address, "HSET", meta, "owner", "dead", "name", "a dead room", "until", until)
    words = [sys.executable, "-m", "booking", "room", *place.arguments]
    alone = {name: value for name, value in os.environ.items() if name != "TAQUILLA_DSN"}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=alone) as process:
        assert process.stderr is not None
        while "waits for the end of a lease" not in (line := await asyncio.to_thread(process.stderr.readline)):
            assert line, "it has ended"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, 60) == 0
    assert await ask(place.address, "HGET", meta, "owner") == b"dead", "it went without the store"


async def test_a_room_that_cannot_serve_lets_go_of_its_store(place: ValkeyPlace, tmp_path: Path) -> None:
    """A secret that is not there, a port that somebody has: else the next start waits for the end of its lease."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        checks = ["--bot-check-url", "https://checks.example", "--bot-check-secret-file", str(tmp_path / "nowhere")]
        for wrong, said in ((checks, "nowhere"), (["--port", str(port)], "in use")):
            words = [sys.executable, "-m", "booking", "room", *place.arguments, *wrong]
            done = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True, check=False)
            assert done.returncode == CANNOT_REACH
            assert said in done.stderr
            assert await ask(place.address, "HGET", f"{{room:{place.prefix}}}:meta", "owner") is None


async def test_before_a_sale_the_room_moves_to_valkey(place: ValkeyPlace, tmp_path: Path) -> None:
    old = tmp_path / "data"
    await know_booking(old)
    async with room_running(old, "--rate-limits", "off") as room:
        await room.open(600)
        fans = [room.fan() for _ in range(5)]
        told = await ahead_of(fans)
        keys = (await room.client.get("/v1/admission-keys")).json()
        assert "data/room.sqlite: database is locked" in _copy(place, old).stderr
        assert await room.process.end() == 0
    new = new_place(place.server)
    done = _copy(new, old)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"(prefix {new.prefix}): rooms 1, places 5, codes 0, keys 1, entries of the log 1" in done.stdout
    with pytest.raises(AssertionError, match=r"this store was copied to unix:.* --accept-copied-store"):
        async with room_running(old):
            raise RuntimeError("it must not start")
    async with room_at(new, tmp_path) as moved:
        for fan in fans:
            fan.client = moved.client
        assert await ahead_of(fans) == told
        assert (await moved.client.get("/v1/admission-keys")).json() == keys


def _copy(place: ValkeyPlace, old: Path) -> subprocess.CompletedProcess[str]:
    words = ["room", *place.arguments, "--copy-from", f"sqlite:{old}/room.sqlite"]
    done = subprocess.run([sys.executable, "-m", "booking", *words], capture_output=True, text=True, check=False)
    assert done.returncode in (0, CANNOT_REACH), done.stderr
    return done
