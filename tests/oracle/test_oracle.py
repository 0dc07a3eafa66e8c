"""R38: random histories on the real API agree with the reference model, answer by answer, and in the end."""

from __future__ import annotations

import pytest

from tests.oracle.run_oracle import OracleRun, oracle_on

LEAST = 500
PAIRS_COUNT = 5  # one pair at once stands for so many of the others
MOST_ROUNDS = 20
HISTORIES_IN_A_ROUND = 20
STEPS = 50


def _has_enough(run: OracleRun, least: int) -> bool:
    tally = run.tally
    seen = (tally.confirms_at_the_instant.total(), tally.replays_after_expiry.total(), tally.pairs * PAIRS_COUNT)
    return min(seen) >= least


def _agree(dsn: str, least: int, most_rounds: int) -> None:
    with oracle_on(dsn) as run:
        for _ in range(most_rounds):
            run.histories(HISTORIES_IN_A_ROUND, STEPS, checked_every=HISTORIES_IN_A_ROUND)
            if _has_enough(run, least):
                break
        print(f"\n{run.tally} in {run.seconds:.1f} s, {run.tally.steps / run.seconds:.0f} requests/s")
        assert run.tally.confirms_at_the_instant.total() >= least, run.tally
        assert run.tally.replays_after_expiry.total() >= least, run.tally
        assert run.tally.pairs * PAIRS_COUNT >= least, run.tally
        assert run.caught == []


def test_the_api_agrees_with_the_reference_model(dsn: str) -> None:
    _agree(dsn, LEAST, MOST_ROUNDS)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_api_agrees_with_the_reference_model_for_a_long_time(dsn: str) -> None:
    _agree(dsn, 40 * LEAST, 40 * MOST_ROUNDS)
