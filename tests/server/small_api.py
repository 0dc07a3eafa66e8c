"""A small HTTP server in the test's own process that answers as the test says: it stalls, sheds, lies, is silent."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from booking.rush.office import Office
from booking.rush.plan import Sale, SenderPlan, Server, Traffic
from booking.rush.sender import Sender
from booking.rush.tally import Tally, Telling


@dataclass
class Asked:
    """One request as it came; `at` is loop time."""

    at: float
    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, object]


@dataclass
class Said:
    """An answer; `raw` bytes win over everything else."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


Handler = Callable[[Asked], Awaitable[Said]]


@dataclass
class SmallApi:
    """Where it listens, what it was asked, how many connections were made."""

    server: Server
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def small_api(handler: Handler) -> AsyncIterator[SmallApi]:
    """A server on loopback for as long as the block runs."""
    api = SmallApi(Server(host="127.0.0.1", port=0, tls=False))
    links: set[asyncio.StreamWriter] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        api.connections += 1
        links.add(writer)
        try:
            while True:
                asked = await _read(reader)
                api.asked.append(asked)
                writer.write(_bytes_of(await handler(asked)))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            links.discard(writer)
            writer.close()

    listening = await asyncio.start_server(talk, "127.0.0.1", 0)
    api.server = Server(host="127.0.0.1", port=listening.sockets[0].getsockname()[1], tls=False)
    try:
        yield api
    finally:
        listening.close()
        for writer in list(links):
            writer.transport.abort()
        await listening.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(asyncio.get_running_loop().time(), method, path, headers, json.loads(body or b"{}"))


def _bytes_of(said: Said) -> bytes:
    if said.raw is not None:
        return said.raw
    body = b"" if said.body is None else json.dumps(said.body).encode()
    headers = "".join(f"{name}: {value}\r\n" for name, value in said.headers.items())
    return f"HTTP/1.1 {said.status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


@dataclass
class Counted:
    """What a sender told, summed."""

    kinds: dict[str, Tally] = field(default_factory=dict)
    tellings: list[Telling] = field(default_factory=list)

    def hear(self, telling: Telling) -> None:
        self.tellings.append(telling)
        for kind, counts in telling.kinds.items():
            self.kinds.setdefault(kind, Tally()).add(counts)

    @property
    def contradictions(self) -> list[str]:
        return [what for telling in self.tellings for what in telling.contradictions]


def sender_plan(server: Server, *, connections: int = 50, drain_s: float = 2.0, **traffic: object) -> SenderPlan:
    """Holds alone, evenly, at once; `traffic`, and members of the plan, win."""
    chosen: dict[str, object] = {
        "rate": 100.0, "maps_per_s": 0.0, "seconds": 1.0, "shape": "poisson", "skew": 0.0, "groups": 0.0,
        "double_clicks": 0.0, "buyers": 0.0, "releases": 0.0, "patience": 0.0, "declines": 0.0,
    }  # fmt: skip
    members: dict[str, object] = {"most_requests": 100_000, "timeout_s": 5.0, "seed": 3}
    for name, value in traffic.items():
        (chosen if name in chosen else members)[name] = value
    return SenderPlan(
        server=server, sale=Sale(event_id=1, prices=(100,) * 1_000, price_type_id=1), traffic=Traffic(**chosen),  # type: ignore[arg-type]
        tokens=("token",), connections=connections, drain_s=drain_s, starts_at=time.time(), **members,  # type: ignore[arg-type]
    )  # fmt: skip


async def send(plan: SenderPlan) -> tuple[Counted, Office]:
    """Run a sender in this process."""
    counted = Counted()
    sender = Sender(plan, counted.hear)
    async with asyncio.timeout(60):
        await sender.run()
    return counted, sender.office
