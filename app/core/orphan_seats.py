"""Single seats that a pick would leave behind, and the shift by one that avoids it (`EventDetail.orphan_rule`).

The rule is the booking system's (`booking/domain/orphans.py`), said here before the hold so that nobody is sent away
afterwards; there it is decided, under the locks. A seat is left single when it is free and neither the seat before nor
the seat behind it in its part of the row is. Accessible places stand by themselves: one is never left single, a free
one beside a seat keeps that seat from being it, and a pick that takes one is not judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from app.core.seat_rows import Flags, SeatRows
from backend_client.wire import OrphanRule


def windows_all(flags: Flags, size: int) -> Flags:
    """For each start of `size` neighbours in seat order, whether all of them have the flag; shorter by `size - 1`."""
    count = len(flags) - size + 1
    if count <= 0:
        return np.zeros(0, np.bool_)
    every = flags[:count].copy()
    for offset in range(1, size):
        every &= flags[offset : offset + count]
    return every


def refused_starts(rule: OrphanRule, rows: SeatRows, free: Flags, in_part: Flags, size: int) -> Flags:
    """For each start of a block of `size` seats, whether the rule refuses it. `in_part`: it lies in one part."""
    if rule is OrphanRule.OFF or not len(in_part):
        return np.zeros(len(in_part), np.bool_)
    whole = windows_all(free & ~rows.accessible, size) & in_part
    orphaning = _orphaning(rows, free, len(whole), size)
    if rule is OrphanRule.STRICT:
        return orphaning
    has_better = np.zeros(int(rows.part_no[-1]) + 1, np.bool_)
    has_better[rows.part_no[: len(whole)][whole & ~orphaning]] = True
    refused: Flags = orphaning & has_better[rows.part_no[: len(whole)]]
    return refused


def _orphaning(rows: SeatRows, free: Flags, count: int, size: int) -> Flags:
    alone, starts = free & ~rows.accessible, rows.starts_part
    nobody_before = np.ones(len(free), np.bool_)
    nobody_before[1:] = starts[1:] | ~free[:-1]
    nobody_behind = np.ones(len(free), np.bool_)
    nobody_behind[:-1] = starts[1:] | ~free[1:]
    left = np.zeros(count, np.bool_)
    left[1:] = (alone & nobody_before)[: count - 1] & ~starts[1:count]
    right = np.zeros(count, np.bool_)
    last = len(free) - size  # starts before it have a seat behind their block
    right[:last] = (alone & nobody_behind)[size : size + last] & ~starts[size : size + last]
    found: Flags = left | right
    return found


def orphans_of(rule: OrphanRule, rows: SeatRows, free: Flags, seats: Collection[int]) -> tuple[int, ...]:
    """The seats that taking `seats`, all of them free, would leave single against the rule."""
    if rule is OrphanRule.OFF or not seats or any(rows.accessible[seat] for seat in seats):
        return ()
    left = free.copy()
    left[list(seats)] = False
    found: list[int] = []
    for part, own in _by_part(rows, seats):
        orphans = _single(rows, left, part, own)
        if orphans and (rule is OrphanRule.STRICT or _has_better(rows, free, part, len(own))):
            found += orphans
    return tuple(sorted(found))


def without_orphans(rule: OrphanRule, rows: SeatRows, free: Flags, seats: Collection[int]) -> tuple[int, ...]:
    """The same number of seats, one of their runs moved along its row by as little as it takes; () when none does it.

    Of two shifts as long the one towards the seat left single comes first: it closes the gap.
    """
    orphans = orphans_of(rule, rows, free, seats)
    for run in _runs(rows, seats):
        others = frozenset(seats) - set(run)
        part = rows.part_of(run[0])
        towards = 1 if any(orphan == run[-1] + 1 for orphan in orphans) else -1
        for shift in range(1, len(part)):
            for step in (towards * shift, -towards * shift):
                moved = tuple(seat + step for seat in run)
                if _fits(rows, free, part, moved, others):
                    wanted = tuple(sorted({*others, *moved}))
                    if not orphans_of(rule, rows, free, wanted):
                        return wanted
    return ()


def _fits(rows: SeatRows, free: Flags, part: range, moved: Sequence[int], others: frozenset[int]) -> bool:
    return all(seat in part and free[seat] and not rows.accessible[seat] and seat not in others for seat in moved)


def _runs(rows: SeatRows, seats: Collection[int]) -> list[list[int]]:
    """The seats in runs of neighbours."""
    runs: list[list[int]] = []
    for seat in sorted(seats):
        if runs and seat == runs[-1][-1] + 1 and not rows.starts_part[seat]:
            runs[-1].append(seat)
        else:
            runs.append([seat])
    return runs


def _by_part(rows: SeatRows, seats: Collection[int]) -> Iterator[tuple[range, list[int]]]:
    by_part: dict[int, list[int]] = {}
    for seat in sorted(seats):
        by_part.setdefault(int(rows.part_no[seat]), []).append(seat)
    for own in by_part.values():
        yield rows.part_of(own[0]), own


def _single(rows: SeatRows, left: Flags, part: range, taken: Sequence[int]) -> list[int]:
    """Seats of the part beside a taken one that are free, not accessible, and without a free neighbour."""
    beside = {seat + step for seat in taken for step in (-1, 1) if seat + step in part}
    return sorted(
        seat
        for seat in beside
        if left[seat]
        and not rows.accessible[seat]
        and not any(seat + step in part and left[seat + step] for step in (-1, 1))
    )


def _has_better(rows: SeatRows, free: Flags, part: range, size: int) -> bool:
    """Whether as many seats elsewhere in the part could be had without leaving one single."""
    for start in range(part.start, part.stop - size + 1):
        block = range(start, start + size)
        if all(free[seat] and not rows.accessible[seat] for seat in block):
            left = free.copy()
            left[start : start + size] = False
            if not _single(rows, left, part, block):
                return True
    return False
