"""What the controller of admission looks at, and how hard each figure presses on its limit (R20).

Every figure becomes a *strain*: the figure over its limit, so that 1 is the limit for all of them and the worst one
decides. A figure that is not known is None and has no strain; it is the caller's duty to say `authority_away` when the
database itself cannot be asked. Queue age comes first, because it moves within a batch (BACKEND.md §7): at 50 ms the
rate is kept, from 150 ms on the API sheds holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite

LARGEST_STRAIN = 10.0
"""What is ten times over its limit presses no harder than that: one broken figure must not dwarf all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionSignals:
    """One second's figures of one event; None: not known.

    Units are in the names; shares run from 0 to 1. `lock_waits` counts sessions that wait for a lock now,
    `payments_unknown` open payments without an outcome, `departures_per_minute` shoppers whose slot came free in the
    last minute, `completion_share` those of them who bought, `seats_free` places that nobody holds or has.
    """

    queue_age_ms: float | None = None
    hold_p99_ms: float | None = None
    lock_waits: float | None = None
    ticketing_lag_s: float | None = None
    payment_error_share: float | None = None
    payments_unknown: float | None = None
    completion_share: float | None = None
    active_shoppers: float | None = None
    departures_per_minute: float | None = None
    seats_free: float | None = None
    authority_away: bool = False

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value >= 0):
                raise ValueError(f"{name}: a number from 0 on is needed, not {value}")
        for name in ("payment_error_share", "completion_share"):
            value = getattr(self, name)
            if value is not None and value > 1:
                raise ValueError(f"{name}: a share from 0 to 1 is needed, not {value}")

    @property
    def nothing_known(self) -> bool:
        """No figure at all arrived."""
        return all(getattr(self, name) is None for name in _NUMBERS)


_NUMBERS = tuple(one.name for one in fields(AdmissionSignals) if one.name != "authority_away")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionLimits:
    """Where each figure has a strain of 1. The defaults: half of what sheds (150 ms), R41's 300 ms, R20's others.

    `completion_share` is the least that is well: fewer than that who buy means that something after the hold is broken.
    """

    queue_age_ms: float = 75.0
    hold_p99_ms: float = 300.0
    lock_waits: float = 8.0
    ticketing_lag_s: float = 15.0
    payment_error_share: float = 0.10
    payments_unknown: float = 25.0
    completion_share: float = 0.05

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not (isfinite(value) and value > 0):
                raise ValueError(f"{one.name}: a limit above 0 is needed, not {value}")


_PLAIN = (
    "queue_age_ms", "hold_p99_ms", "lock_waits", "ticketing_lag_s", "payment_error_share", "payments_unknown",
)  # fmt: skip


def strains(signals: AdmissionSignals, limits: AdmissionLimits) -> Mapping[str, float]:
    """Signal → strain, 0 to LARGEST_STRAIN, of those that are known. None of them falls when its figure worsens."""
    found = {}
    for name in _PLAIN:
        value = getattr(signals, name)
        if value is not None:
            found[name] = min(value / getattr(limits, name), LARGEST_STRAIN)
    share = signals.completion_share
    if share is not None:
        most = LARGEST_STRAIN
        found["completion_share"] = most if share == 0 else min(limits.completion_share / share, most)
    return found


def worst(found: Mapping[str, float]) -> tuple[str, float]:
    """The signal that presses hardest with its strain; `("", 0.0)` when nothing is known."""
    return max(found.items(), key=lambda one: one[1], default=("", 0.0))
