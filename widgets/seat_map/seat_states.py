"""What every seat of the shown event is now: states, this person's own seats, and the look that follows.

Columns are in slot order (see `SeatGrid`). The *key* of a seat selects its sprite: look, dimmed or not, and the kind of
the seat, which is its category together with its marks.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.ma  # `np.unique` loads it at its first call: better at start than at the first pick
import numpy.typing as npt

from widgets.seat_map.plan import Bytes, Indices, SeatMapPlan, SeatOutOfPlanError
from widgets.seat_map.seat_bits import FLAGS_MASK, LOOK_COUNT, LOOK_OF_STATE, Look, SeatStatus
from widgets.seat_map.seat_grid import SeatGrid

Flags = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.uint16]


class SeatStates:
    """States and looks of one plan's seats. Methods that change something answer with the slots whose look changed."""

    def __init__(self, plan: SeatMapPlan, grid: SeatGrid) -> None:
        self._grid = grid
        self._section = plan.seat_section[grid.seat_of_slot].astype(np.intp)
        self._category = plan.category[grid.seat_of_slot]
        count = plan.seat_count
        kind_code = self._category.astype(np.uint16) << 3 | plan.flags[grid.seat_of_slot] & FLAGS_MASK
        self.kinds, kind = np.unique(kind_code, return_inverse=True)
        self._kind: Keys = kind.astype(np.uint16)
        self.section_count = len(plan.section_name)
        # Until states are known nothing is offered.
        self.state: Bytes = np.full(count, SeatStatus.BLOCKED, np.uint8)
        self.mine: Flags = np.zeros(count, np.bool_)
        self.closed: Flags = np.zeros(count, np.bool_)
        self.dimmed: Flags = np.zeros(count, np.bool_)
        self.key: Keys = self._kind.copy()
        self.changes = 0
        """Rises with every change of a look."""
        self.refresh()

    @property
    def kind_count(self) -> int:
        return max(1, len(self.kinds))

    @property
    def seat_count(self) -> int:
        return len(self.state)

    def look_of_seat(self, seat_no: int) -> Look:
        """The look of one seat."""
        slot = self.slot_of(seat_no)
        return Look(int(self.looks(np.array([slot]))[0]))

    def slot_of(self, seat_no: int) -> int:
        """Seat number → slot; raises SeatOutOfPlanError."""
        if not 0 <= seat_no < self.seat_count:
            raise SeatOutOfPlanError(f"seat {seat_no} lies outside a plan of {self.seat_count} seats")
        return int(self._grid.slot_of_seat[seat_no])

    def slots_of(self, seats: Iterable[int] | npt.NDArray[np.integer]) -> Indices:
        """Seat numbers → slots; raises SeatOutOfPlanError when one of them is not in the plan."""
        numbers = np.asarray(seats if isinstance(seats, np.ndarray) else list(seats), dtype=np.int64)
        if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= self.seat_count):
            raise SeatOutOfPlanError(f"a seat lies outside a plan of {self.seat_count} seats")
        slots: Indices = self._grid.slot_of_seat[numbers]
        return slots

    def looks(self, slots: Indices | slice) -> Bytes:
        """Looks of slots."""
        look = LOOK_OF_STATE[self.state[slots]]
        look = np.where(self.closed[slots] & (look == Look.FREE), np.uint8(Look.CLOSED), look)
        return np.where(self.mine[slots], np.uint8(Look.MINE), look)

    def set_all(self, states: Bytes) -> None:
        """All states, by seat number; raises SeatOutOfPlanError when there are more or fewer than seats."""
        if len(states) != self.seat_count:
            raise SeatOutOfPlanError(f"{len(states)} states do not fit a plan of {self.seat_count} seats")
        self.state = states[self._grid.seat_of_slot]
        self.refresh()

    def apply(self, seats: npt.NDArray[np.integer], states: Bytes) -> Indices:
        """Changes in order; a later one of the same seat wins."""
        slots = self.slots_of(seats)
        self.state[slots] = states
        return self._rekey(slots)

    def set_mine(self, seats: Iterable[int]) -> Indices:
        """Exactly these seats are this person's own."""
        return self._replace(self.mine, self.slots_of(seats))

    def set_closed(self, closed: Flags | None) -> Indices:
        """By seat number, which seats this person may not sell though they are free; None: all may be sold."""
        if closed is None:
            return self._replace(self.closed, np.empty(0, np.intp))
        if len(closed) != self.seat_count:
            raise SeatOutOfPlanError(f"{len(closed)} marks do not fit a plan of {self.seat_count} seats")
        return self._replace(self.closed, self._grid.slot_of_seat[np.flatnonzero(closed)])

    def dim_categories(self, categories: Iterable[int]) -> Indices:
        """Seats of these categories stand back; the others show as they are."""
        wanted = np.isin(self._category, list(categories))
        return self._replace(self.dimmed, np.flatnonzero(wanted))

    def refresh(self) -> None:
        """All keys anew."""
        self.changes += 1
        self.key[:] = self._keys(slice(None))

    def selectable(self, slots: Indices) -> Flags:
        """Which of these slots this person can pick or already has."""
        look = self.looks(slots)
        flags: Flags = (look == Look.FREE) | (look == Look.MINE)
        return flags

    def seats_by_section(self) -> npt.NDArray[np.intp]:
        """Number of seats of each section."""
        return np.bincount(self._section, minlength=self.section_count).astype(np.intp)

    def free_by_section(self) -> npt.NDArray[np.intp]:
        """Number of free, sellable seats of each section."""
        look = self.key // np.uint16(self.kind_count) % np.uint16(LOOK_COUNT)
        return np.bincount(self._section[look == Look.FREE], minlength=self.section_count).astype(np.intp)

    def _replace(self, column: Flags, slots: Indices) -> Indices:
        before = np.flatnonzero(column)
        column[before] = False
        column[slots] = True
        return self._rekey(np.concatenate((before, slots)))

    def _rekey(self, slots: Indices) -> Indices:
        """Recompute keys; slots whose key changed, each once."""
        keys = self._keys(slots)
        differs = keys != self.key[slots]
        changed = np.unique(slots[differs])
        self.changes += len(changed)
        self.key[slots] = keys
        return changed

    def _keys(self, slots: Indices | slice) -> Keys:
        band = self.looks(slots).astype(np.uint16)
        band += self.dimmed[slots] * np.uint16(LOOK_COUNT)
        keys: Keys = band * np.uint16(self.kind_count) + self._kind[slots]
        return keys
