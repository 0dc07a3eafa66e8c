"""Best available: which block of neighbours to offer, in which order (R30; rules alone, no I/O).

A block is `count` free seats that sit beside each other in one part of a row (see `seating_plan/columns.py`), in the
order in which people sit. Blocks are ranked by

1. their kind: without a restricted view before one with, and companion seats last of all to people who need no
   accessible place;
2. the sum over their seats of the distance to the focal point (the stage or the pitch; where a plan names none, the
   middle of the upper edge of its seats) and half the distance to the middle of the row;
3. the lower seat number, so that equal requests get equal answers.

A block has one category, unless the request names several. Accessible places go to nobody who did not ask for them,
not even when nothing else is left: staff hand them out seat by seat. Who asks for `accessible` of them gets exactly
so many, and companion seats beside them. The orphan rule of the event keeps blocks out that would be refused.

Buyers who ask at once must not fight for one block: candidates of one request do not overlap, and each request begins
at a rank of its own, `turn` modulo `crowd`, among as many of the best blocks as there are requests under way. Alone,
one gets the best.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from booking.domain.model import BestAvailable, OrphanRule
from booking.domain.orphans import refused_blocks, windows_all
from booking.domain.seating_plan.columns import PlanColumns, lower_median, neighbour_distances, part_starts
from booking.domain.seating_plan.model import MAX_COORDINATE, Point, SeatFlag

CANDIDATES = 32
OFFERS = 16

_ROW_MIDDLE_WEIGHT = 0.5
_COST_STEPS = 1_000  # per usual distance of two seats: costs are whole numbers, so that sums are exact
_FIRST_CHUNK = 1_024
_SEARCH_RADIUS = 8.0  # usual distances; grows until enough is found
_WIDER_THAN_ANY_PLAN = 4 * MAX_COORDINATE

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Costs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Block = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """All blocks of one size that a plan has; the columns go by the first seat, `ranked` lists those, best first."""

    in_part: Flags
    uniform: Flags
    accessible: Ints
    ranked: Ints
    middle_x: Floats
    middle_y: Floats


class BlockPlan:
    """What choosing needs of a plan version; made once, in 17 ms for 60,000 seats, 3 ms more for each size of block."""

    def __init__(self, columns: PlanColumns) -> None:
        flags = columns.flags
        self.columns = columns
        self.seat_count = columns.seat_count
        self.starts_part = part_starts(columns)
        self.part_no = (np.cumsum(self.starts_part) - 1).astype(np.int32)
        self.accessible: Flags = (flags & SeatFlag.ACCESSIBLE) != 0
        self.companion: Flags = ((flags & SeatFlag.COMPANION) != 0) & ~self.accessible
        self.restricted: Flags = (flags & SeatFlag.RESTRICTED_VIEW) != 0
        self.gone: Flags = (flags & SeatFlag.GONE) != 0
        self.section_no = columns.row_sections[columns.rows_of_seats()]
        self.spacing = _spacing(columns)
        self.cost = _seat_costs(columns, self.spacing)
        self._blocks: dict[int, _Blocks] = {}

    def blocks(self, size: int) -> _Blocks:
        """All blocks of a size, ranked; made at first use."""
        blocks = self._blocks.get(size)
        if blocks is None:
            blocks = self._blocks[size] = _rank_blocks(self, size)
        return blocks


def candidates(
    plan: BlockPlan,
    free: Flags,
    wish: BestAvailable,
    rule: OrphanRule,
    *,
    limit: int = CANDIDATES,
    crowd: int = 1,
    turn: int = 0,
) -> tuple[Block, ...]:
    """Up to `limit` blocks that do not overlap, in the order in which to try them.

    `free` says for each seat whether it can be sold. With a `crowd` of n the first is the block of rank `turn % n`;
    others of the n best follow, then those behind them.
    """
    usable = usable_starts(plan, free, wish, rule)
    ranked = _best_apart(plan.blocks(wish.count), usable, wish.count, max(limit, crowd))
    starts = _from_turn(ranked[:crowd], turn, limit) + ranked[crowd:]
    return tuple(tuple(range(start, start + wish.count)) for start in starts[:limit])


def _from_turn(ranked: list[int], turn: int, limit: int) -> list[int]:
    """The same starts, beginning at the turn's, then in `limit` wide steps: who meets once does not meet again."""
    if not ranked:
        return []
    first = turn % len(ranked)
    round_trip = ranked[first:] + ranked[:first]
    step = -(-len(ranked) // limit)
    return [start for offset in range(step) for start in round_trip[offset::step]]


def usable_starts(plan: BlockPlan, free: Flags, wish: BestAvailable, rule: OrphanRule) -> Flags:
    """For each seat but the last ones, whether the block that starts there answers the wish."""
    size = wish.count
    blocks = plan.blocks(size)
    if len(blocks.in_part) == 0:
        return blocks.in_part
    free = free & ~plan.gone
    usable = free & (plan.accessible | plan.companion) if wish.accessible else free & ~plan.accessible
    for wanted, numbers in ((wish.categories, plan.columns.category_no), (wish.sections, plan.section_no)):
        if wanted:
            usable = usable & np.isin(numbers, np.array(wanted, np.int32))
    starts = windows_all(usable, size) & blocks.in_part
    if len(wish.categories) < 2:
        starts &= blocks.uniform
    if wish.accessible:
        starts &= blocks.accessible == wish.accessible
    else:
        starts &= ~refused_blocks(rule, free, plan.starts_part, plan.part_no, plan.accessible, blocks.in_part, size)
    return starts


def largest_block(plan: BlockPlan, free: Flags, wish: BestAvailable, rule: OrphanRule) -> int:
    """The largest count below the wish's that could be answered; 0 for none. Companions are given up, not access."""
    for count in range(wish.count - 1, max(0, wish.accessible - 1), -1):
        smaller = BestAvailable(count, wish.categories, wish.sections, wish.accessible)
        if usable_starts(plan, free, smaller, rule).any():
            return count
    return 0


def nearest_blocks(
    plan: BlockPlan, free: Flags, wanted: Collection[int], rule: OrphanRule, *, limit: int = OFFERS
) -> tuple[Block, ...]:
    """Blocks as large as the wanted seats, of their categories and as accessible, the nearest to them first.

    Nearness is the distance from middle to middle. Blocks do not overlap.
    """
    seats = np.array(sorted(wanted))
    if len(seats) == 0 or int(seats[-1]) >= plan.seat_count:
        return ()
    categories = tuple(np.unique(plan.columns.category_no[seats]).tolist())
    wish = BestAvailable(len(seats), categories, accessible=int(plan.accessible[seats].sum()))
    usable = usable_starts(plan, free, wish, rule)
    if not usable.any():
        return ()
    blocks = plan.blocks(wish.count)
    x, y = float(plan.columns.x[seats].mean()), float(plan.columns.y[seats].mean())
    distances = np.square(blocks.middle_x - np.float32(x)) + np.square(blocks.middle_y - np.float32(y))
    distances[~usable] = np.inf
    order = _nearest_first(distances, plan.spacing, limit * (2 * wish.count - 1))
    starts = _apart(order.tolist(), wish.count, limit)
    return tuple(tuple(range(start, start + wish.count)) for start in starts)


def _nearest_first(distances: Floats, spacing: float, enough: int) -> npt.NDArray[np.intp]:
    """Indexes of the `enough` smallest finite distances (squares), or of more, in rising order."""
    radius = _SEARCH_RADIUS * spacing
    while True:
        near = np.flatnonzero(distances <= radius * radius)
        if len(near) >= enough or radius > _WIDER_THAN_ANY_PLAN:
            return near[np.lexsort((near, distances[near]))]
        radius *= 4


def _best_apart(blocks: _Blocks, usable: Flags, size: int, count: int) -> list[int]:
    """The first seats of the `count` best usable blocks that do not overlap."""
    found: list[int] = []
    taken: set[int] = set()
    at, chunk = 0, _FIRST_CHUNK
    while at < len(blocks.ranked) and len(found) < count:
        ranked = blocks.ranked[at : at + chunk]
        _add_apart(found, taken, ranked[usable[ranked]].tolist(), size, count)
        at, chunk = at + chunk, chunk * 2
    return found


def _apart(starts: Sequence[int], size: int, count: int) -> list[int]:
    found: list[int] = []
    _add_apart(found, set(), starts, size, count)
    return found


def _add_apart(found: list[int], taken: set[int], starts: Sequence[int], size: int, count: int) -> None:
    """Add starts, in their order, of blocks that share no seat with one that was added before."""
    for start in starts:
        if len(found) >= count:
            return
        if start not in taken and start + size - 1 not in taken:
            found.append(start)
            taken.update(range(start, start + size))


def _rank_blocks(plan: BlockPlan, size: int) -> _Blocks:
    columns = plan.columns
    count = max(0, plan.seat_count - size + 1)
    last = slice(size - 1, size - 1 + count)
    in_part = (plan.part_no[:count] == plan.part_no[last]) & windows_all(~plan.gone, size)
    same = np.zeros(plan.seat_count, np.int32)
    same[1:] = np.cumsum(columns.category_no[1:] != columns.category_no[:-1])
    kind = 2 * ~windows_all(~plan.companion, size) + 1 * ~windows_all(~plan.restricted, size)
    firsts = np.flatnonzero(in_part).astype(np.int32)
    order = np.lexsort((firsts, _sums(plan.cost, size)[firsts], kind[firsts]))
    return _Blocks(
        in_part,
        same[:count] == same[last],
        _sums(plan.accessible.astype(np.int64), size).astype(np.int32),
        firsts[order],
        _means(columns.x, size),
        _means(columns.y, size),
    )


def _sums(values: Costs, size: int) -> Costs:
    """The sum of each `size` neighbours."""
    totals = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    sums: Costs = totals[size:] - totals[:-size]
    return sums


def _means(values: npt.NDArray[np.float64], size: int) -> Floats:
    totals = np.concatenate([np.zeros(1), np.cumsum(values)])
    means: Floats = ((totals[size:] - totals[:-size]) / size).astype(np.float32)
    return means


def _spacing(columns: PlanColumns) -> float:
    """The usual distance of two neighbours in the plan; 1 where there are none."""
    distances = neighbour_distances(columns)
    usual = lower_median(distances[~np.isnan(distances)])
    return usual if usual > 0 else 1.0


def _seat_costs(columns: PlanColumns, spacing: float) -> Costs:
    """What a seat costs in quality: see the module."""
    focal = columns.focal or _upper_middle(columns)
    to_focal = np.hypot(columns.x - focal.x, columns.y - focal.y)
    rows = columns.rows_of_seats()
    counts = np.maximum(columns.row_counts, 1)
    middle_x = np.bincount(rows, columns.x, len(counts)) / counts
    middle_y = np.bincount(rows, columns.y, len(counts)) / counts
    to_middle = np.hypot(columns.x - middle_x[rows], columns.y - middle_y[rows])
    cost: Costs = np.rint((to_focal + _ROW_MIDDLE_WEIGHT * to_middle) / spacing * _COST_STEPS).astype(np.int64)
    return cost


def _upper_middle(columns: PlanColumns) -> Point:
    there = (columns.flags & SeatFlag.GONE) == 0
    if not there.any():
        return Point(0.0, 0.0)
    x, y = columns.x[there], columns.y[there]
    return Point((float(x.min()) + float(x.max())) / 2, float(y.min()))
