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
from widgets.seat_map.seat_bits import (
    BAND_OF,
    CLOSED_MODE,
    DIMMED_MODE,
    FLAGS_MASK,
    GONE_MODE,
    KIND_SHIFT,
    LOOK_COUNT,
    MINE_MODE,
    HouseKind,
    Look,
    SeatStatus,
)
from widgets.seat_map.seat_grid import SeatGrid

Flags = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.unsignedinteger]

_SORT_BELOW = 256  # slots: fewer are sorted, more are marked in a column and read off it
_KIND_MASK = (len(HouseKind) - 1) << KIND_SHIFT


class SeatStates:
    """States and looks of one plan's seats. Methods that change something answer with the slots whose look changed."""

    def __init__(self, plan: SeatMapPlan, grid: SeatGrid) -> None:
        self._grid = grid
        self._category = plan.category[grid.seat_of_slot]
        count = plan.seat_count
        kind_code = self._category.astype(np.uint16) << 3 | plan.flags[grid.seat_of_slot] & FLAGS_MASK
        self.kinds, kind = np.unique(kind_code, return_inverse=True)
        # A plan with hundreds of categories has more keys than two bytes can count.
        self._key_type: type[np.unsignedinteger] = (
            np.uint16 if 2 * LOOK_COUNT * len(self.kinds) <= 1 << 16 else np.uint32
        )
        self._kind: Keys = kind.astype(self._key_type)
        self.section_count = len(plan.section_name)
        self._section = plan.seat_section[grid.seat_of_slot].astype(np.intp)
        # Until states are known nothing is offered.
        self.state: Bytes = np.full(count, SeatStatus.BLOCKED, np.uint8)
        self._gone = plan.gone[grid.seat_of_slot]
        self._mode: Bytes = self._gone * np.uint8(GONE_MODE)
        self._marked: Flags = np.zeros(count, np.bool_)
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

    @property
    def dimmed(self) -> Flags:
        """By slot, which seats a filter puts back."""
        dimmed: Flags = (self._mode & np.uint8(DIMMED_MODE)) != 0
        return dimmed

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
        # A negative number is a very large one without a sign: one look finds both ends.
        if len(numbers) and int(numbers.view(np.uint64).max()) >= self.seat_count:
            raise SeatOutOfPlanError(f"a seat lies outside a plan of {self.seat_count} seats")
        slots: Indices = self._grid.slot_of_seat.take(numbers)
        return slots

    def looks(self, slots: Indices | slice) -> Bytes:
        """Looks of slots."""
        look: Bytes = self._bands(slots) % np.uint8(LOOK_COUNT)
        return look

    def set_all(self, states: Bytes) -> None:
        """All states, by seat number; raises SeatOutOfPlanError when there are more or fewer than seats."""
        if len(states) != self.seat_count:
            raise SeatOutOfPlanError(f"{len(states)} states do not fit a plan of {self.seat_count} seats")
        self.state = states[self._grid.seat_of_slot]
        self.refresh()

    def apply(self, seats: npt.NDArray[np.integer], states: Bytes) -> Indices:
        """Changes in order; a later one of the same seat wins."""
        return self.apply_to_slots(self.slots_of(seats), states)

    def apply_to_slots(self, slots: Indices, states: Bytes) -> Indices:
        """The same for slots that `slots_of` gave."""
        self.state[slots] = states
        return self._rekey(slots)

    def set_mine(self, seats: Iterable[int]) -> Indices:
        """Exactly these seats are this person's own."""
        return self._replace(MINE_MODE, self.slots_of(seats))

    def set_closed(self, closed: Flags | None) -> Indices:
        """By seat number, which seats this person may not sell though they are free; None: all may be sold."""
        if closed is None:
            return self._replace(CLOSED_MODE, np.empty(0, np.intp))
        if len(closed) != self.seat_count:
            raise SeatOutOfPlanError(f"{len(closed)} marks do not fit a plan of {self.seat_count} seats")
        return self._replace(CLOSED_MODE, self._grid.slot_of_seat[np.flatnonzero(closed)])

    def dim_categories(self, categories: Iterable[int]) -> Indices:
        """Seats of these categories stand back; the others show as they are."""
        wanted = np.isin(self._category, list(categories))
        return self._replace(DIMMED_MODE, np.flatnonzero(wanted))

    def set_house_kinds(self, seats: npt.NDArray[np.integer], kinds: npt.NDArray[np.integer]) -> Indices:
        """Exactly these seats are kept back for these kinds, all others for nobody named; an unknown one is OTHER.

        Raises ValueError when there are more or fewer kinds than seats.
        """
        if len(seats) != len(kinds):
            raise ValueError(f"{len(kinds)} kinds do not fit {len(seats)} seats")
        slots = self.slots_of(seats)
        known = np.clip(kinds, HouseKind.UNKNOWN, HouseKind.OTHER).astype(np.uint8) << np.uint8(KIND_SHIFT)
        before = np.flatnonzero(self._mode & np.uint8(_KIND_MASK))
        self._mode &= np.uint8(0xFF ^ _KIND_MASK)
        self._mode[slots] |= known
        return self._rekey(np.concatenate((before, slots)))

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
        return np.bincount(self._section[~self._gone], minlength=self.section_count).astype(np.intp)

    def free_by_section(self) -> npt.NDArray[np.intp]:
        """Number of free, sellable seats of each section."""
        look = self.key // self.kind_count % LOOK_COUNT
        return np.bincount(self._section[look == Look.FREE], minlength=self.section_count).astype(np.intp)

    def _replace(self, bit: int, slots: Indices) -> Indices:
        before = np.flatnonzero(self._mode & np.uint8(bit))
        self._mode[before] &= np.uint8(0xFF ^ bit)
        self._mode[slots] |= np.uint8(bit)
        return self._rekey(np.concatenate((before, slots)))

    def _rekey(self, slots: Indices) -> Indices:
        """Recompute keys; slots whose key changed, each once."""
        keys = self._keys(slots)
        differs = keys != self.key.take(slots)
        changed = slots[differs]
        self.key[changed] = keys[differs]
        changed = self._each_once(changed)
        self.changes += len(changed)
        return changed

    def _each_once(self, slots: Indices) -> Indices:
        """Distinct slots, ascending."""
        if len(slots) < _SORT_BELOW:
            few: Indices = np.unique(slots)
            return few
        self._marked[slots] = True
        found: Indices = np.flatnonzero(self._marked)
        self._marked[found] = False
        return found

    def _keys(self, slots: Indices | slice) -> Keys:
        keys: Keys = np.multiply(self._bands(slots), self.kind_count, dtype=self._key_type)
        np.add(keys, self._kind[slots], out=keys)
        return keys

    def _bands(self, slots: Indices | slice) -> Bytes:
        at = self._mode[slots].astype(np.intp)
        at <<= 8
        at += self.state[slots]
        bands: Bytes = BAND_OF.take(at)
        return bands
