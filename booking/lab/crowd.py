"""Buyers who all start at the same instant, each on a connection of their own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from time import perf_counter

import asyncpg

from booking.lab.place import CONNECT_WITHIN_S
from booking.store.connection import Connection

EVENT = 1
SEAT = "A1"
WORK_S = 0.05
"""What an application does between reading a seat and writing it: prices, limits. The document's 50 ms."""

_CONNECT_AT_ONCE = 16

Buyer = Callable[[Connection, str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class CrowdResult:
    """What each buyer was told, counted; `seconds` from the barrier to the last answer."""

    results: dict[str, int]
    seconds: float


async def connect(dsn: str) -> Connection:
    """A session with the server's default isolation, read committed, whatever the role's own default is."""
    return await asyncpg.connect(
        dsn, timeout=CONNECT_WITHIN_S, server_settings={"default_transaction_isolation": "read committed", "jit": "off"}
    )


@asynccontextmanager
async def connections(dsn: str, count: int) -> AsyncIterator[list[Connection]]:
    """`count` open sessions, all there before anybody starts: opening takes longer than the race."""
    at_once = asyncio.Semaphore(_CONNECT_AT_ONCE)
    opened: list[Connection] = []

    async def open_one() -> None:
        async with at_once:
            opened.append(await connect(dsn))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(open_one())
        yield opened
    finally:
        await asyncio.gather(*(one.close(timeout=5) for one in opened), return_exceptions=True)


async def reset(connection: Connection, seats: Sequence[str] = (SEAT,)) -> None:
    """Empty tables, and the seats that an experiment sells."""
    await connection.execute(resources.files("booking.lab").joinpath("documents.sql").read_text(encoding="utf-8"))
    await connection.execute("DROP INDEX IF EXISTS bookings_one_per_seat")
    await connection.execute("TRUNCATE seats, bookings, ga_counter, ga_tickets RESTART IDENTITY")
    await connection.executemany("INSERT INTO seats (event_id, seat_id) VALUES ($1, $2)", [(EVENT, s) for s in seats])


async def rush_at_seat(dsn: str, buyer: Buyer, buyers: int, statements: Sequence[str]) -> CrowdResult:
    """Let them go. An error is an answer too, named after its class.

    `statements` are prepared beforehand, so that each costs one round trip, as it does with the document's driver.
    """
    gate = asyncio.Barrier(buyers)
    async with connections(dsn, buyers) as links:
        for link in links:
            for statement in statements:
                await link.prepare(statement)

        async def run(number: int) -> str:
            await gate.wait()
            try:
                return await buyer(links[number], f"buyer-{number:02d}")
            except asyncpg.PostgresError as error:
                return f"error: {type(error).__name__.removesuffix('Error')}"

        started = perf_counter()
        answers = await asyncio.gather(*(run(number) for number in range(buyers)))
        seconds = perf_counter() - started
    return CrowdResult(counted(answers), seconds)


def counted(answers: Sequence[str]) -> dict[str, int]:
    """How often each answer was given, in alphabetic order."""
    return dict(sorted(Counter(answers).items()))
