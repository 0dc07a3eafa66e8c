"""The reader of seats.io charts: sub-charts, tables, booths, standing areas, floors, and each fault at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from booking.domain.seating_plan.derived import FocalSource, focal_with_source
from booking.domain.seating_plan.formats import read_plan
from booking.domain.seating_plan.model import AreaShape, LabelPosition, Point, SeatFlag, SeatingPlan, TableKind
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.repairs import ALL_REPAIRS
from tests.fixtures.plans import file_bytes


def plan_of(name: str) -> SeatingPlan:
    reading = read_plan(file_bytes(f"seatsio/{name}.json"))
    assert reading.faults == ()
    assert reading.plan is not None
    return reading.plan


def changed(change: Any, name: str = "house") -> bytes:
    chart = json.loads(file_bytes(f"seatsio/{name}.json"))
    change(chart)
    return json.dumps(chart).encode()


def test_sections_within_sections_have_absolute_places_and_inherit_categories() -> None:
    plan = plan_of("house")
    assert [section.name for section in plan.sections] == ["Main", "Left", "Left-Box"]
    left, box = plan.sections[1:]
    assert [(seat.x, seat.y) for seat in left.rows[0].seats] == [(30, 90), (50, 90), (70, 90)]
    assert [(seat.x, seat.y) for seat in box.rows[0].seats] == [(85, 155)]
    gold, silver = 0, 1
    assert [seat.category_no for seat in left.rows[0].seats] == [gold, silver, gold]
    assert box.rows[0].seats[0].category_no == gold
    assert left.rows[0].label_position is LabelPosition.START


def test_marks_and_identities_are_kept() -> None:
    seats = plan_of("house").sections[1].rows[0].seats
    assert [seat.flags for seat in seats] == [SeatFlag.ACCESSIBLE, SeatFlag.COMPANION, SeatFlag.RESTRICTED_VIEW]
    assert [seat.guid for seat in seats] == ["u1", "u2", "u3"]


def test_tables_and_booths_are_rows_round_a_shape() -> None:
    rows = plan_of("house").sections[0].rows
    tables = [(row.label, row.table.kind, row.table.shape, len(row.seats)) for row in rows if row.table]
    assert tables == [
        ("T1", TableKind.TABLE, AreaShape.CIRCLE, 2),
        ("T2", TableKind.TABLE, AreaShape.RECTANGLE, 2),
        ("", TableKind.BOOTH, AreaShape.RECTANGLE, 1),
    ]
    first, second, booth = (row.table for row in rows)
    assert first is not None
    assert second is not None
    assert booth is not None
    assert (first.width, first.whole, second.rotation) == (20, True, 30)
    assert [seat.category_no for seat in rows[0].seats] == [1, 1]  # of the table
    assert (rows[2].seats[0].number, rows[2].seats[0].x) == ("B1", booth.x)


def test_standing_areas_keep_capacity_shape_and_category() -> None:
    pit, rear = plan_of("house").standing
    assert (pit.name, pit.capacity, pit.category_no, pit.area.shape) == ("Pit", 80, 1, AreaShape.POLYGON)
    assert (rear.name, rear.capacity, rear.category_no) == ("Left-Rear", 20, 0)
    assert (rear.area.x, rear.area.y) == (50, 130)


def test_a_shape_turned_about_its_middle_turns_about_its_corner_to_the_same_place() -> None:
    plan = plan_of("house")
    stage, bar = plan.areas
    assert (stage.x, stage.y, stage.rotation) == (210, -30, 90)
    assert stage.text is not None
    assert bar.text is not None
    assert (stage.text.text, bar.text.text) == ("Stage", "Bar")
    without = read_plan(changed(lambda chart: chart["subChart"].pop("focalPoint"))).plan
    assert without is not None
    assert focal_with_source(without) == (Point(200, 20), FocalSource.STAGE)


def test_the_focal_point_of_the_chart_wins_over_its_stage() -> None:
    assert focal_with_source(plan_of("house")) == (Point(200, 20), FocalSource.PLAN)
    moved = read_plan(file_bytes("seatsio/house.json"), ReadOptions(focal=Point(1, 2))).plan
    assert moved is not None
    assert moved.focal == Point(1, 2)


def test_floors_lie_over_each_other() -> None:
    plan = plan_of("floors")
    assert plan.floors == ("Ground", "Balcony")
    assert [(section.name, section.floor_no) for section in plan.sections] == [("Ground", 0), ("Balcony", 1)]
    assert {(seat.x, seat.y) for seat in plan.seats()} == {(40, 50)}
    assert [area.floor_no for area in plan.areas] == [0]
    assert [area.area.floor_no for area in plan.standing] == [1]
    assert (plan.width, plan.height, plan.focal) == (120, 100, Point(50, 0))


def test_seats_of_one_floor_may_not_stand_over_each_other() -> None:
    def change(chart: Any) -> None:
        chart["subChartFloors"].pop(0)
        rows = chart["subChartFloors"][0]["subChart"]["rows"]
        rows.append({"label": "B", "seats": [{"x": 40, "y": 50, "label": "1", "categoryKey": 1, "uuid": "f3"}]})

    codes = [(fault.pointer, fault.code) for fault in read_plan(changed(change, "floors")).faults]
    assert codes == [("/subChartFloors/0/subChart/rows/1/seats/0", "seats-coincide")]


def test_what_is_not_kept_is_said() -> None:
    warnings = read_plan(file_bytes("seatsio/house.json")).warnings
    assert [(item.pointer, item.code) for item in warnings] == [
        ("/subChart/backgroundImage", "not-kept"),
        ("/subChart/tables/0/bookAsAWhole", "sold-as-a-whole"),
    ]


def test_i3_every_fault_of_a_chart_is_named_at_once() -> None:
    reading = read_plan(file_bytes("seatsio/broken.json"))
    seats = "/subChart/rows/0/seats"
    assert reading.plan is None
    assert [(fault.pointer, fault.code) for fault in reading.faults] == [
        ("/subChart/generalAdmissionAreas/0/capacity", "number-out-of-range"),
        ("/subChart/generalAdmissionAreas/2/label", "standing-repeats"),
        (f"{seats}/1/label", "seat-number-repeats"),
        (f"{seats}/1/uuid", "guid-repeats"),
        (f"{seats}/2/label", "seat-number-missing"),
        (f"{seats}/3/categoryKey", "category-missing"),
        (f"{seats}/4/categoryKey", "category-unknown"),
        (f"{seats}/5", "seats-coincide"),
        (f"{seats}/6/label", "wrong-type"),
        (f"{seats}/6/x", "wrong-type"),
        ("/subChart/rows/1/seats", "row-without-seats"),
        ("/subChart/sections/0", "section-without-rows"),
    ]
    assert [item.code for item in reading.warnings] == ["unknown-version"]


def test_what_cannot_be_mended_stays_a_fault() -> None:
    reading = read_plan(file_bytes("seatsio/broken.json"), ReadOptions(ALL_REPAIRS))
    assert [fault.code for fault in reading.faults] == [
        "number-out-of-range", "standing-repeats", "seats-coincide", "wrong-type",
    ]  # fmt: skip
    assert {repair.repair for repair in reading.repairs} == {
        "number-seats", "make-guids", "add-categories", "numbers-as-text", "drop-empty",
    }  # fmt: skip


@pytest.mark.parametrize(("label", "code"), [("?", "row-label-missing"), ("", "row-label-missing")])
def test_a_row_without_a_label_is_a_fault(label: str, code: str) -> None:
    def change(chart: Any) -> None:
        chart["subChart"]["sections"][0]["subChart"]["rows"][0]["label"] = label

    reading = read_plan(changed(change))
    pointer = "/subChart/sections/0/subChart/rows/0/label"
    assert [(fault.pointer, fault.code) for fault in reading.faults] == [(pointer, code)]


def test_contents_of_scaled_sections_fit_their_outline() -> None:
    def change(chart: Any) -> None:
        chart["sectionScaleFactor"] = 50
        chart["subChart"]["sections"][0]["subChart"].update(width=200, height=200)

    plan = read_plan(changed(change)).plan
    assert plan is not None
    assert [(seat.x, seat.y) for seat in plan.sections[1].rows[0].seats] == [(25, 85), (35, 85), (45, 85)]


def test_three_tables_upon_each_other_stand_side_by_side() -> None:
    def change(chart: Any) -> None:
        table = chart["subChart"]["tables"][0]
        for number in (2, 3):
            copy = json.loads(json.dumps(table)) | {"label": f"C{number}", "uuid": f"c{number}"}
            for seat in copy["seats"]:
                seat["uuid"] += str(number)
            chart["subChart"]["tables"].append(copy)

    reading = read_plan(changed(change))
    assert reading.plan is not None
    tables = [row.table for row in reading.plan.sections[0].rows if row.label in ("T1", "C2", "C3")]
    assert [table.x for table in tables if table] == [50, 100, 150]
    assert [repair.code for repair in reading.repairs] == ["table-moved"] * 2
