"""An opening of a card payment whose answer was lost never keeps the seats for good: it is declined first (R24, R6)."""

from __future__ import annotations

import pytest

from app.actions.hold_seats import expire_due, release_hold
from app.actions.leave_sale import leave_paid_parts
from app.actions.let_go import follow_let_go
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import set_price_type
from app.actions.resume_sales import resume_open_sales
from app.core.sale import Sale, SaleState
from backend_client.errors import AnswerUnknownError, NothingDoneError
from backend_client.testing import Fault
from backend_client.wire import OperationStatus, OrderStatus
from tests.unit.counter import Counter


async def lose_opening(counter: Counter) -> None:
    """The API has the payment open; the counter knows nothing of it, and the terminal was not asked."""
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=3)
    with pytest.raises(AnswerUnknownError):
        await pay_card(counter.desk)
    counter.server.heal()
    assert counter.sale.state is SaleState.HELD
    assert counter.terminal.payments_asked == 0
    assert statuses(counter)[-1] is OperationStatus.SENT


def statuses(counter: Counter) -> list[OperationStatus]:
    return [one.status for order in counter.server.house.orders.values() for one in order.operations]


def orders(counter: Counter) -> list[OrderStatus]:
    return [order.status for order in counter.server.house.orders.values()]


async def pass_the_hold(counter: Counter, held: Sale) -> None:
    assert held.hold is not None
    counter.server.pass_time(900)
    await counter.desk.client.hold(held.hold.hold_id)


async def test_the_seats_can_be_released(counter: Counter) -> None:
    await counter.hold(0)
    await lose_opening(counter)
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    assert (statuses(counter), orders(counter)) == ([OperationStatus.DECLINED], [OrderStatus.CANCELLED])
    assert await counter.desk.journal.orders_let_go() == ()


@pytest.mark.parametrize("restarts", [False, True])
async def test_seats_released_while_the_api_is_away_go_back_once_it_answers(
    counter: Counter, *, restarts: bool
) -> None:
    await counter.hold(0)
    await lose_opening(counter)
    counter.server.fail(Fault.UNREACHABLE, "", times=999)
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    with pytest.raises(NothingDoneError):
        await follow_let_go(counter.desk)
    counter.server.heal()
    assert statuses(counter) == [OperationStatus.SENT]
    again = counter
    if restarts:
        again = counter.restart(counter.desk.journal)
        await again.open()
    assert await follow_let_go(again.desk) == 0
    assert (statuses(counter), orders(counter)) == ([OperationStatus.DECLINED], [OrderStatus.CANCELLED])
    assert await again.desk.journal.orders_let_go() == ()


async def test_the_end_of_the_hold_ends_it_at_the_api_too(counter: Counter) -> None:
    held = await counter.hold(0)
    await lose_opening(counter)
    await pass_the_hold(counter, held)
    assert await expire_due(counter.desk)
    assert counter.sale.state is SaleState.EXPIRED
    await follow_let_go(counter.desk)
    assert statuses(counter) == [OperationStatus.DECLINED]
    assert orders(counter)[0] in (OrderStatus.CANCELLED, OrderStatus.EXPIRED)


async def test_a_price_type_can_be_changed_after_it(counter: Counter) -> None:
    await counter.hold(0)
    await lose_opening(counter)
    sale = await set_price_type(counter.desk, 0, 2)
    assert sale.state is SaleState.HELD
    assert statuses(counter) == [OperationStatus.DECLINED]
    assert (await pay_card(counter.desk)).state is SaleState.PAID
    assert counter.terminal.payments_asked == 1


async def test_parts_can_go_back_after_it(counter: Counter) -> None:
    await counter.hold(0, 1)
    await pay_cash(counter.desk, 3000, part_minor=3000)
    await lose_opening(counter)
    assert (await leave_paid_parts(counter.desk)).state is SaleState.RETURNING
    assert orders(counter) == [OrderStatus.CANCELLED]


async def test_a_hold_of_which_a_part_is_paid_ends_after_it(counter: Counter) -> None:
    held = await counter.hold(0, 1)
    await pay_cash(counter.desk, 3000, part_minor=3000)
    await lose_opening(counter)
    await pass_the_hold(counter, held)
    assert counter.sale.state is SaleState.HELD
    await expire_due(counter.desk)
    assert OperationStatus.SENT not in statuses(counter)[:2]


async def test_it_can_be_released_after_a_restart(counter: Counter) -> None:
    await counter.hold(0)
    await lose_opening(counter)
    again = counter.restart(counter.desk.journal)
    await again.open()
    await resume_open_sales(again.desk)
    assert again.sale.state is SaleState.HELD
    assert (await release_hold(again.desk)).state is SaleState.ABANDONED
    assert (statuses(counter), orders(counter)) == ([OperationStatus.DECLINED], [OrderStatus.CANCELLED])


async def test_a_sale_that_goes_on_after_a_crash_is_not_let_go(counter: Counter) -> None:
    """The console died between the two writes of a release: the buyer is still there, and nothing is taken away."""
    await counter.hold(0)
    await lose_opening(counter)
    assert counter.sale.order is not None
    await counter.desk.journal.let_order_go(counter.sale.order.order_id)
    again = counter.restart(counter.desk.journal)
    await again.open()
    await resume_open_sales(again.desk)
    await follow_let_go(again.desk)
    assert orders(counter) == [OrderStatus.PENDING]
    assert (await pay_card(again.desk)).state is SaleState.PAID


async def test_who_follows_between_the_two_writes_of_a_release_forgets_nothing(counter: Counter) -> None:
    """The order is on the list, and the sale has not ended yet: it is not forgotten, and told of once it has."""
    await counter.hold(0)
    await lose_opening(counter)
    assert counter.sale.order is not None
    await counter.desk.journal.let_order_go(counter.sale.order.order_id)
    assert await follow_let_go(counter.desk) == 1
    counter.server.fail(Fault.UNREACHABLE, "", times=999)
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    counter.server.heal()
    assert await follow_let_go(counter.desk) == 0
    assert (statuses(counter), orders(counter)) == ([OperationStatus.DECLINED], [OrderStatus.CANCELLED])


async def test_a_sale_that_was_paid_after_all_takes_its_order_off_the_list(counter: Counter) -> None:
    await counter.hold(0)
    await lose_opening(counter)
    assert counter.sale.order is not None
    await counter.desk.journal.let_order_go(counter.sale.order.order_id)
    assert (await pay_card(counter.desk)).state is SaleState.PAID
    counter.desk.store.put_sale(None)
    assert await follow_let_go(counter.desk) == 0
    assert await counter.desk.journal.orders_let_go() == ()
    assert orders(counter) == [OrderStatus.CONFIRMED]


async def test_an_order_whose_checkout_was_not_answered_is_cancelled_with_the_sale(counter: Counter) -> None:
    await counter.hold(0)
    counter.server.fail(Fault.ANSWER_LOST, "/checkout", times=3)
    with pytest.raises(AnswerUnknownError):
        await pay_card(counter.desk)
    counter.server.heal()
    assert counter.sale.order is None
    assert (await release_hold(counter.desk)).state is SaleState.ABANDONED
    assert orders(counter) == [OrderStatus.CANCELLED]
