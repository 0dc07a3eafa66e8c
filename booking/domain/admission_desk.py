"""How admission stands for an event, as operators read it, and what they may wish (R20)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from booking.domain.admission_causes import Cause
from booking.domain.admission_control import AdmissionMode, AdmissionReason, AdmissionSettings
from booking.domain.admission_control_signals import AdmissionLimits
from booking.domain.admission_steering import RoomSight
from booking.domain.errors import FieldFault, InvalidRequestError

FIRST_CAP_PER_MINUTE = 2_000
FIRST_SLOTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAdmission:
    """What operators set, as it is kept: whole rates. Version 0: nobody has set anything, the room is not steered."""

    version: int = 0
    mode: AdmissionMode = AdmissionMode.MANUAL
    mode_before_pause: AdmissionMode = AdmissionMode.MANUAL
    cap_per_minute: int = FIRST_CAP_PER_MINUTE
    manual_per_minute: int = 0
    least_per_minute: int = 6
    total_active_users: int = FIRST_SLOTS
    targets: AdmissionLimits = field(default_factory=AdmissionLimits)
    changed_at: datetime | None = None
    changed_by: str = ""

    def for_the_law(self) -> AdmissionSettings:
        """As the law reads it."""
        return AdmissionSettings(
            mode=self.mode, cap_per_minute=self.cap_per_minute, manual_per_minute=self.manual_per_minute,
            least_per_minute=self.least_per_minute, total_active_users=self.total_active_users, limits=self.targets,
            version=self.version,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionWish:
    """What somebody wants otherwise; None stays as it is. `targets` by name, those that are given."""

    mode: AdmissionMode | None = None
    cap_per_minute: int | None = None
    manual_per_minute: int | None = None
    least_per_minute: int | None = None
    total_active_users: int | None = None
    targets: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Nothing is wanted."""
        return not self.targets and all(
            getattr(self, one.name) is None for one in fields(self) if one.name != "targets"
        )


def wished(seen: SetAdmission, wish: AdmissionWish) -> SetAdmission:
    """The settings that the wish makes of those that were seen; a pause remembers what it was made from.

    Raises:
        InvalidRequestError: naming each setting that cannot be: rates lie within the cap.
    """
    given = {
        one.name: getattr(wish, one.name)
        for one in fields(wish)
        if one.name != "targets" and getattr(wish, one.name) is not None
    }
    made = replace(seen, **given, targets=replace(seen.targets, **wish.targets))
    if wish.is_empty:
        raise InvalidRequestError("Nothing would change.", fields=(FieldFault("", "name one setting at least"),))
    faults = [
        FieldFault(f"/{name}", f"not above the cap of {made.cap_per_minute} a minute")
        for name in ("manual_per_minute", "least_per_minute")
        if getattr(made, name) > made.cap_per_minute
    ]
    if faults:
        raise InvalidRequestError("The settings cannot be like this.", fields=tuple(faults))
    if made.mode is AdmissionMode.PAUSED:
        before = seen.mode if seen.mode is not AdmissionMode.PAUSED else seen.mode_before_pause
        return replace(made, mode_before_pause=before)
    return replace(made, mode_before_pause=made.mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFigures:
    """What the controller saw last, and how hard each figure presses."""

    measured_at: datetime
    strains: Mapping[str, float]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionPicture:
    """Set beside measured; see `wire.AdmissionControl`."""

    event_id: int
    settings: SetAdmission
    per_minute: float
    good_per_minute: float
    reason: AdmissionReason
    words: str
    is_steered: bool
    server_time: datetime
    decided_at: datetime | None = None
    figures: SeenFigures | None = None
    room: RoomSight | None = None
    cause: Cause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedChange:
    """One line of the log."""

    change_no: int
    at: datetime
    by: str
    by_name: str
    mode: AdmissionMode
    from_per_minute: float
    to_per_minute: float
    reason: AdmissionReason
    words: str
    numbers: Mapping[str, float]
    cause: Cause | None = None
