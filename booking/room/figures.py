"""What the room tells of itself, once a second: who waits, who is inside, how fast it lets in (R20, R32).

It leaves that in booking's database, where all processes leave their part. While booking is away nothing is told, and
nothing in the room waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from booking.domain.errors import BookingError
from booking.domain.figures import Figure
from booking.figures.collector import Collector
from booking.figures.meter import Meter
from booking.figures.model import ProcessKind
from booking.figures.watch import Watch, open_for_figures
from booking.room.house import House
from booking.room.places import State

TRY_AGAIN_S = 5.0

log = logging.getLogger(__name__)


def room_figures(house: House) -> dict[int, dict[str, float]]:
    """Each room's figures by event, as they are now."""
    return {event_id: dict(_figures_of(house, event_id)) for event_id in house.rooms}


def _figures_of(house: House, event_id: int) -> Iterator[tuple[str, float]]:
    room, now = house.hosted(event_id).room, house.now()
    yield Figure.ROOM_WAITING, room.places.waiting
    yield Figure.ROOM_AWAY, room.places.count(State.AWAY)
    yield Figure.ROOM_INSIDE, room.active
    yield Figure.ADMISSION_SET_PER_MIN, room.settings.new_users_per_minute if room.is_letting_in else 0
    yield Figure.ADMISSION_MEASURED_PER_MIN, room.pace.per_minute(now)
    estimate = room.pace.estimate(room.places.waiting, now, room.settings.new_users_per_minute)
    if estimate is not None and room.is_letting_in:
        yield Figure.ROOM_WAIT_S, estimate.expected_s


@contextmanager
def telling_figures(dsn: str | None, house: House) -> Iterator[None]:
    """Tell them until the block is left; nothing without an address of booking."""
    task = None if not dsn else asyncio.create_task(_tell(dsn, house), name="room-figures")
    try:
        yield
    finally:
        if task is not None:
            task.cancel()


async def _tell(dsn: str, house: House) -> None:
    """Connect, however long it takes, and report from then on."""
    while True:
        try:
            db = await open_for_figures(dsn, "taquilla room")
        except BookingError as error:
            log.info("figures wait: %s", error.detail)
            await asyncio.sleep(TRY_AGAIN_S)
            continue
        collector = Collector(ProcessKind.ROOM, Meter(), event_gauges=lambda: room_figures(house))
        with suppress(BookingError):
            try:
                # The room adds nothing up: that it goes on must not depend on what the database has to tell.
                await Watch(db, collector, may_watch=False).run()
            finally:
                await db.close()
