"""Ways to sell one seat to a crowd: those that oversell, those that do not, and the index that catches the first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from booking.lab.crowd import EVENT, SEAT, WORK_S, Buyer, connect, reset, rush_at_seat
from booking.lab.hold_expiry import SEAT_NOW
from booking.lab.outcomes import Outcome, table_lines
from booking.store.connection import Connection

READ = "SELECT status FROM seats WHERE event_id = $1 AND seat_id = 'A1'"
READ_LOCKED = f"{READ} FOR UPDATE"
READ_VERSION = "SELECT status, version FROM seats WHERE event_id = $1 AND seat_id = 'A1'"
SELL = "UPDATE seats SET status = 'sold', held_by = $1 WHERE event_id = $2 AND seat_id = 'A1'"
SELL_VERSION = (
    "UPDATE seats SET status = 'sold', held_by = $1, version = version + 1"
    " WHERE event_id = $2 AND seat_id = 'A1' AND version = $3 RETURNING version"
)
BOOK = "INSERT INTO bookings (event_id, seat_id, buyer) VALUES ($1, 'A1', $2)"
HOLD = (
    "UPDATE seats SET status = 'held', held_by = $1, hold_expires_at = now() + interval '10 minutes'"
    " WHERE event_id = $2 AND seat_id = 'A1'"
    " AND (status = 'available' OR (status = 'held' AND hold_expires_at < now())) RETURNING seat_id"
)
BOOKINGS_NOW = "SELECT buyer FROM bookings WHERE seat_id = $1 ORDER BY id"
UNIQUE = "CREATE UNIQUE INDEX bookings_one_per_seat ON bookings (event_id, seat_id)"

BOOKED, HELD, TAKEN, CONFLICT = "booked", "held", "taken", "conflict"
WINS = (BOOKED, HELD)


async def naive(link: Connection, buyer: str) -> str:
    """Read, think, write, in a transaction that protects nothing."""
    async with link.transaction():
        if await link.fetchval(READ, EVENT) != "available":
            return TAKEN
        await asyncio.sleep(WORK_S)
        await _sell(link, buyer)
    return BOOKED


async def for_update(link: Connection, buyer: str) -> str:
    """Lock what is read: the others stand in line at the row."""
    async with link.transaction():
        if await link.fetchval(READ_LOCKED, EVENT) != "available":
            return TAKEN
        await asyncio.sleep(WORK_S)
        await _sell(link, buyer)
    return BOOKED


async def for_update_autocommit(link: Connection, buyer: str) -> str:
    """The same words without a transaction: the lock ends with the SELECT that took it."""
    if await link.fetchval(READ_LOCKED, EVENT) != "available":
        return TAKEN
    await asyncio.sleep(WORK_S)
    await _sell(link, buyer)
    return BOOKED


async def conditional(link: Connection, buyer: str) -> str:
    """Condition and change in one statement."""
    async with link.transaction():
        return HELD if await link.fetchval(HOLD, buyer, EVENT) else TAKEN


async def optimistic(link: Connection, buyer: str) -> str:
    """Read the version, think without a lock, write only if nobody else has."""
    async with link.transaction():
        row = await link.fetchrow(READ_VERSION, EVENT)
    if row is None or row["status"] != "available":
        return TAKEN
    await asyncio.sleep(WORK_S)
    async with link.transaction():
        if await link.fetchval(SELL_VERSION, buyer, EVENT, row["version"]) is None:
            return CONFLICT
        await link.execute(BOOK, EVENT, buyer)
    return BOOKED


async def _sell(link: Connection, buyer: str) -> None:
    await link.execute(SELL, buyer, EVENT)
    await link.execute(BOOK, EVENT, buyer)


@dataclass(frozen=True, slots=True)
class Way:
    """`oversells` is what the document shows of it; `books` whether a win is a row of bookings at once."""

    buyer: Buyer
    statements: tuple[str, ...]
    oversells: bool = False
    books: bool = True
    unique: bool = False
    title: str = ""


WAYS: Mapping[str, Way] = {
    "naive": Way(naive, (READ, SELL, BOOK), oversells=True),
    "for-update": Way(for_update, (READ_LOCKED, SELL, BOOK)),
    "for-update-autocommit": Way(for_update_autocommit, (READ_LOCKED, SELL, BOOK), oversells=True),
    "conditional": Way(conditional, (HOLD,), books=False),
    "optimistic": Way(optimistic, (READ_VERSION, SELL_VERSION, BOOK)),
    "unique-index": Way(naive, (READ, SELL, BOOK), unique=True, title="naive+unique"),
}


async def sell_one_seat(dsn: str, mode: str, buyers: int) -> Outcome:
    """Let `buyers` at seat A1 in one way, and look at what the tables say afterwards."""
    way = WAYS[mode]
    keeper = await connect(dsn)
    try:
        await reset(keeper)
        if way.unique:
            await keeper.execute(UNIQUE)
        crowd = await rush_at_seat(dsn, way.buyer, buyers, way.statements)
        rows = [row["buyer"] for row in await keeper.fetch(BOOKINGS_NOW, SEAT)]
        seat = await keeper.fetchrow(SEAT_NOW, EVENT, SEAT)
    finally:
        await keeper.close(timeout=5)
    if seat is None:
        raise LookupError("the seat of the experiment is gone")
    winners = sum(crowd.results.get(win, 0) for win in WINS)
    told_truly = len(rows) == (winners if way.books else 0)
    oversells = way.oversells and buyers > 1
    below = f"bookings rows for A1: {len(rows)}  first={rows[0] if rows else '-'}  seat now: {seat[0]} by {seat[1]}"
    return Outcome(
        mode=mode,
        buyers=buyers,
        winners=winners,
        results=crowd.results,
        seconds=crowd.seconds,
        expected="more than one buyer has the seat" if oversells else "one buyer has the seat",
        as_expected=told_truly and (winners > 1 if oversells else winners == 1),
        lines=table_lines(way.title or mode, buyers, crowd.seconds, crowd.results, below),
        figures={"bookings": len(rows)},
    )
