"""Words of the map. The host gives them in the person's language; English stands in otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HOUSE_LETTERS: tuple[str, ...] = ("", "P", "A", "T", "B", "R", "S", "H")
"""By `HouseKind`: promoter, artist, technical, barrier-free, press (reporters), sponsor, the house itself."""


def _plain(count: int) -> str:
    return str(count)


def _nothing(_seat_no: int) -> str:
    return ""


def _plain_name(name: str, free: int) -> str:
    return f"{name}, {free} free"


def _plain_place(section: str, first_row: str, last_row: str) -> str:
    rows = first_row if first_row == last_row else f"{first_row}\N{EN DASH}{last_row}"
    return " \N{MIDDLE DOT} ".join(part for part in (section, rows) if part)


@dataclass(frozen=True, slots=True)
class SeatMapTexts:
    """Every text of the map that is not part of the plan; functions take a seat number or a count.

    `spoken_row`, `spoken_section` and `spoken_standing` take a name and
    how many seats or places are free.
    `write_place` takes the names of a section and of its first and last row in view. `house_letters` are those that
    stand on seats of the house, by `HouseKind`.
    """

    name: str = "Seat map"
    hint: str = "Arrow keys move from seat to seat, space picks, plus and minus zoom, 0 shows the whole plan."
    stale: str = ""
    write_count: Callable[[int], str] = _plain
    write_place: Callable[[str, str, str], str] = _plain_place
    write_places: Callable[[int], str] = _plain
    tooltip: Callable[[int], str] = _nothing
    spoken: Callable[[int], str] = _nothing
    spoken_row: Callable[[str, int], str] = _plain_name
    spoken_section: Callable[[str, int], str] = _plain_name
    spoken_standing: Callable[[str, int], str] = _plain_name
    house_letters: tuple[str, ...] = HOUSE_LETTERS
