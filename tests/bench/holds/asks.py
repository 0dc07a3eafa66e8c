"""Requests for holds that all win: each by a buyer of its own, for three seats that nobody else wants."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

from uuid_utils.compat import uuid7

from booking.store.hold_lane import HoldAsk

SEATS_EACH = 3


def ask(event_id: int, first: int, seats: int = SEATS_EACH) -> HoldAsk:
    """A new buyer's request for `seats` seats from `first` on."""
    hold_id = uuid7()
    key = str(hold_id)
    return HoldAsk(
        event_id=event_id, principal=f"account:{uuid7()}", channel="online", key=key, digest=digest_of(key),
        hold_id=hold_id, device_id=None, staff_id=None, seats=tuple(range(first, first + seats)),
    )  # fmt: skip


def digest_of(key: str) -> bytes:
    """A digest that belongs to a key."""
    return sha256(key.encode()).digest()


def literal(value: object) -> str:
    """A Python value as SQL text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'::bytea"
    if isinstance(value, UUID):
        return f"'{value}'::uuid"
    if isinstance(value, (list, tuple)):
        return f"ARRAY[{', '.join(map(literal, value))}]"
    return "'" + str(value).replace("'", "''") + "'"


class Ground:
    """Seats of an event that no measurement has used yet."""

    def __init__(self, event_id: int, seats: int) -> None:
        self.event_id = event_id
        self.seats = seats
        self._next = 0

    def take(self, holds: int) -> range:
        """The first seats of `holds` requests."""
        first, self._next = self._next, self._next + holds * SEATS_EACH
        if self._next > self.seats:
            raise ValueError(f"the event has {self.seats} seats, {self._next} are wanted")
        return range(first, self._next, SEATS_EACH)

    def asks(self, holds: int) -> list[HoldAsk]:
        return [ask(self.event_id, first) for first in self.take(holds)]
