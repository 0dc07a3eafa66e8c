"""The bench in short: every confirmation that was offered is settled, once, whatever struck; figures are all there."""

from __future__ import annotations

import json

import pytest
import uvloop

from tests.bench.settling.__main__ import Plan, as_words, is_settled, main, measure
from tests.bench.settling.report import BOUNDS_MS, histogram


@pytest.mark.timeout(120)
def test_all_that_is_offered_is_settled_with_faults_of_many_kinds() -> None:
    plan = Plan(rate_per_s=40, seconds=2, share=0.2, drain_s=60, answer_timeout_s=1.0)
    report = uvloop.run(measure(plan))
    assert is_settled(report), json.dumps(report, indent=1)
    assert len(report["faults"]) > 8  # type: ignore[arg-type]
    assert report["most_behind"] > 0  # type: ignore[operator]
    assert set(report["cpu_us_each"]) == {"sandbox", "worker", "postgresql", "api"}  # type: ignore[call-overload]
    assert sum(report["confirm"]["histogram_ms"].values()) == plan.sales  # type: ignore[index]
    assert as_words(report).endswith("all settled")


def test_each_time_is_counted_once_at_its_bound() -> None:
    counts = histogram([0.004, 0.005, 0.0051, 3.0, 500.0])
    assert (counts["5"], counts["10"], counts["5000"], counts["more"]) == (2, 1, 1, 1)
    assert len(counts) == len(BOUNDS_MS) + 1


@pytest.mark.parametrize("words", [["--rate", "0"], ["--seconds", "601"], ["--faults", "0.6"], ["--drain", "0"]])
def test_wrong_use(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert words[0] in capsys.readouterr().err
