"""What of the room survives a crash: the interface of its store, so that another one can take SQLite's place.

One process writes. What is handed to `write` at once is stored all or not at all, in the order of the calls, and
is durable once the call has returned: nobody is told of a place before it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from booking.room.event_room import RoomFacts
from booking.room.places import PlaceRow


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the room's own log: who changed what, from what, to what, why (R20)."""

    at: float
    who: str
    event_id: int
    what: str
    was: str
    now: str
    reason: str


@dataclass(frozen=True, slots=True)
class CodeUse:
    """An account has used a registration code, by the code's digest."""

    event_id: int
    digest: bytes
    account: bytes


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A signing key of admission tokens. `created_at` decides which one signs: the newest that has not retired."""

    key_id: str
    private: bytes
    created_at: float
    retired_at: float | None = None


@dataclass(slots=True)
class Batch:
    """What is stored together."""

    facts: RoomFacts | None = None
    event_id: int = 0
    places: Sequence[PlaceRow] = ()
    changes: Sequence[Change] = ()
    codes: Sequence[tuple[int, bytes]] = ()
    code_uses: Sequence[CodeUse] = ()
    keys: Sequence[KeyRow] = ()
    notes: Sequence[tuple[str, bytes]] = ()


@dataclass(slots=True)
class StoredRoom:
    """A room as it was stored. `codes`: digest of each registration code → who has used it."""

    facts: RoomFacts
    places: list[PlaceRow] = field(default_factory=list)
    codes: dict[bytes, bytes | None] = field(default_factory=dict)


@dataclass(slots=True)
class Stored:
    """Everything. `notes` are small facts under a name of their own: secrets, account keys, cursors."""

    rooms: list[StoredRoom]
    keys: list[KeyRow]
    notes: dict[str, bytes]


class StoreFailedError(Exception):
    """What was to be stored is not: the room has to end, because memory says more than the store."""


class RoomStore(Protocol):
    """Where a room keeps what must survive. `failed` is set once nothing will be stored any more."""

    failed: asyncio.Event

    async def load(self) -> Stored:
        """Everything that is stored."""
        ...

    async def write(self, batch: Batch) -> None:
        """Store a batch; durable when this returns.

        Raises:
            StoreFailedError: it is not stored, and nothing will be from now on.
        """
        ...

    async def changes(self, event_id: int, limit: int) -> list[Change]:
        """The newest entries of the log, newest first."""
        ...

    async def log(self) -> list[Change]:
        """The whole log, oldest first; of one event in the order of writing."""
        ...

    async def close(self) -> None:
        """Write what was handed over and let go of the store; once more does nothing."""
        ...
