"""A line in which anybody may step out and come back to where he stood: positions in O(log n), by a Fenwick tree."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


class Line:
    """Ranks 0, 1, 2 …, each present or not. 4 bytes and one a rank."""

    def __init__(self, present: Iterable[bool] = ()) -> None:
        self._here = bytearray(1 if here else 0 for here in present)
        self._sums = array("i", [0])
        self._sums.extend(self._here)
        for node in range(1, len(self._sums)):
            above = node + (node & -node)
            if above < len(self._sums):
                self._sums[above] += self._sums[node]
        self._present = sum(self._here)

    def __len__(self) -> int:
        """How many ranks there are, present or not."""
        return len(self._here)

    @property
    def present(self) -> int:
        """How many ranks are present."""
        return self._present

    def append(self, here: bool = True) -> int:
        """A new last rank. Returns it."""
        node = len(self._sums)
        total, child, floor = int(here), node - 1, node - (node & -node)
        while child > floor:
            total += self._sums[child]
            child -= child & -child
        self._sums.append(total)
        self._here.append(here)
        self._present += here
        return node - 1

    def set(self, rank: int, here: bool) -> None:
        """Step in or out."""
        change = int(here) - self._here[rank]
        if not change:
            return
        self._here[rank] = here
        self._present += change
        node = rank + 1
        while node < len(self._sums):
            self._sums[node] += change
            node += node & -node

    def before(self, rank: int) -> int:
        """How many present ranks come before this one."""
        total, node = 0, rank
        while node > 0:
            total += self._sums[node]
            node -= node & -node
        return total

    def first(self) -> int | None:
        """The first present rank; None when nobody is there."""
        if not self._present:
            return None
        node, step = 0, 1 << (len(self._sums) - 1).bit_length()
        while step:
            if node + step < len(self._sums) and self._sums[node + step] == 0:
                node += step
            step >>= 1
        return node
