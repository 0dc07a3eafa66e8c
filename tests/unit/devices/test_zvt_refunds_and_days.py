"""Refunds (06 31), ends of day (06 50) and reversals with faults, driver against simulated terminal (T3, T4, T6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.devices.card_terminal import (
    DayTotals,
    Progress,
    SchemeTotal,
    TerminalOutcome,
    TerminalRefusedError,
    TerminalResult,
    TerminalUnavailableError,
    UnsupportedAmountError,
)
from app.devices.recovery import TerminalAttempt, matches_attempt
from app.devices.zvt import fields
from app.devices.zvt.codec import ZvtFormatError
from app.devices.zvt.simulator.ledger import Ledger
from app.devices.zvt.simulator.scenes import DayFault, ReversalFault, SceneName
from app.devices.zvt.totals import MOST_COUNTED, read_totals, write_totals
from tests.unit.devices.conftest import Counter

APPROVED, DECLINED, UNKNOWN = TerminalOutcome.APPROVED, TerminalOutcome.DECLINED, TerminalOutcome.UNKNOWN


async def refund(counter: Counter, amount_minor: int = 900) -> TerminalResult:
    return await counter.driver().refund(amount_minor, "EUR", on_progress=counter.till.progress.append)


async def test_a_refund_gives_money_once_and_asks_for_no_verdict(counter: Counter) -> None:
    result = await refund(counter)
    assert (result.outcome, result.amount_minor, result.receipt_no) == (APPROVED, 900, 1)
    assert counter.till.heard == []
    assert counter.till.progress[:2] == [Progress.CONNECTING, Progress.PRESENT_CARD]
    (booking,) = counter.machine.ledger.bookings
    assert (booking.kind, booking.amount_minor) == ("refund", 900)
    assert counter.machine.payments_asked == 0


@pytest.mark.parametrize(
    ("name", "outcome", "given"),
    [
        (SceneName.DECLINE, DECLINED, 0),
        (SceneName.CUSTOMER_TIMEOUT, DECLINED, 0),
        (SceneName.BUSY, DECLINED, 0),
        (SceneName.LINE_LOST_BEFORE_RESULT, UNKNOWN, 0),
        (SceneName.LINE_LOST_AFTER_APPROVAL, UNKNOWN, 1),
        (SceneName.LINE_LOST_AFTER_RESULT, UNKNOWN, 1),
        (SceneName.HANG, UNKNOWN, 0),
        (SceneName.DEAD, UNKNOWN, 0),
    ],
)
async def test_t3_a_refund_has_the_three_ends_of_a_payment(
    counter: Counter, name: SceneName, outcome: TerminalOutcome, given: int
) -> None:
    counter.plays(name)
    result = await refund(counter)
    assert result.outcome is outcome
    assert len(counter.machine.ledger.bookings) == given
    assert (result.amount_minor > 0) is (name is SceneName.LINE_LOST_AFTER_RESULT)


async def test_an_amount_that_fits_no_frame_is_refused_before_anything_begins(counter: Counter) -> None:
    with pytest.raises(UnsupportedAmountError):
        await refund(counter, 10**12)
    assert counter.machine.refunds_asked == 0


async def test_t4_a_refund_that_was_lost_is_found_again_by_amount_and_trace(counter: Counter) -> None:
    counter.plays(SceneName.LINE_LOST_AFTER_APPROVAL)
    await counter.pay()
    last = await counter.driver().last_transaction()
    assert last is not None
    assert last.booked_at is not None
    counter.plays(SceneName.LINE_LOST_AFTER_APPROVAL)
    await refund(counter)
    found = await counter.driver().last_transaction()
    assert found is not None
    assert matches_attempt(found, TerminalAttempt(900, "EUR", last.booked_at, last.trace))


# ------------------------------------------------------------ the end of the day


async def test_an_end_of_day_tells_what_stands_since_the_last_one(counter: Counter) -> None:
    """A reversed payment counts nothing, a refund is taken off, the next day starts at nought."""
    await counter.pay(1250)
    await counter.pay(2000)
    await counter.driver().reverse(2, amount_minor=2000)
    await refund(counter, 300)
    day = await counter.driver().end_of_day()
    assert day.outcome is APPROVED
    assert day.totals == DayTotals(950, (SchemeTotal("Visa", 2, 950),), 1, 3)
    assert (day.amount_minor, day.terminal_id, day.trace) == (950, "52500041", None)
    assert "Umsätze EUR 9,50" in day.receipt_lines
    again = await counter.driver().end_of_day()
    assert again.totals == DayTotals(0)


async def test_t3_an_end_of_day_whose_answer_was_lost_is_unknown_and_told_again(counter: Counter) -> None:
    await counter.pay(1250)
    counter.machine.day_fault = DayFault.LINE_LOST_AFTER
    assert (await counter.driver().end_of_day()).outcome is UNKNOWN
    last = await counter.driver().last_transaction()
    assert last is not None
    assert last.totals == DayTotals(1250, (SchemeTotal("Visa", 1, 1250),), 1, 1)


async def test_an_end_of_day_that_never_happened_leaves_the_last_payment_the_last(counter: Counter) -> None:
    await counter.pay(1250)
    counter.machine.day_fault = DayFault.LINE_LOST_BEFORE
    assert (await counter.driver().end_of_day()).outcome is UNKNOWN
    last = await counter.driver().last_transaction()
    assert last is not None
    assert (last.totals, last.amount_minor) == (None, 1250)


async def test_an_end_of_day_that_is_refused_says_why(counter: Counter) -> None:
    counter.machine.day_fault = DayFault.REFUSED
    with pytest.raises(TerminalRefusedError) as caught:
        await counter.driver().end_of_day()
    assert caught.value.decline_code == "not-possible"


async def test_an_end_of_day_without_figures_has_none(counter: Counter) -> None:
    counter.machine.day_fault = DayFault.SILENT
    day = await counter.driver().end_of_day()
    assert (day.outcome, day.totals) == (APPROVED, None)


async def test_the_total_of_a_day_is_never_taken_for_a_payment(counter: Counter) -> None:
    """A day with one payment has its amount as total; a lost payment of that amount must not find itself in it."""
    await counter.pay(1250)
    day = await counter.driver().end_of_day()
    assert day.booked_at is not None
    last = await counter.driver().last_transaction()
    assert last is not None
    for trace in (None, 0):
        assert not matches_attempt(last, TerminalAttempt(1250, "EUR", day.booked_at, trace))


async def test_a_payment_of_a_closed_day_is_refused_to_be_reversed(counter: Counter) -> None:
    await counter.pay(1250)
    await counter.driver().end_of_day()
    with pytest.raises(TerminalRefusedError) as caught:
        await counter.driver().reverse(1, amount_minor=1250)
    assert caught.value.decline_code == "reversal-not-possible"


async def test_a_ledger_keeps_its_days_over_a_restart(tmp_path: Path, counter: Counter) -> None:
    counter.machine.ledger.path = tmp_path / "terminal.json"
    await counter.pay(1250)
    await counter.driver().end_of_day()
    stored = json.loads((tmp_path / "terminal.json").read_text())
    assert [closing["total_minor"] for closing in stored["closings"]] == [1250]
    again = Ledger.load(tmp_path / "terminal.json")
    assert (again.bookings, again.closings) == (counter.machine.ledger.bookings, counter.machine.ledger.closings)


def test_totals_survive_a_round_trip_and_unknown_schemes_count_as_other() -> None:
    told = DayTotals(700, (SchemeTotal("girocard", 300, 500), SchemeTotal("UnionPay", 1, 200)), 7, 9)
    raw = write_totals(told)
    read = read_totals(fields.Fields({fields.TOTALS: raw, fields.AMOUNT: bytes.fromhex("000000000700")}))
    assert read == DayTotals(700, (SchemeTotal("girocard", MOST_COUNTED, 500), SchemeTotal("other", 1, 200)), 7, 9)
    assert read_totals(fields.Fields({fields.TOTALS: raw})) == read, "the total of its schemes when it names none"


def test_totals_of_another_layout_are_the_total_alone_and_nonsense_is_malformed() -> None:
    amount = {fields.AMOUNT: bytes.fromhex("000000000700")}
    assert read_totals(fields.Fields({**amount, fields.TOTALS: b"\x00" * 9})) == DayTotals(700)
    assert read_totals(fields.Fields(amount)) is None
    with pytest.raises(ZvtFormatError):
        read_totals(fields.Fields({**amount, fields.TOTALS: b"\xff" * 53}))


# ------------------------------------------------------------ reversals that go wrong


async def test_t6_a_reversal_that_tells_another_amount_is_found_out(counter: Counter) -> None:
    paid = await counter.pay(1250)
    assert paid.receipt_no is not None
    counter.machine.reversal_fault = ReversalFault.WRONG_AMOUNT
    result = await counter.driver().reverse(paid.receipt_no, amount_minor=1250, original_trace=paid.trace)
    assert (result.outcome, result.decline_code, result.amount_minor) == (UNKNOWN, "reversed-another", 1350)


@pytest.mark.parametrize("fault", [ReversalFault.LINE_LOST_BEFORE, ReversalFault.LINE_LOST_AFTER])
async def test_t6_a_reversal_whose_answer_is_lost_is_unknown(counter: Counter, fault: ReversalFault) -> None:
    paid = await counter.pay(1250)
    counter.machine.reversal_fault = fault
    result = await counter.driver().reverse(paid.receipt_no or 0, amount_minor=1250)
    assert result.outcome is UNKNOWN
    standing = counter.machine.ledger.last_payment()
    assert (standing is None) is (fault is ReversalFault.LINE_LOST_AFTER)


async def test_a_terminal_that_takes_no_tlv_is_registered_without(counter: Counter) -> None:
    counter.machine.refuses_tlv = True
    result = await counter.pay()
    assert result.outcome is APPROVED
    assert "Bitte für Rückfragen aufbewahren" in result.receipt_lines, "line by line then (T10)"


async def test_a_power_cut_in_a_payment_is_unknown_and_the_terminal_works_again(counter: Counter) -> None:
    counter.machine.card_gate.clear()
    counter.machine.drop_lines()  # with nobody there nothing happens

    def cut(_progress: Progress) -> None:
        if counter.machine.phase == "awaiting-card":
            counter.machine.drop_lines()

    result = await counter.driver().pay(1250, "EUR", on_progress=cut, on_result=counter.till.decide)
    assert (result.outcome, counter.machine.ledger.bookings) == (UNKNOWN, [])
    counter.machine.card_gate.set()
    assert (await counter.pay()).outcome is APPROVED


async def test_an_end_of_day_of_a_terminal_that_is_away_was_not_asked(counter: Counter) -> None:
    await counter.simulated.close()
    with pytest.raises(TerminalUnavailableError):
        await counter.driver().end_of_day()
