"""Finding a seat by its label, as a person reads it off a ticket."""

from __future__ import annotations

from uuid import UUID

import pytest
from msgspec.structs import replace

from app.core.find_seat import Found, SeatIndex, folded
from backend_client.wire import Plan, PlanRow, PlanSeats, PlanSection

SECTIONS = ("Stalls left", "Stalls right", "Balcão", "Box 12")
ROWS = ((0, "J"), (0, "K"), (1, "K"), (2, "K"), (2, "12"), (3, ""))
SEATS_EACH = 15


def hall() -> Plan:
    count = len(ROWS) * SEATS_EACH
    return Plan(
        plan_id=UUID(int=1), version=1, name="Hall", width=100.0, height=100.0, seat_radius=1.0, categories=(),
        sections=tuple(PlanSection(name=name, label_x=0.0, label_y=0.0) for name in SECTIONS),
        rows=tuple(
            PlanRow(section_no=section, label=label, first_seat=number * SEATS_EACH, seat_count=SEATS_EACH)
            for number, (section, label) in enumerate(ROWS)
        ),
        areas=(),
        seats=PlanSeats(
            guid=tuple(map(str, range(count))), number=tuple(f"{seat % SEATS_EACH + 1:02}" for seat in range(count)),
            row_no=tuple(seat // SEATS_EACH for seat in range(count)), category_no=(0,) * count,
            x=(0.0,) * count, y=(0.0,) * count, flags=(0,) * (count - 1) + (8,),
        ),
    )  # fmt: skip


INDEX = SeatIndex(hall(), noise=("Row", "Seat"))


def seats(text: str) -> list[int]:
    return [found.seat_no for found in INDEX.search(text) if found.seat_no >= 0]


def seat(row_no: int, number: int) -> int:
    return row_no * SEATS_EACH + number - 1


@pytest.mark.parametrize("typed", ["K 12", "k12", "K-12", " k , 12 ", "Row K Seat 12", "row k 012", "K １２", "Ｋ ١٢"])
def test_row_and_number_find_the_seat_in_every_section_that_has_the_row(typed: str) -> None:
    assert seats(typed)[:3] == [seat(1, 12), seat(2, 12), seat(3, 12)]


@pytest.mark.parametrize("typed", ["Stalls right K 12", "right k12", "st ri K 12", "STALLS RIGHT, ROW K, SEAT 12"])
def test_a_section_narrows_it_down_by_the_beginnings_of_its_words(typed: str) -> None:
    assert seats(typed)[0] == seat(2, 12)
    assert len(seats(typed)) == 1


def test_a_word_that_is_no_label_elsewhere_is_one_where_a_label_bears_it() -> None:
    """More seats are numbered 5 than are listed; the table of that name comes first, and `Table K 12` finds K 12."""
    plan, noise = hall(), ("Row", "Table", "Seat")
    index = SeatIndex(replace(plan, rows=(replace(plan.rows[0], label="Table 5"), *plan.rows[1:])), noise)
    assert index.search("Table 5", limit=1) == (Found(0, 0, seats=range(SEATS_EACH)),)
    assert [found.seat_no for found in index.search("table 5 2")] == [seat(0, 2)]
    assert index.search("Table K Seat 12", limit=1)[0].seat_no == seat(1, 12)


def test_accents_need_not_be_typed() -> None:
    assert seats("balcao k 3")[0] == seat(3, 3)
    assert folded("Ⅻ Balcão") == "xii balcao"


def test_a_number_alone_finds_all_seats_that_carry_it_after_rows_and_sections_of_that_name() -> None:
    found = INDEX.search("12")
    assert found[0] == Found(2, 4, seats=range(seat(4, 1), seat(5, 1)))
    assert found[1].section_no == 3
    assert seats("12") == [seat(row, 12) for row in range(len(ROWS))]


def test_a_row_alone_is_found_with_its_seats() -> None:
    [left, right, balcony] = INDEX.search("K")
    assert [left.section_no, right.section_no, balcony.section_no] == [0, 1, 2]
    assert left.seats == range(seat(1, 1), seat(2, 1))
    assert left.seat_no == -1


def test_a_section_alone_is_found_with_its_seats() -> None:
    assert [found.section_no for found in INDEX.search("stalls")] == [0, 1]
    assert INDEX.search("stalls")[0].seats == range(2 * SEATS_EACH)


def test_while_typing_a_number_the_exact_one_comes_before_longer_ones() -> None:
    assert seats("J 1") == [seat(0, number) for number in (1, 10, 11, 12, 13, 14, 15)]


def test_a_section_without_rows_of_its_own_name_is_found_with_a_number() -> None:
    assert seats("box 7") == [seat(5, 7)]


def test_a_number_without_a_seat_is_not_found() -> None:
    assert seats("box 15") == []


@pytest.mark.parametrize("typed", ["", "   ", "?!", "Z 99", "nowhere", "K 99"])
def test_what_is_not_there_is_not_found(typed: str) -> None:
    assert INDEX.search(typed) == ()


def test_noise_alone_is_read_as_it_stands() -> None:
    assert INDEX.search("row") == ()


def test_no_more_are_found_than_asked_for() -> None:
    assert len(INDEX.search("12", limit=3)) == 3
    assert len(INDEX.search("K 1" + "0" * 500)) == 0
