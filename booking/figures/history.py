"""Seconds and minutes as they are kept: written by the watcher, read by whoever draws them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from booking import sql
from booking.figures.minutes import HOUSE, minute_of
from booking.figures.model import Minute, Second, pack, unpack_known
from booking.store.database import Database

KEPT_S = 16 * 60
MOST_POINTS = 3_000
_DECODED_AT_ONCE = 10


@dataclass(frozen=True, slots=True)
class History:
    """Series parallel to `at`; None where a figure was not known. `peaks` has the worst of minutes."""

    step_s: int
    at: tuple[datetime, ...]
    event_id: int | None
    series: Mapping[str, tuple[float | None, ...]]
    peaks: Mapping[str, tuple[float | None, ...]]


async def keep_second(db: Database, second: Second) -> None:
    """Keep a second, and let the oldest go."""
    await db.fetch(sql.query("keep_second"), second.second, second.measured_at, pack(second), KEPT_S)


async def keep_minute(db: Database, minute: datetime) -> None:
    """Make one minute of its seconds and keep it; nothing when there are none, or it is kept already."""
    seconds = await _seconds(db, minute - timedelta(microseconds=1), minute + timedelta(seconds=59.999999))
    made = minute_of(seconds)
    if made:
        bodies = [pack(found) for found in made.values()]
        await db.fetch(sql.query("keep_minutes"), minute, list(made), bodies)


async def read_seconds(
    db: Database, after: datetime, until: datetime, event_id: int | None, names: frozenset[str] | None
) -> History:
    """What was measured second by second, the last quarter of an hour at most."""
    seconds = await _seconds(db, after, until)
    found = [_figures(second, event_id) for second in seconds]
    at = tuple(second.measured_at for second in seconds)
    return History(1, at, event_id, _series(found, names), {})


async def read_minutes(
    db: Database, after: datetime, until: datetime, event_id: int | None, names: frozenset[str] | None
) -> History:
    """What is kept minute by minute."""
    number = HOUSE if event_id is None else event_id
    rows = await db.fetch(sql.query("read_minutes"), number, after, until, MOST_POINTS)
    known = [(row["minute"], unpack_known(row["body"], Minute)) for row in rows]
    kept = [(minute, one) for minute, one in known if one is not None]
    return History(
        60, tuple(minute for minute, _ in kept), event_id, _series([one.values for _, one in kept], names),
        _series([one.worst for _, one in kept], names),
    )  # fmt: skip


async def missing_minute(db: Database, after: datetime | None, last: datetime) -> datetime | None:
    """The oldest minute after `after`, up to `last`, that there are seconds of and that is not kept."""
    rows = await db.fetch(sql.query("read_missing_minute"), after, last)
    found: datetime | None = rows[0]["minute"]
    return found


async def server_time(db: Database) -> datetime:
    """The database's time: what is kept is dated by it."""
    now: datetime = (await db.fetch(sql.query("read_time")))[0][0]
    return now


def minute_before(instant: datetime) -> datetime:
    """The last minute that is over."""
    return instant.astimezone(UTC).replace(second=0, microsecond=0) - timedelta(minutes=1)


async def _seconds(db: Database, after: datetime, until: datetime) -> list[Second]:
    rows = await db.fetch(sql.query("read_seconds"), after, until, MOST_POINTS)
    found = []
    for number, row in enumerate(rows):
        if number % _DECODED_AT_ONCE == 0:
            await asyncio.sleep(0)  # nobody else is kept waiting for a quarter of an hour's seconds
        second = unpack_known(row["body"], Second)
        if second is not None:
            found.append(second)
    return found


def _figures(second: Second, event_id: int | None) -> Mapping[str, float]:
    if event_id is None:
        return second.house
    event = second.events.get(event_id)
    return {} if event is None else event.figures


def _series(found: Iterable[Mapping[str, float]], names: frozenset[str] | None) -> dict[str, tuple[float | None, ...]]:
    rows = list(found)
    known = {name for row in rows for name in row} if names is None else names
    return {name: tuple(row.get(name) for row in rows) for name in sorted(known)}
