"""Which seats sit beside each other: by place, never by number; aisles and pillars part a row."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from booking.domain.seating_plan.columns import (
    columns_of_document,
    columns_of_plan,
    lower_median,
    neighbour_distances,
    part_starts,
)
from booking.domain.seating_plan.document import encode_document
from booking.domain.seating_plan.generators import small_hall, stadium
from booking.domain.seating_plan.model import Category, Row, Seat, SeatFlag, SeatingPlan, Section
from booking.domain.seating_plan.pretix_reader import read_pretix
from booking.domain.seating_plan.teatro_aurora import teatro_aurora
from tests.unit.seat_rows import plan_of
from tests.unit.test_seating_plan_files import PLAN_ID

PLANS = Path(__file__).parents[3] / "shared" / "plans"


def sizes(plan: SeatingPlan) -> list[int]:
    """How many seats each part has, in seat order."""
    firsts = np.flatnonzero(part_starts(columns_of_plan(plan))).tolist()
    return [end - first for first, end in pairwise([*firsts, plan.seat_count])]


def line(*xs: float) -> Row:
    return Row("A", tuple(Seat(f"s{x}", "1", x, 0.0, 0) for x in xs))


def hall(*rows: Row) -> SeatingPlan:
    return SeatingPlan("Hall", 100.0, 100.0, (Category("All", "#000000"),), (Section("Hall", rows),))


def test_the_hall_has_a_middle_aisle() -> None:
    assert sizes(small_hall()) == [7] * 22


def test_rows_that_follow_each_other_never_join() -> None:
    assert sizes(plan_of(["....", "...", "."])) == [4, 3, 1]


def test_one_missing_seat_parts_a_row() -> None:
    assert sizes(plan_of([".... ....", "........"])) == [4, 4, 8]


def test_pairs_of_seats_with_aisles_between_them_are_pairs() -> None:
    assert sizes(plan_of([".. .. .."])) == [2, 2, 2]


def test_two_seats_across_an_aisle_are_told_by_their_section() -> None:
    assert sizes(hall(line(0, 10, 20, 30), line(0, 30))) == [4, 1, 1]


def test_the_wide_chairs_of_a_box_are_neighbours() -> None:
    assert sizes(hall(line(*range(0, 200, 5)), line(0, 15, 30, 45))) == [40, 4]


def test_a_wheelchair_place_is_wider_and_still_beside_its_companion() -> None:
    assert sizes(hall(line(0, 10, 20, 30, 46))) == [5]


def test_seats_at_one_point_are_neighbours() -> None:
    assert sizes(hall(line(3, 3, 3))) == [3]


def test_a_curve_is_no_gap() -> None:
    assert sizes(stadium(12_000)) == [len(row.seats) for _, row in stadium(12_000).rows()]


def test_the_theatre_is_parted_by_its_rows_alone() -> None:
    """Its blocks are rows of their own already; odd numbers left and even right say nothing."""
    assert sizes(teatro_aurora()) == [len(row.seats) for _, row in teatro_aurora().rows()]


def test_nobody_sits_beside_a_seat_that_is_gone() -> None:
    gone = Seat("gone", "3", 20.0, 0.0, 0, SeatFlag(8))
    row = line(0, 10, 30, 40)
    assert sizes(hall(Row("A", (*row.seats[:2], gone, *row.seats[2:])))) == [2, 1, 2]


def test_a_document_gives_the_columns_of_its_plan() -> None:
    plan = teatro_aurora()
    drawn, stored = columns_of_plan(plan), columns_of_document(encode_document(plan, PLAN_ID, 1))
    for name in ("row_sections", "row_counts", "category_no", "flags", "x", "y"):
        assert np.array_equal(getattr(drawn, name), getattr(stored, name)), name
    assert (drawn.focal, drawn.category_count, drawn.section_count) == (
        stored.focal, stored.category_count, stored.section_count,
    )  # fmt: skip
    assert drawn.focal is not None


def test_the_lower_of_two_middle_values_is_the_usual_one() -> None:
    assert lower_median(np.array([30.0, 10.0])) == 10.0
    assert lower_median(np.array([3.0, 1.0, 2.0])) == 2.0
    assert np.isnan(lower_median(np.array([])))


def test_somebody_elses_stadium_has_neighbours_that_stand_close() -> None:
    if not PLANS.is_dir():
        pytest.skip("the folder ../shared/plans with other people's plans is not here")
    plan = read_pretix((PLANS / "pretix-schema__seatmap-canvas-stadium.json").read_bytes()).plan
    assert plan is not None
    columns = columns_of_plan(plan)
    starts = part_starts(columns)
    distances = neighbour_distances(columns)
    usual = lower_median(distances[~np.isnan(distances)])
    assert (starts >= np.isnan(distances)).all()
    assert float(distances[~starts].max()) <= 1.75 * usual * 1.5
    assert int(starts.sum()) >= len(plan.rows())
