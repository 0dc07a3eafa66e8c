"""Parts, cash instead, buyers who leave, money back and ends of day: the console's actions on the real authority."""

from __future__ import annotations

import pytest

from app.actions.close_terminal_day import close_terminal_day
from app.actions.finish_sale import finish_sale
from app.actions.follow_given_up import follow_given_up
from app.actions.leave_sale import leave_paid_parts, leave_unknown
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash, pay_cash_instead
from app.actions.resolve_unknown import resolve_unknown
from app.actions.return_money import return_money, returns_of
from app.core.sale import EndReason, SaleState
from app.core.store import NoticeCode
from app.devices.fake_terminal import Decline, LoseLine
from backend_client.wire import OperationKind, OperationStatus, OrderStatus
from tests.server.box_office import ADULT_PRICE, count
from tests.server.test_counter_on_api import Till, till

__all__ = ["till"]


async def sell_before(till: Till) -> None:
    """The terminal knows a payment, as on any day but the first."""
    await till.hold(8)
    await pay_card(till.counter.desk)
    await finish_sale(till.counter.desk)


def charged(till: Till) -> list[int]:
    return [result.amount_minor for result in till.terminal.booked[1:]]


async def test_parts_pay_one_order_and_each_counts_once(till: Till) -> None:
    await sell_before(till)
    await till.hold(0, 1)
    desk, total = till.counter.desk, 2 * ADULT_PRICE
    sale = await pay_cash(desk, 1000, part_minor=500)
    assert (sale.state, sale.paid_minor, sale.left_minor) == (SaleState.HELD, 500, total - 500)
    till.terminal.play(Decline())
    assert (await pay_card(desk, part_minor=300)).state is SaleState.DECLINED
    assert (await pay_card(desk, part_minor=300)).left_minor == total - 800
    sale = await pay_card(desk)
    assert sale.state is SaleState.PAID
    assert charged(till) == [300, total - 800]
    assert sale.order is not None
    assert sale.order.status is OrderStatus.CONFIRMED


@pytest.mark.parametrize("booked", [True, False])
async def test_cash_instead_of_an_unclear_card_which_goes_back(till: Till, *, booked: bool) -> None:
    """DESIGN §3: void-requested, cash taken; the card's success is reversed by its receipt and told."""
    await sell_before(till)
    await till.hold(0)
    till.terminal.play(LoseLine(booked=booked))
    desk = till.counter.desk
    assert (await pay_card(desk)).state is SaleState.UNKNOWN
    assert (await pay_cash_instead(desk, ADULT_PRICE)).state is SaleState.PAID
    assert await follow_given_up(desk) == 0
    assert charged(till) == []
    assert await desk.journal.unsettled_attempts() == ()
    assert (NoticeCode.CARD_GIVEN_BACK in till.counter.notices) is booked
    confirmed = await count(till.db, "SELECT count(*) FROM orders WHERE status = 'CONFIRMED'")
    assert confirmed == 2
    voids = "SELECT count(*) FROM payment_operations WHERE kind = 'void' AND status = 'SUCCEEDED'"
    assert await count(till.db, voids) == int(booked)


@pytest.mark.parametrize("booked", [True, False])
async def test_a_buyer_who_left_pays_nothing_and_the_seats_are_free(till: Till, *, booked: bool) -> None:
    await sell_before(till)
    await till.hold(0)
    till.terminal.play(LoseLine(booked=booked))
    desk = till.counter.desk
    await pay_card(desk)
    await leave_unknown(desk)
    assert (await resolve_unknown(desk)).state is SaleState.ABANDONED
    assert charged(till) == []
    assert await count(till.db, "SELECT count(*) FROM seats WHERE seat_no = 0 AND status = 0") == 1


async def test_parts_go_back_when_the_buyer_leaves(till: Till) -> None:
    await sell_before(till)
    await till.hold(0, 1)
    desk = till.counter.desk
    await pay_cash(desk, 500, part_minor=500)
    await pay_card(desk, part_minor=300)
    sale = await leave_paid_parts(desk)
    assert sale.state is SaleState.RETURNING
    assert sale.order is not None
    back = returns_of(desk, sale.order)
    assert sorted((one.provider, one.amount_minor) for one in back) == [("cash", 500), ("zvt", 300)]
    for operation in back:
        assert (await return_money(desk, sale.order, operation)).status is OperationStatus.SUCCEEDED
    assert till.counter.sale.end_reason is EndReason.MONEY_RETURNED
    assert charged(till) == []
    assert await count(till.db, "SELECT count(*) FROM cash_movements WHERE amount_minor = -500") == 1
    assert await count(till.db, "SELECT count(*) FROM seats WHERE seat_no IN (0, 1) AND status = 0") == 2


async def test_a_refund_whose_answer_was_lost_stays_unknown_and_is_found_again(till: Till) -> None:
    await sell_before(till)
    await till.hold(0)
    desk = till.counter.desk
    await pay_card(desk, part_minor=300)
    sale = await leave_paid_parts(desk)
    assert sale.order is not None
    (card,) = returns_of(desk, sale.order)
    till.terminal.takes_back = False
    till.terminal.play(LoseLine(booked=True))
    assert (await return_money(desk, sale.order, card)).status is OperationStatus.UNKNOWN
    again = await till.restart()
    assert again.sale.state is SaleState.EXPIRED
    assert [result.amount_minor for result in till.terminal.refunded] == [300]
    kinds = [(one.kind, one.status) for one in (again.sale.order.operations if again.sale.order else ())]
    assert (OperationKind.REFUND, OperationStatus.SUCCEEDED) in kinds


async def test_the_end_of_the_day_agrees_with_the_ledger(till: Till) -> None:
    await sell_before(till)
    await till.hold(0)
    await pay_card(till.counter.desk)
    totals = await close_terminal_day(till.counter.desk)
    assert (totals.total_minor, totals.difference_minor) == (2 * ADULT_PRICE, 0)
    assert totals.item_id is None
