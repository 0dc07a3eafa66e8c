"""Every store alike: what was written is there again, in one commit for whatever gathered; a fault ends it for good."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from booking.room.event_room import Phase, RoomFacts
from booking.room.places import PlaceRow
from booking.room.settings import Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.store import Batch, Change, CodeUse, KeyRow, RoomStore, StoreFailedError
from booking.room.valkey_store import ValkeyStore
from tests.room.stores import StorePlace, waiting

FACTS = RoomFacts(7, 1e9, b"seed", Settings(total_active_users=5), Phase.OPEN, 2)


def place(number: int, state: int = 0) -> PlaceRow:
    return PlaceRow(number, number.to_bytes(16, "big"), state, number, 1.5, 3, b"slot", 2.5, "session", True)


@pytest.fixture
async def store(store_place: StorePlace) -> AsyncIterator[RoomStore]:
    store = await store_place.open()
    yield store
    await store.close()


async def test_everything_is_there_after_it_was_closed(store_place: StorePlace) -> None:
    store = await store_place.open()
    change = Change(1.0, "ops", 7, "settings", "a", "b", "why")
    await store.write(Batch(FACTS, 7, [place(0), place(1)], [change], [(7, b"c1"), (7, b"c2")]))
    await store.write(Batch(event_id=7, places=[place(1, 4)], code_uses=[CodeUse(7, b"c2", b"me")]))
    await store.write(Batch(keys=[KeyRow("k1", b"private", 1.0)], notes=[("cursor", b"9")]))
    await store.close()
    await store.close()
    again = await store_place.open()
    stored = await again.load()
    assert await again.changes(7, 10) == await again.log() == [change]
    await again.close()
    assert [(one.facts, one.places, one.codes) for one in stored.rooms] == [
        (FACTS, [place(0), place(1, 4)], {b"c1": None, b"c2": b"me"})
    ]
    assert (stored.keys, stored.notes) == ([KeyRow("k1", b"private", 1.0)], {"cursor": b"9"})


async def test_an_empty_store_has_nothing(store: RoomStore) -> None:
    stored = await store.load()
    assert (stored.rooms, stored.keys, stored.notes, await store.changes(7, 5)) == ([], [], {}, [])
    assert not store.failed.is_set()


async def test_who_has_no_turn_any_more_has_no_slot(store: RoomStore) -> None:
    await store.write(Batch(FACTS, 7, [waiting(0), place(1, 2), waiting(2)]))
    await asyncio.gather(
        store.write(Batch(event_id=7, places=[place(0, 2)])),
        store.write(Batch(event_id=7, places=[waiting(1)])),
        store.write(Batch(event_id=7, places=[waiting(0), place(2, 2)])),
    )
    assert (await store.load()).rooms[0].places == [waiting(0), waiting(1), place(2, 2)]


async def test_places_over_the_edges_of_pages(store: RoomStore) -> None:
    numbers = [0, 1, 1022, 1023, 1024, 1025, 5000, 40_000]
    await store.write(Batch(FACTS, 7, [waiting(number) for number in reversed(numbers)]))
    await store.write(Batch(event_id=7, places=[place(1024, 2)]))
    await store.write(Batch(RoomFacts(8, 1.0, b"", Settings()), 8, [waiting(1024)]))
    first, second = (await store.load()).rooms
    assert first.places == [place(1024, 2) if number == 1024 else waiting(number) for number in numbers]
    assert second.places == [waiting(1024)]


async def test_codes_stay_whose_they_are(store: RoomStore) -> None:
    """A code that is added again keeps its user; one that is unknown is nobody's."""
    await store.write(Batch(FACTS, 7, codes=[(7, b"a"), (7, b"b")], code_uses=[CodeUse(7, b"a", b"me")]))
    await store.write(Batch(codes=[(7, b"a"), (7, b"c")], code_uses=[CodeUse(7, b"x", b"me"), CodeUse(8, b"a", b"me")]))
    assert (await store.load()).rooms[0].codes == {b"a": b"me", b"b": None, b"c": None}


async def test_the_newest_entries_of_the_log_come_first(store: RoomStore) -> None:
    changes = [Change(float(n), "ops", 7 + n % 2, "settings", "è" * n, str(n), "why") for n in range(9)]
    await asyncio.gather(*(store.write(Batch(changes=[change])) for change in changes))
    assert await store.changes(8, 2) == [changes[7], changes[5]]
    assert await store.changes(7, 100) == changes[8::-2]
    assert await store.changes(7, 0) == await store.changes(9, 5) == []
    assert await store.log() == changes


async def test_what_gathers_is_one_commit(store: RoomStore) -> None:
    counted = cast("SqliteStore | ValkeyStore", store)
    before = counted.commits
    await asyncio.gather(*(store.write(Batch(event_id=7, places=[place(number)])) for number in range(10_000)))
    assert counted.commits - before < 100
    assert counted.batches == 10_000


async def test_one_batch_may_be_very_large(store: RoomStore) -> None:
    """The opening of a large house: more than a script's stack takes at once."""
    codes = [(7, n.to_bytes(32, "big")) for n in range(20_000)]
    await store.write(Batch(FACTS, 7, [place(n, 2) for n in range(20_000)], codes=codes))
    (room,) = (await store.load()).rooms
    assert (len(room.places), len(room.codes), room.places[19_999]) == (20_000, 20_000, place(19_999, 2))


async def test_a_second_room_is_refused(store: RoomStore, store_place: StorePlace) -> None:
    with pytest.raises(StoreFailedError, match=r"locked|another room writes here"):
        await store_place.open()
    await store.write(Batch(notes=[("a", b"b")]))
    assert (await store.load()).notes == {"a": b"b"}


async def test_after_a_fault_nothing_is_written_any_more(store: RoomStore, store_place: StorePlace) -> None:
    """Memory says more than the store then: the room ends, and a new start reads what is durable."""
    await store.write(Batch(FACTS, 7, [place(0)]))
    broken = Batch(event_id=7, places=[place(1)], notes=[("name", None)])  # type: ignore[list-item]
    with pytest.raises(StoreFailedError, match=r"NOT NULL|bytes are needed"):
        await store.write(broken)
    assert store.failed.is_set()
    with pytest.raises(StoreFailedError):
        await store.write(Batch(event_id=7, places=[place(1)]))
    with pytest.raises(StoreFailedError):
        await store.load()
    await store.close()
    again = await store_place.open()
    assert (await again.load()).rooms[0].places == [place(0)]
    await again.close()


async def test_a_fault_of_any_kind_fails_the_store_and_hangs_nobody(tmp_path: Path) -> None:
    """Not sqlite's alone: a number that is too large for it raises OverflowError."""
    store = SqliteStore(tmp_path / "room.sqlite")
    await store.write(Batch(FACTS, 7, [place(0)]))
    async with asyncio.timeout(60):
        with pytest.raises(StoreFailedError, match="OverflowError"):
            await store.write(Batch(event_id=7, places=[replace(place(1), rank=2**70)]))
        with pytest.raises(StoreFailedError):
            await store.write(Batch(event_id=7, places=[place(2)]))
        await store.failed.wait()
    await store.close()
    again = SqliteStore(tmp_path / "room.sqlite")
    assert [one.places for one in (await again.load()).rooms] == [[place(0)]]
    await again.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_writer_that_dies_hangs_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path / "room.sqlite")

    def dies(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(store, "_settle", dies)
    async with asyncio.timeout(60):
        for _ in range(2):
            with pytest.raises(StoreFailedError, match="has ended"):
                await store.write(Batch(FACTS, 7, [place(0)]))
        await store.failed.wait()
    await store.close()


async def test_who_comes_after_the_end_is_told_at_once(store_place: StorePlace) -> None:
    store = await store_place.open()
    await store.close()
    async with asyncio.timeout(60):
        with pytest.raises(StoreFailedError):
            await store.write(Batch(FACTS, 7, [place(0)]))


async def test_who_gave_up_waiting_is_written_all_the_same(store: RoomStore) -> None:
    writing = asyncio.create_task(store.write(Batch(FACTS)))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert [one.facts for one in (await store.load()).rooms] == [FACTS]


async def test_what_was_handed_over_is_written_before_the_end(store_place: StorePlace) -> None:
    store = await store_place.open()
    writing = [asyncio.create_task(store.write(Batch(FACTS, 7, [waiting(n)]))) for n in range(50)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*writing)
    again = await store_place.open()
    assert len((await again.load()).rooms[0].places) == 50
    await again.close()


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


async def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    await SqliteStore(tmp_path / "room.sqlite").close()
    assert (tmp_path / "room.sqlite").stat().st_mode & 0o077 == 0
