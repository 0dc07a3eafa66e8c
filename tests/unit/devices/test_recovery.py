"""Whether the terminal's last transaction is the attempt that the till lost (R31, T4)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.devices.card_terminal import TerminalOutcome, TerminalResult
from app.devices.recovery import TerminalAttempt, is_newer_trace, matches_attempt

STARTED = datetime(2026, 11, 28, 18, 30, tzinfo=UTC)
ATTEMPT = TerminalAttempt(1250, "EUR", STARTED, last_trace=122)
TOLD = TerminalResult(
    TerminalOutcome.APPROVED, 1250, "EUR", trace=123, receipt_no=42, booked_at=STARTED + timedelta(seconds=9)
)


def test_t4_amount_time_and_a_newer_trace_together_are_a_match() -> None:
    assert matches_attempt(TOLD, ATTEMPT)
    assert matches_attempt(TOLD, replace(ATTEMPT, last_trace=None))
    assert matches_attempt(replace(TOLD, booked_at=None), ATTEMPT)


@pytest.mark.parametrize(
    "told",
    [
        replace(TOLD, amount_minor=1249),
        replace(TOLD, currency="USD"),
        replace(TOLD, trace=122),
        replace(TOLD, trace=None),
        replace(TOLD, booked_at=STARTED - timedelta(minutes=6)),
        replace(TOLD, outcome=TerminalOutcome.DECLINED),
        replace(TOLD, outcome=TerminalOutcome.UNKNOWN),
        replace(TOLD, original_trace=120),
    ],
)
def test_t4_anything_else_is_for_a_person_to_decide(told: TerminalResult) -> None:
    assert not matches_attempt(told, ATTEMPT)


def test_without_a_known_trace_and_a_time_nothing_matches() -> None:
    assert not matches_attempt(replace(TOLD, booked_at=None), replace(ATTEMPT, last_trace=None))


@pytest.mark.parametrize(("trace", "last", "newer"), [(2, 1, True), (1, 2, False), (1, 1, False), (3, 999_998, True)])
def test_traces_start_again_after_999999(trace: int, last: int, newer: bool) -> None:
    assert is_newer_trace(trace, last) is newer
