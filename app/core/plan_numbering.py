"""What stands on seats and rows: counting up, odd or even only, from the middle outwards, or letters (R13).

The order in which seats stand says who sits beside whom; numbers are only printed. So a scheme gives one label for each
seat of the row, in the order of the row, and no label twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase
from typing import Final

CONFUSED_LETTERS: Final = "IO"
"""Read as 1 and 0: halls leave them out."""
MAX_START: Final = 100_000


class Counting(StrEnum):
    """How labels go on."""

    EVERY = "every"
    """1 2 3 4"""
    ODD = "odd"
    """1 3 5 7"""
    EVEN = "even"
    """2 4 6 8"""
    FROM_MIDDLE = "from-middle"
    """5 3 1 2 4 6: odd on one side of the middle, even on the other"""
    LETTERS = "letters"
    """A B C … Z AA AB"""


@dataclass(frozen=True, slots=True)
class Numbering:
    """A scheme. `start` is the first number, or for letters the place of the first (1: A). `skipped`: letters left out.

    `backwards`: from the last seat of the row to the first (from right to left).
    """

    counting: Counting = Counting.EVERY
    start: int = 1
    backwards: bool = False
    skipped: str = ""

    def labels(self, count: int) -> tuple[str, ...]:
        """Labels of so many seats, in the order in which the seats stand."""
        made = self._forwards(count)
        return made[::-1] if self.backwards else made

    def _forwards(self, count: int) -> tuple[str, ...]:
        start = max(self.start, 0)
        if self.counting is Counting.LETTERS:
            letters = letters_without(self.skipped)
            first = max(self.start, 1)
            return tuple(letters_of(first + number, letters) for number in range(count))
        if self.counting is Counting.FROM_MIDDLE:
            return _from_middle(count, start)
        if self.counting is Counting.EVERY:
            return tuple(str(start + number) for number in range(count))
        first = start + (start % 2 == (self.counting is Counting.EVEN))
        return tuple(str(first + 2 * number) for number in range(count))


def _from_middle(count: int, start: int) -> tuple[str, ...]:
    """Odd numbers on the first half, falling to the middle; even ones on the second, rising from it."""
    odd = start + (start % 2 == 0)
    even = odd + 1
    half = (count + 1) // 2
    left = [odd + 2 * number for number in range(half)][::-1]
    return tuple(str(number) for number in (*left, *(even + 2 * number for number in range(count - half))))


def letters_without(skipped: str) -> str:
    """The alphabet that is counted with; all of it when nothing would be left."""
    left = "".join(letter for letter in ascii_uppercase if letter not in skipped.upper())
    return left or ascii_uppercase


def letters_of(number: int, letters: str = ascii_uppercase) -> str:
    """1 → A, 26 → Z, 27 → AA, with the letters that are counted with."""
    label = ""
    while number > 0:
        number, place = divmod(number - 1, len(letters))
        label = letters[place] + label
    return label


def numbering_of(labels: tuple[str, ...]) -> Numbering | None:
    """The scheme that gives exactly these labels; None when no scheme does (they were given one by one)."""
    for counting in Counting:
        for backwards in (False, True):
            for skipped in ("", CONFUSED_LETTERS) if counting is Counting.LETTERS else ("",):
                found = _from_first(labels, counting, backwards=backwards, skipped=skipped)
                if found is not None:
                    return found
    return None


def _from_first(labels: tuple[str, ...], counting: Counting, *, backwards: bool, skipped: str) -> Numbering | None:
    if not labels:
        return None
    start = _start_of(labels[::-1] if backwards else labels, counting, letters_without(skipped))
    if start is None:
        return None
    made = Numbering(counting, start, backwards, skipped)
    return made if made.labels(len(labels)) == labels else None


def _start_of(labels: tuple[str, ...], counting: Counting, letters: str) -> int | None:
    if counting is Counting.LETTERS:
        return _number_of(labels[0], letters)
    lowest = labels[(len(labels) - 1) // 2] if counting is Counting.FROM_MIDDLE else labels[0]
    if not (lowest.isascii() and lowest.isdecimal()) or len(lowest) > len(str(MAX_START)):
        return None
    return int(lowest)


def _number_of(label: str, letters: str) -> int | None:
    number = 0
    for letter in label:
        place = letters.find(letter)
        if place < 0 or number > MAX_START:
            return None
        number = number * len(letters) + place + 1
    return number or None
