"""The tests' own databases: no test sees what another one left."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from tests.server.database_shelf import DatabaseShelf


async def _run(dsn: str, *statements: str) -> None:
    connection = await asyncpg.connect(dsn)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


def _do(shelf: DatabaseShelf, name: str, *statements: str) -> None:
    asyncio.run(_run(shelf.dsn(name), *statements))


def test_rows_are_swept_and_numbers_start_again(shelf: DatabaseShelf) -> None:
    name = shelf.take()
    _do(shelf, name, "INSERT INTO audit_log (principal, action) VALUES ('p', 'a')")
    shelf.give_back(name)
    assert shelf.take() == name
    _do(
        shelf, name, "DO $$ BEGIN ASSERT (SELECT count(*) FROM audit_log) = 0; END $$",
        "INSERT INTO audit_log (principal, action) VALUES ('p', 'a')",
        "DO $$ BEGIN ASSERT (SELECT audit_id FROM audit_log) = 1; END $$",
    )  # fmt: skip
    shelf.give_back(name)


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE strange (a int)", "DROP INDEX seat_sold_once", "ALTER TABLE holds DROP CONSTRAINT hold_key_once",
        "CREATE FUNCTION strange() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DELETE FROM schema_functions",
        "CREATE OR REPLACE FUNCTION booking_now() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'",
        "ALTER TABLE audit_log DISABLE TRIGGER append_only", "DROP SCHEMA public CASCADE",
    ],
    ids=lambda change: " ".join(change.split()[:4]),
)  # fmt: skip
def test_a_database_of_another_shape_is_not_used_again(shelf: DatabaseShelf, change: str) -> None:
    name = shelf.take()
    _do(shelf, name, change)
    shelf.give_back(name)
    other = shelf.take()
    assert other != name
    shelf.give_back(other)
