"""Drawing a plan: every edit, the way back and forth, the line of a row, and the file of our format (R13)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import plan_edits as edits
from app.core.errors import PlanFileError
from app.core.plan_draft import (
    NO_CATEGORY,
    NOTHING,
    DraftShape,
    DraftStanding,
    DraftTable,
    History,
    PlanDraft,
    SeatMark,
    Selection,
    Step,
)
from app.core.plan_file import read_plan, write_plan
from app.core.plan_geometry import RowLine, even_fractions, fractions_of, line_of
from app.core.plan_numbering import Counting, Numbering


def guids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"seat-{next(numbers)}"


def small_hall(rows: int = 3, seats: int = 6) -> PlanDraft:
    """A section of straight rows, one category, a stage."""
    draft = edits.add_category(PlanDraft("Small hall", 400, 300), "Stalls", "#2f6fab")
    draft = edits.add_section(draft, "Parterre")
    lines = [RowLine((60.0, 100.0 + 30 * number), (160.0, 100.0 + 30 * number)) for number in range(rows)]
    labels = Numbering(Counting.LETTERS).labels(rows)
    draft = edits.add_rows(draft, draft.sections[0].section_id, lines, [seats] * rows, labels, 1, Numbering(), guids())
    return edits.add_shape(draft, DraftShape(0, "rectangle", 60, 20, 100, 40, text="Stage"))


def all_of(draft: PlanDraft) -> Selection:
    return Selection(frozenset(row.row_id for row in draft.rows), shapes=frozenset(s.shape_id for s in draft.shapes))


# ---------------------------------------------------------------- rows and their lines


def test_rows_stand_at_equal_distances_and_are_numbered() -> None:
    draft = small_hall()
    first = draft.rows[0]
    assert [seat.number for seat in first.seats] == ["1", "2", "3", "4", "5", "6"]
    assert list(first.places) == [(60.0 + 20 * number, 100.0) for number in range(6)]
    assert [row.label for row in draft.rows] == ["A", "B", "C"]
    assert len({seat.guid for row in draft.rows for seat in row.seats}) == 18


@given(
    st.floats(-200, 200), st.floats(-200, 200), st.floats(20, 400), st.floats(0, 6.28), st.floats(-0.5, 0.5),
    st.integers(3, 40),
)  # fmt: skip
def test_a_bent_row_is_known_again_by_its_seats(
    x: float, y: float, chord: float, angle: float, share: float, seats: int
) -> None:
    line = RowLine((x, y), (x + chord * math.cos(angle), y + chord * math.sin(angle)), share * chord)
    places = line.points(even_fractions(seats))
    assert math.dist(places[0], line.start) < 0.01
    assert math.dist(places[-1], line.end) < 0.01
    steps = [math.dist(one, other) for one, other in pairwise(places)]
    assert max(steps) - min(steps) < 0.01
    found = line_of(places)
    assert abs(found.bend - line.bend) < 0.05 + abs(line.bend) * 0.02
    again = found.points(fractions_of(places))
    assert max(math.dist(one, other) for one, other in zip(places, again, strict=True)) < 0.1


def test_a_row_bends_down_for_a_bend_above_nought() -> None:
    assert RowLine((0, 0), (100, 0), 20).middle == (50, 20)
    assert RowLine((0, 0), (100, 0), -20).middle == (50, -20)
    assert RowLine((0, 0), (100, 0), 500).middle == (50, 50)  # half a circle at most


def test_an_aisle_inside_a_row_stays_when_the_row_is_drawn_longer() -> None:
    draft = small_hall(rows=1)
    row = draft.rows[0]
    right = Selection(seats=frozenset(seat.guid for seat in row.seats[3:]))
    draft = edits.move(draft, right, 40, 0)
    longer = edits.reshape_row(draft, row.row_id, RowLine((60, 100), (340, 100)))
    xs = [x for x, _y in longer.rows[0].places]
    assert xs == [60, 100, 140, 260, 300, 340]
    assert [x for x, _y in edits.space_evenly(longer, [row.row_id]).rows[0].places] == [60, 116, 172, 228, 284, 340]


def test_more_seats_go_on_along_the_arc_and_keep_the_numbering() -> None:
    draft = edits.bend_rows(small_hall(rows=1), [4 - 1], 12)
    row_id = draft.rows[0].row_id
    draft = edits.number_rows(draft, [row_id], Numbering(Counting.ODD, backwards=True))
    before = draft.rows[0]
    draft = edits.bend_rows(draft, [row_id], 15)
    longer = edits.set_seat_count(draft, row_id, 9, guids()).rows[0]
    assert [seat.guid for seat in longer.seats[:6]] == [seat.guid for seat in before.seats]
    assert [seat.number for seat in longer.seats] == ["17", "15", "13", "11", "9", "7", "5", "3", "1"]
    steps = [math.dist(one, other) for one, other in pairwise(longer.places)]
    assert max(steps) - min(steps) < 0.1
    assert longer.line is not None
    assert longer.line.bend > 20
    shorter = edits.set_seat_count(draft, row_id, 2, guids()).rows[0]
    assert [seat.number for seat in shorter.seats] == ["3", "1"]


def test_rows_are_named_in_order_with_letters_left_out() -> None:
    draft = small_hall(rows=4)
    ids = [row.row_id for row in draft.rows]
    scheme = Numbering(Counting.LETTERS, start=7, skipped="IO")
    assert [row.label for row in edits.label_rows(draft, ids, scheme).rows] == ["G", "H", "J", "K"]
    assert edits.rename_row(draft, ids[1], "Box").rows[1].label == "Box"


# ---------------------------------------------------------------- categories, sections, marks


def test_seats_of_a_removed_category_have_none() -> None:
    draft = edits.remove_category(small_hall(), 1)
    assert draft.categories == ()
    assert {seat.category_id for row in draft.rows for seat in row.seats} == {NO_CATEGORY}


def test_a_category_of_standing_places_stays() -> None:
    area = DraftStanding("Pit", 80, 1, DraftShape(90, "rectangle", 10, 10, 50, 50))
    draft = replace(small_hall(), standing=(area,))
    assert edits.remove_category(draft, 1) == draft


def test_chosen_seats_get_category_and_marks_and_others_do_not() -> None:
    draft = edits.add_category(small_hall(), "Balcony", "#aa3377")
    second = draft.categories[-1].category_id
    chosen = Selection(frozenset({draft.rows[0].row_id}), frozenset({draft.rows[1].seats[2].guid}))
    draft = edits.set_category(draft, chosen, second)
    draft = edits.set_mark(draft, chosen, SeatMark.ACCESSIBLE, on=True)
    changed = [seat for row in draft.rows for seat in row.seats if seat.category_id == second]
    assert len(changed) == 7
    assert all(seat.marks == SeatMark.ACCESSIBLE for seat in changed)
    bare = edits.set_mark(draft, chosen, SeatMark.ACCESSIBLE, on=False)
    assert not any(seat.marks for row in bare.rows for seat in row.seats)


def test_a_removed_section_takes_its_rows_along() -> None:
    draft = edits.add_section(small_hall(), "Balcony")
    first, second = (section.section_id for section in draft.sections)
    draft = edits.move_to_section(draft, [draft.rows[0].row_id], second)
    draft = edits.rename_section(draft, second, "Gallery")
    assert [section.name for section in draft.sections] == ["Parterre", "Gallery"]
    left = edits.remove_section(draft, first)
    assert [row.label for row in left.rows] == ["A"]
    assert edits.move_to_section(draft, [draft.rows[0].row_id], 999) == draft


# ---------------------------------------------------------------- what is chosen


def test_a_table_moves_and_turns_with_its_seats() -> None:
    draft = small_hall(rows=1)
    row = replace(draft.rows[0], table=DraftTable("table", "rectangle", 110, 100, 20, 10))
    draft = replace(draft, rows=(row,))
    moved = edits.move(draft, Selection(frozenset({row.row_id})), 5, 7)
    assert moved.rows[0].table == DraftTable("table", "rectangle", 115, 107, 20, 10)
    turned = edits.turn(moved, Selection(frozenset({row.row_id})), 90)
    assert turned.rows[0].table == DraftTable("table", "rectangle", 115, 107, 20, 10, 90)
    assert turned.rows[0].places[0] == (115, 57)


def test_a_row_that_loses_its_last_seat_goes_with_it() -> None:
    draft = small_hall()
    chosen = Selection(frozenset({draft.rows[0].row_id}), frozenset(seat.guid for seat in draft.rows[1].seats))
    left = edits.remove(draft, chosen)
    assert [row.label for row in left.rows] == ["C"]
    assert edits.remove(draft, Selection(shapes=frozenset({draft.shapes[0].shape_id}))).shapes == ()


def test_a_copy_has_seats_of_its_own_and_is_chosen() -> None:
    draft = small_hall()
    numbers = count(100)
    copied, chosen = edits.duplicate(draft, all_of(draft), 0, 150, lambda: f"copy-{next(numbers)}")
    assert len(copied.rows) == 6
    assert len({seat.guid for row in copied.rows for seat in row.seats}) == 36
    assert len(chosen.rows) == 3
    assert len(chosen.shapes) == 1
    assert {seat.y for seat in chosen.seats_in(copied)} == {250, 280, 310}


def test_what_is_not_there_changes_nothing() -> None:
    draft = small_hall()
    nowhere = Selection(frozenset({999}), frozenset({"nobody"}), frozenset({998}))
    for after in (
        edits.move(draft, nowhere, 5, 5), edits.turn(draft, nowhere, 45), edits.remove(draft, nowhere),
        edits.set_category(draft, nowhere, 7), edits.number_rows(draft, [999], Numbering()),
        edits.reshape_row(draft, 999, RowLine((0, 0), (1, 1))), edits.set_seat_count(draft, 999, 5, guids()),
        edits.change_shape(draft, DraftShape(998, "text", 0, 0)), edits.resize_hall(draft, 0, 100),
        edits.rename_section(draft, 999, "x"), edits.change_category(draft, 999, "x", "#000000"),
    ):  # fmt: skip
        assert after == draft
    assert nowhere.within(draft) == NOTHING


# ---------------------------------------------------------------- back and forth

Edit = Callable[[PlanDraft, Selection], PlanDraft]
EDITS: list[Edit] = [
    lambda draft, _chosen: edits.rename_plan(draft, draft.name + "'"),
    lambda draft, _chosen: edits.resize_hall(draft, draft.width + 1, draft.height),
    lambda draft, _chosen: edits.put_focal(draft, (draft.width, 0.0)),
    lambda draft, _chosen: edits.add_category(draft, "New", "#123456"),
    lambda draft, _chosen: edits.change_category(draft, 1, "Other", "#654321"),
    lambda draft, _chosen: edits.remove_category(draft, 1),
    lambda draft, _chosen: edits.add_section(draft, "New"),
    lambda draft, _chosen: edits.rename_section(draft, 2, "Other"),
    lambda draft, _chosen: edits.remove_section(draft, 2),
    lambda draft, chosen: (
        edits.move_to_section(draft, chosen.rows, draft.sections[-1].section_id) if draft.sections else draft
    ),
    lambda draft, chosen: edits.bend_rows(draft, chosen.rows, 9),
    lambda draft, chosen: edits.space_evenly(draft, chosen.rows),
    lambda draft, chosen: edits.number_rows(draft, chosen.rows, Numbering(Counting.FROM_MIDDLE)),
    lambda draft, chosen: edits.label_rows(draft, chosen.rows, Numbering(Counting.LETTERS, 3)),
    lambda draft, chosen: edits.set_category(draft, chosen, NO_CATEGORY),
    lambda draft, chosen: edits.set_mark(draft, chosen, SeatMark.COMPANION, on=True),
    lambda draft, chosen: edits.move(draft, chosen, 3, -2),
    lambda draft, chosen: edits.turn(draft, chosen, 30),
    lambda draft, chosen: edits.remove(draft, Selection(shapes=chosen.shapes)),
    lambda draft, chosen: edits.duplicate(draft, chosen, 4, 4, guids())[0],
]


@given(st.lists(st.tuples(st.integers(0, len(EDITS) - 1), st.sets(st.integers(0, 8))), min_size=1, max_size=25))
def test_going_back_gives_what_was_and_forth_what_came(plan: list[tuple[int, set[int]]]) -> None:
    history = History(Step(small_hall()))
    seen = [history.present.draft]
    for number, picked in plan:
        draft = history.present.draft
        ids = frozenset(row.row_id for place, row in enumerate(draft.rows) if place in picked)
        chosen = Selection(ids, shapes=frozenset(shape.shape_id for shape in draft.shapes[:1]))
        history = history.do(EDITS[number](draft, chosen), chosen)
        if history.present.draft != seen[-1]:
            seen.append(history.present.draft)
    for before in reversed(seen[:-1]):
        history = history.undo()
        assert history.present.draft == before
    assert not history.can_undo
    assert history.undo() is history
    for after in seen[1:]:
        history = history.redo()
        assert history.present.draft == after
    assert not history.can_redo
    assert history.redo() is history


def test_typing_into_one_field_is_one_step() -> None:
    history = History(Step(small_hall()))
    for name in ("N", "Ne", "New"):
        history = history.do(edits.rename_plan(history.present.draft, name), NOTHING, merge="name")
    assert history.present.draft.name == "New"
    assert history.undo().present.draft.name == "Small hall"


def test_a_new_edit_ends_the_way_forth() -> None:
    history = History(Step(small_hall()))
    history = history.do(edits.rename_plan(history.present.draft, "One"), NOTHING).undo()
    assert history.can_redo
    assert not history.do(edits.rename_plan(history.present.draft, "Two"), NOTHING).can_redo


# ---------------------------------------------------------------- files


def test_a_file_gives_the_same_plan_again() -> None:
    draft = edits.put_focal(edits.bend_rows(small_hall(), [3, 4], 8), (110, 20))
    draft = edits.set_mark(draft, all_of(draft), SeatMark.ACCESSIBLE | SeatMark.RESTRICTED_VIEW, on=True)
    draft = edits.add_shape(draft, DraftShape(0, "text", 30, 30, text="Bar", text_size=12, text_color="#112233"))
    draft = edits.add_shape(draft, DraftShape(0, "circle", 300, 200, 40, 40, color="#445566"))
    draft = edits.add_shape(draft, DraftShape(0, "ellipse", 300, 200, 40, 20, rotation=15.0))
    draft = edits.add_shape(draft, DraftShape(0, "polygon", 5, 5, points=((5, 5), (25, 5), (15, 20))))
    standing = DraftStanding("Pit", 80, 1, DraftShape(0, "rectangle", 10, 10, 50, 50))
    table = DraftTable("table", "circle", 50, 50, 20, 20)
    draft = replace(
        draft,
        standing=(standing,),
        floors=("Stalls", "Circle"),
        rows=(replace(draft.rows[0], table=table), *draft.rows[1:]),
    )
    again = read_plan(write_plan(draft), guids())
    assert json.loads(write_plan(again)) == json.loads(write_plan(draft))
    assert [seat for row in again.rows for seat in row.seats] == [seat for row in draft.rows for seat in row.seats]
    assert again.focal == draft.focal
    assert again.rows[0].table == table
    assert len({row.row_id for row in again.rows} | {shape.shape_id for shape in again.all_shapes}) == 3 + 6


def test_a_file_with_gaps_is_opened_and_shows_them() -> None:
    data = b"""{"taquilla_plan": 1, "sections": [{"rows": [{"label": 7, "seats": [
        {"x": 1, "y": 2, "number": 4}, {"x": 30, "y": 2, "id": "a"},
        {"x": 60, "y": 2, "id": "a", "category": "?"}]}]}]}"""
    draft = read_plan(data, guids())
    seats = draft.rows[0].seats
    assert draft.rows[0].label == "7"
    assert [seat.number for seat in seats] == ["4", "", ""]
    assert [seat.guid for seat in seats] == ["seat-1", "a", "seat-2"]
    assert {seat.category_id for seat in seats} == {NO_CATEGORY}
    assert (draft.width, draft.height) == (100, 42)


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b"\xff\xfe", b'{"taquilla_plan": 2}', b'{"taquilla_plan": 1, "sections": 5}', b"[" * 9999],
)
def test_what_is_no_plan_of_ours_is_refused(data: bytes) -> None:
    with pytest.raises(PlanFileError):
        read_plan(data, guids())
