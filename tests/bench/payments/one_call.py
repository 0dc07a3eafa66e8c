"""The same sale steps as one call each: one transaction, one round trip, one connection of a pool for every request.

It is the lanes' own work (replay, limits, cap, outbox, the order in the answer), called for one request at a time on
the pool that lone requests use; so the table compares batching, and nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from booking.store.database import Database

CONNECTIONS = 16


@asynccontextmanager
async def one_call_each(dsn: str) -> AsyncIterator[Database]:
    """The database without lanes, with as many connections as serve that best (BACKEND facts §3)."""
    db = await Database.open(dsn, application="bench one call", lanes=False, sale_size=CONNECTIONS, general_size=8)
    try:
        yield db
    finally:
        await db.close()
