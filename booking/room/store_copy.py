"""A room's store copied to another one: before a sale from SQLite to Valkey, say, and back after it.

Nothing of a copy that was broken off counts: the target says so until it was compared and the source says where it was
copied to, no room starts on it, and the same copy can simply be run again. So there is no moment at which one room
could start on each and hand out the same places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from booking.room.store import Batch, Change, CodeUse, RoomStore, Stored, StoredRoom, StoreFailedError
from booking.room.store_choice import StoreChoice

NOTE: Final = "copy"
_UNFINISHED, _FROM, _TO = "unfinished copy of ", "copy of ", "copied to "
_AT_ONCE = 5000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied."""

    rooms: int
    places: int
    codes: int
    keys: int
    changes: int

    def __str__(self) -> str:
        return (
            f"rooms {self.rooms}, places {self.places}, codes {self.codes}, keys {self.keys}, "
            f"entries of the log {self.changes}"
        )


async def copy_between(source: StoreChoice, target: StoreChoice, *, accept_copied: bool = False) -> Copied:
    """Open both, copy, and close them.

    Raises:
        StoreFailedError, OSError: as `copy_store`, or one of them cannot be opened.
    """
    first = await source.open(must_exist=True)
    try:
        second = await target.open()
        try:
            names = str(source.address), str(target.address)
            return await copy_store(first, second, *names, accept_copied=accept_copied)
        finally:
            await second.close()
    finally:
        await first.close()


async def copy_store(
    source: RoomStore, target: RoomStore, source_name: str, target_name: str, *, accept_copied: bool = False
) -> Copied:
    """Copy all of it, read it again, compare.

    Raises:
        StoreFailedError: the source is a broken copy or was copied to somewhere else, the target is not empty, or it
            does not have what was copied.
    """
    stored, log = await source.load(), await source.log()
    refuse_unfinished(stored)
    if stored.notes.get(NOTE) != (_TO + target_name).encode():  # else it is the end of a copy that was broken off
        await refuse_copied(source, stored, accept=accept_copied)
    there, logged = await target.load(), await target.log()
    unfinished = (_UNFINISHED + source_name).encode()
    if there.notes.get(NOTE) != unfinished and (there.rooms or there.keys or there.notes or logged):
        raise StoreFailedError(f"{target_name} is not empty")
    notes = {name: value for name, value in stored.notes.items() if name != NOTE}
    await target.write(Batch(notes=[(NOTE, unfinished)]))
    for room in stored.rooms:
        for batch in _batches(room):
            await target.write(batch)
    await target.write(Batch(keys=stored.keys, changes=_rest(log, logged), notes=list(notes.items())))
    await _compare(target, replace(stored, notes=notes), log, target_name)
    await source.write(Batch(notes=[(NOTE, (_TO + target_name).encode())]))
    await target.write(Batch(notes=[(NOTE, (_FROM + source_name).encode())]))
    places, codes = sum(len(room.places) for room in stored.rooms), sum(len(room.codes) for room in stored.rooms)
    return Copied(len(stored.rooms), places, codes, len(stored.keys), len(log))


def refuse_unfinished(stored: Stored) -> None:
    """No room starts on half a copy.

    Raises:
        StoreFailedError: the store is one.
    """
    note = stored.notes.get(NOTE, b"").decode()
    if note.startswith(_UNFINISHED):
        raise StoreFailedError(f"this store is an {note}; run the copy again")


async def refuse_copied(store: RoomStore, stored: Stored, *, accept: bool) -> None:
    """Nor on a store whose people stand in another one. With `accept` it is a store as any other from now on.

    Raises:
        StoreFailedError: it was copied.
    """
    note = stored.notes.get(NOTE, b"").decode()
    if not note.startswith(_TO):
        return
    if not accept:
        raise StoreFailedError(
            f"this store was {note}, and its people have their places there; --accept-copied-store starts on it again"
        )
    await store.write(Batch(notes=[(NOTE, b"")]))


def _batches(room: StoredRoom) -> Iterator[Batch]:
    event_id = room.facts.event_id
    yield Batch(facts=room.facts, event_id=event_id)
    for places in _pieces(room.places):
        yield Batch(event_id=event_id, places=places)
    for codes in _pieces(list(room.codes.items())):
        yield Batch(
            codes=[(event_id, digest) for digest, _ in codes],
            code_uses=[CodeUse(event_id, digest, account) for digest, account in codes if account is not None],
        )


async def _compare(target: RoomStore, stored: Stored, log: Sequence[Change], name: str) -> None:
    found = await target.load()
    found.notes.pop(NOTE, None)
    if found != stored or _by_event(await target.log()) != _by_event(log):
        raise StoreFailedError(f"{name} does not have what was copied to it: empty it, and copy again")


def _rest(log: Sequence[Change], there: Sequence[Change]) -> list[Change]:
    """What an earlier try has not written: of each event the log only grows."""
    known = Counter(change.event_id for change in there)
    rest: list[Change] = []
    for change in log:
        if known[change.event_id]:
            known[change.event_id] -= 1
        else:
            rest.append(change)
    return rest


def _by_event(log: Sequence[Change]) -> dict[int, list[Change]]:
    entries: dict[int, list[Change]] = {}
    for change in log:
        entries.setdefault(change.event_id, []).append(change)
    return entries


def _pieces(whole: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(whole), _AT_ONCE):
        yield whole[first : first + _AT_ONCE]
