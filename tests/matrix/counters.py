"""A counter without a screen: the console's own actions over HTTP, with the real ZVT driver and a real journal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import httpx

from app.actions.desk import Desk
from app.actions.follow_given_up import follow_given_up
from app.actions.hold_seats import hold_picked
from app.actions.leave_sale import leave_paid_parts
from app.actions.pay_card import abort_card, pay_card
from app.actions.pay_cash import pay_cash, pay_cash_instead
from app.actions.pick_seats import toggle_seat
from app.actions.refund_tickets import refund_tickets
from app.actions.resolve_unknown import resolve_unknown
from app.actions.resume_sales import resume_open_sales
from app.actions.return_money import follow_returns, return_money, returns_of
from app.actions.show_event import open_event
from app.actions.sign_in import sign_in
from app.core.errors import ConsoleError
from app.core.hold_clock import ServerClock
from app.core.refund import RefundChoice
from app.core.sale import SaleState
from app.core.store import ConsoleStore
from app.devices.card_terminal import TerminalError
from app.devices.zvt.driver import ZvtSettings, ZvtTerminal
from app.journal.async_journal import AsyncJournal
from app.journal.journal import Journal
from backend_client.client import BookingClient
from backend_client.errors import BookingClientError
from backend_client.retry import RetryPolicy
from backend_client.steady_time import steady_seconds
from backend_client.wire import EventId, OrderId
from tests.matrix.table import Operation
from tests.server.box_office import ADULT_PRICE
from tests.server.web_api import PASSWORD
from tests.unit.counter import DEVICE, FAST, FakePrinter, MemoryVault

TOTAL: Final = 2 * ADULT_PRICE
PART: Final = 1_000
CLERK: Final = "carla"
NOT_NOW = (BookingClientError, TerminalError, ConsoleError)
"""What an action raises when it could not be done now; a clerk reads it, and goes on."""


def open_desk(url: str, port: int, folder: Path) -> Desk:
    """A console's counter on the journal in `folder`."""
    transport = httpx.AsyncHTTPTransport(verify=False)
    client = BookingClient(url, device_id=DEVICE, transport=transport, retry=RetryPolicy(attempts=3, base_s=0, cap_s=0))
    settings = ZvtSettings("127.0.0.1", port, t3_s=0.5, t4_s=1.5, registration_s=2.0, enquiry_s=2.0)
    store = ConsoleStore(ServerClock(steady_seconds))
    journal = AsyncJournal(Journal.open(folder / "journal"))
    patience = replace(FAST, report_s=2.0)
    return Desk(client, journal, store, MemoryVault(), ZvtTerminal(settings), FakePrinter(), patience=patience)


async def begin(desk: Desk, event_id: int) -> None:
    """Sign in, show the event, and bring to the counter what the journal has open."""
    await sign_in(desk, CLERK, PASSWORD)
    await open_event(desk, EventId(event_id))
    await resume_open_sales(desk)


async def close(desk: Desk) -> None:
    """End the console properly."""
    await desk.client.close()
    journal = desk.journal
    assert isinstance(journal, AsyncJournal)
    await journal.close()


# ------------------------------------------------------------ what is there before


async def _held(desk: Desk) -> None:
    toggle_seat(desk, 0)
    toggle_seat(desk, 1)
    await hold_picked(desk)


async def _part_in_cash(desk: Desk) -> None:
    await _held(desk)
    await pay_cash(desk, PART, part_minor=PART)


async def _part_by_card(desk: Desk) -> None:
    await _held(desk)
    await pay_card(desk, part_minor=PART)


async def _paid_by_card(desk: Desk) -> None:
    await _held(desk)
    await pay_card(desk)


async def _card_unknown(desk: Desk) -> None:
    await _paid_by_card(desk)
    assert desk.sale().state is SaleState.UNKNOWN


BEFORE: Final[Mapping[Operation, Callable[[Desk], Awaitable[None]]]] = {
    Operation.SALE: _held,
    Operation.SALE_PART: _part_in_cash,
    Operation.REVERSAL: _part_by_card,
    Operation.TERMINAL_REFUND: _paid_by_card,
    Operation.CASH: _held,
    Operation.CASH_INSTEAD: _card_unknown,
}


# ------------------------------------------------------------ the operation


async def _leave(desk: Desk) -> None:
    await leave_paid_parts(desk)
    await give_back(desk)


async def give_back(desk: Desk) -> None:
    """What goes back of the sale at the counter, as its clerk does it."""
    sale = desk.store.sale
    if sale is None or sale.order is None or sale.state is not SaleState.RETURNING:
        return
    order = await desk.client.order(sale.order.order_id)
    for operation in returns_of(desk, order):
        await return_money(desk, order, operation)


async def _refund_one_ticket(desk: Desk) -> None:
    detail = await desk.client.refundable(order_at(desk))
    chosen = frozenset({detail.tickets[0].ticket.ticket_id})
    answer = await refund_tickets(desk, detail, RefundChoice(chosen, reason="the customer asked"))
    for operation in answer.refunds:
        await return_money(desk, answer.order, operation)


def order_at(desk: Desk) -> OrderId:
    """The order of the sale at the counter."""
    sale = desk.store.sale
    assert sale is not None
    assert sale.order is not None
    return sale.order.order_id


async def _cash(desk: Desk) -> None:
    await pay_cash(desk, TOTAL)


async def _cash_instead(desk: Desk) -> None:
    await pay_cash_instead(desk, TOTAL)


async def _card(desk: Desk) -> None:
    await pay_card(desk)


ACTS: Final[Mapping[Operation, Callable[[Desk], Awaitable[None]]]] = {
    Operation.SALE: _card,
    Operation.SALE_PART: _card,
    Operation.REVERSAL: _leave,
    Operation.TERMINAL_REFUND: _refund_one_ticket,
    Operation.CASH: _cash,
    Operation.CASH_INSTEAD: _cash_instead,
}


async def stop_while_it_asks(desk: Desk) -> None:
    """Pay by card, and press stop once the terminal waits for the card."""
    paying = asyncio.create_task(_card(desk))
    while not paying.done() and desk.store.terminal_progress not in {"present-card", "asking-host"}:
        await asyncio.sleep(0.002)
    await abort_card(desk)
    await paying


# ------------------------------------------------------------ to the end


async def bring_to_an_end(desk: Desk, operation: Operation) -> None:
    """What a console and its clerk do once the fault is gone: ask, give back, and take cash for what was not paid."""
    for _ in range(8):
        with suppress(*NOT_NOW):
            await _one_pass(desk, operation)


async def _one_pass(desk: Desk, operation: Operation) -> None:
    for unknown in desk.store.unknown_sales:
        await resolve_unknown(desk, unknown.sale_id)
    await follow_given_up(desk)
    await follow_returns(desk)
    sale = desk.store.sale
    if sale is not None and sale.state is SaleState.RETURNING:
        await give_back(desk)
    elif sale is not None and sale.state in (SaleState.HELD, SaleState.DECLINED):
        if operation is Operation.REVERSAL:
            await _leave(desk)
        else:
            await pay_cash(desk, sale.left_minor)
    elif operation is Operation.TERMINAL_REFUND:
        await _give_back_what_is_asked(desk)


async def _give_back_what_is_asked(desk: Desk) -> None:
    """A refund of the order that this till has to drive; one that the terminal was asked for is followed elsewhere."""
    found = await desk.client.orders()
    order = await desk.client.order(found.orders[0].order_id)
    for operation in returns_of(desk, order):
        await return_money(desk, order, operation)
