"""Where an experiment runs: a throw-away cluster, or schemas of the lab's own in a database that somebody named.

Tables of the documents live in the schema `taquilla_lab`, Taquilla's own in `taquilla_lab_own`; both are made for the
run and dropped at its end. A database that holds Taquilla's tables anywhere else is refused: experiments that oversell
have no business beside real sales.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import asyncpg

from booking.embedded.awaited import awaited_cluster
from booking.store.connection import Connection

SCHEMA = "taquilla_lab"
OWN_SCHEMA = "taquilla_lab_own"
OLDEST_SERVER = 17
CONNECT_WITHIN_S = 10.0
_OURS = "made by taquilla lab; dropped when it ends"
_LOCK_KEY = 0x7461_7175_006C_6162  # "taqu" "lab"
# A document's database keeps its syncs; a throw-away cluster of ours would not.
_HONEST = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
# Tables that only Taquilla has under these names, two of them together.
_TELL_TALES = ("order_holds", "payment_operations")


class PlaceRefusedError(Exception):
    """This is not a database for experiments; nothing was touched."""


class PlaceMissingError(Exception):
    """There is nothing to experiment on: nobody answers, or the rights do not suffice."""


@dataclass(frozen=True, slots=True)
class Place:
    """DSNs whose sessions find the documents' tables, and Taquilla's own; `server` is what the server says it is."""

    documents: str
    own: str
    server: str


@asynccontextmanager
async def embedded_place(connections: int) -> AsyncIterator[Place]:
    """A new cluster for `connections` buyers; it is gone at the end."""
    settings = {**_HONEST, "max_connections": str(max(200, connections + 60))}
    async with awaited_cluster(settings) as cluster:
        dsn = await asyncio.to_thread(cluster.create_database, "lab")
        async with given_place(dsn) as place:
            yield place


@asynccontextmanager
async def given_place(dsn: str) -> AsyncIterator[Place]:
    """The lab's schemas in the database at `dsn`.

    Raises:
        PlaceRefusedError: no PostgreSQL address, Taquilla's own tables are there, or a schema that is not the lab's.
        PlaceMissingError: nobody answers, another lab is running there, or a right is missing.
    """
    if not dsn.startswith(("postgresql://", "postgres://")):
        raise PlaceRefusedError("--dsn takes an address like postgresql://user@host/database")
    try:
        keeper = await asyncpg.connect(dsn, timeout=CONNECT_WITHIN_S)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise PlaceMissingError(f"no PostgreSQL answers there: {str(error) or type(error).__name__}") from error
    try:
        await _refuse_what_is_not_ours(keeper)
        await _make_schemas(keeper)
        try:
            version = str(await keeper.fetchval("SHOW server_version")).split(" ")[0]
            yield Place(with_search_path(dsn, SCHEMA), with_search_path(dsn, OWN_SCHEMA), version)
        finally:
            await _drop_schemas(keeper)
    finally:
        await keeper.close(timeout=5)


def with_search_path(dsn: str, schema: str) -> str:
    """The same address for sessions that see one schema only."""
    address, _, query = dsn.partition("?")
    wanted = [(name, value) for name, value in parse_qsl(query) if name != "search_path"]
    return f"{address}?{urlencode([*wanted, ('search_path', schema)])}"


async def _refuse_what_is_not_ours(keeper: Connection) -> None:
    if keeper.get_server_version().major < OLDEST_SERVER:
        raise PlaceRefusedError(f"PostgreSQL {OLDEST_SERVER} or later is needed")
    if not await keeper.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK_KEY):
        raise PlaceMissingError("another lab is running in this database")
    found = await keeper.fetchval(
        "SELECT min(n.nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p') AND c.relname = ANY($1) AND n.nspname <> $2",
        list(_TELL_TALES), OWN_SCHEMA,
    )  # fmt: skip
    if found is not None:
        raise PlaceRefusedError(
            f"Taquilla's own tables are in the schema {found!r} of this database: the lab oversells on purpose and runs"
            " somewhere else. Name another database, or leave --dsn away for one of its own."
        )
    foreign = await keeper.fetchval(
        "SELECT min(nspname) FROM pg_namespace WHERE nspname = ANY($1)"
        " AND obj_description(oid, 'pg_namespace') IS DISTINCT FROM $2",
        [SCHEMA, OWN_SCHEMA], _OURS,
    )  # fmt: skip
    if foreign is not None:
        raise PlaceRefusedError(f"there is a schema {foreign!r} that the lab did not make; it is left alone")


async def _make_schemas(keeper: Connection) -> None:
    """Made anew: a lab that was killed may have left them."""
    try:
        async with keeper.transaction():
            for schema in (SCHEMA, OWN_SCHEMA):
                await keeper.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
                await keeper.execute(f"CREATE SCHEMA {schema}")
                await keeper.execute(f"COMMENT ON SCHEMA {schema} IS '{_OURS}'")
    except asyncpg.PostgresError as error:
        raise PlaceMissingError(f"the lab's schemas cannot be made there: {error}") from error


async def _drop_schemas(keeper: Connection) -> None:
    for schema in (SCHEMA, OWN_SCHEMA):
        await keeper.execute("SET client_min_messages = warning")
        await keeper.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
