"""Tickets of a paid sale come out once (R28, K7)."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from app.actions.finish_sale import finish_sale
from app.actions.pay_cash import pay_cash
from app.actions.print_tickets import confirm_print, print_tickets, wait_for_tickets
from app.actions.resolve_unknown import keep_resolving
from app.core.errors import (
    SaleNotReadyError,
    TicketsNotReadyError,
)
from app.core.sale import SaleState
from app.core.store import NoticeCode
from app.devices.ticket_printer import PrintState
from backend_client.testing import Fault
from backend_client.wire import PrintJobStatus, TicketStatus
from tests.unit.counter import Counter, until


async def test_print_that_ends_unknown_is_asked_and_not_repeated(counter: Counter) -> None:
    """K7."""
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.printer.state = PrintState.UNKNOWN
    sale = await print_tickets(counter.desk)
    assert sale.print_unclear
    assert NoticeCode.PRINT_UNKNOWN in counter.notices
    with pytest.raises(SaleNotReadyError):
        await print_tickets(counter.desk)
    assert len(counter.printer.sheets) == 1
    assert (await confirm_print(counter.desk, printed=True)).state is SaleState.DONE
    [job] = counter.server.house.print_jobs.values()
    assert job.status is PrintJobStatus.CONFIRMED


async def test_printer_that_breaks_its_promise_counts_as_unknown(counter: Counter) -> None:
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.printer.breaks = True
    assert (await print_tickets(counter.desk)).print_unclear
    await confirm_print(counter.desk, printed=False)
    counter.printer.breaks = False
    assert (await print_tickets(counter.desk)).state is SaleState.DONE
    assert len(counter.printer.sheets) == 2


async def test_failed_print_can_be_repeated(counter: Counter) -> None:
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.printer.state = PrintState.FAILED
    sale = await print_tickets(counter.desk)
    assert (sale.state, sale.print_unclear) == (SaleState.PAID, False)
    counter.printer.state = PrintState.CONFIRMED
    assert (await print_tickets(counter.desk)).state is SaleState.DONE


async def test_tickets_that_are_not_issued_yet_are_waited_for(counter: Counter) -> None:
    """R28: the issuer works behind the confirmation."""
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.server.house.tickets_complete = False
    with pytest.raises(TicketsNotReadyError):
        await print_tickets(counter.desk)
    assert counter.sale.state is SaleState.PAID
    printing = asyncio.create_task(print_tickets(counter.desk), name="print")
    counter.server.house.tickets_complete = True
    assert (await printing).state is SaleState.DONE


async def test_print_report_that_is_lost_is_made_later(counter: Counter) -> None:
    await counter.hold(0)
    await pay_cash(counter.desk, 4500)
    counter.server.fail(Fault.UNREACHABLE, "/print-jobs/", times=9)
    sale = await print_tickets(counter.desk)
    assert sale.state is SaleState.PAID
    await finish_sale(counter.desk)
    assert [kept.sale_id for kept in counter.desk.store.parked] == [sale.sale_id]
    counter.server.heal()
    resolving = asyncio.create_task(keep_resolving(counter.desk), name="resolve")
    await until(lambda: counter.desk.store.parked == ())
    resolving.cancel()
    [job] = counter.server.house.print_jobs.values()
    assert job.status is PrintJobStatus.CONFIRMED


async def test_a_sale_whose_tickets_are_all_void_by_now_is_done_and_prints_nothing(counter: Counter) -> None:
    """It was parked, its money went back from the list of orders, and then it was brought back."""
    await counter.hold(0, 1)
    sale = await pay_cash(counter.desk, 9000)
    assert sale.order is not None
    row = counter.server.house.orders[sale.order.order_id]
    await wait_for_tickets(counter.desk, sale)
    row.tickets = tuple(msgspec.structs.replace(ticket, status=TicketStatus.VOID) for ticket in row.tickets)
    ended = await print_tickets(counter.desk)
    assert (ended.state, ended.print_job) == (SaleState.DONE, None)
    assert counter.printer.sheets == []
    assert counter.server.house.print_jobs == {}
    assert await counter.desk.journal.open_sales() == ()
    await finish_sale(counter.desk)
    assert counter.desk.store.sale is None


async def test_the_tickets_that_are_left_are_printed_when_one_of_them_is_void(counter: Counter) -> None:
    await counter.hold(0, 1)
    sale = await pay_cash(counter.desk, 9000)
    assert sale.order is not None
    row = counter.server.house.orders[sale.order.order_id]
    await wait_for_tickets(counter.desk, sale)
    row.tickets = (msgspec.structs.replace(row.tickets[0], status=TicketStatus.VOID), *row.tickets[1:])
    assert (await print_tickets(counter.desk)).state is SaleState.DONE
    [sheet] = counter.printer.sheets
    assert [face.ticket_id for face in sheet.tickets] == [str(row.tickets[1].ticket_id)]
