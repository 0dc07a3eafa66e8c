"""Laws of admission side by side: the one in use, and those that it was measured against (docs/admission-control.md).

Each is a function of the second's figures with a memory of its own: `decide(signals, second)` → new users per minute.
They all keep ops' cap, and let nobody in while the authority is away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from booking.domain.admission_control import AdmissionSettings, decide, start
from booking.domain.admission_control_signals import AdmissionLimits, AdmissionSignals, strains, worst

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Law(Protocol):
    """Something that sets the rate once a second."""

    def decide(self, signals: AdmissionSignals, second: int) -> float: ...


def _strain(signals: AdmissionSignals) -> float:
    return worst(strains(signals, AdmissionLimits()))[1]


@dataclass(slots=True)
class FixedRate:
    """What ops set, whatever happens."""

    cap: float

    def decide(self, signals: AdmissionSignals, second: int) -> float:
        """Always the cap."""
        del second
        return 0.0 if signals.authority_away else self.cap


@dataclass(slots=True)
class OnOff:
    """All or almost nothing: off above a strain of 1, on again below 0.5."""

    cap: float
    on: bool = True

    def decide(self, signals: AdmissionSignals, second: int) -> float:
        """The cap or a hundredth of it."""
        del second
        strain = _strain(signals)
        self.on = strain < 0.5 or (self.on and strain <= 1)
        return 0.0 if signals.authority_away else self.cap * (1.0 if self.on else 0.01)


@dataclass(slots=True)
class Aimd:
    """Half at a strain above 1, at most every two seconds; up by a fiftieth of the cap each second otherwise."""

    cap: float
    rate: float = 0.0
    cut_at: int = -10

    def decide(self, signals: AdmissionSignals, second: int) -> float:
        """As TCP's congestion avoidance."""
        if signals.authority_away:
            self.rate = self.cap * 0.01
            return 0.0
        if _strain(signals) > 1:
            if second - self.cut_at >= 2:
                self.rate, self.cut_at = max(self.rate / 2, self.cap * 0.01), second
        else:
            self.rate = min(self.rate + self.cap / 50, self.cap)
        return self.rate


@dataclass(slots=True)
class ProportionalIntegral:
    """PI on the strain towards 0.7, gains by hand; the integral stops where the rate is at an end (anti-windup)."""

    cap: float
    integral: float = 0.0

    def decide(self, signals: AdmissionSignals, second: int) -> float:
        """Proportional and integral part, as shares of the cap."""
        del second
        if signals.authority_away:
            self.integral = 0.0
            return 0.0
        error = max(0.7 - _strain(signals), -2.0)
        wanted = self.integral + 0.02 * error + 0.25 * error
        if 0.01 < wanted < 1 or (wanted >= 1 and error < 0) or (wanted <= 0.01 and error > 0):
            self.integral = min(max(self.integral + 0.02 * error, 0.0), 1.0)
        return self.cap * min(max(wanted, 0.01), 1.0)


class Remembering:
    """The law in use, through the controller as the room gets it."""

    def __init__(self, cap: float) -> None:
        self.settings = AdmissionSettings(cap_per_minute=cap, least_per_minute=min(6.0, cap))
        self.state = start(self.settings, _EPOCH)
        self.changes = 0

    def decide(self, signals: AdmissionSignals, second: int) -> float:
        """One step of the controller."""
        at = _EPOCH + timedelta(seconds=second + 1)
        self.state, change = decide(self.state, self.settings, signals, at, at)
        self.changes += change is not None
        return self.state.per_minute


LAWS: dict[str, Callable[[float], Law]] = {
    "fixed rate": FixedRate,
    "on and off": OnOff,
    "AIMD": Aimd,
    "PI": ProportionalIntegral,
    "remembering": Remembering,
}
