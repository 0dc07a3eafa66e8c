"""The driver against a simulated terminal over TCP, scene by scene (T1, T3, T4, T6, T7, T9, T10)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.devices.card_terminal import (
    Progress,
    Readiness,
    TerminalBusyError,
    TerminalOutcome,
    TerminalRefusedError,
    TerminalResult,
    TerminalUnavailableError,
    UnsupportedAmountError,
    UnsupportedCurrencyError,
    Verdict,
)
from app.devices.recovery import TerminalAttempt, matches_attempt
from app.devices.zvt.driver import ZvtTerminal
from app.devices.zvt.simulator.scenes import FrameMode, SceneName
from tests.unit.devices.conftest import FAST, Counter, Till, eventually

APPROVED, DECLINED, UNKNOWN = TerminalOutcome.APPROVED, TerminalOutcome.DECLINED, TerminalOutcome.UNKNOWN


@pytest.mark.parametrize("mode", FrameMode)
async def test_an_approval_is_booked_once_and_told_whole(counter: Counter, mode: FrameMode) -> None:
    """T10: receipt lines keep their letters; frames may be whole, split or glued."""
    counter.machine.frame_mode = mode
    result = await counter.pay()
    assert (result.outcome, result.amount_minor, result.currency) == (APPROVED, 1250, "EUR")
    assert (result.trace, result.receipt_no) == (1, 1)
    assert (result.card_brand, result.card_last4, result.terminal_id) == ("Visa", "1111", "52500041")
    assert result.booked_at is not None
    assert abs((result.booked_at - datetime.now(UTC)).total_seconds()) < 60
    assert "Bitte für Rückfragen aufbewahren" in result.receipt_lines
    assert "Straße der Künste 7, Köln" in result.receipt_lines
    assert [booking.amount_minor for booking in counter.machine.ledger.bookings] == [1250]


async def test_progress_reaches_the_clerk_in_order(counter: Counter) -> None:
    await counter.pay()
    assert counter.till.progress == [
        Progress.CONNECTING,
        Progress.PRESENT_CARD,
        Progress.ASKING_HOST,
        Progress.APPROVED,
    ]


async def test_the_till_hears_of_the_approval_before_the_terminal_goes_on(counter: Counter) -> None:
    await counter.pay()
    (heard,) = counter.till.heard
    assert (heard.outcome, heard.amount_minor, heard.receipt_no) == (APPROVED, 1250, 1)


async def test_a_decline_books_nothing_and_asks_for_no_verdict(counter: Counter) -> None:
    counter.plays(SceneName.DECLINE)
    result = await counter.pay()
    assert (result.outcome, result.amount_minor, result.decline_code) == (DECLINED, 0, "declined-by-host")
    assert counter.till.heard == []
    assert counter.machine.ledger.bookings == []


async def test_a_customer_who_shows_no_card_is_a_decline(counter: Counter) -> None:
    counter.plays(SceneName.CUSTOMER_TIMEOUT)
    result = await counter.pay()
    assert (result.outcome, result.decline_code) == (DECLINED, "cancelled-at-terminal")


async def test_the_amount_that_the_terminal_approved_is_reported_as_it_is(counter: Counter) -> None:
    counter.plays(SceneName.PARTIAL_APPROVAL, amount_minor=1000)
    result = await counter.pay(1250)
    assert (result.outcome, result.amount_minor) == (APPROVED, 1000)
    assert counter.till.heard[0].amount_minor == 1000


async def test_a_lost_hold_makes_the_terminal_reverse(counter: Counter) -> None:
    counter.till.verdict = Verdict.REVERSE
    result = await counter.pay()
    assert (result.outcome, result.decline_code, result.reversed_at_terminal) == (DECLINED, "goods-not-issued", True)
    assert counter.machine.ledger.last_payment() is None


async def test_a_verdict_that_takes_too_long_accepts_and_is_left_to_finish(counter: Counter) -> None:
    release = asyncio.Event()
    ended = []

    async def decide_late(_result: TerminalResult) -> Verdict:
        await release.wait()
        ended.append(True)
        return Verdict.REVERSE

    result = await counter.driver(verdict_s=0.05).pay(1250, "EUR", on_progress=lambda _: None, on_result=decide_late)
    assert result.outcome is APPROVED
    assert any("no verdict in time" in step.body for step in result.evidence)
    release.set()
    await eventually(lambda: ended == [True])


async def test_a_verdict_that_fails_accepts_and_is_logged(counter: Counter, caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_result: TerminalResult) -> Verdict:
        raise RuntimeError("journal full")

    result = await counter.driver().pay(1250, "EUR", on_progress=lambda _: None, on_result=fail)
    assert result.outcome is APPROVED
    assert "the verdict on an approval failed" in caplog.text


@pytest.mark.parametrize(
    ("name", "booked", "heard"),
    [
        (SceneName.LINE_LOST_BEFORE_RESULT, 0, 0),
        (SceneName.LINE_LOST_AFTER_APPROVAL, 1, 0),
        (SceneName.LINE_LOST_AFTER_RESULT, 1, 1),
        (SceneName.LINE_LOST_AFTER_VERDICT, 1, 1),
    ],
)
async def test_t1_a_line_lost_at_any_point_is_unknown_and_the_truth_is_asked(
    counter: Counter, name: SceneName, booked: int, heard: int
) -> None:
    await counter.pay(300)  # an older sale must not be taken for this one
    attempt = TerminalAttempt(1250, "EUR", datetime.now(UTC), last_trace=1)
    counter.till.heard.clear()
    counter.plays(name)
    result = await counter.pay()
    assert result.outcome is UNKNOWN
    assert len(counter.till.heard) == heard
    last = await counter.driver().last_transaction()
    assert last is not None
    assert matches_attempt(last, attempt) is bool(booked)
    assert counter.machine.payments_asked == 2, "asking is not charging"


async def test_t4_a_booking_that_the_terminal_took_back_is_no_match(counter: Counter) -> None:
    counter.plays(SceneName.LINE_LOST_AFTER_RESULT, auto_reverse=True)
    attempt = TerminalAttempt(1250, "EUR", datetime.now(UTC))
    assert (await counter.pay()).outcome is UNKNOWN
    await eventually(lambda: len(counter.machine.ledger.bookings) == 2)
    last = await counter.driver().last_transaction()
    assert last is not None
    assert last.original_trace == 1
    assert not matches_attempt(last, attempt)


async def test_t3_a_terminal_that_falls_silent_is_unknown_after_the_deadline(counter: Counter) -> None:
    counter.plays(SceneName.HANG)
    result = await counter.pay()
    assert result.outcome is UNKNOWN
    assert any("no answer within" in step.body for step in result.evidence)


async def test_t3_a_terminal_that_never_takes_the_command_is_unknown_too(counter: Counter) -> None:
    """It may have taken it: only its answer would say."""
    counter.plays(SceneName.DEAD)
    assert (await counter.pay()).outcome is UNKNOWN


async def test_t7_each_frame_moves_the_deadline(counter: Counter) -> None:
    counter.plays(SceneName.MORE_TIME, repeats=6, interval_s=0.1)
    result = await counter.pay()
    assert result.outcome is APPROVED
    assert counter.till.progress.count(Progress.PLEASE_WAIT) == 6


async def test_t7_but_not_for_ever(counter: Counter) -> None:
    counter.plays(SceneName.MORE_TIME, repeats=1000, interval_s=0.05)
    result = await counter.driver(busy_limit_s=0.5).pay(
        1250, "EUR", on_progress=counter.till.progress.append, on_result=counter.till.decide
    )
    assert result.outcome is UNKNOWN
    assert 2 <= counter.till.progress.count(Progress.PLEASE_WAIT) < 100


async def test_abort_before_the_card_ends_the_payment(counter: Counter) -> None:
    counter.machine.card_gate.clear()
    driver = counter.driver(t4_s=3)
    paying = asyncio.create_task(
        driver.pay(1250, "EUR", on_progress=counter.till.progress.append, on_result=counter.till.decide)
    )
    await eventually(lambda: counter.machine.phase == "awaiting-card")
    await driver.abort()
    result = await paying
    assert (result.outcome, result.decline_code) == (DECLINED, "aborted")
    assert counter.machine.ledger.bookings == []


async def test_t9_an_approval_that_crosses_the_abort_wins(counter: Counter) -> None:
    counter.plays(SceneName.ABORT_CROSSING_APPROVAL)
    driver = counter.driver(t4_s=3)
    paying = asyncio.create_task(
        driver.pay(1250, "EUR", on_progress=counter.till.progress.append, on_result=counter.till.decide)
    )
    await eventually(lambda: Progress.PRESENT_CARD in counter.till.progress)
    await driver.abort()
    result = await paying
    assert (result.outcome, result.amount_minor) == (APPROVED, 1250)
    assert any(step.body.startswith("06 B0") for step in result.evidence)


async def test_an_abort_while_connecting_sends_no_payment(counter: Counter) -> None:
    driver = counter.driver()
    paying = asyncio.create_task(driver.pay(1250, "EUR", on_progress=lambda _: None, on_result=counter.till.decide))
    await asyncio.sleep(0)
    await driver.abort()
    result = await paying
    assert (result.outcome, result.decline_code) == (DECLINED, "aborted")
    assert counter.machine.payments_asked == 0


async def test_an_abort_when_idle_does_nothing(counter: Counter) -> None:
    driver = counter.driver()
    await driver.abort()
    assert (await driver.status()).readiness is Readiness.READY


async def test_a_busy_terminal_declines_before_anything_begins(counter: Counter) -> None:
    counter.plays(SceneName.BUSY)
    result = await counter.pay()
    assert (result.outcome, result.decline_code) == (DECLINED, "terminal-busy")


async def test_a_second_payment_on_one_terminal_is_refused(counter: Counter) -> None:
    counter.machine.card_gate.clear()
    driver = counter.driver(t4_s=3)
    first = asyncio.create_task(driver.pay(1, "EUR", on_progress=lambda _: None, on_result=counter.till.decide))
    await eventually(lambda: counter.machine.phase == "awaiting-card")
    with pytest.raises(TerminalBusyError):
        await driver.pay(2, "EUR", on_progress=lambda _: None, on_result=counter.till.decide)
    with pytest.raises(TerminalRefusedError, match="busy"):
        await counter.driver().last_transaction()
    counter.machine.card_gate.set()
    assert (await first).outcome is APPROVED
    assert counter.machine.payments_asked == 1


async def test_no_connection_says_that_nothing_was_begun(counter: Counter) -> None:
    await counter.simulated.close()
    with pytest.raises(TerminalUnavailableError):
        await counter.pay()


async def test_a_currency_without_a_number_says_that_nothing_was_begun(counter: Counter) -> None:
    with pytest.raises(UnsupportedCurrencyError):
        await counter.pay(100, "XTS")
    assert counter.machine.payments_asked == 0


async def test_an_amount_that_fits_no_frame_says_that_nothing_was_begun(counter: Counter) -> None:
    with pytest.raises(UnsupportedAmountError):
        await counter.pay(10**12)
    assert counter.machine.payments_asked == 0


async def test_a_picture_that_cannot_be_drawn_costs_no_payment_its_end(
    counter: Counter, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_progress: Progress) -> None:
        raise RuntimeError("no window")

    result = await counter.driver().pay(1250, "EUR", on_progress=fail, on_result=counter.till.decide)
    assert result.outcome is APPROVED
    assert "progress could not be shown" in caplog.text


async def test_a_cancelled_payment_hangs_up_and_the_terminal_can_be_used_again(counter: Counter) -> None:
    counter.machine.card_gate.clear()
    driver = counter.driver(t4_s=3)
    paying = asyncio.create_task(driver.pay(1, "EUR", on_progress=lambda _: None, on_result=counter.till.decide))
    await eventually(lambda: counter.machine.phase == "awaiting-card")
    paying.cancel()
    await asyncio.gather(paying, return_exceptions=True)
    await eventually(lambda: not counter.machine.occupied)
    assert (await driver.status()).readiness is Readiness.READY


@pytest.mark.parametrize("currency", ["USD", "JPY", "KWD", "BRL", "GBP"])
async def test_minor_units_travel_as_they_are_in_every_currency(counter: Counter, currency: str) -> None:
    """P20 at the terminal: JPY 80 arrives as 80."""
    result = await counter.pay(80, currency)
    assert (result.amount_minor, result.currency) == (80, currency)
    assert counter.machine.ledger.bookings[0].amount_minor == 80


async def test_closing_the_driver_ends_a_running_payment_unknown(counter: Counter) -> None:
    counter.machine.card_gate.clear()
    driver = counter.driver(t4_s=3)
    paying = asyncio.create_task(driver.pay(1, "EUR", on_progress=lambda _: None, on_result=counter.till.decide))
    await eventually(lambda: counter.machine.phase == "awaiting-card")
    await driver.close()
    assert (await paying).outcome is UNKNOWN


async def test_t6_a_reversal_names_its_receipt(counter: Counter) -> None:
    first = await counter.pay(1250)
    await counter.pay(300)
    assert first.receipt_no is not None
    reversal = await counter.driver().reverse(first.receipt_no, amount_minor=1250, original_trace=first.trace)
    assert (reversal.outcome, reversal.amount_minor, reversal.original_trace) == (APPROVED, 1250, first.trace)
    standing = [b.amount_minor for b in counter.machine.ledger.bookings if not b.reversed and b.original_trace is None]
    assert standing == [300]


async def test_t6_a_terminal_that_reverses_its_last_booking_instead_is_found_out(counter: Counter) -> None:
    first = await counter.pay(1250)
    await counter.pay(300)
    counter.machine.reverses_last = True
    assert first.receipt_no is not None
    reversal = await counter.driver().reverse(first.receipt_no, amount_minor=1250, original_trace=first.trace)
    assert (reversal.outcome, reversal.decline_code) == (UNKNOWN, "reversed-another")


@pytest.mark.parametrize(("receipt_no", "code"), [(1, "already-reversed"), (77, "reversal-not-possible")])
async def test_a_reversal_that_was_refused_says_why(counter: Counter, receipt_no: int, code: str) -> None:
    await counter.pay()
    await counter.driver().reverse(1)
    with pytest.raises(TerminalRefusedError) as refused:
        await counter.driver().reverse(receipt_no)
    assert refused.value.decline_code == code


async def test_a_terminal_that_repeats_nothing_proves_nothing(counter: Counter) -> None:
    """Some terminals answer 06 20 with an empty completion by configuration."""
    await counter.pay()
    counter.machine.forgets_receipts = True
    assert await counter.driver().last_transaction() is None


async def test_evidence_holds_no_card_number_and_no_password(counter: Counter) -> None:
    """R43: the simulated card shows its first six digits on the wire; they must not be kept."""
    result = await counter.driver(password=987654).pay(
        1250, "EUR", on_progress=lambda _: None, on_result=counter.till.decide
    )
    kept = " ".join(step.body for step in result.evidence) + " ".join(result.receipt_lines)
    assert "22=…1111" in kept
    assert "476173" not in kept
    assert "987654" not in kept.replace(" ", "")
    assert [step.direction for step in result.evidence[:2]] == ["sent", "received"]
    assert any(step.body.startswith("06 01 04=000000001250 49=0978") for step in result.evidence)


@asynccontextmanager
async def half_dead(*answers: str) -> AsyncIterator[int]:
    """A terminal that gives these answers (hexadecimal), one a frame it gets, and then only listens."""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = list(answers)
        while await reader.read(4096):
            if left:
                writer.write(bytes.fromhex(left.pop(0)))
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_a_terminal_that_takes_the_registration_and_falls_silent_is_given_up_soon() -> None:
    """Nothing has begun: nobody waits out the 180 s that a card and its PIN may take."""
    async with half_dead("800000") as port:
        driver = ZvtTerminal(replace(FAST, port=port, t3_s=5, t4_s=180, busy_limit_s=600, registration_s=0.2))
        till = Till()
        async with asyncio.timeout(60):
            with pytest.raises(TerminalUnavailableError):
                await driver.pay(4500, "EUR", on_progress=till.progress.append, on_result=till.decide)


async def test_an_enquiry_that_is_taken_and_not_answered_is_given_up_soon() -> None:
    async with half_dead("800000060F00", "", "800000") as port:
        driver = ZvtTerminal(replace(FAST, port=port, t3_s=5, t4_s=180, busy_limit_s=600, enquiry_s=0.2))
        async with asyncio.timeout(60):
            with pytest.raises(TerminalUnavailableError):
                await driver.last_transaction()
