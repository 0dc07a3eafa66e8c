"""`python -m tests.bench.feed_fanout.clients`: many clients of one feed, in a process of their own.

Reads a plan as one line of JSON from stdin, connects, writes a line when all are connected, listens until stdin ends,
and writes what it saw as JSON. A client is as little as can be: a socket whose frames are cut out and timed, so that
what is measured is the server's work.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from functools import partial
from time import monotonic

import msgspec
import uvloop

from backend_client.seat_frames import decode_delta
from booking.histogram import Histogram

_AT_ONCE = 100
_LOOKS = 100


class Plan(msgspec.Struct):
    """Where to connect, how many times."""

    host: str
    port: int
    path: str
    clients: int


class Seen:
    """What all clients saw. The first to get a version is the mark for the others."""

    def __init__(self) -> None:
        self.first: dict[int, float] = {}
        self.spread = Histogram()
        self.frames = 0
        self.closed = 0


class Client(asyncio.Protocol):
    """One connection: the handshake, then frames."""

    def __init__(self, plan: Plan, seen: Seen) -> None:
        self._plan, self._seen = plan, seen
        self._buffer = b""
        self.is_open = asyncio.get_running_loop().create_future()
        self.version = 0
        self._upgraded = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        head = (
            f"GET {self._plan.path} HTTP/1.1\r\nHost: {self._plan.host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        transport.write(head.encode())  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._upgraded:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if b" 101 " not in head.split(b"\r\n", 1)[0]:
                self.is_open.set_exception(ConnectionError(head[:200].decode("latin-1")))
                return
            self._upgraded, self._buffer = True, rest
            self.is_open.set_result(None)
        self._cut_frames(monotonic())

    def _cut_frames(self, at: float) -> None:
        while len(self._buffer) >= 2:
            length, start = self._buffer[1] & 0x7F, 2
            if length == 126:
                length, start = int.from_bytes(self._buffer[2:4], "big"), 4
            elif length == 127:
                length, start = int.from_bytes(self._buffer[2:10], "big"), 10
            if len(self._buffer) < start + length:
                return
            if self._buffer[0] & 0x0F == 2:
                self._saw(self._buffer[start : start + length], at)
            self._buffer = self._buffer[start + length :]

    def _saw(self, frame: bytes, at: float) -> None:
        self.version = decode_delta(frame).to_version
        self._seen.frames += 1
        self._seen.spread.record(at - self._seen.first.setdefault(self.version, at))

    def connection_lost(self, exc: Exception | None) -> None:
        self._seen.closed += 1
        if not self.is_open.done():
            self.is_open.set_exception(exc or ConnectionError("closed"))


def _itself(client: Client) -> Client:
    return client


async def _run(plan: Plan) -> dict[str, object]:
    loop, seen = asyncio.get_running_loop(), Seen()
    clients: list[Client] = []
    while len(clients) < plan.clients:
        some = [Client(plan, seen) for _ in range(min(_AT_ONCE, plan.clients - len(clients)))]
        await asyncio.gather(*(loop.create_connection(partial(_itself, one), plan.host, plan.port) for one in some))
        await asyncio.gather(*(one.is_open for one in some))
        clients += some
    sys.stdout.write("connected\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.readline)
    await asyncio.sleep(1.0)
    newest = max((one.version for one in clients), default=0)
    for _ in range(_LOOKS):  # what is on its way
        if all(one.version == newest for one in clients):
            break
        await asyncio.sleep(0.1)
    return {
        "frames": seen.frames, "versions": len(seen.first), "behind": sum(one.version != newest for one in clients),
        "closed": seen.closed, "first": seen.first, "spread_p50_ms": seen.spread.quantile_ms(0.5),
        "spread_p99_ms": seen.spread.quantile_ms(0.99), "spread_max_ms": seen.spread.largest_us / 1000,
    }  # fmt: skip


if __name__ == "__main__":
    found = uvloop.run(_run(msgspec.json.decode(sys.stdin.readline(), type=Plan)))
    sys.stdout.write(json.dumps(found) + "\n")
