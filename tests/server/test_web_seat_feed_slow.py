"""Slow clients of the seat feed: one larger delta, no queue, and an end of patience."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from starlette.websockets import WebSocket

from backend_client import wire
from backend_client.seat_frames import Layout, StaffStatus, decode_delta
from booking.services import sequence_feed
from booking.store.database import Database
from booking.web import feed_socket, seat_projection
from booking.web.feed_socket import Stream, Wish
from booking.web.seat_projection import Batch
from booking.web.seat_tail import EventFeed, SeatTail
from tests.server.box_office import make_event
from tests.server.feed_line import SOON_S, _text
from tests.server.web_process import Running, running


@pytest.fixture
async def event_id(database: Database) -> int:
    return await make_event(database)


@pytest.fixture
async def sequencer(database: Database) -> AsyncIterator[None]:
    """A sequencer at its usual pace."""
    task = asyncio.create_task(sequence_feed.run(database), name="sequencer")
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def api(dsn: str, tmp_path: Path, sequencer: None) -> AsyncIterator[Running]:
    async with running("serve", "--dsn", dsn, folder=tmp_path) as api:
        yield api


class SlowSocket:
    """A client that takes frames only while its gate is open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.frames: list[bytes | str] = []
        self.closed_with: int | None = None

    async def send_text(self, frame: str) -> None:
        await self.gate.wait()
        self.frames.append(frame)

    async def send_bytes(self, frame: bytes) -> None:
        await self.gate.wait()
        self.frames.append(frame)

    async def close(self, code: int, _reason: str = "") -> None:
        self.closed_with = code

    async def until(self, count: int) -> None:
        async with asyncio.timeout(SOON_S):
            while len(self.frames) < count:
                await asyncio.sleep(0.001)


def slow_stream(tail: SeatTail, feed: EventFeed, socket: SlowSocket) -> asyncio.Task[None]:
    stream = Stream(tail, feed, Layout.STAFF, Wish(epoch=None, since=None, binary=True))
    return asyncio.create_task(stream.run(cast("WebSocket", socket)), name="stream")


def changed(feed: EventFeed, seat: int) -> None:
    word, seat_version = seat << 8 | StaffStatus.BLOCKED, 1
    body = np.array([[word, seat_version]], "<u4").tobytes()
    feed.apply(Batch.from_body(feed.projection.version + 1, body))


async def test_a_slow_client_gets_one_larger_delta_and_costs_no_queue(database: Database, event_id: int) -> None:
    tail = SeatTail(database)
    feed, socket = await tail.feed(event_id), SlowSocket()
    task = slow_stream(tail, feed, socket)
    await socket.until(1)
    socket.gate.clear()
    for seat in range(10):
        changed(feed, seat)
        await asyncio.sleep(0.01)
    socket.gate.set()
    await socket.until(3)
    deltas = [decode_delta(frame) for frame in socket.frames if isinstance(frame, bytes)]
    assert [(delta.from_version, delta.to_version) for delta in deltas] == [(0, 1), (1, 10)]
    assert deltas[1].seats.tolist() == list(range(1, 10))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    tail.close()


async def test_a_client_that_the_ring_has_passed_is_told_to_load_again(
    database: Database, event_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seat_projection, "RING_BATCHES", 4)
    tail = SeatTail(database)
    feed, socket = await tail.feed(event_id), SlowSocket()
    task = slow_stream(tail, feed, socket)
    await socket.until(1)
    socket.gate.clear()
    changed(feed, 0)
    await asyncio.sleep(0.01)
    for seat in range(1, 10):
        changed(feed, seat)
    socket.gate.set()
    await socket.until(3)
    assert isinstance(socket.frames[2], str)
    resync = _text.decode(socket.frames[2])
    assert isinstance(resync, wire.FeedResync)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    tail.close()


async def test_a_client_that_takes_nothing_is_dropped(
    database: Database, event_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_socket, "SEND_PATIENCE_S", 0.05)
    tail = SeatTail(database)
    feed, socket = await tail.feed(event_id), SlowSocket()
    task = slow_stream(tail, feed, socket)
    await socket.until(1)
    socket.gate.clear()
    changed(feed, 0)
    async with asyncio.timeout(SOON_S):
        await task
    assert socket.closed_with == 1013
    tail.close()
