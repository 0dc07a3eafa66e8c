"""The console through an evening, quickened: memory stays flat, and the map is right at the end (S5, S7)."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.bench.soak.__main__ import GROWN_OBJECTS, GROWN_WIDGETS, is_flat, run, table
from tests.bench.soak.figures import Gaps, Growth, Sample, growth
from tests.bench.soak.soak import Pace
from widgets.theme import Theme, apply_theme

SHORT_S, HOUR_S = 20.0, 3600.0


def test_memory_stays_flat_while_seats_change_links_break_and_shows_switch(qapp: QApplication) -> None:
    apply_theme(qapp, Theme.light())
    pace = Pace(400, cut_s=2.0, resync_s=3.1, switch_s=2.7, rebuild_s=6.0, sample_s=0.6)
    told = run(qapp, SHORT_S, pace)
    grown = growth(told.samples)
    assert told.wrong == 0
    assert told.changes >= 12_000 * told.seconds / 60
    assert min(told.cuts, told.resyncs, told.switches, told.rebuilds, told.picks) >= 2
    assert grown.objects <= GROWN_OBJECTS, "\n".join(table(told, grown))
    assert grown.widgets <= GROWN_WIDGETS, "\n".join(table(told, grown))


@pytest.mark.long
def test_an_hour_of_it(qapp: QApplication) -> None:
    apply_theme(qapp, Theme.light())
    told = run(qapp, HOUR_S, Pace(sample_s=20.0))
    grown = growth(told.samples)
    print("\n".join(table(told, grown)))
    assert told.wrong == 0
    assert is_flat(grown)


def test_growth_is_told_from_the_second_quarter_to_the_last() -> None:
    """A leak is seen, and what fills up at the beginning is none."""
    filled = [Sample(at, min(100.0 + at, 110.0), 1_000, 50, 0) for at in range(40)]
    assert growth(filled) == Growth(0.0, 0.0, 0.0)
    leaking = [Sample(at, 100.0 + at, 1_000 + 500 * at, 50, 0) for at in range(40)]
    assert growth(leaking).objects == pytest.approx(500 * 20)
    assert not is_flat(growth(leaking))
    with pytest.raises(ValueError, match="tell nothing"):
        growth(filled[:7])


def test_late_turns_are_counted_where_they_belong() -> None:
    gaps = Gaps()
    for late_ms in (0.5, 3.0, 16.0, 40.0, 900.0):
        gaps.add(late_ms)
    assert gaps.longest_ms == 900.0
    assert gaps.share_within(16.0) == pytest.approx(3 / 5)
    assert gaps.share_within(250.0) == pytest.approx(4 / 5)
    assert any("> 250 ms" in line and "1" in line for line in gaps.lines())
