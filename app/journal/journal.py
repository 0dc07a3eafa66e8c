"""What must survive a power cut at this counter: open sales with their keys, and what the terminal was asked (R30).

SQLite in WAL mode with synchronous=FULL: when a method returns, the disk has it. One process at a time works on a data
folder. A damaged or vanished journal is reported and never recreated in silence: somebody may have been charged.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from app.core.errors import IllegalTransitionError, JournalDamagedError, JournalTooNewError, JournalWriteError
from app.core.sale import Sale, SaleId
from app.journal.instance_lock import InstanceLock
from app.journal.schema import SCHEMA, SCHEMA_VERSION, UPGRADES
from app.journal.terminal_record import Asked, DayRecord, Reversal, TerminalRecord, TerminalWord
from app.journal.untold import UntoldTables
from backend_client.wire import OperationId, OrderId, ResultReport, TerminalTotalsReport

DATABASE_NAME = "journal.sqlite3"
LOCK_NAME = "journal.lock"
KEEP_ENDED = timedelta(days=30)
"""How long ended sales stay, for a look at what happened. They hold no personal data (R43)."""

_log = logging.getLogger(__name__)
_SELECT_ATTEMPTS = """
SELECT operation_id, sale_id, amount_minor, currency, started_at, last_trace, report, trace, receipt_no, final,
       reversal, acknowledged, asked, order_id, target_receipt, target_trace
FROM terminal_attempts
"""

_DISK_TROUBLE = frozenset({
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_TRUNCATE,
})  # fmt: skip

T = TypeVar("T")


class Journal(UntoldTables):
    """Use on one thread; `open` it there too."""

    def __init__(self, connection: sqlite3.Connection, lock: InstanceLock) -> None:
        super().__init__(connection)
        self._lock = lock

    @classmethod
    def open(cls, folder: Path) -> Journal:
        """Open the journal of a data folder; make it when the folder is new.

        Raises:
            JournalInUseError: another console works on this folder.
            JournalDamagedError: it is unreadable or gone.
            JournalTooNewError: a newer console wrote it.
            JournalWriteError: the disk is full, or the folder may only be read.
            OSError: the folder or the lock in it cannot be made.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = InstanceLock(folder / LOCK_NAME)
        try:
            connection = _connect(folder / DATABASE_NAME, lock)
        except BaseException:
            lock.release()
            raise
        return cls(connection, lock)

    def close(self) -> None:
        """Close, and let another console in."""
        self._connection.close()
        self._lock.release()

    # ------------------------------------------------------------ sales

    def save_sale(self, sale: Sale) -> None:
        """Keep the sale as it stands now, in place of what was kept before.

        Raises:
            IllegalTransitionError: it has ended here, and would go on: somebody works with what it was before.
        """
        row = (str(sale.sale_id), msgspec.json.encode(sale), sale.ended, datetime.now(UTC).isoformat())
        with self._writing() as write:
            kept = write.execute(
                "INSERT INTO sales (sale_id, body, ended, updated_at) VALUES (?, ?, ?, ?) ON CONFLICT (sale_id)"
                " DO UPDATE SET body = excluded.body, ended = excluded.ended, updated_at = excluded.updated_at"
                " WHERE excluded.ended OR NOT sales.ended",
                row,
            )
            if kept.rowcount == 0:
                raise IllegalTransitionError(f"sale {sale.sale_id} has ended, and is {sale.state} again")

    def open_sales(self) -> tuple[Sale, ...]:
        """Sales that have not ended and can be read, the oldest first; `unreadable_sales` counts the others.

        Raises:
            JournalDamagedError: nothing can be read at all.
        """
        return tuple(sale for sale in self._open_sales() if sale is not None)

    def unreadable_sales(self) -> int:
        """How many sales that have not ended cannot be read. Raises as `open_sales`."""
        return sum(sale is None for sale in self._open_sales())

    def _open_sales(self) -> Iterator[Sale | None]:
        for sale_id, body in self._reading("SELECT sale_id, body FROM sales WHERE NOT ended ORDER BY sale_id"):
            try:
                yield _decode(body, Sale)
            except JournalDamagedError:
                _log.exception("the open sale %s cannot be read", sale_id)
                yield None

    def has_history(self) -> bool:
        """Whether anything was ever sold or charged from here, as far as it is kept."""
        query = "SELECT EXISTS (SELECT 1 FROM sales) OR EXISTS (SELECT 1 FROM terminal_attempts)"
        return bool(self._reading(query)[0][0])

    # ------------------------------------------------------------ the card terminal

    def begin_terminal_attempt(self, record: TerminalRecord) -> None:
        """Before the terminal is spoken to; a second attempt under one operation is refused by the key."""
        row = (
            str(record.operation_id), "" if record.sale_id is None else str(record.sale_id), record.amount_minor,
            record.currency, record.started_at.isoformat(), record.last_trace, record.asked.value,
            None if record.order_id is None else str(record.order_id), record.target_receipt, record.target_trace,
        )  # fmt: skip
        with self._writing() as write:
            write.execute(
                "INSERT INTO terminal_attempts (operation_id, sale_id, amount_minor, currency, started_at, last_trace,"
                " asked, order_id, target_receipt, target_trace, seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                " (SELECT coalesce(max(seq), 0) + 1 FROM terminal_attempts))",
                row,
            )

    def forget_terminal_attempt(self, operation_id: OperationId) -> None:
        """The terminal is known to have done nothing: money that is to go back may be tried again under its operation.

        A sale is never forgotten so: another try is another operation.
        """
        with self._writing() as write:
            write.execute(
                "DELETE FROM terminal_attempts WHERE operation_id = ? AND asked <> 'sale' AND NOT acknowledged",
                (str(operation_id),),
            )

    def record_terminal_result(self, operation_id: OperationId, word: TerminalWord) -> None:
        """What the terminal said; a later word replaces an earlier one until the API has taken it."""
        with self._writing() as write:
            write.execute(
                "UPDATE terminal_attempts SET report = ?, trace = ?, receipt_no = ?, final = ?"
                " WHERE operation_id = ? AND NOT acknowledged",
                (msgspec.json.encode(word.report), word.trace, word.receipt_no, word.final, str(operation_id)),
            )
            if word.trace is not None:
                write.execute(
                    "INSERT INTO known_trace (only_row, trace) VALUES (1, ?)"
                    " ON CONFLICT (only_row) DO UPDATE SET trace = excluded.trace",
                    (word.trace,),
                )

    def acknowledge_terminal_result(self, operation_id: OperationId) -> None:
        """The API has taken the report, or has settled the operation without it."""
        with self._writing() as write:
            write.execute("UPDATE terminal_attempts SET acknowledged = 1 WHERE operation_id = ?", (str(operation_id),))

    def mark_reversal(self, operation_id: OperationId, reversal: Reversal) -> None:
        """How far taking the payment back went."""
        with self._writing() as write:
            write.execute(
                "UPDATE terminal_attempts SET reversal = ? WHERE operation_id = ?", (reversal.value, str(operation_id))
            )

    # ------------------------------------------------------------ ends of day

    def begin_day(self, record: DayRecord) -> None:
        """Before the terminal is asked to close its day."""
        with self._writing() as write:
            write.execute(
                "INSERT INTO terminal_days (day_id, asked_at) VALUES (?, ?)",
                (record.day_id, record.asked_at.isoformat()),
            )

    def record_day(self, day_id: str, report: TerminalTotalsReport) -> None:
        """What the terminal counted, as it goes to the API."""
        with self._writing() as write:
            write.execute("UPDATE terminal_days SET report = ? WHERE day_id = ?", (msgspec.json.encode(report), day_id))

    def close_day(self, day_id: str, *, reported: bool) -> None:
        """The API has taken the totals; or (False) they cannot be told any more, or nothing was closed."""
        column = "reported" if reported else "given_up"
        with self._writing() as write:
            write.execute(f"UPDATE terminal_days SET {column} = 1 WHERE day_id = ?", (day_id,))  # noqa: S608

    def open_days(self) -> tuple[DayRecord, ...]:
        """Ends of day that are not reported, the oldest first."""
        query = (
            "SELECT day_id, asked_at, report FROM terminal_days WHERE NOT reported AND NOT given_up"
            " ORDER BY asked_at, day_id"
        )
        return tuple(
            DayRecord(
                str(day_id),
                datetime.fromisoformat(str(asked_at)),
                _decode(report, TerminalTotalsReport) if isinstance(report, bytes) else None,
            )
            for day_id, asked_at, report in self._reading(query)
        )

    # ------------------------------------------------------------ reading

    def terminal_attempt(self, operation_id: OperationId) -> TerminalRecord | None:
        """The attempt of this operation; None when the terminal was never spoken to about it."""
        records = self._attempts("WHERE operation_id = ?", str(operation_id))
        return records[0] if records else None

    def unsettled_attempts(self) -> tuple[TerminalRecord, ...]:
        """Attempts whose outcome the API has not taken yet and that can be read, the oldest first."""
        found = []
        for row in self._reading(f"{_SELECT_ATTEMPTS} WHERE NOT acknowledged ORDER BY seq"):
            try:
                found.append(_record_of(row))
            except JournalDamagedError:
                _log.exception("the attempt of operation %s cannot be read", row[0])
        return tuple(found)

    def newest_attempt(self) -> TerminalRecord | None:
        """The last payment that this console asked of the terminal: the only one its "last transaction" can be.

        By the order in which they were written: this machine's clock may have been set back between two.
        """
        records = self._attempts("ORDER BY seq DESC LIMIT 1")
        return records[0] if records else None

    def last_trace(self) -> int | None:
        """The newest trace that this terminal has told us."""
        rows = self._reading("SELECT trace FROM known_trace")
        return _whole(rows[0][0]) if rows else None

    def _attempts(self, clause: str, *values: str) -> tuple[TerminalRecord, ...]:
        return tuple(_record_of(row) for row in self._reading(f"{_SELECT_ATTEMPTS} {clause}", values))


def _connect(path: Path, lock: InstanceLock) -> sqlite3.Connection:
    made_before = lock.read()
    if made_before and not (path.exists() and path.stat().st_size > 0):
        raise JournalDamagedError(f"{path.name} was here and is gone")
    connection = sqlite3.connect(path, isolation_level=None, timeout=2.0)
    try:
        path.chmod(0o600)
        journal_id = _prepare(connection, may_make=not made_before)
    except sqlite3.DatabaseError as error:
        connection.close()
        if _is_about_the_disk(error):
            raise JournalWriteError(str(error)) from error
        raise JournalDamagedError(str(error)) from error
    except BaseException:
        connection.close()
        raise
    if not made_before:
        lock.write(journal_id)
    return connection


def _is_about_the_disk(error: sqlite3.DatabaseError) -> bool:
    """A full disk or a folder that may only be read: nothing is wrong with the journal itself."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in _DISK_TROUBLE or code in _DISK_TROUBLE


def _prepare(connection: sqlite3.Connection, *, may_make: bool) -> str:
    """Check the schema, or make it in an empty file; the answer is the journal's own id."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if may_make and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        connection.executescript(SCHEMA.replace(":journal_id", f"'{uuid7()}'"))
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise JournalTooNewError(f"schema {version}; this console reads {SCHEMA_VERSION}")
    for step in range(version, SCHEMA_VERSION):
        if step in UPGRADES:
            connection.executescript(UPGRADES[step])
    verdict = connection.execute("PRAGMA quick_check").fetchone()[0]
    row = connection.execute("SELECT journal_id FROM journal").fetchone()
    if verdict != "ok" or row is None:
        raise JournalDamagedError(str(verdict))
    _forget_old(connection)
    return str(row[0])


def _forget_old(connection: sqlite3.Connection) -> None:
    before = (datetime.now(UTC) - KEEP_ENDED).isoformat()
    connection.execute(
        "DELETE FROM terminal_attempts WHERE acknowledged AND (sale_id IN"
        " (SELECT sale_id FROM sales WHERE ended AND updated_at < ?) OR (sale_id = '' AND started_at < ?))",
        (before, before),
    )
    connection.execute("DELETE FROM cash_returns WHERE told = 'taken' AND paid_at < ?", (before,))
    connection.execute("DELETE FROM terminal_days WHERE (reported OR given_up) AND asked_at < ?", (before,))
    connection.execute("DELETE FROM sales WHERE ended AND updated_at < ?", (before,))


def _record_of(row: tuple[object, ...]) -> TerminalRecord:
    operation_id, sale_id, amount, currency, started_at, last_trace, report, trace, receipt_no = row[:9]
    final, reversal, taken, asked, order_id, target_receipt, target_trace = row[9:]
    word = None
    if isinstance(report, bytes):
        word = TerminalWord(_decode(report, ResultReport), _whole(trace), _whole(receipt_no), bool(final))
    return TerminalRecord(
        operation_id=OperationId(UUID(str(operation_id))),
        sale_id=SaleId(UUID(str(sale_id))) if sale_id else None,
        amount_minor=_whole(amount) or 0,
        currency=str(currency),
        started_at=datetime.fromisoformat(str(started_at)),
        last_trace=_whole(last_trace),
        word=word,
        reversal=Reversal(str(reversal)),
        acknowledged=bool(taken),
        asked=Asked(str(asked)),
        order_id=OrderId(UUID(str(order_id))) if order_id else None,
        target_receipt=_whole(target_receipt),
        target_trace=_whole(target_trace),
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _decode(body: object, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body if isinstance(body, bytes) else b"", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise JournalDamagedError(f"a kept {kind.__name__} cannot be read: {error}") from error
