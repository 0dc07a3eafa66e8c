"""What the journal keeps of money that goes back and of ends of day, and how an older journal becomes one of today."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from app.core.sale import SaleId
from app.journal.instance_lock import InstanceLock
from app.journal.journal import DATABASE_NAME, LOCK_NAME, Journal
from app.journal.schema import SCHEMA, SCHEMA_VERSION, UPGRADES
from app.journal.terminal_record import Asked, CashReturn, DayRecord, TerminalRecord, TerminalWord
from backend_client.wire import OperationId, OrderId, ResultOutcome, ResultReport, TerminalTotalsReport

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
BACK = TerminalRecord(
    OperationId(UUID(int=2)), None, 900, "EUR", AT, last_trace=11, asked=Asked.REVERSAL, order_id=OrderId(UUID(int=3)),
    target_receipt=7, target_trace=8,
)  # fmt: skip
REPORT = TerminalTotalsReport(terminal_id="52500041", provider="zvt", closed_at=AT, currency="EUR", total_minor=900)


def journal_of_version_1(folder: Path) -> None:
    """As the first release left it, with a payment whose end is not known."""
    connection = sqlite3.connect(folder / DATABASE_NAME)
    connection.executescript(SCHEMA.replace(":journal_id", "'an-id'"))
    connection.execute(
        "INSERT INTO terminal_attempts (operation_id, sale_id, amount_minor, currency, started_at, last_trace)"
        " VALUES (?, ?, 4500, 'EUR', ?, 11)",
        (str(UUID(int=1)), str(UUID(int=9)), AT.isoformat()),
    )
    connection.commit()
    connection.close()
    lock = InstanceLock(folder / LOCK_NAME)
    lock.write("an-id")
    lock.release()


def test_a_journal_of_the_first_release_is_upgraded_and_keeps_what_is_open(tmp_path: Path) -> None:
    journal_of_version_1(tmp_path)
    for _start in range(2):
        journal = Journal.open(tmp_path)
        (found,) = journal.unsettled_attempts()
        assert (found.operation_id, found.sale_id, found.asked) == (UUID(int=1), SaleId(UUID(int=9)), Asked.SALE)
        assert journal.open_days() == ()
        journal.close()
    version = sqlite3.connect(tmp_path / DATABASE_NAME).execute("PRAGMA user_version").fetchone()[0]
    assert version == SCHEMA_VERSION


def test_a_journal_of_the_second_release_keeps_the_order_of_its_attempts(tmp_path: Path) -> None:
    journal_of_version_1(tmp_path)
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    connection.executescript(UPGRADES[1])
    for number, minutes, asked in ((5, 9, "refund"), (3, 3, "sale"), (4, 6, "reversal")):
        connection.execute(
            "INSERT INTO terminal_attempts (operation_id, sale_id, amount_minor, currency, started_at, asked)"
            " VALUES (?, '', 4500, 'EUR', ?, ?)",
            (str(UUID(int=number)), (AT + timedelta(minutes=minutes)).isoformat(), asked),
        )
    connection.commit()
    connection.close()
    for _start in range(2):
        journal = Journal.open(tmp_path)
        assert [one.operation_id.int for one in journal.unsettled_attempts()] == [1, 3, 4, 5]
        newest = journal.newest_attempt()
        assert newest is not None
        assert newest.operation_id.int == 5
        assert (journal.cash_returns(), journal.orders_let_go()) == ((), ())
        journal.close()
    journal = Journal.open(tmp_path)
    later = replace(BACK, operation_id=OperationId(UUID(int=2)), started_at=AT - timedelta(days=1))
    journal.begin_terminal_attempt(later)
    assert journal.newest_attempt() == later
    journal.close()


PAID_OUT = CashReturn(OperationId(UUID(int=6)), OrderId(UUID(int=3)), 900, "EUR", AT)


def test_cash_that_was_paid_out_is_kept_until_the_api_has_taken_the_word(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    other = replace(PAID_OUT, operation_id=OperationId(UUID(int=7)), paid_at=AT + timedelta(minutes=1))
    for record in (PAID_OUT, PAID_OUT, other):
        journal.begin_cash_return(record)
    journal.close()
    again = Journal.open(tmp_path)
    assert again.cash_returns() == (PAID_OUT, other)
    again.end_cash_return(PAID_OUT.operation_id, taken=True)
    again.end_cash_return(other.operation_id, taken=False)
    assert again.cash_returns() == (replace(other, refused=True),)
    again.close()


def test_cash_that_the_api_refused_is_kept_however_old_it_is(tmp_path: Path) -> None:
    """Else it would be offered again; what was taken goes after a month."""
    journal = Journal.open(tmp_path)
    old = replace(PAID_OUT, paid_at=datetime.now(UTC) - timedelta(days=400), order_number="ABC-123")
    taken = replace(old, operation_id=OperationId(UUID(int=7)))
    for record in (old, taken):
        journal.begin_cash_return(record)
    journal.end_cash_return(old.operation_id, taken=False)
    journal.end_cash_return(taken.operation_id, taken=True)
    journal.close()
    again = Journal.open(tmp_path)
    assert again.cash_returns() == (replace(old, refused=True),)
    assert again._reading("SELECT count(*) FROM cash_returns") == [(1,)]
    again.compare_cash_return(old.operation_id, "sofia")
    assert again.cash_returns() == (replace(old, refused=True, compared_by="sofia"),)
    again.close()


def test_a_journal_of_the_third_version_keeps_the_cash_that_waits(tmp_path: Path) -> None:
    journal_of_version_1(tmp_path)
    connection = sqlite3.connect(tmp_path / DATABASE_NAME)
    for version in (1, 2):
        connection.executescript(UPGRADES[version])
    connection.execute(
        "INSERT INTO cash_returns (operation_id, order_id, amount_minor, currency, paid_at, told)"
        " VALUES (?, ?, 900, 'EUR', ?, 'refused')",
        (str(PAID_OUT.operation_id), str(PAID_OUT.order_id), AT.isoformat()),
    )
    connection.commit()
    connection.close()
    journal = Journal.open(tmp_path)
    assert journal.cash_returns() == (replace(PAID_OUT, refused=True),)
    journal.close()


def test_an_order_that_was_let_go_is_kept_until_the_api_knows(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    order_id = OrderId(UUID(int=3))
    for _time in range(2):
        journal.let_order_go(order_id)
    journal.close()
    again = Journal.open(tmp_path)
    assert again.orders_let_go() == (order_id,)
    again.forget_order(order_id)
    assert again.orders_let_go() == ()
    again.close()


def test_every_version_has_a_way_to_the_next() -> None:
    assert set(UPGRADES) == set(range(1, SCHEMA_VERSION))


def test_money_that_goes_back_is_kept_whole_and_is_the_newest(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    sold = TerminalRecord(OperationId(UUID(int=1)), SaleId(UUID(int=1)), 900, "EUR", AT - timedelta(minutes=1))
    journal.begin_terminal_attempt(sold)
    journal.begin_terminal_attempt(BACK)
    journal.close()
    again = Journal.open(tmp_path)
    assert again.terminal_attempt(BACK.operation_id) == BACK
    assert again.newest_attempt() == BACK
    again.close()


def test_only_money_that_did_not_go_back_after_all_is_forgotten(tmp_path: Path) -> None:
    """A sale is never forgotten, nor what the API has taken."""
    journal = Journal.open(tmp_path)
    sold = TerminalRecord(OperationId(UUID(int=1)), SaleId(UUID(int=1)), 900, "EUR", AT)
    done = replace(BACK, operation_id=OperationId(UUID(int=4)))
    for record in (sold, BACK, done):
        journal.begin_terminal_attempt(record)
    word = TerminalWord(ResultReport(outcome=ResultOutcome.SUCCEEDED, amount_minor=900), trace=12)
    journal.record_terminal_result(done.operation_id, word)
    journal.acknowledge_terminal_result(done.operation_id)
    for record in (sold, BACK, done):
        journal.forget_terminal_attempt(record.operation_id)
    assert journal.terminal_attempt(BACK.operation_id) is None
    assert journal.terminal_attempt(sold.operation_id) == sold
    assert journal.terminal_attempt(done.operation_id) is not None
    journal.close()


@pytest.mark.parametrize("reported", [True, False])
def test_a_day_is_open_until_it_is_reported_or_given_up(tmp_path: Path, *, reported: bool) -> None:
    journal = Journal.open(tmp_path)
    journal.begin_day(DayRecord("d1", AT))
    journal.begin_day(DayRecord("d2", AT + timedelta(days=1)))
    journal.record_day("d1", REPORT)
    journal.close()
    again = Journal.open(tmp_path)
    assert [(day.day_id, day.report) for day in again.open_days()] == [("d1", REPORT), ("d2", None)]
    again.close_day("d1", reported=reported)
    assert [day.day_id for day in again.open_days()] == ["d2"]
    again.close()
