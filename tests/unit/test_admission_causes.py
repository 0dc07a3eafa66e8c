"""Why the rate is what it is, in codes: every branch of the law says one, with its parameters, and in English (R20)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from string import Formatter

import pytest

from backend_client import wire
from booking.domain.admission_causes import WORDS, Cause, CauseCode
from booking.domain.admission_control import (
    AdmissionMode,
    AdmissionReason,
    AdmissionSettings,
    AdmissionState,
    decide_and_say,
)
from booking.domain.admission_control_law import LawState
from booking.domain.admission_control_signals import AdmissionSignals

AT = datetime(2026, 12, 4, 9, 0, tzinfo=UTC)
CALM = AdmissionSignals(queue_age_ms=5, active_shoppers=50, departures_per_minute=100)
AUTOMATIC = AdmissionSettings(cap_per_minute=600)
GOOD = AdmissionState(300.0, LawState(rate=300.0, good=310.0, calm_s=60, well_s=60), at=AT - timedelta(seconds=1))

SAID: tuple[tuple[AdmissionSettings, AdmissionState, AdmissionSignals, CauseCode, str, set[str]], ...] = (
    (AUTOMATIC, replace(GOOD, law=replace(GOOD.law, strains=(3.0, 3.0))), replace(CALM, lock_waits=24),
     CauseCode.OVER_LIMIT, "lock_waits is 24, its limit 8", {"value", "limit", "strain"}),
    (AUTOMATIC, replace(GOOD, law=replace(GOOD.law, strains=(3.0, 3.0))), CALM,
     CauseCode.OVER_LIMIT_LATELY, "the last seconds were over the limit", {"strain"}),
    (AUTOMATIC, replace(GOOD, law=replace(GOOD.law, rate=100.0)), CALM,
     CauseCode.BACK_TOWARDS, "back towards 294 a minute, which went well before", {"goal_per_minute"}),
    (AUTOMATIC, GOOD, CALM, CauseCode.TRIES_MORE, "calm: a little more is tried", set()),
    (AUTOMATIC, replace(GOOD, law=replace(GOOD.law, strains=(0.9, 0.9))), replace(CALM, lock_waits=7),
     CauseCode.KEPT_NEAR_LIMIT, "near a limit: kept as it is", set()),
    (AUTOMATIC, replace(GOOD, law=replace(GOOD.law, rate=600.0, good=600.0)), CALM,
     CauseCode.AT_CAP, "all is calm: ops' cap", {"cap_per_minute"}),
    (replace(AUTOMATIC, total_active_users=50), GOOD, CALM,
     CauseCode.SHOPPERS_AT_LIMIT, "50 shoppers inside, 50 may be", {"active_shoppers", "most"}),
    (AUTOMATIC, GOOD, replace(CALM, seats_free=48),
     CauseCode.FEW_SEATS_LEFT, "50 shoppers inside, 48 seats are free", {"active_shoppers", "seats_free"}),
    (AUTOMATIC, GOOD, replace(CALM, authority_away=True),
     CauseCode.AUTHORITY_AWAY, "the event's database does not answer: nobody is let in", set()),
    (AUTOMATIC, GOOD, AdmissionSignals(),
     CauseCode.FIGURES_MISSING, "no figures for 0 s: nobody is let in until they come again", {"age_s"}),
    (replace(AUTOMATIC, mode=AdmissionMode.PAUSED), GOOD, CALM,
     CauseCode.PAUSED, "paused by ops: nobody is let in", set()),
    (replace(AUTOMATIC, mode=AdmissionMode.MANUAL, manual_per_minute=120), GOOD, CALM,
     CauseCode.SET_BY_HAND, "set by hand to 120 a minute", {"manual_per_minute"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "state", "signals", "code", "words", "numbers"), SAID, ids=[one[3].value for one in SAID]
)
def test_every_branch_says_why_in_a_code_and_in_words(
    settings: AdmissionSettings, state: AdmissionState, signals: AdmissionSignals, code: CauseCode, words: str,
    numbers: set[str],
) -> None:  # fmt: skip
    after, why, change = decide_and_say(state, settings, signals, AT, AT)
    assert why.cause is not None
    assert (why.cause.code, why.words, set(why.cause.numbers)) == (code, words, numbers)
    assert why.cause.words == words
    assert after.reason is why.code, "what is shown beside the rate is why it is so"
    assert change is None or change.why == why
    assert bool(why.cause.figure) is (code is CauseCode.OVER_LIMIT)


def test_a_fall_that_goes_on_names_no_figure_that_is_well_again() -> None:
    """The middle one of three seconds counts: the figure of now is not what is over its limit."""
    state = replace(GOOD, law=replace(GOOD.law, strains=(3.0, 3.0)))
    _, why, _ = decide_and_say(state, AUTOMATIC, replace(CALM, lock_waits=2), AT, AT)
    assert (why.code, why.numbers["lock_waits"]) == (AdmissionReason.STRAIN, 2)
    assert why.words == "the last seconds were over the limit"


def test_the_wire_has_every_code_and_every_code_has_words() -> None:
    assert [str(one) for one in wire.CauseCode] == [str(one) for one in CauseCode]
    assert set(CauseCode) == set(WORDS)
    for words in WORDS.values():
        named = {name for _, name, _, _ in Formatter().parse(words) if name}
        made = Cause(CauseCode.OVER_LIMIT, "", dict.fromkeys(named - {"figure"}, 1.0))
        assert words.format(figure=made.figure, **made.numbers)


def test_a_code_of_another_release_is_told_as_it_is() -> None:
    assert Cause("phase-of-the-moon", numbers={"share": 0.5}).words == "phase-of-the-moon"
