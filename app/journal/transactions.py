"""Reading and writing the journal's tables, with SQLite's trouble as the console knows it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.core.errors import JournalDamagedError, JournalWriteError


class Transactions:
    """One connection, used on one thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def _reading(self, query: str, values: tuple[str, ...] = ()) -> list[tuple[object, ...]]:
        """All rows of a query.

        Raises:
            JournalDamagedError: they cannot be read.
        """
        try:
            with closing(self._connection.execute(query, values)) as rows:
                return rows.fetchall()
        except sqlite3.DatabaseError as error:
            raise JournalDamagedError(str(error)) from error

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
