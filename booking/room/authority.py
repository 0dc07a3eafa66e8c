"""What the room hears from booking, while it is there: who has bought, what is left, who may speak (R16, R19, R20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from booking.room.event_room import Availability
from booking.room.log_post import Entry


@dataclass(frozen=True, slots=True)
class Purchase:
    """An account's purchase has spent its slot (W3)."""

    event_id: int
    account: bytes
    slot_id: UUID


@dataclass(frozen=True, slots=True)
class SaleState:
    """One event as booking has it. `is_over`: nothing of it will be sold any more;
    `is_paused`: nothing of it is sold just now.
    """

    event_id: int
    opens_at: float
    is_over: bool
    availability: Availability
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class News:
    """What was heard at once. `account_keys` are those that callers' access tokens are signed with."""

    purchases: tuple[Purchase, ...] = ()
    sales: tuple[SaleState, ...] = ()
    account_keys: Mapping[UUID, bytes] = field(default_factory=dict)
    cursor: str = ""


class Authority(Protocol):
    """Booking, as the room sees it."""

    async def hear(
        self, events: tuple[int, ...], cursor: str, keys: Mapping[str, Ed25519PublicKey], retired: frozenset[str]
    ) -> News:
        """The news of `events` since `cursor`; the room's public keys, and which of its own are retired, are left there
        on the way.

        Raises:
            AuthorityAwayError: booking cannot be reached.
        """
        ...

    async def post(self, entries: Sequence[Entry]) -> None:
        """Leave entries of the room's log there, for operators to read. Again is harmless.

        Raises:
            AuthorityAwayError: booking cannot be reached, and may have them all the same.
        """
        ...
