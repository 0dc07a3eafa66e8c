"""The oracle finds what it is for: twelve bugs, planted one at a time, are caught by it or by the checker."""

from __future__ import annotations

import asyncio

import pytest

from tests.oracle.history import DisagreementError
from tests.oracle.plants import PLANTS, Change, plant
from tests.oracle.run_oracle import oracle_on

MOST_HISTORIES = 120


def test_there_are_twelve_of_them() -> None:
    assert len(PLANTS) == 12


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_caught(name: str, dsn: str) -> None:
    asyncio.run(plant(dsn, name))
    with oracle_on(dsn) as run:
        with pytest.raises(DisagreementError) as caught:
            run.histories(MOST_HISTORIES, 50, checked_every=1, explain=False, fixed=True)
        by = caught.value.caught_by
        print(f"\n{name}: caught by the {by} after {run.tally.steps} requests: {caught.value.differences[0]}")
        assert by in ("answer", "state", "pair", "checker")


def test_a_plant_that_finds_no_ground_says_so(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that was rewritten must not leave its plant without effect, and the test green."""
    for lost in (Change("free_hold", "no such words", ""), Change("no_such_function", "", "")):
        monkeypatch.setitem(PLANTS, "release-by-seat-alone", (lost,))
        with pytest.raises(LookupError, match="release-by-seat-alone"):
            asyncio.run(plant(dsn, "release-by-seat-alone"))
