"""Keeping the map of the open event live (R13–R15, S5, S7)."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from app.actions.desk import Desk
from app.actions.follow_house_seats import read_house_kinds, tells_of_house_seats
from app.actions.propose_seats import lose_taken_picks
from app.actions.show_event import open_event
from app.core.errors import SaleNotReadyError
from backend_client.errors import BookingClientError
from backend_client.feed import Dial, Rhythm, SeatFeed, dial_websocket
from backend_client.feed_protocol import (
    Confirmed,
    DeltaTaken,
    FeedEvent,
    FeedState,
    SnapshotTaken,
    StateChanged,
    TiersTaken,
)
from backend_client.steady_time import steady_seconds
from backend_client.wire import EventId

_log = logging.getLogger(__name__)


async def follow_seats(desk: Desk, *, dial: Dial = dial_websocket) -> None:
    """Run while an event is shown; cancel it, and start it anew, when another is opened.

    Raises:
        SaleNotReadyError: no event is open.
    """
    if desk.store.event is None:
        raise SaleNotReadyError("no event is open")
    event_id = desk.store.event.event_id
    rhythm = Rhythm(
        reconnect_window_s=desk.patience.reconnect_window_s,
        snapshot_retry_s=desk.patience.snapshot_retry_s,
        fallback_s=desk.patience.fallback_s,
    )
    mark = desk.following = object()
    house_wanted = asyncio.Event()
    reading = asyncio.create_task(read_house_kinds(desk, event_id, house_wanted), name="house-kinds")
    try:
        while True:
            feed = SeatFeed(desk.client, event_id, rhythm=rhythm, dial=dial)
            async with aclosing(feed.events()) as events:
                async for event in events:
                    if not _shows(desk, event_id):
                        return
                    if not _take(desk, event):
                        break
                    if tells_of_house_seats(event):
                        house_wanted.set()
            await _reload(desk, event_id)
    finally:
        if desk.following is mark:  # else somebody follows another event, or this one anew, already
            desk.store.put_feed_state(FeedState.CLOSED)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def _shows(desk: Desk, event_id: EventId) -> bool:
    return desk.store.event is not None and desk.store.event.event_id == event_id


def _take(desk: Desk, event: FeedEvent) -> bool:
    """Put an event into the store; False when the seats do not fit the plan that is shown."""
    store = desk.store
    if _says_how_it_is(event, store.feed_state):
        store.hear_feed(steady_seconds())
    try:
        match event:
            case StateChanged(state):
                store.put_feed_state(state)
            case SnapshotTaken(snapshot):
                if store.plan is not None and snapshot.plan_version != store.plan.version:
                    return False
                store.load_seats(snapshot)
                lose_taken_picks(desk)
            case DeltaTaken(delta):
                store.apply_seats(delta)
                lose_taken_picks(desk)
            case TiersTaken(told_of, tiers):
                store.put_places(told_of, tiers)
            case _:
                pass
    except ValueError as error:
        _log.warning("the seats do not fit the plan: %s", error)
        return False
    return True


def _says_how_it_is(event: FeedEvent, state: FeedState) -> bool:
    """Whether the map is right at this moment. A snapshot on a link is not yet that: what follows tells."""
    if isinstance(event, SnapshotTaken):
        return state in {FeedState.STALE, FeedState.CONNECTING}
    return isinstance(event, DeltaTaken | Confirmed) or event == StateChanged(FeedState.LIVE)


async def _reload(desk: Desk, event_id: EventId) -> None:
    """The plan has changed under us: read the event again, as often as it takes."""
    while True:
        try:
            await open_event(desk, event_id)
        except (BookingClientError, ValueError) as error:  # seats that do not fit the plan of their own version
            _log.info("the event cannot be read yet: %s", getattr(error, "code", error))
            await desk.sleep(desk.patience.fallback_s)
        else:
            return
