"""The course of one command: the state table, acknowledgements, and what each end means for the money."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.devices.card_terminal import TerminalOutcome, TerminalResult
from app.devices.zvt import exchange as course
from app.devices.zvt import messages
from app.devices.zvt.codec import Apdu
from app.devices.zvt.exchange import FINAL, TRANSITIONS, ApprovalTold, Exchange, ProgressTold, State
from app.devices.zvt.results import payment_result, reversal_result

NOW = datetime(2026, 11, 28, 18, 30, tzinfo=UTC)
ACK = messages.POSITIVE
PROGRESS = Apdu(0x04FF, b"\x0a")
APPROVAL = Apdu(0x040F, bytes.fromhex("27 00 04 00 00 00 00 12 50 0B 00 01 23 49 09 78 87 00 42"))
REVERSAL_OF_IT = Apdu(0x040F, bytes.fromhex("27 00 04 00 00 00 00 12 50 0B 00 01 24 37 00 01 23 49 09 78 87 00 42"))
DECLINE = Apdu(0x040F, bytes.fromhex("27 05 0B 00 01 23"))
NO_AMOUNT = Apdu(0x040F, bytes.fromhex("27 00 0B 00 01 23"))
MALFORMED = Apdu(0x040F, bytes.fromhex("27 00 04 00 00"))
DONE = Apdu(0x060F)
ENDED = Apdu(0x061E, b"\x6c")
NOT_REVERSED = Apdu(0x061E, b"\xb5")
BUSY = Apdu(0x849C)
ABORT_REQUEST = Apdu(0x06B0)


def payment() -> Exchange:
    exchange = Exchange(messages.authorize(1250, "EUR"), asks_verdict=True)
    exchange.take_output()
    return exchange


def play(*frames: Apdu, accept: bool = True) -> Exchange:
    exchange = payment()
    for frame in frames:
        if isinstance(exchange.receive(frame), ApprovalTold):
            exchange.decide(accept=accept)
    return exchange


def outcome_of(exchange: Exchange) -> TerminalResult:
    return payment_result(exchange, "EUR", UTC, NOW)


def test_every_frame_of_the_terminal_is_acknowledged() -> None:
    exchange = payment()
    answers = []
    for frame in (ACK, PROGRESS, Apdu(0x06D1, b"\x00Beleg"), DECLINE, ENDED):
        exchange.receive(frame)
        answers.append(exchange.take_output())
    assert answers == [[], [ACK], [ACK], [ACK], [ACK]]
    assert exchange.receipt_lines == ["Beleg"]


def test_an_approval_is_answered_only_by_the_verdict() -> None:
    exchange = payment()
    exchange.receive(ACK)
    event = exchange.receive(APPROVAL)
    assert isinstance(event, ApprovalTold)
    assert event.status.amount_minor == 1250
    assert exchange.take_output() == []
    exchange.decide(accept=False)
    assert exchange.take_output() == [messages.GOODS_NOT_ISSUED]


def test_a_verdict_nobody_asked_for_has_no_effect() -> None:
    exchange = payment()
    exchange.receive(ACK)
    exchange.decide(accept=True)
    assert (exchange.take_output(), exchange.accepted) == ([], None)


def test_a_refused_result_told_again_gets_the_same_refusal() -> None:
    exchange = play(ACK, APPROVAL, accept=False)
    exchange.take_output()
    exchange.receive(APPROVAL)
    assert exchange.take_output() == [messages.GOODS_NOT_ISSUED]


def test_an_unknown_command_is_answered_not_possible() -> None:
    exchange = play(ACK)
    exchange.receive(Apdu(0x0999))
    assert exchange.take_output() == [messages.NOT_UNDERSTOOD]


def test_t9_an_abort_waits_for_the_terminal_to_take_the_command_and_is_sent_once() -> None:
    exchange = payment()
    exchange.wish_abort()
    assert exchange.take_output() == []
    exchange.receive(ACK)
    assert exchange.take_output() == [ABORT_REQUEST]
    exchange.wish_abort()
    assert exchange.take_output() == []


def test_t9_no_abort_is_sent_once_an_approval_was_told() -> None:
    exchange = payment()
    exchange.receive(ACK)
    exchange.receive(APPROVAL)
    exchange.wish_abort()
    assert exchange.take_output() == []


@pytest.mark.parametrize("answer", [ACK, Apdu(0x8483), BUSY])
def test_t9_the_answer_to_an_abort_decides_nothing(answer: Apdu) -> None:
    exchange = payment()
    exchange.receive(ACK)
    exchange.wish_abort()
    exchange.receive(answer)
    assert exchange.state is State.RUNNING
    exchange.receive(APPROVAL)
    exchange.decide(accept=True)
    exchange.receive(DONE)
    assert outcome_of(exchange).outcome is TerminalOutcome.APPROVED


def test_progress_is_told_to_the_caller() -> None:
    exchange = payment()
    exchange.receive(ACK)
    assert exchange.receive(PROGRESS) == ProgressTold(0x0A)


def test_nothing_leaves_a_final_state() -> None:
    exchange = play(ACK, DECLINE, ENDED)
    exchange.take_output()
    exchange.receive(APPROVAL)
    exchange.lose()
    assert (exchange.state, exchange.take_output()) == (State.ABORTED, [])
    assert not any(before in FINAL for before, _ in TRANSITIONS)


def test_the_table_in_the_words_above_the_machine_agrees() -> None:
    assert course.__doc__ is not None
    for state in State:
        assert state.name in course.__doc__
    for (before, _), after in TRANSITIONS.items():
        line = next(line for line in course.__doc__.splitlines() if line.strip().startswith(before.name))
        assert after.name in line or (after is State.DECIDING and "*" in line) or after is before


@pytest.mark.parametrize(
    ("frames", "accept", "outcome", "amount", "code"),
    [
        ((ACK, PROGRESS, APPROVAL, DONE), True, "approved", 1250, ""),
        ((ACK, DECLINE, ENDED), True, "declined", 0, "declined-by-host"),
        ((ACK, DECLINE, DONE), True, "declined", 0, "declined-by-host"),
        ((ACK, ENDED), True, "declined", 0, "cancelled-at-terminal"),
        ((BUSY,), True, "declined", 0, "terminal-busy"),
        ((ACK, APPROVAL, ENDED), False, "declined", 0, "goods-not-issued"),
        ((ACK, APPROVAL, REVERSAL_OF_IT, DONE), False, "declined", 0, "goods-not-issued"),
        ((ACK, APPROVAL, NOT_REVERSED), False, "unknown", 1250, ""),
        ((ACK, APPROVAL, DONE), False, "unknown", 1250, ""),
        ((ACK, APPROVAL, ENDED), True, "unknown", 1250, ""),
        ((ACK, DONE), True, "unknown", 0, ""),
        ((ACK, NO_AMOUNT, DONE), True, "unknown", 0, ""),
        ((ACK, NO_AMOUNT, ENDED), True, "unknown", 0, ""),
        ((ACK, MALFORMED, DONE), True, "unknown", 0, ""),
        ((ACK, MALFORMED, ENDED), True, "unknown", 0, ""),
        ((APPROVAL, DONE), True, "approved", 1250, ""),
    ],
)
def test_what_each_end_means_for_the_money(
    frames: tuple[Apdu, ...], accept: bool, outcome: str, amount: int, code: str
) -> None:
    result = outcome_of(play(*frames, accept=accept))
    assert (result.outcome, result.amount_minor, result.decline_code) == (outcome, amount, code)
    assert result.reversed_at_terminal is (code == "goods-not-issued")


@pytest.mark.parametrize("heard", [(), (ACK,), (ACK, PROGRESS), (ACK, APPROVAL), (ACK, DECLINE)])
def test_t1_t3_silence_at_any_point_is_unknown(heard: tuple[Apdu, ...]) -> None:
    exchange = play(*heard)
    exchange.lose()
    assert outcome_of(exchange).outcome is TerminalOutcome.UNKNOWN


def test_an_unknown_result_keeps_what_was_heard() -> None:
    exchange = play(ACK, APPROVAL)
    exchange.lose()
    result = outcome_of(exchange)
    assert (result.amount_minor, result.trace, result.receipt_no) == (1250, 123, 42)


FRAMES = [ACK, PROGRESS, APPROVAL, DECLINE, NO_AMOUNT, MALFORMED, DONE, ENDED, NOT_REVERSED, BUSY, REVERSAL_OF_IT]


@given(st.lists(st.sampled_from(FRAMES), max_size=8), st.booleans())
def test_no_course_of_frames_makes_money_of_nothing(frames: list[Apdu], accept: bool) -> None:
    """APPROVED needs an approval, its acceptance and a completion; DECLINED never hides an accepted approval."""
    exchange = play(*frames, accept=accept)
    if not exchange.finished:
        exchange.lose()
    result = outcome_of(exchange)
    accepted = exchange.accepted is True
    if result.outcome is TerminalOutcome.APPROVED:
        assert accepted
        assert exchange.state is State.COMPLETED
    if result.outcome is TerminalOutcome.DECLINED:
        assert not accepted
    assert exchange.state is not State.LOST or result.outcome is TerminalOutcome.UNKNOWN


@given(
    st.lists(st.builds(Apdu, st.sampled_from([0x040F, 0x04FF, 0x06D1, 0x06D3, 0x8000, 0x0999]), st.binary(max_size=40)))
)
def test_whatever_a_terminal_sends_the_exchange_goes_on(frames: list[Apdu]) -> None:
    exchange = play(*frames)
    assert not exchange.finished
    exchange.lose()
    assert outcome_of(exchange).outcome is TerminalOutcome.UNKNOWN


def reversal(**facts: int | None) -> TerminalResult:
    told = TerminalResult(TerminalOutcome.APPROVED, 1250, "EUR", trace=124, receipt_no=42, original_trace=123)
    return replace(told, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("told", "amount", "trace", "outcome", "code"),
    [
        (reversal(), 1250, 123, "approved", ""),
        (reversal(receipt_no=43), 1250, 123, "approved", ""),
        (reversal(original_trace=None), None, None, "approved", ""),
        (reversal(), 990, 123, "unknown", "reversed-another"),
        (reversal(), 1250, 99, "unknown", "reversed-another"),
        (reversal(receipt_no=41), None, None, "unknown", "reversed-another"),
        (reversal(receipt_no=None, original_trace=None), 1250, 123, "unknown", "reversal-not-verified"),
    ],
)
def test_t6_a_reversal_must_name_what_was_asked(
    told: TerminalResult, amount: int | None, trace: int | None, outcome: str, code: str
) -> None:
    result = reversal_result(told, 42, amount, trace)
    assert (result.outcome, result.decline_code) == (outcome, code)
