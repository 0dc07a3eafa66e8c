"""How many new users a minute are let in: modes, caps, record, and what must hold for any figures (R20, R32)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.domain.admission_control import (
    BY_CONTROLLER,
    AdmissionChange,
    AdmissionMode,
    AdmissionReason,
    AdmissionSettings,
    AdmissionState,
    AdmissionVersionError,
    change_settings,
    decide,
    preview,
    start,
)
from booking.domain.admission_control_law import LawSettings, LawState, next_rate
from booking.domain.admission_control_signals import (
    AdmissionLimits,
    AdmissionSignals,
    strains,
    worst,
)

OPENS = datetime(2026, 12, 4, 9, 0, tzinfo=UTC)
CALM = AdmissionSignals(queue_age_ms=5, hold_p99_ms=40, lock_waits=0, active_shoppers=50, departures_per_minute=100)
SLOW = replace(CALM, queue_age_ms=400.0)
AWAY = AdmissionSignals(authority_away=True)


class Event:
    """One event whose controller runs once a second."""

    def __init__(self, **ops: object) -> None:
        self.settings = replace(AdmissionSettings(cap_per_minute=600), **ops)  # type: ignore[arg-type]
        self.at = OPENS
        self.state = start(self.settings, self.at)
        self.record: list[AdmissionChange] = []

    def run(self, seconds: int, signals: AdmissionSignals) -> list[float]:
        """The rates that the room is told."""
        rates = []
        for _ in range(seconds):
            self.at += timedelta(seconds=1)
            self.state, change = decide(self.state, self.settings, signals, self.at, self.at)
            self.record += [change] if change else []
            rates.append(self.state.per_minute)
        return rates

    def ops(self, reason: str = "as the promoter asked", **wish: object) -> None:
        """One operator sets something."""
        self.settings, self.state, change = change_settings(
            self.settings, replace(self.settings, **wish), seen_version=self.settings.version, by="ops-1",  # type: ignore[arg-type]
            at=self.at, reason=reason, state=self.state,
        )  # fmt: skip
        self.record.append(change)


def test_a_calm_event_rises_gently_to_the_cap_and_stays() -> None:
    event = Event()
    rates = event.run(60, CALM)
    assert rates[-1] == 600
    assert all(after <= max(before, 6.0) * 1.26 for before, after in pairwise(rates))
    assert event.run(60, CALM) == [600] * 60


def test_a_slow_database_halves_admission_within_five_seconds() -> None:
    event = Event()
    event.run(120, CALM)
    assert event.run(5, SLOW)[-1] <= 300
    change = event.record[-1]
    assert change.by == BY_CONTROLLER
    assert change.why.code is AdmissionReason.STRAIN
    assert "queue_age_ms is 400, its limit 75" in change.why.words
    assert change.why.numbers["queue_age_ms"] == 400
    assert change.to_per_minute < change.from_per_minute


def test_one_bad_second_moves_nothing() -> None:
    event = Event()
    event.run(120, CALM)
    assert event.run(1, SLOW) + event.run(5, CALM) == [600] * 6


def test_it_comes_back_almost_whole_and_never_beyond() -> None:
    event = Event()
    event.run(120, CALM)
    event.run(20, SLOW)
    rates = event.run(240, CALM)
    assert rates[0] <= 300
    assert max(rates[:20]) >= 500, "back within a third of a minute"
    assert rates[-1] == 600
    assert rates == sorted(rates)


@pytest.mark.parametrize("mode", [AdmissionMode.AUTOMATIC, AdmissionMode.MANUAL])
def test_nobody_is_let_in_while_the_authority_is_away(mode: AdmissionMode) -> None:
    event = Event(mode=mode, manual_per_minute=500)
    event.run(60, CALM)
    assert event.run(3, AWAY) == [0, 0, 0]
    assert event.record[-1].why.code is AdmissionReason.AUTHORITY_AWAY
    back = event.run(5, CALM)
    assert 0 < max(back) < 100, "recovers gently"


def test_old_figures_are_no_figures() -> None:
    event = Event()
    event.run(60, CALM)
    late = event.at + timedelta(seconds=6)
    state, change = decide(event.state, event.settings, CALM, event.at, late)
    assert state.per_minute == 0
    assert change is not None
    assert change.why.code is AdmissionReason.FIGURES_MISSING
    assert change.why.numbers == {"age_s": 6}
    assert decide(event.state, event.settings, AdmissionSignals(), late, late)[0].per_minute == 0


def test_paused_lets_nobody_in_and_resuming_is_gentle() -> None:
    event = Event()
    event.run(60, CALM)
    event.ops(mode=AdmissionMode.PAUSED)
    assert event.state.per_minute == 0, "at once, not at the next second"
    assert event.run(10, CALM) == [0] * 10
    event.ops(mode=AdmissionMode.AUTOMATIC)
    assert 0 < event.run(5, CALM)[-1] < 60


def test_by_hand_it_goes_to_the_rate_that_ops_named_under_the_cap() -> None:
    event = Event(mode=AdmissionMode.MANUAL, manual_per_minute=450)
    assert event.run(60, SLOW)[-1] == 450, "ops' word counts, whatever the figures say"
    event.ops(cap_per_minute=200.0, manual_per_minute=200.0)
    assert event.state.per_minute == 200


def test_the_slots_bind_without_winding_the_law_up() -> None:
    event = Event(total_active_users=100)
    event.run(60, CALM)
    full = replace(CALM, active_shoppers=100.0)
    assert event.run(60, full)[-1] == 0
    assert event.record[-1].why.code is AdmissionReason.SHOPPERS_AT_LIMIT
    assert event.run(1, replace(CALM, active_shoppers=99.0, departures_per_minute=0.0))[-1] == 2


def test_nobody_is_let_in_for_nothing_when_few_seats_are_left() -> None:
    """W7: what is left is in holds, or as many are inside as there are seats."""
    event = Event()
    event.run(60, CALM)
    assert event.run(5, replace(CALM, seats_free=50.0))[-1] == 0
    assert event.record[-1].why.code is AdmissionReason.FEW_SEATS_LEFT
    assert event.record[-1].why.words == "50 shoppers inside, 50 seats are free"
    assert event.run(30, replace(CALM, seats_free=4_000.0))[-1] > 500, "and goes on when holds have ended"


def test_every_change_says_who_when_from_to_and_why() -> None:
    event = Event()
    event.run(90, CALM)
    event.ops(cap_per_minute=300.0, reason="the door staff cannot keep up")
    change = event.record[-1]
    assert (change.by, change.at, change.from_per_minute, change.to_per_minute) == ("ops-1", event.at, 600, 300)
    assert change.why.words == "the door staff cannot keep up"
    assert change.why.numbers["version"] == event.settings.version == 2
    told = [0.0]
    for line in event.record:
        assert line.from_per_minute == told[-1], "the record has no gap"
        told.append(line.to_per_minute)
    assert len(event.record) < 40, "and can be read"


def test_two_operators_never_overwrite_each_other_unseen() -> None:
    event = Event()
    event.ops(cap_per_minute=300.0)
    with pytest.raises(AdmissionVersionError, match="version 2") as caught:
        change_settings(
            event.settings, replace(event.settings, cap_per_minute=900), seen_version=1, by="ops-2", at=event.at,
            reason="more", state=event.state,
        )  # fmt: skip
    assert caught.value.current == 2


@pytest.mark.parametrize(("by", "reason"), [("", "more"), ("ops-1", "  ")])
def test_a_change_without_a_name_or_a_reason_is_refused(by: str, reason: str) -> None:
    event = Event()
    with pytest.raises(ValueError, match="who changes the admission and why"):
        change_settings(
            event.settings, event.settings, seen_version=1, by=by, at=event.at, reason=reason, state=event.state
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [("cap_per_minute", -1), ("manual_per_minute", 601), ("least_per_minute", 700), ("total_active_users", 0)],
)
def test_settings_out_of_bounds_name_the_field(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        replace(AdmissionSettings(cap_per_minute=600), **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [("queue_age_ms", -1), ("hold_p99_ms", float("nan")), ("payment_error_share", 1.1), ("lock_waits", float("inf"))],
)
def test_figures_that_cannot_be_name_the_field(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        AdmissionSignals(**{name: value})  # type: ignore[arg-type]


def test_limits_and_the_law_refuse_numbers_out_of_bounds() -> None:
    with pytest.raises(ValueError, match="lock_waits"):
        AdmissionLimits(lock_waits=0)
    with pytest.raises(ValueError, match="rise_factor"):
        LawSettings(rise_factor=9)


def test_the_preview_says_what_a_setting_will_mean() -> None:
    signals = replace(CALM, active_shoppers=200.0, departures_per_minute=100.0)
    effect = preview(AdmissionSettings(cap_per_minute=600), signals)
    assert effect == {"per_minute": 600, "shoppers_inside": 1_200}
    paused = AdmissionSettings(mode=AdmissionMode.PAUSED)
    assert preview(paused, signals)["per_minute"] == 0
    by_hand = AdmissionSettings(cap_per_minute=600, mode=AdmissionMode.MANUAL, manual_per_minute=30)
    assert preview(by_hand, AdmissionSignals()) == {"per_minute": 30}


# ---------------------------------------------------------------- for any figures

FIGURES = {
    "queue_age_ms": st.floats(0, 5_000), "hold_p99_ms": st.floats(0, 20_000), "lock_waits": st.floats(0, 500),
    "ticketing_lag_s": st.floats(0, 900), "payment_error_share": st.floats(0, 1), "payments_unknown": st.floats(0, 999),
    "completion_share": st.floats(0, 1), "active_shoppers": st.floats(0, 30_000),
    "departures_per_minute": st.floats(0, 9_000), "seats_free": st.floats(0, 60_000),
}  # fmt: skip
BETTER_WHEN_HIGHER = {"completion_share", "departures_per_minute", "seats_free"}
SIGNALS = st.builds(
    AdmissionSignals, **{name: st.none() | values for name, values in FIGURES.items()}, authority_away=st.booleans()
)
OPS = st.builds(
    AdmissionSettings, mode=st.sampled_from(AdmissionMode), cap_per_minute=st.floats(200, 5_000),
    manual_per_minute=st.floats(0, 200), least_per_minute=st.floats(0, 200), total_active_users=st.integers(1, 20_000),
)  # fmt: skip
PAST = st.builds(
    AdmissionState,
    per_minute=st.floats(0, 5_000),
    law=st.builds(
        LawState, rate=st.floats(0, 5_000), good=st.floats(0, 5_000), calm_s=st.floats(0, 99), well_s=st.floats(0, 99),
        blamed_s=st.floats(0, 999), strained_s=st.floats(0, 99),
        strains=st.tuples(st.floats(0, 10), st.floats(0, 10)),
    ),
    at=st.just(OPENS),
)  # fmt: skip


def after(past: AdmissionState, ops: AdmissionSettings, signals: AdmissionSignals, step_s: float = 1.0) -> float:
    at = OPENS + timedelta(seconds=step_s)
    return decide(past, ops, signals, at, at)[0].per_minute


@settings(max_examples=60)
@given(PAST, OPS, st.lists(SIGNALS, min_size=1, max_size=4), st.floats(0, 10))
def test_never_above_the_cap_and_never_below_zero(
    past: AdmissionState, ops: AdmissionSettings, figures: list[AdmissionSignals], step_s: float
) -> None:
    at = OPENS
    for signals in figures:
        at += timedelta(seconds=step_s)
        past, change = decide(past, ops, signals, at, at)
        assert 0 <= past.per_minute <= ops.cap_per_minute
        assert past.law.rate <= ops.cap_per_minute
        assert change is None or change.to_per_minute == past.per_minute
        if ops.mode is AdmissionMode.PAUSED:
            assert past.per_minute == 0


@given(PAST, OPS, SIGNALS)
def test_never_rises_while_the_authority_is_away(
    past: AdmissionState, ops: AdmissionSettings, signals: AdmissionSignals
) -> None:
    assert after(past, ops, replace(signals, authority_away=True)) == 0


@settings(max_examples=150)
@given(st.data(), PAST, OPS, SIGNALS, st.sampled_from(sorted(FIGURES)))
def test_a_worse_figure_never_gives_a_higher_rate(
    data: st.DataObject, past: AdmissionState, ops: AdmissionSettings, signals: AdmissionSignals, name: str
) -> None:
    low, high = sorted(data.draw(st.tuples(FIGURES[name], FIGURES[name])))
    good, bad = (high, low) if name in BETTER_WHEN_HIGHER else (low, high)
    better, worse = replace(signals, **{name: good}), replace(signals, **{name: bad})  # type: ignore[arg-type]
    assert after(past, ops, worse) <= after(past, ops, better)


@given(SIGNALS)
def test_the_worst_figure_decides(signals: AdmissionSignals) -> None:
    found = strains(signals, AdmissionLimits())
    assert worst(found)[1] == max(found.values(), default=0)
    assert all(0 <= strain <= 10 for strain in found.values())


@given(st.lists(st.floats(0, 10), min_size=1, max_size=40), st.floats(1, 50), st.floats(50, 5_000))
def test_the_law_stays_within_its_ends(strain_by_s: list[float], least: float, most: float) -> None:
    state = LawState(rate=least, good=most)
    for strain in strain_by_s:
        state = next_rate(state, LawSettings(), strain, 1.0, least=least, most=most)
        assert least <= state.rate <= most
        assert least <= state.good <= most


def strains_met(law: LawSettings, bears: list[float]) -> tuple[list[int], list[float]]:
    """Seconds at which a strain began, and the rates, where a second bears `bears` a minute of 30 seconds before."""
    state = LawState(rate=10.0, good=500.0)
    rates, met = [10.0] * 30, []
    for second, most in enumerate(bears):
        strain = max(0.0, rates[-30] / most)
        state = next_rate(state, law, 0.5 if strain <= 1 else 1.5, 1.0, least=10.0, most=10_000.0)
        if state.strained_s == 1.0:
            met.append(second)
        rates.append(state.rate)
    return met, rates


def test_what_was_met_again_and_again_is_felt_for_more_and_more_slowly() -> None:
    hour = [1_000.0] * 3_600
    met, rates = strains_met(LawSettings(), hour)
    careless, _ = strains_met(LawSettings(caution_factor=1.0), hour)
    assert len(met) <= len(careless) / 2
    late = rates[1_200:]
    assert 0.8 * 1_000 < sum(late) / len(late) < 1_000


def test_a_wall_that_is_gone_is_passed() -> None:
    _, rates = strains_met(LawSettings(), [1_000.0] * 1_800 + [4_000.0] * 3_600)
    assert max(rates[:1_800]) < 1_250
    assert max(rates) > 2_500
