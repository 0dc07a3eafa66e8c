"""The authority's connections: pools with limits of their own, calls that repeat where that is right.

`Database.open(dsn)` connects once and fails with authority-away when nobody is there. `transaction()` is for
work of several statements, `fetch()` for reads, `call()` for one SQL function that is a whole sale step: it
carries a key or is idempotent by nature, so after a deadlock or a lost connection it is simply called again (G5, G6).
Every one of them ends in time, whatever the database does: see `timely_pool`.
Holds (`decide_hold()`), checkouts, payments and their sending, results and order reads go through lanes, many at a
time; without lanes each goes on its own.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

from booking.domain.errors import AuthorityAwayError
from booking.store.block_source import BlockSource
from booking.store.connection import (
    GENERAL_LIMITS,
    LANE_LIMITS,
    SALE_LIMITS,
    Connection,
    Limits,
    Record,
)
from booking.store.hold_lane import HoldAsk, HoldVerdict, HoldWork
from booking.store.lanes import Lane
from booking.store.micro_batches import MicroBatches
from booking.store.place_lane import PlaceAsk, PlaceVerdict, PlaceWork
from booking.store.sale_lanes import OrderPicture, OrderReads, SaleAnswer, SaleAsk, SaleWork, SendingWork
from booking.store.seat_labels import SeatLabels
from booking.store.tier_names import TierNames
from booking.store.timely_pool import TimelyPool
from booking.store.violations import domain_errors, is_connection_lost, may_repeat

T = TypeVar("T")

MAX_REPEATS = 5
MAX_RECONNECTS = 4
HOLD_LANES = 2
SALE_LANES = 5
PLACE_LANES = 2
PULSE_S = 1.5


class Database:
    """One authority: its general pool, its sale pool, its hold lanes, and how calls are repeated."""

    def __init__(self, dsn: str, limits: Limits, *, lanes: bool) -> None:
        """Nothing is connected before `_connect`; use `open`."""
        self.dsn = dsn
        self.general = TimelyPool(limits, self._distrust_all)
        self.sales = TimelyPool(SALE_LIMITS, self._distrust_all)
        self.lanes = TimelyPool(LANE_LIMITS, self._distrust_all) if lanes else None
        self.seat_labels = SeatLabels(self.fetch)
        self.blocks = BlockSource(self.fetch)
        self._hold_work = HoldWork(self._fetch_on_lane, self.call)
        self.hold_lanes: MicroBatches[HoldAsk, HoldVerdict] | None = None
        self.tier_names = TierNames(self.fetch)
        self.place_work = PlaceWork(self._fetch_on_lane, self.call)
        self.places: Lane[PlaceAsk, PlaceVerdict] = Lane(self.place_work, "places", PLACE_LANES)
        self.check_outs = self._sale_lane("check_out_batch", "checkouts")
        self.payments = self._sale_lane("open_payment_batch", "payments")
        self.sendings: Lane[UUID, bool] = Lane(SendingWork(self._fetch_on_lane, self.call_once), "sendings")
        self.results = self._sale_lane("record_result_batch", "results")
        reads = OrderReads(self._fetch_on_lane, self.fetch)
        self.order_reads: Lane[UUID, OrderPicture] = Lane(reads, "order reads")

    def _sale_lane(self, statement: str, name: str) -> Lane[SaleAsk, SaleAnswer]:
        return Lane(SaleWork(statement, self._fetch_on_lane, self.call), name)

    def _lanes_of_sales(self) -> tuple[Lane[SaleAsk, SaleAnswer] | Lane[UUID, OrderPicture] | Lane[UUID, bool], ...]:
        return (self.check_outs, self.payments, self.sendings, self.results, self.order_reads)

    @classmethod
    async def open(
        cls,
        dsn: str,
        *,
        lanes: bool = True,
        application: str = "taquilla",
        general_size: int = 6,
        sale_size: int = 8,
        limits: Limits = GENERAL_LIMITS,
    ) -> Database:
        """Connect to the authority, and start the lanes in the running loop. `limits` are the general pool's.

        Raises:
            AuthorityAwayError: nobody answers there.
        """
        db = cls(dsn, limits, lanes=lanes)
        with domain_errors():
            await db.general.open(dsn, application, general_size)
            await db.sales.open(dsn, f"{application} sales", sale_size, min_size=0)
            if db.lanes is not None:
                await db.lanes.open(dsn, f"{application} lane", HOLD_LANES + SALE_LANES + PLACE_LANES, min_size=0)
                db.hold_lanes = MicroBatches(db._hold_work, "holds", HOLD_LANES)
                db.hold_lanes.start()
                db.places.start()
                for lane in db._lanes_of_sales():
                    lane.start()
        return db

    async def close(self) -> None:
        """Finish what the lanes have under way, then close all connections; those that hang are cut."""
        if self.hold_lanes is not None:
            await self.hold_lanes.close()
        await asyncio.gather(self.places.close(), *(lane.close() for lane in self._lanes_of_sales()))
        await asyncio.gather(*(pool.close() for pool in self.pools().values()))

    def pools(self) -> dict[str, TimelyPool]:
        """The pools by name."""
        lanes = {} if self.lanes is None else {"lanes": self.lanes}
        return {"general": self.general, "sales": self.sales, **lanes}

    def running_lanes(self) -> dict[str, MicroBatches[Any, Any]]:
        """The lanes that run, by name; none before `open`, and none in a program without lanes."""
        found: dict[str, MicroBatches[Any, Any] | None] = {
            "holds": self.hold_lanes,
            "places": self.places.batches,
            "checkouts": self.check_outs.batches,
            "payments": self.payments.batches,
            "sendings": self.sendings.batches,
            "results": self.results.batches,
            "order reads": self.order_reads.batches,
        }
        return {name: lane for name, lane in found.items() if lane is not None}

    def _distrust_all(self) -> None:
        for pool in self.pools().values():
            pool.distrust()

    async def decide_hold(self, ask: HoldAsk) -> HoldVerdict:
        """Have a hold decided: on a lane, together with those that wait beside it, or alone.

        Raises:
            BusyError: too much is waiting, or a lock was not given in time.
            AuthorityAwayError: the outcome is not known; the same key will tell.
        """
        if self.hold_lanes is None:
            return await self._hold_work.run_alone(ask)
        return await self.hold_lanes.submit(ask)

    @asynccontextmanager
    async def transaction(self, limits: Limits | None = None) -> AsyncIterator[Connection]:
        """A transaction on the general pool, under its limits or the given ones. Errors are domain errors."""
        within_s = (limits or self.general.limits).transaction_s
        with domain_errors():
            async with self.general.trip(within_s) as connection, connection.transaction():
                if limits is not None:
                    await set_limits(connection, limits)
                yield connection

    async def fetch(self, query: str, *args: object) -> list[Record]:
        """Read. A connection that was lost is replaced and the read repeated."""
        return await self._repeat(self.general, query, args)

    async def fetchrow(self, query: str, *args: object) -> Record | None:
        """Read one row or none."""
        rows = await self.fetch(query, *args)
        return rows[0] if rows else None

    async def pulse(self, query: str) -> Record | None:
        """Read one row at once or not at all: what is asked is whether the authority answers.

        Raises:
            BusyError, AuthorityAwayError: not within `PULSE_S`.
        """
        rows = await self._repeat(self.general, query, (), within_s=PULSE_S, silent_after_s=PULSE_S / 2)
        return rows[0] if rows else None

    async def call(self, query: str, *args: object) -> list[Record]:
        """Run one statement that is a whole sale step, as a transaction of its own, on the sale pool.

        It must be safe to run twice: by its key, or by its nature.

        Raises:
            BusyError: it waited too long for a lock or for a connection.
            AuthorityAwayError: the connection was lost and could not be made again, or the authority is silent; the
                outcome is not known, the same key will tell.
        """
        return await self._repeat(self.sales, query, args)

    async def call_patiently(self, limits: Limits, query: str, *args: object) -> list[Record]:
        """As `call`, on the general pool and under limits of its own, for a step that may have to wait for others."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limits.transaction_s

        async def once() -> list[Record]:
            async with self.general.trip(until - loop.time()) as connection, connection.transaction():
                await set_limits(connection, limits)
                rows: list[Record] = await connection.fetch(query, *args)
                return rows

        with domain_errors():
            return await repeat(once)

    async def call_once(self, query: str, *args: object) -> list[Record]:
        """Run one statement as a transaction of its own, on the sale pool, and never again.

        Raises:
            BusyError: it waited too long for a lock or for a connection; nothing was done.
            AuthorityAwayError: the outcome is not known.
        """
        with domain_errors():
            return await self.sales.fetch(self.sales.limits.statement_s, query, args)

    async def _fetch_on_lane(self, query: str, *args: object) -> list[Record]:
        if self.lanes is None:
            raise AuthorityAwayError("This program runs no lanes.")
        return await self.lanes.fetch(self.lanes.limits.statement_s, query, args)

    async def _repeat(
        self,
        pool: TimelyPool,
        query: str,
        args: tuple[object, ...],
        *,
        within_s: float | None = None,
        silent_after_s: float | None = None,
    ) -> list[Record]:
        loop = asyncio.get_running_loop()
        until = loop.time() + (within_s or pool.limits.statement_s)
        with domain_errors():
            # All tries share the time of one: an answer that comes later helps nobody.
            return await repeat(lambda: pool.fetch(until - loop.time(), query, args, silent_after_s=silent_after_s))


async def repeat(work: Callable[[], Awaitable[T]]) -> T:
    """Run `work` until it ends in an answer, or in an error that repeating does not cure, or the cap is reached."""
    repeats = reconnects = 0
    while True:
        try:
            return await work()
        except Exception as error:
            if may_repeat(error) and repeats < MAX_REPEATS:
                repeats += 1
            elif is_connection_lost(error) and reconnects < MAX_RECONNECTS:
                reconnects += 1
            else:
                raise
        # Spread out, so that those who met do not meet again.
        await asyncio.sleep(random.uniform(0.001, 0.02) * 2 ** (repeats + reconnects))  # noqa: S311 - jitter


async def set_limits(connection: Connection, limits: Limits) -> None:
    """Change the limits of the running transaction alone."""
    # A transaction's timer that runs is not set anew by another value: it has to be stopped first.
    await connection.execute("SET LOCAL transaction_timeout = 0")
    for name, value in limits.settings().items():
        await connection.execute(f"SET LOCAL {name} = {value}")
