"""The orphan rule: strict, lenient, off; by hand and for many blocks at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.domain.model import OrphanRule
from booking.domain.orphans import orphans_of, refused_blocks, windows_all
from tests.unit.seat_rows import blocks_of, free_of, slow_refusal

STRICT, LENIENT, OFF = OrphanRule.STRICT, OrphanRule.LENIENT, OrphanRule.OFF


@pytest.mark.parametrize(
    ("row", "free", "taken", "strict", "lenient"),
    [
        ("......", "......", [0], (), ()),
        ("......", "......", [1], (0,), (0,)),
        ("......", "......", [4, 3], (5,), (5,)),
        ("......", "......", [0, 2], (1,), (1,)),
        ("......", "......", [2, 3], (), ()),
        ("......", "xx...x", [3], (2, 4), (2, 4)),
        ("......", "x.x...", [3], (), ()),  # seat 1 was single before
        ("..", "..", [0], (1,), ()),  # one of two: no other choice would avoid it
        ("...", "...", [0, 1], (2,), ()),
        ("... ...", "......", [0, 1], (2,), ()),  # the part beyond the aisle is another part
        ("... ...", "......", [2], (), ()),
        ("A.....", "......", [1], (), ()),  # an accessible place stands by itself
        ("....A.", "......", [5], (), ()),
        ("..A...", "......", [0], (), ()),  # the accessible place beside it keeps it from being one
        ("A.....", "......", [0], (), ()),
        (".A....", "......", [1, 3], (), ()),  # who takes an accessible place is not refused
    ],
)
def test_single_seats(row: str, free: str, taken: list[int], strict: tuple[int, ...], lenient: tuple[int, ...]) -> None:
    plan = blocks_of(row)
    found = {
        rule: orphans_of(rule, free_of(free), plan.part_no, plan.accessible, taken) for rule in (STRICT, LENIENT, OFF)
    }
    assert found == {STRICT: strict, LENIENT: lenient, OFF: ()}


rows = st.lists(st.text("....AC ", min_size=1, max_size=9).filter(str.strip), min_size=1, max_size=3)


@given(words=rows, data=st.data(), rule=st.sampled_from(OrphanRule))
def test_any_choice_is_refused_for_what_it_would_leave_single(
    words: list[str], data: st.DataObject, rule: OrphanRule
) -> None:
    plan = blocks_of(*words)
    free = np.array(data.draw(st.lists(st.booleans(), min_size=plan.seat_count, max_size=plan.seat_count)))
    open_seats = np.flatnonzero(free).tolist()
    if not open_seats:
        return
    taken = data.draw(st.lists(st.sampled_from(open_seats), min_size=1, max_size=6, unique=True))
    found = orphans_of(rule, free, plan.part_no, plan.accessible, taken)
    assert list(found) == slow_refusal(plan, rule, free, taken)


@given(words=rows, data=st.data(), rule=st.sampled_from(OrphanRule), size=st.integers(1, 6))
def test_all_blocks_at_once_are_refused_as_each_alone(
    words: list[str], data: st.DataObject, rule: OrphanRule, size: int
) -> None:
    plan = blocks_of(*words)
    free = np.array(data.draw(st.lists(st.booleans(), min_size=plan.seat_count, max_size=plan.seat_count)))
    in_part = plan.blocks(size).in_part
    refused = refused_blocks(rule, free, plan.starts_part, plan.part_no, plan.accessible, in_part, size)
    usable = windows_all(free & ~plan.accessible, size) & in_part
    for start in np.flatnonzero(usable).tolist():
        block = range(start, start + size)
        alone = orphans_of(rule, free, plan.part_no, plan.accessible, block)
        assert bool(refused[start]) == bool(alone), (start, alone)


def test_nothing_fits_into_no_seats() -> None:
    plan = blocks_of("..")
    in_part = plan.blocks(3).in_part
    none = refused_blocks(STRICT, free_of(".."), plan.starts_part, plan.part_no, plan.accessible, in_part, 3)
    assert none.tolist() == []
