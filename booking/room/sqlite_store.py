"""The room's store in SQLite: a thread that writes whatever has queued up in one transaction, with one fsync a batch.

WAL with `synchronous=FULL`: a commit that has returned survives the power cut. While one batch is being synced the next
one gathers, so thousands of joins a second need only as many syncs as the disk gives. The file is locked for this
process alone, so reading goes through the same thread.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from booking.room.event_room import Phase, RoomFacts
from booking.room.places import PlaceRow
from booking.room.settings import Settings
from booking.room.store import Batch, Change, KeyRow, Stored, StoredRoom, StoreFailedError

_MOST_BATCHES = 4096
_SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE rooms (event_id INTEGER PRIMARY KEY, opens_at REAL NOT NULL, seed BLOB NOT NULL, settings BLOB NOT NULL,
    phase TEXT NOT NULL, drawn INTEGER NOT NULL) STRICT;
CREATE TABLE places (event_id INTEGER NOT NULL, number INTEGER NOT NULL, account BLOB NOT NULL, state INTEGER NOT NULL,
    rank INTEGER NOT NULL, joined_at REAL NOT NULL, generation INTEGER NOT NULL, slot_id BLOB NOT NULL,
    slot_ends_at REAL NOT NULL, session TEXT NOT NULL, renewed INTEGER NOT NULL,
    PRIMARY KEY (event_id, number)) STRICT, WITHOUT ROWID;
CREATE TABLE codes (event_id INTEGER NOT NULL, digest BLOB NOT NULL, account BLOB,
    PRIMARY KEY (event_id, digest)) STRICT, WITHOUT ROWID;
CREATE TABLE keys (key_id TEXT PRIMARY KEY, private BLOB NOT NULL, created_at REAL NOT NULL, retired_at REAL) STRICT;
CREATE TABLE notes (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE changes (id INTEGER PRIMARY KEY, at REAL NOT NULL, who TEXT NOT NULL, event_id INTEGER NOT NULL,
    what TEXT NOT NULL, was TEXT NOT NULL, now TEXT NOT NULL, reason TEXT NOT NULL) STRICT;
CREATE INDEX changes_of_event ON changes (event_id, id);
"""
_PUT_ROOM = "INSERT OR REPLACE INTO rooms VALUES (?, ?, ?, ?, ?, ?)"
_PUT_PLACE = "INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_CODE = "INSERT INTO codes (event_id, digest) VALUES (?, ?) ON CONFLICT DO NOTHING"
_USE_CODE = "UPDATE codes SET account = ? WHERE event_id = ? AND digest = ?"
_PUT_KEY = "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?)"
_PUT_NOTE = "INSERT OR REPLACE INTO notes VALUES (?, ?)"
_PUT_CHANGE = "INSERT INTO changes (at, who, event_id, what, was, now, reason) VALUES (?, ?, ?, ?, ?, ?, ?)"

_Reading = Callable[[sqlite3.Connection], Any]
_Work = tuple[Batch | _Reading, "asyncio.Future[Any]"]


class SqliteStore:
    """A `RoomStore` in one file. Made and used from one event loop.

    Raises:
        StoreFailedError: the file is of another version, damaged, or another process has it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._opened: Future[None] = Future()
        self.batches = self.commits = 0
        self.failed = asyncio.Event()
        self._failed = ""
        self._closes = False
        self._thread = threading.Thread(target=self._run, name="room-store", daemon=True)
        self._thread.start()
        self._opened.result()

    async def write(self, batch: Batch) -> None:
        """See `RoomStore.write`. Whoever waits may be cancelled: the batch is written all the same."""
        await self._do(batch)

    async def load(self) -> Stored:
        """See `RoomStore.load`."""
        stored: Stored = await self._do(_load)
        return stored

    async def changes(self, event_id: int, limit: int) -> list[Change]:
        """See `RoomStore.changes`."""
        query = (
            "SELECT at, who, event_id, what, was, now, reason FROM changes WHERE event_id = ? ORDER BY id DESC LIMIT ?"
        )
        found: list[Change] = await self._do(lambda c: [Change(*row) for row in c.execute(query, (event_id, limit))])
        return found

    async def log(self) -> list[Change]:
        """See `RoomStore.log`."""
        query = "SELECT at, who, event_id, what, was, now, reason FROM changes ORDER BY id"
        found: list[Change] = await self._do(lambda c: [Change(*row) for row in c.execute(query)])
        return found

    async def close(self) -> None:
        """See `RoomStore.close`."""
        self._closes = True
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    async def _do(self, work: Batch | _Reading) -> Any:  # noqa: ANN401 - what the reading gives
        if self._failed or self._closes:
            raise StoreFailedError(self._failed or "the store is closed")
        done: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put((work, done))
        return await asyncio.shield(done)

    # ------------------------------------------------------------ in the writer's thread

    def _run(self) -> None:
        try:
            connection = self._open()
        except (sqlite3.Error, OSError, StoreFailedError) as error:
            self._opened.set_exception(StoreFailedError(f"{self._path}: {error}"))
            return
        self._opened.set_result(None)
        with closing(connection):
            works: list[_Work] = []
            try:
                ends = False
                while not ends and (first := self._queue.get()) is not None:
                    works, ends = self._gathered(first)
                    self._settle(connection, works)
                    works = []
            finally:
                self._give_up(works)

    def _give_up(self, works: list[_Work]) -> None:
        """Whatever ended this thread, nobody may wait for it."""
        if not self._closes:
            self._failed = self._failed or "the writer has ended"
        with suppress(queue.Empty):
            while True:
                works += [work] if (work := self._queue.get_nowait()) is not None else []
        self._tell(works, [StoreFailedError(self._failed or "the store is closed")] * len(works))

    def _open(self) -> sqlite3.Connection:
        self._path.touch(mode=0o600, exist_ok=True)
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=1.0)
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _gathered(self, first: _Work) -> tuple[list[_Work], bool]:
        works = [first]
        while len(works) < _MOST_BATCHES:
            try:
                work = self._queue.get_nowait()
            except queue.Empty:
                break
            if work is None:
                return works, True
            works.append(work)
        return works, False

    def _settle(self, connection: sqlite3.Connection, works: Sequence[_Work]) -> None:
        """Everything in one transaction, in its order; readings see what came before them."""
        if self._failed:
            self._tell(works, [StoreFailedError(self._failed)] * len(works))
            return
        results: list[Any] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            for work, _ in works:
                doing = partial(_put, batch=work) if isinstance(work, Batch) else work
                results.append(doing(connection))
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - whatever it is, memory says more than the store from now on
            self._failed = f"{type(error).__name__}: {error}"
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._tell(works, [StoreFailedError(self._failed)] * len(works))
            return
        self.batches += sum(isinstance(work, Batch) for work, _ in works)
        self.commits += 1
        self._tell(works, results)

    def _tell(self, works: Sequence[_Work], results: Sequence[Any]) -> None:
        def settle() -> None:
            if self._failed:
                self.failed.set()
            for (_, done), result in zip(works, results, strict=True):
                if done.done():
                    continue
                if isinstance(result, Exception):
                    done.set_exception(result)
                    done.exception()  # who waited may be gone
                else:
                    done.set_result(result)

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(settle)


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;")
    elif version != _SCHEMA_VERSION:
        raise StoreFailedError(f"it has version {version}, this program writes {_SCHEMA_VERSION}")
    connection.execute("BEGIN IMMEDIATE")  # takes the file for this process now, not with the first join
    connection.execute("COMMIT")


def _put(connection: sqlite3.Connection, batch: Batch) -> None:
    if batch.facts is not None:
        facts = batch.facts
        settings = msgspec.json.encode(facts.settings)
        connection.execute(
            _PUT_ROOM, (facts.event_id, facts.opens_at, facts.seed, settings, facts.phase.value, facts.drawn)
        )
    if batch.places:
        connection.executemany(_PUT_PLACE, [_place_values(batch.event_id, row) for row in batch.places])
    for put, rows in (
        (_PUT_CODE, batch.codes),
        (_USE_CODE, [(use.account, use.event_id, use.digest) for use in batch.code_uses]),
        (_PUT_KEY, [(key.key_id, key.private, key.created_at, key.retired_at) for key in batch.keys]),
        (_PUT_NOTE, batch.notes),
        (_PUT_CHANGE, [(c.at, c.who, c.event_id, c.what, c.was, c.now, c.reason) for c in batch.changes]),
    ):
        if rows:
            connection.executemany(put, rows)


def _place_values(event_id: int, row: PlaceRow) -> tuple[object, ...]:
    return (
        event_id, row.number, row.account, row.state, row.rank, row.joined_at, row.generation, row.slot_id,
        row.slot_ends_at, row.session, int(row.renewed),
    )  # fmt: skip


def _load(connection: sqlite3.Connection) -> Stored:
    rooms = []
    for event_id, opens_at, seed, settings, phase, drawn in connection.execute("SELECT * FROM rooms").fetchall():
        facts = RoomFacts(event_id, opens_at, seed, msgspec.json.decode(settings, type=Settings), Phase(phase), drawn)
        places = [
            PlaceRow(*row)
            for row in connection.execute(
                "SELECT number, account, state, rank, joined_at, generation, slot_id, slot_ends_at, session, renewed"
                "  FROM places WHERE event_id = ? ORDER BY number",
                (event_id,),
            )
        ]
        codes = dict(connection.execute("SELECT digest, account FROM codes WHERE event_id = ?", (event_id,)).fetchall())
        rooms.append(StoredRoom(facts, places, codes))
    keys = [KeyRow(*row) for row in connection.execute("SELECT * FROM keys ORDER BY created_at, key_id")]
    return Stored(rooms, keys, dict(connection.execute("SELECT name, value FROM notes").fetchall()))
