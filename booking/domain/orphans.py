"""The orphan rule: no hold leaves a single free seat that nobody would buy (BACKEND; an event's setting).

A seat is left single when it is free and neither the seat before nor the seat behind it in its row part is. The hold
that makes it so is refused: always in `strict`; in `lenient` only when as many seats elsewhere in the same row part
could be had without it; never in `off`.

Accessible places stand by themselves: one is never an orphan, and a free one beside a seat keeps that seat from
being one. A hold that takes an accessible place is not refused. What counts as another block in `lenient` is free
seats without accessible places, of any category.

The database decides by the same rule under its locks: `orphans_of` in `booking/sql/functions/025_orphans.sql`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from booking.domain.model import OrphanRule

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]


def windows_all(flags: Flags, size: int) -> Flags:
    """For each start of `size` neighbours in seat order, whether all of them have the flag; shorter by `size - 1`."""
    count = len(flags) - size + 1
    if count <= 0:
        return np.zeros(0, np.bool_)
    every = flags[:count].copy()
    for offset in range(1, size):
        every &= flags[offset : offset + count]
    return every


def orphaning(free: Flags, starts_part: Flags, accessible: Flags, whole: Flags, size: int) -> Flags:
    """For each start in `whole` (see `windows_all`), whether taking that block leaves a seat single.

    `whole` are the starts of blocks that lie in one part and are free; elsewhere the answer means nothing.
    """
    if len(whole) == 0:
        return np.zeros(0, np.bool_)
    alone = free & ~accessible
    # Taken the seat behind it, this seat has nobody: the one before it is not free or not beside it.
    nobody_before = np.ones(len(free), np.bool_)
    nobody_before[1:] = starts_part[1:] | ~free[:-1]
    nobody_behind = np.ones(len(free), np.bool_)
    nobody_behind[:-1] = starts_part[1:] | ~free[1:]
    count = len(whole)
    left = np.zeros(count, np.bool_)
    left[1:] = (alone & nobody_before)[: count - 1] & ~starts_part[1:count]
    right = np.zeros(count, np.bool_)
    last = len(free) - size  # starts before it have a seat behind their block
    right[:last] = (alone & nobody_behind)[size : size + last] & ~starts_part[size : size + last]
    found: Flags = left | right
    return found


def refused_blocks(
    rule: OrphanRule, free: Flags, starts_part: Flags, part_no: Ints, accessible: Flags, in_part: Flags, size: int
) -> Flags:
    """For each start of a block of `size` seats, whether the rule refuses it to people who need no accessible place.

    `in_part` are the starts of blocks that lie in one part, see `windows_all`.
    """
    if rule is OrphanRule.OFF:
        return np.zeros(len(in_part), np.bool_)
    whole = windows_all(free & ~accessible, size) & in_part
    orphans = orphaning(free, starts_part, accessible, whole, size)
    if rule is OrphanRule.STRICT:
        return orphans
    has_better = np.zeros(int(part_no[-1]) + 1 if len(part_no) else 0, np.bool_)
    has_better[part_no[: len(whole)][whole & ~orphans]] = True
    refused: Flags = orphans & has_better[part_no[: len(whole)]]
    return refused


def orphans_of(
    rule: OrphanRule, free: Flags, part_no: Ints, accessible: Flags, seats: Sequence[int]
) -> tuple[int, ...]:
    """The seats that taking `seats`, all of them free, would leave single against the rule; as the database says."""
    if rule is OrphanRule.OFF or any(accessible[seat] for seat in seats):
        return ()
    left = free.copy()
    left[list(seats)] = False
    found: list[int] = []
    for part in sorted({int(part_no[seat]) for seat in seats}):
        members = np.flatnonzero(part_no == part)
        own = [seat for seat in seats if part_no[seat] == part]
        orphans = _single(left, members, accessible, own)
        if orphans and (rule is OrphanRule.STRICT or _has_better(free, members, accessible, len(own))):
            found += orphans
    return tuple(sorted(found))


def _single(left: Flags, members: npt.NDArray[np.intp], accessible: Flags, taken: Sequence[int]) -> list[int]:
    """Members beside a taken one that are free, not accessible, and without a free neighbour."""
    first, last = int(members[0]), int(members[-1])
    beside = {seat + step for seat in taken for step in (-1, 1) if first <= seat + step <= last}
    return sorted(
        seat
        for seat in beside
        if left[seat]
        and not accessible[seat]
        and not (seat > first and left[seat - 1])
        and not (seat < last and left[seat + 1])
    )


def _has_better(free: Flags, members: npt.NDArray[np.intp], accessible: Flags, size: int) -> bool:
    first, last = int(members[0]), int(members[-1])
    for start in range(first, last - size + 2):
        block = range(start, start + size)
        if all(free[seat] and not accessible[seat] for seat in block):
            left = free.copy()
            left[list(block)] = False
            if not _single(left, members, accessible, block):
                return True
    return False
