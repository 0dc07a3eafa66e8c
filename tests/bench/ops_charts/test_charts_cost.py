"""What a second of the operators' charts costs, as a ratio to plain pyqtgraph with the same curves in the same run."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.bench.ops_charts.measure import growth, measure


@pytest.mark.filterwarnings("ignore::RuntimeWarning:pyqtgraph")
def test_a_second_of_all_charts_costs_less_than_setting_the_data_of_plain_plots(qapp: QApplication) -> None:
    cost = measure(repeats=6)
    assert cost.curves == 20
    assert cost.ratio > 1.4, cost
    assert cost.charts_ms < cost.pyqtgraph_ms, cost


def test_eight_hours_of_samples_keep_to_their_memory_d4() -> None:
    grown = growth()
    assert grown["samples"] == 1_200
    assert grown["grown_mb"] < 1.0, grown
