"""What lies in a room's Valkey, read in pages: no answer is longer than some hundred kilobytes."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from booking.room.places import PlaceRow
from booking.room.store import Change, KeyRow, Stored, StoredRoom, StoreFailedError
from booking.room.valkey_layout import Names, change_of, facts_of, key_of, places_of

_PAGES_AT_ONCE = 16
_ENTRIES_AT_ONCE = 2000

T = TypeVar("T")


class ValkeyReading:
    """Reads with `ask`, page by page; who calls has the lease, and keeps it meanwhile, so nothing changes."""

    def __init__(self, ask: Callable[..., Awaitable[list[Any]]], names: Names) -> None:
        self._ask, self._names = ask, names

    async def everything(self) -> Stored:
        """All but the log.

        Raises:
            LinkLostError: there is no answer now.
            StoreFailedError: the server refuses, or what is stored is damaged.
        """
        try:
            return await self._everything()
        except (msgspec.MsgspecError, struct.error, ValueError, KeyError) as error:
            raise StoreFailedError(f"what is stored cannot be read: {error!r}") from error

    async def _everything(self) -> Stored:
        facts = await self._hash("rooms")
        rooms = [await self._room(event_id, facts[b"%d" % event_id]) for event_id in sorted(map(int, facts))]
        found = [key_of(name.decode(), packed) for name, packed in (await self._hash("keys")).items()]
        keys: list[KeyRow] = sorted(found, key=lambda key: (key.created_at, key.key_id))
        notes = {name.decode(): value for name, value in (await self._hash("notes")).items()}
        return Stored(rooms, keys, notes)

    async def changes(self, event_id: int, limit: int) -> list[Change]:
        """The newest entries of an event's log, newest first."""
        if limit <= 0:
            return []
        (entries,) = await self._ask(("LRANGE", self._names("log", event_id), -limit, -1))
        return [change_of(entry) for entry in reversed(entries)]

    async def log(self) -> list[Change]:
        """All entries, oldest first."""
        (events,) = await self._ask(("SMEMBERS", self._names("logs")))
        found: list[Change] = []
        for event_id in sorted(map(int, events)):
            found += [change_of(entry) for entry in await self._list("log", event_id)]
        return sorted(found, key=lambda change: change.at)

    async def _room(self, event_id: int, packed: bytes) -> StoredRoom:
        slots = await self._hash("slots", event_id)
        codes = {digest: account or None for digest, account in (await self._hash("codes", event_id)).items()}
        (members,) = await self._ask(("SMEMBERS", self._names("pages", event_id)))
        places: list[PlaceRow] = []
        for numbers in _pieces(sorted(map(int, members)), _PAGES_AT_ONCE):
            keys = [self._names("page", event_id, number) for number in numbers]
            (pages,) = await self._ask(("MGET", *keys))
            for number, page in zip(numbers, pages, strict=True):
                if page is None:
                    raise ValueError(f"page {number} of event {event_id} is missing")
                places += places_of(number, page, slots)
        return StoredRoom(facts_of(event_id, packed), places, codes)

    async def _hash(self, *key: object) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        cursor: Any = b"0"
        while True:
            ((cursor, flat),) = await self._ask(("HSCAN", self._names(*key), cursor, "COUNT", _ENTRIES_AT_ONCE))
            found |= zip(flat[::2], flat[1::2], strict=True)
            if cursor == b"0":
                return found

    async def _list(self, *key: object) -> list[bytes]:
        found: list[bytes] = []
        while True:
            first = len(found)
            command = ("LRANGE", self._names(*key), first, first + _ENTRIES_AT_ONCE - 1)
            (some,) = await self._ask(command)
            found += some
            if len(some) < _ENTRIES_AT_ONCE:
                return found


def _pieces(whole: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    for first in range(0, len(whole), most):
        yield whole[first : first + most]
