"""The readers of CSV: one seat a line, and a hall drawn in cells (cases I1, I3)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.domain.seating_plan import csv_source
from booking.domain.seating_plan.columns import columns_of_plan, part_starts
from booking.domain.seating_plan.derived import FocalSource, focal_with_source
from booking.domain.seating_plan.faults import PlanReading
from booking.domain.seating_plan.formats import FORMATS, read_plan
from booking.domain.seating_plan.options import ReadOptions
from booking.domain.seating_plan.repairs import Repair
from tests.fixtures.plans import file_bytes

MARK = b"\xef\xbb\xbf"
LIST = b"section,row,number,x,y,category\nStalls,A,1,0,0,Gold\nStalls,A,2,25,0,Gold\n"


def found(reading: PlanReading) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.code.value) for fault in reading.faults]


def seats_of(reading: PlanReading) -> list[tuple[str, str, str, float, float]]:
    assert reading.faults == ()
    assert reading.plan is not None
    return [
        (reading.plan.sections[section].name, row.label, seat.number, seat.x, seat.y)
        for section, row in reading.plan.rows()
        for seat in row.seats
    ]


# ---------------------------------------------------------------- one seat a line


@pytest.mark.parametrize("mark", [b"", MARK])
def test_i1_a_byte_order_mark_before_the_header_is_no_part_of_it(mark: bytes) -> None:
    reading = read_plan(mark + LIST)
    assert reading.format == "csv-list"
    assert seats_of(reading) == [("Stalls", "A", "1", 0, 0), ("Stalls", "A", "2", 25, 0)]
    assert [item.code for item in reading.warnings] == (["byte-order-mark"] if mark else [])


def test_i1_an_unknown_header_is_an_error_with_line_and_column() -> None:
    reading = read_plan(MARK + b"section,row,number,colour\nStalls,A,1,red\n")
    assert found(reading) == [("1:4", "header-unknown")]
    assert "line 1, column 4 (D)" in reading.faults[0].message
    assert '"colour"' in reading.faults[0].message


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_sign_between_cells_is_found(delimiter: str) -> None:
    data = LIST.decode().replace(",", delimiter).encode()
    assert len(seats_of(read_plan(data))) == 2


def test_headers_in_any_order_capitals_and_words_are_known() -> None:
    reading = read_plan(b"Seat No.,ROW,Price zone,Block\n7,K,Silver,Left\n")
    assert reading.plan is not None
    seat = reading.plan.sections[0].rows[0].seats[0]
    assert (reading.plan.sections[0].name, seat.number) == ("Left", "7")
    assert reading.plan.categories[seat.category_no].name == "Silver"


def test_the_list_keeps_marks_gaps_decimal_commas_and_standing_areas() -> None:
    reading = read_plan(file_bytes("csv/list.csv"))
    plan = reading.plan
    assert plan is not None
    assert [seat[2:4] for seat in seats_of(reading)] == [("1", 0.5), ("2", 25.5), ("3", 75.5), ("4", 100.5), ("1", 0.5)]
    assert [int(seat.flags) for seat in plan.seats()] == [1, 0, 0, 0, 0]
    assert [(area.name, area.capacity) for area in plan.standing] == [("Pit", 50)]
    assert part_starts(columns_of_plan(plan)).tolist() == [True, False, True, False, True]


def test_a_list_without_places_is_set_out_in_rows() -> None:
    reading = read_plan(b"row,number\nA,1\nA,2\nB,1\n")
    assert seats_of(reading) == [("Main", "A", "1", 25, 25), ("Main", "A", "2", 50, 25), ("Main", "B", "1", 25, 50)]


def test_identities_are_made_the_same_each_time_or_taken_from_the_file() -> None:
    first, second = (read_plan(LIST).plan for _ in range(2))
    assert first is not None
    assert first == second
    given_ids = read_plan(b"id,row,number\ns-1,A,1\ns-2,A,2\n").plan
    assert given_ids is not None
    assert [seat.guid for seat in given_ids.seats()] == ["s-1", "s-2"]


def test_floors_of_a_list_are_kept() -> None:
    plan = read_plan(b"floor,row,number,x,y\nStalls,A,1,0,0\nCircle,A,1,0,0\n").plan
    assert plan is not None
    assert plan.floors == ("Stalls", "Circle")
    assert [section.floor_no for section in plan.sections] == [0, 1]


def test_i3_every_fault_of_a_list_is_named_with_line_and_column() -> None:
    data = (
        b"section,row,number,x,y,category,accessible,id\n"
        b"Stalls,A,1,0,0,Gold,maybe,s1\n"
        b"Stalls,A,1,25,0,Gold,,s1\n"
        b"Stalls,A,,50,0,Gold,,s3\n"
        b"Stalls,A,4,far,,Gold,,s4\n"
        b"Stalls,A ,5,25,0,Gold,,s5\n"
        b"Stalls,\xd0\x90,6,1e9,0,Gold,,s6\n"
        b"Stalls,A,7,150,0,Gold,,s7,more\n"
    )
    assert found(read_plan(data)) == [
        ("2:7", "unknown-value"),
        ("3:3", "seat-number-repeats"),
        ("3:8", "guid-repeats"),
        ("4:3", "seat-number-missing"),
        ("5:4", "wrong-type"),
        ("5:5", "cells-missing"),
        ("6:4", "seats-coincide"),
        ("7:2", "label-confusable"),
        ("7:4", "number-out-of-range"),
        ("8:9", "cells-beyond"),
    ]


def test_missing_numbers_are_filled_in_when_chosen() -> None:
    data = b"row,number\nA,2\nA,4\nA,\nA,8\nA,8\n"
    reading = read_plan(data, ReadOptions(frozenset({Repair.NUMBER_SEATS})))
    assert [seat[2] for seat in seats_of(reading)] == ["2", "4", "6", "8", "10"]
    assert [(item.pointer, item.repair) for item in reading.repairs] == [
        ("4:2", "number-seats"),
        ("6:2", "number-seats"),
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"section,row\nA,1\n", [("1:1", "header-missing")]),
        (b"row,number,x\nA,1,5\n", [("1:1", "header-missing")]),
        (b"row,number,row\nA,1,B\n", [("1:3", "header-repeats")]),
        (b"row,number\n", [("", "no-seats")]),
        (b'row,number\nA,"1\n', [("2:1", "invalid-csv")]),
        (b'row,number\nA,"1"x\n', [("2:1", "invalid-csv")]),
        (b"row,number\nA,\x07\n", [("2:2", "text-unprintable")]),
        (b"row,number\nA," + b"9" * 201 + b"\n", [("2:2", "text-too-long")]),
        (b"row,number\nA,\xff\n", [("", "bad-encoding")]),
        (b"row,number,capacity\nPit,,0\nA,1,\n", [("2:3", "number-out-of-range")]),
        (b"row,number,capacity\n,,9\nA,1,\n", [("2:1", "text-empty")]),
        (b"row,number,marks\nA,1,golden\n", [("2:3", "unknown-value")]),
    ],
)
def test_a_broken_list_is_refused_at_its_place(data: bytes, expected: list[tuple[str, str]]) -> None:
    reading = read_plan(data)
    assert (reading.format, found(reading), reading.plan) == ("csv-list", expected, None)


def test_too_many_categories_are_one_fault() -> None:
    lines = "".join(f"A,{number},C{number}\n" for number in range(1, 100))
    assert found(read_plan(f"row,number,category\n{lines}".encode())) == [("66:3", "too-many")]


def test_a_million_lines_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_source, "MAX_LINES", 1_000)
    assert found(read_plan(b"row,number\n" + b"A,1\n" * 1_001)) == [("", "too-many")]


# ---------------------------------------------------------------- drawn in cells


def test_a_drawn_hall_keeps_aisles_marks_and_texts() -> None:
    reading = read_plan(file_bytes("csv/grid.csv"))
    plan = reading.plan
    assert reading.format == "csv-grid"
    assert plan is not None
    assert seats_of(reading) == [
        ("Stalls", "A", "1", 25, 50), ("Stalls", "A", "2", 50, 50), ("Stalls", "A", "3", 100, 50),
        ("Stalls", "A", "4", 125, 50), ("Stalls", "B", "1", 25, 75), ("Balcony", "3", "1", 125, 75),
    ]  # fmt: skip
    assert [int(seat.flags) for seat in plan.seats()] == [0, 0, 0, 1, 0, 0]
    assert part_starts(columns_of_plan(plan)).tolist() == [True, False, True, False, True, True]
    assert [category.name for category in plan.categories] == ["Stalls", "Balcony"]
    assert focal_with_source(plan)[1] is FocalSource.STAGE


def test_the_smallest_grid_with_an_aisle() -> None:
    reading = read_plan(b"res:A1,,res:B1+\n,res:A2,res:B2\n")
    assert (reading.format, reading.counts.seats) == ("csv-grid", 4)
    assert found(reading) == []


def test_i3_cells_that_are_no_seats_are_named_with_line_and_column() -> None:
    reading = read_plan(b"x:A1,x:A2,x:A3\nx:B1,x:B,nothing\nx:A1,x:C2,x:C3\n")
    assert found(reading) == [("2:2", "cell-unknown"), ("2:3", "cell-unknown"), ("3:1", "seat-number-repeats")]


def test_prose_is_no_plan() -> None:
    reading = read_plan(b"Dear all: the plan, as promised.\nRow 1, and so on: see below.\n")
    assert (reading.format, found(reading)) == ("unknown", [("", "unknown-format")])
    assert all(title in reading.faults[0].message for title in FORMATS.values())


def test_the_format_that_is_asked_for_is_read() -> None:
    assert read_plan(b"A1,A2\nB1,B2\n").format == "unknown"
    reading = read_plan(b"A1,A2\nB1,B2\n", format_name="csv-grid")
    assert (reading.counts.seats, found(reading)) == (4, [])
    assert found(read_plan(LIST, format_name="pretix")) == [("", "invalid-json")]


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["", *FORMATS]))
def test_any_bytes_are_read_or_refused_in_any_format(data: bytes, format_name: str) -> None:
    reading = read_plan(data, format_name=format_name)
    assert (reading.plan is None) == bool(reading.faults)


@settings(deadline=None)
@given(st.lists(st.lists(st.text(max_size=6), max_size=5), max_size=6))
def test_any_cells_below_a_header_are_read_or_refused(rows: list[list[str]]) -> None:
    text = "section,row,number,x,y\n" + "\n".join(",".join(row) for row in rows)
    reading = read_plan(text.encode("utf-8", errors="replace"))
    assert (reading.plan is None) == bool(reading.faults)


def test_a_header_without_end_is_one_fault() -> None:
    assert found(read_plan(b"row,number" + b",row" * 3_000)) == [("1:1", "too-many")]
