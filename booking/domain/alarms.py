"""When a figure makes an alarm, and when the alarm ends: two levels and two delays, so that none flutters (R32).

An alarm is raised when its figure has been at `raise_at` or worse for `raise_after_s` without a break, and ends when it
has been at `clear_at` or better for `clear_after_s`. Between the levels nothing happens. A figure that is not known
neither raises nor ends one: silence is no good news. It is not known either where nothing is left to be measured, such
as how fast holds are answered once nobody asks for any: a minute of that ends an alarm, which would else stand all
night. Payments that fail are no such figure: nobody pays any more because they fail. Everything here is a value or a
function of values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from booking.domain.figures import Figure

LARGEST_LEVEL = 1e12
LONGEST_DELAY_S = 3_600
IDLE_AFTER_S = 60
MEASURED_OF: Mapping[Figure, Figure] = {
    Figure.HOLD_P99_MS: Figure.HOLD_ATTEMPTS_PER_S,
    Figure.FEED_LAG_P99_MS: Figure.FEED_MESSAGES_PER_S,
    Figure.COMPLETION_SHARE: Figure.DEPARTURES_PER_MIN,
}
"""Of what a figure is measured: it is not known while there is none."""


class Severity(StrEnum):
    """How loud an alarm is."""

    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class AlarmRule:
    """See the module. `below`: small is bad, and `clear_at` lies above `raise_at`. `version` 1 is the program's own.

    Raises:
        ValueError: the levels are the wrong way round, or a number is out of bounds.
    """

    rule: str
    figure: Figure
    severity: Severity
    raise_at: float
    clear_at: float
    raise_after_s: int
    clear_after_s: int
    below: bool = False
    enabled: bool = True
    version: int = 1

    def __post_init__(self) -> None:
        for name in ("raise_at", "clear_at"):
            if not 0 <= getattr(self, name) <= LARGEST_LEVEL:
                raise ValueError(f"{name}: a number from 0 to {LARGEST_LEVEL:g}")
        for name in ("raise_after_s", "clear_after_s"):
            if not 0 <= getattr(self, name) <= LONGEST_DELAY_S:
                raise ValueError(f"{name}: from 0 to {LONGEST_DELAY_S} seconds")
        if not (self.raise_at < self.clear_at if self.below else self.clear_at < self.raise_at):
            side = "above" if self.below else "below"
            raise ValueError(f"clear_at: has to be {side} raise_at, or the alarm would flutter")

    @property
    def standard(self) -> AlarmRule:
        """The same rule as the program has it by itself."""
        return RULES.get(self.rule, self)

    def is_bad(self, value: float) -> bool:
        """At the level that raises, or worse."""
        return value <= self.raise_at if self.below else value >= self.raise_at

    def is_good(self, value: float) -> bool:
        """At the level that ends it, or better."""
        return value >= self.clear_at if self.below else value <= self.clear_at

    def worse(self, one: float, other: float) -> float:
        """The worse of two values."""
        return min(one, other) if self.below else max(one, other)


_WARNING, _CRITICAL = Severity.WARNING, Severity.CRITICAL
RULES: Mapping[str, AlarmRule] = {
    rule.rule: rule
    for rule in (
        AlarmRule("requests-wait", Figure.QUEUE_AGE_MS, _WARNING, 75, 40, 3, 10),
        AlarmRule("holds-slow", Figure.HOLD_P99_MS, _WARNING, 300, 200, 5, 10),
        AlarmRule("load-shed", Figure.SHED_PER_S, _CRITICAL, 1, 0.1, 3, 10),
        AlarmRule("requests-fail", Figure.FAILURES_PER_S, _CRITICAL, 0.5, 0.05, 3, 15),
        AlarmRule("locks-waiting", Figure.LOCK_WAITS, _WARNING, 8, 2, 3, 5),
        AlarmRule("lock-held", Figure.LOCK_WAIT_OLDEST_S, _CRITICAL, 5, 1, 0, 3),
        AlarmRule("connections-used-up", Figure.DATABASE_CONNECTION_SHARE, _CRITICAL, 0.9, 0.8, 3, 10),
        AlarmRule("pool-full", Figure.POOL_USE_SHARE, _WARNING, 1.5, 1, 5, 10),
        AlarmRule("holds-not-expired", Figure.EXPIRY_OLDEST_S, _WARNING, 30, 5, 5, 10),
        AlarmRule("payments-unknown", Figure.PAYMENTS_UNKNOWN, _WARNING, 25, 10, 5, 30),
        AlarmRule("payment-unknown-long", Figure.PAYMENTS_UNKNOWN_OLDEST_S, _CRITICAL, 900, 300, 0, 10),
        AlarmRule("payments-fail", Figure.PAYMENT_ERROR_SHARE, _CRITICAL, 0.1, 0.03, 5, 30),
        AlarmRule("outbox-behind", Figure.OUTBOX_OLDEST_S, _WARNING, 10, 2, 3, 10),
        AlarmRule("sequencer-silent", Figure.SEQUENCER_SILENT_S, _CRITICAL, 5, 3, 0, 5),
        AlarmRule("tickets-late", Figure.TICKETING_LAG_S, _CRITICAL, 15, 5, 3, 10),
        AlarmRule("tickets-missing", Figure.TICKET_DIFFERENCES, _CRITICAL, 1, 0, 0, 0),
        AlarmRule("maps-late", Figure.FEED_LAG_P99_MS, _WARNING, 1_000, 400, 5, 15),
        AlarmRule("nobody-steers", Figure.ADMISSION_UNSTEERED_S, _CRITICAL, 10, 3, 3, 5),
        AlarmRule("process-silent", Figure.PROCESSES_SILENT, _CRITICAL, 1, 0, 0, 3),
        AlarmRule("few-buy", Figure.COMPLETION_SHARE, _WARNING, 0.05, 0.1, 60, 30, below=True),
    )
}


class Move(StrEnum):
    """What has to be done about an alarm now."""

    NONE = "none"
    RAISE = "raise"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class AlarmState:
    """`since_s`: when the figure began to be bad (not raised yet), or good (raised). `worst` while it is raised."""

    raised: bool = False
    since_s: float | None = None
    worst: float = 0.0


def is_idle(figure: Figure, known: Mapping[str, float]) -> bool:
    """Whether there is nothing that the figure could be measured of now, by all figures of now."""
    of = MEASURED_OF.get(figure)
    return of is not None and known.get(of) == 0


def step(
    state: AlarmState, rule: AlarmRule, value: float | None, at_s: float, *, idle: bool = False
) -> tuple[AlarmState, Move]:
    """The state a moment later, by the figure as it is at `at_s` (any steady time). `idle`: see `is_idle`."""
    if not rule.enabled:
        return AlarmState(), Move.CLEAR if state.raised else Move.NONE
    if value is None:
        return _unknown(state, rule, at_s, idle=idle)
    if state.raised:
        state = replace(state, worst=rule.worse(state.worst, value))
    turning = rule.is_good(value) if state.raised else rule.is_bad(value)
    if not turning:
        return replace(state, since_s=None), Move.NONE
    since_s = at_s if state.since_s is None else state.since_s
    if at_s - since_s < (rule.clear_after_s if state.raised else rule.raise_after_s):
        return replace(state, since_s=since_s), Move.NONE
    if state.raised:
        return AlarmState(), Move.CLEAR
    return AlarmState(raised=True, worst=value), Move.RAISE


def _unknown(state: AlarmState, rule: AlarmRule, at_s: float, *, idle: bool) -> tuple[AlarmState, Move]:
    if not (state.raised and idle):
        return replace(state, since_s=None), Move.NONE
    since_s = at_s if state.since_s is None else state.since_s
    if at_s - since_s < max(rule.clear_after_s, IDLE_AFTER_S):
        return replace(state, since_s=since_s), Move.NONE
    return AlarmState(), Move.CLEAR
