"""How `testing_house.House` chooses seats: simply, row by row, in the order of the plan. Rows have no gaps here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend_client.seat_frames import STATUS_MASK, StaffStatus, States
from backend_client.wire import BestAvailable, OrphanRule, Plan

_FREE = StaffStatus.AVAILABLE


def free_blocks(plan: Plan, states: States, count: int) -> Iterator[tuple[int, ...]]:
    """Every `count` free neighbours, row by row."""
    for row in plan.rows:
        for first in range(row.first_seat, row.first_seat + row.seat_count - count + 1):
            block = tuple(range(first, first + count))
            if all(states[seat] & STATUS_MASK == _FREE for seat in block):
                yield block


def best_block(plan: Plan, states: States, wish: BestAvailable) -> tuple[int, ...]:
    """The first block of the plan that answers the wish; () when none does."""
    for block in free_blocks(plan, states, wish.count):
        row = plan.rows[plan.seats.row_no[block[0]]]
        if wish.sections and row.section_no not in wish.sections:
            continue
        if wish.categories and any(plan.seats.category_no[seat] not in wish.categories for seat in block):
            continue
        return block
    return ()


def nearest_block(plan: Plan, states: States, wanted: Sequence[int]) -> tuple[int, ...]:
    """As many free neighbours as were wanted, of the first one's category, the nearest to them; () when none are."""
    category = plan.seats.category_no[wanted[0]]

    def away(block: tuple[int, ...]) -> float:
        x = sum(plan.seats.x[seat] for seat in block) - sum(plan.seats.x[seat] for seat in wanted)
        y = sum(plan.seats.y[seat] for seat in block) - sum(plan.seats.y[seat] for seat in wanted)
        return x * x + y * y

    fitting = (
        block
        for block in free_blocks(plan, states, len(wanted))
        if all(plan.seats.category_no[seat] == category for seat in block)
    )
    return min(fitting, key=away, default=())


def orphans(plan: Plan, states: States, seats: Sequence[int], rule: OrphanRule) -> tuple[int, ...]:
    """Free seats that a hold of these would leave without a free neighbour in their row; `lenient` counts as strict."""
    if rule is OrphanRule.OFF:
        return ()

    def is_free(seat: int, row_no: int) -> bool:
        row = plan.rows[row_no]
        inside = row.first_seat <= seat < row.first_seat + row.seat_count
        return inside and seat not in seats and bool(states[seat] & STATUS_MASK == _FREE)

    beside = {(seat + step, plan.seats.row_no[seat]) for seat in seats for step in (-1, 1)}
    return tuple(
        sorted(
            seat
            for seat, row_no in beside
            if is_free(seat, row_no) and not is_free(seat - 1, row_no) and not is_free(seat + 1, row_no)
        )
    )
