"""The law of admission against the model of the lane: fast down, gently back, no hunting, no ticket fewer (R20)."""

from __future__ import annotations

from functools import cache

import pytest

from booking.simulation.control_laws import LAWS
from booking.simulation.control_trials import (
    FAULT_LASTS_S,
    FAULT_S,
    SECONDS,
    TRIALS,
    Outcome,
    Trial,
    run_trial,
    table,
    turns,
)

SLOW, TOO_HIGH, HALF, AWAY = TRIALS


@cache
def outcome(trial: str, law: str = "remembering", seed: int = 1) -> Outcome:
    short = trial in {TOO_HIGH.name, HALF.name}
    return run_trial(named(trial), law, seed, seconds=450 if short else SECONDS)


def named(name: str) -> Trial:
    return next(trial for trial in TRIALS if trial.name == name)


@pytest.mark.parametrize("seed", [1, 4])
def test_a_database_that_is_slow_for_20_s(seed: int) -> None:
    ours, fixed = outcome(SLOW.name, seed=seed), outcome(SLOW.name, "fixed rate", seed)
    assert ours.half_after_s is not None
    assert ours.half_after_s <= 5
    assert ours.overshoot is not None
    assert ours.overshoot < 0.20
    assert ours.turns <= 3, "down and up again, and no hunting"
    assert ours.p99_ms < 300, "hold p99 is well again"
    assert ours.sold >= fixed.sold
    assert ours.given_up < fixed.given_up


def test_it_is_back_at_nine_tenths_within_half_a_minute() -> None:
    rates = outcome(SLOW.name).rates
    assert rates[FAULT_S + FAULT_LASTS_S + 30] >= 0.9 * rates[FAULT_S - 1]


def test_a_cap_twice_too_high_settles_near_what_the_lane_bears() -> None:
    ours, aimd = outcome(TOO_HIGH.name), outcome(TOO_HIGH.name, "AIMD")
    bears = TOO_HIGH.plant.bearable_per_minute()
    later = ours.rates[200:]
    assert 0.6 * bears < sum(later) / len(later) < 1.1 * bears
    assert max(later) < 1.25 * bears
    assert ours.turns <= 10
    assert aimd.turns > 1.5 * ours.turns, "AIMD hunts"


def test_a_cap_twice_too_high_sells_far_more_than_a_fixed_rate() -> None:
    ours, fixed = (run_trial(TOO_HIGH, law, seconds=150) for law in ("remembering", "fixed rate"))
    assert ours.sold > 1.2 * fixed.sold
    assert ours.given_up < fixed.given_up / 10


def test_a_database_that_stays_slower_is_not_pushed_again_and_again() -> None:
    ours, aimd = outcome(HALF.name), outcome(HALF.name, "AIMD")
    assert ours.turns <= 8
    assert aimd.turns > 1.5 * ours.turns
    assert ours.p99_ms < 300


def test_nobody_comes_in_while_the_authority_is_away() -> None:
    ours = outcome(AWAY.name)
    assert set(ours.rates[FAULT_S + 1 : FAULT_S + FAULT_LASTS_S]) == {0}
    assert ours.overshoot is not None
    assert ours.overshoot < 0.20
    assert ours.rates[-1] == pytest.approx(AWAY.cap)


def test_the_same_seed_gives_the_same_outcome() -> None:
    first, second = (run_trial(SLOW, "remembering", 7, seconds=240) for _ in range(2))
    assert first == second
    assert first != run_trial(SLOW, "remembering", 8, seconds=240)


def test_turns_count_changes_of_direction_and_no_ripples() -> None:
    assert turns([0, 10, 20, 30], 5) == 0
    assert turns([30, 29, 30, 29, 30, 31], 5) == 0
    assert turns([0, 10, 0, 10, 0], 5) == 3
    assert turns([10, 8, 6, 4, 2, 4, 6, 8, 10], 5) == 1


def test_the_table_has_a_line_for_every_law_and_trial() -> None:
    lines = table([run_trial(trial, law, seconds=FAULT_S + 30) for trial in (SLOW,) for law in LAWS])
    assert [line.split("  ")[1].strip() for line in lines if line.startswith("  ") and line.strip()[:4] != "half"] == [
        *LAWS
    ]
