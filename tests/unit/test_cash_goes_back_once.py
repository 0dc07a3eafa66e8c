"""Cash that was paid out of the drawer is not asked for again, whenever the API hears of it (R33, P1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.actions.find_orders import find_orders
from app.actions.finish_sale import park_sale
from app.actions.leave_sale import leave_paid_parts
from app.actions.pay_cash import pay_cash
from app.actions.pay_out import note_compared
from app.actions.resume_sales import resume_open_sales
from app.actions.return_money import follow_returns, return_money, returns_of
from app.actions.sign_in import sign_in
from app.core.errors import JournalAfterAskingError, JournalWriteError, NotAllowedError, SaleNotReadyError
from app.core.order_search import OrderQuery
from app.core.sale import SaleState
from app.core.store import NoticeCode
from app.journal.terminal_record import CashReturn
from backend_client.errors import BookingClientError
from backend_client.testing import Fault
from backend_client.wire import OperationKind, OperationStatus, OrderId, PaymentOperation, Role
from tests.unit.counter import Counter, make_counter, open_journal


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    await made.open()
    await made.hold(0, 1)
    await pay_cash(made.desk, 4500, part_minor=4500)
    assert (await leave_paid_parts(made.desk)).state is SaleState.RETURNING
    yield made
    await made.desk.client.close()
    await journal.close()


def waiting(counter: Counter) -> tuple[PaymentOperation, ...]:
    assert counter.sale.order is not None
    return returns_of(counter.desk, counter.sale.order)


async def pay_out(counter: Counter) -> PaymentOperation:
    (operation,) = waiting(counter)
    assert counter.sale.order is not None
    return await return_money(counter.desk, counter.sale.order, operation)


def refunds(counter: Counter) -> list[OperationStatus]:
    (order,) = counter.server.house.orders.values()
    return [one.status for one in order.operations if one.kind is OperationKind.REFUND]


@pytest.mark.parametrize(
    ("fault", "restarts"),
    [
        (Fault.REQUEST_LOST, False), (Fault.UNREACHABLE, False), (Fault.ANSWER_LOST, False), (Fault.REQUEST_LOST, True),
        (Fault.UNREACHABLE, True),
    ],
)  # fmt: skip
async def test_a_report_that_was_not_answered_is_made_later_and_nothing_is_paid_out_twice(
    counter: Counter, fault: Fault, *, restarts: bool
) -> None:
    counter.server.fail(fault, "/result", times=3)
    with pytest.raises(BookingClientError):
        await pay_out(counter)
    assert waiting(counter) == ()
    again = counter
    if restarts:
        again = counter.restart(counter.desk.journal)
        await again.open()
        counter.server.fail(Fault.UNREACHABLE, "/result", times=3)
        await resume_open_sales(again.desk)
        assert again.sale.state is SaleState.RETURNING
        assert waiting(again) == (), "the API has not heard it; nobody reads that it is to be paid out"
    counter.server.heal()
    assert await follow_returns(again.desk) == 0
    assert again.sale.state is SaleState.EXPIRED
    assert refunds(again) == [OperationStatus.SUCCEEDED]
    assert await again.desk.journal.cash_returns() == ()


async def test_pressing_again_pays_nothing_out_again(counter: Counter) -> None:
    (operation,) = waiting(counter)
    order = counter.sale.order
    assert order is not None
    counter.server.fail(Fault.UNREACHABLE, "/result", times=3)
    with pytest.raises(BookingClientError):
        await return_money(counter.desk, order, operation)
    with pytest.raises(SaleNotReadyError):
        await return_money(counter.desk, order, operation)


async def test_a_word_that_is_refused_is_told_and_not_said_again(counter: Counter) -> None:
    counter.server.fail(Fault.UNREACHABLE, "/result", times=3)
    with pytest.raises(BookingClientError):
        await pay_out(counter)
    counter.server.heal()
    (order,) = counter.server.house.orders.values()
    order.operations = [one for one in order.operations if one.kind is not OperationKind.REFUND]
    assert await follow_returns(counter.desk) == 0
    (kept,) = await counter.desk.journal.cash_returns()
    assert kept.refused
    calls = len(counter.server.calls)
    await follow_returns(counter.desk)
    assert len(counter.server.calls) == calls


async def test_a_parked_sale_ends_with_its_last_money_too(counter: Counter) -> None:
    counter.server.fail(Fault.UNREACHABLE, "/result", times=3)
    with pytest.raises(BookingClientError):
        await pay_out(counter)
    await park_sale(counter.desk)
    counter.server.heal()
    await follow_returns(counter.desk)
    assert counter.desk.store.parked == ()


async def test_a_console_that_is_closed_meanwhile_has_written_down_what_the_clerk_said(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is slow, and the window is closed at that moment: at the next start nobody pays it out again."""
    asked, written = asyncio.Event(), asyncio.Event()
    begin = counter.desk.journal.begin_cash_return

    async def begin_late(record: CashReturn) -> None:
        asked.set()
        await written.wait()
        await begin(record)

    monkeypatch.setattr(counter.desk.journal, "begin_cash_return", begin_late)
    saying = asyncio.create_task(pay_out(counter))
    await asked.wait()
    saying.cancel()
    await asyncio.gather(saying, return_exceptions=True)
    written.set()
    async with asyncio.timeout(60):
        while not await counter.desk.journal.cash_returns():
            await asyncio.sleep(0)
    again = counter.restart(counter.desk.journal)
    await again.open()
    await resume_open_sales(again.desk)
    assert refunds(again) == [OperationStatus.SUCCEEDED], "the API hears it, and nobody is asked for it again"
    assert waiting(again) == ()


@pytest.mark.parametrize("reached", [True, False])
async def test_a_disk_that_is_full_does_not_keep_it_from_the_api(
    counter: Counter, monkeypatch: pytest.MonkeyPatch, *, reached: bool
) -> None:
    async def full(_record: Any) -> None:
        raise JournalWriteError("disk full")

    monkeypatch.setattr(counter.desk.journal, "begin_cash_return", full)
    if reached:
        assert (await pay_out(counter)).status is OperationStatus.SUCCEEDED
        assert counter.sale.state is SaleState.EXPIRED
        return
    counter.server.fail(Fault.UNREACHABLE, "/result", times=3)
    with pytest.raises(JournalAfterAskingError):
        await pay_out(counter)
    assert waiting(counter) == (), "while this console runs nobody is asked for it again"


# ---------------------------------------------------------------- what the API does not take stays in sight


async def refuse(counter: Counter) -> None:
    """The clerk has paid it out while the API was away; a supervisor has decided otherwise meanwhile."""
    counter.server.fail(Fault.UNREACHABLE, "/result", times=3)
    with pytest.raises(BookingClientError):
        await pay_out(counter)
    counter.server.heal()
    decide(counter, OperationStatus.DECLINED)
    await follow_returns(counter.desk)


def decide(counter: Counter, status: OperationStatus) -> None:
    (order,) = counter.server.house.orders.values()
    order.operations = [
        replace(one, status=status) if one.kind is OperationKind.REFUND else one for one in order.operations
    ]


def untaken(counter: Counter) -> list[tuple[str, int]]:
    return [(one.order_number, one.amount_minor) for one in counter.desk.store.orders.untaken]


@pytest.mark.parametrize("restarts", [False, True])
async def test_cash_that_the_api_does_not_take_is_told_and_listed_whoever_works_here(
    counter: Counter, *, restarts: bool
) -> None:
    (order,) = counter.server.house.orders.values()
    await refuse(counter)
    if restarts:
        counter = counter.restart(counter.desk.journal)
        await counter.open()
        await resume_open_sales(counter.desk)
    assert NoticeCode.CASH_NOT_TAKEN in counter.notices
    assert untaken(counter) == [(order.number, 4500)]
    counter.desk.store.put_session(None)
    assert untaken(counter) == [(order.number, 4500)], "it is the till's, not a person's"


async def test_what_was_settled_at_the_api_waits_for_nobody_here(counter: Counter) -> None:
    await refuse(counter)
    await find_orders(counter.desk, OrderQuery())
    assert len(untaken(counter)) == 1
    decide(counter, OperationStatus.SUCCEEDED)
    counter.server.fail(Fault.UNREACHABLE, "/v1/orders/", times=3)
    await find_orders(counter.desk, OrderQuery())
    assert len(untaken(counter)) == 1, "it could not be read"
    counter.server.heal()
    await find_orders(counter.desk, OrderQuery())
    assert untaken(counter) == []
    assert await counter.desk.journal.cash_returns() == ()


async def test_a_supervisor_says_that_it_is_compared_and_it_is_not_paid_out_again(counter: Counter) -> None:
    await refuse(counter)
    (kept,) = await counter.desk.journal.cash_returns()
    with pytest.raises(NotAllowedError):
        await note_compared(counter.desk, kept.operation_id)
    assert len(untaken(counter)) == 1
    counter.server.staff["sofia"] = ("secret", Role.SUPERVISOR)
    await sign_in(counter.desk, "sofia", "secret")
    await note_compared(counter.desk, kept.operation_id)
    assert untaken(counter) == []
    decide(counter, OperationStatus.SENT)
    again = counter.restart(counter.desk.journal)
    await again.open()
    await resume_open_sales(again.desk)
    assert untaken(again) == []
    assert NoticeCode.CASH_NOT_TAKEN not in again.notices
    (order,) = [await again.desk.client.order(OrderId(one)) for one in again.server.house.orders]
    assert returns_of(again.desk, order) == ()
    (still,) = await again.desk.journal.cash_returns()
    assert still.compared_by == "sofia"


async def test_an_order_whose_cash_was_paid_out_is_not_called_one_that_waits_for_it(counter: Counter) -> None:
    """The API has not heard it yet; the list would send the clerk to pay it out again."""
    counter.server.fail(Fault.UNREACHABLE, "/result", times=999)
    await find_orders(counter.desk, OrderQuery())
    (order,) = counter.desk.store.orders.returns
    with pytest.raises(BookingClientError):
        await pay_out(counter)
    await find_orders(counter.desk, OrderQuery())
    assert counter.desk.store.orders.returns == ()
    assert order.order_id in counter.server.house.orders
