"""What must survive a power cut at this counter: open sales with their keys, and what the terminal was asked (R30).

SQLite in WAL mode with synchronous=FULL: when a method returns, the disk has it. One process at a time works on a data
folder. A damaged or vanished journal is reported and never recreated in silence: somebody may have been charged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from app.core.errors import JournalDamagedError, JournalTooNewError, JournalWriteError
from app.core.sale import Sale, SaleId
from app.journal.instance_lock import InstanceLock
from app.journal.terminal_record import Reversal, TerminalRecord, TerminalWord
from backend_client.wire import OperationId, ResultReport

DATABASE_NAME = "journal.sqlite3"
LOCK_NAME = "journal.lock"
SCHEMA_VERSION = 1
KEEP_ENDED = timedelta(days=30)
"""How long ended sales stay, for a look at what happened. They hold no personal data (R43)."""

_SCHEMA = """
BEGIN;
CREATE TABLE journal (journal_id TEXT NOT NULL);
CREATE TABLE sales (
    sale_id TEXT PRIMARY KEY,
    body BLOB NOT NULL,
    ended INTEGER NOT NULL CHECK (ended IN (0, 1)),
    updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE terminal_attempts (
    operation_id TEXT PRIMARY KEY,
    sale_id TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL,
    started_at TEXT NOT NULL,
    last_trace INTEGER,
    report BLOB,
    trace INTEGER,
    receipt_no INTEGER,
    final INTEGER NOT NULL DEFAULT 0 CHECK (final IN (0, 1)),
    reversal TEXT NOT NULL DEFAULT 'none' CHECK (reversal IN ('none', 'asked', 'done', 'unclear')),
    acknowledged INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged IN (0, 1))
) WITHOUT ROWID;
CREATE TABLE known_trace (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), trace INTEGER NOT NULL);
INSERT INTO journal (journal_id) VALUES (:journal_id);
PRAGMA user_version = 1;
COMMIT;
"""


_SELECT_ATTEMPTS = """
SELECT operation_id, sale_id, amount_minor, currency, started_at, last_trace, report, trace, receipt_no, final,
       reversal, acknowledged
FROM terminal_attempts
"""

_DISK_TROUBLE = frozenset({
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_TRUNCATE,
})  # fmt: skip

T = TypeVar("T")


class Journal:
    """Use on one thread; `open` it there too."""

    def __init__(self, connection: sqlite3.Connection, lock: InstanceLock) -> None:
        self._connection = connection
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
        """Keep the sale as it stands now, in place of what was kept before."""
        row = (str(sale.sale_id), msgspec.json.encode(sale), sale.ended, datetime.now(UTC).isoformat())
        with self._writing() as write:
            write.execute(
                "INSERT INTO sales (sale_id, body, ended, updated_at) VALUES (?, ?, ?, ?) ON CONFLICT (sale_id)"
                " DO UPDATE SET body = excluded.body, ended = excluded.ended, updated_at = excluded.updated_at",
                row,
            )

    def open_sales(self) -> tuple[Sale, ...]:
        """Sales that have not ended, the oldest first.

        Raises:
            JournalDamagedError: one of them cannot be read.
        """
        with closing(self._connection.execute("SELECT body FROM sales WHERE NOT ended ORDER BY sale_id")) as rows:
            return tuple(_decode(body, Sale) for (body,) in rows)

    def has_history(self) -> bool:
        """Whether anything was ever sold or charged from here, as far as it is kept."""
        query = "SELECT EXISTS (SELECT 1 FROM sales) OR EXISTS (SELECT 1 FROM terminal_attempts)"
        return bool(self._connection.execute(query).fetchone()[0])

    # ------------------------------------------------------------ the card terminal

    def begin_terminal_attempt(self, record: TerminalRecord) -> None:
        """Before the terminal is spoken to; a second attempt under one operation is refused by the key."""
        row = (
            str(record.operation_id), str(record.sale_id), record.amount_minor, record.currency,
            record.started_at.isoformat(), record.last_trace,
        )  # fmt: skip
        with self._writing() as write:
            write.execute(
                "INSERT INTO terminal_attempts (operation_id, sale_id, amount_minor, currency, started_at, last_trace)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                row,
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

    def terminal_attempt(self, operation_id: OperationId) -> TerminalRecord | None:
        """The attempt of this operation; None when the terminal was never spoken to about it."""
        records = self._attempts("WHERE operation_id = ?", str(operation_id))
        return records[0] if records else None

    def unsettled_attempts(self) -> tuple[TerminalRecord, ...]:
        """Attempts whose outcome the API has not taken yet, the oldest first."""
        return self._attempts("WHERE NOT acknowledged ORDER BY started_at, operation_id")

    def newest_attempt(self) -> TerminalRecord | None:
        """The last payment that this console asked of the terminal: the only one its "last transaction" can be."""
        records = self._attempts("ORDER BY started_at DESC, operation_id DESC LIMIT 1")
        return records[0] if records else None

    def last_trace(self) -> int | None:
        """The newest trace that this terminal has told us."""
        row = self._connection.execute("SELECT trace FROM known_trace").fetchone()
        return None if row is None else int(row[0])

    def _attempts(self, clause: str, *values: str) -> tuple[TerminalRecord, ...]:
        with closing(self._connection.execute(f"{_SELECT_ATTEMPTS} {clause}", values)) as rows:
            return tuple(_record_of(row) for row in rows)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, on the disk when it ends.

        Raises:
            JournalDamagedError, JournalWriteError: it could not be written; nothing of it was.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk may have rolled it back already, or not
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            raise JournalWriteError(str(error)) from error
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            raise JournalDamagedError(str(error)) from error


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
        connection.executescript(_SCHEMA.replace(":journal_id", f"'{uuid7()}'"))
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise JournalTooNewError(f"schema {version}; this console reads {SCHEMA_VERSION}")
    verdict = connection.execute("PRAGMA quick_check").fetchone()[0]
    row = connection.execute("SELECT journal_id FROM journal").fetchone()
    if verdict != "ok" or row is None:
        raise JournalDamagedError(str(verdict))
    _forget_old(connection)
    return str(row[0])


def _forget_old(connection: sqlite3.Connection) -> None:
    before = (datetime.now(UTC) - KEEP_ENDED).isoformat()
    connection.execute(
        "DELETE FROM terminal_attempts WHERE acknowledged AND sale_id IN"
        " (SELECT sale_id FROM sales WHERE ended AND updated_at < ?)",
        (before,),
    )
    connection.execute("DELETE FROM sales WHERE ended AND updated_at < ?", (before,))


def _record_of(row: tuple[object, ...]) -> TerminalRecord:
    operation_id, sale_id, amount, currency, started_at, last_trace, report, trace, receipt_no = row[:9]
    final, reversal, taken = row[9:]
    word = None
    if isinstance(report, bytes):
        word = TerminalWord(_decode(report, ResultReport), _whole(trace), _whole(receipt_no), bool(final))
    return TerminalRecord(
        operation_id=OperationId(UUID(str(operation_id))),
        sale_id=SaleId(UUID(str(sale_id))),
        amount_minor=_whole(amount) or 0,
        currency=str(currency),
        started_at=datetime.fromisoformat(str(started_at)),
        last_trace=_whole(last_trace),
        word=word,
        reversal=Reversal(str(reversal)),
        acknowledged=bool(taken),
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _decode(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.DecodeError as error:
        raise JournalDamagedError(f"a kept {kind.__name__} cannot be read: {error}") from error
