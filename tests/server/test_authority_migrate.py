"""Migrations: idempotent, safe two at once, all or nothing, never backwards; the schema has the names it promises."""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import replace

import asyncpg
import pytest

from booking import sql
from booking.domain.errors import AuthorityAwayError
from booking.services import migrate as module
from booking.services.migrate import (
    ChangedMigrationError,
    NewerDatabaseError,
    SchemaDiffersError,
    main,
    migrate,
    require_own_schema,
)
from booking.sql import SqlFile
from booking.store import violations
from booking.store.database import Database

# Design §2 and the constraints that violations.py turns into answers: a rename here is a broken promise.
PROMISED = {
    "seats": {
        "seats_pk", "seat_of_event", "seat_in_range", "seat_status_known", "seat_holder_known", "seat_held_has_hold",
        "seat_sold_has_order", "seat_free_has_no_holder", "seat_marks_need_sale",
    },
    "holds": {
        "holds_pk", "hold_key_once", "hold_channel_known", "hold_status_known", "hold_takes_1_to_6",
        "hold_ends_once", "hold_deadline_bounded", "hold_paying_slot_known",
    },
    "order_holds": {"order_holds_pk", "order_hold_of_order", "order_hold_of_hold"},
    "account_limits": {"account_limits_pk", "sold_not_negative", "raised_to_not_negative"},
    "idempotency": {"idempotency_key_once"},
    "provider_events": {
        "provider_event_once", "provider_event_state_known", "provider_event_done_once", "provider_event_of_operation",
    },
}  # fmt: skip
PROMISED_UNIQUE = {
    "seat_sold_once", "hold_in_one_order", "one_charge_at_a_time", "one_capture_one_void", "ticket_issued_once",
    "ticket_code_once", "order_number_once", "operation_key_once", "item_open_once",
}  # fmt: skip


async def test_the_catalog_has_the_promised_names(database: Database) -> None:
    for table, names in PROMISED.items():
        rows = await database.fetch(
            "SELECT conname FROM pg_constraint WHERE conrelid = $1::text::regclass AND contype <> 'n'", table
        )
        assert {row["conname"] for row in rows} == names
    rows = await database.fetch(
        "SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indisunique"
    )
    assert {row["relname"] for row in rows} >= PROMISED_UNIQUE


async def test_every_constraint_has_a_name_that_somebody_chose(database: Database) -> None:
    rows = await database.fetch(
        "SELECT conname, conrelid::regclass::text AS tab FROM pg_constraint"
        " WHERE connamespace = 'public'::regnamespace AND contype <> 'n'"
    )
    generated = re.compile(r"_(check\d*|fkey\d*|pkey|key\d*|not_null)$")
    assert [row["conname"] for row in rows if generated.search(row["conname"])] == []


async def test_constraints_that_become_answers_exist(database: Database) -> None:
    rows = await database.fetch(
        "SELECT conname AS name FROM pg_constraint UNION SELECT relname FROM pg_class WHERE relkind = 'i'"
    )
    known = {row["name"] for row in rows}
    assert set(violations._OF_CONSTRAINT) | set(violations._RACED_CONSTRAINTS) <= known


async def test_seats_have_no_index_but_their_key_and_room_for_hot_updates(database: Database) -> None:
    rows = await database.fetch(
        "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'seats'::regclass"
    )
    assert [row["name"] for row in rows] == ["seats_pk"]
    options = (await database.fetch("SELECT reloptions FROM pg_class WHERE relname = 'seats'"))[0]["reloptions"]
    assert "fillfactor=50" in options


async def test_evidence_and_audit_are_append_only(database: Database) -> None:
    await database.fetch("INSERT INTO audit_log (principal, action) VALUES ('p', 'a')")
    for statement in ("UPDATE audit_log SET action = 'b'", "DELETE FROM audit_log"):
        with pytest.raises(asyncpg.RestrictViolationError):
            await database.fetch(statement)


async def test_a_second_run_changes_nothing(empty_dsn: str) -> None:
    first, second = await migrate(empty_dsn), await migrate(empty_dsn)
    assert [name.split("_")[0] for name in first.migrations] == [f"{n:04}" for n in range(1, len(first.migrations) + 1)]
    assert len(first.functions) == len(sql.functions())
    assert (second.migrations, second.functions) == ((), ())


async def test_two_at_once_are_harmless(empty_dsn: str) -> None:
    runs = await asyncio.gather(*(migrate(empty_dsn) for _ in range(3)))
    assert sorted(len(run.migrations) for run in runs) == [0, 0, len(sql.migrations())]


async def test_changed_functions_are_applied_again_and_only_they(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate(empty_dsn)
    files = sql.functions()
    changed = replace(files[0], text=files[0].text + "\n-- newer\n")
    monkeypatch.setattr(sql, "functions", lambda: (changed, *files[1:]))
    assert (await migrate(empty_dsn)).functions == (files[0].name,)


async def test_a_newer_database_is_refused(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await migrate(empty_dsn)
    older = sql.migrations()[:1]
    monkeypatch.setattr(sql, "migrations", lambda: older)
    with pytest.raises(NewerDatabaseError):
        await migrate(empty_dsn)


async def test_a_migration_that_was_changed_after_it_was_applied_is_refused(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate(empty_dsn)
    files = sql.migrations()
    monkeypatch.setattr(sql, "migrations", lambda: (replace(files[0], text="SELECT 1"), *files[1:]))
    with pytest.raises(ChangedMigrationError):
        await migrate(empty_dsn)


async def test_a_migration_that_fails_leaves_nothing_behind(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = sql.migrations()
    broken = SqlFile(len(files) + 1, "broken", "CREATE TABLE half (a int); SELECT 1 / 0;")
    monkeypatch.setattr(sql, "migrations", lambda: (*files, broken))
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(empty_dsn)
    connection = await asyncpg.connect(empty_dsn)
    tables = await connection.fetchval("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
    await connection.close()
    assert tables == 0


async def test_a_server_that_is_too_old_is_refused(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MINIMUM_SERVER_VERSION", 99)
    with pytest.raises(module.ServerTooOldError):
        await migrate(empty_dsn)


async def test_nobody_there_is_authority_away(tmp_path: object) -> None:
    with pytest.raises(AuthorityAwayError):
        await migrate(f"postgresql://taquilla@/x?host={tmp_path}")


def test_the_verb_says_what_it_did_and_exits_like_a_good_tool(
    empty_dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.delenv("TAQUILLA_DSN", raising=False)
    assert main(["--dsn", empty_dsn]) == 0
    assert "applied 0001_sales" in capsys.readouterr().err
    assert main(["--dsn", f"postgresql://taquilla@/x?host={tmp_path}"]) == 3
    with pytest.raises(SystemExit) as wrong_use:
        main([])
    assert wrong_use.value.code == 2
    monkeypatch.setattr(sql, "migrations", lambda: ())
    assert main(["--dsn", empty_dsn]) == 1
    assert "newer program" in capsys.readouterr().err


def test_names_and_numbers_of_migrations_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for names in (["0001_a.sql", "0003_b.sql"], ["1_a.sql"], ["0001_Große.sql"]):
        monkeypatch.setattr(sql, "_texts", lambda _folder, names=names: [(name, "") for name in names])
        with pytest.raises(ValueError, match="migration"):
            sql.migrations()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DROP TABLE schema_functions", "no schema yet"),
        ("UPDATE schema_functions SET digest = '' WHERE name LIKE '%hold_seats%'", "older schema"),
        ("DELETE FROM schema_migrations WHERE number = 1", "older schema"),
        ("INSERT INTO schema_migrations (number, name, digest) VALUES (9999, 'later', '')", "newer program"),
    ],
)
async def test_a_database_of_another_schema_is_not_served_from(database: Database, change: str, words: str) -> None:
    await require_own_schema(database)
    await database.fetch(change)
    with pytest.raises(SchemaDiffersError, match=words):
        await require_own_schema(database)


@pytest.mark.parametrize("verb", ["serve", "work"])
async def test_api_and_workers_refuse_a_database_that_was_never_migrated(empty_dsn: str, verb: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "booking", verb, "--dsn", empty_dsn,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, said = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 3
    assert b"run `taquilla migrate` first" in said
