"""Stop while the card payment is only being opened: the wish is kept, and the terminal is not asked (T9)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.actions.hold_seats import release_hold
from app.actions.pay_card import STOPPED_HERE, abort_card, pay_card
from app.core.sale import Sale, SaleState
from backend_client.testing import Fault
from backend_client.wire import OperationStatus, OrderStatus
from tests.unit.counter import Counter, make_counter, open_journal, until


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    journal = open_journal(tmp_path)
    made = make_counter(journal)
    await made.open()
    await made.hold(0)
    yield made
    await made.desk.client.close()
    await journal.close()


async def stopped(counter: Counter, at: str) -> asyncio.Task[Sale]:
    """A payment that is stopped while the call `at` is on its way."""
    counter.server.delay(at, 0.05)
    paying = asyncio.create_task(pay_card(counter.desk), name="pay")
    await until(lambda: counter.sale.state is SaleState.PAYING)
    await abort_card(counter.desk)
    return paying


def statuses(counter: Counter) -> list[OperationStatus]:
    return [one.status for order in counter.server.house.orders.values() for one in order.operations]


@pytest.mark.parametrize("at", ["/checkout", "/payments"])
async def test_a_stop_while_it_is_opened_keeps_the_terminal_from_being_asked(counter: Counter, at: str) -> None:
    sale = await (await stopped(counter, at))
    assert (sale.state, sale.decline_code) == (SaleState.DECLINED, STOPPED_HERE)
    assert counter.terminal.payments_asked == 0
    assert statuses(counter) == [OperationStatus.DECLINED]
    assert not counter.desk.store.stop_wished
    assert not counter.desk.charging
    assert (await pay_card(counter.desk)).state is SaleState.PAID, "the next try is not stopped by the wish before"
    assert counter.charged_minor == 4500


async def test_a_stop_between_the_journal_and_the_terminal_is_kept_too(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal: Any = counter.desk.journal
    real = journal.begin_terminal_attempt

    async def begin(record: Any) -> None:
        await real(record)
        await abort_card(counter.desk)

    monkeypatch.setattr(journal, "begin_terminal_attempt", begin)
    sale = await pay_card(counter.desk)
    assert (sale.state, sale.decline_code) == (SaleState.DECLINED, STOPPED_HERE)
    assert counter.terminal.payments_asked == 0
    assert statuses(counter) == [OperationStatus.DECLINED]
    assert await counter.desk.journal.unsettled_attempts() == ()


async def test_a_stop_that_the_api_does_not_hear_leaves_the_seats_held_and_nothing_charged(counter: Counter) -> None:
    counter.server.fail(Fault.UNREACHABLE, "/result", times=3)
    sale = await (await stopped(counter, "/payments"))
    assert sale.state is SaleState.HELD
    assert counter.terminal.payments_asked == 0
    counter.server.heal()
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    assert statuses(counter) == [OperationStatus.DECLINED]
    assert [order.status for order in counter.server.house.orders.values()] == [OrderStatus.CANCELLED]
