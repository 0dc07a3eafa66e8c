"""R24, R25 at the counter: what the advice of the API may and may not make a till do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.actions.ask_terminal import word_of
from app.actions.pay_card import pay_card
from app.actions.resolve_unknown import resolve_unknown
from app.actions.return_money import follow_returns, return_money
from app.actions.reverse_card import take_back
from app.actions.settle_card import apply_answer
from app.core.sale import EndReason, SaleState
from app.core.store import NoticeCode
from app.devices.card_terminal import EvidenceStep, TerminalOutcome, TerminalResult
from app.devices.fake_terminal import LoseLine
from app.journal.async_journal import AsyncJournal
from app.journal.terminal_record import Reversal, TerminalWord
from backend_client.testing import Fault
from backend_client.wire import Advice, OperationKind, OperationStatus, ResultAnswer, ResultOutcome, ResultReport
from tests.unit.counter import Counter, make_counter, open_journal
from tests.unit.test_full_disk import part_to_return


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[AsyncJournal]:
    kept = open_journal(tmp_path)
    yield kept
    await kept.close()


@pytest.fixture
async def counter(journal: AsyncJournal) -> Counter:
    made = make_counter(journal)
    await made.open()
    return made


async def test_r25_a_till_that_reversed_on_advice_says_so(counter: Counter) -> None:
    """Else somebody looks for money that its owner has back."""
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    await pay_card(counter.desk)
    counter.server.heal()
    counter.server.lose_holds()
    sale = await resolve_unknown(counter.desk)
    assert sale.end_reason is EndReason.CARD_REVERSED
    assert sale.payment is not None
    assert counter.server.house.reversals == [sale.payment.operation_id]


async def test_a_reversal_that_is_not_heard_of_ends_the_sale_all_the_same(counter: Counter) -> None:
    """The customer has the money back and goes; the API's item waits for a supervisor."""
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    await pay_card(counter.desk)
    counter.server.heal()
    counter.server.lose_holds()
    assert counter.sale.payment is not None
    assert counter.sale.payment.operation_id is not None
    record = await counter.desk.journal.terminal_attempt(counter.sale.payment.operation_id)
    assert record is not None
    assert record.word is not None
    told = await counter.desk.client.report_result(record.operation_id, record.word.report, key="once")
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    sale = await apply_answer(counter.desk, counter.sale, told, counter.terminal)
    assert (sale.state, sale.end_reason) == (SaleState.EXPIRED, EndReason.CARD_REVERSED)
    assert counter.charged_minor == 0
    assert counter.server.house.reversals == []


async def test_r25_a_charge_that_the_terminal_took_back_is_told_as_reversed_not_as_money_to_return(
    counter: Counter,
) -> None:
    """The API booked it and advised to reverse; the till, which died then, finds it taken back at the terminal."""
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=False))
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    await pay_card(counter.desk)
    counter.server.heal()
    assert counter.sale.payment is not None
    operation = counter.sale.payment.operation_id
    assert operation is not None
    counter.server.lose_holds()
    booked = ResultReport(outcome=ResultOutcome.SUCCEEDED, amount_minor=counter.sale.total_minor)
    assert (await counter.desk.client.report_result(operation, booked, key="first")).advice is Advice.REVERSE
    taken_back = ResultReport(outcome=ResultOutcome.DECLINED, amount_minor=0, decline_code="not-booked-at-terminal")
    await counter.desk.journal.record_terminal_result(operation, TerminalWord(taken_back))
    sale = await resolve_unknown(counter.desk)
    assert (sale.state, sale.end_reason) == (SaleState.EXPIRED, EndReason.CARD_REVERSED)
    assert NoticeCode.CHARGE_TO_RETURN not in counter.notices


@pytest.mark.parametrize("outcome", [ResultOutcome.UNKNOWN, ResultOutcome.DECLINED])
async def test_r24_advice_after_anything_but_a_success_reverses_nothing(
    counter: Counter, outcome: ResultOutcome
) -> None:
    """An unknown report is answered with `reverse`, which then means: no goods. No reversal begins."""
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    await pay_card(counter.desk)
    counter.server.heal()
    sale = counter.sale
    assert sale.payment is not None
    assert sale.order is not None
    operation = sale.payment.operation_id
    assert operation is not None
    booked = counter.charged_minor
    word = TerminalWord(ResultReport(outcome=outcome, amount_minor=0), trace=1, receipt_no=1)
    await counter.desk.journal.record_terminal_result(operation, word)
    record = await counter.desk.journal.terminal_attempt(operation)
    assert await take_back(counter.desk, record, counter.terminal) is Reversal.UNCLEAR
    order = await counter.desk.client.order(sale.order.order_id)
    live = msgspec.structs.replace(order.operations[0], status=OperationStatus.UNKNOWN)
    answer = ResultAnswer(operation=live, order=order, advice=Advice.REVERSE)
    await apply_answer(counter.desk, sale, answer, counter.terminal)
    assert counter.charged_minor == booked


async def test_r24_a_silent_terminal_is_told_to_the_api_and_nothing_is_reversed(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=False))
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.UNKNOWN
    assert sale.payment is not None
    assert sale.payment.operation_id is not None
    record = await counter.desk.journal.terminal_attempt(sale.payment.operation_id)
    assert record is not None
    assert record.reversal is Reversal.NONE


@pytest.mark.parametrize(("told", "sent"), [(1970, 2000), (2026, 2026), (2200, 2099)])
def test_evidence_of_a_till_without_a_clock_still_gets_across(told: int, sent: int) -> None:
    """The API refuses instants of another century; the result they prove must not be lost with them."""
    step = EvidenceStep(datetime(told, 6, 1, tzinfo=UTC), "in", "06 0F 00")
    result = TerminalResult(TerminalOutcome.DECLINED, 0, "EUR")
    word = word_of(replace(result, evidence=(step,)))
    assert word.report.evidence[0].at.year == sent


async def test_a_driver_that_breaks_while_money_goes_back_leaves_it_unknown_and_asked_about(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Money may have gone back: nobody gives it again, and the terminal is asked."""
    operation = await part_to_return(counter)
    reverse, order = counter.terminal.reverse, counter.sale.order
    assert order is not None

    async def break_afterwards(_terminal: object, receipt_no: int, **known: Any) -> None:
        await reverse(receipt_no, **known)
        raise RuntimeError("the driver broke")

    monkeypatch.setattr(type(counter.terminal), "reverse", break_afterwards)
    counter.desk.wake.clear()
    told = await return_money(counter.desk, order, operation)
    assert told.status is OperationStatus.UNKNOWN
    assert counter.desk.wake.is_set()
    assert await follow_returns(counter.desk) == 0
    (known,) = counter.server.house.orders.values()
    assert [one.status for one in known.operations if one.kind is OperationKind.REFUND] == [OperationStatus.SUCCEEDED]
