"""Cash at the counter: change, lost answers, prices that changed (R2, R22)."""

from __future__ import annotations

import pytest

from app.actions.finish_sale import finish_sale
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.print_tickets import print_tickets
from app.actions.resolve_unknown import resolve_unknown
from app.core.errors import (
    TenderedTooLittleError,
)
from app.core.sale import SaleState
from app.core.store import NoticeCode
from backend_client.errors import AnswerUnknownError, BookingRefusedError
from backend_client.seat_frames import StaffStatus
from backend_client.testing import Fault
from backend_client.wire import ErrorCode, PrintJobStatus
from tests.unit.counter import Counter


def statuses(counter: Counter, *seats: int) -> list[int]:
    return [int(counter.server.house.states[seat]) & 7 for seat in seats]


async def test_cash_sale_from_pick_to_printed_tickets(counter: Counter) -> None:
    await counter.hold(0, 1)
    assert counter.sale.total_minor == 9000
    assert counter.sale.deadline is not None
    sale = await pay_cash(counter.desk, 10000)
    assert sale.state is SaleState.PAID
    assert sale.payment is not None
    assert sale.payment.change_minor == 1000
    done = await print_tickets(counter.desk)
    assert done.state is SaleState.DONE
    [sheet] = counter.printer.sheets
    assert [face.number for face in sheet.tickets] == ["1", "2"]
    assert statuses(counter, 0, 1) == [StaffStatus.SOLD, StaffStatus.SOLD]
    [job] = counter.server.house.print_jobs.values()
    assert job.status is PrintJobStatus.CONFIRMED
    await finish_sale(counter.desk)
    assert counter.desk.store.sale is None
    assert await counter.desk.journal.open_sales() == ()


async def test_cash_with_a_lost_answer_is_asked_again_with_the_same_key(counter: Counter) -> None:
    """C6: one order, one operation, the same body."""
    await counter.hold(0)
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=3)
    sale = await pay_cash(counter.desk, 5000)
    assert sale.state is SaleState.UNKNOWN
    sale = await resolve_unknown(counter.desk)
    assert sale.state is SaleState.PAID
    assert sale.payment is not None
    assert sale.payment.change_minor == 500
    [order] = counter.server.house.orders.values()
    assert len(order.operations) == 1


async def test_cash_below_the_total_changes_nothing(counter: Counter) -> None:
    await counter.hold(0)
    with pytest.raises(TenderedTooLittleError) as raised:
        await pay_cash(counter.desk, 4400)
    assert raised.value.missing_minor == 100
    assert counter.sale.state is SaleState.HELD
    assert counter.server.house.orders == {}


async def test_operation_opened_for_nothing_does_not_stand_in_the_way_of_cash(counter: Counter) -> None:
    """The card operation's opening was not answered and the terminal never asked; then the buyer pays cash."""
    await counter.hold(0)
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=3)
    with pytest.raises(AnswerUnknownError):
        await pay_card(counter.desk)
    assert counter.sale.state is SaleState.HELD
    assert (await pay_cash(counter.desk, 4500)).state is SaleState.PAID
    assert counter.terminal.payments_asked == 0


async def test_changed_prices_are_shown_before_anything_is_charged(counter: Counter) -> None:
    """R10."""
    await counter.hold(0)
    counter.server.house.prices[0, 1] = 5000
    with pytest.raises(BookingRefusedError) as raised:
        await pay_card(counter.desk)
    assert raised.value.problem.code is ErrorCode.PRICE_CHANGED
    assert counter.sale.total_minor == 5000
    assert NoticeCode.PRICES_CHANGED in counter.notices
    assert (await pay_cash(counter.desk, 5000)).state is SaleState.PAID
