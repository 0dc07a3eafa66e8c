"""Databases for tests: a copy of the template the first time, swept clean and used again afterwards.

Sweeping costs a tenth of a copy. Whatever a test changed beside rows (a table, a function, a constraint, a setting)
shows in the fingerprint of the catalog; such a database is dropped.
"""

from __future__ import annotations

import asyncio
import itertools

import asyncpg

from booking.embedded import Cluster

# The tests' movable clock (box_office.Clock) is the one change that is undone: so many tests have it.
_OWN_CLOCK = """
DO $$ BEGIN
    IF to_regclass('test_clock') IS NOT NULL THEN
        CREATE OR REPLACE FUNCTION booking_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE
            AS 'SELECT clock_timestamp()';
        DROP TABLE test_clock;
    END IF;
END $$
"""
_FINGERPRINT = """
SELECT md5(string_agg(line, '|' ORDER BY line)) FROM (
    SELECT format('relation %s %s', relname, reloptions) AS line FROM pg_class
     WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT format('column %s %s %s %s', relname, attname, atttypid, attnotnull) FROM pg_attribute
     JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace AND attnum > 0
    UNION ALL SELECT 'constraint ' || conname || pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT 'function ' || proname || md5(prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT format('trigger %s %s %s', tgname, tgrelid::regclass, tgenabled) FROM pg_trigger
     WHERE NOT tgisinternal
    UNION ALL SELECT 'namespace ' || nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%'
    UNION ALL SELECT 'setting ' || setconfig::text FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase
     WHERE datname = current_database()
    UNION ALL SELECT 'ledger ' || name || encode(digest, 'hex') FROM schema_migrations
    UNION ALL SELECT 'ledger ' || name || encode(digest, 'hex') FROM schema_functions
) AS lines
"""
_SWEEP = """
DO $$
DECLARE
    t regclass;
    s record;
BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
    FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                AND relname NOT IN ('schema_migrations', 'schema_functions') AND pg_relation_size(oid) > 0 LOOP
        EXECUTE format('DELETE FROM %s', t);
    END LOOP;
    FOR s IN SELECT schemaname, sequencename FROM pg_sequences WHERE last_value IS NOT NULL LOOP
        PERFORM setval(format('%I.%I', s.schemaname, s.sequencename), 1, false);
    END LOOP;
END $$
"""
_ALONE = """
SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_SIZE = "SELECT pg_database_size(current_database())"
MAX_GROWTH = 8_000_000


class DatabaseShelf:
    """Clean databases of one cluster."""

    def __init__(self, cluster: Cluster, template: str) -> None:
        self._cluster = cluster
        self._template = template
        self._numbers = itertools.count(1)
        self._clean: list[str] = []
        self._fingerprint, self._size = asyncio.run(_first_look(cluster.dsn(template)))

    def dsn(self, name: str) -> str:
        return self._cluster.dsn(name)

    def take(self) -> str:
        """A migrated, empty database that nobody else uses."""
        if self._clean:
            return self._clean.pop()
        name = f"test_{next(self._numbers)}"
        # Without fsync, copying files is three times as quick as writing the copy through the log.
        self._cluster.run_sql(f"CREATE DATABASE {name} TEMPLATE {self._template} STRATEGY file_copy")
        return name

    def give_back(self, name: str) -> None:
        """Sweep it, or drop it when more than rows was changed."""
        if asyncio.run(self._sweep(self.dsn(name))):
            self._clean.append(name)
        else:
            self._cluster.drop_database(name)

    async def _sweep(self, dsn: str) -> bool:
        connection = await asyncpg.connect(dsn)
        try:
            await connection.execute(_ALONE)
            await connection.execute(_OWN_CLOCK)
            fingerprint, size = await _look(connection)
            if fingerprint != self._fingerprint or size > self._size + MAX_GROWTH:
                return False
            await connection.execute(_SWEEP)
        except asyncpg.PostgresError:
            return False  # not even what we look at is as it was
        finally:
            await connection.close()
        return True


async def _look(connection: asyncpg.Connection[asyncpg.Record]) -> tuple[str, int]:
    return await connection.fetchval(_FINGERPRINT), await connection.fetchval(_SIZE)


async def _first_look(dsn: str) -> tuple[str, int]:
    connection = await asyncpg.connect(dsn)
    try:
        return await _look(connection)
    finally:
        await connection.close()
