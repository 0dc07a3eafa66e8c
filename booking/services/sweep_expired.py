"""The sweeper: frees seats whose time is over, so that maps show it (R5). Every rule holds while it is stopped.

It frees as well what the house kept back until now. The work is one SQL function each: it matches hold, status and
expiry under the locks, skips what others hold locked, and keeps seats whose payment runs or is not known (R7, R24).
"""

from __future__ import annotations

import asyncio

from booking import sql
from booking.store import control_calls
from booking.store.database import Database

TICK_S = 0.25
HOLDS_AT_A_TIME = 200


async def run(db: Database, *, tick_s: float = TICK_S) -> None:
    """Sweep until cancelled.

    Raises:
        AuthorityAwayError: the connection was lost; the caller starts it again.
    """
    while True:
        await control_calls.release_due_house_holds(db, HOLDS_AT_A_TIME)
        if await sweep_once(db) < HOLDS_AT_A_TIME:
            await asyncio.sleep(tick_s)


async def sweep_once(db: Database) -> int:
    """End up to `HOLDS_AT_A_TIME` expired holds, oldest first. Returns how many."""
    async with db.transaction() as connection:
        ended: int = await connection.fetchval(sql.query("sweep_expired"), HOLDS_AT_A_TIME)
    return ended
