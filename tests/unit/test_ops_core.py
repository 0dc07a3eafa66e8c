"""What the console keeps of figures: gaps stay gaps, typed settings outlive polls, old figures are never well."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.core.ops_board import UNKNOWN_OLD, OpsBoard, admission_key
from app.core.ops_draft import AdmissionDraft, NumberTextError, change_of, numbers_of, preview_of
from app.core.ops_health import Health, is_stale, limits_kept, state_of
from app.core.ops_log_csv import ops_log_csv
from app.core.ops_parts import MinuteHistory, OpsPart, OpsView
from app.core.ops_series import MINUTE_GAP_S, MOST_MINUTES_S, SampleRing, SampleTable, joined, table_of
from app.core.ops_waits import wait_rows
from app.i18n import use_language
from backend_client.ops_feed_state import OpsFeedState
from backend_client.testing_house import House
from backend_client.testing_ops import plain_control
from backend_client.wire import (
    AdmissionMode,
    EventId,
    OpsAlarm,
    OpsAlarmRule,
    OpsEventFigures,
    OpsFigure,
    OpsFigures,
    OpsHistory,
    OpsLockWait,
    OpsLogChange,
    OpsLogEntry,
    OpsLogKind,
    OpsSession,
    OpsSeverity,
    OpsUnknownPayments,
)
from booking.figures.history import MOST_POINTS

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
SETTINGS = plain_control(House()).settings


def figures(second: int, house: dict[str, float] | None = None, **more: Any) -> OpsFigures:
    at = NOW + timedelta(seconds=second)
    event = OpsEventFigures(
        event_id=EventId(1), name="Aurora", status="ON_SALE", figures={"room_waiting": float(second)}
    )
    return OpsFigures(
        second=second, measured_at=at, server_time=at, authority_heard_at=at, house=house or {"lock_waits": 1.0},
        events=(event,), **more,
    )  # fmt: skip


def alarm(severity: OpsSeverity, number: int = 1, *, known: bool = False) -> OpsAlarm:
    return OpsAlarm(
        alarm_id=UUID(int=number), rule="locks-waiting", figure="lock_waits", severity=severity,
        raised_at=NOW - timedelta(seconds=number), value=9, worst=9, raise_at=8, clear_at=2,
        acknowledged_at=NOW if known else None,
    )  # fmt: skip


# ------------------------------------------------------------ samples


def test_a_ring_keeps_the_newest_and_no_more_however_long_it_runs_d4() -> None:
    ring = SampleRing(["a"], kept=50)
    for second in range(1_000):
        assert ring.push(float(second), {"a": second / 2})
    table = ring.table()
    assert len(ring) == len(table.times) == 50
    assert table.times.tolist() == [float(second) for second in range(950, 1_000)]
    assert table.newest("a") == 499.5


def test_a_sample_of_an_instant_that_is_there_already_is_left_out() -> None:
    ring = SampleRing(["a"])
    assert ring.push(10.0, {"a": 1.0})
    assert not ring.push(10.0, {"a": 2.0})
    assert not ring.push(9.0, {"a": 2.0})
    assert ring.table().newest("a") == 1.0


def test_a_figure_that_was_not_sent_is_not_known_and_never_zero() -> None:
    ring = SampleRing(["a", "b"])
    ring.push(1.0, {"a": 1.0})
    table = ring.table()
    assert np.isnan(table.columns["b"][0])
    assert table.newest("b") is None


@given(st.lists(st.integers(0, 200), unique=True, max_size=60), st.lists(st.integers(0, 200), unique=True, max_size=60))
def test_a_history_fills_the_seconds_that_were_missed_and_changes_no_other(own: list[int], read: list[int]) -> None:
    ring = SampleRing(["a"], kept=500)
    for second in sorted(own):
        ring.push(second + 0.25, {"a": 1_000.0 + second})
    times = np.array(sorted(read), float)
    ring.merge(SampleTable(times, {"a": times}))
    table = ring.table()
    assert sorted({round(at) for at in table.times}) == sorted({*own, *read})
    assert (np.diff(table.times) > 0).all()
    for at, value in zip(table.times, table.columns["a"], strict=True):
        assert value == (1_000.0 + round(at) if round(at) in own else at)


def test_columns_of_two_tables_stand_at_the_instants_of_either() -> None:
    one = SampleTable(np.array([1.0, 2.0]), {"a": np.array([10.0, 20.0])})
    other = SampleTable(np.array([2.0, 3.0]), {"b": np.array([5.0, 6.0])}, MINUTE_GAP_S)
    both = joined(one, other)
    assert both.times.tolist() == [1.0, 2.0, 3.0]
    assert both.columns["a"][:2].tolist() == [10.0, 20.0]
    assert np.isnan(both.columns["a"][2])
    assert np.isnan(both.columns["b"][0])
    assert both.gap_s == MINUTE_GAP_S
    assert joined(SampleTable(), other) is other


def test_a_history_of_minutes_has_the_gap_of_minutes_and_its_peaks() -> None:
    history = OpsHistory(step_s=60, at=(NOW,), series={"a": (None,)}, peaks={"a": (7.0,)})
    table = table_of(history, peaks=True)
    assert table.gap_s == MINUTE_GAP_S
    assert np.isnan(table.columns["a"][0])
    assert table.columns["a.peak"].tolist() == [7.0]


# ------------------------------------------------------------ the board


def board_at(second: int = 0, **more: Any) -> OpsBoard:
    board = OpsBoard()
    board.put_state(OpsFeedState.LIVE)
    board.put_figures(figures(second, **more), heard_at=100.0)
    board.choose_event(EventId(1))
    return board


def test_seconds_of_the_event_stand_beside_those_of_the_house() -> None:
    board = board_at(5)
    assert board.live.newest("lock_waits") == 1.0
    assert board.live.newest("room_waiting") == 5.0
    assert board.newest("room_waiting") == 5.0
    assert board.newest("hold_p99_ms") is None


def test_what_an_event_has_of_its_own_is_never_the_sum_of_all_events() -> None:
    """The house says 5 in all waiting rooms; that nothing is told of this event's is not 5."""
    others: dict[str, float] = {
        OpsFigure.ROOM_WAITING: 5.0,
        OpsFigure.ADMISSION_SET_PER_MIN: 192.0,
        OpsFigure.LOCK_WAITS: 2.0,
    }
    board, told = OpsBoard(), figures(1, house=others)
    board.put_figures(replace(told, events=(replace(told.events[0], figures={}),)), heard_at=100.0)
    board.choose_event(EventId(1))
    assert board.event is not None
    assert [board.newest(name) for name in others] == [None, None, 2.0]
    board.choose_event(None)
    assert [board.newest(name) for name in others] == [5.0, 192.0, 2.0]


def test_an_older_statement_is_left_out_and_silence_of_the_database_adds_no_sample() -> None:
    board = board_at(5)
    board.put_figures(figures(4), heard_at=101.0)
    assert board.figures is not None
    assert board.figures.second == 5
    board.put_figures(figures(6, authority_away=True), heard_at=102.0)
    assert len(board.house) == 1
    assert board.heard_at == 102.0


def test_a_clock_that_was_put_back_over_there_does_not_silence_the_screen() -> None:
    board = board_at(3_600)
    board.put_figures(figures(3_590), heard_at=101.0)
    assert [board.figures and board.figures.second] == [3_600]
    board.put_figures(figures(5), heard_at=102.0)
    assert [board.figures and board.figures.second] == [5]
    assert state_of(board, 102.5).health is Health.WELL
    assert board.live.times.tolist() == [NOW.timestamp() + 5]
    assert board.live.newest("room_waiting") == 5.0


def test_payments_that_wait_for_long_are_counted_apart() -> None:
    groups = tuple(
        OpsUnknownPayments(currency="EUR", from_s=since, up_to_s=None, count=count, amount_minor=1)
        for since, count in ((0, 5), (300, 2), (900, 1))
    )
    board = board_at(1, house={OpsFigure.PAYMENTS_UNKNOWN: 8.0}, unknown_payments=groups)
    assert board.live.newest(UNKNOWN_OLD) == 3.0
    assert board_at(1).live.newest(UNKNOWN_OLD) is None


def test_whoever_comes_next_finds_nothing_of_the_one_before() -> None:
    board = board_at(3)
    control = plain_control(House())
    board.put_control(control)
    board.put_draft(board.draft.with_text("cap_per_minute", "900", control.settings))
    board.clear()
    assert board.figures is None
    assert board.draft.is_empty
    assert len(board.house) == 0
    assert board.control is None


def test_what_somebody_else_sets_is_told_and_what_is_typed_here_stays() -> None:
    board = board_at()
    control = plain_control(House())
    board.put_control(control)
    board.put_draft(board.draft.with_text("cap_per_minute", "900", control.settings))
    other = replace(control.settings, version=2, cap_per_minute=1_500, changed_by="Omar")
    board.put_control(replace(control, settings=other))
    assert [board.theirs] == [other]
    assert board.draft.text("cap_per_minute") == "900"
    assert change_of(board.draft, other).expected_version == 1
    board.keep_mine()
    assert [board.theirs] == [None]
    assert change_of(board.draft, other).expected_version == 2
    board.take_theirs()
    assert board.draft.is_empty


def test_a_late_answer_about_an_older_version_or_another_event_changes_nothing() -> None:
    board = board_at()
    control = plain_control(House())
    board.put_control(replace(control, settings=replace(control.settings, version=4)))
    board.put_control(control)
    assert board.control is not None
    assert board.control.settings.version == 4
    board.put_control(replace(control, event_id=EventId(2), settings=replace(control.settings, version=9)))
    assert board.control.settings.version == 4


def test_the_key_of_an_act_stays_while_its_answer_is_not_known() -> None:
    board, keys = OpsBoard(), iter("abc")
    assert board.key_for("x", 1, lambda: next(keys)) == "a"
    assert board.key_for("x", 1, lambda: next(keys)) == "a"
    assert board.key_for("x", 2, lambda: next(keys)) == "b"
    board.settle_key("x")
    assert board.key_for("x", 2, lambda: next(keys)) == "c"


def test_the_same_change_of_another_event_has_a_key_of_its_own() -> None:
    board, keys = board_at(), iter("ab")
    change = change_of(AdmissionDraft().with_text("cap_per_minute", "900", SETTINGS), SETTINGS)
    assert board.key_for(admission_key(EventId(1)), change, lambda: next(keys)) == "a"
    board.choose_event(EventId(2))
    assert board.key_for(admission_key(EventId(2)), change, lambda: next(keys)) == "b"


def test_trouble_with_the_admission_of_another_event_is_not_told_of_this_one() -> None:
    board = board_at()
    board.put_control_trouble(EventId(2), "busy")
    assert [board.control_trouble] == [""]
    board.put_control_trouble(EventId(1), "busy")
    assert [board.control_trouble] == ["busy"]


def test_trouble_with_the_history_says_nothing_of_the_next_reading() -> None:
    board = board_at()
    acts: tuple[Callable[[], object], ...] = (
        lambda: board.look_at(OpsView(60.0)), lambda: board.choose_event(EventId(2)),
        lambda: board.merge_seconds(None, SampleTable()), lambda: board.put_state(OpsFeedState.LIVE),
    )  # fmt: skip
    for act in acts:
        board.put_state(OpsFeedState.AWAY)
        board.put_history_trouble("busy")
        told: list[OpsPart] = []
        leave = board.subscribe(told.append)
        act()
        leave()
        assert not board.history_trouble
        assert any(part & OpsPart.HISTORY for part in told)


def test_what_is_read_of_the_minutes_at_once_is_what_the_booking_system_answers() -> None:
    assert MOST_MINUTES_S / 60 <= MOST_POINTS


def test_minutes_cover_what_was_read_and_the_minute_that_still_runs() -> None:
    minutes = MinuteHistory(EventId(1), 1_000.0, 5_000.0)
    assert minutes.covers(EventId(1), 1_200.0, 5_060.0)
    assert not minutes.covers(EventId(1), 900.0, 2_000.0)
    assert not minutes.covers(EventId(2), 1_200.0, 2_000.0)
    assert not minutes.covers(EventId(1), 1_200.0, 6_000.0)


# ------------------------------------------------------------ how things stand


def test_all_is_well_only_while_figures_are_fresh_and_no_alarm_is_open() -> None:
    board = board_at()
    assert state_of(board, 101.0).health is Health.WELL
    assert state_of(board, 105.5).health is Health.LATE
    assert is_stale(board, 105.5)
    board.put_figures(figures(2, alarms=(alarm(OpsSeverity.WARNING),)), heard_at=106.0)
    assert state_of(board, 106.5).health is Health.WARNING
    board.put_figures(figures(3, alarms=(alarm(OpsSeverity.WARNING), alarm(OpsSeverity.CRITICAL, 2))), heard_at=107.0)
    state = state_of(board, 107.5)
    assert state.health is Health.CRITICAL
    assert [one.severity for one in state.alarms] == [OpsSeverity.CRITICAL, OpsSeverity.WARNING]
    board.put_figures(figures(4, authority_away=True), heard_at=108.0)
    assert state_of(board, 108.5).health is Health.AWAY


def test_a_second_that_was_old_when_it_came_is_not_called_well_however_fresh_its_frame_is() -> None:
    """Nobody adds up any more, and the process that answers goes on telling the last second that it knows."""
    board = board_at()
    for passed_s in range(1, 20):
        late = figures(1)
        board.put_figures(replace(late, server_time=late.server_time + timedelta(seconds=passed_s)), 100.0 + passed_s)
    state = state_of(board, 119.5)
    assert (state.health, state.age_s) == (Health.LATE, 19.5)
    assert is_stale(board, 119.5)
    board.put_figures(replace(figures(30), server_time=NOW + timedelta(seconds=30, milliseconds=1_500)), 120.0)
    assert state_of(board, 121.0).health is Health.WELL, "so late is every process that does not add up itself"


def test_an_alarm_is_told_with_the_figure_as_it_is_now() -> None:
    board = board_at()
    raised = alarm(OpsSeverity.WARNING)
    board.put_figures(figures(2, {raised.figure: 77.0}, alarms=(raised,)), heard_at=101.0)
    assert [one.value for one in state_of(board, 101.0).alarms] == [77.0]
    assert board.value_now(raised) == 77.0
    board.put_figures(figures(3, {"other": 1.0}, alarms=(raised,)), heard_at=102.0)
    assert [one.value for one in state_of(board, 102.0).alarms] == [raised.value], "what raised it is known"
    assert board.value_now(raised) is None


def test_nothing_known_is_not_called_well_and_a_limit_of_nothing_known_is_not_called_kept() -> None:
    board = board_at()
    rule = OpsAlarmRule(
        rule="r", figure="lock_waits", severity=OpsSeverity.WARNING, raise_at=8, clear_at=2, raise_after_s=3,
        clear_after_s=10,
    )  # fmt: skip
    board.put_rules((rule, replace(rule, rule="s", figure="hold_p99_ms"), replace(rule, rule="t", enabled=False)))
    assert limits_kept(board) == 1
    empty = figures(2)
    board.put_figures(replace(empty, house={}, events=(replace(empty.events[0], figures={}),)), heard_at=102.0)
    assert state_of(board, 102.5).health is Health.UNKNOWN
    assert limits_kept(board) == 0


def test_nothing_heard_is_unknown_and_no_link_is_away() -> None:
    board = OpsBoard()
    assert state_of(board, 0.0).health is Health.UNKNOWN
    board.put_state(OpsFeedState.AWAY)
    assert state_of(board, 0.0).health is Health.AWAY


# ------------------------------------------------------------ what is typed


def test_typing_what_is_set_already_types_nothing() -> None:
    draft = AdmissionDraft().with_text("cap_per_minute", "900", SETTINGS)
    assert not draft.is_empty
    assert draft.with_text("cap_per_minute", str(SETTINGS.cap_per_minute), SETTINGS).is_empty
    assert AdmissionDraft().with_mode(AdmissionMode.AUTOMATIC, SETTINGS).is_empty


@pytest.mark.parametrize("text", ["", "12.5", "12,5", "-3", "1e3", "9999999999", "600001", "1,23", "abc", "１２,3"])
def test_a_number_that_could_be_read_in_two_ways_is_refused_d6(text: str) -> None:
    use_language("en")
    draft = AdmissionDraft().with_text("cap_per_minute", text, SETTINGS)
    with pytest.raises(NumberTextError) as raised:
        numbers_of(draft, SETTINGS)
    assert raised.value.name == "cap_per_minute"


@pytest.mark.parametrize(
    ("language", "text"), [("en", "1,500"), ("pt", "1.500"), ("en", "1 500"), ("ar", "١٥٠٠"), ("ja", " 1500 ")]
)
def test_a_number_is_read_as_the_language_writes_it(language: str, text: str) -> None:
    try:
        use_language(language)
        draft = AdmissionDraft().with_text("cap_per_minute", text, SETTINGS)
        assert numbers_of(draft, SETTINGS) == {"cap_per_minute": 1_500}
    finally:
        use_language("en")


def test_no_rate_goes_above_the_cap_and_the_culprit_is_named() -> None:
    draft = AdmissionDraft().with_text("manual_per_minute", "1300", SETTINGS)
    with pytest.raises(NumberTextError) as raised:
        numbers_of(draft, SETTINGS)
    assert (raised.value.name, raised.value.most) == ("manual_per_minute", SETTINGS.cap_per_minute)
    lower = AdmissionDraft().with_text("cap_per_minute", "300", SETTINGS)
    with pytest.raises(NumberTextError) as raised:
        numbers_of(lower, SETTINGS)
    assert (raised.value.name, raised.value.least) == ("cap_per_minute", SETTINGS.manual_per_minute)


def test_a_change_carries_only_what_was_typed() -> None:
    draft = AdmissionDraft(reason=" busy ").with_text("total_active_users", "800", SETTINGS)
    change = change_of(draft.with_mode(AdmissionMode.MANUAL, SETTINGS), SETTINGS)
    assert (change.mode, change.total_active_users, change.reason) == (AdmissionMode.MANUAL, 800, "busy")
    assert change.cap_per_minute is None
    assert preview_of(draft, SETTINGS).total_active_users == 800


# ------------------------------------------------------------ waits and the log


def session(pid: int, *, ours: bool = True) -> OpsSession:
    return OpsSession(pid=pid, backend_started_at=NOW, application="api", state="active", statement="hold",
                      transaction_started_at=NOW, may_be_ended=ours)  # fmt: skip


def wait(pid: int, blockers: tuple[int, ...], roots: tuple[int, ...], since_s: int) -> OpsLockWait:
    return OpsLockWait(waiting=session(pid), since=NOW - timedelta(seconds=since_s), waited_s=since_s, lock="tuple",
                       blocked_by=tuple(map(session, blockers)), roots=roots)  # fmt: skip


def test_the_session_at_the_front_of_the_queue_stands_first_with_all_behind_it() -> None:
    rows = wait_rows([wait(3, (2,), (1,), 5), wait(2, (1,), (1,), 9), wait(8, (7,), (7,), 60)])
    assert [(row.blocker.pid, row.waiting.pid, row.is_root, row.behind) for row in rows] == [
        (1, 2, True, 2), (7, 8, True, 1), (2, 3, False, 1),
    ]  # fmt: skip
    assert len({row.key for row in rows}) == 3


def test_the_log_as_a_file_is_harmless_and_whole_i5() -> None:
    entry = OpsLogEntry(
        entry_id="audit:1", at=NOW, kind=OpsLogKind.ADMISSION, action="admission-settings-changed", who="=cmd()",
        subject="", reason="+1", event_id=EventId(1), changes=(OpsLogChange(name="cap", was="1", now="2"),),
    )  # fmt: skip
    body = ops_log_csv([f"h{number}" for number in range(10)], [(entry, "Admission set")])
    assert body.startswith(b"\xef\xbb\xbf")
    lines = list(csv.reader(io.StringIO(body.decode("utf-8-sig"))))
    assert lines[1][5] == "'=cmd()"
    assert lines[1][8] == "cap: 1 → 2"
    assert lines[1][9] == "'+1"
    with pytest.raises(ValueError, match="heads"):
        ops_log_csv(["one"], [])
