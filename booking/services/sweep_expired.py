"""The sweeper: frees seats whose time is over, so that maps show it (R5). Every rule holds while it is stopped.

It frees as well what the house kept back until now. The work is one SQL function each: it matches hold, status and
expiry under the locks, skips what others hold locked, and keeps seats whose payment runs or is not known (R7, R24).
"""

from __future__ import annotations

import asyncio
import logging

from booking import sql
from booking.domain.errors import BookingError
from booking.store import control_calls
from booking.store.database import Database

TICK_S = 0.25
HOLDS_AT_A_TIME = 200

log = logging.getLogger(__name__)


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
    """End up to `HOLDS_AT_A_TIME` expired holds, oldest first. Returns how many.

    One hold that cannot be ended never stops the others (P32): then each is ended alone, and what fails is logged.
    """
    try:
        async with db.transaction() as connection:
            ended: int = await connection.fetchval(sql.query("sweep_expired"), HOLDS_AT_A_TIME)
    except BookingError:
        raise
    except Exception:
        log.exception("a hold cannot be ended with the others; each is ended alone")
        return await _sweep_each(db)
    return ended


async def _sweep_each(db: Database) -> int:
    ended = 0
    for row in await db.fetch(sql.query("list_due_holds"), HOLDS_AT_A_TIME):
        try:
            async with db.transaction() as connection:
                ended += bool(await connection.fetchval(sql.query("sweep_hold"), row["hold_id"]))
        except BookingError:
            raise
        except Exception:  # one bad row never stops the run; it is due again by itself
            log.exception("hold %s cannot be ended", row["hold_id"])
    return ended
