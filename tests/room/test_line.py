"""The line: positions after any steps in and out equal those of a plain list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from booking.room.line import Line

STEPS = st.lists(st.one_of(st.booleans(), st.tuples(st.integers(0, 60), st.booleans())), max_size=120)


@given(st.lists(st.booleans(), max_size=40), STEPS)
def test_the_line_counts_as_a_list_does(start: list[bool], steps: list[bool | tuple[int, bool]]) -> None:
    line, plain = Line(start), list(start)
    for step in steps:
        if isinstance(step, bool):
            assert line.append(step) == len(plain)
            plain.append(step)
        elif step[0] < len(plain):
            line.set(*step)
            plain[step[0]] = step[1]
        assert line.first() == (plain.index(True) if True in plain else None)
    assert [line.before(rank) for rank in range(len(plain))] == [sum(plain[:rank]) for rank in range(len(plain))]
    assert (len(line), line.present) == (len(plain), sum(plain))
