"""The store: what was written is there again, in one commit for whatever gathered; a fault ends it for good."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from booking.room.event_room import Phase, RoomFacts
from booking.room.places import PlaceRow
from booking.room.settings import Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.store import Batch, Change, CodeUse, KeyRow, StoreFailedError

FACTS = RoomFacts(7, 1e9, b"seed", Settings(total_active_users=5), Phase.OPEN, 2)


def place(number: int, state: int = 0) -> PlaceRow:
    return PlaceRow(number, number.to_bytes(16, "big"), state, number, 1.5, 3, b"slot", 2.5, "session", True)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "room.sqlite")
    yield store
    await store.close()


async def test_everything_is_there_after_it_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "room.sqlite"
    store = SqliteStore(path)
    change = Change(1.0, "ops", 7, "settings", "a", "b", "why")
    await store.write(Batch(FACTS, 7, [place(0), place(1)], [change], [(7, b"c1"), (7, b"c2")]))
    await store.write(Batch(event_id=7, places=[place(1, 4)], code_uses=[CodeUse(7, b"c2", b"me")]))
    await store.write(Batch(keys=[KeyRow("k1", b"private", 1.0)], notes=[("cursor", b"9")]))
    await store.close()
    again = SqliteStore(path)
    stored = await again.load()
    assert await again.changes(7, 10) == [change]
    await again.close()
    assert [(one.facts, one.places, one.codes) for one in stored.rooms] == [
        (FACTS, [place(0), place(1, 4)], {b"c1": None, b"c2": b"me"})
    ]
    assert (stored.keys, stored.notes) == ([KeyRow("k1", b"private", 1.0)], {"cursor": b"9"})
    assert path.stat().st_mode & 0o077 == 0


async def test_what_gathers_is_one_commit(store: SqliteStore) -> None:
    before = store.commits
    await asyncio.gather(*(store.write(Batch(event_id=7, places=[place(number)])) for number in range(1000)))
    assert store.commits - before < 100
    assert store.batches == 1000


async def test_a_second_process_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(StoreFailedError, match="locked"):
        SqliteStore(tmp_path / "room.sqlite")
    await store.write(Batch(notes=[("a", b"b")]))


@pytest.mark.parametrize("spoil", ["version", "bytes"])
async def test_a_file_of_another_kind_is_refused(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "room.sqlite"
    if spoil == "bytes":
        path.write_bytes(b"this is no database at all" * 100)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    with pytest.raises(StoreFailedError):
        SqliteStore(path)


async def test_after_a_fault_nothing_is_written_any_more(store: SqliteStore) -> None:
    """Memory says more than the store then: the room ends, and a new start reads what is durable."""
    await store.write(Batch(event_id=7, places=[place(0)]))
    broken = Batch(notes=[("name", None)])  # type: ignore[list-item]
    with pytest.raises(StoreFailedError, match="NOT NULL"):
        await store.write(broken)
    with pytest.raises(StoreFailedError):
        await store.write(Batch(event_id=7, places=[place(1)]))


async def test_who_gave_up_waiting_is_written_all_the_same(store: SqliteStore) -> None:
    writing = asyncio.create_task(store.write(Batch(FACTS)))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert [one.facts for one in (await store.load()).rooms] == [FACTS]
