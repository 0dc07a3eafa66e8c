"""The power goes at every step of parts, of cash instead, of a buyer who leaves, of money back and of the day's end.

After the restart the terminal's ledger and the booking system's agree, nobody is charged twice, nothing goes back
twice, and no paid order is without its sale (T4, T6, R24, R31, C6).
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable

import pytest

from app.actions.close_terminal_day import close_terminal_day, report_days
from app.actions.follow_given_up import follow_given_up
from app.actions.hold_seats import hold_picked
from app.actions.leave_sale import leave_paid_parts, leave_unknown
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash, pay_cash_instead
from app.actions.pick_seats import toggle_seat
from app.actions.print_tickets import confirm_print, print_tickets
from app.actions.resolve_unknown import resolve_unknown
from app.actions.return_money import follow_returns, return_money, returns_of
from app.core.sale import Sale, SaleState
from app.core.store import NoticeCode
from app.devices.card_terminal import TerminalError
from app.devices.fake_terminal import LoseLine
from backend_client.wire import OperationKind, OperationStatus, OrderStatus
from tests.unit.counter import Counter
from tests.unit.test_power_cut import restart, run_until_cut

Act = Callable[[Counter], Awaitable[None]]


async def held(counter: Counter) -> None:
    for seat in (0, 1):
        toggle_seat(counter.desk, seat)
    await hold_picked(counter.desk)


async def split_tender(counter: Counter) -> None:
    await held(counter)
    await pay_cash(counter.desk, 5000, part_minor=2000)
    await pay_card(counter.desk, part_minor=3000)
    await pay_card(counter.desk)
    await print_tickets(counter.desk)


async def cash_instead(counter: Counter) -> None:
    await held(counter)
    counter.terminal.play(LoseLine(booked=True))
    await pay_card(counter.desk)
    await pay_cash_instead(counter.desk, 9000)
    await follow_given_up(counter.desk)
    await print_tickets(counter.desk)


async def buyer_leaves(counter: Counter) -> None:
    await held(counter)
    counter.terminal.play(LoseLine(booked=True))
    await pay_card(counter.desk)
    await leave_unknown(counter.desk)
    await resolve_unknown(counter.desk)


async def give_back_all(counter: Counter) -> None:
    sale = counter.desk.store.sale
    assert sale is not None
    assert sale.order is not None
    for operation in returns_of(counter.desk, sale.order):
        await return_money(counter.desk, sale.order, operation)


async def parts_go_back(counter: Counter) -> None:
    """A card part by its receipt, a cash part out of the drawer."""
    await held(counter)
    await pay_card(counter.desk, part_minor=3000)
    await pay_cash(counter.desk, 2000, part_minor=2000)
    await leave_paid_parts(counter.desk)
    await give_back_all(counter)


async def part_is_refunded(counter: Counter) -> None:
    """The receipt can no longer be reversed: the buyer presents the card."""
    await held(counter)
    await pay_card(counter.desk, part_minor=3000)
    await leave_paid_parts(counter.desk)
    counter.terminal.takes_back = False
    await give_back_all(counter)


async def day_ends(counter: Counter) -> None:
    await close_terminal_day(counter.desk)


ACTS: dict[str, Act] = {
    "split tender": split_tender,
    "cash instead": cash_instead,
    "buyer leaves": buyer_leaves,
    "parts go back": parts_go_back,
    "part is refunded": part_is_refunded,
    "end of day": day_ends,
}
LEAST_STEPS = {"end of day": 8}


async def clear_up(counter: Counter, *, printed: bool) -> Sale | None:
    """What the console asks by itself after a restart, and then what the clerk does with what is in front of them."""
    desk = counter.desk
    for _pass in range(3):
        for unknown in desk.store.unknown_sales:
            await resolve_unknown(desk, unknown.sale_id)
        for follow in (follow_given_up, follow_returns, report_days):
            await follow(desk)
    counter.terminal._scenes.clear()
    sale = desk.store.sale
    if sale is not None and sale.payable:
        sale = await (leave_paid_parts(desk) if sale.paid_minor else pay_card(desk))
    if sale is not None and sale.state is SaleState.RETURNING:
        await give_back_all(counter)
        sale = desk.store.sale
    if sale is not None and sale.print_unclear:
        sale = await confirm_print(desk, printed=printed)
    if sale is not None and sale.state is SaleState.PAID:
        sale = await print_tickets(desk)
    return sale


def assert_ledgers_agree(counter: Counter, context: str) -> None:
    """The terminal's money is the booking system's, charge by charge and refund by refund."""
    house, terminal = counter.server.house, counter.terminal
    ours = 0
    for order in house.orders.values():
        kept = 0
        for one in order.operations:
            if one.status is not OperationStatus.SUCCEEDED:
                continue
            gone = one.operation_id in house.reversals
            sign = {OperationKind.REFUND: -1, OperationKind.SALE: 1, OperationKind.CASH: 1}[one.kind]
            if not gone and not (one.void_requested and one.kind is OperationKind.SALE):
                kept += sign * one.amount_minor
            if one.provider == "zvt" and not gone:
                ours += sign * one.amount_minor
        expected = order.amount_minor if order.status is OrderStatus.CONFIRMED else 0
        assert kept == expected, f"{order.status} order keeps {kept}: {context}"
    theirs = sum(result.amount_minor for result in terminal.booked)
    theirs -= sum(result.amount_minor for result in terminal.refunded)
    assert theirs == ours, f"terminal {theirs}, booking system {ours}: {context}"


@pytest.mark.parametrize("name", ACTS)
async def test_power_cut_at_every_step_leaves_one_truth(name: str) -> None:
    act = ACTS[name]
    _, journal, fuse = await run_until_cut(act, 10**9, keeps=True)
    journal.close()
    assert fuse.steps >= LEAST_STEPS.get(name, 20), fuse.trail
    for at in range(fuse.steps):
        counter, journal, burnt = await run_until_cut(act, at, keeps=True)
        context = f"{name} cut at {at}: {burnt.trail[-1]}"
        assert burnt.burnt, context
        again = await restart(counter, journal)
        with contextlib.suppress(TerminalError):
            await clear_up(again, printed=bool(counter.printer.sheets))
        assert_ledgers_agree(again, context)
        assert len(counter.printer.sheets) + len(again.printer.sheets) <= 1, context
        assert all(sale.ended for sale in journal.open_sales()), f"{context}: {journal.open_sales()}"
        assert journal.unsettled_attempts() == (), context
        assert journal.open_days() == (), context
        assert len(again.server.house.terminal_totals) <= 1, context
        assert NoticeCode.TERMINAL_DIFFERS not in again.notices, context
        journal.close()
