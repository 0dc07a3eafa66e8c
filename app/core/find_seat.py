"""Finding a seat by what is printed on the ticket: `K 12`, `k12`, `Stalls K 12`, `12`, `Balcony`.

Letters count without case, width or accent, digits in whatever script they are typed. What is typed is read as a
section, then a row, then a number, each of which may be missing; a section is found by the beginnings of its words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backend_client.wire import Plan

MOST_FOUND = 40
_MOST_TYPED = 80
_GONE = 8
_WORD = re.compile(r"[^\W_]+")
_ROW_AND_NUMBER = re.compile(r"([^\W\d_]+)(\d+)|(\d+)([^\W\d_]+)")


@dataclass(frozen=True, slots=True)
class Found:
    """A section, a row of it or a seat of that; what is missing is -1. `seats` are those that it stands for."""

    section_no: int
    row_no: int = -1
    seat_no: int = -1
    seats: range = range(0)


def folded(text: str) -> str:
    """Letters without case, width and accents; digits as 0–9."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(_digit(sign) for sign in plain if not unicodedata.combining(sign))


def _digit(sign: str) -> str:
    return str(unicodedata.digit(sign)) if sign.isdigit() else sign


def words_of(text: str) -> tuple[str, ...]:
    """The words of a name or of something typed."""
    return tuple(_WORD.findall(folded(text)))


class SeatIndex:
    """Names of one plan, made once; 60,000 seats take some 100 ms, a search less than 3.

    `noise` are words that people type beside a label and that are none, such as "row" and "seat".
    """

    def __init__(self, plan: Plan, noise: Iterable[str] = ()) -> None:
        self._plan = plan
        self._noise = frozenset(word for text in noise for word in words_of(text))
        self._sections = [words_of(section.name) for section in plan.sections]
        self._rows: dict[str, list[int]] = {}
        self._firsts: dict[int, int] = {}
        for number, row in enumerate(plan.rows):
            self._rows.setdefault("".join(words_of(row.label)), []).append(number)
            self._firsts.setdefault(row.section_no, number)
        self._seats: dict[str, list[int]] = {}
        for seat_no, (number_text, flags) in enumerate(zip(plan.seats.number, plan.seats.flags, strict=True)):
            if not flags & _GONE:
                self._seats.setdefault(_numbered(number_text), []).append(seat_no)

    def search(self, text: str, limit: int = MOST_FOUND) -> tuple[Found, ...]:
        """What may be meant, the likeliest first, at most `limit`."""
        typed = list(words_of(text[:_MOST_TYPED]))
        words = [word for word in typed if word not in self._noise]
        found: dict[tuple[int, int, int], Found] = {}
        # What people type beside a label may be part of it: `Table 5` is first of all what bears the word itself.
        for reading in (*(_readings(typed) if words != typed else ()), *_readings(words)):
            for one in self._read(*reading):
                found.setdefault((one.section_no, one.row_no, one.seat_no), one)
                if len(found) >= limit:
                    return tuple(found.values())
        return tuple(found.values())

    def _read(self, section: list[str], row: str, number: str) -> Iterator[Found]:
        sections = self._sections_like(section)
        if sections is not None and not sections:
            return
        if not row and not number:
            yield from (self._section(section_no) for section_no in sorted(sections or ()))
        elif row:
            for row_no in self._rows.get(row, ()):
                if sections is None or self._plan.rows[row_no].section_no in sections:
                    yield from self._row(row_no, number)
        else:
            yield from self._numbered_seats(number, sections)

    def _sections_like(self, typed: list[str]) -> set[int] | None:
        """Sections that have a word for each typed beginning; None when no section is typed."""
        if not typed:
            return None
        return {
            number
            for number, words in enumerate(self._sections)
            if number in self._firsts and all(any(word.startswith(one) for word in words) for one in typed)
        }

    def _row(self, row_no: int, number: str) -> Iterator[Found]:
        row = self._plan.rows[row_no]
        seats = range(row.first_seat, row.first_seat + row.seat_count)
        if not number:
            yield Found(row.section_no, row_no, seats=seats)
            return
        for exactly in (True, False):
            for seat_no in seats:
                own = _numbered(self._plan.seats.number[seat_no])
                hit = own == number if exactly else own.startswith(number) and own != number
                if hit and not self._plan.seats.flags[seat_no] & _GONE:
                    yield self._seat(seat_no)

    def _numbered_seats(self, number: str, sections: set[int] | None) -> Iterator[Found]:
        for seat_no in self._seats.get(number, ()):
            found = self._seat(seat_no)
            if sections is None or found.section_no in sections:
                yield found

    def _seat(self, seat_no: int) -> Found:
        row_no = self._plan.seats.row_no[seat_no]
        return Found(self._plan.rows[row_no].section_no, row_no, seat_no, range(seat_no, seat_no + 1))

    def _section(self, section_no: int) -> Found:
        rows = [row for row in self._plan.rows if row.section_no == section_no and row.seat_count]
        first = min(row.first_seat for row in rows) if rows else 0
        past = max(row.first_seat + row.seat_count for row in rows) if rows else 0
        return Found(section_no, seats=range(first, past))


def _numbered(text: str) -> str:
    """A printed number as it is compared: without leading zeros."""
    plain = "".join(words_of(text))
    return plain.lstrip("0") or plain


def _readings(words: list[str]) -> Iterator[tuple[list[str], str, str]]:
    """Ways to read what was typed as (section, row, number), the likeliest first."""
    if not words:
        return
    last = _numbered(words[-1])
    for split in range(len(words) - 1):
        yield words[:split], "".join(words[split:-1]), last  # K 12, Stalls K 12
    glued = _ROW_AND_NUMBER.fullmatch(words[-1])
    if glued is not None:
        row, number = (glued[1], glued[2]) if glued[1] else (glued[3], glued[4])
        yield words[:-1], row, _numbered(number)  # K12, Stalls K12
    for split in range(len(words)):
        yield words[:split], "".join(words[split:]), ""  # K, Stalls K
    yield words, "", ""  # Stalls
    yield words[:-1], "", last  # 12, Stalls 12
