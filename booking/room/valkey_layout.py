"""How a room lies in Valkey: the names of its keys, and batches as operations on them.

All keys of a store begin with `{room:NAME}`, so that a cluster keeps them in one place. Places lie in pages of 1024
records of 34 bytes, each page a string: 200,000 places take 7 MB whatever the server's settings are, and people who
have joined at once are one piece of one page. Who has a turn has an entry more, in `slots`.

    meta             hash   schema, lease, number of the last batch (`valkey_script`)
    rooms            hash   event → facts                    keys, notes   hash   by name
    pages:EVENT      set    which pages there are            page:EVENT:N  string
    slots:EVENT      hash   number → the slot                codes:EVENT   hash   digest → account or nothing
    logs             set    events that have a log           log:EVENT     list   oldest first
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from struct import Struct
from typing import Final, TypeVar

import msgspec

from booking.room.event_room import Phase, RoomFacts
from booking.room.places import PlaceRow
from booking.room.settings import Settings
from booking.room.store import Batch, Change, KeyRow

SCHEMA: Final = 1
PLACES_A_PAGE: Final = 1024
_RECORD = Struct("<BB16sidI")
"""State + 1 (0: nobody has this number), whether there is a slot, account, rank, time of joining, generation."""
_SLOT = Struct("<d?B")
"""When it ends, whether it was renewed, how long its id is; then the id, then the session."""
PAGE_BYTES: Final = PLACES_A_PAGE * _RECORD.size
_ACCOUNT_BYTES = 16
_MOST_WORDS = 1000

Word = bytes | str | int
T = TypeVar("T")


class _Facts(msgspec.Struct, frozen=True, array_like=True):
    opens_at: float
    seed: bytes
    settings: Settings
    phase: Phase
    drawn: int


class _Key(msgspec.Struct, frozen=True, array_like=True):
    private: bytes
    created_at: float
    retired_at: float | None


class _Change(msgspec.Struct, frozen=True, array_like=True):
    at: float
    who: str
    event_id: int
    what: str
    was: str
    now: str
    reason: str


@dataclass(frozen=True, slots=True)
class Names:
    """The keys of the store of a name."""

    store: str

    def __call__(self, *parts: object) -> str:
        """A key: its kind, then what it is of."""
        return f"{{room:{self.store}}}:" + ":".join(map(str, parts))


@dataclass(slots=True)
class Operations:
    """What the script `WRITE` is to do. `kinds`: what each key must be, in the order of their indices."""

    names: Names
    kinds: dict[str, str] = field(default_factory=dict)
    words: list[Word] = field(default_factory=list)
    _indices: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, kind: str, key: tuple[object, ...], words: Sequence[Word]) -> None:
        """One operation on one key."""
        full = self.names(*key)
        if full not in self._indices:
            self._indices[full] = len(self.kinds) + 2
            self.kinds[full] = kind
        self.words += (name, self._indices[full], len(words), *words)

    def many(self, name: str, kind: str, key: tuple[object, ...], words: Iterable[Word]) -> None:
        """The same with any number of words: some at a time, because a script's stack takes no more."""
        for piece in _pieces(words, _MOST_WORDS):
            self.add(name, kind, key, piece)


# ------------------------------------------------------------------ batches


def operations(names: Names, batches: Sequence[Batch]) -> Operations:
    """Batches as one: of what they say of the same thing the last one counts.

    Raises:
        TypeError, ValueError, struct.error: something in it cannot be stored.
    """
    done = Operations(names)
    rooms: dict[int, bytes] = {}
    places: dict[int, dict[int, PlaceRow]] = {}
    keys: dict[str, bytes] = {}
    notes: dict[str, bytes] = {}
    for batch in batches:
        if batch.facts is not None:
            rooms[batch.facts.event_id] = _packed_facts(batch.facts)
        if batch.places:
            places.setdefault(batch.event_id, {}).update((row.number, row) for row in batch.places)
        keys |= {key.key_id: _packed_key(key) for key in batch.keys}
        notes |= {name: _checked(value) for name, value in batch.notes}
        _add_codes(done, batch)
        for change in batch.changes:
            done.add("SADD", "set", ("logs",), [change.event_id])
            done.add("RPUSH", "list", ("log", change.event_id), [packed_change(change)])
    for event_id, rows in places.items():
        _add_places(done, event_id, rows)
    for key, packed in (("rooms", rooms), ("keys", keys), ("notes", notes)):
        done.many("HSET", "hash", (key,), _flat(packed))
    return done


def _add_codes(done: Operations, batch: Batch) -> None:
    by_event: dict[int, list[bytes]] = {}
    for event_id, digest in batch.codes:
        by_event.setdefault(event_id, []).append(_checked(digest))
    for event_id, digests in by_event.items():
        done.many("CODES", "hash", ("codes", event_id), digests)
    for use in batch.code_uses:
        done.add("USE", "hash", ("codes", use.event_id), [_checked(use.digest), _checked(use.account)])


def _add_places(done: Operations, event_id: int, rows: Mapping[int, PlaceRow]) -> None:
    slots = {str(number): packed for number, row in rows.items() if (packed := _packed_slot(row))}
    done.many("HDEL", "hash", ("slots", event_id), [str(number) for number in rows if str(number) not in slots])
    done.many("HSET", "hash", ("slots", event_id), _flat(slots))
    pages = dict.fromkeys(number // PLACES_A_PAGE for number in rows)
    done.many("SADD", "set", ("pages", event_id), pages)
    for first, run in _runs(sorted(rows)):
        page, offset = divmod(first, PLACES_A_PAGE)
        records = b"".join(_packed_place(rows[number]) for number in run)
        done.add("PAGE", "string", ("page", event_id, page), [PAGE_BYTES, offset * _RECORD.size, records])


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, range]]:
    """Numbers that follow each other on one page, as their first and all of them."""
    begin = 0
    for at in range(1, len(numbers) + 1):
        goes_on = at < len(numbers) and numbers[at] == numbers[at - 1] + 1 and numbers[at] % PLACES_A_PAGE
        if not goes_on:
            yield numbers[begin], range(numbers[begin], numbers[at - 1] + 1)
            begin = at


# ------------------------------------------------------------------ packed and unpacked


def _packed_place(row: PlaceRow) -> bytes:
    if len(row.account) != _ACCOUNT_BYTES:
        raise ValueError(f"an account has {_ACCOUNT_BYTES} bytes, not {len(row.account)}")
    has_slot = bool(_packed_slot(row))
    return _RECORD.pack(row.state + 1, has_slot, row.account, row.rank, row.joined_at, row.generation)


def _packed_slot(row: PlaceRow) -> bytes:
    if not (row.slot_id or row.slot_ends_at or row.session or row.renewed):
        return b""
    return _SLOT.pack(row.slot_ends_at, row.renewed, len(row.slot_id)) + row.slot_id + row.session.encode()


def places_of(page: int, packed: bytes, slots: Mapping[bytes, bytes]) -> Iterator[PlaceRow]:
    """The places of a page, numbers ascending."""
    first = page * PLACES_A_PAGE
    for number, (state, has_slot, account, rank, joined, generation) in enumerate(_RECORD.iter_unpack(packed), first):
        if state:
            slot = _unpacked_slot(slots[b"%d" % number]) if has_slot else ()
            yield PlaceRow(number, account, state - 1, rank, joined, generation, *slot)


def _unpacked_slot(packed: bytes) -> tuple[bytes, float, str, bool]:
    ends_at, renewed, length = _SLOT.unpack_from(packed)
    end = _SLOT.size + length
    return packed[_SLOT.size : end], ends_at, packed[end:].decode(), renewed


def _packed_facts(facts: RoomFacts) -> bytes:
    return msgspec.msgpack.encode(_Facts(facts.opens_at, facts.seed, facts.settings, facts.phase, facts.drawn))


def facts_of(event_id: int, packed: bytes) -> RoomFacts:
    """The facts of an event's room."""
    one = msgspec.msgpack.decode(packed, type=_Facts)
    return RoomFacts(event_id, one.opens_at, one.seed, one.settings, one.phase, one.drawn)


def _packed_key(key: KeyRow) -> bytes:
    return msgspec.msgpack.encode(_Key(_checked(key.private), key.created_at, key.retired_at))


def key_of(key_id: str, packed: bytes) -> KeyRow:
    """A signing key."""
    one = msgspec.msgpack.decode(packed, type=_Key)
    return KeyRow(key_id, one.private, one.created_at, one.retired_at)


def packed_change(change: Change) -> bytes:
    """An entry of the log; settings from and to are nearly the same words, so that it shrinks to less than half."""
    one = _Change(change.at, change.who, change.event_id, change.what, change.was, change.now, change.reason)
    return zlib.compress(msgspec.msgpack.encode(one))


def change_of(packed: bytes) -> Change:
    """An entry of the log."""
    one = msgspec.msgpack.decode(zlib.decompress(packed), type=_Change)
    return Change(one.at, one.who, one.event_id, one.what, one.was, one.now, one.reason)


def _checked(value: bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"bytes are needed, not {type(value).__name__}")
    return value


def _flat(pairs: Mapping[str, bytes] | Mapping[int, bytes]) -> Iterator[Word]:
    for name, value in pairs.items():
        yield name
        yield value


def _pieces(words: Iterable[T], most: int) -> Iterator[list[T]]:
    rest = iter(words)
    while piece := list(islice(rest, most)):
        yield piece
