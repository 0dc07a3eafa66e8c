"""Seat numbers that stay (I4): whatever changes between two versions of a plan, a guid keeps its number."""

from __future__ import annotations

import random
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_client import wire
from booking.domain.seating_plan.document import document_of_body, encode_body, plan_of_document
from booking.domain.seating_plan.model import Category, LabelPosition, Row, Seat, SeatFlag, SeatingPlan, Section
from booking.domain.seating_plan.numbering import number_as_before

PLAN_ID = UUID(int=7)


def plan_of(*rows: list[str], categories: tuple[str, ...] = ("Stalls",), category: int = 0) -> SeatingPlan:
    """A row for each list of guids; each seat has a radius and a start direction of its own."""

    def seat(guid: str, place: int, line: int) -> Seat:
        return Seat(
            guid, guid[1:], 10.0 * place, 10.0 * line, category, radius=1.0 + int(guid[1:]), start_direction="<"
        )

    built = tuple(
        Row(
            f"R{line}",
            tuple(seat(guid, place, line) for place, guid in enumerate(guids)),
            LabelPosition.BOTH,
            row_text=f"row {line}",
        )
        for line, guids in enumerate(rows)
    )
    colored = tuple(Category(name, "#112233") for name in categories)
    return SeatingPlan("Hall", 900.0, 700.0, colored, (Section("Stalls", built, key="S"),))


def versions(*plans: SeatingPlan) -> list[bytes]:
    """The documents of one version after the other."""
    documents: list[bytes] = []
    for number, plan in enumerate(plans, start=1):
        body = encode_body(plan)
        if documents:
            body = number_as_before(body, documents[-1])
        documents.append(document_of_body(body, PLAN_ID, number))
    return documents


def numbers(document: bytes) -> dict[str, int]:
    seats = msgspec.json.decode(document, type=wire.Plan).seats
    return {guid: number for number, guid in enumerate(seats.guid) if not seats.flags[number] & SeatFlag.GONE}


def guids(*values: int) -> list[str]:
    return [f"g{value}" for value in values]


@given(st.lists(st.lists(st.integers(0, 14), unique=True, max_size=15), min_size=2, max_size=5), st.integers(0, 99))
def test_a_guid_has_one_number_in_all_versions_and_no_number_two_guids(chosen: list[list[int]], seed: int) -> None:
    dice = random.Random(seed)
    plans = []
    for values in chosen:
        cut = dice.randint(0, len(values))
        rows = [guids(*values[:cut]), guids(*values[cut:])]
        plans.append(plan_of(*[row for row in rows if row] or [["g0"]]))
    documents = versions(*plans)
    owner: dict[int, str] = {}
    for plan, document in zip(plans, documents, strict=True):
        decoded = msgspec.json.decode(document, type=wire.Plan)
        for number, guid in enumerate(decoded.seats.guid):
            assert owner.setdefault(number, guid) == guid
        assert numbers(document).keys() == {seat.guid for seat in plan.seats()}
        # Rows lie end to end over all numbers, and each seat knows its own.
        ends = [0]
        for row_no, row in enumerate(decoded.rows):
            assert row.first_seat == ends[-1]
            assert row.seat_count > 0
            assert set(decoded.seats.row_no[row.first_seat : row.first_seat + row.seat_count]) == {row_no}
            ends.append(row.first_seat + row.seat_count)
        assert ends[-1] == len(decoded.seats.guid)
        # What hangs on a seat has gone with it.
        here = {seat.guid: seat for seat in plan_of_document(document).seats()}
        assert all(here[seat.guid] == seat for seat in plan.seats())


def test_a_plan_that_only_grows_at_its_end_is_stored_as_it_came() -> None:
    body = encode_body(plan_of(guids(1, 2), guids(3, 4, 5)))
    before = document_of_body(encode_body(plan_of(guids(1, 2), guids(3, 4))), PLAN_ID, 1)
    assert number_as_before(body, before) is body


def test_a_row_in_parts_has_its_label_at_its_outer_ends_and_keeps_its_text() -> None:
    document = versions(plan_of(guids(1, 2, 3)), plan_of(guids(1, 9, 2, 3)))[1]
    rows = msgspec.json.decode(document, type=wire.Plan).rows
    assert [(row.label, row.first_seat, row.seat_count, row.label_position) for row in rows] == [
        ("R0", 0, 1, "start"), ("R0", 1, 2, "end"), ("R0", 3, 1, ""),
    ]  # fmt: skip
    (section,) = plan_of_document(document).sections
    assert [row.row_text for row in section.rows] == ["row 0"] * 3


def test_what_is_gone_stands_in_a_nameless_section_in_the_corner_and_comes_back_as_it_was() -> None:
    first, second, third = versions(plan_of(guids(1, 2, 3)), plan_of(guids(1, 3)), plan_of(guids(1, 2, 3)))
    decoded = msgspec.json.decode(second, type=wire.Plan)
    assert (decoded.seats.guid[1], decoded.seats.flags[1], decoded.seats.number[1]) == ("g2", 8, "")
    assert (decoded.seats.x[1], decoded.seats.y[1]) == (900.0, 700.0)
    assert [section.name for section in decoded.sections] == ["Stalls", ""]
    assert [section.key for section in plan_of_document(second).sections] == ["S", ""]
    assert msgspec.json.decode(third, type=wire.Plan).seats == msgspec.json.decode(first, type=wire.Plan).seats


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (("Rear", "Front"), ["Front", "Rear"]),
        (("Box", "Rear"), ["Front", "Rear", "Box"]),
        (("Front", "Rear", "Box"), ["Front", "Rear", "Box"]),
    ],
)
def test_a_category_keeps_its_number_by_name(after: tuple[str, ...], expected: list[str]) -> None:
    before = plan_of(guids(1, 2), categories=("Front", "Rear"), category=1)
    document = versions(before, plan_of(guids(1, 2), categories=after, category=after.index("Rear")))[1]
    decoded = msgspec.json.decode(document, type=wire.Plan)
    assert [category.name for category in decoded.categories] == expected
    assert [category.category_no for category in decoded.categories] == list(range(len(expected)))
    assert decoded.seats.category_no == (1, 1)
