"""Tables, floors, standing places and aisles of a draft, each edit by itself (R13)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from app.core import plan_edits as edits
from app.core.errors import PictureRefusedError
from app.core.plan_areas import MAX_PICTURES, add_picture, add_standing, reformed, resized
from app.core.plan_draft import EVERY_FLOOR, DraftShape, DraftTable, PlanDraft, Selection
from app.core.plan_file import plan_body, read_plan, write_plan
from app.core.plan_floors import (
    add_floor,
    floor_of,
    may_remove_floor,
    move_floor,
    move_section_to_floor,
    move_to_floor,
    put_on_every_floor,
    remove_floor,
    things_on,
)
from app.core.plan_geometry import RowLine
from app.core.plan_memo import Memo
from app.core.plan_neighbours import aisles_of, close_aisles, open_aisle, order_along, parts_of
from app.core.plan_numbering import Numbering
from app.core.plan_place_faults import seats_together, seats_too_near
from app.core.plan_pointers import selection_at
from app.core.plan_restore import restored
from app.core.plan_tables import BOOTH, CIRCLE, RECTANGLE, TABLE, add_table, change_table, places_round, set_table_seats
from tests.unit.test_plan_draft import small_hall

PNG = b"\x89PNG\r\n\x1a\n" + bytes(30)


def guids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"new-{next(numbers)}"


def with_table(kind: str = TABLE, shape: str = CIRCLE, seats: int = 6) -> PlanDraft:
    hall = edits.resize_hall(small_hall(), 600, 600)
    table = DraftTable(kind, shape, 300, 400, 80, 60)
    return add_table(hall, hall.sections[0].section_id, table, seats, hall.categories[0].category_id, guids())


@pytest.mark.parametrize("shape", [CIRCLE, RECTANGLE])
@pytest.mark.parametrize("seats", [1, 2, 5, 12])
def test_seats_go_round_a_table_clear_of_its_edge(shape: str, seats: int) -> None:
    table = DraftTable(TABLE, shape, 300, 400, 80, 60, rotation=30)
    places = places_round(table, seats, 20.0)
    assert len(set(places)) == seats
    turn = math.radians(-30)
    for x, y in places:
        dx, dy = x - 300, y - 400
        across = dx * math.cos(turn) - dy * math.sin(turn)
        along = dx * math.sin(turn) + dy * math.cos(turn)
        if shape == RECTANGLE:
            outside = max(abs(across) - 40, abs(along) - 30)
            assert outside == pytest.approx(15, abs=0.01)
        else:
            assert math.hypot(across / 55, along / 45) == pytest.approx(1, abs=0.001)


def test_a_table_keeps_who_sits_there_when_it_changes() -> None:
    draft = with_table()
    row = draft.rows[-1]
    assert row.table is not None
    assert row.label == "T1"
    fewer = set_table_seats(draft, row.row_id, 4, guids())
    assert [seat.guid for seat in fewer.rows[-1].seats] == [seat.guid for seat in row.seats[:4]]
    more = set_table_seats(fewer, row.row_id, 6, guids())
    assert [seat.number for seat in more.rows[-1].seats] == ["1", "2", "3", "4", "5", "6"]
    booth = change_table(draft, row.row_id, replace(row.table, kind=BOOTH), guids())
    assert [(seat.guid, seat.place) for seat in booth.rows[-1].seats] == [(row.seats[0].guid, (300.0, 400.0))]
    assert set_table_seats(booth, row.row_id, 9, guids()) == booth
    assert change_table(draft, row.row_id, replace(row.table, width=0.0), guids()) == draft


def test_rows_edits_leave_tables_round() -> None:
    draft = with_table()
    row = draft.rows[-1]
    assert edits.bend_rows(draft, (row.row_id,), 40.0) == draft
    assert edits.reshape_row(draft, row.row_id, RowLine((0, 0), (100, 0))) == draft
    pushed = edits.move(draft, Selection(seats=frozenset({row.seats[2].guid})), 7, 3)
    assert edits.space_evenly(pushed, (row.row_id,)) == draft
    turned = edits.turn(draft, Selection(frozenset({row.row_id})), 90)
    assert turned.rows[-1].table is not None
    assert turned.rows[-1].table.rotation == 90
    assert edits.set_seat_count(draft, row.row_id, 8, guids()).rows[-1].seats[7].number == "8"


def test_numbers_that_were_given_by_hand_stay_when_seats_are_added() -> None:
    hall = small_hall()
    row = hall.rows[0]
    renamed = edits.number_seat(edits.number_seat(hall, row.seats[0].guid, "1a"), row.seats[1].guid, "7")
    before = [seat.number for seat in renamed.rows[0].seats]
    grown = edits.set_seat_count(renamed, row.row_id, len(row.seats) + 2, guids()).rows[0]
    assert [seat.number for seat in grown.seats[:-2]] == before
    assert len({seat.number for seat in grown.seats}) == len(grown.seats)


# ---------------------------------------------------------------- floors


def two_floors() -> PlanDraft:
    """Two sections on the first floor, a stage and standing places; a second floor above."""
    hall = edits.add_section(small_hall(), "Balcony")
    balcony, category = hall.sections[-1].section_id, hall.categories[0].category_id
    lines = [RowLine((100, 300), (200, 300)), RowLine((100, 330), (200, 330))]
    hall = edits.add_rows(hall, balcony, lines, (5, 5), ("A", "B"), category, Numbering(), guids())
    hall = edits.add_shape(hall, DraftShape(0, "rectangle", 10, 10, 50, 20, text="Stage"))
    hall = add_standing(hall, "Pit", 20, category, DraftShape(0, "rectangle", 10, 60, 50, 20))
    return add_floor(hall, "Ground", "Upper")


def test_the_only_level_gets_a_name_with_the_first_floor_and_loses_it_with_the_last() -> None:
    draft = two_floors()
    assert draft.floors == ("Ground", "Upper")
    assert not may_remove_floor(draft, 0)
    assert remove_floor(draft, 1).floors == ()
    balcony = draft.sections[-1].section_id
    upstairs = move_section_to_floor(draft, balcony, 1)
    assert remove_floor(upstairs, 1) == upstairs  # not empty


def test_things_move_between_floors() -> None:
    draft = two_floors()
    balcony = draft.sections[-1]
    own = [row.row_id for row in draft.rows_of(balcony.section_id)]
    whole = move_to_floor(draft, Selection(frozenset(own)), 1)
    assert whole.sections[-1] == replace(balcony, floor_no=1)
    part = move_to_floor(draft, Selection(frozenset(own[:1])), 1)
    assert [(one.name, one.floor_no) for one in part.sections[-2:]] == [("Balcony", 0), ("Balcony Upper", 1)]
    again = move_to_floor(part, Selection(frozenset(own[1:])), 1)
    assert next(one.name for one in again.sections if one.floor_no == 1) == "Balcony"  # it went as a whole
    things = Selection(shapes=frozenset({draft.shapes[0].shape_id, draft.standing[0].area.shape_id}))
    moved = move_to_floor(draft, things, 1)
    assert (moved.shapes[0].floor_no, moved.standing[0].area.floor_no) == (1, 1)
    assert floor_of(moved, things) == 1
    assert move_to_floor(draft, things, 5) == draft


def test_what_is_on_every_floor_shows_on_each_and_keeps_none_from_going() -> None:
    draft = two_floors()
    lift = Selection(shapes=frozenset({draft.shapes[0].shape_id}))
    everywhere = put_on_every_floor(draft, lift)
    assert everywhere.shapes[0].floor_no == EVERY_FLOOR
    assert all(lift.shapes <= things_on(everywhere, floor_no).shapes for floor_no in (0, 1))
    assert floor_of(everywhere, lift) is None
    assert may_remove_floor(everywhere, 1)
    assert move_floor(everywhere, 0, 1).shapes[0].floor_no == EVERY_FLOOR
    assert plan_body(read_plan(write_plan(everywhere), guids())) == plan_body(everywhere)
    assert move_to_floor(everywhere, lift, 1).shapes[0].floor_no == 1
    assert put_on_every_floor(small_hall(), lift) == small_hall()


def test_floors_change_places_with_all_that_is_on_them() -> None:
    draft = move_section_to_floor(two_floors(), two_floors().sections[-1].section_id, 1)
    turned = move_floor(draft, 0, 1)
    assert turned.floors == ("Upper", "Ground")
    assert [one.floor_no for one in turned.sections] == [1 - one.floor_no for one in draft.sections]
    assert turned.shapes[0].floor_no == 1
    assert move_floor(turned, 1, -1) == draft
    assert move_floor(draft, 1, 1) == draft


# ---------------------------------------------------------------- shapes and pictures


def test_a_shape_changes_its_form_within_its_box() -> None:
    box = DraftShape(3, "rectangle", 100, 50, 80, 40)
    oval = reformed(box, "ellipse")
    assert (oval.shape, oval.x, oval.y, oval.width) == ("ellipse", 140, 70, 80)
    assert reformed(oval, "rectangle") == box
    assert reformed(box, "circle").width == 40
    assert reformed(DraftShape(3, "text", 1, 2), "circle").shape == "text"
    assert resized(oval, 40, 40).x == 120


@pytest.mark.parametrize("data", [b"GIF89a", b"", PNG + bytes(4 * 1024 * 1024)])
def test_no_other_pictures_are_taken(data: bytes) -> None:
    with pytest.raises(PictureRefusedError):
        add_picture(small_hall(), data, 10, 10, 0)


def test_a_picture_fits_into_the_hall_and_there_are_so_many_at_most() -> None:
    draft = edits.resize_hall(small_hall(), 400, 200)
    for _number in range(MAX_PICTURES):
        draft = add_picture(draft, PNG, 100, 100, 0)
    assert (draft.pictures[0].x, draft.pictures[0].width, draft.pictures[0].height) == (100, 200, 200)
    with pytest.raises(PictureRefusedError):
        add_picture(draft, PNG, 100, 100, 0)


# ---------------------------------------------------------------- neighbours


def test_an_aisle_divides_a_row_until_it_is_closed() -> None:
    hall = small_hall()
    row = hall.rows[0]
    opened = open_aisle(hall, row.seats[2].guid)
    assert aisles_of(opened) == {row.row_id: (2,)}
    assert parts_of(row, (2,)) == (2, len(row.seats) - 2)
    assert close_aisles(opened, (row.row_id,)) == hall
    assert open_aisle(hall, row.seats[0].guid) == hall
    assert aisles_of(hall) == {}


def test_seats_are_ordered_as_they_stand_from_the_end_where_the_row_begins() -> None:
    hall = small_hall()
    row = hall.rows[0]
    mixed = (row.seats[0], row.seats[2], row.seats[1], *row.seats[3:])
    draft = replace(hall, rows=(replace(row, seats=mixed), *hall.rows[1:]))
    assert order_along(draft, (row.row_id,)) == hall
    backwards = replace(hall, rows=(replace(row, seats=row.seats[::-1]), *hall.rows[1:]))
    assert order_along(backwards, (row.row_id,)) == backwards


# ---------------------------------------------------------------- seats that are gone


def test_lost_seats_come_back_where_they_were() -> None:
    hall = small_hall()
    row = hall.rows[0]
    gone = {row.seats[1].guid, row.seats[2].guid}
    draft = edits.remove(hall, Selection(seats=frozenset(gone)))
    draft = edits.rename_row(draft, row.row_id, "Z")
    back = restored(draft, hall, gone)
    assert back.rows[0] == replace(row, label="Z")  # found by those who are still there
    bare = edits.remove(hall, Selection(frozenset({row.row_id})))
    again = restored(bare, hall, {seat.guid for seat in row.seats})
    assert again.rows[-1].seats == row.seats
    assert again.rows[-1].label == row.label
    empty = edits.remove_section(hall, hall.sections[0].section_id)
    whole = restored(empty, hall, {seat.guid for one in hall.rows for seat in one.seats})
    assert [(one.label, one.seats) for one in whole.rows] == [(one.label, one.seats) for one in hall.rows]
    assert [one.name for one in whole.sections] == [one.name for one in hall.sections]


def test_pointers_lead_to_what_was_written_there() -> None:
    draft = two_floors()
    row = draft.rows_of(draft.sections[1].section_id)[1]
    assert selection_at(draft, "/plan/sections/1/rows/1/seats/3/number") == Selection(
        seats=frozenset({row.seats[3].guid})
    )
    assert selection_at(draft, "/plan/sections/1/rows/1") == Selection(frozenset({row.row_id}))
    assert selection_at(draft, "/plan/areas/0/text") == Selection(shapes=frozenset({draft.shapes[0].shape_id}))
    assert selection_at(draft, "/plan/standing/0") == Selection(shapes=frozenset({draft.standing[0].area.shape_id}))
    for nowhere in ("", "/plan", "/plan/name", "/plan/sections/9", "/plan/pictures/0", "/plan/sections/x/rows/0"):
        assert not selection_at(draft, nowhere)


# ---------------------------------------------------------------- over all seats


@pytest.mark.parametrize("seed", range(6))
def test_seats_that_are_too_near_are_those_that_each_pair_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    at = np.round(random.uniform(-50, 150, (300, 2)), 1)
    at[7] = at[11]
    reach = float(random.uniform(2, 12))
    apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    assert (seats_too_near(at, reach) == (apart < reach).any(axis=1)).all()
    assert (seats_together(at) == (np.round(apart, 3) == 0).any(axis=1)).all()


def test_a_heap_of_seats_is_said_in_a_moment() -> None:
    at = np.random.default_rng(1).uniform(0, 1, (30_000, 2))
    assert seats_too_near(at, 5.0).all()


def test_only_rows_that_are_new_are_looked_at() -> None:
    looked: list[int] = []

    def find_out(thing: tuple[int]) -> int:
        looked.append(thing[0])
        return thing[0] * 2

    things = [(number,) for number in range(5)]
    memo: Memo[tuple[int], int] = Memo()
    assert memo.of(things, find_out) == [0, 2, 4, 6, 8]
    things[3] = (30,)
    assert memo.of(things, find_out) == [0, 2, 4, 60, 8]
    assert looked == [0, 1, 2, 3, 4, 30]
    memo.of(things, find_out, "another context")
    assert looked[6:] == [0, 1, 2, 30, 4]
