"""What of the room's log booking has not got yet: operators read one log, and the room writes its own (R20).

The room has a store of its own and goes on without booking. So each entry gets a number of its own (UUID) and stands in
a note of the store, written with the change itself, until booking has taken it; an entry that is posted twice is there
once. What the controller of admission sets here is in booking's log already, by the controller, and is not posted.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from booking.domain.admission_control import BY_CONTROLLER
from booking.room.store import Change

NOTE: Final = "log-unsent"
AT_ONCE: Final = 100
MOST_KEPT: Final = 10_000

log = logging.getLogger(__name__)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the room's log under a number of its own; `at` in seconds since 1970, of the room's host."""

    entry_id: UUID
    at: float
    who: str
    event_id: int
    what: str
    was: str
    now: str
    reason: str


class LogPost:
    """The entries that are on their way, oldest first. `note`: what the store had of them."""

    def __init__(self, note: bytes = b"") -> None:
        self._entries = {one.entry_id: one for one in _entries(note)}
        self._durable = set(self._entries)

    def put(self, changes: Sequence[Change]) -> list[UUID]:
        """Entries for these changes, to be stored with them; their numbers, for `kept`."""
        made = [
            Entry(
                entry_id=uuid7(), at=one.at, who=one.who, event_id=one.event_id, what=one.what, was=one.was,
                now=one.now, reason=one.reason,
            )
            for one in changes
            if one.who != BY_CONTROLLER
        ]  # fmt: skip
        self._entries |= {one.entry_id: one for one in made}
        excess = list(self._entries)[:-MOST_KEPT]
        if excess:
            log.warning("booking has been away for long: it will not get %s old entries of the log", len(excess))
            self.taken(excess)
        return [one.entry_id for one in made]

    def kept(self, numbers: Sequence[UUID]) -> None:
        """The store has them: booking may be told."""
        self._durable |= self._entries.keys() & set(numbers)

    def due(self) -> list[Entry]:
        """What booking is to be told next."""
        return [one for one in self._entries.values() if one.entry_id in self._durable][:AT_ONCE]

    def taken(self, numbers: Sequence[UUID]) -> None:
        """Booking has them."""
        for number in numbers:
            self._entries.pop(number, None)
            self._durable.discard(number)

    def note(self) -> tuple[str, bytes]:
        """As it is to be stored now."""
        return NOTE, msgspec.json.encode(list(self._entries.values()))


def _entries(note: bytes) -> list[Entry]:
    return msgspec.json.decode(note, type=list[Entry]) if note else []
