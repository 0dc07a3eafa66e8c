"""Whether a transaction that a terminal tells of is the attempt that the till lost sight of (R31, T4).

The rule compares amount, time and trace: the trace must be newer than the last one known before the attempt, and the
terminal's clock may be a few minutes off. Anything else is not a match, and then a person decides, never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.devices.card_terminal import TerminalOutcome, TerminalResult

CLOCK_TOLERANCE = timedelta(minutes=5)
_TRACE_MODULUS = 1_000_000


@dataclass(frozen=True, slots=True)
class TerminalAttempt:
    """What the journal wrote before the terminal was spoken to. `last_trace` is the newest trace known then, if any."""

    amount_minor: int
    currency: str
    started_at: datetime
    last_trace: int | None = None


def is_newer_trace(trace: int, last_trace: int) -> bool:
    """Traces count 1 to 999,999 and start again; the nearer way round decides."""
    return 0 < (trace - last_trace) % _TRACE_MODULUS < _TRACE_MODULUS // 2


def matches_attempt(result: TerminalResult, attempt: TerminalAttempt) -> bool:
    """True when `result` (of `last_transaction`) can only be the booking that `attempt` asked for.

    A result without a trace, or without a time when no earlier trace is known, is not a match.
    """
    if result.outcome is not TerminalOutcome.APPROVED or result.trace is None:
        return False
    if result.original_trace is not None or result.totals is not None:
        return False
    if (result.amount_minor, result.currency) != (attempt.amount_minor, attempt.currency):
        return False
    if attempt.last_trace is not None and not is_newer_trace(result.trace, attempt.last_trace):
        return False
    if result.booked_at is None:
        return attempt.last_trace is not None
    return result.booked_at >= attempt.started_at - CLOCK_TOLERANCE
