"""A plan as columns over all seats, and the parts of its rows: what choosing seats needs, without 60,000 objects.

A row is one line of seats in the order in which people sit. A *part* of a row is a stretch of it in which every seat
has the next one beside it: an aisle or a pillar inside a row ends a part, and so does the end of the row. Printed
numbers say nothing about that; distances do. Two seats of a row that stand further apart than `GAP` times the usual
distance have something between them. The usual distance is that of their own row, because the seats of a box are
wider than those of the gallery; a row of three seats or fewer is too short to tell, and is measured by its section
as well, whichever is the narrower.

The migration 0006 does the same in SQL for plans that were stored before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from booking.domain.seating_plan.derived import focal_point, focal_point_of_areas
from booking.domain.seating_plan.document import focal_of_body
from booking.domain.seating_plan.document_shapes import area_of_body
from booking.domain.seating_plan.model import Point, SeatFlag, SeatingPlan

GAP = 1.75
"""Of the usual distance: seats further apart are not neighbours. A missing seat makes 2, a wide armrest 1.3."""
SHORT_ROW = 3
"""Distances; a row with fewer is measured by its section too."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class PlanColumns:
    """One row of the plan each: `row_sections`, `row_counts`. One seat each, by `seat_no`: all others.

    `focal` is where people look, None when the plan neither says so nor names a stage.
    """

    row_sections: Ints
    row_counts: Ints
    category_no: Ints
    flags: Ints
    x: Floats
    y: Floats
    focal: Point | None
    category_count: int
    section_count: int

    @property
    def seat_count(self) -> int:
        return len(self.x)

    def rows_of_seats(self) -> Ints:
        """The number of each seat's row."""
        return np.repeat(np.arange(len(self.row_counts), dtype=np.int32), self.row_counts)


def columns_of_plan(plan: SeatingPlan) -> PlanColumns:
    """The columns of a plan."""
    seats = tuple(plan.seats())
    return PlanColumns(
        _ints([section_no for section_no, _ in plan.rows()]),
        _ints([len(row.seats) for _, row in plan.rows()]),
        _ints([seat.category_no for seat in seats]),
        _ints([int(seat.flags) for seat in seats]),
        np.array([seat.x for seat in seats], np.float64),
        np.array([seat.y for seat in seats], np.float64),
        focal_point(plan),
        len(plan.categories),
        len(plan.sections),
    )


def columns_of_document(data: bytes) -> PlanColumns:
    """The columns of a stored plan document.

    Raises:
        msgspec.DecodeError, KeyError: The bytes are no such document.
    """
    body: dict[str, Any] = msgspec.json.decode(data)  # Any: a JSON value of our own making
    seats = body["seats"]
    return PlanColumns(
        _ints([row["section_no"] for row in body["rows"]]),
        _ints([row["seat_count"] for row in body["rows"]]),
        _ints(seats["category_no"]),
        _ints(seats["flags"]),
        np.array(seats["x"], np.float64),
        np.array(seats["y"], np.float64),
        focal_of_body(body) or focal_point_of_areas([area_of_body(area) for area in body["areas"]]),
        len(body["categories"]),
        len(body["sections"]),
    )


def neighbour_distances(columns: PlanColumns) -> Floats:
    """For each seat the distance to the seat before it in its row; NaN for the first of a row."""
    distances = np.full(columns.seat_count, np.nan)
    if columns.seat_count > 1:
        distances[1:] = np.sqrt(np.square(np.diff(columns.x)) + np.square(np.diff(columns.y)))
    firsts = np.cumsum(columns.row_counts) - columns.row_counts
    distances[firsts[columns.row_counts > 0]] = np.nan
    return distances


def part_starts(columns: PlanColumns) -> Flags:
    """Which seats begin a part of their row: nothing sits beside them on the side of the lower seat numbers.

    A number whose seat is gone (see numbering.py) has nobody beside it.
    """
    distances = neighbour_distances(columns)
    usual = _usual_distances(columns, distances)
    starts: Flags = np.isnan(distances) | (distances > GAP * usual)
    gone = (columns.flags & SeatFlag.GONE) != 0
    starts |= gone
    starts[1:] |= gone[:-1]
    return starts


def lower_median(values: Floats) -> float:
    """The middle one, the lower of the two middle ones; NaN of nothing."""
    if len(values) == 0:
        return float("nan")
    middle = (len(values) - 1) // 2
    return float(np.partition(values, middle)[middle])


def _usual_distances(columns: PlanColumns, distances: Floats) -> Floats:
    """For each seat the distance that is usual where it stands."""
    rows = columns.rows_of_seats()
    inside = ~np.isnan(distances)
    by_row = _medians(distances[inside], rows[inside], len(columns.row_counts))
    by_section = _medians(distances[inside], columns.row_sections[rows[inside]], columns.section_count)
    short = columns.row_counts - 1 < SHORT_ROW
    of_section = by_section[columns.row_sections]
    return np.where(short, np.minimum(by_row, of_section), by_row)[rows]


def _medians(values: Floats, groups: Ints, count: int) -> Floats:
    """The lower median of each group; NaN for a group without values."""
    order = np.lexsort((values, groups))
    sizes = np.bincount(groups, minlength=count)
    firsts = np.cumsum(sizes) - sizes
    medians = np.full(count, np.nan)
    filled = sizes > 0
    medians[filled] = values[order][firsts[filled] + (sizes[filled] - 1) // 2]
    return medians


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int32)
