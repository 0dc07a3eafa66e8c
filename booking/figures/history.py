"""Seconds and minutes as they are kept: written by the watcher, read by whoever draws them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from booking import sql
from booking.figures.minutes import HOUSE, minute_of
from booking.figures.model import Minute, Second, pack, unpack_known
from booking.store.database import Database

KEPT_S = 16 * 60
MOST_POINTS = 3_000
_AT_ONCE = 10

T = TypeVar("T")


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
    began, ended = minute - timedelta(microseconds=1), minute + timedelta(seconds=59.999999)
    made = minute_of([second async for second in _seconds(db, began, ended)])
    if made:
        bodies = [pack(found) for found in made.values()]
        await db.fetch(sql.query("keep_minutes"), minute, list(made), bodies)


async def read_seconds(
    db: Database, after: datetime, until: datetime, event_id: int | None, names: frozenset[str] | None
) -> History:
    """What was measured second by second, the last quarter of an hour at most."""
    at, series = [], _Columns(names)
    async for second in _seconds(db, after, until):
        at.append(second.measured_at)
        series.put(_figures(second, event_id))
    return History(1, tuple(at), event_id, series.whole(), {})


async def read_minutes(
    db: Database, after: datetime, until: datetime, event_id: int | None, names: frozenset[str] | None
) -> History:
    """What is kept minute by minute."""
    number = HOUSE if event_id is None else event_id
    rows = await db.fetch(sql.query("read_minutes"), number, after, until, MOST_POINTS)
    at, series, peaks = [], _Columns(names), _Columns(names)
    async for row in _unhurried(rows):
        minute = unpack_known(row["body"], Minute)
        if minute is not None:
            at.append(row["minute"])
            series.put(minute.values)
            peaks.put(minute.worst)
    return History(60, tuple(at), event_id, series.whole(), peaks.whole())


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


async def _seconds(db: Database, after: datetime, until: datetime) -> AsyncIterator[Second]:
    """One by one: all of a quarter of an hour take as long to be forgotten as to be decoded."""
    rows = await db.fetch(sql.query("read_seconds"), after, until, MOST_POINTS)
    async for row in _unhurried(rows):
        second = unpack_known(row["body"], Second)
        if second is not None:
            yield second


def _figures(second: Second, event_id: int | None) -> Mapping[str, float]:
    if event_id is None:
        return second.house
    event = second.events.get(event_id)
    return {} if event is None else event.figures


class _Columns:
    """Rows of figures as series by name; of all names that are in a row where none are given."""

    def __init__(self, names: frozenset[str] | None) -> None:
        self._takes_all = names is None
        self._columns: dict[str, list[float | None]] = {name: [] for name in names or ()}
        self._count = 0

    def put(self, row: Mapping[str, float]) -> None:
        """One more value for each; None where it was not known."""
        for name in row.keys() - self._columns.keys() if self._takes_all else ():
            self._columns[name] = [None] * self._count
        for name, values in self._columns.items():
            values.append(row.get(name))
        self._count += 1

    def whole(self) -> dict[str, tuple[float | None, ...]]:
        return {name: tuple(self._columns[name]) for name in sorted(self._columns)}


async def _unhurried(rows: Iterable[T]) -> AsyncIterator[T]:
    """Row by row; nobody else of this process is kept waiting for two days' minutes."""
    for number, row in enumerate(rows):
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
        yield row
