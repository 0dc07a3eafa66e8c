"""Every public plan in ../shared/plans: what it holds, what is wrong with it. Skipped where the folder is absent."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from booking.domain.seating_plan.columns import columns_of_plan, part_starts
from booking.domain.seating_plan.document import encode_document, plan_digest, plan_of_document
from booking.domain.seating_plan.faults import PlanCounts, PlanReading
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.model import Point, TableKind
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.own_writer import write_own
from booking.domain.seating_plan.pretix_writer import write_pretix
from booking.domain.seating_plan.repairs import ALL_REPAIRS
from booking.services import plan_command
from tests.fixtures.plans import SHARED

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the public plans (../shared/plans) are not here")

STADIUM = "pretix-schema__seatmap-canvas-stadium.json"
CHART = "seatsio__sampleChart.json"
SECTIONS = "seatsio__sampleChartWithSections.json"
TABLES = "seatsio__sampleChartWithTables.json"
ERRORS = "seatsio__sampleChartWithErrors.json"
DRAWING = "tessitura-svg__amazing-venue.svg"
GRID = "audience1st-csv__valid_seatmap.csv"
EXPECTED: dict[str, tuple[str, PlanCounts]] = {
    STADIUM: ("pretix", PlanCounts(738, 0, 2, 5)),
    CHART: ("seatsio", PlanCounts(32, 200, 1, 3)),
    SECTIONS: ("seatsio", PlanCounts(71, 0, 2, 2)),
    TABLES: ("seatsio", PlanCounts(12, 0, 1, 2)),
    ERRORS: ("seatsio", PlanCounts(32, 200, 1, 2)),
    DRAWING: ("svg", PlanCounts(152, 0, 12, 1)),
    GRID: ("csv-grid", PlanCounts(4, 0, 1, 1)),
}
SOUND = sorted(EXPECTED.keys() - {ERRORS})


def read(name: str, options: ReadOptions | None = None) -> PlanReading:
    return read_plan((SHARED / name).read_bytes(), options or ReadOptions(name=name))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_public_plan_is_recognised_and_counted(name: str) -> None:
    reading = read(name)
    assert (reading.format, reading.counts) == EXPECTED[name]


def test_every_public_plan_is_expected_here() -> None:
    assert {path.name for path in SHARED.iterdir() if path.suffix != ".md"} == EXPECTED.keys()


@pytest.mark.parametrize("name", SOUND)
def test_each_sound_public_plan_is_imported_whole(name: str) -> None:
    reading = read(name)
    assert reading.faults == ()
    assert reading.plan is not None
    assert reading.plan.seat_count == reading.counts.seats
    assert len({seat.guid for seat in reading.plan.seats()}) == reading.counts.seats
    assert len({(seat.x, seat.y) for seat in reading.plan.seats()}) == reading.counts.seats
    assert reading.plan.standing_capacity == reading.counts.ga_capacity


@pytest.mark.parametrize("name", SOUND)
def test_s8_each_goes_out_and_comes_in_again_the_same(name: str) -> None:
    plan = read(name).plan
    assert plan is not None
    for written in (write_own(plan), write_pretix(plan)):
        again = read_plan(written)
        assert (again.plan, again.faults, again.repairs) == (plan, (), ())
    assert plan_digest(plan_of_document(encode_document(plan, UUID(int=7), 1))) == plan_digest(plan)


def test_the_stadium_has_738_seats_of_318_guids_and_is_mended_by_its_uuids() -> None:
    file = json.loads((SHARED / STADIUM).read_bytes())
    guids = {seat["seat_guid"] for zone in file["zones"] for row in zone["rows"] for seat in row["seats"]}
    reading = read(STADIUM)
    assert len(guids) == 318
    assert [repair.code for repair in reading.repairs] == ["guid-from-uuid"]
    assert "738 seats have 318 distinct" in reading.repairs[0].message
    repeats = [item for item in reading.warnings if item.code == "guid-repeats"]
    assert len(repeats) == 738 - 318


def test_the_stadium_is_refused_seat_by_seat_when_nothing_may_be_mended() -> None:
    reading = read(STADIUM, ReadOptions(frozenset()))
    assert reading.plan is None
    assert [fault.code for fault in reading.faults] == ["guid-repeats"] * (738 - 318)


def test_i3_the_invalid_chart_is_refused_with_each_fault_named() -> None:
    reading = read(ERRORS)
    seats = "/subChart/rows/0/seats"
    assert reading.plan is None
    assert [(fault.pointer, fault.code, fault.repair) for fault in reading.faults] == [
        (f"{seats}/1/label", "seat-number-repeats", "number-seats"),
        (f"{seats}/2/label", "seat-number-missing", "number-seats"),
        (f"{seats}/3/categoryKey", "category-missing", "add-categories"),
    ]


def test_the_invalid_chart_is_mended_when_its_owner_chooses_so() -> None:
    reading = read(ERRORS, ReadOptions(ALL_REPAIRS))
    assert reading.plan is not None
    first = reading.plan.sections[0].rows[0]
    assert [seat.number for seat in first.seats] == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert reading.plan.categories[first.seats[3].category_no].name == "General"
    assert [repair.code for repair in reading.repairs] == ["seat-numbered", "seat-numbered", "category-added"]


def test_the_chart_has_two_standing_areas_a_stage_and_its_own_focal_point() -> None:
    plan = read(CHART).plan
    assert plan is not None
    assert [(area.name, area.capacity, area.category_no) for area in plan.standing] == [
        ("GA1", 100, 0),
        ("GA2", 100, 1),
    ]
    assert plan.focal == Point(225, 33.23)
    assert [area.text.text for area in plan.areas if area.text] == ["Stage"]


def test_sections_have_their_seats_at_absolute_places_and_their_category() -> None:
    plan = read(SECTIONS).plan
    assert plan is not None
    assert [(section.name, sum(len(row.seats) for row in section.rows)) for section in plan.sections] == [
        ("Section A", 36),
        ("Section B", 35),
    ]
    assert {seat.category_no for row in plan.sections[1].rows for seat in row.seats} == {1}
    assert min(seat.x for row in plan.sections[1].rows for seat in row.seats) == pytest.approx(189.94 + 16.25)


def test_two_round_tables_of_six_are_set_apart() -> None:
    reading = read(TABLES)
    assert reading.plan is not None
    tables = [row.table for _, row in reading.plan.rows()]
    assert [table.kind for table in tables if table] == [TableKind.TABLE] * 2
    assert [len(row.seats) for _, row in reading.plan.rows()] == [6, 6]
    assert [(repair.pointer, repair.code) for repair in reading.repairs] == [("/subChart/tables/1", "table-moved")]


def test_tables_at_one_point_are_faults_when_nothing_may_be_mended() -> None:
    reading = read(TABLES, ReadOptions(frozenset()))
    assert [fault.code for fault in reading.faults] == ["seats-coincide"] * 6


def test_the_drawing_knows_its_seats_by_their_ids_and_its_stage_by_its_text() -> None:
    plan = read(DRAWING).plan
    assert plan is not None
    seats = {seat.guid: seat for seat in plan.seats()}
    assert (seats["seat-1-A-1"].x, seats["seat-1-A-1"].y) == pytest.approx((118.124 + 13.32, 206.21 - 52.094))
    # matrix(1, 0, 0, -1, 0, 0) about cy = -286.17
    assert (seats["seat-8-D-1"].x, seats["seat-8-D-1"].y) == pytest.approx((44.395 + 13.32, 286.17 - 52.094))
    assert [area.text.text for area in plan.areas if area.text] == ["STAGE"]


def test_the_drawing_read_by_another_pattern_has_the_rows_that_people_see() -> None:
    plan = read(DRAWING, ReadOptions(seat_pattern="seat-{number}-{row}-{section}")).plan
    assert plan is not None
    assert sorted(section.name for section in plan.sections) == ["1", "2", "3", "4", "5"]
    whole = [not bool(starts) for starts in part_starts(columns_of_plan(plan)).tolist()]
    assert sum(whole) > 100  # most have a neighbour


def test_every_shape_of_the_drawing_lies_where_a_browser_draws_it_within_the_view() -> None:
    plan = read(DRAWING).plan
    assert plan is not None
    corners = [point for area in plan.areas for point in area.points]
    assert len(corners) == 16  # four rectangles turned by 45 degrees, with three kinds of origin
    assert all(0 <= point.x <= plan.width and 0 <= point.y <= plan.height for point in corners)


def test_the_grid_has_its_accessible_seat_and_its_aisle() -> None:
    plan = read(GRID).plan
    assert plan is not None
    seats = [(row.label, seat.number, seat.x, seat.y, int(seat.flags)) for _, row in plan.rows() for seat in row.seats]
    assert seats == [
        ("A", "1", 25.0, 25.0, 0),
        ("A", "2", 50.0, 50.0, 0),
        ("B", "1", 75.0, 25.0, 1),
        ("B", "2", 75.0, 50.0, 0),
    ]


@pytest.mark.parametrize(("name", "code"), [(CHART, 0), (ERRORS, 1)])
def test_the_command_reports_format_counts_and_faults(name: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan_command.main(["check", str(SHARED / name), "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert (report["format"], report["seats"], report["ga_capacity"]) == ("seatsio", 32, 200)
    assert (report["sections"], len(report["faults"])) == (1, 3 * code)
