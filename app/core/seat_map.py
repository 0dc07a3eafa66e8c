"""The live state of an event's seats: staff bytes by seat number (`backend_client.seat_frames`), and what is ours.

`revision` counts changes here; views that draw remember the revision they drew and ask for what changed since, so that
several views and a coalescing shell see each change once (R13, R14).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend_client.seat_frames import (
    STATUS_MASK,
    Delta,
    Layout,
    PublicState,
    SeatNumbers,
    Snapshot,
    StaffStatus,
    States,
)

_LOG_LENGTH = 512
_STAFF_OF_PUBLIC: States = np.zeros(4, np.uint8)
_STAFF_OF_PUBLIC[PublicState.HELD] = StaffStatus.HELD
_STAFF_OF_PUBLIC[PublicState.SOLD] = StaffStatus.SOLD
_STAFF_OF_PUBLIC[PublicState.BLOCKED] = StaffStatus.BLOCKED


@dataclass(frozen=True, slots=True)
class SeatChanges:
    """Seats that changed, in order of change, with their new staff bytes; a seat may stand in it more than once."""

    seats: SeatNumbers
    states: States


@dataclass(frozen=True, slots=True)
class SeatCounts:
    """Seats by status."""

    available: int
    held: int
    paying: int
    sold: int
    blocked: int


def as_staff_bytes(states: States, layout: Layout) -> States:
    """States of either layout as staff bytes; the public layout tells no holder."""
    if layout is Layout.STAFF:
        return states
    staff: States = _STAFF_OF_PUBLIC[states]
    return staff


class SeatMapState:
    """Seats 0 … seat_count - 1. `states` is uint8[seat_count], all BLOCKED until the first snapshot."""

    def __init__(self, seat_count: int) -> None:
        self.states: States = np.full(seat_count, StaffStatus.BLOCKED, np.uint8)
        self.version: int | None = None
        self.epoch: int | None = None
        self.revision = 0
        self.mine: frozenset[int] = frozenset()
        self._log: deque[SeatChanges] = deque(maxlen=_LOG_LENGTH)

    @property
    def seat_count(self) -> int:
        """How many seats the plan has."""
        return len(self.states)

    @property
    def loaded(self) -> bool:
        """True once a snapshot came."""
        return self.version is not None

    def load(self, snapshot: Snapshot) -> None:
        """Take a snapshot; views draw anew.

        Raises:
            ValueError: it is of another plan (seat counts differ).
        """
        if len(snapshot.states) != self.seat_count:
            raise ValueError(f"snapshot of {len(snapshot.states)} seats for a plan of {self.seat_count}")
        self.states = as_staff_bytes(snapshot.states, snapshot.layout).copy()
        self.version, self.epoch = snapshot.version, snapshot.epoch
        self._log.clear()
        self.revision += 1

    def apply(self, delta: Delta) -> None:
        """Take changes that the feed protocol found to be next.

        Raises:
            ValueError: a seat number beyond the plan; nothing is applied.
        """
        if len(delta.seats) and int(delta.seats.max()) >= self.seat_count:
            raise ValueError("a change names a seat beyond the plan")
        staff = as_staff_bytes(delta.states, delta.layout)
        self.states[delta.seats] = staff
        self.version, self.epoch = delta.to_version, delta.epoch
        self._log.append(SeatChanges(delta.seats, staff))
        self.revision += 1

    def changes_since(self, revision: int) -> SeatChanges | None:
        """What changed after `revision`; None when a view must draw anew from `states`."""
        behind = self.revision - revision
        if behind == 0:
            return SeatChanges(np.empty(0, np.uint32), np.empty(0, np.uint8))
        if behind < 0 or behind > len(self._log):
            return None
        recent = list(self._log)[-behind:]
        return SeatChanges(
            np.concatenate([changes.seats for changes in recent]),
            np.concatenate([changes.states for changes in recent]),
        )

    def set_mine(self, seats: Iterable[int]) -> None:
        """The seats of this counter's sale: our own overlay, no word of the server's."""
        self.mine = frozenset(seats)

    def status_of(self, seat_no: int) -> StaffStatus | None:
        """The status of a seat; None beyond the plan."""
        if not 0 <= seat_no < self.seat_count:
            return None
        return StaffStatus(int(self.states[seat_no]) & STATUS_MASK)

    def is_pickable(self, seat_no: int) -> bool:
        """True when the map shows the seat as available. The map is advice; the hold decides (R2, R14)."""
        return self.status_of(seat_no) is StaffStatus.AVAILABLE

    def pickable(self) -> npt.NDArray[np.bool_]:
        """By seat number, whether the map shows the seat as available."""
        shown: npt.NDArray[np.bool_] = (self.states & STATUS_MASK) == StaffStatus.AVAILABLE
        return shown

    def counts(self) -> SeatCounts:
        """How many seats stand at each status."""
        by_status = np.bincount(self.states & STATUS_MASK, minlength=8)
        return SeatCounts(*(int(by_status[status]) for status in StaffStatus))
