"""Numbers that are missing in a row, from those that are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise


def numbers_filled_in(numbers: Sequence[str]) -> list[str]:
    """The numbers with blank ones, and those that an earlier seat has, replaced.

    A seat gets the number that its place has in the sequence which most of its row follows (1, 2, 3; odd or even
    halves; right to left); where there is none, or it is taken, the lowest number that nobody has.
    """
    kept = _first_of_each(numbers)
    if all(number is not None for number in kept):
        return list(numbers)
    taken = {number for number in kept if number is not None}
    sequence = _sequence(kept)
    filled: list[str] = []
    for index, number in enumerate(kept):
        if number is None:
            number = _implied(sequence, index)  # noqa: PLW2901 - the seat's own number from here on
            if number is None or number in taken:
                number = _lowest_free(taken)  # noqa: PLW2901
            taken.add(number)
        filled.append(number)
    return filled


def _first_of_each(numbers: Sequence[str]) -> list[str | None]:
    seen: set[str] = set()
    kept: list[str | None] = []
    for number in numbers:
        word = number.strip()
        kept.append(None if not word or word in seen else number)
        seen.add(word)
    return kept


def _sequence(kept: Sequence[str | None]) -> tuple[int, int] | None:
    """(number at index 0, step) that most neighbours agree on."""
    known = [(index, int(word)) for index, word in enumerate(kept) if word is not None and _is_number(word)]
    steps: Counter[int] = Counter()
    for (index, number), (next_index, next_number) in pairwise(known):
        if (next_number - number) % (next_index - index) == 0:
            steps[(next_number - number) // (next_index - index)] += 1
    if not steps:
        return (known[0][1] - known[0][0], 1) if known else (1, 1)
    step = steps.most_common(1)[0][0]
    starts = Counter(number - step * index for index, number in known)
    return starts.most_common(1)[0][0], step


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= 9


def _implied(sequence: tuple[int, int] | None, index: int) -> str | None:
    if sequence is None:
        return None
    number = sequence[0] + sequence[1] * index
    return str(number) if number > 0 else None


def _lowest_free(taken: set[str]) -> str:
    number = 1
    while str(number) in taken:
        number += 1
    return str(number)
