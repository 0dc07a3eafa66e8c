"""Rooms and visitors for tests: time is a number that the test moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from booking.room.event_room import EventRoom, RoomFacts
from booking.room.settings import Queueing, Settings

OPENS_AT = 1_000_000.0
SEED = bytes(range(32))
EVENT = 7


def account(number: int) -> bytes:
    """The account of visitor `number`."""
    return UUID(int=number + 1).bytes


def make_room(**settings: Any) -> EventRoom:
    """A room that opens at `OPENS_AT`, in the order of arrival unless told otherwise."""
    wanted = msgspec.structs.replace(Settings(queueing=Queueing.FIFO, new_users_per_minute=60_000), **settings)
    return EventRoom(RoomFacts(EVENT, OPENS_AT, SEED, wanted))


def join_all(room: EventRoom, count: int, now: float = OPENS_AT - 60, first: int = 0) -> list[int]:
    """Visitors `first`, `first + 1` … join, a millisecond apart."""
    return [room.join(account(first + index), now + index / 1000) for index in range(count)]


@dataclass
class Clock:
    """The house's clock."""

    now: float = OPENS_AT - 60
    moves: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        """Time passes."""
        self.moves.append(seconds)
        self.now += seconds
