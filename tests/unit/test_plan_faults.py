"""Live validation: each thing that can be wrong in a draft, and that a right one has nothing (I3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.core import plan_edits as edits
from app.core.plan_draft import NO_CATEGORY, DraftShape, PlanDraft, Selection
from app.core.plan_faults import FaultCode, faults_of, may_be_saved
from app.core.plan_geometry import RowLine
from tests.unit.test_plan_draft import small_hall


def codes(draft: PlanDraft) -> list[FaultCode]:
    return [fault.code for fault in faults_of(draft)]


def row_ids(draft: PlanDraft) -> list[int]:
    return [row.row_id for row in draft.rows]


def test_a_right_plan_has_no_faults() -> None:
    assert faults_of(small_hall()) == ()


Spoil = Callable[[PlanDraft], PlanDraft]
SPOILED: list[tuple[FaultCode, Spoil]] = [
    (FaultCode.PLAN_UNNAMED, lambda d: edits.rename_plan(d, " ")),
    (FaultCode.SECTION_UNNAMED, lambda d: edits.rename_section(d, 2, "")),
    (FaultCode.SECTION_EMPTY, lambda d: edits.add_section(d, "Gallery")),
    (FaultCode.ROW_UNNAMED, lambda d: edits.rename_row(d, row_ids(d)[0], "")),
    (FaultCode.ROW_EMPTY, lambda d: replace(d, rows=(replace(d.rows[0], seats=()), *d.rows[1:]))),
    (FaultCode.ROW_REPEATS, lambda d: edits.rename_row(d, row_ids(d)[1], "A")),
    (FaultCode.ROW_LOOKS_ALIKE, lambda d: edits.rename_row(d, row_ids(d)[1], "А")),  # a Cyrillic one
    (FaultCode.SEAT_UNNUMBERED, lambda d: edits.number_seat(d, "seat-3", " ")),
    (FaultCode.SEAT_REPEATS, lambda d: edits.number_seat(d, "seat-3", "2")),
    (FaultCode.SEATS_COINCIDE, lambda d: edits.move(d, Selection(seats=frozenset({"seat-3"})), 20, 0)),
    (FaultCode.SEATS_OVERLAP, lambda d: edits.move(d, Selection(seats=frozenset({"seat-3"})), 8, 0)),
    (FaultCode.NO_CATEGORY, lambda d: edits.set_category(d, Selection(seats=frozenset({"seat-3"})), NO_CATEGORY)),
    (FaultCode.CATEGORY_UNNAMED, lambda d: edits.change_category(d, 1, "", "#2f6fab")),
    (FaultCode.CATEGORY_REPEATS, lambda d: edits.add_category(d, "Stalls", "#000000")),
    (FaultCode.CATEGORY_UNUSED, lambda d: edits.add_category(d, "Balcony", "#000000")),
    (FaultCode.SEATS_OUTSIDE, lambda d: edits.resize_hall(d, 150, 300)),
    (FaultCode.SHAPE_OUTSIDE, lambda d: edits.add_shape(d, DraftShape(0, "circle", 5, 50, 20, 20))),
    (FaultCode.SHAPE_WITHOUT_TEXT, lambda d: edits.add_shape(d, DraftShape(0, "text", 50, 50))),
]


@pytest.mark.parametrize(("code", "spoil"), SPOILED, ids=[code.value for code, _spoil in SPOILED])
def test_each_fault_is_found(code: FaultCode, spoil: Spoil) -> None:
    found = codes(spoil(small_hall()))
    assert code in found
    assert set(found) <= {code, FaultCode.SEATS_OVERLAP, FaultCode.SHAPE_OUTSIDE} | {code}


def test_a_plan_without_seats_is_named_so() -> None:
    assert FaultCode.NO_SEATS in codes(PlanDraft("Empty", 100, 100))


def test_two_sections_of_one_name_are_a_warning() -> None:
    draft = edits.add_section(small_hall(), "Parterre")
    draft = edits.move_to_section(draft, row_ids(draft)[:1], draft.sections[-1].section_id)
    assert codes(draft) == [FaultCode.SECTION_REPEATS]
    assert may_be_saved(faults_of(draft))


def test_faults_come_before_warnings_and_forbid_saving() -> None:
    draft = edits.number_seat(edits.add_category(small_hall(), "Balcony", "#000000"), "seat-3", "")
    faults = faults_of(draft)
    assert [fault.is_warning for fault in faults] == [False, True]
    assert not may_be_saved(faults)


def test_seats_of_two_floors_may_stand_over_each_other() -> None:
    draft = edits.add_section(small_hall(rows=1), "Circle")
    upstairs = replace(draft.sections[1], floor_no=1)
    draft = replace(draft, sections=(draft.sections[0], upstairs), floors=("Stalls", "Circle"))
    draft, _chosen = edits.duplicate(draft, Selection(frozenset(row_ids(draft))), 0, 0, lambda: str(id(object())))
    assert FaultCode.SEATS_COINCIDE in codes(draft)
    draft = edits.move_to_section(draft, [draft.rows[1].row_id], upstairs.section_id)
    assert FaultCode.SEATS_COINCIDE not in codes(draft)


def test_where_a_fault_is_names_the_seats_to_look_at() -> None:
    draft = edits.number_seat(small_hall(), "seat-3", "2")
    (fault,) = faults_of(draft)
    assert fault.where == Selection(seats=frozenset({"seat-2", "seat-3"}))
    assert fault.name == "A 2"
    assert fault.section == "Parterre"


def test_bent_rows_keep_their_distance() -> None:
    draft = edits.reshape_row(small_hall(rows=1), 3, RowLine((60, 100), (160, 100), 50))
    assert FaultCode.SEATS_OVERLAP not in codes(draft)
