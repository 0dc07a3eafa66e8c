"""For whom the house keeps seats back: read when the feed tells of such a seat, because its byte has no room (R9).

House holds are made by hand and seldom; a reading is one call for all of them. It is asked for once for many changes,
and at a random instant of `Patience.house_look_s`, so that a thousand consoles do not ask at once.
"""

from __future__ import annotations

import asyncio
import logging
import random

import numpy as np

from app.actions.desk import Desk
from app.core.house_seats import is_house_seat
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.feed_protocol import DeltaTaken, FeedEvent, SnapshotTaken
from backend_client.seat_frames import Layout
from backend_client.wire import EventId

_log = logging.getLogger(__name__)


def tells_of_house_seats(event: FeedEvent) -> bool:
    """Whether seats that the house keeps back are among what came: their kinds may be others now."""
    if isinstance(event, SnapshotTaken):
        return event.snapshot.layout is Layout.STAFF and bool(np.any(is_house_seat(event.snapshot.states)))
    if isinstance(event, DeltaTaken):
        return event.delta.layout is Layout.STAFF and bool(np.any(is_house_seat(event.delta.states)))
    return False


async def read_house_kinds(desk: Desk, event_id: EventId, wanted: asyncio.Event) -> None:
    """Read the kinds whenever `wanted` is set, until cancelled. While they cannot be read the old ones stay."""
    dice = random.Random()  # noqa: S311 - it spreads calls, it keeps no secret
    while True:
        await wanted.wait()
        await desk.sleep(dice.uniform(0.0, desk.patience.house_look_s))
        wanted.clear()
        try:
            answer = await desk.client.house_holds(event_id)
        except BookingRefusedError as error:
            _log.info("the seats of the house are not told: %s", error.code)
        except BookingClientError as error:
            _log.info("the seats of the house cannot be read yet: %s", error.code)
            wanted.set()
            await desk.sleep(desk.patience.fallback_s)
        else:
            desk.store.put_house_holds(answer)
