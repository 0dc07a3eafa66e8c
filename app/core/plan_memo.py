"""What was found out about things, kept for the next time: an edit of a draft leaves most rows the very same objects.

A draft of 40,000 seats is looked at after every edit; only the rows that are new are worth looking at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(Generic[K, V]):
    """Values of the things that were asked for last. A thing is known by identity: its value depends on it alone,
    and on `context`; when that is another, all values are found out anew.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[K, V]] = {}
        self._context: object = None

    def of(self, things: Iterable[K], find_out: Callable[[K], V], context: object = None) -> list[V]:
        """The value of each thing, in order; only those that were not there the last time are looked at."""
        known = self._known if context == self._context else {}
        found: dict[int, tuple[K, V]] = {}
        values: list[V] = []
        for thing in things:
            before = known.get(id(thing))
            # A thing is kept with its value: as long as it is here, no other object has its id.
            entry = before if before is not None and before[0] is thing else (thing, find_out(thing))
            found[id(thing)] = entry
            values.append(entry[1])
        self._known, self._context = found, context
        return values
