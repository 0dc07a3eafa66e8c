"""Tickets of a paid sale come out once (R28, K7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.actions.finish_sale import finish_sale
from app.actions.pay_cash import pay_cash
from app.actions.print_tickets import confirm_print, print_tickets
from app.actions.resolve_unknown import keep_resolving
from app.core.errors import (
    SaleNotReadyError,
    TicketsNotReadyError,
)
from app.core.sale import SaleState
from app.core.store import NoticeCode
from app.devices.ticket_printer import PrintState
from backend_client.testing import Fault
from backend_client.wire import PrintJobStatus
from tests.unit.counter import Counter, make_counter, open_journal, until


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    await made.open()
    yield made
    await made.desk.client.close()
    await journal.close()


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
