"""What only the database knows of the whole system, read once a second by the process that adds up.

Each part is a read of its own, the most telling ones first: when the database is slow or the second is over, the rest
is left out and is then *not known*, which is the truth. Nothing here reads more than a bounded number of rows, but for
seats of events that no API process keeps a map of: those are counted seldom and few at a time.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from booking import sql
from booking.domain.errors import BusyError
from booking.domain.figures import Figure
from booking.figures.lock_waits import LockWaits, read_lock_waits
from booking.figures.model import ConsumerPart, SeatCounts, UnknownPayments
from booking.store.database import Database

MOST_EVENTS = 50
EVENTS_EVERY_S = 5.0
COUNT_SEATS_EVERY_S = 15.0
COUNTED_AT_ONCE = 3
WITHIN_S = 0.8
CHANGES_OF_S = 60.0
"""Changes since an older look are let go: whoever asked for ever more of them would be too slow for ever."""
_NO_CONSUMERS = frozenset({"hold-expiry", "sweeper", "payments", "webhooks", "retention"})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SaleChanges:
    """What happened to holds of an event since the last reading."""

    held: int
    released: int
    confirmed: int


@dataclass(frozen=True, slots=True)
class WatchedEvent:
    """An event, and its places of general admission."""

    event_id: int
    name: str
    status: str
    places: SeatCounts


@dataclass(slots=True)
class HouseReading:
    """One second's reading. What could not be read is None, and lacks among the figures."""

    figures: dict[str, float] = field(default_factory=dict)
    lock_waits: LockWaits = field(default_factory=LockWaits)
    shoppers: dict[int, int] | None = None
    changes: dict[int, SaleChanges] | None = None
    unknown: tuple[UnknownPayments, ...] = ()
    unknown_by_event: dict[int, int] | None = None
    unsteered: dict[int, float] | None = None
    consumers: tuple[ConsumerPart, ...] = ()
    events: tuple[WatchedEvent, ...] = ()
    counted: dict[int, SeatCounts] = field(default_factory=dict)


class HouseReader:
    """Reads for one watcher; remembers where it stood."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._snap, self._snap_at = "", float("-inf")
        self._server: tuple[float, int] | None = None
        self._events: tuple[WatchedEvent, ...] = ()
        self._events_at = self._counted_at = float("-inf")
        self._counted: dict[int, SeatCounts] = {}
        self._counted_when: dict[int, float] = {}

    def restart(self) -> None:
        """Another process has watched meanwhile: what happens from now on is counted."""
        self._snap, self._server, self._counted, self._counted_when = "", None, {}, {}

    async def read(self, mapped: frozenset[int]) -> HouseReading:
        """One reading, within `WITHIN_S` or with parts left out. `mapped`: events whose seats an API process counts.

        Raises:
            AuthorityAwayError: the database cannot be reached.
        """
        reading = HouseReading()
        until = asyncio.get_running_loop().time() + WITHIN_S
        parts: tuple[Callable[[HouseReading], Awaitable[None]], ...] = (
            self._read_server, self._read_shoppers, self._read_changes, self._read_overdue, self._read_unknown,
            self._read_steering, self._read_after_sale, self._read_consumers, self._read_events,
        )  # fmt: skip
        for part in parts:
            if asyncio.get_running_loop().time() > until:
                log.info("figures: the second was over before %s", part.__name__)
                break
            try:
                await part(reading)
            except BusyError as error:
                log.info("figures: %s: %s", part.__name__, error.detail)
        reading.events = self._events
        await self._count_unmapped(reading, mapped)
        return reading

    async def _read_server(self, reading: HouseReading) -> None:
        row = (await self._db.fetch(sql.query("read_server_figures")))[0]
        now, commits = asyncio.get_running_loop().time(), row["commits"]
        found = reading.figures
        found[Figure.DATABASE_CONNECTION_SHARE] = row["sessions"] / row["most"]
        found[Figure.DEADLOCKS_PER_MIN] = row["deadlocks"]  # a count: sums.py makes it one of the last minute
        if self._server is not None and now > self._server[0]:
            found[Figure.DATABASE_COMMITS_PER_S] = max(0, commits - self._server[1]) / (now - self._server[0])
        self._server = now, commits
        if row["lock_waits"]:
            reading.lock_waits = await read_lock_waits(self._db)
        found[Figure.LOCK_WAITS] = reading.lock_waits.total
        found[Figure.LOCK_WAIT_OLDEST_S] = reading.lock_waits.oldest_s

    async def _read_shoppers(self, reading: HouseReading) -> None:
        rows = await self._db.fetch(sql.query("read_active_shoppers"))
        reading.shoppers = {row["event_id"]: row["shoppers"] for row in rows}

    async def _read_changes(self, reading: HouseReading) -> None:
        now = asyncio.get_running_loop().time()
        if now > self._snap_at + CHANGES_OF_S:
            self._snap = ""
        rows = await self._db.fetch(sql.query("read_sale_changes"), self._snap)
        is_first, self._snap, self._snap_at = not self._snap, rows[0]["snap"], now
        if not is_first:
            reading.changes = {
                row["event_id"]: SaleChanges(row["held"], row["released"], row["confirmed"])
                for row in rows
                if row["event_id"] is not None
            }

    async def _read_overdue(self, reading: HouseReading) -> None:
        row = (await self._db.fetch(sql.query("read_overdue_holds")))[0]
        reading.figures[Figure.EXPIRY_BACKLOG] = row["backlog"]
        reading.figures[Figure.EXPIRY_OLDEST_S] = row["oldest_s"] or 0.0

    async def _read_unknown(self, reading: HouseReading) -> None:
        rows = await self._db.fetch(sql.query("read_unknown_payments"))
        groups: dict[tuple[str, int, int | None], tuple[int, int]] = {}
        reading.unknown_by_event = {}
        for row in rows:
            key = row["currency"], row["from_s"], row["up_to_s"]
            count, amount = groups.get(key, (0, 0))
            groups[key] = count + row["count"], amount + row["amount_minor"]
            known = reading.unknown_by_event
            known[row["event_id"]] = known.get(row["event_id"], 0) + row["count"]
        reading.unknown = tuple(
            UnknownPayments(currency=currency, from_s=from_s, up_to_s=up_to_s, count=count, amount_minor=amount)
            for (currency, from_s, up_to_s), (count, amount) in groups.items()
        )
        reading.figures[Figure.PAYMENTS_UNKNOWN] = sum(row["count"] for row in rows)
        reading.figures[Figure.PAYMENTS_UNKNOWN_OLDEST_S] = max((row["oldest_s"] for row in rows), default=0.0)

    async def _read_steering(self, reading: HouseReading) -> None:
        rows = await self._db.fetch(sql.query("read_unsteered"))
        reading.unsteered = {row["event_id"]: max(0.0, row["unsteered_s"]) for row in rows}
        reading.figures[Figure.ADMISSION_UNSTEERED_S] = max(reading.unsteered.values(), default=0.0)

    async def _read_after_sale(self, reading: HouseReading) -> None:
        row = (await self._db.fetch(sql.query("read_after_sale_figures")))[0]
        for name in (Figure.TICKETING_LAG_S, Figure.ITEMS_OPEN, Figure.TICKET_DIFFERENCES):
            reading.figures[name] = row[name]

    async def _read_consumers(self, reading: HouseReading) -> None:
        rows = await self._db.fetch(sql.query("read_worker_figures"))
        reading.consumers = tuple(
            ConsumerPart(name=row["worker"], backlog=row["backlog"], oldest_s=row["oldest_s"], seen_s=row["seen_s"])
            for row in rows
        )
        readers = [one for one in reading.consumers if one.name not in _NO_CONSUMERS]
        reading.figures[Figure.OUTBOX_LAG] = max((one.backlog for one in readers), default=0)
        reading.figures[Figure.OUTBOX_OLDEST_S] = max((one.oldest_s or 0.0 for one in readers), default=0.0)
        silent = next((one.seen_s for one in readers if one.name == "sequencer"), None)
        if silent is not None:
            reading.figures[Figure.SEQUENCER_SILENT_S] = max(0.0, silent)

    async def _read_events(self, reading: HouseReading) -> None:
        now = asyncio.get_running_loop().time()
        if now < self._events_at + EVENTS_EVERY_S and not self._are_strange(reading):
            return
        rows = await self._db.fetch(sql.query("list_watched_events"), sorted(reading.shoppers or ()), MOST_EVENTS)
        self._events_at = now
        self._events = tuple(
            WatchedEvent(
                row["event_id"], row["name"], row["status"],
                SeatCounts(version=0, free=row["places_free"], held=row["places_held"], sold=row["places_sold"]),
            )
            for row in rows
        )  # fmt: skip

    def _are_strange(self, reading: HouseReading) -> bool:
        return not (reading.shoppers or {}).keys() <= {one.event_id for one in self._events}

    async def _count_unmapped(self, reading: HouseReading, mapped: frozenset[int]) -> None:
        now = asyncio.get_running_loop().time()
        wanted = [one.event_id for one in self._events if one.event_id not in mapped and one.status == "ON_SALE"]
        if wanted and now >= self._counted_at + COUNT_SEATS_EVERY_S:
            # The one that was counted longest ago, or never, comes first.
            wanted.sort(key=lambda event_id: self._counted_when.get(event_id, float("-inf")))
            self._counted_at = now
            await self._count(wanted[:COUNTED_AT_ONCE], now)
        # What could not be counted when its turn came is not known: nobody is let in for seats of long ago.
        oldest = now - COUNT_SEATS_EVERY_S * (math.ceil(len(wanted) / COUNTED_AT_ONCE) + 1)
        there = {one.event_id for one in self._events}
        self._counted_when = {one: at for one, at in self._counted_when.items() if one in there and at >= oldest}
        self._counted = {one: found for one, found in self._counted.items() if one in self._counted_when}
        reading.counted = dict(self._counted)

    async def _count(self, event_ids: list[int], now: float) -> None:
        try:
            rows = await self._db.fetch(sql.query("count_seats"), event_ids)
        except BusyError as error:
            log.info("figures: seats were not counted: %s", error.detail)
            return
        for row in rows:
            event_id = row["event_id"]
            self._counted[event_id] = SeatCounts(version=0, free=row["free"], held=row["held"], sold=row["sold"])
            self._counted_when[event_id] = now
