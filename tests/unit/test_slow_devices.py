"""A terminal that hangs or is dead, and a printer that fails, hold up their own sale and no other."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from app.actions.finish_sale import park_sale, resume_parked
from app.actions.pay_card import abort_card, pay_card
from app.actions.pay_cash import pay_cash
from app.actions.print_tickets import print_tickets
from app.actions.resume_sales import clear_up, show_open_sales, waits_for_terminal
from app.core.errors import (
    SaleNotReadyError,
    TerminalUnsettledError,
)
from app.core.sale import SaleState
from app.core.store import NoticeCode
from app.devices.card_terminal import TerminalResult
from app.devices.fake_terminal import AwaitAbort, Decline, FakeCardTerminal, LoseLine
from app.devices.ticket_printer import PrintState
from backend_client.wire import PrintJobStatus
from tests.unit.counter import Counter, until


def state_of(counter: Counter) -> SaleState:
    """Where the sale at the counter stands now."""
    return counter.sale.state


async def test_a_payment_that_hangs_is_parked_and_the_next_customer_is_served_h5(counter: Counter) -> None:
    desk = counter.desk
    first = await counter.hold(0)
    counter.terminal.play(AwaitAbort(approve_anyway=True))
    paying = asyncio.create_task(pay_card(desk), name="pay")
    await until(lambda: desk.store.terminal_progress == "present-card")
    await park_sale(desk)
    await counter.hold(1)
    with pytest.raises(TerminalUnsettledError):
        await pay_card(desk)
    assert (await pay_cash(desk, 4500)).state is SaleState.PAID
    assert [sale.state for sale in desk.store.parked] == [SaleState.PAYING]
    await resume_parked(desk, first.sale_id)
    assert state_of(counter) is SaleState.PAYING
    await abort_card(desk)
    assert (await paying).state is SaleState.PAID
    assert state_of(counter) is SaleState.PAID
    assert counter.charged_minor == 4500
    assert not desk.running
    assert not desk.charging


async def test_a_parked_payment_that_is_declined_is_said_to_be_free(counter: Counter) -> None:
    desk = counter.desk
    await counter.hold(0)
    counter.terminal.play(AwaitAbort())
    paying = asyncio.create_task(pay_card(desk), name="pay")
    await until(lambda: desk.store.terminal_progress == "present-card")
    await park_sale(desk)
    await counter.hold(1)
    await counter.terminal.abort()
    await paying
    assert NoticeCode.PARKED_SALE_FREE in counter.notices
    assert NoticeCode.PAYMENT_DECLINED not in counter.notices
    assert state_of(counter) is SaleState.HELD


async def test_cash_that_is_being_booked_cannot_be_parked(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.delay("/payments", 0.05)
    paying = asyncio.create_task(pay_cash(counter.desk, 4500), name="pay")
    await until(lambda: state_of(counter) is SaleState.PAYING)
    with pytest.raises(SaleNotReadyError):
        await park_sale(counter.desk)
    assert (await paying).state is SaleState.PAID


@pytest.mark.parametrize(("stopped", "code"), [(True, "stopped-at-counter"), (False, "aborted")])
async def test_who_ended_a_payment_is_kept_m3(counter: Counter, code: str, *, stopped: bool) -> None:
    """Terminals say `aborted` of both: the clerk stopped it, or nobody presented a card."""
    await counter.hold(0)
    counter.terminal.play(AwaitAbort() if stopped else Decline("aborted"))
    paying = asyncio.create_task(pay_card(counter.desk), name="pay")
    if stopped:
        await until(lambda: counter.desk.store.terminal_progress == "present-card")
        await abort_card(counter.desk)
        assert counter.desk.store.stop_wished
    assert (await paying).decline_code == code
    assert not counter.desk.store.stop_wished


async def test_an_unclear_payment_is_unclear_since_it_began_m8(counter: Counter) -> None:
    minutes = iter(range(60))
    counter.desk.now = lambda: datetime(2026, 11, 30, 10, next(minutes), tzinfo=UTC)
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    sale = await pay_card(counter.desk)
    assert sale.payment is not None
    begun = sale.payment.begun_at
    assert begun < counter.desk.now()
    assert sale.unknown_since == begun
    again = counter.restart(counter.desk.journal)
    await again.open()
    [kept] = await show_open_sales(again.desk)
    assert kept.unknown_since == begun


class DeadTerminal(FakeCardTerminal):
    """Answers nothing until `woken`."""

    async def last_transaction(self) -> TerminalResult | None:
        await self.woken.wait()
        return await FakeCardTerminal.last_transaction(self)

    @property
    def woken(self) -> asyncio.Event:
        return _WOKEN[0]


_WOKEN: list[asyncio.Event] = []


async def test_open_sales_are_shown_before_a_dead_terminal_was_asked_m8(counter: Counter) -> None:
    _WOKEN[:] = [asyncio.Event()]
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    sale = await pay_card(counter.desk)
    await counter.desk.journal.save_sale(sale)
    again = counter.restart(counter.desk.journal)
    dead = DeadTerminal(booked=counter.terminal.booked)
    again.desk.terminal = dead
    await again.open()
    kept = await show_open_sales(again.desk)
    assert state_of(again) is SaleState.UNKNOWN
    assert [waits_for_terminal(found) for found in kept] == [True]
    clearing = asyncio.create_task(clear_up(again.desk, kept), name="clear-up")
    await until(lambda: again.sale.sale_id in again.desk.resolving)
    dead.woken.set()
    await clearing
    assert state_of(again) is SaleState.PAID


async def test_why_tickets_were_not_printed_is_kept_and_the_sale_can_wait_h4(counter: Counter) -> None:
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.printer.state = PrintState.FAILED
    sale = await print_tickets(counter.desk)
    assert sale.print_job is not None
    assert sale.print_job.status is PrintJobStatus.FAILED
    assert counter.desk.printer_trouble == "printer-trouble"
    await park_sale(counter.desk)
    await counter.hold(1)
    counter.printer.state = PrintState.CONFIRMED
    await resume_parked(counter.desk, sale.sale_id)
    assert (await print_tickets(counter.desk)).state is SaleState.DONE
    assert counter.desk.printer_trouble == ""
