"""Why the map is faster, as counted work: what one change costs does not grow with the plan (never wall time)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from tests.bench.seat_map.__main__ import as_table, measure_all
from tests.bench.seat_map.floor import compiled_floor
from tests.bench.seat_map.plans import bowl, mixed_states
from tests.bench.seat_map.subjects import NumpyStamps, PaintWatch
from widgets.seat_map import Stats

RNG_SEED = 2


def work_of(seats: int, changes: int) -> Stats:
    """Counted work of some changes on a shown plan."""
    subject = NumpyStamps()
    subject.build(bowl(seats), np.zeros(seats, np.uint8))
    subject.show()
    try:
        before = subject.map.stats.copy()
        chosen = np.random.default_rng(RNG_SEED).choice(seats, changes, replace=False)
        subject.change(chosen, np.full(changes, 3, np.uint8))
        subject.settle()
        return subject.map.stats.since(before)
    finally:
        subject.close()


@pytest.mark.parametrize("changes", [1, 100])
def test_changes_stamp_as_many_seats_in_a_large_plan_as_in_a_small_one(qapp: QApplication, changes: int) -> None:
    small, large = work_of(2_000, changes), work_of(20_000, changes)
    assert small.stamped == large.stamped == changes
    assert large.full == small.full == 0
    assert large.pixels <= small.pixels


def test_a_full_picture_stamps_each_seat_in_view_once(qapp: QApplication) -> None:
    subject = NumpyStamps()
    subject.build(bowl(5_000), mixed_states(5_000))
    subject.show()
    try:
        before = subject.map.stats.copy()
        subject.zoom(1.0 + 1e-6)
        subject.settle()
        done = subject.map.stats.since(before)
        assert (done.full, done.stamped, done.paints) == (1, 5_000, 1)
        subject.deep(2_500, 28.0)
        subject.settle()
        assert subject.map.stats.since(before).stamped - done.stamped < 2_000
    finally:
        subject.close()


def test_a_hit_test_looks_at_a_handful_of_seats(qapp: QApplication) -> None:
    subject = NumpyStamps()
    subject.build(bowl(20_000), mixed_states(20_000))
    subject.show()
    try:
        subject.deep(10_000, 20.0)
        watch = PaintWatch()
        watch.watch(subject.widget)
        assert subject.hit(QPointF(subject.map.seat_rect(10_000).center())) == 10_000
        grid = subject.map.scene.grid
        x, y = subject.map.scene.position(10_000)
        near = grid.slots_near(x - grid.pitch, y - grid.pitch, x + grid.pitch, y + grid.pitch)
        assert len(np.arange(20_000)[near]) < 200
        assert watch.paints == 0
    finally:
        subject.close()


def test_the_bench_measures_all_subjects_and_reports_the_promised_keys(qapp: QApplication) -> None:
    report = measure_all(1_500, 1)
    assert json.loads(json.dumps(report))["seats"] == 1_500
    ratios, measured = report["ratios"], report["ms"]
    assert isinstance(ratios, dict)
    assert isinstance(measured, dict)
    promised = {"frame_vs_pyqtgraph", "frame_vs_graphicsscene", "changes_vs_pyqtgraph", "changes_vs_graphicsscene"}
    assert promised <= ratios.keys()
    assert {"numpy", "scene", "scene_full", "pyqtgraph"} <= set(measured)
    assert {f"bare_{name}" for name in promised} <= ratios.keys()
    table = as_table(report)
    assert "changes_12000" in table
    compiled = compiled_floor() is not None
    assert ("no C compiler" in table) is not compiled
    assert ("frame_vs_floor" in ratios) is compiled


def test_without_a_compiler_the_bench_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bench.seat_map.floor.shutil.which", lambda _name: None)
    assert compiled_floor() is None
