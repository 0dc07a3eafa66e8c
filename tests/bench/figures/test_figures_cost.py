"""What a second of figures costs, as CPU against a yardstick of the same run: it must stay small whatever is sold."""

from __future__ import annotations

from tests.bench.figures.__main__ import measure
from tests.bench.measuring import yardstick_s

MOST_TO_ADD_UP, MOST_TO_REPORT, MOST_FOR_1000_COUNTS = 1.4, 0.35, 0.25
"""In yardsticks of about 11 ms; about twice what an idle machine needs."""


async def test_a_second_of_figures_costs_little_and_a_request_next_to_nothing() -> None:
    before_it = yardstick_s()
    found = await measure(holds=2_000, rate=500, others=2, seconds=4)
    yardstick = max(before_it, yardstick_s())
    words = f"{found}, yardstick {yardstick * 1e3:.1f} ms"
    assert found["add_up_cpu_ms"] / 1e3 / yardstick < MOST_TO_ADD_UP, words
    assert found["report_cpu_ms"] / 1e3 / yardstick < MOST_TO_REPORT, words
    assert found["count_us"] * 1_000 / 1e6 / yardstick < MOST_FOR_1000_COUNTS, words
