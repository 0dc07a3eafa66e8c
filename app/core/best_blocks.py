"""Which seats to offer: the best block of neighbours, the nearest to lost ones, the block under the mouse (R30).

Blocks are ranked as the booking system ranks them (`booking/domain/best_available.py` tells the reasons): without a
restricted view first, companion places last, then by the sum of the seats' costs (`SeatRows.cost`), then by seat
number. They are computed here because the map knows every seat already: an answer takes no round trip, and still
comes while the booking system is away. What is shown is a proposal; the hold asks for exactly these seats, and the
database decides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.core.orphan_seats import orphans_of, refused_starts, windows_all
from app.core.seat_rows import Costs, Flags, Ints, SeatRows
from backend_client.wire import OrphanRule

MOST_OFFERED = 32
_FIRST_CHUNK = 1_024

Block = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockWish:
    """`count` seats beside each other. Empty `categories` and `sections` mean all of them."""

    count: int
    categories: tuple[int, ...] = ()
    sections: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """All blocks of one size; the columns go by the first seat, `ranked` lists those, best first."""

    in_part: Flags
    uniform: Flags
    ranked: Ints


class BlockFinder:
    """Chooses blocks of one plan; sizes are prepared at first use, 3 ms each for 60,000 seats."""

    def __init__(self, rows: SeatRows) -> None:
        self.rows = rows
        self.categories: tuple[int, ...] = tuple(np.unique(rows.category_no).tolist())
        self._blocks: dict[int, _Blocks] = {}

    def best(self, free: Flags, wish: BlockWish, rule: OrphanRule, limit: int = MOST_OFFERED) -> tuple[Block, ...]:
        """Up to `limit` blocks that do not overlap, best first. `free`: by seat, whether it can be sold here."""
        usable = self._usable(free, wish, rule)
        ranked = self._of_size(wish.count).ranked
        found: list[int] = []
        taken: set[int] = set()
        at, chunk = 0, _FIRST_CHUNK
        while at < len(ranked) and len(found) < limit:
            some = ranked[at : at + chunk]
            _add_apart(found, taken, some[usable[some]].tolist(), wish.count, limit)
            at, chunk = at + chunk, chunk * 2
        return tuple(tuple(range(start, start + wish.count)) for start in found)

    def most(self, free: Flags, wish: BlockWish, rule: OrphanRule) -> int:
        """The largest count below the wish's that sits together; 0 for none."""
        for count in range(wish.count - 1, 0, -1):
            if self._usable(free, BlockWish(count, wish.categories, wish.sections), rule).any():
                return count
        return 0

    def nearest(self, free: Flags, wanted: Collection[int], rule: OrphanRule) -> Block:
        """As many seats as `wanted`, of their categories, the nearest to them; () when there are none.

        Who wanted accessible places is offered nothing: staff hand those out seat by seat.
        """
        rows, seats = self.rows, np.array(sorted(wanted), np.intp)
        if not len(seats) or int(seats[-1]) >= rows.seat_count or rows.accessible[seats].any():
            return ()
        categories = tuple(np.unique(rows.category_no[seats]).tolist())
        wish = BlockWish(len(seats), categories)
        starts = np.flatnonzero(self._usable(free, wish, rule))
        if not len(starts):
            return ()
        middle_x, middle_y = _means(rows.x, wish.count)[starts], _means(rows.y, wish.count)[starts]
        away = np.square(middle_x - rows.x[seats].mean()) + np.square(middle_y - rows.y[seats].mean())
        start = int(starts[int(np.argmin(np.rint(away / rows.spacing**2 * 1000)))])
        return tuple(range(start, start + wish.count))

    def under(self, free: Flags, seat_no: int, count: int, rule: OrphanRule) -> Block:
        """The block of `count` that has this seat in it, as near to its middle as its neighbours allow.

        () when so many are not free beside each other here. Where the event has an orphan rule, blocks that leave a
        seat single come last. An accessible place is given alone.
        """
        rows = self.rows
        if not free[seat_no]:
            return ()
        if count == 1 or rows.accessible[seat_no]:
            return (seat_no,)
        part = rows.part_of(seat_no)
        usable = free & ~rows.accessible
        starts = [
            start
            for start in range(max(part.start, seat_no - count + 1), min(seat_no, part.stop - count) + 1)
            if usable[start : start + count].all()
        ]
        if not starts:
            return ()
        wanted = seat_no - (count - 1) // 2
        strictly = OrphanRule.OFF if rule is OrphanRule.OFF else OrphanRule.STRICT
        blocks = [tuple(range(start, start + count)) for start in starts]
        return min(
            blocks,
            key=lambda block: (bool(orphans_of(strictly, rows, free, block)), abs(block[0] - wanted), block[0]),
        )

    def run_at(self, free: Flags, seat_no: int) -> int:
        """How many free seats sit together with this one."""
        part = self.rows.part_of(seat_no)
        first = last = seat_no
        while first - 1 in part and free[first - 1]:
            first -= 1
        while last + 1 in part and free[last + 1]:
            last += 1
        return last - first + 1 if free[seat_no] else 0

    def _usable(self, free: Flags, wish: BlockWish, rule: OrphanRule) -> Flags:
        """For each seat but the last ones, whether the block that starts there answers the wish."""
        rows, blocks = self.rows, self._of_size(wish.count)
        if not len(blocks.in_part):
            return blocks.in_part
        free = free & ~rows.gone
        usable = free & ~rows.accessible
        for wanted, numbers in ((wish.categories, rows.category_no), (wish.sections, rows.section_no)):
            if wanted:
                usable = usable & np.isin(numbers, np.array(wanted, np.int32))
        starts = windows_all(usable, wish.count) & blocks.in_part
        if len(wish.categories) < 2:
            starts &= blocks.uniform
        found: Flags = starts & ~refused_starts(rule, rows, free, blocks.in_part, wish.count)
        return found

    def _of_size(self, size: int) -> _Blocks:
        blocks = self._blocks.get(size)
        if blocks is None:
            blocks = self._blocks[size] = _rank(self.rows, size)
        return blocks


def _rank(rows: SeatRows, size: int) -> _Blocks:
    count = max(0, rows.seat_count - size + 1)
    last = slice(size - 1, size - 1 + count)
    in_part = (rows.part_no[:count] == rows.part_no[last]) & windows_all(~rows.gone, size)
    same = np.zeros(rows.seat_count, np.int32)
    same[1:] = np.cumsum(rows.category_no[1:] != rows.category_no[:-1])
    kind = 2 * ~windows_all(~rows.companion, size) + 1 * ~windows_all(~rows.restricted, size)
    firsts = np.flatnonzero(in_part).astype(np.int32)
    order = np.lexsort((firsts, _sums(rows.cost, size)[firsts], kind[firsts]))
    return _Blocks(in_part, same[:count] == same[last], firsts[order])


def _sums(values: Costs, size: int) -> Costs:
    """The sum of each `size` neighbours."""
    totals = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    sums: Costs = totals[size:] - totals[:-size]
    return sums


def _means(values: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.float64]:
    totals = np.concatenate([np.zeros(1), np.cumsum(values)])
    means: npt.NDArray[np.float64] = (totals[size:] - totals[:-size]) / size
    return means


def _add_apart(found: list[int], taken: set[int], starts: Sequence[int], size: int, limit: int) -> None:
    """Add starts, in their order, of blocks that share no seat with one that was added before."""
    for start in starts:
        if len(found) >= limit:
            return
        if start not in taken and start + size - 1 not in taken:
            found.append(start)
            taken.update(range(start, start + size))
