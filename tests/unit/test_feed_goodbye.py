"""A feed ends although its client takes nothing any more, not even a goodbye (S5)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from starlette.websockets import WebSocket

from backend_client import wire
from booking.web import feed_socket
from booking.web.feed_socket import SLOW_CONSUMER, close_in_time, stream_until_closed

SOON_S = 60.0


class Stuck:
    """A connection whose client has stopped reading: what is sent waits for it, and so does the goodbye."""

    def __init__(self) -> None:
        self.closed_with: list[int] = []

    async def receive(self) -> dict[str, str]:
        never: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        return await never

    async def close(self, code: int, _reason: str = "") -> None:
        self.closed_with.append(code)
        await asyncio.get_running_loop().create_future()


class Sending:
    """A frame that is on its way for ever."""

    async def run(self, socket: Any) -> None:
        await socket.receive()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_socket, "SEND_PATIENCE_S", 0.05)


async def test_a_feed_whose_token_has_ended_is_over_whatever_its_client_takes() -> None:
    stuck = Stuck()
    async with asyncio.timeout(SOON_S):
        await stream_until_closed(cast("WebSocket", stuck), Sending(), datetime.now(UTC) - timedelta(seconds=1))
    assert stuck.closed_with == [wire.FEED_TOKEN_EXPIRED]


async def test_a_client_that_takes_no_frames_keeps_nothing_by_taking_no_goodbye() -> None:
    stuck = Stuck()
    async with asyncio.timeout(SOON_S):
        await close_in_time(cast("WebSocket", stuck), SLOW_CONSUMER)
    assert stuck.closed_with == [SLOW_CONSUMER]
