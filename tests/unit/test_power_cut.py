"""The power goes at every step of a sale, one step a run; after the restart there is one charge and a consistent end.

A step is a journal write (before it, and after it is on the disk), a call that reaches the API and its effect, the
terminal's booking, the paper in the printer. The cut is a BaseException, so no code of ours can go on after it.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.actions.finish_sale import finish_sale
from app.actions.hold_seats import hold_picked
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import toggle_seat
from app.actions.print_tickets import confirm_print, print_tickets
from app.actions.resolve_unknown import resolve_unknown
from app.actions.resume_sales import resume_open_sales
from app.core.sale import Sale, SaleState
from app.core.store import NoticeCode
from app.devices.card_terminal import ProgressCallback, ResultCallback, TerminalResult, Verdict
from app.devices.fake_terminal import Decline, FakeCardTerminal, LoseLine
from app.devices.ticket_printer import PrintOutcome, TicketSheet
from app.journal.async_journal import AsyncJournal
from app.journal.instance_lock import InstanceLock
from app.journal.journal import Journal, _prepare
from backend_client.testing import FakeBookingServer
from backend_client.wire import OperationKind, OperationStatus, OrderStatus
from tests.unit.counter import Counter, FakePrinter, MemoryVault, make_counter


class PowerCutError(BaseException):
    """The process is gone."""


class Fuse:
    """Burns at step number `at` (from 0)."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.steps = 0
        self.burnt = False
        self.trail: list[str] = []

    def step(self, what: str) -> None:
        if self.burnt:
            raise PowerCutError
        self.trail.append(what)
        if self.steps == self.at:
            self.burnt = True
            raise PowerCutError
        self.steps += 1


class FusedTerminal:
    """The terminal outlives the console: what it booked stays; whether it hears the verdict depends on the cut."""

    def __init__(self, inner: FakeCardTerminal, fuse: Fuse, *, keeps_unacknowledged: bool) -> None:
        self.inner = inner
        self._fuse = fuse
        self._keeps = keeps_unacknowledged

    @property
    def provider(self) -> str:
        return "zvt"

    async def pay(
        self, amount_minor: int, currency: str, *, on_progress: ProgressCallback, on_result: ResultCallback
    ) -> TerminalResult:
        self._fuse.step("terminal asked")

        async def hear(result: TerminalResult) -> Verdict:
            try:
                self._fuse.step("terminal approved")
                verdict = await on_result(result)
                self._fuse.step("verdict given")
            except PowerCutError:
                if not self._keeps:
                    self.inner.booked.remove(result)
                raise
            return verdict

        result = await self.inner.pay(amount_minor, currency, on_progress=on_progress, on_result=hear)
        self._fuse.step("terminal finished")
        return result

    async def refund(self, amount_minor: int, currency: str, *, on_progress: ProgressCallback) -> TerminalResult:
        self._fuse.step("refund asked")
        result = await self.inner.refund(amount_minor, currency, on_progress=on_progress)
        self._fuse.step("refund done")
        return result

    async def reverse(
        self, receipt_no: int, *, amount_minor: int | None = None, original_trace: int | None = None
    ) -> TerminalResult:
        self._fuse.step("reversal asked")
        result = await self.inner.reverse(receipt_no, amount_minor=amount_minor, original_trace=original_trace)
        self._fuse.step("reversal done")
        return result

    async def end_of_day(self) -> TerminalResult:
        self._fuse.step("end of day asked")
        result = await self.inner.end_of_day()
        self._fuse.step("end of day done")
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class FusedPrinter(FakePrinter):
    fuse: Fuse

    async def print_tickets(self, sheet: TicketSheet) -> PrintOutcome:
        self.fuse.step("before paper")
        outcome = await super().print_tickets(sheet)
        self.fuse.step("after paper")
        return outcome


class NoLock(InstanceLock):
    """For a journal in memory."""

    def __init__(self) -> None:
        self.text = ""

    def release(self) -> None:
        pass


def journal_in_memory() -> Journal:
    """A journal without a disk: these tests are about the order of writes, `test_journal` is about the disk."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _prepare(connection, may_make=True)
    return Journal(connection, NoLock())


def fused_journal(journal: Journal, fuse: Fuse) -> AsyncJournal:
    writes = {
        "save_sale", "begin_terminal_attempt", "record_terminal_result", "acknowledge_terminal_result",
        "mark_reversal", "forget_terminal_attempt", "begin_day", "record_day", "close_day",
    }  # fmt: skip

    async def call(function: Callable[..., Any], *arguments: object) -> object:
        name = getattr(function, "func", function).__name__
        if name in writes:
            fuse.step(f"before {name}")
        answer = function(*arguments)
        if name in writes:
            fuse.step(f"after {name}")
        return answer

    return AsyncJournal(journal, call)


Sell = Callable[[Counter], Awaitable[None]]


async def sell_by_card(counter: Counter) -> None:
    for seat in (0, 1):
        toggle_seat(counter.desk, seat)
    await hold_picked(counter.desk)
    await pay_card(counter.desk)
    await print_tickets(counter.desk)


async def sell_by_cash(counter: Counter) -> None:
    for seat in (0, 1):
        toggle_seat(counter.desk, seat)
    await hold_picked(counter.desk)
    await pay_cash(counter.desk, 10_000)
    await print_tickets(counter.desk)


async def sell_after_a_lost_line(counter: Counter) -> None:
    counter.terminal.play(LoseLine(booked=True))
    toggle_seat(counter.desk, 0)
    toggle_seat(counter.desk, 1)
    await hold_picked(counter.desk)
    await pay_card(counter.desk)
    await resolve_unknown(counter.desk)
    await print_tickets(counter.desk)


async def sell_after_a_decline(counter: Counter) -> None:
    counter.terminal.play(Decline())
    toggle_seat(counter.desk, 0)
    toggle_seat(counter.desk, 1)
    await hold_picked(counter.desk)
    await pay_card(counter.desk)
    await pay_card(counter.desk)
    await print_tickets(counter.desk)


SALES: dict[str, Sell] = {
    "card": sell_by_card,
    "cash": sell_by_cash,
    "lost line": sell_after_a_lost_line,
    "decline": sell_after_a_decline,
}


async def run_until_cut(sell: Sell, at: int, *, keeps: bool) -> tuple[Counter, Journal, Fuse]:
    """A sale that dies at step `at`; the counter that it leaves behind, with the power back on."""
    fuse = Fuse(at=10**9)
    journal = journal_in_memory()
    printer = FusedPrinter()
    printer.fuse = fuse
    server, inner = FakeBookingServer(), FakeCardTerminal()
    terminal = FusedTerminal(inner, fuse, keeps_unacknowledged=keeps)
    counter = make_counter(fused_journal(journal, fuse), server, inner, printer, MemoryVault(), driver=terminal)
    await counter.open()
    await sell_one_before(counter)
    server.on_step = fuse.step
    fuse.at, fuse.steps, fuse.trail = at, 0, []
    with contextlib.suppress(PowerCutError):
        await sell(counter)
    server.on_step = None
    return counter, journal, fuse


async def sell_one_before(counter: Counter) -> None:
    """The terminal and the journal know an earlier payment, as on any day but the first."""
    toggle_seat(counter.desk, 50)
    await hold_picked(counter.desk)
    await pay_card(counter.desk)
    await print_tickets(counter.desk)
    await finish_sale(counter.desk)
    counter.printer.sheets.clear()


async def restart(counter: Counter, journal: Journal) -> Counter:
    again = make_counter(AsyncJournal(journal), counter.server, counter.terminal, FakePrinter(), counter.vault)
    await again.open()
    await resume_open_sales(again.desk)
    return again


def assert_no_double_charge(counter: Counter, context: str) -> None:
    """Cards and cash together never pay an order twice, and what is charged is what the API knows of.

    One gap is the protocol's own: the API confirmed while the terminal waited, and the terminal never heard the verdict
    and took its charge back. Then the difference is said, to a supervisor.
    """
    orders = list(counter.server.house.orders.values())
    succeeded = [
        operation for order in orders for operation in order.operations if operation.status is OperationStatus.SUCCEEDED
    ]
    confirmed = [order for order in orders if order.status is OrderStatus.CONFIRMED]
    assert len(succeeded) <= 2, context
    assert len(confirmed) == len(succeeded), context
    cards = [operation for operation in succeeded if operation.kind is OperationKind.SALE]
    if NoticeCode.TERMINAL_DIFFERS in counter.notices:
        assert len(counter.terminal.booked) == len(cards) - 1, context
    else:
        assert len(counter.terminal.booked) == len(cards), f"charged and not confirmed, or the reverse: {context}"


async def finish(counter: Counter, context: str, *, printed: bool) -> Sale | None:
    """What a clerk does after the restart: asks about an unknown sale, pays a held one, looks what came out, prints."""
    sale = counter.desk.store.sale
    if sale is not None and sale.state is SaleState.UNKNOWN:
        for _ in range(3):
            sale = await resolve_unknown(counter.desk)
        assert sale.state is not SaleState.UNKNOWN, context
    counter.terminal._scenes.clear()
    if sale is not None and sale.payable:
        sale = await pay_card(counter.desk)
        assert sale.state is SaleState.PAID, context
    if sale is not None and sale.print_unclear:
        sale = await confirm_print(counter.desk, printed=printed)
    if sale is not None and sale.state is SaleState.PAID:
        sale = await print_tickets(counter.desk)
        assert sale.state is SaleState.DONE, context
    return sale


async def steps_of(sell: Sell) -> int:
    _, journal, fuse = await run_until_cut(sell, 10**9, keeps=True)
    journal.close()
    return fuse.steps


@pytest.mark.parametrize("keeps", [True, False], ids=["terminal-keeps", "terminal-reverses"])
@pytest.mark.parametrize("name", SALES)
async def test_power_cut_at_every_step_charges_once_and_ends_well(name: str, *, keeps: bool) -> None:
    """T4, R31, C6: whichever step is the last; whether or not the terminal keeps an approval that was not answered."""
    sell = SALES[name]
    steps = await steps_of(sell)
    assert steps > 20
    for at in range(steps):
        counter, journal, fuse = await run_until_cut(sell, at, keeps=keeps)
        context = f"cut at {at}: {fuse.trail[-1]}"
        assert fuse.burnt, context
        again = await restart(counter, journal)
        assert_no_double_charge_or_open(again, context)
        await finish(again, context, printed=bool(counter.printer.sheets))
        assert_no_double_charge(again, context)
        if keeps:
            assert NoticeCode.TERMINAL_DIFFERS not in again.notices, context
        sold = [order for order in again.server.house.orders.values() if order.status is OrderStatus.CONFIRMED]
        sheets = len(counter.printer.sheets) + len(again.printer.sheets)
        assert sheets <= 1, context
        if len(sold) == 2:
            assert sheets == 1, context
        assert all(sale.ended for sale in journal.open_sales()), context
        journal.close()


def assert_no_double_charge_or_open(counter: Counter, context: str) -> None:
    """Resuming itself charges nothing and prints nothing."""
    assert len(counter.printer.sheets) == 0, context
    assert len(counter.terminal.booked) <= 2, context


async def test_second_power_cut_while_resuming_changes_nothing() -> None:
    """The console dies again at every step of resuming from its worst place: the terminal approved, nobody heard it."""
    for second in itertools.count():
        counter, journal, _ = await run_until_cut(sell_by_card, await _step_of("terminal approved"), keeps=True)
        fuse = Fuse(at=10**9)
        again = make_counter(fused_journal(journal, fuse), counter.server, counter.terminal, FakePrinter())
        await again.open()
        again.server.on_step = fuse.step
        fuse.at = second
        cut = False
        try:
            await resume_open_sales(again.desk)
        except PowerCutError:
            cut = True
        again.server.on_step = None
        third = await restart(again, journal)
        sale = await finish(third, f"second cut at {second}", printed=False)
        assert sale is not None
        assert sale.state is SaleState.DONE
        assert_no_double_charge(third, f"second cut at {second}")
        assert third.charged_minor == 9000 + 3000
        journal.close()
        if not cut:
            break
    assert second > 5


async def _step_of(what: str) -> int:
    _, journal, fuse = await run_until_cut(sell_by_card, 10**9, keeps=True)
    journal.close()
    return fuse.trail.index(what)
