"""Halls that were stored before rows had kinds: the migration names every seat, and reads each document once."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import msgspec
import pytest

from booking import sql
from booking.services.migrate import migrate

VERSIONS, ROWS, SEATS_PER_ROW, TABLES = 6, 300, 10, 100
SEATS = ROWS * SEATS_PER_ROW
GONE_SINCE = 4
"""The last row is no row any more from this version on: its seats are gone."""
FILES = sql.migrations()
MIGRATION = next(file for file in FILES if file.name == "row_kinds")


def kind_in(version: int, row: int) -> str:
    """Every third row is a table or a booth, each the other in the next version."""
    if row % 3 != 2:
        return ""
    return "booth" if (row // 3 + version) % 2 else "table"


def document(version: int) -> bytes:
    tables = [{"row_no": row, "kind": kind_in(version, row)} for row in range(2, ROWS, 3)]
    assert len(tables) == TABLES
    if version >= GONE_SINCE:
        tables.pop()
    tables[0]["more_rows"] = [0]  # a seat came to the table later: another row, of the same label
    rows = [{"first_seat": row * SEATS_PER_ROW, "seat_count": SEATS_PER_ROW} for row in range(ROWS)]
    return msgspec.json.encode({"rows": rows, "tables": tables})


def expected(version: int) -> list[str]:
    kinds = [kind_in(version, row) for row in range(ROWS)]
    kinds[0] = kinds[2]
    kinds[-1] = kind_in(min(version, GONE_SINCE - 1), ROWS - 1)
    return [kind for kind in kinds for _ in range(SEATS_PER_ROW)]


async def store_plans(connection: asyncpg.Connection[Any]) -> UUID:
    """As a program of before the migration has left them."""
    venue_id, plan_id = uuid4(), uuid4()
    await connection.execute("INSERT INTO venues (venue_id, name, zone) VALUES ($1, 'Hall', 'Europe/Madrid')", venue_id)
    for version in range(1, VERSIONS + 1):
        await connection.execute(
            "INSERT INTO plans (plan_id, version, venue_id, name, document, seat_count, digest)"
            " VALUES ($1, $2, $3, 'Hall', $4, $5, '')",
            plan_id, version, venue_id, document(version), SEATS,
        )  # fmt: skip
        await connection.execute(
            "INSERT INTO plan_seats (plan_id, version, seat_no, guid, category_no, flags)"
            " SELECT $1, $2, s, 'guid-' || s, 0, CASE WHEN $2 >= $3::int AND s >= $4::int THEN 8 ELSE 0 END"
            " FROM generate_series(0, $5::int - 1) AS s",
            plan_id, version, GONE_SINCE, SEATS - SEATS_PER_ROW, SEATS,
        )  # fmt: skip
    return plan_id


@pytest.fixture
async def before(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncpg.Connection[Any]]:
    """A database as it was before the migration; at the end of the fixture's patch the program knows all of them."""
    with monkeypatch.context() as older:
        older.setattr(sql, "migrations", lambda: FILES[: MIGRATION.number - 1])
        older.setattr(sql, "functions", tuple)
        await migrate(empty_dsn)
    connection = await asyncpg.connect(empty_dsn)
    yield connection
    await connection.close()


async def test_every_seat_of_every_stored_version_is_named(empty_dsn: str, before: asyncpg.Connection[Any]) -> None:
    plan_id = await store_plans(before)
    await migrate(empty_dsn)
    for version in range(1, VERSIONS + 1):
        rows = await before.fetch(
            "SELECT row_kind FROM plan_seats WHERE plan_id = $1 AND version = $2 ORDER BY seat_no", plan_id, version
        )
        assert [row["row_kind"] for row in rows] == expected(version), version


async def test_no_document_is_looked_into_seat_by_seat(before: asyncpg.Connection[Any]) -> None:
    """Seats are found by their numbers: a hall of 20,000 seats and 200 tables would else be four million looks."""
    await store_plans(before)
    await before.execute("ANALYZE")
    head, statements = MIGRATION.text.split("WITH documents", 1)
    await before.execute(head)
    for statement in f"WITH documents{statements}".split(";\n"):
        if not statement.strip():
            continue
        plan = [row[0].strip() for row in await before.fetch(f"EXPLAIN {statement}")]
        joins = [line for line in plan if re.match(r"(Join Filter|(Hash|Merge|Index) Cond):", line)]
        assert not [line for line in joins if "->" in line], "\n".join(plan)
        assert any("seat_no = " in line or "= seat_no" in line for line in joins), "\n".join(plan)
