"""How many new users a minute an event lets in: what ops set, what the law decided, and why (R20).

Three modes: AUTOMATIC follows the law (`admission_control_law`), MANUAL goes to a rate that ops named, PAUSED lets
nobody in. In each of them ops' cap holds, and nobody is let in while the event's authority is away or its figures are
too old to be believed. Everything here is a value or a function of values: time, figures and names come in as
arguments. Whoever runs it calls `decide` once a second and stores the state and each `AdmissionChange`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from booking.domain.admission_causes import Cause, CauseCode
from booking.domain.admission_control_law import LawSettings, LawState, next_rate
from booking.domain.admission_control_signals import (
    AdmissionLimits,
    AdmissionSignals,
    strains,
    worst,
)

BY_CONTROLLER = "controller"
STALE_AFTER = timedelta(seconds=5)
MOST_PER_MINUTE = 600_000.0
_LONGEST_STEP_S = 2.0


class AdmissionMode(StrEnum):
    AUTOMATIC = "automatic"
    MANUAL = "manual"
    PAUSED = "paused"


class AdmissionReason(StrEnum):
    """Why the rate is another one now, in a word; `AdmissionWhy.cause` says more."""

    STRAIN = "strain"
    RECOVERING = "recovering"
    PROBING = "probing"
    SHOPPERS_AT_LIMIT = "shoppers-at-limit"
    FEW_SEATS_LEFT = "few-seats-left"
    AUTHORITY_AWAY = "authority-away"
    FIGURES_MISSING = "figures-missing"
    PAUSED = "paused"
    MANUAL = "manual"
    CAP = "cap"
    SET_BY_OPS = "set-by-ops"


class AdmissionVersionError(Exception):
    """Ops set something having seen an older version: nothing was changed. `current` is the version to look at."""

    def __init__(self, current: int) -> None:
        super().__init__(f"the settings of admission have changed meanwhile: version {current}")
        self.current = current


@dataclass(frozen=True, slots=True)
class AdmissionWhy:
    """A reason in a code, in words, and the numbers that it rests on.

    `cause`: the words as a code with parameters; a person's own words have none.
    """

    code: AdmissionReason
    words: str
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """What ops set. `version` rises with each change; per minute are new users, `total_active_users` shoppers inside.

    `least_per_minute` is what AUTOMATIC keeps letting in under strain, so that recovery shows in the figures.
    """

    mode: AdmissionMode = AdmissionMode.AUTOMATIC
    cap_per_minute: float = 2_000.0
    manual_per_minute: float = 0.0
    least_per_minute: float = 6.0
    total_active_users: int = 10_000
    limits: AdmissionLimits = field(default_factory=AdmissionLimits)
    law: LawSettings = field(default_factory=LawSettings)
    version: int = 1

    def __post_init__(self) -> None:
        _within("cap_per_minute", self.cap_per_minute, MOST_PER_MINUTE)
        _within("manual_per_minute", self.manual_per_minute, self.cap_per_minute)
        _within("least_per_minute", self.least_per_minute, self.cap_per_minute)
        if not 1 <= self.total_active_users <= 10_000_000:
            raise ValueError("total_active_users: from 1 to 10,000,000")


def _within(name: str, value: float, most: float) -> None:
    if not 0 <= value <= most:
        raise ValueError(f"{name}: from 0 to {most:g}, not {value}")


@dataclass(frozen=True, slots=True)
class AdmissionState:
    """The setting in force and the law's memory. `per_minute` is what the room is told."""

    per_minute: float = 0.0
    law: LawState = field(default_factory=LawState)
    reason: AdmissionReason = AdmissionReason.SET_BY_OPS
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AdmissionChange:
    """One line of the record: who, when, from, to, why. Rates are new users per minute."""

    at: datetime
    by: str
    mode: AdmissionMode
    from_per_minute: float
    to_per_minute: float
    why: AdmissionWhy


def start(settings: AdmissionSettings, at: datetime) -> AdmissionState:
    """An event that opens: AUTOMATIC begins at the least and comes up as after a strain, up to the cap."""
    law = LawState(rate=settings.least_per_minute, good=settings.cap_per_minute)
    return AdmissionState(law=law, at=at)


def decide(
    state: AdmissionState, settings: AdmissionSettings, signals: AdmissionSignals, measured_at: datetime, at: datetime
) -> tuple[AdmissionState, AdmissionChange | None]:
    """The state a moment later, and the change to be recorded, if the rate the room is told changed.

    Never above the cap, never below 0, never more than before while the authority is away; with all else equal a worse
    figure never gives a higher rate.
    """
    after, _, change = decide_and_say(state, settings, signals, measured_at, at)
    return after, change


def decide_and_say(
    state: AdmissionState, settings: AdmissionSettings, signals: AdmissionSignals, measured_at: datetime, at: datetime
) -> tuple[AdmissionState, AdmissionWhy, AdmissionChange | None]:
    """As `decide`, and why, also where nothing is to be recorded."""
    step_s = 0.0 if state.at is None else min(max((at - state.at).total_seconds(), 0.0), _LONGEST_STEP_S)
    law, wanted, why = _wanted(state, settings, signals, measured_at, at, step_s)
    told = _told(state.per_minute, wanted, settings)
    after = AdmissionState(told, law, why.code, at)
    if told == state.per_minute and why.code in {state.reason, AdmissionReason.PROBING, AdmissionReason.RECOVERING}:
        return after, why, None
    if told == state.per_minute and why.code is AdmissionReason.STRAIN:
        return after, why, None
    return after, why, AdmissionChange(at, BY_CONTROLLER, settings.mode, state.per_minute, told, why)


def explain(
    state: AdmissionState, settings: AdmissionSettings, signals: AdmissionSignals, measured_at: datetime, at: datetime
) -> AdmissionWhy:
    """Why it would be as it is a second later."""
    return _wanted(state, settings, signals, measured_at, at, 1.0)[2]


def change_settings(
    settings: AdmissionSettings, wish: AdmissionSettings, *, seen_version: int, by: str, at: datetime, reason: str,
    state: AdmissionState,
) -> tuple[AdmissionSettings, AdmissionState, AdmissionChange]:  # fmt: skip
    """Ops set `wish` having seen `seen_version`. A lower rate holds at once, a higher one is risen to by `decide`.

    Raises:
        AdmissionVersionError: another operator was faster.
        ValueError: `by` or `reason` is empty.
    """
    if seen_version != settings.version:
        raise AdmissionVersionError(settings.version)
    if not by.strip() or not reason.strip():
        raise ValueError("by and reason: who changes the admission and why must be said")
    settled = replace(wish, version=settings.version + 1)
    most = {
        AdmissionMode.PAUSED: 0.0, AdmissionMode.MANUAL: settled.manual_per_minute,
        AdmissionMode.AUTOMATIC: settled.cap_per_minute,
    }[settled.mode]  # fmt: skip
    told = min(state.per_minute, most)
    numbers = {"cap_per_minute": settled.cap_per_minute, "manual_per_minute": settled.manual_per_minute,
               "total_active_users": float(settled.total_active_users), "version": float(settled.version)}  # fmt: skip
    why = AdmissionWhy(AdmissionReason.SET_BY_OPS, reason.strip(), MappingProxyType(numbers))
    change = AdmissionChange(at, by, settled.mode, state.per_minute, told, why)
    return settled, replace(state, per_minute=told, reason=AdmissionReason.SET_BY_OPS), change


def preview(settings: AdmissionSettings, signals: AdmissionSignals) -> Mapping[str, float]:
    """What a setting will mean: the rate it goes to at most, and shoppers inside then.

    Inside: Little's law on today's stay, which is shoppers over departures; without departures it is left out.
    """
    manual = settings.mode is AdmissionMode.MANUAL
    rate = 0.0 if settings.mode is AdmissionMode.PAUSED else settings.cap_per_minute
    rate = settings.manual_per_minute if manual else rate
    effect = {"per_minute": rate}
    inside, leaving = signals.active_shoppers, signals.departures_per_minute
    if inside is not None and leaving:
        effect["shoppers_inside"] = min(rate * inside / leaving, float(settings.total_active_users))
    return effect


# ---------------------------------------------------------------- what is wanted, and why


def _wanted(
    state: AdmissionState, settings: AdmissionSettings, signals: AdmissionSignals, measured_at: datetime, at: datetime,
    step_s: float,
) -> tuple[LawState, float, AdmissionWhy]:  # fmt: skip
    held = replace(state.law, rate=min(state.law.rate, settings.least_per_minute), calm_s=0.0)
    age_s = (at - measured_at).total_seconds()
    if signals.authority_away:
        return held, 0.0, _because(AdmissionReason.AUTHORITY_AWAY, Cause(CauseCode.AUTHORITY_AWAY))
    if signals.nothing_known or age_s > STALE_AFTER.total_seconds():
        cause = Cause(CauseCode.FIGURES_MISSING, numbers={"age_s": age_s})
        return held, 0.0, _because(AdmissionReason.FIGURES_MISSING, cause, cause.numbers)
    if settings.mode is AdmissionMode.PAUSED:
        return held, 0.0, _because(AdmissionReason.PAUSED, Cause(CauseCode.PAUSED))
    if settings.mode is AdmissionMode.MANUAL:
        return _by_hand(state, settings, step_s)
    return _by_law(state, settings, signals, step_s)


def _by_hand(state: AdmissionState, settings: AdmissionSettings, step_s: float) -> tuple[LawState, float, AdmissionWhy]:
    """To ops' rate, upwards no faster than the law would rise."""
    goal, least = settings.manual_per_minute, min(settings.least_per_minute, settings.manual_per_minute)
    rate = min(goal, max(state.per_minute, least) * settings.law.rise_factor**step_s)
    cause = Cause(CauseCode.SET_BY_HAND, numbers={"manual_per_minute": goal})
    return replace(state.law, rate=rate, calm_s=0.0), rate, _because(AdmissionReason.MANUAL, cause, cause.numbers)


def _by_law(
    state: AdmissionState, settings: AdmissionSettings, signals: AdmissionSignals, step_s: float
) -> tuple[LawState, float, AdmissionWhy]:
    name, strain = worst(strains(signals, settings.limits))
    law = next_rate(
        state.law, settings.law, strain, step_s, least=settings.least_per_minute, most=settings.cap_per_minute
    )
    room = _room(settings, signals)
    why = _why(state, settings, signals, (name, strain), law, room)
    if room is None or law.rate <= room:
        return law, law.rate, why
    # Slots bind, not the law: it neither winds up behind them nor learns a rate that nobody has tried.
    unwound = replace(law, rate=min(law.rate, max(state.law.rate, room)), good=min(law.good, state.law.good))
    return unwound, room, why


def _room(settings: AdmissionSettings, signals: AdmissionSignals) -> float | None:
    """What may come in a minute so that free slots are filled within half a minute and not overrun.

    There are as many slots as ops allow, and never more than free seats: who finds nothing was let in for nothing.
    """
    if signals.active_shoppers is None:
        return None
    slots = float(settings.total_active_users)
    slots = slots if signals.seats_free is None else min(slots, signals.seats_free)
    free = max(0.0, slots - signals.active_shoppers)
    return 2.0 * free + (min(signals.departures_per_minute or 0.0, settings.cap_per_minute) if free else 0.0)


def _why(
    state: AdmissionState, settings: AdmissionSettings, signals: AdmissionSignals, pressed: tuple[str, float],
    law: LawState, room: float | None,
) -> AdmissionWhy:  # fmt: skip
    name, strain = pressed
    numbers = {"strain": round(strain, 3), "good_per_minute": round(law.good, 1)}
    if room is not None and room < law.rate:
        return _full(settings, signals, numbers)
    if law.rate < state.law.rate or (strain > 1 and law.rate <= settings.least_per_minute):
        cause, grounds = _pressed(settings, signals, name, strain)
        return _because(AdmissionReason.STRAIN, cause, numbers | grounds)
    if law.rate >= settings.cap_per_minute:
        cause = Cause(CauseCode.AT_CAP, numbers={"cap_per_minute": settings.cap_per_minute})
        return _because(AdmissionReason.CAP, cause, numbers)
    goal = law.good * settings.law.return_share
    if law.rate < goal:
        cause = Cause(CauseCode.BACK_TOWARDS, numbers={"goal_per_minute": goal})
        return _because(AdmissionReason.RECOVERING, cause, numbers)
    code = CauseCode.TRIES_MORE if law.rate > state.law.rate else CauseCode.KEPT_NEAR_LIMIT
    return _because(AdmissionReason.PROBING, Cause(code), numbers)


def _full(settings: AdmissionSettings, signals: AdmissionSignals, numbers: dict[str, float]) -> AdmissionWhy:
    inside, most = signals.active_shoppers or 0.0, float(settings.total_active_users)
    grounds = {**numbers, "active_shoppers": inside, "most": most}
    if signals.seats_free is not None and signals.seats_free < most:
        seats = {"active_shoppers": inside, "seats_free": signals.seats_free}
        cause = Cause(CauseCode.FEW_SEATS_LEFT, numbers=seats)
        return _because(AdmissionReason.FEW_SEATS_LEFT, cause, grounds | seats)
    cause = Cause(CauseCode.SHOPPERS_AT_LIMIT, numbers={"active_shoppers": inside, "most": most})
    return _because(AdmissionReason.SHOPPERS_AT_LIMIT, cause, grounds)


def _pressed(
    settings: AdmissionSettings, signals: AdmissionSignals, name: str, strain: float
) -> tuple[Cause, dict[str, float]]:
    """The figure that is over its limit now; one that is not any more has done it in the seconds before."""
    if not name:
        return Cause(CauseCode.OVER_LIMIT_LATELY, numbers={"strain": strain}), {}
    value, limit = getattr(signals, name) or 0.0, getattr(settings.limits, name)
    grounds = {name: value, "limit": limit}
    if strain <= 1:
        return Cause(CauseCode.OVER_LIMIT_LATELY, numbers={"strain": strain}), grounds
    return Cause(CauseCode.OVER_LIMIT, name, {"value": value, "limit": limit, "strain": strain}), grounds


def _because(reason: AdmissionReason, cause: Cause, numbers: Mapping[str, float] | None = None) -> AdmissionWhy:
    return AdmissionWhy(reason, cause.words, MappingProxyType(dict(numbers or {})), cause)


def _told(before: float, wanted: float, settings: AdmissionSettings) -> float:
    """Small moves are not told, so that the record stays readable; ends of the range and falls to 0 always are."""
    wanted = min(max(wanted, 0.0), settings.cap_per_minute)
    by_hand = settings.mode is AdmissionMode.MANUAL and wanted == settings.manual_per_minute
    at_an_end = wanted in {0.0, settings.cap_per_minute} or by_hand
    small = abs(wanted - before) < settings.law.told_step * before
    return before if small and not at_an_end and before <= settings.cap_per_minute else wanted
