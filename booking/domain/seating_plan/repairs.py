"""What a reader may mend when a file is broken in a way that has one safe cure (case I3).

Safe means: no seat is lost, added or priced differently by it without somebody hearing of it. Those of
`DEFAULT_REPAIRS` are made without being asked for, because they change nothing that a buyer could tell; the others
are offered with the fault that they would cure. Every repair that was made is reported, and kept with the plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Repair(StrEnum):
    """Names as they are chosen on the command line."""

    UUID_FOR_GUID = "uuid-for-guid"
    MAKE_GUIDS = "make-guids"
    NUMBER_SEATS = "number-seats"
    NUMBERS_AS_TEXT = "numbers-as-text"
    ADD_CATEGORIES = "add-categories"
    DROP_EMPTY = "drop-empty"
    SET_TABLES_APART = "set-tables-apart"


REPAIR_WORDS: dict[Repair, str] = {
    Repair.UUID_FOR_GUID: "where identities repeat and every seat has a uuid of its own, the uuid is the identity",
    Repair.MAKE_GUIDS: "missing or repeated identities are made from section, row and number",
    Repair.NUMBER_SEATS: "missing or repeated seat numbers are filled in from the sequence of their row",
    Repair.NUMBERS_AS_TEXT: "seat numbers and row labels written as numbers are read as texts",
    Repair.ADD_CATEGORIES: "categories that seats name and the list lacks are added; seats without one get one",
    Repair.DROP_EMPTY: "rows without seats and sections without rows are left out",
    Repair.SET_TABLES_APART: "a table that stands exactly upon another is drawn beside it",
}
DEFAULT_REPAIRS = frozenset({Repair.UUID_FOR_GUID, Repair.SET_TABLES_APART})
ALL_REPAIRS = frozenset(Repair)
ALL_WORD, NONE_WORD = "all", "none"


def chosen_repairs(names: Iterable[str]) -> frozenset[Repair]:
    """The repairs of these names, on top of the default ones; `all` of them, or `none` at all.

    Raises:
        ValueError: A name that is none of these.
    """
    words = [word.strip() for name in names for word in name.split(",") if word.strip()]
    if NONE_WORD in words:
        return frozenset(_repair_of(word) for word in words if word not in (NONE_WORD, ALL_WORD))
    if ALL_WORD in words:
        return ALL_REPAIRS
    return DEFAULT_REPAIRS | {_repair_of(word) for word in words}


def _repair_of(word: str) -> Repair:
    try:
        return Repair(word)
    except ValueError:
        known = ", ".join([*Repair, ALL_WORD, NONE_WORD])
        raise ValueError(f'"{word}" is no repair; there are: {known}') from None
