"""The places of one room, in columns: some 250 bytes for each visitor, with the dictionary that finds him."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from uuid import UUID

import numpy as np

from booking.room.line import Line

DRAWN = -1
"""The rank of a place that has the one that the lot gives it, or will give it at the opening."""


class State(IntEnum):
    """Where somebody stands. AWAY keeps its rank and is passed over; the last three are out of the line for good."""

    WAITING = 0
    AWAY = 1
    ADMITTED = 2
    BOUGHT = 3
    LEFT = 4
    OVER = 5


KEEPS_RANK = frozenset({State.WAITING, State.AWAY, State.ADMITTED})


@dataclass(slots=True)
class Slot:
    """Somebody's turn. `session` is the digest of the session that has come for it; empty: nobody has yet.

    `was_left`: its visitor has gone, and a token of it may be good until `ends_at`. `taken_until`: until when a token
    of an earlier slot of the same visitor may be.
    """

    slot_id: UUID
    ends_at: float
    session: str = ""
    renewed: bool = False
    was_left: bool = False
    taken_until: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """A place as it is stored. A slot of one who is not ADMITTED is one that was left."""

    number: int
    account: bytes
    state: int
    rank: int
    joined_at: float
    generation: int
    slot_id: bytes = b""
    slot_ends_at: float = 0.0
    session: str = ""
    renewed: bool = False


class Places:
    """All places by number, in the order of arrival, and the line that they stand in."""

    def __init__(self) -> None:
        self.line = Line()
        self.slots: dict[int, Slot] = {}
        self._numbers: dict[bytes, int] = {}
        self._accounts: list[bytes] = []
        self._states = bytearray()
        self._ranks = array("i")
        self._at_rank = array("i")
        self._joined = array("d")
        self._seen = array("d")
        self._generations = array("I")
        self._drawn = array("i")
        self.unranked = 0

    def __len__(self) -> int:
        return len(self._accounts)

    def find(self, account: bytes) -> int | None:
        """The number of an account's place."""
        return self._numbers.get(account)

    def account(self, number: int) -> bytes:
        """Whose place it is."""
        return self._accounts[number]

    def state(self, number: int) -> State:
        """Where it stands."""
        return State(self._states[number])

    @property
    def waiting(self) -> int:
        """How many are in line, also before the lot has ordered them."""
        return self.line.present + self.unranked

    def count(self, state: State) -> int:
        """How many are in a state."""
        return self._states.count(state)

    def ahead(self, number: int) -> int | None:
        """How many stand before it; None while the lot has not been drawn."""
        rank = self.rank(number)
        return None if rank == DRAWN else self.line.before(rank)

    def rank(self, number: int) -> int:
        """Its rank: its own, or the one that the lot gave it."""
        own = self._ranks[number]
        return self._drawn[number] if own == DRAWN and number < len(self._drawn) else own

    def add(self, account: bytes, now: float, ranked: bool) -> int:
        """A new place at the end."""
        number = len(self._accounts)
        self._numbers[account] = number
        self._accounts.append(account)
        self._states.append(State.WAITING)
        self._joined.append(now)
        self._seen.append(now)
        self._generations.append(0)
        self._ranks.append(self._append_rank(number) if ranked else DRAWN)
        self.unranked += not ranked
        return number

    def to_end(self, number: int, now: float, ranked: bool) -> None:
        """Somebody who was out of the line stands at its end."""
        self._states[number] = State.WAITING
        self._joined[number] = self._seen[number] = now
        self._ranks[number] = self._append_rank(number) if ranked else DRAWN
        self.unranked += not ranked

    def set_state(self, number: int, state: State) -> None:
        """Change the state, and step in or out of the line accordingly."""
        before = self._states[number]
        if before == state:
            return
        self._states[number] = state
        rank = self.rank(number)
        if rank == DRAWN:
            self.unranked += (state == State.WAITING) - (before == State.WAITING)
        else:
            self.line.set(rank, state == State.WAITING)
        slot = self.slots.get(number)
        if slot is not None and (
            state in (State.BOUGHT, State.OVER) or (state != State.ADMITTED and not slot.was_left)
        ):
            del self.slots[number]

    def saw(self, number: int, now: float) -> None:
        """Its visitor asked."""
        self._seen[number] = now

    def shift_seen(self, seconds: float) -> None:
        """All were seen so much later: the clock that said when was set."""
        if self._accounts:
            seen = np.frombuffer(self._seen, np.float64)
            seen += seconds

    def unseen_since(self, instant: float) -> list[int]:
        """Numbers of those who wait and have not asked since `instant`."""
        if not self._accounts:
            return []
        seen = np.frombuffer(self._seen, np.float64)
        states = np.frombuffer(self._states, np.uint8)
        numbers: list[int] = np.flatnonzero((seen <= instant) & (states == State.WAITING)).tolist()
        return numbers

    def next_in_line(self) -> int | None:
        """Whose turn is next."""
        rank = self.line.first()
        return None if rank is None else self._at_rank[rank]

    def raise_generation(self, number: int, now: float) -> None:
        """The next generation of its tokens: the second of now or the next number, so that it is a higher one than
        before even if the store was lost meanwhile.
        """
        self._generations[number] = max(self._generations[number] + 1, int(now))

    def generation(self, number: int) -> int:
        """The generation of its tokens."""
        return self._generations[number]

    def draw(self, seed: bytes, count: int) -> None:
        """Order the first `count` places by lot; the line was empty before.

        The lot of a place is SHA-256 of the seed and its account: whoever knows the seed can draw again.
        """
        lots = sorted(range(count), key=lambda number: hashlib.sha256(seed + self._accounts[number]).digest())
        self._at_rank = array("i", lots)
        self._drawn = array("i", bytes(4 * count))
        for rank, number in enumerate(lots):
            self._drawn[number] = rank
        own = self._ranks
        self.line = Line(self._states[n] == State.WAITING and own[n] == DRAWN for n in lots)
        self.unranked = 0

    def row(self, number: int) -> PlaceRow:
        """A place as it is to be stored."""
        slot = self.slots.get(number)
        kept = (slot.slot_id.bytes, slot.ends_at, slot.session, slot.renewed) if slot else (b"", 0.0, "", False)
        return PlaceRow(
            number, self._accounts[number], self._states[number], self._ranks[number], self._joined[number],
            self._generations[number], *kept,
        )  # fmt: skip

    def rows(self) -> Iterator[PlaceRow]:
        """All of them."""
        return map(self.row, range(len(self._accounts)))

    def restore(self, rows: Iterable[PlaceRow], seed: bytes, drawn: int, now: float) -> None:
        """Build all of it from what was stored, numbers ascending. Everybody counts as seen just now."""
        for row in rows:
            self._numbers[row.account] = len(self._accounts)
            self._accounts.append(row.account)
            self._states.append(row.state)
            self._ranks.append(row.rank)
            self._joined.append(row.joined_at)
            self._seen.append(now)
            self._generations.append(row.generation)
            if row.slot_id:
                was_left = row.state != State.ADMITTED
                taken_until = 0.0 if row.session else row.slot_ends_at  # not stored: as long as it may be
                self.slots[row.number] = Slot(
                    UUID(bytes=row.slot_id), row.slot_ends_at, row.session, bool(row.renewed), was_left, taken_until
                )
        self.draw(seed, drawn)
        self._restore_ranks()

    def _restore_ranks(self) -> None:
        owners = {rank: number for number, rank in enumerate(self._ranks) if rank != DRAWN}
        for rank in range(len(self.line), max(owners, default=-1) + 1):
            number = owners.get(rank, 0)  # a rank that was left for one further back is nobody's
            self.line.append(rank in owners and self._states[number] == State.WAITING)
            self._at_rank.append(number)
        self.unranked = sum(
            state == State.WAITING and self.rank(number) == DRAWN for number, state in enumerate(self._states)
        )

    def _append_rank(self, number: int) -> int:
        self._at_rank.append(number)
        return self.line.append()
