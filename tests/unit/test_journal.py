"""The journal on a real disk: what was written is there, one console at a time, damage is said."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from uuid_utils.compat import uuid7

from app.core.errors import (
    IllegalTransitionError,
    JournalDamagedError,
    JournalInUseError,
    JournalTooNewError,
    JournalWriteError,
)
from app.core.sale import Pick, Sale, SaleId, SaleState
from app.journal.journal import DATABASE_NAME, LOCK_NAME, Journal
from app.journal.terminal_record import Reversal, TerminalRecord, TerminalWord
from backend_client.wire import EventId, OperationId, ResultOutcome, ResultReport

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
WORD = TerminalWord(ResultReport(outcome=ResultOutcome.SUCCEEDED, amount_minor=900), trace=12, receipt_no=3)


def sale(state: SaleState = SaleState.HOLDING) -> Sale:
    picks = (Pick(1, 0, 1, 4500), Pick(2, 0, 2, 2250))
    return Sale(sale_id=SaleId(uuid7()), event_id=EventId(1), currency="EUR", state=state, picks=picks, hold_key="k")


def attempt(number: int = 1) -> TerminalRecord:
    return TerminalRecord(OperationId(UUID(int=number)), SaleId(UUID(int=1)), 900, "EUR", AT, last_trace=11)


def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    kept = sale()
    journal = Journal.open(tmp_path)
    journal.save_sale(kept)
    journal.save_sale(replace(kept, checkout_key="c"))
    journal.save_sale(sale(SaleState.DONE))
    journal.begin_terminal_attempt(attempt())
    journal.close()
    again = Journal.open(tmp_path)
    assert again.open_sales() == (replace(kept, checkout_key="c"),)
    assert again.terminal_attempt(attempt().operation_id) == attempt()
    again.close()


def test_terminal_attempt_goes_from_asked_to_acknowledged(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    journal.begin_terminal_attempt(attempt())
    assert journal.last_trace() is None
    heard = replace(WORD, final=False)
    journal.record_terminal_result(attempt().operation_id, heard)
    assert journal.unsettled_attempts() == (replace(attempt(), word=heard),)
    journal.record_terminal_result(attempt().operation_id, WORD)
    journal.mark_reversal(attempt().operation_id, Reversal.ASKED)
    journal.acknowledge_terminal_result(attempt().operation_id)
    assert journal.unsettled_attempts() == ()
    assert journal.last_trace() == 12
    settled = journal.terminal_attempt(attempt().operation_id)
    assert settled == replace(attempt(), word=WORD, reversal=Reversal.ASKED, acknowledged=True)
    journal.record_terminal_result(attempt().operation_id, heard)
    assert journal.terminal_attempt(attempt().operation_id) == settled
    journal.close()


def test_one_operation_has_one_attempt(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    journal.begin_terminal_attempt(attempt())
    with pytest.raises(sqlite3.IntegrityError):
        journal.begin_terminal_attempt(attempt())
    journal.begin_terminal_attempt(replace(attempt(2), started_at=AT.replace(hour=13)))
    newest = journal.newest_attempt()
    assert newest is not None
    assert newest.operation_id == attempt(2).operation_id
    assert journal.terminal_attempt(OperationId(UUID(int=3))) is None
    journal.close()


def test_every_commit_is_synced(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    assert journal._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert journal._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    journal.close()


def test_second_console_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    with pytest.raises(JournalInUseError):
        Journal.open(tmp_path)
    journal.close()
    Journal.open(tmp_path).close()


def test_killed_console_leaves_its_writes_and_no_lock(tmp_path: Path) -> None:
    """SIGKILL right after a write returned: the write is there, and the next console may work."""
    program = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from uuid import UUID
        from app.core.sale import Sale, SaleId
        from app.journal.journal import Journal
        journal = Journal.open(Path(sys.argv[1]))
        journal.save_sale(Sale(sale_id=SaleId(UUID(int=5)), event_id=1, currency="EUR", hold_key="kept"))
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], timeout=30, check=False)
    assert done.returncode == -signal.SIGKILL
    journal = Journal.open(tmp_path)
    assert [kept.hold_key for kept in journal.open_sales()] == ["kept"]
    journal.close()


def test_damaged_journal_is_reported_and_left_as_it_is(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    for _ in range(50):
        journal.save_sale(sale())
    journal.close()
    path = tmp_path / DATABASE_NAME
    broken = bytearray(path.read_bytes())
    broken[4096:] = os.urandom(len(broken) - 4096)
    path.write_bytes(broken)
    for _ in range(2):
        with pytest.raises(JournalDamagedError):
            Journal.open(tmp_path)
    assert path.read_bytes() == broken


@pytest.mark.parametrize("left", [None, b"", b"not a database at all, and long enough to be looked at " * 40])
def test_vanished_journal_is_not_recreated_in_silence(tmp_path: Path, left: bytes | None) -> None:
    Journal.open(tmp_path).close()
    path = tmp_path / DATABASE_NAME
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    with pytest.raises(JournalDamagedError):
        Journal.open(tmp_path)
    assert path.exists() is (left is not None)


def test_start_that_died_while_making_the_journal_can_be_repeated(tmp_path: Path) -> None:
    tmp_path.joinpath(LOCK_NAME).write_bytes(b"")
    sqlite3.connect(tmp_path / DATABASE_NAME).close()
    journal = Journal.open(tmp_path)
    journal.save_sale(sale())
    journal.close()


@pytest.mark.parametrize("body", [b'{"sale_id": 7}', b"{", b"\xff\xfe", "text"])
def test_a_sale_that_cannot_be_read_hides_no_other(tmp_path: Path, body: object) -> None:
    journal = Journal.open(tmp_path)
    made = [sale(), sale(), sale()]
    for one in made:
        journal.save_sale(one)
    journal._connection.execute("UPDATE sales SET body = ? WHERE sale_id = ?", (body, str(made[1].sale_id)))
    assert {one.sale_id for one in journal.open_sales()} == {made[0].sale_id, made[2].sale_id}
    assert journal.unreadable_sales() == 1
    journal.close()


def test_a_journal_that_cannot_be_read_says_so_as_one_that_cannot_be_written(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    for table in ("sales", "terminal_attempts", "known_trace", "terminal_days", "cash_returns", "orders_let_go"):
        journal._connection.execute(f"DROP TABLE {table}")
    readings = (
        journal.open_sales, journal.unreadable_sales, journal.has_history, journal.unsettled_attempts,
        journal.newest_attempt, journal.last_trace, journal.open_days, journal.cash_returns, journal.orders_let_go,
    )  # fmt: skip
    for read in readings:
        with pytest.raises(JournalDamagedError):
            read()
    journal.close()


def test_an_attempt_that_cannot_be_read_keeps_no_other_from_being_followed(tmp_path: Path) -> None:
    """Nothing new is asked of the terminal meanwhile: the newest one cannot be told, and that is said."""
    journal = Journal.open(tmp_path)
    for number in (1, 2):
        journal.begin_terminal_attempt(attempt(number))
        journal.record_terminal_result(attempt(number).operation_id, WORD)
    damaged = str(attempt(2).operation_id)
    journal._connection.execute("UPDATE terminal_attempts SET report = ? WHERE operation_id = ?", (b"{", damaged))
    assert [one.operation_id for one in journal.unsettled_attempts()] == [attempt(1).operation_id]
    with pytest.raises(JournalDamagedError):
        journal.newest_attempt()
    journal.close()


def test_a_sale_that_has_ended_does_not_begin_again(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    kept = sale()
    done = replace(kept, state=SaleState.DONE)
    journal.save_sale(done)
    with pytest.raises(IllegalTransitionError):
        journal.save_sale(replace(kept, state=SaleState.PAID))
    journal.save_sale(done)
    assert journal.open_sales() == ()
    journal.close()


def test_the_newest_attempt_is_the_last_one_written_whatever_the_clock_said(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    journal.begin_terminal_attempt(attempt())
    set_back = replace(attempt(2), started_at=AT - timedelta(minutes=10))
    journal.begin_terminal_attempt(set_back)
    assert journal.newest_attempt() == set_back
    assert [one.operation_id for one in journal.unsettled_attempts()] == [
        attempt().operation_id, set_back.operation_id,
    ]  # fmt: skip
    journal.close()


def test_newer_schema_is_left_alone(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    journal._connection.execute("PRAGMA user_version = 99")
    journal.close()
    with pytest.raises(JournalTooNewError):
        Journal.open(tmp_path)


def test_failed_write_says_so_and_changes_nothing(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    journal._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(JournalWriteError):
        journal.save_sale(sale())
    journal._connection.execute("PRAGMA query_only = OFF")
    assert journal.open_sales() == ()
    journal.close()


def test_ended_sales_are_forgotten_after_a_month(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    open_sale, old, fresh = sale(), sale(SaleState.DONE), sale(SaleState.DONE)
    for one in (open_sale, old, fresh):
        journal.save_sale(one)
    journal._connection.execute("UPDATE sales SET updated_at = '2020-01-01T00:00:00+00:00' WHERE sale_id <> ?", (
        str(fresh.sale_id),
    ))  # fmt: skip
    journal.close()
    again = Journal.open(tmp_path)
    rows = again._connection.execute("SELECT sale_id FROM sales").fetchall()
    assert {row[0] for row in rows} == {str(open_sale.sale_id), str(fresh.sale_id)}
    again.close()


def test_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    Journal.open(tmp_path / "data").close()
    assert (tmp_path / "data" / DATABASE_NAME).stat().st_mode & 0o077 == 0
    assert (tmp_path / "data" / LOCK_NAME).stat().st_mode & 0o077 == 0
