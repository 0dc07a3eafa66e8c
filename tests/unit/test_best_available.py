"""Best available: which block is offered first (R30). Against a slow second opinion, and rule by rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.domain.best_available import (
    CANDIDATES,
    BlockPlan,
    candidates,
    largest_block,
    nearest_blocks,
    usable_starts,
)
from booking.domain.model import BestAvailable, OrphanRule
from booking.domain.seating_plan.columns import columns_of_plan
from booking.domain.seating_plan.generators import small_hall, stadium
from booking.domain.seating_plan.pretix_reader import read_pretix
from booking.domain.seating_plan.teatro_aurora import teatro_aurora
from tests.unit.seat_rows import Flags, blocks_of, free_of, parts_of, plan_of, slow_blocks, slow_refusal

PLANS = Path(__file__).parents[3] / "shared" / "plans"
OFF = OrphanRule.OFF


def all_free(plan: BlockPlan) -> Flags:
    return np.ones(plan.seat_count, np.bool_)


def best(plan: BlockPlan, wish: BestAvailable, free: Flags | None = None, rule: OrphanRule = OFF) -> tuple[int, ...]:
    """The first candidate; nothing when there is none."""
    return next(iter(candidates(plan, all_free(plan) if free is None else free, wish, rule)), ())


def apart(blocks: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The blocks, in order, that share no seat with one before them."""
    found: list[tuple[int, ...]] = []
    for block in blocks:
        if not any(set(block) & set(other) for other in found):
            found.append(block)
    return found


rows = st.lists(st.text("...ACR12 ", min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=4)
wishes = st.builds(
    lambda count, accessible, categories, sections: BestAvailable(
        count, categories, sections, min(accessible, count)
    ),
    st.integers(1, 6),
    st.sampled_from([0, 0, 0, 1, 2]),
    st.sampled_from([(), (), (0,), (1,), (0, 1), (0, 1, 2)]),
    st.sampled_from([(), (), (0,), (1,), (0, 1)]),
)  # fmt: skip


@given(first=rows, second=rows, wish=wishes, rule=st.sampled_from(OrphanRule), data=st.data())
def test_candidates_are_those_of_a_slow_search_in_its_order(
    first: list[str], second: list[str], wish: BestAvailable, rule: OrphanRule, data: st.DataObject
) -> None:
    plan = BlockPlan(columns_of_plan(plan_of(first, second, stage=(35.0, 0.0))))
    free = np.array(data.draw(st.lists(st.booleans(), min_size=plan.seat_count, max_size=plan.seat_count)))
    slow = slow_blocks(plan, free, wish, rule)
    assert list(candidates(plan, free, wish, rule)) == apart(slow)[:CANDIDATES]
    found = np.flatnonzero(usable_starts(plan, free, wish, rule)).tolist()
    assert found == sorted(block[0] for block in slow)


@given(words=rows, wish=wishes, crowd=st.integers(1, 40), turn=st.integers(0, 1_000), data=st.data())
def test_a_crowd_changes_the_order_and_no_block(
    words: list[str], wish: BestAvailable, crowd: int, turn: int, data: st.DataObject
) -> None:
    plan = blocks_of(*words)
    free = np.array(data.draw(st.lists(st.booleans(), min_size=plan.seat_count, max_size=plan.seat_count)))
    alone = candidates(plan, free, wish, OFF)
    crowded = candidates(plan, free, wish, OFF, crowd=crowd, turn=turn)
    assert sorted(crowded) == sorted(alone)
    if alone:
        assert crowded[0] == alone[turn % min(crowd, len(alone))]


@given(words=rows, rule=st.sampled_from(OrphanRule), data=st.data())
def test_an_offer_is_the_nearest_block_of_the_same_kind(
    words: list[str], rule: OrphanRule, data: st.DataObject
) -> None:
    plan = blocks_of(*words)
    free = np.array(data.draw(st.lists(st.booleans(), min_size=plan.seat_count, max_size=plan.seat_count)))
    wanted = data.draw(st.lists(st.integers(0, plan.seat_count - 1), min_size=1, max_size=4, unique=True))
    free[wanted] = False
    categories = tuple(sorted({int(plan.columns.category_no[seat]) for seat in wanted}))
    wish = BestAvailable(len(wanted), categories, accessible=sum(bool(plan.accessible[seat]) for seat in wanted))

    def distance(block: tuple[int, ...]) -> float:
        x, y = plan.columns.x, plan.columns.y
        return float((x[list(block)].mean() - x[wanted].mean()) ** 2 + (y[list(block)].mean() - y[wanted].mean()) ** 2)

    offered = nearest_blocks(plan, free, wanted, rule)
    slow = slow_blocks(plan, free, wish, rule)
    assert set(offered) <= set(slow)
    assert bool(offered) == bool(slow)
    if slow:
        assert distance(offered[0]) == pytest.approx(min(map(distance, slow)), rel=1e-4, abs=1e-3)
        assert [distance(block) for block in offered] == pytest.approx(
            sorted(map(distance, offered)), rel=1e-4, abs=1e-3
        )
    assert len({seat for block in offered for seat in block}) == sum(map(len, offered))


@given(words=rows, wish=wishes, rule=st.sampled_from(OrphanRule), data=st.data())
def test_what_is_said_to_be_left_is_left(
    words: list[str], wish: BestAvailable, rule: OrphanRule, data: st.DataObject
) -> None:
    plan = blocks_of(*words)
    free = np.array(data.draw(st.lists(st.booleans(), min_size=plan.seat_count, max_size=plan.seat_count)))
    sizes = [
        count
        for count in range(max(1, wish.accessible), wish.count)
        if slow_blocks(plan, free, BestAvailable(count, wish.categories, wish.sections, wish.accessible), rule)
    ]
    assert largest_block(plan, free, wish, rule) == max(sizes, default=0)


def test_the_middle_of_the_front_row_comes_first() -> None:
    plan = blocks_of("........", "........", "........", stage=(35.0, 0.0))
    assert best(plan, BestAvailable(2)) == (3, 4)
    assert best(plan, BestAvailable(4)) == (2, 3, 4, 5)


def test_the_focal_point_decides_where_it_is_at_the_back() -> None:
    assert best(blocks_of("....", "....", "....", stage=(15.0, 60.0)), BestAvailable(2)) == (9, 10)


def test_without_a_stage_the_upper_edge_is_the_front() -> None:
    assert best(blocks_of("....", "....", "...."), BestAvailable(2)) == (1, 2)


def test_no_block_reaches_over_an_aisle_or_a_row_end() -> None:
    plan = blocks_of("... ...", "...")
    assert best(plan, BestAvailable(4)) == ()
    found = candidates(plan, all_free(plan), BestAvailable(3), OFF)
    assert sorted(found) == [(0, 1, 2), (3, 4, 5), (6, 7, 8)]


def test_a_restricted_view_comes_after_the_last_row() -> None:
    plan = blocks_of("RRRR", "....", "....")
    assert candidates(plan, all_free(plan), BestAvailable(4), OFF) == ((4, 5, 6, 7), (8, 9, 10, 11), (0, 1, 2, 3))


def test_a_block_has_one_category_unless_several_are_named() -> None:
    plan = blocks_of("1122")
    assert best(plan, BestAvailable(3)) == ()
    assert best(plan, BestAvailable(2)) in {(0, 1), (2, 3)}
    assert best(plan, BestAvailable(3, categories=(1,))) == ()
    assert len(best(plan, BestAvailable(3, categories=(1, 2)))) == 3


def test_accessible_places_go_to_those_who_ask() -> None:
    plan = blocks_of("AC..CA")
    nothing_else = free_of(".xxxx.")
    assert best(plan, BestAvailable(1), nothing_else) == ()
    assert best(plan, BestAvailable(1, accessible=1), nothing_else) in {(0,), (5,)}
    assert best(plan, BestAvailable(2, accessible=1)) in {(0, 1), (4, 5)}
    assert best(plan, BestAvailable(3, accessible=1)) == ()
    assert best(plan, BestAvailable(2, accessible=2)) == ()


def test_companion_seats_go_last_to_those_who_need_none() -> None:
    plan = blocks_of("CC", "RR")
    assert candidates(plan, all_free(plan), BestAvailable(2), OFF) == ((2, 3), (0, 1))


def test_sections_narrow_the_choice() -> None:
    plan = BlockPlan(columns_of_plan(plan_of(["...."], ["...."])))
    assert best(plan, BestAvailable(2, sections=(1,))) == (5, 6)
    assert best(plan, BestAvailable(2, sections=(0, 1))) == (1, 2)


def test_a_strict_event_offers_no_block_that_leaves_a_single_seat() -> None:
    plan = blocks_of(".....")
    found = candidates(plan, all_free(plan), BestAvailable(3), OrphanRule.STRICT)
    assert found == ((0, 1, 2),)
    assert best(plan, BestAvailable(4), rule=OrphanRule.STRICT) == ()
    assert best(plan, BestAvailable(4), rule=OrphanRule.LENIENT) == (0, 1, 2, 3)
    assert best(plan, BestAvailable(3)) == (1, 2, 3)


def test_a_seat_that_is_gone_is_nobodys() -> None:
    columns = columns_of_plan(plan_of(["....."]))
    columns.flags[2] = 8
    plan = BlockPlan(columns)
    assert candidates(plan, all_free(plan), BestAvailable(2), OFF) == ((0, 1), (3, 4))
    assert best(plan, BestAvailable(3)) == ()


def test_equal_requests_get_equal_answers() -> None:
    columns = columns_of_plan(stadium(12_000))
    free = np.random.default_rng(7).random(12_000) < 0.5
    found = {candidates(BlockPlan(columns), free, BestAvailable(3), OrphanRule.STRICT) for _ in range(3)}
    assert len(found) == 1
    assert len(found.pop()) == CANDIDATES


def test_two_hundred_who_ask_at_once_begin_at_many_different_blocks() -> None:
    plan = BlockPlan(columns_of_plan(stadium(12_000)))
    chance = np.random.default_rng(11)
    firsts = [
        candidates(plan, all_free(plan), BestAvailable(2), OFF, crowd=200, turn=int(chance.integers(1 << 62)))[0]
        for _ in range(200)
    ]
    assert len(set(firsts)) > 100
    assert max(map(firsts.count, firsts)) < 8


@pytest.mark.parametrize(
    ("rule", "unsold", "singles"), [(OFF, 22, 22), (OrphanRule.LENIENT, 22, 22), (OrphanRule.STRICT, 62, 2)]
)
def test_the_hall_sells_out_in_pairs(rule: OrphanRule, unsold: int, singles: int) -> None:
    """Parts of seven: three pairs leave a single seat. Strict sells two pairs and keeps three seats together.

    The two single seats of strict are the accessible places at both ends of the last row.
    """
    plan = BlockPlan(columns_of_plan(small_hall()))
    free = all_free(plan)
    while block := best(plan, BestAvailable(2), free, rule):
        assert slow_refusal(plan, rule, free, block) == []
        free[list(block)] = False
    alone = [part for part in parts_of(plan) if int(free[part].sum()) == 1]
    assert (int(free.sum()), len(alone)) == (unsold, singles)


@pytest.mark.parametrize("make", [teatro_aurora, small_hall])
def test_the_own_halls_offer_the_middle_near_the_stage(make: type) -> None:
    plan = BlockPlan(columns_of_plan(make()))
    focal = plan.columns.focal
    assert focal is not None
    block = list(best(plan, BestAvailable(2)))
    assert abs(float(plan.columns.x[block].mean()) - focal.x) <= 2 * plan.spacing
    assert not plan.restricted[block].any()


def test_somebody_elses_stadium_is_chosen_from() -> None:
    if not PLANS.is_dir():
        pytest.skip("the folder ../shared/plans with other people's plans is not here")
    read = read_pretix((PLANS / "pretix-schema__seatmap-canvas-stadium.json").read_bytes()).plan
    assert read is not None
    plan = BlockPlan(columns_of_plan(read))
    free = all_free(plan)
    for rule in OrphanRule:
        for count in range(1, 7):
            wish = BestAvailable(count)
            assert list(candidates(plan, free, wish, rule)) == apart(slow_blocks(plan, free, wish, rule))[:CANDIDATES]
