"""A store copied to one of the other kind and back: all of it or nothing that a room would start on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from booking.embedded.valkey import Valkey
from booking.room.event_room import Phase, RoomFacts
from booking.room.places import PlaceRow
from booking.room.settings import Settings
from booking.room.sqlite_store import SqliteStore
from booking.room.store import Batch, Change, CodeUse, KeyRow, RoomStore, StoreFailedError
from booking.room.store_copy import NOTE, copy_store, refuse_copied, refuse_unfinished
from tests.room.stores import new_place

SLOT = (b"s", 9.5, "x", True)
PLACES = [PlaceRow(n, n.to_bytes(16, "big"), n % 6, n, 1.5, n, *(SLOT if n % 6 == 2 else ())) for n in range(12_000)]
LOG = [Change(float(n), "ops", event, "settings", "a", "b", "why") for n, event in enumerate([7, 0, 8, 7, 8])]


@pytest.fixture
async def old(tmp_path: Path) -> AsyncIterator[RoomStore]:
    """A store of some past: two rooms, codes, keys, notes, a log."""
    store = SqliteStore(tmp_path / "old.sqlite")
    await store.write(Batch(RoomFacts(7, 1e9, b"seed", Settings(), Phase.OPEN, 5), 7, PLACES, LOG))
    codes = [(8, b"c%d" % n) for n in range(20)]
    await store.write(Batch(RoomFacts(8, 2e9, b"other", Settings()), 8, codes=codes))
    await store.write(Batch(code_uses=[CodeUse(8, b"c3", b"me")], notes=[("cursor", b"9"), ("empty", b"")]))
    await store.write(Batch(keys=[KeyRow("k1", b"one", 1.0, 2.0), KeyRow("k2", b"two", 2.0)]))
    yield store
    await store.close()


async def test_there_and_back(old: RoomStore, valkey: Valkey, tmp_path: Path) -> None:
    before, log = await old.load(), await old.log()
    there = await new_place(valkey).open()
    copied = await copy_store(old, there, "old", "valkey")
    assert str(copied) == "rooms 2, places 12000, codes 20, keys 2, entries of the log 5"
    back = SqliteStore(tmp_path / "back.sqlite")
    assert await copy_store(there, back, "valkey", "back") == copied
    after = await back.load()
    assert after.notes.pop(NOTE) == b"copy of valkey"
    assert (after, await back.changes(7, 9), await back.log()) == (before, [log[3], log[0]], log)
    for store in (back, there):
        await store.close()


async def test_no_room_starts_on_a_store_that_was_copied(old: RoomStore, tmp_path: Path) -> None:
    new = SqliteStore(tmp_path / "new.sqlite")
    await copy_store(old, new, "old", "new")
    with pytest.raises(StoreFailedError, match="this store was copied to new"):
        await refuse_copied(old, await old.load(), accept=False)
    await refuse_copied(new, await new.load(), accept=False)
    await refuse_copied(old, await old.load(), accept=True)
    await refuse_copied(old, await old.load(), accept=False)
    await new.close()


async def test_a_broken_copy_is_no_store_and_can_be_run_again(old: RoomStore, valkey: Valkey, tmp_path: Path) -> None:
    place = new_place(valkey)
    before = await old.load()
    there = await place.open()
    whole, written = there.write, 0

    async def breaks(batch: Batch) -> None:
        nonlocal written
        written += 1
        if written == 4:
            raise StoreFailedError("the power is gone")
        await whole(batch)

    there.write = breaks  # type: ignore[method-assign]
    with pytest.raises(StoreFailedError, match="power"):
        await copy_store(old, there, "old", "there")
    await there.close()
    again = await place.open()
    half = await again.load()
    assert 0 < len(half.rooms[0].places) < len(PLACES)
    with pytest.raises(StoreFailedError, match="this store is an unfinished copy of old; run the copy again"):
        refuse_unfinished(half)
    target = SqliteStore(tmp_path / "third.sqlite")
    with pytest.raises(StoreFailedError, match="unfinished copy"):
        await copy_store(again, target, "there", "third")
    with pytest.raises(StoreFailedError, match="there is not empty"):
        await copy_store(target, again, "third", "there")
    await copy_store(old, again, "old", "there")
    found = await again.load()
    refuse_unfinished(found)
    assert (found.rooms, found.keys, await again.log()) == (before.rooms, before.keys, await old.log())
    for store in (again, target):
        await store.close()


@pytest.mark.parametrize(("dies", "may_start"), [("compare", True), ("source", True), ("target", False)])
async def test_a_copy_that_dies_near_its_end_leaves_at_most_the_source_to_start_on(
    old: RoomStore, valkey: Valkey, monkeypatch: pytest.MonkeyPatch, dies: str, may_start: bool
) -> None:
    """Its comparison fails, or either store's server goes between the last batches. Again does what was not done."""
    place = new_place(valkey)
    there = await place.open()
    with monkeypatch.context() as patch:
        dying, note = (old, b"copied to") if dies == "source" else (there, b"copy of")
        write = dying.write

        async def breaks(batch: Batch) -> None:
            if any(value.startswith(note) for _, value in batch.notes):
                raise StoreFailedError("the link went")
            await write(batch)

        async def differs() -> list[Change]:
            return answers.pop()

        answers: list[list[Change]] = [LOG[:2], []]
        if dies == "compare":
            patch.setattr(there, "log", differs)
        else:
            patch.setattr(dying, "write", breaks)
        with pytest.raises(StoreFailedError, match=r"does not have what|the link went"):
            await copy_store(old, there, "old", "there")
    with pytest.raises(StoreFailedError, match="unfinished copy of old"):
        refuse_unfinished(await there.load())
    if may_start:
        await refuse_copied(old, await old.load(), accept=False)
    else:
        with pytest.raises(StoreFailedError, match="copied to there"):
            await refuse_copied(old, await old.load(), accept=False)
    await copy_store(old, there, "old", "there")
    found = await there.load()
    refuse_unfinished(found)
    assert (found.rooms, found.notes[NOTE]) == ((await old.load()).rooms, b"copy of old")
    assert len(await there.log()) == len(LOG)
    await there.close()


async def test_a_store_that_was_copied_is_not_copied_to_a_second_place(old: RoomStore, tmp_path: Path) -> None:
    """A room could start on each of the copies. What has the people now may be copied on."""
    new, other = SqliteStore(tmp_path / "new.sqlite"), SqliteStore(tmp_path / "other.sqlite")
    await copy_store(old, new, "old", "new")
    with pytest.raises(StoreFailedError, match="this store was copied to new, and its people have their places there"):
        await copy_store(old, other, "old", "other")
    assert not (await other.load()).notes
    await copy_store(old, other, "old", "other", accept_copied=True)
    third = SqliteStore(tmp_path / "third.sqlite")
    await copy_store(new, third, "new", "third")
    for store in (new, other, third):
        await store.close()


@pytest.mark.parametrize(
    "there", [Batch(notes=[("a", b"b")]), Batch(changes=LOG[:1]), Batch(keys=[KeyRow("k", b"", 1)])]
)
async def test_nothing_is_copied_over_what_is_there(old: RoomStore, tmp_path: Path, there: Batch) -> None:
    new = SqliteStore(tmp_path / "new.sqlite")
    await new.write(there)
    before = await new.load()
    with pytest.raises(StoreFailedError, match="new is not empty"):
        await copy_store(old, new, "old", "new")
    assert await new.load() == before
    assert NOTE not in (await old.load()).notes
    await new.close()
