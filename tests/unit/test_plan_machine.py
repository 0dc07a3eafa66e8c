"""Random edits of a draft, undone and redone: the way back is exact, ids stay unique, what may be saved is taken.

Each draft is judged by the booking system's own reader: where the console sees no fault, that must not see one either
(I3), and what both derive (who sits beside whom, where people look) must be the same.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from app.core import plan_edits as edits
from app.core.plan_areas import add_picture, add_standing, change_picture, change_standing, reformed, resized
from app.core.plan_draft import NOTHING, DraftShape, DraftTable, History, PlanDraft, SeatMark, Selection, Step
from app.core.plan_faults import FaultCode, faults_of, may_be_saved
from app.core.plan_file import plan_body, read_plan, write_plan
from app.core.plan_floors import (
    add_floor,
    floor_count,
    move_floor,
    move_section_to_floor,
    move_to_floor,
    put_on_every_floor,
    remove_floor,
    rename_floor,
    things_on,
)
from app.core.plan_focus import focus_of
from app.core.plan_geometry import RowLine
from app.core.plan_neighbours import aisles_of, close_aisles, open_aisle, order_along
from app.core.plan_numbering import Counting, Numbering
from app.core.plan_restore import restored
from app.core.plan_tables import add_table, change_table, set_table_seats
from app.core.plan_work import PlanOrigin, PlanWork, empty_plan
from booking.domain.seating_plan.columns import columns_of_plan, part_starts
from booking.domain.seating_plan.derived import focal_with_source
from booking.domain.seating_plan.formats import read_plan as read_any_plan
from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.seating_plan.options import ReadOptions

ODD_NAMES = ("A", "B", "А", "Stalls", "Stalls ", "", " ", "1", "x" * 201, "a\x07b", "Ⅳ", "IV")
NAMES = st.integers(0, 400).map(lambda number: f"N{number}" if number >= 60 else ODD_NAMES[number // 5])
"""Mostly names that nobody else has; one in seven is one that somebody should be warned of."""
PLACES = st.tuples(st.integers(-40, 900).map(float), st.integers(-40, 700).map(float))
SIZES = st.sampled_from([0.5, 1.0, 20.0, 55.5, 300.0])
PICKS = st.integers(0, 10_000)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)
SCHEMES = st.builds(
    Numbering, st.sampled_from(Counting), st.integers(0, 30), st.booleans(), st.sampled_from(["", "IO", "A"])
)


class DrawingMachine(RuleBasedStateMachine):
    """One draft under the hands of somebody who does anything."""

    def __init__(self) -> None:
        super().__init__()
        numbers = count(1)
        self.guid = lambda: f"seat-{next(numbers)}"
        self.history = History(Step(empty_plan()))

    @property
    def draft(self) -> PlanDraft:
        return self.history.present.draft

    @property
    def chosen(self) -> Selection:
        return self.history.present.selection

    def do(self, after: PlanDraft, selection: Selection | None = None, merge: str = "") -> None:
        """An edit, and at once its way back and forth."""
        before = self.history
        self.history = before.do(after, self.chosen if selection is None else selection, merge)
        if after == before.present.draft:
            assert self.history.past == before.past
            return
        assert self.history.present.draft == after
        if not merge:
            assert self.history.undo().present == before.present
            assert self.history.undo().redo().present == self.history.present

    def row_id(self, number: int) -> int:
        return self.draft.rows[number % len(self.draft.rows)].row_id if self.draft.rows else 0

    def section_id(self, number: int) -> int:
        return self.draft.sections[number % len(self.draft.sections)].section_id if self.draft.sections else 0

    def category_id(self, number: int) -> int:
        known = self.draft.categories
        return known[number % len(known)].category_id if known else 0

    def shape_id(self, number: int) -> int:
        known = self.draft.all_shapes
        return known[number % len(known)].shape_id if known else 0

    # ------------------------------------------------------------ rules

    @initialize()
    def begin(self) -> None:
        draft = edits.rename_plan(empty_plan(), "Hall")
        draft = edits.add_section(edits.add_category(draft, "Stalls", "#0f34b4"), "Parterre")
        line = RowLine((100.0, 400.0), (300.0, 400.0))
        self.do(edits.add_rows(draft, 2, (line,), (11,), ("A",), 1, Numbering(), self.guid))

    @rule(name=NAMES, color=st.sampled_from(["#112233", "", "red"]), which=PICKS)
    def categories(self, name: str, color: str, which: int) -> None:
        self.do(edits.add_category(self.draft, name, "#aabbcc"))
        self.do(edits.change_category(self.draft, self.category_id(which), name, color))

    @rule(which=PICKS)
    def remove_category(self, which: int) -> None:
        if len(self.draft.categories) > 1:
            self.do(edits.remove_category(self.draft, self.category_id(which)))

    @rule(name=NAMES, which=PICKS, floor=st.integers(0, 3))
    def sections(self, name: str, which: int, floor: int) -> None:
        self.do(edits.add_section(self.draft, name, floor if floor < floor_count(self.draft) else 0))
        self.do(edits.rename_section(self.draft, self.section_id(which), name), merge="name")

    @rule()
    def tidy(self) -> None:
        """What somebody does who puts right what the list names: empty sections go, seats get a category, twins go."""
        draft = edits.rename_plan(self.draft, "Hall")
        for section in draft.sections:
            if not draft.rows_of(section.section_id):
                draft = edits.remove_section(draft, section.section_id)
        if not draft.categories:
            draft = edits.add_category(draft, "Other", "#000000")
        known = draft.categories[0].category_id
        bare = [fault.where for fault in faults_of(draft) if fault.code is FaultCode.NO_CATEGORY]
        for where in bare:
            draft = edits.set_category(draft, where, known)
        for area in draft.standing:
            if draft.category(area.category_id) is None:
                draft = change_standing(draft, area.area.shape_id, category_id=known)
        for fault in faults_of(draft):
            if fault.code in {FaultCode.SEATS_COINCIDE, FaultCode.SEAT_REPEATS}:
                draft = edits.remove(draft, Selection(seats=frozenset(sorted(fault.where.seats)[1:])))
        self.do(draft)

    @rule(which=PICKS)
    def remove_section(self, which: int) -> None:
        if len(self.draft.sections) > 1:
            self.do(edits.remove_section(self.draft, self.section_id(which)))

    @rule(start=PLACES, end=PLACES, seats=st.integers(1, 9), label=NAMES, scheme=SCHEMES, which=PICKS)
    def rows(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        seats: int,
        label: str,
        scheme: Numbering,
        which: int,
    ) -> None:
        line = RowLine(start, end, 10.0)
        section, category = self.section_id(which), self.category_id(which)
        made = edits.add_rows(self.draft, section, (line,), (seats,), (label,), category, scheme, self.guid)
        self.do(made, Selection(frozenset({self.draft.next_id})))

    @rule(which=PICKS, count=st.integers(0, 12), bend=st.integers(-60, 60), start=PLACES, end=PLACES)
    def shape_row(
        self, which: int, count: int, bend: int, start: tuple[float, float], end: tuple[float, float]
    ) -> None:
        row = self.row_id(which)
        self.do(edits.set_seat_count(self.draft, row, count, self.guid))
        self.do(edits.reshape_row(self.draft, row, RowLine(start, end, float(bend))))
        self.do(edits.bend_rows(self.draft, (row,), float(bend)))
        self.do(edits.space_evenly(self.draft, (row,)))

    @rule(which=PICKS, label=NAMES, scheme=SCHEMES)
    def name_rows(self, which: int, label: str, scheme: Numbering) -> None:
        self.do(edits.rename_row(self.draft, self.row_id(which), label))
        self.do(edits.number_rows(self.draft, (self.row_id(which),), scheme))
        self.do(edits.label_rows(self.draft, [row.row_id for row in self.draft.rows[:3]], scheme))

    @rule(which=PICKS, place=PICKS)
    def neighbours(self, which: int, place: int) -> None:
        row = self.draft.row(self.row_id(which))
        if row is not None and row.seats:
            self.do(open_aisle(self.draft, row.seats[place % len(row.seats)].guid))
            self.do(order_along(self.draft, (row.row_id,)))

    @rule(which=PICKS)
    def close(self, which: int) -> None:
        self.do(close_aisles(self.draft, (self.row_id(which),)))

    @rule(
        at=PLACES,
        width=SIZES,
        height=SIZES,
        seats=st.integers(0, 70),
        which=PICKS,
        kind=st.sampled_from(["table", "booth"]),
        form=st.sampled_from(["circle", "rectangle"]),
    )
    def table(
        self, at: tuple[float, float], width: float, height: float, seats: int, which: int, kind: str, form: str
    ) -> None:
        table = DraftTable(kind, form, *at, max(width, 1.0), max(height, 1.0))
        key = self.draft.next_id
        made = add_table(self.draft, self.section_id(which), table, seats, self.category_id(which), self.guid)
        self.do(made, Selection(frozenset({key})))
        self.do(set_table_seats(self.draft, self.row_id(which), seats, self.guid))
        self.do(change_table(self.draft, self.row_id(which), table, self.guid))

    @rule(
        at=PLACES,
        width=SIZES,
        height=SIZES,
        text=NAMES,
        which=PICKS,
        form=st.sampled_from(["rectangle", "circle", "ellipse", "text"]),
    )
    def shapes(self, at: tuple[float, float], width: float, height: float, text: str, which: int, form: str) -> None:
        shape = DraftShape(0, form, *at, width, height, text=text)
        self.do(edits.add_shape(self.draft, shape), Selection(shapes=frozenset({self.draft.next_id})))
        found = self.draft.shape(self.shape_id(which))
        assert found is not None
        self.do(edits.change_shape(self.draft, resized(found, height, width)))
        self.do(edits.change_shape(self.draft, reformed(resized(found, height, width), form)))

    @rule(at=PLACES, name=NAMES, capacity=st.integers(-5, 20_000_000), which=PICKS)
    def standing(self, at: tuple[float, float], name: str, capacity: int, which: int) -> None:
        area = DraftShape(0, "rectangle", *at, 60.0, 40.0)
        key = self.draft.next_id
        self.do(add_standing(self.draft, name, capacity, self.category_id(which), area))
        self.do(change_standing(self.draft, self.shape_id(which), name=name, capacity=capacity))
        self.do(self.draft, Selection(shapes=frozenset({key})))

    @rule(width=SIZES, which=PICKS, floor=st.integers(0, 3))
    def pictures(self, width: float, which: int, floor: int) -> None:
        if len(self.draft.pictures) < 3:
            floor_no = min(floor, floor_count(self.draft) - 1)
            self.do(add_picture(self.draft, PNG, width, 10.0, floor_no))
        picture = self.draft.pictures[which % len(self.draft.pictures)]
        self.do(change_picture(self.draft, replace(picture, width=width, opacity=0.3)))
        self.do(self.draft, Selection(shapes=frozenset({picture.picture_id})))

    @rule(name=NAMES, which=st.integers(0, 3), by=st.sampled_from([1, -1]))
    def floors(self, name: str, which: int, by: int) -> None:
        if len(self.draft.floors) < 4 and name.strip():
            self.do(add_floor(self.draft, "Ground", name))
        self.do(rename_floor(self.draft, which, name), merge="floor")
        self.do(move_floor(self.draft, which, by))
        self.do(move_section_to_floor(self.draft, self.section_id(which), which))

    @rule(which=st.integers(0, 3))
    def leave_floor(self, which: int) -> None:
        self.do(remove_floor(self.draft, which))

    @rule(which=st.integers(0, 3))
    def to_floor(self, which: int) -> None:
        self.do(move_to_floor(self.draft, self.chosen, which))

    @rule()
    def to_every_floor(self) -> None:
        self.do(put_on_every_floor(self.draft, self.chosen))

    @rule(rows=st.sets(PICKS, max_size=3), seats=st.sets(PICKS, max_size=4), shapes=st.sets(PICKS, max_size=2))
    def choose(self, rows: set[int], seats: set[int], shapes: set[int]) -> None:
        every = [seat.guid for row in self.draft.rows for seat in row.seats]
        found = Selection(
            frozenset(self.row_id(number) for number in rows),
            frozenset(every[number % len(every)] for number in seats) if every else frozenset(),
            frozenset(self.shape_id(number) for number in shapes),
        )
        self.history = self.history.choose(found.within(self.draft))

    @rule(floor=st.integers(0, 3))
    def choose_floor(self, floor: int) -> None:
        self.history = self.history.choose(things_on(self.draft, floor).within(self.draft))

    @rule(dx=st.sampled_from([0.0, 5.0, -37.5, 3e6]), dy=st.sampled_from([0.0, 10.0]), turn=st.integers(-180, 180))
    def move(self, dx: float, dy: float, turn: int) -> None:
        self.do(edits.move(self.draft, self.chosen, dx, dy))
        self.do(edits.turn(self.draft, self.chosen, float(turn)))

    @rule(mark=st.sampled_from(SeatMark), on=st.booleans(), which=PICKS, number=NAMES)
    def seats(self, mark: SeatMark, on: bool, which: int, number: str) -> None:
        self.do(edits.set_mark(self.draft, self.chosen, mark, on=on))
        self.do(edits.set_category(self.draft, self.chosen, self.category_id(which)))
        for guid in sorted(self.chosen.seats)[:1]:
            self.do(edits.number_seat(self.draft, guid, number), merge="number")

    @rule()
    def duplicate(self) -> None:
        if self.draft.seat_count < 200:
            self.do(*edits.duplicate(self.draft, self.chosen, 0.0, 30.0, self.guid))

    @rule()
    def remove(self) -> None:
        before, chosen = self.draft, self.chosen
        self.do(edits.remove(before, chosen), NOTHING)
        gone = {seat.guid for seat in chosen.seats_in(before)}
        back = restored(self.draft, before, gone)
        assert {seat.guid for row in back.rows for seat in row.seats} >= gone
        self.do(back)

    @rule()
    def remove_for_good(self) -> None:
        if self.draft.seat_count > 20:
            self.do(edits.remove(self.draft, self.chosen), NOTHING)

    @rule(at=st.none() | PLACES, width=SIZES, height=SIZES)
    def hall(self, at: tuple[float, float] | None, width: float, height: float) -> None:
        self.do(edits.put_focal(self.draft, at))
        self.do(edits.resize_hall(self.draft, width * 10, height * 10))

    @rule(steps=st.integers(1, 6))
    def undo_and_redo(self, steps: int) -> None:
        before = self.history
        for _step in range(steps):
            self.history = self.history.undo()
        for _step in range(min(steps, len(before.past))):
            self.history = self.history.redo()
        assert self.history.present == before.present
        assert self.history.past == before.past

    @rule()
    def undo(self) -> None:
        self.history = self.history.undo()

    @rule()
    def redo(self) -> None:
        self.history = self.history.redo()

    # ------------------------------------------------------------ what always holds

    @invariant()
    def ids_are_unique(self) -> None:
        draft = self.draft
        guids = Counter(seat.guid for row in draft.rows for seat in row.seats)
        ids = Counter([
            *(one.category_id for one in draft.categories), *(one.section_id for one in draft.sections),
            *(row.row_id for row in draft.rows), *(shape.shape_id for shape in draft.all_shapes),
            *(one.picture_id for one in draft.pictures),
        ])  # fmt: skip
        assert not [guid for guid, times in guids.items() if times > 1]
        assert not [key for key, times in ids.items() if times > 1 or key >= draft.next_id]
        assert {row.section_id for row in draft.rows} <= {section.section_id for section in draft.sections}
        assert self.chosen == self.chosen.within(draft)

    @invariant()
    def it_goes_to_a_file_and_a_pack_and_comes_back(self) -> None:
        draft = self.draft
        assert plan_body(read_plan(write_plan(draft), self.guid)) == plan_body(draft)
        work, again = PlanWork(), PlanWork()
        work.begin(draft, PlanOrigin(), saved=False)
        again.unpack(work.pack())
        assert again.draft == draft

    @invariant()
    def what_may_be_saved_is_taken_and_read_alike(self) -> None:
        faults = faults_of(self.draft)
        reading = read_any_plan(write_plan(self.draft), ReadOptions(frozenset()))
        if may_be_saved(faults):
            assert reading.faults == ()
        if reading.plan is not None:
            derived_alike(self.draft, reading.plan)


def derived_alike(draft: PlanDraft, plan: SeatingPlan) -> None:
    """Neighbours and focal point as the booking system derives them."""
    starts = part_starts(columns_of_plan(plan))
    aisles = aisles_of(draft)
    rows = [row for section in draft.sections for row in draft.rows_of(section.section_id)]
    seat_no = 0
    for row in rows:
        own = [place for place in range(1, len(row.seats)) if starts[seat_no + place]]
        assert tuple(own) == aisles.get(row.row_id, ())
        seat_no += len(row.seats)
    (x, y), source = focus_of(draft)
    point, theirs = focal_with_source(plan)
    assert source.value == theirs.value
    assert math.dist((x, y), (point.x, point.y)) < 0.01


@pytest.mark.timeout(900)
@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_any_edits_go_back_exactly_and_what_may_be_saved_is_taken(long: bool) -> None:
    chosen = settings(
        max_examples=300 if long else 20,
        stateful_step_count=40 if long else 20,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(DrawingMachine, settings=chosen)


@pytest.mark.parametrize(
    "area",
    [
        DraftShape(0, "rectangle", 100.0, 50.0, 60.0, 40.0),
        DraftShape(0, "rectangle", 100.0, 50.0, 60.0, 40.0, rotation=30.0),
        DraftShape(0, "ellipse", 100.0, 50.0, 60.0, 40.0, rotation=45.0),
        DraftShape(0, "polygon", 10.0, 20.0, points=((10.0, 20.0), (90.0, 30.0), (40.0, 80.0)), rotation=15.0),
    ],
    ids=lambda area: f"{area.shape} {area.rotation:g}",
)
def test_people_in_a_hall_of_standing_places_alone_look_to_their_upper_edge(area: DraftShape) -> None:
    draft = edits.add_category(edits.rename_plan(empty_plan(), "Hall"), "Floor", "#0f34b4")
    draft = add_standing(draft, "Floor", 100, draft.categories[0].category_id, area)
    assert not draft.rows
    reading = read_any_plan(write_plan(draft), ReadOptions(frozenset()))
    assert reading.plan is not None, reading.faults
    derived_alike(draft, reading.plan)
