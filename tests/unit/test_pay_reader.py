"""Stripe Terminal, server-driven: the till opens the payment and watches its order (R23, R24; T3, T9, P1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.actions.finish_sale import park_sale
from app.actions.leave_sale import leave_unknown
from app.actions.pay_card import pay_card
from app.actions.pay_reader import pay_reader, stop_reader
from app.actions.resolve_unknown import resolve_unknown
from app.actions.resume_sales import resume_open_sales
from app.core.errors import TerminalUnsettledError
from app.core.sale import Sale, SaleState
from app.core.store import NoticeCode
from app.journal.async_journal import AsyncJournal
from backend_client.errors import NothingDoneError
from backend_client.testing import Fault
from backend_client.wire import OperationId, OperationKind, OperationStatus
from tests.unit.counter import FAST, Counter, make_counter, open_journal, until


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[AsyncJournal]:
    kept = open_journal(tmp_path)
    yield kept
    await kept.close()


@pytest.fixture
async def counter(journal: AsyncJournal) -> Counter:
    made = make_counter(journal, patience=replace(FAST, watch_s=0.005, reader_silent_s=0.05))
    await made.open()
    await made.hold(0)
    return made


def operations(counter: Counter) -> list[tuple[OperationKind, OperationStatus]]:
    return [(one.kind, one.status) for order in counter.server.house.orders.values() for one in order.operations]


def operation_id(counter: Counter) -> OperationId:
    (order,) = counter.server.house.orders.values()
    return order.operations[-1].operation_id


async def begun(counter: Counter) -> asyncio.Task[Sale]:
    """A payment whose buyer stands at the reader."""
    task = asyncio.create_task(pay_reader(counter.desk))
    await until(lambda: counter.desk.store.terminal_progress == "present-card")
    return task


async def test_a_card_at_the_reader_pays_the_sale(counter: Counter) -> None:
    task = await begun(counter)
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.SUCCEEDED)
    assert (await task).state is SaleState.PAID
    assert operations(counter) == [(OperationKind.AUTHORIZE, OperationStatus.SUCCEEDED)]
    assert counter.terminal.payments_asked == 0, "the till speaks to no terminal"
    assert counter.desk.store.terminal_progress == ""


async def test_a_decline_keeps_the_seats(counter: Counter) -> None:
    task = await begun(counter)
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.DECLINED, "card-declined")
    sale = await task
    assert (sale.state, sale.decline_code) == (SaleState.DECLINED, "card-declined")
    assert (await pay_card(counter.desk)).state is SaleState.PAID, "another way is open"


async def test_parts_may_be_paid_at_the_reader(counter: Counter) -> None:
    task = asyncio.create_task(pay_reader(counter.desk, part_minor=1000))
    await until(lambda: counter.desk.store.terminal_progress == "present-card")
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.SUCCEEDED)
    sale = await task
    assert (sale.state, sale.left_minor) == (SaleState.HELD, 3500)


async def test_t9_a_stop_is_a_wish_and_the_truth_is_told(counter: Counter) -> None:
    task = await begun(counter)
    await stop_reader(counter.desk)
    sale = await task
    assert (sale.state, sale.decline_code) == (SaleState.DECLINED, "withdrawn")


async def test_t9_a_stop_while_the_payment_is_being_opened_is_kept(counter: Counter) -> None:
    counter.server.delay("/payments", 0.05)
    task = asyncio.create_task(pay_reader(counter.desk))
    await until(lambda: counter.sale.state is SaleState.PAYING)
    await stop_reader(counter.desk)
    assert counter.desk.store.stop_wished
    sale = await asyncio.wait_for(task, 5)
    assert (sale.state, sale.decline_code) == (SaleState.DECLINED, "withdrawn")
    assert not counter.desk.store.stop_wished


async def test_t9_a_stop_that_was_not_heard_is_said_again(counter: Counter) -> None:
    task = await begun(counter)
    counter.server.fail(Fault.UNREACHABLE, "/withdraw", times=3)
    with pytest.raises(NothingDoneError):
        await stop_reader(counter.desk)
    sale = await asyncio.wait_for(task, 5)
    assert (sale.state, sale.decline_code) == (SaleState.DECLINED, "withdrawn")


async def test_t9_a_card_that_was_faster_than_the_stop_is_paid(counter: Counter) -> None:
    task = await begun(counter)
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.SUCCEEDED)
    await stop_reader(counter.desk)
    assert (await task).state is SaleState.PAID


async def test_t3_a_booking_system_that_falls_silent_leaves_it_unknown_and_it_is_asked(counter: Counter) -> None:
    task = await begun(counter)
    counter.server.fail(Fault.UNREACHABLE, "/orders/", times=10_000)
    assert (await task).state is SaleState.UNKNOWN
    counter.server.heal()
    assert (await resolve_unknown(counter.desk)).state is SaleState.UNKNOWN, "the buyer still stands there"
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.SUCCEEDED)
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID


async def test_r24_an_unknown_provider_leaves_it_unknown(counter: Counter) -> None:
    task = await begun(counter)
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.UNKNOWN)
    assert (await task).state is SaleState.UNKNOWN


async def test_an_opening_whose_answer_was_lost_is_found_by_its_key(counter: Counter) -> None:
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=99)
    assert (await pay_reader(counter.desk)).state is SaleState.UNKNOWN
    counter.server.heal()
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.SUCCEEDED)
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID
    assert len(operations(counter)) == 1


async def test_a_console_that_died_at_the_reader_finds_the_end(counter: Counter, journal: AsyncJournal) -> None:
    task = await begun(counter)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.SUCCEEDED)
    again = counter.restart(journal)
    await again.open()
    await resume_open_sales(again.desk)
    assert again.sale.state is SaleState.PAID
    assert len(operations(again)) == 1


async def test_a_buyer_who_left_the_reader_is_withdrawn(counter: Counter) -> None:
    task = await begun(counter)
    counter.server.fail(Fault.UNREACHABLE, "/orders/", times=10_000)
    assert (await task).state is SaleState.UNKNOWN
    counter.server.heal()
    await leave_unknown(counter.desk)
    await resolve_unknown(counter.desk)
    assert (await resolve_unknown(counter.desk)).state is SaleState.ABANDONED


async def test_a_buyer_who_takes_long_is_parked_and_pays_meanwhile(counter: Counter) -> None:
    """The till serves the next one; a second payment does not meet a busy reader."""
    task = await begun(counter)
    first = counter.sale.sale_id
    await park_sale(counter.desk)
    await counter.hold(1)
    with pytest.raises(TerminalUnsettledError):
        await pay_reader(counter.desk)
    counter.server.house.tell_reader(
        next(iter(counter.server.house.orders.values())).operations[0].operation_id, OperationStatus.SUCCEEDED
    )
    assert (await task).state is SaleState.PAID
    assert counter.sale.sale_id != first
    assert NoticeCode.PARKED_SALE_PAID in counter.notices


async def test_p1_pressed_ten_times_is_one_payment(counter: Counter) -> None:
    tasks = [asyncio.create_task(pay_reader(counter.desk)) for _ in range(10)]
    await until(lambda: counter.desk.store.terminal_progress == "present-card")
    counter.server.house.tell_reader(operation_id(counter), OperationStatus.SUCCEEDED)
    await asyncio.gather(*tasks)
    assert len(operations(counter)) == 1
