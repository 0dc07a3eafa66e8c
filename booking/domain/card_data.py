"""Card numbers and track data in texts from outside: found, and taken out before anything is stored (R43).

A card number is 13 to 19 digits that pass Luhn's check and do not begin with 0, together or in groups with up to
three spaces or dashes between them. In an unbroken run of digits it may begin and end anywhere; in groups it begins and
ends with a group, so that hex dumps, dates and amounts are left alone where that is possible. A UUID is no card number.
Track data is what follows a card number on a magnetic stripe, as text or as the hex of a frame.

Nothing here knows where a text comes from: one in ten numbers of that length passes the check by chance and is masked
as well. So a reference that money depends on is not put through this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

SHORTEST, LONGEST = 13, 19
KEPT_DIGITS = 4
TRACK_REMOVED = "[track data removed]"

_BETWEEN = r"[ \t\u00a0\u202f\-\u2010-\u2015\u2212]{0,3}"
_RUN = re.compile(rf"\d(?:{_BETWEEN}\d){{{SHORTEST - 1},}}")
_ANY_DIGIT = re.compile(r"\d")
_UUID = re.compile(
    r"(?<![0-9A-Fa-f-])[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[1-8][0-9A-Fa-f]{3}-[89abAB][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}(?![0-9A-Fa-f-])"
)
_TRACK_1 = re.compile(rf"%?[A-Za-z](?:\d{_BETWEEN}){{12,19}}\^[^^?\n]{{0,40}}\^[^?\s]*\??")
_TRACK_2 = re.compile(r";?\d{12,19}=\d{4,}[0-9=]*\??")
_STRIPE_REST = re.compile(rf"{_BETWEEN}[=D^](?:{_BETWEEN}[0-9A-Fa-f=]){{4,}}\??")
"""Separator, expiry, service code and the rest, behind the number: as text, or as nibbles of a frame (`D` for `=`)."""


def mask_card_data(text: str) -> str:
    """The text with card numbers masked to their last four digits, and without track data."""
    if len(text) < SHORTEST:
        return text
    text = _TRACK_2.sub(TRACK_REMOVED, _TRACK_1.sub(TRACK_REMOVED, text))
    while (masked := _mask_numbers(text)) != text:
        text = masked  # a group that became the first of its run may be the beginning of another number
    return text


def holds_card_data(text: str) -> bool:
    """Whether the text holds what `mask_card_data` would take out."""
    return mask_card_data(text) != text


def passes_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of those before it (ISO/IEC 7812)."""
    return sum(_doubled(int(digit)) if n % 2 else int(digit) for n, digit in enumerate(reversed(digits))) % 10 == 0


def _mask_numbers(text: str) -> str:
    parts, copied = [], 0
    for start, end in _between_uuids(text):
        for run in _RUN.finditer(text, start, end):
            for first, last in _numbers_in(run[0]):
                begin, stop = run.start() + first, run.start() + last + 1
                if begin < copied:
                    continue  # it was the rest of a stripe
                parts.append(text[copied:begin])
                stripe = _STRIPE_REST.match(text, stop)
                parts.append(TRACK_REMOVED if stripe else _masked(text[begin:stop]))
                copied = stripe.end() if stripe else stop
    return "".join(parts) + text[copied:]


def _between_uuids(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _UUID.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def _numbers_in(run: str) -> Iterator[tuple[int, int]]:
    """First and last position of each card number of a run of digits; those that overlap are one."""
    merged: tuple[int, int] | None = None
    for first, last in _windows(run):
        if merged is not None and first <= merged[1]:
            merged = (merged[0], max(merged[1], last))
            continue
        if merged is not None:
            yield merged
        merged = (first, last)
    if merged is not None:
        yield merged


def _windows(run: str) -> Iterator[tuple[int, int]]:
    """The longest card number from each position of a run. Sums of prefixes: one step for each stretch."""
    at = [position for position, letter in enumerate(run) if letter.isdecimal()]
    digits = [int(run[position]) for position in at]
    sums = [list(accumulate(_every_other_doubled(digits, odd), initial=0)) for odd in (0, 1)]
    for first in range(len(digits) - SHORTEST + 1):
        if digits[first] == 0:
            continue
        begins = first == 0 or at[first] - at[first - 1] > 1
        for last in range(min(first + LONGEST, len(digits)) - 1, first + SHORTEST - 2, -1):
            total = sums[1 - last % 2]
            if (total[last + 1] - total[first]) % 10:
                continue
            ends = last + 1 == len(digits) or at[last + 1] - at[last] > 1
            if (begins and ends) or at[last] - at[first] == last - first:
                yield at[first], at[last]
                break


def _every_other_doubled(digits: list[int], odd: int) -> Iterator[int]:
    return (_doubled(digit) if n % 2 == odd else digit for n, digit in enumerate(digits))


def _doubled(digit: int) -> int:
    return digit * 2 - 9 if digit > 4 else digit * 2


def _masked(number: str) -> str:
    hidden = sum(letter.isdecimal() for letter in number) - KEPT_DIGITS
    return _ANY_DIGIT.sub("*", number, count=hidden)
