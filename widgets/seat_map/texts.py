"""Words of the map. The host gives them in the person's language; English stands in otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from widgets.seat_map.place_in_view import PlaceInView

HOUSE_LETTERS: tuple[str, ...] = ("", "P", "A", "T", "B", "R", "S", "H")
"""By `HouseKind`: promoter, artist, technical, barrier-free, press (reporters), sponsor, the house itself."""


def _plain(count: int) -> str:
    return str(count)


def _nothing(_seat_no: int) -> str:
    return ""


def _plain_name(name: str, free: int) -> str:
    return f"{name}, {free} free"


def _plain_row(label: str, kind: str, free: int) -> str:
    return _plain_name(f"{kind} {label}".strip(), free)


def _plain_place(place: PlaceInView) -> str:
    rows = place.first_row
    if place.last_row != place.first_row:
        rows = f"{place.first_row}\N{EN DASH}{place.last_row}"
    return " \N{MIDDLE DOT} ".join(part for part in (place.section, rows) if part)


@dataclass(frozen=True, slots=True)
class SeatMapTexts:
    """Every text of the map that is not part of the plan; functions take a seat number or a count.

    `spoken_row`, `spoken_section` and `spoken_standing` take a name and how many seats or places are free; between
    them `spoken_row` takes what the row is (`SeatMapPlan.row_kind`). `write_place` takes what is in view.
    `house_letters` are those that stand on seats of the house, by `HouseKind`.
    """

    name: str = "Seat map"
    hint: str = "Arrow keys move from seat to seat, space picks, plus and minus zoom, 0 shows the whole plan."
    stale: str = ""
    write_count: Callable[[int], str] = _plain
    write_place: Callable[[PlaceInView], str] = _plain_place
    write_places: Callable[[int], str] = _plain
    tooltip: Callable[[int], str] = _nothing
    spoken: Callable[[int], str] = _nothing
    spoken_row: Callable[[str, str, int], str] = _plain_row
    spoken_section: Callable[[str, int], str] = _plain_name
    spoken_standing: Callable[[str, int], str] = _plain_name
    house_letters: tuple[str, ...] = HOUSE_LETTERS
