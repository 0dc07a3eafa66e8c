"""Limits as they are typed, read by the booking system's own rules, and tried on what was measured (R32, D6)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.ops_board import OpsBoard
from app.core.ops_parts import OpsPart
from app.core.rule_draft import (
    MEMBERS,
    RuleDraft,
    RuleFault,
    change_of,
    number_text,
    read_number,
    read_rule,
)
from app.core.rule_trial import Ringing, Trial, ringing_now, try_rule
from app.i18n import use_language
from backend_client.testing_rules import delivered
from backend_client.wire import OpsAlarmRule, OpsSeverity
from booking.domain import alarms
from booking.domain.figures import Figure

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
SLOW = delivered(OpsAlarmRule(
    rule="holds-slow", figure="hold_p99_ms", severity=OpsSeverity.WARNING, raise_at=300.0, clear_at=200.0,
    raise_after_s=5, clear_after_s=10,
))  # fmt: skip
FEW = delivered(OpsAlarmRule(
    rule="few-buy", figure="completion_share", severity=OpsSeverity.WARNING, raise_at=0.05, clear_at=0.1,
    raise_after_s=60, clear_after_s=30, below=True,
))  # fmt: skip
LEVEL = st.floats(0, 1e12) | st.sampled_from([0.0, 0.05, 0.1, 75.0, 1e12])


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


def typed(rule: OpsAlarmRule, **texts: str) -> RuleDraft:
    return RuleDraft(rule, texts)


def server_rule(rule: OpsAlarmRule) -> alarms.AlarmRule:
    """The same as the booking system has it. Raises ValueError where that refuses it."""
    given_ = {name: getattr(rule, name) for name in MEMBERS if name != "severity"}
    return alarms.AlarmRule(
        rule.rule, Figure(rule.figure), alarms.Severity(rule.severity), below=rule.below, **given_
    )  # fmt: skip


def refusal_of(rule: OpsAlarmRule) -> str:
    """Why the booking system would not have it; empty if it would."""
    try:
        server_rule(rule)
    except ValueError as error:
        return str(error)
    return ""


@settings(deadline=None)
@given(LEVEL, st.sampled_from([SLOW, FEW]))
def written_as_read(value: float, rule: OpsAlarmRule) -> None:
    text = number_text(rule, "raise_at", value)
    if len(re.split("[.,]", text)[-1]) <= 9 or text.isdigit():
        assert read_number(rule, "raise_at", text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("code", ["en", "pt", "ar", "ja"])
def test_a_level_is_written_as_it_is_read_in_every_language(code: str) -> None:
    use_language(code)
    written_as_read()


@pytest.mark.parametrize(("code", "text", "value"), [
    ("en", "1,000", 1000.0), ("en", "0.5", 0.5), ("en", " 75 ", 75.0), ("pt", "1.000", 1000.0), ("pt", "0,5", 0.5),
    ("pt", "1 000,25", 1000.25), ("ar", "٣٠٠", 300.0), ("ar", "٠٫٥", 0.5), ("ja", "３００", 300.0),
])  # fmt: skip
def test_numbers_are_read_as_the_language_writes_them(code: str, text: str, value: float) -> None:
    use_language(code)
    assert read_number(SLOW, "raise_at", text) == value


@pytest.mark.parametrize(("code", "name", "text", "fault"), [
    ("en", "raise_at", "", RuleFault.EMPTY), ("en", "raise_at", "  ", RuleFault.EMPTY),
    ("en", "raise_at", "1,5", RuleFault.UNREADABLE), ("pt", "raise_at", "1.5", RuleFault.UNREADABLE),
    ("en", "raise_at", "-1", RuleFault.UNREADABLE), ("en", "raise_at", "many", RuleFault.UNREADABLE),
    ("en", "raise_at", "1e3", RuleFault.UNREADABLE), ("en", "raise_at", "nan", RuleFault.UNREADABLE),
    ("en", "raise_at", "1000000000001", RuleFault.LEVEL_OUTSIDE),
    ("en", "raise_after_s", "3601", RuleFault.DELAY_OUTSIDE), ("en", "raise_after_s", "1.5", RuleFault.DELAY_OUTSIDE),
])  # fmt: skip
def test_what_cannot_be_set_is_told_by_its_field(code: str, name: str, text: str, fault: RuleFault) -> None:
    use_language(code)
    reading = read_rule(typed(SLOW, **{name: text}))
    assert reading.faults == {name: fault}
    assert reading.wished is None
    assert change_of(typed(SLOW, **{name: text}), "why") is None


def test_a_share_is_typed_in_hundredths() -> None:
    assert typed(FEW).text("raise_at") == "5"
    change = change_of(typed(FEW, raise_at="7"), "why")
    assert change is not None
    assert change.raise_at == 0.07


@settings(deadline=None)
@given(LEVEL, LEVEL, st.integers(0, 3_600), st.sampled_from([SLOW, FEW]))
def test_levels_are_refused_exactly_where_the_booking_system_would(
    raise_at: float, clear_at: float, delay: int, rule: OpsAlarmRule
) -> None:
    texts = {"raise_at": number_text(rule, "raise_at", raise_at), "clear_at": number_text(rule, "clear_at", clear_at),
             "clear_after_s": str(delay)}  # fmt: skip
    reading = read_rule(RuleDraft(rule, texts))
    if set(reading.faults) - {"clear_at"} or reading.faults.get("clear_at") is RuleFault.UNREADABLE:
        return  # more digits than anybody types
    values = {name: read_number(rule, name, text) for name, text in texts.items()}
    wished = msgspec.structs.replace(rule, **values)
    refusal = refusal_of(wished)
    if refusal:
        assert refusal.startswith("clear_at: has to be")
        assert reading.faults == {"clear_at": RuleFault.NOT_ABOVE if rule.below else RuleFault.NOT_BELOW}
    else:
        assert reading.wished == wished


def test_only_what_is_another_one_is_sent() -> None:
    draft = typed(SLOW, raise_at="400", clear_at="200.0", raise_after_s="5")
    change = change_of(draft, "  The bank is slow ")
    assert change is not None
    assert (change.expected_version, change.raise_at, change.reason) == (1, 400.0, "The bank is slow")
    assert (change.clear_at, change.raise_after_s, change.severity, change.enabled) == (None, None, None, None)
    assert change_of(typed(SLOW, raise_at="300"), "why") is None
    assert read_rule(typed(SLOW)).is_empty


def test_a_wish_over_somebody_elses_change_keeps_what_is_wished_and_takes_the_rest() -> None:
    theirs = msgspec.structs.replace(SLOW, raise_at=500.0, raise_after_s=9, severity=OpsSeverity.CRITICAL, version=2)
    draft = RuleDraft(SLOW, {"raise_at": "400", "raise_after_s": "5"}, SLOW.severity, enabled=False).over(theirs)
    change = change_of(draft, "why")
    assert change is not None
    assert (change.expected_version, change.raise_at, change.raise_after_s) == (2, 400.0, None)
    assert (change.severity, change.enabled) == (None, False)
    assert draft.text("raise_after_s") == "9"
    same = msgspec.structs.replace(SLOW, raise_at=400.0, version=2)
    assert read_rule(typed(SLOW, raise_at="400").over(same)).is_empty


def test_back_to_default_is_what_the_program_has_and_only_that() -> None:
    set_ = msgspec.structs.replace(SLOW, raise_at=900.0, severity=OpsSeverity.CRITICAL, enabled=False, version=4)
    change = change_of(RuleDraft(set_).to_standard(), "why")
    assert change is not None
    assert (change.raise_at, change.severity, change.enabled) == (300.0, OpsSeverity.WARNING, True)
    assert (change.clear_at, change.clear_after_s) == (None, None)
    assert change_of(RuleDraft(SLOW).to_standard(), "why") is None
    unknown = msgspec.structs.replace(set_, standard=None)
    assert RuleDraft(unknown).to_standard() == RuleDraft(unknown)


# ------------------------------------------------------------ what it would do


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.just(math.nan), st.floats(0, 600)), max_size=80),
    st.integers(0, 6), st.integers(0, 6), st.booleans(), st.booleans(),
)  # fmt: skip
def test_a_trial_raises_and_ends_as_the_booking_system_would(
    values: list[float], raise_after: int, clear_after: int, below: bool, enabled: bool
) -> None:
    rule = msgspec.structs.replace(
        SLOW, raise_after_s=raise_after, clear_after_s=clear_after, below=below, enabled=enabled,
        raise_at=200.0 if below else 300.0, clear_at=300.0 if below else 200.0,
    )  # fmt: skip
    state, rang, rang_s = alarms.AlarmState(), 0, 0.0
    for at, value in enumerate(values):
        rang_s += state.raised and at > 0
        state, move = alarms.step(state, server_rule(rule), None if math.isnan(value) else value, float(at))
        rang += move is alarms.Move.RAISE
    known = sum(not math.isnan(value) for value in values)
    assert try_rule(rule, [float(at) for at in range(len(values))], values) == Trial(rang, rang_s, float(known))


@pytest.mark.parametrize(("value", "is_open", "enabled", "told"), [
    (299.0, False, True, Ringing.QUIET), (300.0, False, True, Ringing.RINGS), (None, False, True, Ringing.UNKNOWN),
    (250.0, True, True, Ringing.STAYS), (200.0, True, True, Ringing.ENDS), (None, True, True, Ringing.UNKNOWN),
    (900.0, True, False, Ringing.OFF),
])  # fmt: skip
def test_what_the_alarm_would_do_now(value: float | None, is_open: bool, enabled: bool, told: Ringing) -> None:
    assert ringing_now(msgspec.structs.replace(SLOW, enabled=enabled), value, is_open=is_open) is told


# ------------------------------------------------------------ what is kept


def test_a_list_that_was_read_before_a_change_does_not_undo_it() -> None:
    board, told = OpsBoard(), list[OpsPart]()
    board.put_rules((SLOW, FEW))
    board.subscribe(told.append)
    newer = msgspec.structs.replace(SLOW, raise_at=400.0, version=2)
    board.put_rule(newer)
    board.put_rules((SLOW, FEW))
    assert board.rules == (newer, FEW)
    assert told == [OpsPart.ALARMS]
    assert board.rule("holds-slow") == newer
    assert board.rule("none-such") is None
