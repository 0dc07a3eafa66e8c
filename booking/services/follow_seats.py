"""What an API process reads of the seats: a whole image, what came after a version, and the wake-up (R13, R15, G3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg

from booking import sql
from booking.domain.errors import AuthorityAwayError, EventNotFoundError
from booking.services.sequence_feed import CHANNEL, Notice, read_notice
from booking.store import feed_queries
from booking.store.connection import GENERAL_LIMITS, session_settings
from booking.store.database import Database
from booking.store.timely_pool import CONNECT_TIMEOUT_S
from booking.store.violations import domain_errors

PROBE_EVERY_S = 3.0
PROBE_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True)
class SeatImage:
    """All seats of an event at (epoch, version); `states` one staff byte a seat, `seat_versions` big-endian u32.

    Changes that were not numbered yet may be in it: compare a change's seat version before applying it.
    `sequenced_at`: the sequencer's last heartbeat.
    """

    event_id: int
    plan_version: int
    epoch: int
    version: int
    states: bytes
    seat_versions: bytes
    sequenced_at: datetime


@dataclass(slots=True)
class FeedPosition:
    """How far an event's feed is, and the batches (version, body) that were asked for."""

    epoch: int
    last_version: int
    batches: list[tuple[int, bytes]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AuthorityLook:
    """An answer of `look_at_authority`. `sequenced_at`: the sequencer's last heartbeat; None when it never ran."""

    server_time: datetime
    sequenced_at: datetime | None


@dataclass(frozen=True, slots=True)
class FeedNews:
    """An answer of `read_after`. An event that is missing in `events` has no feed any more; no times without events.

    `sequenced_at`: the sequencer's last heartbeat.
    """

    events: Mapping[int, FeedPosition]
    server_time: datetime | None
    sequenced_at: datetime | None


async def read_seats(db: Database, event_id: int) -> SeatImage:
    """All seats of an event, consistent with its feed version.

    Raises:
        EventNotFoundError: there is no such event.
        AuthorityAwayError: the database cannot be reached.
    """
    row = await feed_queries.read_seat_image(db, event_id)
    if row is None:
        raise EventNotFoundError(f"There is no event {event_id}.")
    return SeatImage(
        event_id,
        row["plan_version"],
        row["epoch"],
        row["last_version"],
        bytes(row["states"]),
        bytes(row["seat_versions"]),
        row["sequenced_at"],
    )


async def read_after(db: Database, positions: Mapping[int, int]) -> FeedNews:
    """What came after these versions (event id → version).

    Raises:
        AuthorityAwayError: the database cannot be reached.
    """
    events: dict[int, FeedPosition] = {}
    server_time: datetime | None = None
    sequenced_at: datetime | None = None
    for row in await feed_queries.read_feed_after(db, list(positions), list(positions.values())):
        position = events.setdefault(row["event_id"], FeedPosition(row["epoch"], row["last_version"]))
        if row["version"] is not None:
            position.batches.append((row["version"], bytes(row["body"])))
        server_time, sequenced_at = row["server_time"], row["sequenced_at"]
    return FeedNews(events, server_time, sequenced_at)


async def listen(db: Database, on_notice: Callable[[Notice], None]) -> None:
    """Listen for the sequencer's notices until the link ends or is silent; never returns otherwise.

    The link is probed, because a dead peer may leave it open for hours: at most
    `PROBE_EVERY_S + PROBE_TIMEOUT_S` pass before that is noticed (G3: 10 s).

    Raises:
        AuthorityAwayError: the link could not be made, ended, or did not answer.
    """
    with domain_errors():
        connection = await asyncpg.connect(
            db.dsn,
            timeout=CONNECT_TIMEOUT_S,
            server_settings=session_settings(GENERAL_LIMITS, "taquilla seat feed listener"),
        )
        try:
            ended = asyncio.Event()
            connection.add_termination_listener(lambda *_: ended.set())
            async with _answering():
                await connection.add_listener(CHANNEL, lambda *notice: on_notice(read_notice(str(notice[3]))))
            on_notice(Notice())
            while not await _ends_within(ended, PROBE_EVERY_S):
                async with _answering():
                    await connection.execute("SELECT 1")
            raise AuthorityAwayError("the listening connection ended")
        finally:
            connection.terminate()


@asynccontextmanager
async def _answering() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            yield
    except TimeoutError:
        raise AuthorityAwayError("the listening connection is silent") from None


async def _ends_within(ended: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await ended.wait()
    except TimeoutError:
        return False


async def check_authority(db: Database) -> datetime:
    """The authority's time, if it can be reached.

    Raises:
        AuthorityAwayError: it cannot.
    """
    return (await look_at_authority(db)).server_time


async def look_at_authority(db: Database) -> AuthorityLook:
    """The authority's time, and when changes of seats were last known to be numbered.

    Raises:
        AuthorityAwayError: it cannot be reached.
    """
    row = await db.pulse(sql.query("read_authority"))
    if row is None:
        raise AuthorityAwayError("The booking database answers nothing.")
    return AuthorityLook(row["server_time"], row["sequenced_at"])
