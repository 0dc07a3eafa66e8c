"""Card payments whose end was not heard: asked, never guessed, never charged again (T1, T3, T4, T6, R24)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.actions.finish_sale import finish_sale, park_sale
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.resolve_unknown import keep_resolving, resolve_unknown
from app.core.errors import (
    SaleNotReadyError,
    TerminalUnsettledError,
)
from app.core.sale import EndReason, SaleState, UnknownReason
from app.core.store import NoticeCode
from app.devices.card_terminal import (
    ProgressCallback,
    ResultCallback,
    TerminalOutcome,
    TerminalResult,
    TerminalUnavailableError,
)
from app.devices.fake_terminal import Approve, FakeCardTerminal, LoseLine
from backend_client.testing import Fault
from tests.unit.counter import FAST, Counter, make_counter, open_journal, until


class DeafTerminal(FakeCardTerminal):
    """Cannot be asked about anything."""

    async def last_transaction(self) -> TerminalResult | None:
        raise TerminalUnavailableError("no connection")


class LineDiesAtTheEnd(FakeCardTerminal):
    """The verdict was given; then the line died. `kept` says whether the terminal heard it."""

    kept = True

    async def pay(
        self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
    ) -> TerminalResult:
        result = await super().pay(amount_minor, currency, on_progress=on_progress, on_result=on_result)
        if not self.kept:
            self.booked.remove(result)
        return replace(result, outcome=TerminalOutcome.UNKNOWN)


@pytest.mark.parametrize("booked", [True, False])
async def test_lost_line_is_unknown_and_resolved_by_asking(counter: Counter, *, booked: bool) -> None:
    """T3, R31: nobody charges again; the terminal's last transaction and the API decide."""
    await counter.hold(40)
    await pay_card(counter.desk)
    await finish_sale(counter.desk)
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=booked))
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.UNKNOWN
    assert sale.unknown_reason is UnknownReason.TERMINAL_SILENT
    with pytest.raises(SaleNotReadyError):
        await pay_card(counter.desk)
    asked = counter.terminal.payments_asked
    sale = await resolve_unknown(counter.desk)
    assert sale.state is (SaleState.PAID if booked else SaleState.HELD)
    assert counter.terminal.payments_asked == asked
    assert len(counter.terminal.booked) == (2 if booked else 1)


async def test_unknown_sale_waits_aside_while_the_next_customer_is_served(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    first = await pay_card(counter.desk)
    await park_sale(counter.desk)
    assert [sale.sale_id for sale in counter.desk.store.parked] == [first.sale_id]
    await counter.hold(1)
    second = await pay_card(counter.desk)
    assert second.state is SaleState.PAID
    await resolve_unknown(counter.desk, first.sale_id)
    [parked] = counter.desk.store.parked
    assert parked.state is SaleState.PAID
    assert NoticeCode.PARKED_SALE_PAID in counter.notices
    assert len(counter.terminal.booked) == 2


async def test_later_payment_of_the_same_amount_is_not_taken_for_the_lost_one(counter: Counter) -> None:
    """T6: after another payment the last transaction says nothing about the open one."""
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=False))
    first = await pay_card(counter.desk)
    await park_sale(counter.desk)
    await counter.hold(1)
    await pay_card(counter.desk)
    still = await resolve_unknown(counter.desk, first.sale_id)
    assert still.state is SaleState.UNKNOWN
    assert still.unknown_reason is UnknownReason.RECONCILING


async def test_card_waits_until_the_terminal_can_be_asked_about_the_open_payment(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    await pay_card(counter.desk)
    await park_sale(counter.desk)
    await counter.hold(1)
    counter.desk.terminal = DeafTerminal()
    with pytest.raises(TerminalUnsettledError):
        await pay_card(counter.desk)
    assert counter.sale.state is SaleState.HELD
    assert (await pay_cash(counter.desk, 5000)).state is SaleState.PAID


async def test_api_that_is_silent_on_an_approval_gets_the_result_later(counter: Counter) -> None:
    """DESIGN §3: no answer within the terminal's patience → goods issued, settle later; one charge."""
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.UNKNOWN
    assert sale.unknown_reason is UnknownReason.BOOKING_SILENT
    counter.server.heal()
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID
    assert counter.charged_minor == 4500


async def test_slow_api_does_not_keep_the_terminal_waiting(tmp_path: Path) -> None:
    patience = replace(FAST, report_s=0.02)
    journal = open_journal(tmp_path)
    counter = make_counter(journal, patience=patience)
    await counter.open()
    await counter.hold(0)
    counter.server.delay("/result", 0.3, times=1)
    sale = await pay_card(counter.desk)
    await journal.close()
    assert sale.state is SaleState.PAID
    assert counter.charged_minor == 4500


async def test_late_advice_to_reverse_names_the_receipt(counter: Counter) -> None:
    """R25, T6: accepted for want of an answer, then the hold turns out to be lost: reversed by receipt number, once."""
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    await pay_card(counter.desk)
    counter.server.heal()
    counter.server.lose_holds()
    sale = await resolve_unknown(counter.desk)
    assert sale.state is SaleState.EXPIRED
    assert sale.end_reason is EndReason.CARD_REVERSED
    assert counter.charged_minor == 0


async def test_amount_that_differs_is_never_a_guess(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(Approve(amount_minor=4000))
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.EXPIRED
    assert sale.end_reason is EndReason.CARD_REVERSED
    assert counter.charged_minor == 0


async def test_unknown_sale_is_asked_about_until_it_is_clear(counter: Counter) -> None:
    resolving = asyncio.create_task(keep_resolving(counter.desk), name="resolve")
    await counter.hold(0)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=12)
    assert (await pay_card(counter.desk)).state is SaleState.UNKNOWN
    await until(lambda: counter.sale.state is SaleState.PAID)
    resolving.cancel()
    assert counter.charged_minor == 4500


@pytest.mark.parametrize("kept", [True, False])
async def test_line_that_dies_after_the_verdict_leaves_a_paid_sale_and_no_false_alarm(
    counter: Counter, *, kept: bool
) -> None:
    """The API has confirmed: that counts. Only a charge that the terminal took back is said to a supervisor."""
    terminal = LineDiesAtTheEnd()
    counter.desk.terminal = terminal
    await counter.hold(1)
    await pay_card(counter.desk)
    await finish_sale(counter.desk)
    terminal.kept = kept
    counter.desk.store.notices = ()
    await counter.hold(0)
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.PAID
    assert (NoticeCode.TERMINAL_DIFFERS in counter.notices) is not kept


async def test_driver_that_breaks_during_a_payment_is_unknown(counter: Counter) -> None:
    """R24: whatever the driver did wrong, money may have moved."""

    class Broken(FakeCardTerminal):
        async def pay(
            self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
        ) -> TerminalResult:
            self._book(amount_minor, currency)
            raise RuntimeError("a bug")

    terminal = Broken()
    counter.desk.terminal = terminal
    await counter.hold(0)
    assert (await pay_card(counter.desk)).state is SaleState.UNKNOWN
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID
    assert len(terminal.booked) == 1
