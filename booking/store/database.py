"""The authority's connections: pools with limits of their own, calls that repeat where that is right.

`Database.open(dsn)` connects once and fails with authority-away when nobody is there. `transaction()` is for
work of several statements, `fetch()` for reads, `call()` for one SQL function that is a whole sale step: it
carries a key or is idempotent by nature, so after a deadlock or a lost connection it is simply called again (G5, G6).
`decide_hold()` takes holds: with lanes many at a time, without them each on its own.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import asyncpg

from booking.domain.errors import AuthorityAwayError
from booking.store.connection import (
    GENERAL_LIMITS,
    LANE_LIMITS,
    SALE_LIMITS,
    Connection,
    Limits,
    Record,
    session_settings,
)
from booking.store.hold_lane import HoldAsk, HoldVerdict, HoldWork
from booking.store.micro_batches import MicroBatches
from booking.store.seat_labels import SeatLabels
from booking.store.violations import domain_errors, is_connection_lost, may_repeat

T = TypeVar("T")

CONNECT_TIMEOUT_S = 5.0
ACQUIRE_TIMEOUT_S = 1.0
MAX_REPEATS = 5
MAX_RECONNECTS = 2
HOLD_LANES = 2


async def _keep_session(connection: Connection) -> None:
    """Nothing to reset: sessions are changed by SET LOCAL alone, and asyncpg ends open transactions itself."""


class Database:
    """One authority: its general pool, its sale pool, its hold lanes, and how calls are repeated."""

    def __init__(
        self, dsn: str, general: asyncpg.Pool[Record], sales: asyncpg.Pool[Record], lanes: asyncpg.Pool[Record] | None
    ) -> None:
        self.dsn = dsn
        self.pool = general
        self.sales = sales
        self.seat_labels = SeatLabels(self.fetch)
        self._lane_pool = lanes
        self._hold_work = HoldWork(self._fetch_on_lane, self.call)
        self.hold_lanes: MicroBatches[HoldAsk, HoldVerdict] | None = None
        if lanes is not None:
            self.hold_lanes = MicroBatches(self._hold_work, "holds", HOLD_LANES)
            self.hold_lanes.start()

    @classmethod
    async def open(
        cls, dsn: str, *, lanes: bool = True, application: str = "taquilla", general_size: int = 6, sale_size: int = 8
    ) -> Database:
        """Connect to the authority, and start the lanes in the running loop.

        Raises:
            AuthorityAwayError: nobody answers there.
        """
        with domain_errors():
            general = await _open_pool(dsn, GENERAL_LIMITS, application, general_size)
            sales = await _open_pool(dsn, SALE_LIMITS, f"{application} sales", sale_size, min_size=0)
            on_lanes = (
                await _open_pool(dsn, LANE_LIMITS, f"{application} lane", HOLD_LANES, min_size=0) if lanes else None
            )
        return cls(dsn, general, sales, on_lanes)

    async def close(self) -> None:
        """Finish what the lanes have under way, then close all connections; those that hang are cut."""
        if self.hold_lanes is not None:
            await self.hold_lanes.close()
        pools = [self.pool, self.sales, *([self._lane_pool] if self._lane_pool is not None else [])]
        await asyncio.gather(*map(_close_pool, pools))

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
        with domain_errors():
            async with self.pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection, connection.transaction():
                if limits is not None:
                    await set_limits(connection, limits)
                yield connection

    async def fetch(self, query: str, *args: object) -> list[Record]:
        """Read. A connection that was lost is replaced and the read repeated."""
        return await self._repeat(lambda: _fetch(self.pool, query, args))

    async def fetchrow(self, query: str, *args: object) -> Record | None:
        """Read one row or none."""
        rows = await self.fetch(query, *args)
        return rows[0] if rows else None

    async def call(self, query: str, *args: object) -> list[Record]:
        """Run one statement that is a whole sale step, as a transaction of its own, on the sale pool.

        It must be safe to run twice: by its key, or by its nature.

        Raises:
            BusyError: it waited too long for a lock or for a connection.
            AuthorityAwayError: the connection was lost and could not be made again; the outcome is not known,
                the same key will tell.
        """
        return await self._repeat(lambda: _fetch(self.sales, query, args))

    async def _fetch_on_lane(self, query: str, *args: object) -> list[Record]:
        if self._lane_pool is None:
            raise AuthorityAwayError("This program runs no lanes.")
        return await _fetch(self._lane_pool, query, args)

    async def _repeat(self, work: Callable[[], Awaitable[T]]) -> T:
        with domain_errors():
            return await repeat(work)


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
    for name, value in limits.settings().items():
        await connection.execute(f"SET LOCAL {name} = {value}")


async def _fetch(pool: asyncpg.Pool[Record], query: str, args: tuple[object, ...]) -> list[Record]:
    async with pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
        try:
            rows: list[Record] = await connection.fetch(query, *args)
        except asyncpg.InternalClientError:
            connection.terminate()  # its state is not known: the pool makes a new one
            raise
        return rows


async def _open_pool(
    dsn: str, limits: Limits, application: str, max_size: int, min_size: int = 1
) -> asyncpg.Pool[Record]:
    pool: asyncpg.Pool[Record] = asyncpg.create_pool(
        dsn,
        min_size=min_size,
        max_size=max_size,
        max_inactive_connection_lifetime=300,
        reset=_keep_session,
        timeout=CONNECT_TIMEOUT_S,
        server_settings=session_settings(limits, application),
    )
    try:
        return await pool
    except TimeoutError as error:
        raise AuthorityAwayError("The booking database does not answer.") from error


async def _close_pool(pool: asyncpg.Pool[Record]) -> None:
    try:
        await asyncio.wait_for(pool.close(), timeout=2)
    except TimeoutError:
        pool.terminate()
