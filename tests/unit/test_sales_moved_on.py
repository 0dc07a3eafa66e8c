"""The background works on sales as they are at its turn, not as they were: the clerk goes on meanwhile (P32, T4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import app.actions.resolve_unknown as resolving
from app.actions.close_terminal_day import report_days
from app.actions.finish_sale import finish_sale, park_sale
from app.actions.hold_seats import hold_picked, release_hold
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash, pay_cash_instead
from app.actions.pick_seats import set_price_type
from app.actions.print_tickets import print_tickets
from app.actions.resolve_unknown import keep_resolving, resolve_unknown
from app.actions.resume_sales import clear_up, refuse_unreadable, show_open_sales
from app.core.errors import JournalDamagedError, SaleNotReadyError
from app.core.sale import Sale, SaleState
from app.devices.fake_terminal import LoseLine
from app.journal.async_journal import AsyncJournal
from backend_client.testing import Fault
from tests.unit.counter import Counter, make_counter, open_journal, until


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[AsyncJournal]:
    kept = open_journal(tmp_path)
    yield kept
    await kept.close()


@pytest.fixture
async def counter(journal: AsyncJournal) -> AsyncIterator[Counter]:
    made = make_counter(journal)
    await made.open()
    yield made
    await made.desk.client.close()


class Gate:
    """Holds back what is asked of the API about one sale until `open` is set."""

    def __init__(self, counter: Counter, sale: Sale) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()
        assert sale.order is not None
        self._order_id = sale.order.order_id
        self._operation_id = None if sale.payment is None else sale.payment.operation_id
        client: Any = counter.desk.client
        self._order, self._report = client.order, client.report_result
        client.order, client.report_result = self._slow_order, self._slow_report

    async def _slow_order(self, order_id: Any) -> Any:
        if order_id == self._order_id:
            await self._wait()
        return await self._order(order_id)

    async def _slow_report(self, operation_id: Any, report: Any, **more: Any) -> Any:
        if operation_id == self._operation_id:
            await self._wait()
        return await self._report(operation_id, report, **more)

    async def _wait(self) -> None:
        self.reached.set()
        await self.open.wait()


async def two_unclear(counter: Counter) -> tuple[Sale, Sale]:
    """One parked, one at the counter; the API hears nothing of either."""
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=9999)
    await counter.hold(0)
    first = await pay_card(counter.desk)
    await park_sale(counter.desk)
    await counter.hold(1)
    return first, await pay_card(counter.desk)


async def finish_by_hand(counter: Counter) -> None:
    """The clerk asks about the sale at the counter, prints, and serves the next customer."""
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID
    await print_tickets(counter.desk)
    await finish_sale(counter.desk)


async def test_a_sale_that_was_finished_meanwhile_does_not_end_the_asking_about_others(counter: Counter) -> None:
    first, _second = await two_unclear(counter)
    gate = Gate(counter, first)
    asking = asyncio.create_task(keep_resolving(counter.desk), name="settle")
    await gate.reached.wait()
    counter.server.heal()
    await finish_by_hand(counter)
    gate.open.set()
    await until(lambda: not counter.desk.store.unknown_sales or asking.done())
    assert not asking.done()
    assert [sale.state for sale in counter.desk.store.parked] == [SaleState.PAID]
    counter.desk.wake.set()
    await asyncio.sleep(0)
    assert not asking.done()
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking


async def test_what_goes_wrong_with_one_sale_is_not_the_end_of_asking_about_the_next(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await two_unclear(counter)
    counter.server.heal()
    client: Any = counter.desk.client
    real = client.report_result

    async def broken(operation_id: Any, report: Any, **more: Any) -> Any:
        assert first.payment is not None
        if operation_id == first.payment.operation_id:
            raise LookupError("a fault of ours")
        return await real(operation_id, report, **more)

    monkeypatch.setattr(client, "report_result", broken)
    asking = asyncio.create_task(keep_resolving(counter.desk), name="settle")
    await until(lambda: counter.sale.state is SaleState.PAID or asking.done())
    assert not asking.done()
    assert counter.sale.sale_id == second.sale_id
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking


async def test_a_card_that_is_given_up_while_the_rest_is_followed_is_followed_too(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cash was taken instead just after that pass had looked for cards nobody waits for."""
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=True))
    await pay_card(counter.desk)
    counter.terminal.silent = True
    reached = asyncio.Event()

    async def meanwhile(desk: Any) -> int:
        if not reached.is_set():
            reached.set()
            assert (await pay_cash_instead(desk, 4500)).state is SaleState.PAID
        return await report_days(desk)

    monkeypatch.setattr(resolving, "report_days", meanwhile)
    counter.desk.wake.clear()  # a pass before has heard it
    asking = asyncio.create_task(keep_resolving(counter.desk), name="settle")
    await until(lambda: counter.sale.state is SaleState.PAID)
    await until(lambda: counter.desk.store.given_up == 1)
    counter.terminal.silent = False
    await until(lambda: counter.desk.store.given_up == 0)
    assert await counter.desk.journal.unsettled_attempts() == ()
    assert counter.charged_minor == 0
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking


async def resumed_with_two_unclear(counter: Counter) -> tuple[Counter, tuple[Sale, ...]]:
    counter.terminal.play(LoseLine(booked=False))
    await two_unclear(counter)
    counter.server.heal()
    again = counter.restart(counter.desk.journal)
    await again.open()
    return again, await show_open_sales(again.desk)


async def test_a_resumed_sale_never_displaces_the_one_at_the_counter(counter: Counter) -> None:
    again, kept = await resumed_with_two_unclear(counter)
    gate = Gate(again, kept[0])
    clearing = asyncio.create_task(clear_up(again.desk, kept), name="resume")
    await gate.reached.wait()
    await finish_by_hand(again)
    new = await again.hold(2)
    gate.open.set()
    await clearing
    assert again.sale == new
    assert all(sale.sale_id != kept[1].sale_id for sale in again.desk.store.parked)
    assert {sale.sale_id for sale in await again.desk.journal.open_sales()} == {kept[0].sale_id, new.sale_id}
    await again.desk.client.close()


async def test_another_sale_is_put_aside_and_never_in_the_place_of_the_one_at_the_counter(counter: Counter) -> None:
    await counter.hold(0)
    other = await pay_cash(counter.desk, 4500)
    counter.desk.store.put_sale(None)
    held = await counter.hold(1)
    await counter.desk.keep(other)
    assert counter.sale == held
    assert counter.desk.store.parked == (other,)


@pytest.mark.parametrize("act", ["pay", "hold", "release", "price"])
async def test_the_counter_waits_while_its_sale_is_being_cleared_up(counter: Counter, act: str) -> None:
    """A step that began with the sale as it was would be undone by what comes of the asking, or undo it."""
    held = await counter.hold(0)
    again = counter.restart(counter.desk.journal)
    await again.open()
    kept = await show_open_sales(again.desk)
    client: Any = again.desk.client
    real, reached, gate = client.hold, asyncio.Event(), asyncio.Event()

    async def slow(hold_id: Any) -> Any:
        reached.set()
        await gate.wait()
        return await real(hold_id)

    client.hold = slow
    clearing = asyncio.create_task(clear_up(again.desk, kept), name="resume")
    await reached.wait()
    acts: dict[str, Any] = {
        "pay": lambda: pay_card(again.desk),
        "hold": lambda: hold_picked(again.desk),
        "release": lambda: release_hold(again.desk),
        "price": lambda: set_price_type(again.desk, 0, 2),
    }
    step = asyncio.create_task(acts[act](), name=act)
    for _turn in range(1000):
        await asyncio.sleep(0)
    assert again.sale.state is SaleState.HELD
    assert "pay" not in again.desk.running or again.server.house.orders == {}
    assert again.terminal.payments_asked == 0
    gate.set()
    await clearing
    ended = {"pay": SaleState.PAID, "release": SaleState.ABANDONED}
    if act in ended:
        assert (await step).state is ended[act]
    else:
        with suppress(SaleNotReadyError):
            await step
        assert again.sale.state is SaleState.HELD
    assert again.sale.sale_id == held.sale_id
    await again.desk.client.close()


async def test_one_unreadable_sale_hides_no_other_and_is_said(counter: Counter) -> None:
    await counter.hold(0)
    await park_sale(counter.desk)
    held = await counter.hold(1)
    journal: Any = counter.desk.journal
    journal._journal._connection.execute("UPDATE sales SET body = ? WHERE sale_id <> ?", (b"{", str(held.sale_id)))
    again = counter.restart(counter.desk.journal)
    await again.open()
    kept = await show_open_sales(again.desk)
    assert [sale.sale_id for sale in kept] == [held.sale_id]
    assert again.sale.sale_id == held.sale_id
    assert [sale.state for sale in await clear_up(again.desk, kept)] == [SaleState.HELD]
    with pytest.raises(JournalDamagedError):
        await refuse_unreadable(again.desk)
    await again.desk.client.close()
