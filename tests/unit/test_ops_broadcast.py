"""The figures to all who look on: one message, nobody waits for anybody, no queue for who is slow (R32)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from booking.figures.standing import Standing
from booking.web import ops_broadcast
from booking.web.feed_socket import SLOW_CONSUMER
from booking.web.ops_board import OpsBoard
from booking.web.ops_broadcast import SERVERS_SEND, OpsBroadcast
from booking.web.ops_feed import OpsStream

SOON_S = 60.0


class Board:
    """A frame that says which word of the watcher it is."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing

    @property
    def frame(self) -> str:
        return f"statement {self._standing.number}" if self._standing.number else ""


class House:
    def __init__(self) -> None:
        self.standing = Standing(UUID(int=1))
        self.broadcast = OpsBroadcast(self.standing, cast("OpsBoard", Board(self.standing)))
        self.tasks: list[asyncio.Task[None]] = []

    def word(self) -> None:
        self.standing._tell()

    def follow(self, send: Callable[[Any], Awaitable[None]]) -> asyncio.Task[None]:
        self.tasks.append(asyncio.create_task(self.broadcast.follow(send), name="follow"))
        return self.tasks[-1]

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


class Client:
    """The server's send: each answer is a future that is done once the client has taken the frame."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.on_their_way: list[asyncio.Future[None]] = []
        self.takes = True

    def __call__(self, message: Any) -> asyncio.Future[None]:
        self.messages.append(message)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.takes:
            future.set_result(None)
        else:
            self.on_their_way.append(future)
        return future

    @property
    def frames(self) -> list[str]:
        return [message["text"] for message in self.messages]

    async def until(self, frame: str) -> None:
        async with asyncio.timeout(SOON_S):
            while not self.frames or self.frames[-1] != frame:
                await asyncio.sleep(0.001)


async def test_all_get_the_same_message_and_who_comes_later_the_newest_at_once() -> None:
    house, first, second, late = House(), Client(), Client(), Client()
    house.follow(first)
    house.follow(second)
    await asyncio.sleep(0)
    assert first.messages == [], "there is no first statement yet"
    house.word()
    await first.until("statement 1")
    await second.until("statement 1")
    assert first.messages[0] is second.messages[0]
    house.follow(late)
    await late.until("statement 1")
    house.word()
    for client in (first, second, late):
        await client.until("statement 2")
        assert client.frames == ["statement 1", "statement 2"]
    await house.end()


class Fallible(Board):
    """A board that cannot make one of its statements."""

    @property
    def frame(self) -> str:
        if self._standing.number == 2:
            raise ValueError("a figure that no statement can have")
        return super().frame


async def test_a_statement_that_cannot_be_made_is_missed_and_the_next_one_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    house, client = House(), Client()
    house.broadcast = OpsBroadcast(house.standing, cast("OpsBoard", Fallible(house.standing)))
    follower = house.follow(client)
    house.word()
    await client.until("statement 1")
    house.word()
    async with asyncio.timeout(SOON_S):
        while not caplog.records:
            await asyncio.sleep(0.001)
    house.word()
    await client.until("statement 3")
    assert client.frames == ["statement 1", "statement 3"]
    assert not follower.done()
    await house.end()


async def test_who_comes_between_two_words_takes_none_from_the_others() -> None:
    house, first, late = House(), Client(), Client()
    house.follow(first)
    house.word()
    await first.until("statement 1")
    house.word()
    house.follow(late)
    await late.until("statement 2")
    await first.until("statement 2")
    await house.end()


async def test_a_slow_one_gets_the_newest_when_it_takes_one_and_holds_nobody_up() -> None:
    house, slow, quick = House(), Client(), Client()
    slow.takes = False
    house.follow(slow)
    house.follow(quick)
    for number in range(1, 6):
        house.word()
        await quick.until(f"statement {number}")
    assert slow.frames == ["statement 1"], "one frame on its way, no queue"
    slow.takes = True
    slow.on_their_way[0].set_result(None)
    await slow.until("statement 5")
    assert slow.frames == ["statement 1", "statement 5"]
    assert quick.frames == [f"statement {number}" for number in range(1, 6)]
    await house.end()


async def test_one_that_takes_nothing_is_cut_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops_broadcast, "SEND_PATIENCE_S", 0.05)
    monkeypatch.setattr(ops_broadcast, "_LOOK_AGAIN_S", 0.01)
    house, stuck, quick, closed = House(), Client(), Client(), list[int]()
    stuck.takes = False

    async def send_text(_: str) -> None:
        return None

    async def close(code: int, _reason: str = "") -> None:
        closed.append(code)

    socket: Any = SimpleNamespace(scope={SERVERS_SEND: stuck}, send=None, send_text=send_text, close=close)
    house.follow(quick)
    streaming = asyncio.create_task(OpsStream(house.standing, house.broadcast).run(socket))
    await asyncio.sleep(0)
    house.word()
    async with asyncio.timeout(SOON_S):
        await streaming
    assert closed == [SLOW_CONSUMER]
    assert stuck.on_their_way[0].cancelled(), "nobody waits for its frame any more"
    house.word()
    await quick.until("statement 2")
    await house.end()


async def test_a_send_that_fails_ends_its_client_alone() -> None:
    house, quick = House(), Client()

    async def broken(_: Any) -> None:
        raise OSError("gone")

    failing = house.follow(broken)
    house.follow(quick)
    house.word()
    async with asyncio.timeout(SOON_S):
        with pytest.raises(OSError, match="gone"):
            await failing
    await quick.until("statement 1")
    await house.end()


async def test_when_nobody_looks_on_nothing_runs() -> None:
    house, client = House(), Client()
    house.follow(client)
    house.word()
    await client.until("statement 1")
    await house.end()
    async with asyncio.timeout(SOON_S):
        while any(task.get_name() == "ops-broadcast" for task in asyncio.all_tasks()):
            await asyncio.sleep(0)
    again = Client()
    house.follow(again)
    await again.until("statement 1")
    house.word()
    await again.until("statement 2")
    await house.end()


async def test_a_send_that_fails_at_once_ends_its_client_alone() -> None:
    """A server may refuse a frame before there is a future: the task that tells all must not end by it."""
    house, well = House(), Client()

    def gone(_message: Any) -> Awaitable[None]:
        raise RuntimeError("the connection is closed")

    try:
        house.word()
        house.follow(well)
        await well.until("statement 1")
        broken = house.follow(gone)
        with pytest.raises(RuntimeError, match="closed"):
            await asyncio.wait_for(broken, SOON_S)
        late = Client()
        house.follow(late)
        await late.until("statement 1")
        nobodys = ops_broadcast._Client(gone)
        house.broadcast._clients.add(nobodys)
        house.word()
        await well.until("statement 2")
        house.word()
        await well.until("statement 3")
        await late.until("statement 3")
        # Its error is taken note of here: told by the collector in the midst of some import, it ends that import.
        nobodys.leave()
    finally:
        await house.end()
