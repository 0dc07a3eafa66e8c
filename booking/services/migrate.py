"""Bring a database to the newest schema: numbered migrations, then the SQL functions that changed.

Everything happens in one transaction under one advisory lock, so that two at once are harmless and a failure
changes nothing. A migration that was applied must not change; a database newer than this program is refused. A pull
of a changed file of functions applies all of its functions again.

    python -m booking migrate --dsn DSN
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from booking import sql
from booking.domain.errors import BookingError
from booking.store.connection import JOB_LIMITS, Connection, session_settings
from booking.store.database import Database
from booking.store.timely_pool import CONNECT_TIMEOUT_S
from booking.store.violations import domain_errors

MINIMUM_SERVER_VERSION = 17
_LOCK_KEY = 0x7461_7175_696C_6C61  # "taquilla"

_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number     integer NOT NULL,
    name       text NOT NULL,
    digest     bytea NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT schema_migrations_pk PRIMARY KEY (number)
);
CREATE TABLE IF NOT EXISTS schema_functions (
    name       text NOT NULL,
    digest     bytea NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT schema_functions_pk PRIMARY KEY (name)
);
"""


class MigrationError(Exception):
    """The database cannot be brought to this program's schema; nothing was changed."""

    code = "migration-refused"


class NewerDatabaseError(MigrationError):
    """The database is ahead of this program."""

    code = "database-newer"


class ChangedMigrationError(MigrationError):
    """A migration that this database has applied is not the one that this program carries."""

    code = "migration-changed"


class SchemaDiffersError(MigrationError):
    """The database has another schema than this program: it must not be served from."""

    code = "schema-differs"


class ServerTooOldError(MigrationError):
    """The server lacks what the schema needs."""

    code = "server-too-old"


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a run did; both empty when the database was up to date."""

    migrations: tuple[str, ...]
    functions: tuple[str, ...]


async def migrate(dsn: str) -> Migrated:
    """Bring the database at `dsn` to the newest schema.

    Raises:
        AuthorityAwayError: nobody answers there.
        MigrationError: see its classes; nothing was changed.
    """
    with domain_errors():
        connection = await asyncpg.connect(
            dsn, timeout=CONNECT_TIMEOUT_S, server_settings=session_settings(JOB_LIMITS, "taquilla migrate")
        )
        try:
            return await migrate_connection(connection)
        finally:
            await connection.close(timeout=2)


async def migrate_connection(connection: Connection) -> Migrated:
    """As `migrate`, on an open connection that is not in a transaction."""
    version = connection.get_server_version()
    if version.major < MINIMUM_SERVER_VERSION:
        raise ServerTooOldError(f"PostgreSQL {MINIMUM_SERVER_VERSION} or later is needed, this is {version.major}.")
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK_KEY)
        await connection.execute(_LEDGER)
        return Migrated(await _apply_migrations(connection), await _apply_functions(connection))


async def require_own_schema(db: Database) -> None:
    """Refuse a database that this program was not written for: it would fail call by call, in the middle of sales.

    Raises:
        SchemaDiffersError: it was never migrated, or by an older or a newer program; says what to do.
        AuthorityAwayError: nobody answers there.
    """
    if not (await db.fetch("SELECT to_regclass('schema_functions') IS NOT NULL AS there"))[0]["there"]:
        raise SchemaDiffersError("The database has no schema yet: run `taquilla migrate` first.")
    applied = {
        (row["kind"], row["name"]): bytes(row["digest"])
        for row in await db.fetch(
            "SELECT 'migration' AS kind, number::text AS name, digest FROM schema_migrations"
            " UNION ALL SELECT 'functions', name, digest FROM schema_functions"
        )
    }
    known = {("migration", str(file.number)): file.digest for file in sql.migrations()}
    if any(kind == "migration" and (kind, name) not in known for kind, name in applied):
        raise SchemaDiffersError("The database was migrated by a newer program: start that one.")
    known |= {("functions", file.name): file.digest for file in sql.functions()}
    if any(applied.get(key) != digest for key, digest in known.items()):
        raise SchemaDiffersError("The database has an older schema: run `taquilla migrate` first.")


async def _apply_migrations(connection: Connection) -> tuple[str, ...]:
    applied = {
        row["number"]: bytes(row["digest"])
        for row in await connection.fetch("SELECT number, digest FROM schema_migrations")
    }
    known = sql.migrations()
    newest = max(applied, default=0)
    if newest > len(known):
        raise NewerDatabaseError(
            f"The database has migration {newest}, this program knows {len(known)}: it needs a newer program."
        )
    done = []
    for file in known:
        if file.number not in applied:
            await connection.execute(file.text)
            await connection.execute(
                "INSERT INTO schema_migrations (number, name, digest) VALUES ($1, $2, $3)",
                file.number, file.name, file.digest,
            )  # fmt: skip
            done.append(f"{file.number:04}_{file.name}")
        elif applied[file.number] != file.digest:
            raise ChangedMigrationError(
                f"Migration {file.number:04}_{file.name} was applied in another form: write a new one instead."
            )
    return tuple(done)


async def _apply_functions(connection: Connection) -> tuple[str, ...]:
    applied = {
        row["name"]: bytes(row["digest"]) for row in await connection.fetch("SELECT name, digest FROM schema_functions")
    }
    done = []
    for file in sql.functions():
        if applied.get(file.name) != file.digest:
            await connection.execute(file.text)
            await connection.execute(
                "INSERT INTO schema_functions (name, digest) VALUES ($1, $2)"
                " ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, applied_at = clock_timestamp()",
                file.name, file.digest,
            )  # fmt: skip
            done.append(file.name)
    return tuple(done)


def main(arguments: Sequence[str]) -> int:
    """The verb `migrate`. Exit codes: 0 done, 1 refused, 3 nobody answers."""
    parser = argparse.ArgumentParser(prog="taquilla migrate", description="Bring a database to the newest schema.")
    parser.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    chosen = parser.parse_args(arguments)
    if not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    try:
        done = asyncio.run(migrate(chosen.dsn))
    except MigrationError as error:
        sys.stderr.write(f"taquilla migrate: {error}\n")
        return 1
    except BookingError as error:
        sys.stderr.write(f"taquilla migrate: {error}\n")
        return 3
    for name in done.migrations + done.functions:
        sys.stderr.write(f"applied {name}\n")
    sys.stdout.write(f"{len(done.migrations)} migrations and {len(done.functions)} function files applied\n")
    return 0
