"""What the console proposes is what the booking system would give: the same blocks, order and single seats."""

from __future__ import annotations

from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.best_blocks import BlockFinder, BlockWish
from app.core.focal_point import focal_point
from app.core.orphan_seats import orphans_of, without_orphans
from app.core.seat_rows import seat_rows
from backend_client import wire
from backend_client.wire import OrphanRule
from booking.domain import best_available as authority
from booking.domain.model import BestAvailable
from booking.domain.model import OrphanRule as AuthorityRule
from booking.domain.orphans import orphans_of as orphans_at_the_authority
from booking.domain.seating_plan.columns import columns_of_plan
from booking.domain.seating_plan.document import encode_document
from booking.domain.seating_plan.generators import stadium
from booking.domain.seating_plan.model import SeatingPlan
from booking.domain.seating_plan.teatro_aurora import teatro_aurora
from tests.unit.seat_rows import plan_of

Flags = npt.NDArray[np.bool_]
OFF, STRICT, LENIENT = OrphanRule.OFF, OrphanRule.STRICT, OrphanRule.LENIENT

drawn_rows = st.lists(st.text("...ACR12 ", min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=4)
rules = st.sampled_from(OrphanRule)


def on_the_wire(plan: SeatingPlan) -> wire.Plan:
    return msgspec.json.decode(encode_document(plan, UUID(int=1), 1), type=wire.Plan)


def finder_of(*words: str, stage: tuple[float, float] | None = None) -> BlockFinder:
    return BlockFinder(seat_rows(on_the_wire(plan_of(words, stage=stage))))


def free_of(words: str) -> Flags:
    return np.array([mark == "." for mark in words if mark in ".x"])


def drawn_free(data: st.DataObject, count: int) -> Flags:
    return np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))


# ---------------------------------------------------------------- the same as the booking system


@given(
    first=drawn_rows,
    second=drawn_rows,
    count=st.integers(1, 6),
    categories=st.sampled_from([(), (), (0,), (1,), (0, 1)]),
    sections=st.sampled_from([(), (), (0,), (1,)]),
    rule=rules,
    data=st.data(),
)
def test_the_best_blocks_are_those_of_the_booking_system_in_its_order(
    first: list[str], second: list[str], count: int, categories: tuple[int, ...], sections: tuple[int, ...],
    rule: OrphanRule, data: st.DataObject,
) -> None:  # fmt: skip
    plan = plan_of(first, second, stage=(35.0, 0.0))
    theirs, ours = authority.BlockPlan(columns_of_plan(plan)), BlockFinder(seat_rows(on_the_wire(plan)))
    free = drawn_free(data, theirs.seat_count)
    wish = BestAvailable(count, categories, sections)
    expected = authority.candidates(theirs, free, wish, AuthorityRule(rule.value))
    assert ours.best(free, BlockWish(count, categories, sections), rule) == expected
    most = authority.largest_block(theirs, free, wish, AuthorityRule(rule.value))
    assert ours.most(free, BlockWish(count, categories, sections), rule) == most


@pytest.mark.parametrize("plan", [teatro_aurora(), stadium(6_000)], ids=["theatre", "stadium"])
def test_real_plans_are_read_alike(plan: SeatingPlan) -> None:
    theirs, ours = authority.BlockPlan(columns_of_plan(plan)), seat_rows(on_the_wire(plan))
    assert np.array_equal(ours.starts_part, theirs.starts_part)
    assert np.array_equal(ours.cost, theirs.cost)
    free = np.random.default_rng(3).random(theirs.seat_count) < 0.5
    for count in range(1, 7):
        expected = authority.candidates(theirs, free, BestAvailable(count), AuthorityRule.STRICT)
        assert expected
        assert BlockFinder(ours).best(free, BlockWish(count), STRICT) == expected


@given(words=drawn_rows, rule=rules, data=st.data())
def test_the_same_seats_are_said_to_be_left_single(words: list[str], rule: OrphanRule, data: st.DataObject) -> None:
    plan = plan_of(words)
    theirs, ours = authority.BlockPlan(columns_of_plan(plan)), seat_rows(on_the_wire(plan))
    free = drawn_free(data, theirs.seat_count)
    taken = [seat for seat in np.flatnonzero(free).tolist() if data.draw(st.booleans())][:6]
    expected = orphans_at_the_authority(AuthorityRule(rule.value), free, theirs.part_no, theirs.accessible, taken)
    assert orphans_of(rule, ours, free, taken) == expected


@given(words=drawn_rows, rule=rules, data=st.data())
def test_the_nearest_block_is_as_near_as_the_booking_systems(
    words: list[str], rule: OrphanRule, data: st.DataObject
) -> None:
    plan = plan_of(words)
    theirs, ours = authority.BlockPlan(columns_of_plan(plan)), BlockFinder(seat_rows(on_the_wire(plan)))
    free = drawn_free(data, theirs.seat_count)
    everywhere = st.integers(0, theirs.seat_count - 1)
    wanted = data.draw(st.lists(everywhere, min_size=1, max_size=4, unique=True))
    free[wanted] = False
    offered = ours.nearest(free, wanted, rule)
    expected = authority.nearest_blocks(theirs, free, wanted, AuthorityRule(rule.value))
    if any(theirs.accessible[seat] for seat in wanted):
        assert offered == ()
        return
    assert bool(offered) == bool(expected)

    def away(block: tuple[int, ...]) -> float:
        x, y = ours.rows.x, ours.rows.y
        return float((x[list(block)].mean() - x[wanted].mean()) ** 2 + (y[list(block)].mean() - y[wanted].mean()) ** 2)

    if offered:
        assert away(offered) == pytest.approx(away(expected[0]), rel=1e-3, abs=0.2)
        assert all(free[seat] for seat in offered)


def test_a_focal_point_that_the_plan_names_counts_before_its_stage() -> None:
    plan = on_the_wire(plan_of(["...."], stage=(5.0, 5.0)))
    assert focal_point(plan) == (5.0, 5.0)
    named = msgspec.structs.replace(plan, focal_point=wire.PlanPoint(x=30.0, y=2.0))
    assert focal_point(named) == (30.0, 2.0)
    assert focal_point(msgspec.structs.replace(plan, areas=())) is None


# ---------------------------------------------------------------- the block under the mouse


def test_the_block_under_the_mouse_has_the_seat_in_its_middle() -> None:
    finder = finder_of(".........")
    assert finder.under(free_of("........."), 4, 3, OFF) == (3, 4, 5)
    assert finder.under(free_of("........."), 4, 2, OFF) == (4, 5)
    assert finder.under(free_of("........."), 4, 1, OFF) == (4,)


def test_at_the_end_of_a_row_and_beside_taken_seats_it_moves_along() -> None:
    finder = finder_of(".........")
    assert finder.under(free_of("........."), 0, 4, OFF) == (0, 1, 2, 3)
    assert finder.under(free_of("........."), 8, 4, OFF) == (5, 6, 7, 8)
    assert finder.under(free_of("..x......"), 3, 3, OFF) == (3, 4, 5)


def test_it_never_reaches_across_a_gap_of_the_row() -> None:
    finder = finder_of("....  ....")
    free = free_of("........")
    assert finder.under(free, 3, 4, OFF) == (0, 1, 2, 3)
    assert finder.under(free, 4, 4, OFF) == (4, 5, 6, 7)
    assert finder.under(free, 3, 5, OFF) == ()
    assert finder.run_at(free, 3) == 4


def test_there_is_no_block_where_so_many_do_not_sit_together() -> None:
    finder = finder_of(".........")
    assert finder.under(free_of("xx..xxx.."), 2, 3, OFF) == ()
    assert finder.under(free_of("xx..xxx.."), 1, 2, OFF) == ()
    assert finder.run_at(free_of("xx..xxx.."), 2) == 2


def test_where_orphans_matter_it_prefers_to_leave_nobody_alone() -> None:
    finder = finder_of(".....")
    assert finder.under(free_of("....."), 2, 2, OFF) == (2, 3)
    assert finder.under(free_of("....."), 3, 2, STRICT) == (3, 4)
    assert finder.under(free_of("....."), 2, 3, STRICT) in {(0, 1, 2), (2, 3, 4)}


def test_an_accessible_place_is_given_alone_and_never_by_the_way() -> None:
    finder = finder_of("..A..")
    free = free_of(".....")
    assert finder.under(free, 2, 3, OFF) == (2,)
    assert finder.under(free, 1, 2, OFF) == (0, 1)
    assert finder.under(free, 1, 3, OFF) == ()


# ---------------------------------------------------------------- orphans and their cure


def test_the_cure_of_an_orphan_is_the_shift_by_one_towards_it() -> None:
    rows = finder_of("......").rows
    free = free_of("......")
    assert orphans_of(STRICT, rows, free, [1, 2]) == (0,)
    assert without_orphans(STRICT, rows, free, [1, 2]) == (0, 1)
    assert orphans_of(STRICT, rows, free, [3, 4]) == (5,)
    assert without_orphans(STRICT, rows, free, [3, 4]) == (4, 5)


def test_only_the_run_beside_the_orphan_moves() -> None:
    rows = finder_of("......", "......").rows
    free = np.ones(12, np.bool_)
    assert without_orphans(STRICT, rows, free, [1, 2, 6, 7]) == (0, 1, 6, 7)


def test_where_no_shift_helps_none_is_offered() -> None:
    rows = finder_of("...").rows
    free = free_of("...")
    assert orphans_of(STRICT, rows, free, [0, 1]) == (2,)
    assert without_orphans(STRICT, rows, free, [0, 1]) == ()
    assert orphans_of(LENIENT, rows, free, [0, 1]) == ()


@given(words=drawn_rows, rule=rules, data=st.data())
def test_a_cure_leaves_nobody_alone_and_takes_free_seats_only(
    words: list[str], rule: OrphanRule, data: st.DataObject
) -> None:
    rows = finder_of(*words).rows
    free = drawn_free(data, rows.seat_count)
    taken = [seat for seat in np.flatnonzero(free).tolist() if data.draw(st.booleans())][:6]
    cured = without_orphans(rule, rows, free, taken)
    if cured:
        assert len(cured) == len(taken)
        assert all(free[seat] for seat in cured)
        assert orphans_of(rule, rows, free, cured) == ()
