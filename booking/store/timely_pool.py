"""A pool whose trips end: whoever asks the database has an answer, or knows in time that there is none.

The server's own limits end what runs too long, but a server that is stopped, or cut off without a word, ends nothing.
So each trip has a deadline of ours, a little above the server's, over taking a connection, every statement and giving
it back. When it passes, the connection is thrown away at once (nothing is waited for that may never come), and what
was asked may have happened or not: the key tells later (G5). A server that broke its own limit has put all the older
connections under suspicion; each is replaced when it is taken next, so that one loss is enough to find out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from booking.domain.errors import AuthorityAwayError
from booking.store.connection import Connection, Limits, Record, session_settings
from booking.store.violations import AWAY_RETRY_AFTER_S, is_connection_lost

CONNECT_TIMEOUT_S = 5.0
ACQUIRE_TIMEOUT_S = 1.0
_CLOSE_TIMEOUT_S = 2.0
# Taking a connection that is open takes less than this.
_IN_TIME_S = 0.25


async def _keep_session(connection: Connection) -> None:
    """Nothing to reset: sessions are changed by SET LOCAL alone, and asyncpg ends open transactions itself."""


class TimelyPool:
    """Connections under one set of limits. `on_silence` is told when the server broke its own."""

    def __init__(self, limits: Limits, on_silence: Callable[[], None]) -> None:
        self.limits = limits
        self._on_silence = on_silence
        self._pool: asyncpg.Pool[Record]
        self._open: set[int] = set()
        self._distrusted: set[int] = set()
        self._in_use = self._most_in_use = 0

    @property
    def most(self) -> int:
        """How many connections there may be."""
        return self._pool.get_max_size()

    @property
    def open_now(self) -> int:
        """How many connections there are."""
        return self._pool.get_size()

    def take_most_in_use(self) -> int:
        """The most trips at once since this was asked last, those that wait for a connection among them."""
        most, self._most_in_use = self._most_in_use, self._in_use
        return most

    async def open(self, dsn: str, application: str, max_size: int, *, min_size: int = 1) -> None:
        """Connect `min_size` connections.

        Raises:
            AuthorityAwayError: nobody answers in time.
        """
        self._pool = asyncpg.create_pool(
            dsn,
            min_size=min_size,
            max_size=max_size,
            max_inactive_connection_lifetime=300,
            init=self._remember,
            reset=_keep_session,
            timeout=CONNECT_TIMEOUT_S,
            server_settings=session_settings(self.limits, application),
        )
        try:
            await self._pool
        except TimeoutError as error:
            raise AuthorityAwayError("The booking database does not answer.") from error

    async def close(self) -> None:
        """Close all connections; those that hang are cut."""
        try:
            await asyncio.wait_for(self._pool.close(), timeout=_CLOSE_TIMEOUT_S)
        except TimeoutError:
            self._pool.terminate()

    def distrust(self) -> None:
        """Replace every connection that is open now when it is taken next."""
        self._distrusted |= self._open

    @asynccontextmanager
    async def trip(self, within_s: float, *, silent_after_s: float | None = None) -> AsyncIterator[Connection]:
        """A connection for work that ends, one way or the other, `within_s` seconds from now.

        A server that has kept the connection's user waiting for `silent_after_s` (by default as long as a statement
        may take) when the time is over counts as silent; less may mean that the time went into waiting for a
        connection.

        Raises:
            AuthorityAwayError: the time is over; what was asked may have happened or not.
            TimeoutError: all connections are in use.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + within_s
        connection = await self._taken(within_s)
        watch = _Watch(connection, self._on_silence, silent_after_s or self.limits.statement_s - _IN_TIME_S)
        timer = loop.call_at(until, watch.cut)
        try:
            try:
                yield connection
            except Exception as error:
                if is_connection_lost(error):
                    _throw_away(connection)  # its state is not known
                raise
            finally:
                await self._pool.release(connection)
        except Exception as error:
            if watch.has_cut:
                raise _no_answer() from error
            raise
        finally:
            timer.cancel()
            self._in_use -= 1

    async def fetch(
        self, within_s: float, query: str, args: tuple[object, ...] = (), *, silent_after_s: float | None = None
    ) -> list[Record]:
        """One statement, in a transaction of its own. Arguments and errors are those of `trip`."""
        async with self.trip(within_s, silent_after_s=silent_after_s) as connection:
            rows: list[Record] = await connection.fetch(query, *args)
            return rows

    async def _taken(self, within_s: float) -> PoolConnectionProxy[Record]:
        """As `_take`, counted among those in use, also while it is waited for."""
        self._in_use += 1
        self._most_in_use = max(self._most_in_use, self._in_use)
        try:
            return await self._take(within_s)
        except BaseException:
            self._in_use -= 1
            raise

    async def _take(self, within_s: float) -> PoolConnectionProxy[Record]:
        if not self._distrusted and self._pool.get_idle_size():
            return await self._pool.acquire()  # one is there: nothing to wait for, and so no timer
        try:
            async with asyncio.timeout(min(within_s, ACQUIRE_TIMEOUT_S)):
                connection = await self._pool.acquire()
                while connection.get_server_pid() in self._distrusted:
                    _throw_away(connection)
                    connection = await self._pool.acquire()
                return connection
        except TimeoutError as error:
            if self._pool.get_size() < self._pool.get_max_size():
                raise _no_answer() from error  # a new connection was what did not come
            raise

    async def _remember(self, connection: asyncpg.Connection[Record]) -> None:
        pid = connection.get_server_pid()
        self._open.add(pid)
        self._distrusted.discard(pid)

        def forget(_: object) -> None:
            self._open.discard(pid)
            self._distrusted.discard(pid)

        connection.add_termination_listener(forget)


class _Watch:
    """Cuts a connection when its time is over."""

    def __init__(self, connection: Connection, on_silence: Callable[[], None], patience_s: float) -> None:
        self._connection = connection
        self._on_silence = on_silence
        self._loop = asyncio.get_running_loop()
        self._late_at = self._loop.time() + patience_s
        self.has_cut = False

    def cut(self) -> None:
        self.has_cut = True
        _throw_away(self._connection)
        if self._loop.time() >= self._late_at:
            self._on_silence()


def _throw_away(connection: Connection) -> None:
    with suppress(asyncpg.InterfaceError):  # it is back in the pool, or was thrown away before
        connection.terminate()


def _no_answer() -> AuthorityAwayError:
    return AuthorityAwayError("The booking database did not answer in time.", retry_after_s=AWAY_RETRY_AFTER_S)
