"""What somebody who has a file read may decide about the reading."""

from __future__ import annotations

from dataclasses import dataclass

from booking.domain.seating_plan.model import Point
from booking.domain.seating_plan.repairs import DEFAULT_REPAIRS, Repair


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """`seat_pattern` tells seats among the shapes of an SVG (see seat_pattern.py); empty: the usual ones are tried.

    `name` is that of the plan where the format has none. `focal` corrects where people look.
    """

    repairs: frozenset[Repair] = DEFAULT_REPAIRS
    seat_pattern: str = ""
    name: str = ""
    focal: Point | None = None


DEFAULT_OPTIONS = ReadOptions()
