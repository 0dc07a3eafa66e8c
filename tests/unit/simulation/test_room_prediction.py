"""A rush through a waiting room, predicted from its settings: numbers, waits, and when the last one came in (R21)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from booking.simulation.command import main
from booking.simulation.rates import rates_of
from booking.simulation.room_prediction import RoomModel, predict

SETTINGS: dict[str, Any] = {
    "seats": 8_000, "rate": 100.0, "skew": 0.8, "buyers": 0.5, "patience": 0.7, "fans": 700, "admission": "automatic",
    "cap": 900, "least": 90, "look": [2.0, 10.0, 4.67], "form": [2.0, 8.0, 4.0], "slow_at_s": 25.0, "slow_for_s": 20.0,
}  # fmt: skip

# 700 fans on two shared cores, the database slow from 25 to 45 s, as `rush --fans 700 --report` told it.
REPORT: dict[str, Any] = {
    "settings": SETTINGS, "admission": {}, "done": 7_441, "cpu_s": {"API": 9.31, "room": 5.1},
    "fans": {"came": 700, "admitted": 700, "bought": 284, "tickets": 774, "gave up": 90},
    "waits": {"p50_s": 40.4, "p90_s": 82.8, "p99_s": 89.1},
    "timeline": [{"at_s": 2, "admitted": 3}, {"at_s": 97, "admitted": 2}, {"at_s": 98, "admitted": 0}],
    "kinds": {
        "join": {"offered": 700, "done": 700}, "poll": {"offered": 4_145, "done": 4_145},
        "leave": {"offered": 53, "done": 53},
        "hold": {"offered": 1_082, "done": 932, "p50_ms": 42.5, "answers": {"201": 558, "409 seats-taken": 374}},
    },
}  # fmt: skip


def run(seed: int = 1, **changed: float) -> Any:
    numbers = {name: float(value) for name, value in SETTINGS.items() if isinstance(value, int | float)}
    look, form = tuple(SETTINGS["look"]), tuple(SETTINGS["form"])
    return RoomModel({**numbers, "automatic": 1.0, **changed}, look, form, seed).run()


def test_a_run_that_really_was_is_predicted_within_a_fifth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rush.json"
    path.write_text(json.dumps(REPORT), encoding="utf-8")
    assert main(["--predict", str(path)]) == 0
    assert "wait p90 s" in capsys.readouterr().out
    path.write_text(json.dumps({**REPORT, "waits": {"p50_s": 4.0, "p90_s": 8.0}}), encoding="utf-8")
    assert main(["--predict", str(path)]) == 1


def test_a_prediction_knows_only_the_settings() -> None:
    other = predict({**REPORT, "settings": {**SETTINGS, "cap": 200}})
    assert not {one.name: one.good for one in other}["last in s"]


def test_with_the_controller_fewer_give_up_than_at_the_fixed_rate() -> None:
    steered, fixed = run(), run(automatic=0.0)
    assert steered.counts["gave up"] < fixed.counts["gave up"]
    assert steered.counts["bought"] >= fixed.counts["bought"]
    assert min(steered.rates[28:45]) < 900 / 2 < min(fixed.rates[28:45])


def test_everybody_comes_is_let_in_once_and_has_one_end() -> None:
    counts = run().counts
    ends = ("bought", "did not pay", "changed his mind", "gave up", "found nothing")
    assert counts["came"] == counts["admitted"] == sum(counts[end] for end in ends) == 700


def test_the_same_seed_is_the_same_run() -> None:
    first, again, other = run(3), run(3), run(4)
    assert (first.counts, first.waits_s) == (again.counts, again.waits_s)
    assert first.waits_s != other.waits_s


def test_rates_of_the_room_come_from_the_calls_that_it_answered() -> None:
    """4,898 calls in 5.1 s of a core; the API had the others alone."""
    rates = rates_of(REPORT, "rush.json")
    assert rates.room_polls_per_s == rates.room_joins_per_s == pytest.approx(4_898 / 5.1)
    assert rates.hold_api_us == pytest.approx(1e6 * 9.31 / (7_441 - 4_898))
    assert rates.source("room_polls_per_s") == "rush.json"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"fans": 0}, "fans"), ({"cap": 0}, "cap"), ({"least": 901}, "cap"), ({"look": [1, 2]}, "look"),
        ({"form": "fast"}, "form"), ({"patience": "much"}, "patience"), ({"seats": 5}, "seats"),
        ({"slow_at_s": None}, "slow_at_s"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_name_the_field(changed: Mapping[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        predict({**REPORT, "settings": {**SETTINGS, **changed}})
