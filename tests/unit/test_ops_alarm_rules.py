"""Alarms as a law: two levels, two delays, never a flutter; kinds of statements (R32)."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.domain.alarms import (
    IDLE_AFTER_S,
    MEASURED_OF,
    RULES,
    AlarmRule,
    AlarmState,
    Move,
    Severity,
    is_idle,
    step,
)
from booking.domain.figures import FIGURES, Figure
from booking.domain.statement_kinds import KINDS, kind_of
from booking.sql import query

RULE = AlarmRule("r", Figure.LOCK_WAITS, Severity.WARNING, 8, 2, 3, 5)
BELOW = AlarmRule("b", Figure.COMPLETION_SHARE, Severity.WARNING, 0.05, 0.1, 0, 0, below=True)


def moves(rule: AlarmRule, values: list[float | None]) -> list[Move]:
    state, found = AlarmState(), []
    for at, value in enumerate(values):
        state, move = step(state, rule, value, float(at))
        found.append(move)
    return found


def test_it_is_raised_after_its_time_without_a_break_and_ends_after_its_time() -> None:
    values: list[float | None] = [9, 9, 7, 9, 9, 9, 9, *[5] * 9, 2, 2, 3, 2, 2, 2, 2, 2, 2]
    found = moves(RULE, values)
    assert [at for at, move in enumerate(found) if move is not Move.NONE] == [6, 24]
    assert (found[6], found[24]) == (Move.RAISE, Move.CLEAR)


def test_small_is_bad_where_a_rule_says_so() -> None:
    assert moves(BELOW, [0.2, 0.07, 0.05, 0.07, 0.1]) == [Move.NONE, Move.NONE, Move.RAISE, Move.NONE, Move.CLEAR]


def test_what_is_not_known_neither_raises_nor_ends() -> None:
    assert moves(RULE, [9, 9, None, 9, 9, 9]) == [Move.NONE] * 6
    assert set(moves(RULE, [9, 9, 9, 9, *[None] * 30])[4:]) == {Move.NONE}


def test_a_minute_with_nothing_to_be_measured_ends_one_and_raises_none() -> None:
    rule = RULES["holds-slow"]
    busy, idle = {"hold_attempts_per_s": 0.5}, {"hold_attempts_per_s": 0.0}
    assert (is_idle(rule.figure, busy), is_idle(rule.figure, idle), is_idle(rule.figure, {})) == (False, True, False)
    assert not is_idle(Figure.PAYMENT_ERROR_SHARE, {"payment_answers_per_s": 0.0}), "nobody pays because it fails"
    state, found = AlarmState(raised=True, worst=900), []
    for at in range(100):
        state, move = step(state, rule, None, float(at), idle=at != 20)  # somebody asked, and was refused at the door
        found.append(move)
    assert [at for at, move in enumerate(found) if move is not Move.NONE] == [21 + IDLE_AFTER_S]
    assert step(AlarmState(since_s=0.0), rule, None, 900.0, idle=True) == (AlarmState(), Move.NONE)


def test_what_a_figure_is_measured_of_is_another_figure_of_the_same_scope() -> None:
    for figure, of in MEASURED_OF.items():
        assert (FIGURES[figure].scope, figure in {rule.figure for rule in RULES.values()}) == (FIGURES[of].scope, True)


def test_a_rule_that_is_switched_off_ends_its_alarm() -> None:
    off = AlarmRule("r", Figure.LOCK_WAITS, Severity.WARNING, 8, 2, 3, 5, enabled=False)
    assert step(AlarmState(raised=True, worst=9), off, 9, 0.0) == (AlarmState(), Move.CLEAR)


@given(st.lists(st.one_of(st.none(), st.floats(0, 20)), max_size=60))
def test_it_never_flutters(values: list[float | None]) -> None:
    told = [(at, move) for at, move in enumerate(moves(RULE, values)) if move is not Move.NONE]
    expected = itertools.cycle([Move.RAISE, Move.CLEAR])
    assert all(move is next(expected) for _, move in told), "raised, cleared, raised, …"
    for (at, _), (later, move) in itertools.pairwise(told):
        assert later - at >= (RULE.clear_after_s if move is Move.CLEAR else RULE.raise_after_s)


@given(st.lists(st.floats(0, 20), min_size=1, max_size=40))
def test_the_worst_is_the_worst_since_it_was_raised(values: list[float]) -> None:
    state = AlarmState()
    since: list[float] = []
    for at, value in enumerate(values):
        state, move = step(state, RULE, value, float(at))
        since = [] if move is Move.CLEAR else [*since, value] if state.raised else []
        if state.raised:
            assert state.worst == max(since)


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"raise_at": 2.0, "clear_at": 2.0}, "clear_at"), ({"raise_at": math.nan}, "raise_at"),
        ({"raise_after_s": -1}, "raise_after_s"), ({"clear_after_s": 3_601}, "clear_after_s"),
        ({"below": True}, "clear_at"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_names_what_is_wrong(members: dict[str, object], name: str) -> None:
    known: dict[str, object] = {
        "rule": "r", "figure": Figure.LOCK_WAITS, "severity": Severity.WARNING, "raise_at": 8.0, "clear_at": 2.0,
        "raise_after_s": 3, "clear_after_s": 5,
    }  # fmt: skip
    with pytest.raises(ValueError, match=f"^{name}:"):
        AlarmRule(**{**known, **members})  # type: ignore[arg-type]


def test_the_programs_own_rules_are_about_figures_that_there_are() -> None:
    assert {rule.figure for rule in RULES.values()} <= FIGURES.keys()
    assert all(rule.version == 1 and rule.enabled for rule in RULES.values())
    assert {rule.below for rule in RULES.values() if FIGURES[rule.figure].small_is_bad} == {True}


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        (query("hold_seats_batch"), "hold"), (query("check_out_batch"), "checkout"),
        (query("open_payment_batch"), "payment"), (query("record_result_batch"), "result"),
        (query("sweep_expired"), "sweep"), (query("insert_tickets"), "tickets"), (query("change_settings"), "control"),
        (query("keep_admission_state"), "admission"), (query("note_figures"), "figures"),
        ("VACUUM FULL seats", "maintenance"), ("BEGIN", "transaction"), ("select * from seats", "read"),
        ("SELECT 1 FROM seats FOR UPDATE", "write"), ("UPDATE seats SET version = 1", "write"),
        ("<insufficient privilege>", "other"), ("", "other"), (None, "other"), ("\x00" * 9_000, "other"),
    ],
)  # fmt: skip
def test_the_kind_of_a_statement(statement: str | None, kind: str) -> None:
    assert kind_of(statement) == kind
    assert kind in KINDS
