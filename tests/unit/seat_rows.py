"""Small plans for tests of choosing: rows drawn as text, and a slow second opinion on blocks and orphans.

A row is a word: `.` an ordinary seat, `A` accessible, `C` companion, `R` restricted view, ` ` a gap as wide as a seat,
digits a seat of that price category. Rows lie one behind the other, 10 units apart, seats 10 units apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from booking.domain.best_available import Block, BlockPlan
from booking.domain.model import BestAvailable, OrphanRule
from booking.domain.seating_plan.columns import columns_of_plan
from booking.domain.seating_plan.model import (
    Area,
    AreaShape,
    AreaText,
    Category,
    Row,
    Seat,
    SeatFlag,
    SeatingPlan,
    Section,
)

Flags = npt.NDArray[np.bool_]

_FLAGS = {"A": SeatFlag.ACCESSIBLE, "C": SeatFlag.COMPANION, "R": SeatFlag.RESTRICTED_VIEW}


def plan_of(*sections: Sequence[str], stage: tuple[float, float] | None = None) -> SeatingPlan:
    """A plan of sections of drawn rows; `stage` is the middle of a stage, none by default."""
    made: list[Section] = []
    y = 0.0
    for number, words in enumerate(sections):
        rows = []
        for word in words:
            y += 10.0
            rows.append(Row(f"{y:.0f}", tuple(_seat(mark, x, y) for x, mark in enumerate(word) if mark != " ")))
        made.append(Section(f"Section {number}", tuple(rows)))
    areas: tuple[Area, ...] = ()
    if stage is not None:
        text = AreaText("Stage", *stage)
        areas = (Area(AreaShape.CIRCLE, *stage, 4.0, 4.0, text=text),)
    categories = tuple(Category(f"Category {number}", "#336699") for number in range(4))
    return SeatingPlan("Drawn", 500.0, 500.0, categories, tuple(made), areas)


def blocks_of(*words: str, stage: tuple[float, float] | None = None) -> BlockPlan:
    """One section of drawn rows, prepared for choosing."""
    return BlockPlan(columns_of_plan(plan_of(words, stage=stage)))


def free_of(words: str) -> Flags:
    """Seats in seat order, `.` free and `x` taken; blanks and line ends are looks only."""
    return np.array([mark == "." for mark in words if mark in ".x"])


def _seat(mark: str, x: int, y: float) -> Seat:
    category_no = int(mark) if mark.isdigit() else 0
    return Seat(f"{x}-{y}", "?", x * 10.0, y, category_no, _FLAGS.get(mark, SeatFlag.NONE))


# ---------------------------------------------------------------- the second opinion


@lru_cache(maxsize=4)
def parts_of(plan: BlockPlan) -> list[list[int]]:
    """The seats of each row part, from the plan's own part starts."""
    parts: list[list[int]] = []
    for seat in range(plan.seat_count):
        if plan.starts_part[seat]:
            parts.append([])
        parts[-1].append(seat)
    return parts


def slow_orphans(plan: BlockPlan, free: Flags, taken: Sequence[int]) -> list[int]:
    """Seats that were not single before and are after `taken` are: free, not accessible, nobody free beside them."""

    touched = [part for part in parts_of(plan) if set(part) & set(taken)]

    def single(left: Flags) -> set[int]:
        found = set()
        for part in touched:
            for at, seat in enumerate(part):
                beside = [part[other] for other in (at - 1, at + 1) if 0 <= other < len(part)]
                if left[seat] and not plan.accessible[seat] and not any(left[other] for other in beside):
                    found.add(seat)
        return found

    left = free.copy()
    left[list(taken)] = False
    return sorted(single(left) - single(free))


def slow_refusal(plan: BlockPlan, rule: OrphanRule, free: Flags, taken: Sequence[int]) -> list[int]:
    """The orphans for which a rule refuses `taken`."""
    if rule is OrphanRule.OFF or any(plan.accessible[seat] for seat in taken):
        return []
    orphans = slow_orphans(plan, free, taken)
    if rule is OrphanRule.STRICT:
        return orphans
    refused: list[int] = []
    for part in parts_of(plan):
        own = [seat for seat in taken if seat in part]
        others = [part[at : at + len(own)] for at in range(len(part) - len(own) + 1)]
        if own and any(
            all(free[seat] and not plan.accessible[seat] for seat in block) and not slow_orphans(plan, free, block)
            for block in others
        ):
            refused += [seat for seat in orphans if seat in part]
    return sorted(refused)


def slow_blocks(plan: BlockPlan, free: Flags, wish: BestAvailable, rule: OrphanRule) -> list[Block]:
    """All blocks that answer a wish, best first, one seat after the other."""
    found = [
        tuple(part[at : at + wish.count])
        for part in parts_of(plan)
        for at in range(len(part) - wish.count + 1)
        if _answers(plan, free, wish, tuple(part[at : at + wish.count]))
        and not slow_refusal(plan, rule, free, part[at : at + wish.count])
    ]
    return sorted(found, key=lambda block: (_kind(plan, block), sum(int(plan.cost[seat]) for seat in block), block))


def _kind(plan: BlockPlan, block: Block) -> int:
    return 2 * any(plan.companion[seat] for seat in block) + any(plan.restricted[seat] for seat in block)


def _answers(plan: BlockPlan, free: Flags, wish: BestAvailable, block: Block) -> bool:
    categories = {int(plan.columns.category_no[seat]) for seat in block}
    accessible = sum(bool(plan.accessible[seat]) for seat in block)
    return (
        all(free[seat] for seat in block)
        and (not wish.categories or categories <= set(wish.categories))
        and (len(categories) == 1 or len(wish.categories) > 1)
        and (not wish.sections or all(plan.section_no[seat] in wish.sections for seat in block))
        and accessible == wish.accessible
        and (not wish.accessible or all(plan.accessible[seat] or plan.companion[seat] for seat in block))
    )
