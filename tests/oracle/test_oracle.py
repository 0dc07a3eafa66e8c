"""R38: random histories on the real API agree with the reference model, answer by answer, and in the end."""

from __future__ import annotations

import pytest

from tests.oracle.history import Tally
from tests.oracle.run_oracle import OracleRun, oracle_on

LEAST = 500


def _report(run: OracleRun) -> None:
    rate = run.tally.steps / run.seconds
    print(f"\n{run.tally} in {run.seconds:.1f} s, {rate:.0f} requests/s")


def _assert_enough(tally: Tally) -> None:
    assert tally.confirms_at_the_instant.total() >= LEAST, tally
    assert tally.replays_after_expiry.total() >= LEAST, tally


def test_the_api_agrees_with_the_reference_model(dsn: str) -> None:
    with oracle_on(dsn) as run:
        run.histories(150, 40, checked_every=25)
        _report(run)
        _assert_enough(run.tally)
