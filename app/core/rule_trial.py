"""What a limit would do: to the figure as it is now, and to the quarter of an hour that was measured.

The law is the booking system's (`booking.domain.alarms.step`): at the level that raises, or worse, for so long without
a break; at the level that ends it, or better, for so long; what is not known neither raises nor ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from backend_client.wire import OpsAlarmRule


class Ringing(Enum):
    """What the alarm of a rule would do now."""

    OFF = auto()
    """It never rings; one that is open ends."""
    UNKNOWN = auto()
    """The figure is not known: nothing begins and nothing ends."""
    QUIET = auto()
    RINGS = auto()
    """The figure is at its limit: it rings once its time is over."""
    STAYS = auto()
    """It is open, and would go on."""
    ENDS = auto()
    """It is open, and would end once its time is over."""


@dataclass(frozen=True, slots=True)
class Trial:
    """`rang`: how often it would have been raised, `rang_s`: for how long in all; `known_s`: of so many seconds."""

    rang: int
    rang_s: float
    known_s: float


def is_bad(rule: OpsAlarmRule, value: float) -> bool:
    """At the level that raises, or worse."""
    return value <= rule.raise_at if rule.below else value >= rule.raise_at


def is_good(rule: OpsAlarmRule, value: float) -> bool:
    """At the level that ends it, or better."""
    return value >= rule.clear_at if rule.below else value <= rule.clear_at


def ringing_now(rule: OpsAlarmRule, value: float | None, *, is_open: bool) -> Ringing:
    """What the alarm would do if the figure stayed as it is."""
    if not rule.enabled:
        return Ringing.OFF
    if value is None:
        return Ringing.UNKNOWN
    if is_open:
        return Ringing.ENDS if is_good(rule, value) else Ringing.STAYS
    return Ringing.RINGS if is_bad(rule, value) else Ringing.QUIET


def try_rule(rule: OpsAlarmRule, times: Sequence[float], values: Sequence[float]) -> Trial:
    """Put the rule over what was measured: seconds, ascending, and the figure at each; NaN where it is not known."""
    raised, since, rang, rang_s, known_s = False, None, 0, 0.0, 0.0
    before: float | None = None
    for at, value in zip(times, values, strict=True):
        if before is not None and raised:
            rang_s += at - before
        before = at
        if math.isnan(value):
            since = None
            continue
        known_s += 1.0
        turning = rule.enabled and (is_good(rule, value) if raised else is_bad(rule, value))
        since = (at if since is None else since) if turning else None
        if since is not None and at - since >= (rule.clear_after_s if raised else rule.raise_after_s):
            raised, since = not raised, None
            rang += raised
    return Trial(rang, rang_s, known_s)
