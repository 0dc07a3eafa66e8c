"""What a setting would give: the law run forward with the figures as they are now (R20).

It is a look ahead, not a promise: figures change with the rate. What it shows truly is how the law moves (how fast it
rises, what binds it) and how long those who wait will wait at best.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from booking.domain.admission_control import (
    AdmissionReason,
    AdmissionSettings,
    AdmissionState,
    decide,
    explain,
    preview,
)
from booking.domain.admission_control_signals import AdmissionSignals

SHOWN_AFTER_S = (0, 5, 10, 20, 30, 60, 120, 300)
_STEPS = SHOWN_AFTER_S[-1]
_LONGEST_S = 86_400


@dataclass(frozen=True, slots=True)
class OutlookPoint:
    """The rate `after_s` seconds from now."""

    after_s: int
    per_minute: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """See `wire.AdmissionPreview`."""

    per_minute: float
    at_most_per_minute: float
    waiting: int
    reason: AdmissionReason
    rates: tuple[OutlookPoint, ...]
    all_in_after_s: int | None
    shoppers_inside: float | None


def outlook(
    state: AdmissionState, settings: AdmissionSettings, signals: AdmissionSignals, waiting: int, at: datetime
) -> Outlook:
    """Run the law for five minutes; beyond that its last rate counts. `waiting` are those who wait now."""
    effect = preview(settings, signals)
    before, let_in, all_in, rates = state.per_minute, 0.0, 0 if waiting == 0 else None, []
    reason = explain(state, settings, signals, at, at).code
    for second in range(_STEPS + 1):
        now = at + timedelta(seconds=second)
        state, _ = decide(state, settings, signals, now, now)
        if second in SHOWN_AFTER_S:
            rates.append(OutlookPoint(second, round(state.per_minute, 1)))
        let_in += state.per_minute / 60
        if all_in is None and let_in >= waiting:
            all_in = second + 1
    if all_in is None and state.per_minute > 0:
        later = _STEPS + int((waiting - let_in) * 60 / state.per_minute) + 1
        all_in = later if later <= _LONGEST_S else None
    return Outlook(
        per_minute=before, at_most_per_minute=effect["per_minute"], waiting=waiting, reason=reason, rates=tuple(rates),
        all_in_after_s=all_in, shoppers_inside=effect.get("shoppers_inside"),
    )  # fmt: skip
