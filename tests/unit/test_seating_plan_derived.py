"""What is derived from a plan: dense seat numbers, section labels, radius, focal point; looks of labels."""

from __future__ import annotations

import math

import pytest

from booking.domain.seating_plan.derived import focal_point, seat_radius, section_label_point
from booking.domain.seating_plan.document import plan_body
from booking.domain.seating_plan.generators import small_hall, stadium
from booking.domain.seating_plan.labels import describe, skeleton
from booking.domain.seating_plan.model import Category, Point, Row, Seat, SeatingPlan, Section
from booking.domain.seating_plan.pretix_reader import read_pretix
from booking.domain.seating_plan.teatro_aurora import teatro_aurora
from tests.fixtures.plans import plan_bytes


def grid(columns: int, rows: int, pitch: float) -> SeatingPlan:
    made = tuple(
        Row(str(y), tuple(Seat(f"{x}-{y}", str(x), x * pitch, y * pitch, 0) for x in range(columns)))
        for y in range(rows)
    )
    return SeatingPlan("Grid", 100.0, 100.0, (Category("All", "#000000"),), (Section("Grid", made),))


def test_seat_numbers_are_dense_in_section_row_seat_order() -> None:
    plan = teatro_aurora()
    body = plan_body(plan)
    expected = [seat.guid for section in plan.sections for row in section.rows for seat in row.seats]
    assert body["seats"]["guid"] == expected
    firsts = [row["first_seat"] for row in body["rows"]]
    counts = [row["seat_count"] for row in body["rows"]]
    assert firsts == [sum(counts[:index]) for index in range(len(counts))]
    assert firsts[-1] + counts[-1] == plan.seat_count


@pytest.mark.parametrize("pitch", [1.0, 25.0, 400.0])
def test_the_radius_leaves_a_gap_between_neighbours(pitch: float) -> None:
    assert seat_radius(grid(9, 7, pitch)) == pytest.approx(0.4 * pitch)


def test_the_radius_of_a_large_plan_comes_from_a_sample_that_is_right() -> None:
    assert seat_radius(stadium(20_000)) == pytest.approx(4.0, abs=0.01)


def test_a_single_seat_has_the_default_radius() -> None:
    assert seat_radius(grid(1, 1, 5.0)) == 10.0


def test_a_section_is_labelled_in_the_middle_of_its_seats() -> None:
    section = grid(3, 3, 10.0).sections[0]
    assert section_label_point(section) == Point(10.0, 10.0)


def test_the_focal_point_is_the_stage_or_the_pitch() -> None:
    bowl = stadium(2_000)
    assert focal_point(bowl) == Point(bowl.width / 2, bowl.height / 2)
    stage = focal_point(teatro_aurora())
    assert stage is not None
    assert (stage.x, stage.y) == (850.0, 192.5)


def test_a_plan_without_a_named_stage_has_no_focal_point() -> None:
    assert focal_point(grid(2, 2, 1.0)) is None


def test_the_real_hall_of_a_file_finds_its_stage() -> None:
    plan = read_pretix(plan_bytes("valid")).plan
    assert plan is not None
    assert focal_point(plan) == Point(150.0, 25.0)


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize("twin", ["A ", " A", "А", "Α", "Ａ", "A\u200b", "\u2060A", "A\u00a0"])
def test_labels_that_look_like_a_latin_a_share_its_skeleton(twin: str) -> None:
    assert skeleton(twin) == "A"


@pytest.mark.parametrize(
    ("one", "other"), [("A", "a"), ("A", "B"), ("1", "11"), ("Row 1", "Row 2"), ("É", "E"), ("Я", "R")]
)
def test_labels_that_a_person_tells_apart_stay_apart(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def test_an_odd_letter_is_spelled_out_and_a_plain_label_is_not() -> None:
    assert describe("А") == '"А" (CYRILLIC CAPITAL LETTER A)'
    assert describe("A") == '"A"'
    assert describe("A ") == '"A " (with a space at its end or start)'


# ---------------------------------------------------------------- generated venues


@pytest.mark.parametrize("seats", [2_000, 12_000, 60_000])
def test_a_stadium_has_exactly_the_seats_asked_for(seats: int) -> None:
    plan = stadium(seats)
    assert plan.seat_count == seats
    assert len({seat.guid for seat in plan.seats()}) == seats
    assert len({(seat.x, seat.y) for seat in plan.seats()}) == seats


def test_a_stadium_too_small_to_go_round_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        stadium(500)


def test_no_stadium_seat_stands_on_the_pitch_or_outside_the_plan() -> None:
    plan = stadium(60_000)
    pitch = plan.areas[0]
    for seat in plan.seats():
        on_pitch = pitch.x <= seat.x <= pitch.x + pitch.width and pitch.y <= seat.y <= pitch.y + pitch.height
        assert not on_pitch
        assert 0 < seat.x < plan.width
        assert 0 < seat.y < plan.height


def test_nearer_sections_of_the_stadium_are_in_better_categories() -> None:
    plan = stadium(60_000)
    middle = Point(plan.width / 2, plan.height / 2)
    distances: dict[int, list[float]] = {}
    for section in plan.sections:
        point = section_label_point(section)
        distance = math.hypot(point.x - middle.x, point.y - middle.y)
        distances.setdefault(section.rows[0].seats[0].category_no, []).append(distance)
    means = [sum(distances[number]) / len(distances[number]) for number in range(4)]
    assert means == sorted(means)


def test_rows_of_the_stadium_are_curved_and_evenly_spaced() -> None:
    row = stadium(60_000).sections[0].rows[0]
    steps = [math.hypot(b.x - a.x, b.y - a.y) for a, b in zip(row.seats, row.seats[1:], strict=False)]
    assert all(step == pytest.approx(10.0, abs=0.05) for step in steps)
    straight = math.hypot(row.seats[-1].x - row.seats[0].x, row.seats[-1].y - row.seats[0].y)
    assert straight < sum(steps) - 0.2


def test_the_committed_theatre_is_what_its_generator_makes() -> None:
    import resources

    assert read_pretix(resources.read_bytes("venues/teatro_aurora.json")).plan == teatro_aurora()


def test_the_theatre_is_a_theatre() -> None:
    plan = teatro_aurora()
    assert 850 <= plan.seat_count <= 950
    assert [section.name for section in plan.sections][:3] == ["Stalls Centre", "Stalls Left", "Stalls Right"]
    flags = [int(seat.flags) for seat in plan.seats()]
    assert flags.count(1) == flags.count(2) > 0
    assert flags.count(4) > 10


def test_the_theatre_numbers_odd_to_the_left_and_even_to_the_right() -> None:
    left, right = teatro_aurora().sections[1:3]
    assert {int(seat.number) % 2 for row in left.rows for seat in row.seats} == {1}
    assert {int(seat.number) % 2 for row in right.rows for seat in row.seats} == {0}


def test_neighbours_in_row_order_are_neighbours_in_the_house() -> None:
    """Adjacency comes from the order of seats, never from printed numbers."""
    for section in teatro_aurora().sections[:6]:
        for row in section.rows:
            steps = [math.hypot(b.x - a.x, b.y - a.y) for a, b in zip(row.seats, row.seats[1:], strict=False)]
            assert max(steps) < 30


def test_the_small_hall_has_about_150_seats() -> None:
    assert small_hall().seat_count == 154
