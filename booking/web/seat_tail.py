"""Keeps the projections of this process up to date by tailing `seat_feed` (R13–R15, G3).

`seat_feed` has one writer, so its dense versions are a safe watermark. A notification only says "look now"; looking
every `POLL_S` anyway makes a lost, silent or killed listener cost half a second, and nothing is ever missed. While the
database is away the projections stay as they are and go on being served.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from backend_client.seat_frames import STATUS_MASK, Layout
from booking.domain.errors import BookingError
from booking.figures.model import SeatCounts
from booking.services import follow_seats
from booking.services.follow_seats import FeedPosition, SeatImage
from booking.services.keep_running import keep_running
from booking.services.sequence_feed import Notice
from booking.store.database import Database
from booking.web.feed_publisher import MIN_INTERVAL_S, FeedPublisher
from booking.web.seat_projection import Batch, FeedGapError, SeatProjection
from booking.web.tier_tail import TierBoard, TierTail

POLL_S = 0.5
UNUSED_AFTER_S = 600.0

log = logging.getLogger(__name__)


class EventFeed:
    """One event's projection, its tiers, and the publishers that show both.

    The projection is replaced when it is read anew.
    """

    def __init__(self, image: SeatImage) -> None:
        self.projection = _projection_of(image)
        self.followers = 0
        self.used_at = 0.0
        self.true_at = 0.0
        """Loop time at which the authority was asked last: whatever it had numbered then is in the projection."""
        self.publishers = {
            layout: FeedPublisher(interval_s, lambda: self.projection.version)
            for layout, interval_s in MIN_INTERVAL_S.items()
        }
        self.tiers = TierBoard(self._wake_publishers)

    def apply(self, batch: Batch) -> None:
        """Move the projection and tell the publishers.

        Raises:
            FeedGapError: see `SeatProjection.apply`.
        """
        self.projection.apply(batch)
        self._wake_publishers()

    def replace(self, image: SeatImage) -> None:
        """Start again from a new reading; clients that cannot be continued are told to resync."""
        self.projection = _projection_of(image)
        for publisher in self.publishers.values():
            publisher.restarted()

    def _wake_publishers(self) -> None:
        for publisher in self.publishers.values():
            publisher.changed()

    def close(self) -> None:
        for publisher in self.publishers.values():
            publisher.close()


def _projection_of(image: SeatImage) -> SeatProjection:
    return SeatProjection(
        event_id=image.event_id,
        plan_version=image.plan_version,
        epoch=image.epoch,
        version=image.version,
        states=np.frombuffer(image.states, np.uint8).copy(),
        seat_versions=np.frombuffer(image.seat_versions, ">u4").astype(np.uint32),
    )


class SeatTail:
    """The projections of this process. `run` tails until cancelled; `feed` gives one event's, loading it once."""

    def __init__(self, db: Database, *, poll_s: float = POLL_S) -> None:
        self._db = db
        self._poll_s = poll_s
        self._feeds: dict[int, EventFeed] = {}
        self._loading: dict[int, asyncio.Task[EventFeed]] = {}
        self._counts: dict[int, SeatCounts] = {}
        self._named: set[int] = set()
        self._wake = asyncio.Event()
        self._clock_offset = timedelta()
        self._tiers = TierTail(db, self._feeds, self.server_time, poll_s)
        self.sequenced_at: datetime | None = None
        """The sequencer's last heartbeat that was seen here; it stays when the database is away, as the seats do."""

    def server_time(self) -> datetime:
        """The database's time, as near as the last look at it tells."""
        return datetime.now(UTC) + self._clock_offset

    async def feed(self, event_id: int) -> EventFeed:
        """The feed of an event, read from the database at first use.

        Raises:
            EventNotFoundError: there is no such event.
            AuthorityAwayError: the event is not in memory and the database cannot be reached.
        """
        feed = self._feeds.get(event_id) or await self._loaded(event_id)
        feed.used_at = asyncio.get_running_loop().time()
        return feed

    async def free_seats(self, event_id: int) -> npt.NDArray[np.bool_]:
        """For each seat whether it is free, as far as this process knows; raises as `feed`."""
        states = (await self.feed(event_id)).projection.states(Layout.STAFF)
        free: npt.NDArray[np.bool_] = (states & STATUS_MASK) == 0
        return free

    def count_followers(self) -> int:
        """Clients of all feeds of this process."""
        return sum(feed.followers for feed in self._feeds.values())

    def count_seats(self) -> dict[int, SeatCounts]:
        """Seats of each event in memory by what they are; counted anew when its map has moved."""
        for event_id in self._counts.keys() - self._feeds.keys():
            del self._counts[event_id]
        for event_id, feed in self._feeds.items():
            known = self._counts.get(event_id)
            if known is None or known.version != feed.projection.version:
                free, held, paying, sold, *_ = feed.projection.count_statuses()
                self._counts[event_id] = SeatCounts(
                    version=feed.projection.version, free=free, held=held + paying, sold=sold
                )
        return dict(self._counts)

    async def _loaded(self, event_id: int) -> EventFeed:
        """One reading for all who ask meanwhile: they share its failure too, instead of waiting in line for their own.

        Whoever began it may go away.
        """
        loading = self._loading.get(event_id)
        if loading is None:
            loading = self._loading[event_id] = asyncio.create_task(self._load(event_id), name="seat-tail-load")
            loading.add_done_callback(lambda task: self._on_loaded(event_id, task))
        return await asyncio.shield(loading)

    async def _load(self, event_id: int) -> EventFeed:
        read_at = asyncio.get_running_loop().time()
        image = await follow_seats.read_seats(self._db, event_id)
        self.sequenced_at = self.sequenced_at or image.sequenced_at
        feed = self._feeds[event_id] = EventFeed(image)
        feed.true_at = feed.used_at = read_at
        return feed

    def _on_loaded(self, event_id: int, loading: asyncio.Task[EventFeed]) -> None:
        del self._loading[event_id]
        if not loading.cancelled():
            loading.exception()  # taken note of, should nobody have waited

    async def run(self) -> None:
        """Tail until cancelled: one task listens, one looks at seats, one at tiers."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen(), name="seat-tail-listen")
            tasks.create_task(self._look_on(), name="seat-tail-look")
            tasks.create_task(self._tiers.run(), name="tier-tail-look")

    async def _listen(self) -> None:
        await keep_running("seat feed listener", lambda: follow_seats.listen(self._db, self._on_notice))

    def _on_notice(self, notice: Notice) -> None:
        self._named.update(notice.seats)
        self._wake.set()
        self._tiers.look_soon(notice.places)

    @contextmanager
    def following_tiers(self, event_id: int, feed: EventFeed) -> Iterator[None]:
        """The counts of the tiers of `feed` are read, now and whenever they change, until the block is left."""
        feed.tiers.follow()
        self._tiers.look_soon((event_id,))
        try:
            yield
        finally:
            feed.tiers.unfollow()

    async def _look_on(self) -> None:
        await keep_running("seat feed tail", self._look_until_it_fails)

    async def _look_until_it_fails(self) -> None:
        loop = asyncio.get_running_loop()
        full_look_at = loop.time()
        while True:
            if loop.time() >= full_look_at:
                full_look_at = loop.time() + self._poll_s
                self._forget_unused(loop.time())
                await self._look(set(self._feeds))
            named, self._named = self._named, set()
            await self._look(named & self._feeds.keys())
            self._wake.clear()
            if not self._named:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(full_look_at):
                        await self._wake.wait()

    async def _look(self, event_ids: set[int]) -> None:
        """Bring these events up to date; read anew whatever cannot be continued."""
        if not event_ids:
            return
        asked_at = asyncio.get_running_loop().time()
        positions = {event_id: self._feeds[event_id].projection.version for event_id in event_ids}
        news = await follow_seats.read_after(self._db, positions)
        if news.server_time is not None:
            self._clock_offset = news.server_time - datetime.now(UTC)
            self.sequenced_at = news.sequenced_at
        broken = {event_id for event_id in event_ids if not self._advance(event_id, news.events.get(event_id))}
        for event_id in broken:
            log.warning("event %d: seat feed cannot be continued, reading all seats", event_id)
            await self._read_anew(event_id)
        for event_id in event_ids & self._feeds.keys():
            self._note_true(event_id, news.events.get(event_id), asked_at)

    def _note_true(self, event_id: int, position: FeedPosition | None, asked_at: float) -> None:
        feed = self._feeds[event_id]
        if position is not None and feed.projection.version >= position.last_version:  # not with more to be fetched
            feed.true_at = asked_at

    def _advance(self, event_id: int, position: FeedPosition | None) -> bool:
        """Apply what is new; False when the feed does not continue where the projection stands."""
        feed = self._feeds.get(event_id)
        if feed is None:
            return True
        if position is None or position.epoch != feed.projection.epoch:
            return False
        try:
            for version, body in position.batches:
                if version > feed.projection.version:
                    feed.apply(Batch.from_body(version, body))
        except FeedGapError:
            return False
        behind = position.last_version - feed.projection.version
        return behind == 0 or (behind > 0 and len(position.batches) > 0)

    async def _read_anew(self, event_id: int) -> None:
        try:
            image = await follow_seats.read_seats(self._db, event_id)
        except BookingError as error:
            if error.code != "event-not-found":
                raise
            self._feeds.pop(event_id).close()
            return
        if event_id in self._feeds:
            self._feeds[event_id].replace(image)

    def _forget_unused(self, now: float) -> None:
        for event_id, feed in list(self._feeds.items()):
            if not feed.followers and now - feed.used_at > UNUSED_AFTER_S:
                self._feeds.pop(event_id).close()

    def close(self) -> None:
        """Forget all projections and their timers."""
        for feed in self._feeds.values():
            feed.close()
        self._feeds.clear()
