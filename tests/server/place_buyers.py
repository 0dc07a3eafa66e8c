"""A crowd of buyers of one place each, as a process of its own: `python -m tests.server.place_buyers DSN EVENT BUYERS`.

Prints how many got a place, and every kind of refusal, as JSON.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter as Tally

import msgspec

from booking.domain.errors import BookingError
from booking.store.database import Database
from tests.server.box_office import fan
from tests.server.general_admission import Counter


async def buy(dsn: str, event_id: int, buyers: int) -> dict[str, int]:
    """Everybody at once; 'held', or the code of the refusal, and how many had it."""
    db = await Database.open(dsn)

    async def one() -> str:
        try:
            await Counter(db, fan(), event_id).hold(1)
        except BookingError as refusal:
            return refusal.code
        return "held"

    answers = Tally(await asyncio.gather(*(one() for _ in range(buyers))))
    await db.close()
    return dict(answers)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(buy(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))))
