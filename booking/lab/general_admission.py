"""Places without numbers: one counter that everybody updates, against a row for each ticket and SKIP LOCKED."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter

from booking.lab.crowd import EVENT, connect, connections, reset
from booking.lab.outcomes import Outcome
from booking.store.connection import Connection

MODE = "general-admission"
BUYERS = 2_000
CONNECTIONS = 32
WORK_S = 0.005
"""Inside the transaction: the order, the payment intent. The document's 5 ms."""

_COUNT = "UPDATE ga_counter SET sold = sold + 1 WHERE event_id = $1 AND sold < capacity RETURNING sold"
_PICK = "SELECT id FROM ga_tickets WHERE event_id = $1 AND status = 'available' LIMIT 1 FOR UPDATE SKIP LOCKED"
_TAKE = "UPDATE ga_tickets SET status = 'sold', buyer = $1 WHERE id = $2"

Sell = Callable[[Connection, str], Awaitable[bool]]


async def one_counter(link: Connection, _: str) -> bool:
    """Every buyer updates the same row, and keeps it locked while it works."""
    async with link.transaction():
        sold = await link.fetchval(_COUNT, EVENT)
        await asyncio.sleep(WORK_S)
    return sold is not None


async def skip_locked(link: Connection, buyer: str) -> bool:
    """Every buyer takes any free ticket that nobody else has locked."""
    async with link.transaction():
        ticket = await link.fetchval(_PICK, EVENT)
        if ticket is None:
            return False
        await link.execute(_TAKE, buyer, ticket)
        await asyncio.sleep(WORK_S)
    return True


WAYS: tuple[tuple[str, Sell], ...] = (("one counter row", one_counter), ("SKIP LOCKED", skip_locked))


@dataclass(frozen=True, slots=True)
class WayFigures:
    """What one way sold, by its own count and by the tables'."""

    way: str
    buyers: int
    sold: int
    seconds: float
    counter: int
    rows_sold: int

    @property
    def per_s(self) -> float:
        return self.buyers / self.seconds

    def line(self) -> str:
        """The document's line."""
        return (
            f"{self.way:<16} sold={self.sold}  time={self.seconds:.2f}s  ({self.per_s:.0f} buyers/s)"
            f"  db: counter={self.counter} rows_sold={self.rows_sold}"
        )


def capacity_for(buyers: int) -> int:
    """Half as many tickets as buyers, as in the document."""
    return max(1, buyers // 2)


async def sell_places(dsn: str, buyers: int = BUYERS) -> Outcome:
    """Both ways one after the other, on fresh tables. Neither may sell more than there is, or less."""
    capacity = capacity_for(buyers)
    figures = [await _sell_one_way(dsn, name, sell, buyers, capacity) for name, sell in WAYS]
    exact = all(found.sold == capacity == found.counter + found.rows_sold for found in figures)
    worst = max(found.sold for found in figures)
    return Outcome(
        mode=MODE,
        buyers=buyers,
        winners=worst,
        results={"sold": worst, "sold out": buyers - worst},
        seconds=sum(found.seconds for found in figures),
        expected=f"both ways sell {capacity} tickets, neither more nor less",
        as_expected=exact,
        lines=tuple(found.line() for found in figures),
        figures={
            "capacity": capacity,
            "ways": {
                found.way: {
                    "sold": found.sold,
                    "seconds": round(found.seconds, 4),
                    "buyers_per_s": round(found.per_s, 1),
                    "counter": found.counter,
                    "rows_sold": found.rows_sold,
                }
                for found in figures
            },
        },
    )


async def _sell_one_way(dsn: str, name: str, sell: Sell, buyers: int, capacity: int) -> WayFigures:
    keeper = await connect(dsn)
    try:
        await reset(keeper, ())
        await keeper.execute("INSERT INTO ga_counter (event_id, capacity) VALUES ($1, $2)", EVENT, capacity)
        await keeper.execute("INSERT INTO ga_tickets (event_id) SELECT $1 FROM generate_series(1, $2)", EVENT, capacity)
        queue = list(range(buyers))
        async with connections(dsn, min(CONNECTIONS, buyers)) as links:

            async def work(link: Connection) -> int:
                sold = 0
                while queue:
                    sold += await sell(link, f"buyer-{queue.pop()}")
                return sold

            started = perf_counter()
            sold = sum(await asyncio.gather(*map(work, links)))
            seconds = perf_counter() - started
        counter = await keeper.fetchval("SELECT sold FROM ga_counter")
        rows = await keeper.fetchval("SELECT count(*) FROM ga_tickets WHERE status = 'sold'")
    finally:
        await keeper.close(timeout=5)
    return WayFigures(name, buyers, sold, seconds, counter, rows)
