"""What the API will not hear of one thing, again and again, keeps no other one from being told (P32)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from app.actions.each_in_turn import each_in_turn
from app.actions.finish_sale import park_sale
from app.actions.hold_seats import release_hold
from app.actions.leave_sale import leave_paid_parts
from app.actions.let_go import follow_let_go
from app.actions.pay_cash import pay_cash
from app.actions.return_money import follow_returns, return_money, returns_of
from app.core.sale import SaleState
from backend_client.errors import (
    AnswerUnknownError,
    BookingClientError,
    NothingDoneError,
    ServiceUnavailableError,
)
from backend_client.testing import Fault
from backend_client.wire import OrderStatus
from tests.unit.counter import Counter
from tests.unit.test_lost_openings import lose_opening

Step = Callable[[], Awaitable[bool]]


def steps(heard: list[int], *outcomes: bool | BookingClientError) -> list[Step]:
    def step_of(number: int, outcome: bool | BookingClientError) -> Step:
        async def step() -> bool:
            heard.append(number)
            if isinstance(outcome, BookingClientError):
                raise outcome
            return outcome

        return step

    return [step_of(number, outcome) for number, outcome in enumerate(outcomes)]


async def test_all_have_their_turn_and_the_first_trouble_is_told() -> None:
    heard: list[int] = []
    assert await each_in_turn(steps(heard, True, False, True, False)) == 2
    with pytest.raises(AnswerUnknownError, match="first"):
        await each_in_turn(steps(heard, AnswerUnknownError("first"), AnswerUnknownError("second"), True))
    assert heard == [0, 1, 2, 3, 0, 1, 2]


async def test_while_nobody_answers_the_others_are_not_tried() -> None:
    heard: list[int] = []
    with pytest.raises(NothingDoneError):
        await each_in_turn(steps(heard, ServiceUnavailableError("away"), True))
    assert heard == [0]


async def test_an_order_that_cannot_be_let_go_keeps_no_other_one(counter: Counter) -> None:
    for seat in (0, 1):
        await counter.hold(seat)
        await lose_opening(counter)
        counter.server.fail(Fault.UNREACHABLE, "", times=999)
        await release_hold(counter.desk)
        counter.server.heal()
    stuck, other = await counter.desk.journal.orders_let_go()
    counter.server.fail(Fault.REQUEST_LOST, f"/orders/{stuck}/cancel", times=999)
    with pytest.raises(AnswerUnknownError):
        await follow_let_go(counter.desk)
    assert await counter.desk.journal.orders_let_go() == (stuck,)
    assert counter.server.house.orders[other].status is OrderStatus.CANCELLED
    counter.server.heal()
    assert await follow_let_go(counter.desk) == 0


async def test_cash_that_cannot_be_told_keeps_no_other_cash(counter: Counter) -> None:
    paid_out = []
    for seat in (0, 1):
        await counter.hold(seat)
        await pay_cash(counter.desk, 2000, part_minor=2000)
        await leave_paid_parts(counter.desk)
        order = counter.sale.order
        assert order is not None
        (operation,) = returns_of(counter.desk, order)
        counter.server.fail(Fault.UNREACHABLE, "/result", times=999)
        with pytest.raises(BookingClientError):
            await return_money(counter.desk, order, operation)
        counter.server.heal()
        await park_sale(counter.desk)
        paid_out.append(operation.operation_id)
    counter.server.fail(Fault.REQUEST_LOST, f"/{paid_out[0]}/result", times=999)
    with pytest.raises(AnswerUnknownError):
        await follow_returns(counter.desk)
    (left,) = await counter.desk.journal.cash_returns()
    assert left.operation_id == paid_out[0]
    assert [sale.state for sale in counter.desk.store.parked] == [SaleState.RETURNING], "the other one has ended"
