"""Split tender: part cash, part card, several cards; what goes back when the buyer leaves (R22, R24, R33; P1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from msgspec.structs import replace

from app.actions.finish_sale import finish_sale
from app.actions.hold_seats import expire_due, release_hold
from app.actions.leave_sale import leave_paid_parts
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash
from app.actions.pick_seats import set_price_type
from app.actions.resolve_unknown import resolve_unknown
from app.actions.resume_sales import resume_open_sales
from app.actions.return_money import ReturnDeclinedError, give_up_return, return_money, returns_of
from app.core.errors import PartNotPayableError, SaleNotReadyError, TenderedTooLittleError
from app.core.sale import EndReason, Sale, SaleState
from app.core.settlement import paid_parts
from app.core.store import NoticeCode
from app.devices.card_terminal import TerminalUnavailableError
from app.devices.fake_terminal import Approve, Decline, LoseLine, Unreachable
from app.journal.async_journal import AsyncJournal
from backend_client.errors import AnswerUnknownError, NothingDoneError
from backend_client.testing import Fault
from backend_client.wire import DeviceId, OperationKind, OperationStatus, OrderStatus, PaymentOperation
from tests.unit.counter import Counter, make_counter, open_journal, until


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[AsyncJournal]:
    kept = open_journal(tmp_path)
    yield kept
    await kept.close()


@pytest.fixture
async def counter(journal: AsyncJournal) -> Counter:
    made = make_counter(journal)
    await made.open()
    await made.hold(0, 1)  # 90.00
    return made


def kinds(sale: Sale) -> list[tuple[OperationKind, int]]:
    assert sale.order is not None
    return [(part.kind, part.amount_minor) for part in paid_parts(sale.order)]


def returns(counter: Counter) -> tuple[PaymentOperation, ...]:
    assert counter.sale.order is not None
    return returns_of(counter.desk, counter.sale.order)


def state_of(counter: Counter) -> SaleState:
    return counter.sale.state


async def give_back(counter: Counter, operation: PaymentOperation) -> PaymentOperation:
    assert counter.sale.order is not None
    return await return_money(counter.desk, counter.sale.order, operation)


async def test_part_cash_part_card_is_one_paid_sale(counter: Counter) -> None:
    sale = await pay_cash(counter.desk, 5000, part_minor=3000)
    assert (sale.state, sale.paid_minor, sale.left_minor) == (SaleState.HELD, 3000, 6000)
    assert sale.order is not None
    assert sale.order.operations[0].change_minor == 2000, "the change of the part, from what was handed over"
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.PAID
    assert kinds(sale) == [(OperationKind.CASH, 3000), (OperationKind.SALE, 6000)]
    assert counter.charged_minor == 6000


async def test_several_cards_pay_one_order_and_each_is_charged_once(counter: Counter) -> None:
    for part in (2000, 3000):
        assert (await pay_card(counter.desk, part_minor=part)).state is SaleState.HELD
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.PAID
    assert [amount for _kind, amount in kinds(sale)] == [2000, 3000, 4000]
    assert counter.terminal.payments_asked == 3
    assert [result.amount_minor for result in counter.terminal.booked] == [2000, 3000, 4000]


@pytest.mark.parametrize("part", [0, -1, 9001])
async def test_a_part_of_nothing_or_of_too_much_is_refused_and_nothing_is_asked(counter: Counter, part: int) -> None:
    with pytest.raises(PartNotPayableError):
        await pay_card(counter.desk, part_minor=part)
    with pytest.raises(PartNotPayableError):
        await pay_cash(counter.desk, 9000, part_minor=part)
    assert counter.sale.state is SaleState.HELD
    assert counter.terminal.payments_asked == 0
    assert counter.server.house.orders == {}


async def test_less_cash_than_the_part_is_refused(counter: Counter) -> None:
    with pytest.raises(TenderedTooLittleError):
        await pay_cash(counter.desk, 2999, part_minor=3000)
    assert counter.sale.order is None


async def test_a_decline_of_the_second_part_keeps_the_first(counter: Counter) -> None:
    await pay_cash(counter.desk, 3000, part_minor=3000)
    counter.terminal.play(Decline("insufficient-funds"), Approve())
    sale = await pay_card(counter.desk)
    assert (sale.state, sale.paid_minor) == (SaleState.DECLINED, 3000)
    sale = await pay_card(counter.desk)
    assert sale.state is SaleState.PAID


async def test_r24_an_unknown_part_is_asked_about_and_counts_once_it_is_known(counter: Counter) -> None:
    counter.terminal.play(LoseLine(booked=True))
    assert (await pay_card(counter.desk, part_minor=4000)).state is SaleState.UNKNOWN
    sale = await resolve_unknown(counter.desk)
    assert (sale.state, sale.paid_minor, sale.left_minor) == (SaleState.HELD, 4000, 5000)
    assert (await pay_cash(counter.desk, 5000)).state is SaleState.PAID
    assert counter.charged_minor == 4000


async def test_a_part_whose_answer_was_lost_is_taken_once(counter: Counter) -> None:
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=99)
    assert (await pay_cash(counter.desk, 3000, part_minor=3000)).state is SaleState.UNKNOWN
    counter.server.heal()
    sale = await resolve_unknown(counter.desk)
    assert (sale.state, sale.paid_minor) == (SaleState.HELD, 3000)


async def test_price_types_stand_once_a_part_is_paid(counter: Counter) -> None:
    """Another price type would cancel the order, and the part with it."""
    await pay_cash(counter.desk, 3000, part_minor=3000)
    with pytest.raises(SaleNotReadyError):
        await set_price_type(counter.desk, 0, 2)
    assert (counter.sale.state, counter.sale.paid_minor) == (SaleState.HELD, 3000)


# ------------------------------------------------------------ the buyer leaves


async def test_held_seats_with_paid_parts_are_not_just_released(counter: Counter) -> None:
    await pay_cash(counter.desk, 3000, part_minor=3000)
    with pytest.raises(SaleNotReadyError):
        await release_hold(counter.desk)
    assert counter.sale.state is SaleState.HELD


async def test_what_parts_have_paid_goes_back_when_the_buyer_leaves(counter: Counter) -> None:
    """Cash is paid out and said so by the clerk; the card is reversed by its receipt (T6); then the seats are free."""
    await pay_cash(counter.desk, 3000, part_minor=3000)
    await pay_card(counter.desk, part_minor=2000)
    sale = await leave_paid_parts(counter.desk)
    assert sale.state is SaleState.RETURNING
    assert NoticeCode.MONEY_TO_RETURN in counter.notices
    cash, card = returns(counter)
    assert (cash.provider, cash.amount_minor, card.provider, card.amount_minor) == ("cash", 3000, "zvt", 2000)
    assert (await give_back(counter, card)).status is OperationStatus.SUCCEEDED
    assert counter.terminal.booked == []
    assert counter.terminal.refunds_asked == 0, "reversed, not refunded: the buyer need not show the card"
    assert state_of(counter) is SaleState.RETURNING
    assert (await give_back(counter, cash)).status is OperationStatus.SUCCEEDED
    assert state_of(counter) is SaleState.EXPIRED
    assert counter.sale.end_reason is EndReason.MONEY_RETURNED
    assert counter.sale.order is not None
    assert counter.sale.order.status is OrderStatus.CANCELLED
    assert await counter.desk.journal.unsettled_attempts() == ()


async def test_a_hold_that_ends_with_parts_paid_gives_them_back(counter: Counter) -> None:
    await pay_cash(counter.desk, 3000, part_minor=3000)
    counter.server.pass_time(900)
    await counter.desk.client.order(counter.sale.order.order_id)  # type: ignore[union-attr]
    assert await expire_due(counter.desk)
    assert counter.sale.state is SaleState.RETURNING
    (cash,) = returns(counter)
    await give_back(counter, cash)
    assert counter.sale.end_reason is EndReason.MONEY_RETURNED


async def test_a_charge_that_cannot_be_reversed_any_more_is_refunded_to_the_card(counter: Counter) -> None:
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    counter.terminal.takes_back = False
    (card,) = returns(counter)
    assert (await give_back(counter, card)).status is OperationStatus.SUCCEEDED
    assert [result.amount_minor for result in counter.terminal.refunded] == [2000]


async def test_a_refund_that_the_terminal_declines_may_be_tried_again_or_handed_over(counter: Counter) -> None:
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    counter.terminal.takes_back = False
    counter.terminal.play(Decline("cancelled-at-terminal"))
    (card,) = returns(counter)
    with pytest.raises(ReturnDeclinedError) as caught:
        await give_back(counter, card)
    assert caught.value.decline_code == "cancelled-at-terminal"
    assert returns(counter) == (card,)
    assert counter.sale.order is not None
    given_up = await give_up_return(counter.desk, counter.sale.order, card)
    assert (given_up.status, given_up.decline_code) == (OperationStatus.DECLINED, "not-returned-here")
    assert (state_of(counter), counter.sale.end_reason) == (SaleState.EXPIRED, EndReason.CHARGE_TO_RETURN)


async def test_a_part_that_is_left_to_a_supervisor_keeps_no_other_from_going_back(counter: Counter) -> None:
    """The sale ends once nothing waits for this counter, and says that not all is back."""
    await pay_card(counter.desk, part_minor=2000)
    await pay_cash(counter.desk, 3000, part_minor=3000)
    await leave_paid_parts(counter.desk)
    assert counter.sale.order is not None
    card = next(one for one in returns(counter) if one.provider != "cash")
    await give_up_return(counter.desk, counter.sale.order, card)
    assert state_of(counter) is SaleState.RETURNING
    (cash,) = returns(counter)
    await give_back(counter, cash)
    assert (state_of(counter), counter.sale.end_reason) == (SaleState.EXPIRED, EndReason.CHARGE_TO_RETURN)
    await finish_sale(counter.desk)
    assert counter.desk.store.sale is None
    assert counter.desk.store.parked == ()


async def test_a_terminal_that_is_away_has_given_nothing_back(counter: Counter) -> None:
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    counter.terminal.takes_back = False
    counter.terminal.play(Unreachable())
    (card,) = returns(counter)
    with pytest.raises(TerminalUnavailableError):
        await give_back(counter, card)
    assert (await give_back(counter, card)).status is OperationStatus.SUCCEEDED


@pytest.mark.parametrize("booked", [True, False])
async def test_r24_a_refund_whose_answer_was_lost_is_asked_about_and_never_repeated_unknown(
    counter: Counter, journal: AsyncJournal, *, booked: bool
) -> None:
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    counter.terminal.takes_back = False
    counter.terminal.play(LoseLine(booked=booked))
    (card,) = returns(counter)
    assert (await give_back(counter, card)).status is OperationStatus.UNKNOWN
    again = counter.restart(journal)
    await again.open()
    await resume_open_sales(again.desk)
    if not booked:
        assert state_of(again) is SaleState.RETURNING, "nothing was given: the clerk may ask again"
        (card,) = returns(again)
        assert (await give_back(again, card)).status is OperationStatus.SUCCEEDED
    assert len(again.terminal.refunded) == 1, "once, whatever was lost"
    assert again.terminal.refunds_asked == (1 if booked else 2)
    assert state_of(again) is SaleState.EXPIRED


async def test_t6_a_reversal_that_hits_another_receipt_is_no_return(counter: Counter) -> None:
    """UNKNOWN to the API with its evidence, a warning here, and never a second try."""
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    other = counter.terminal.booked[0]
    counter.terminal.reverses_another = True
    (card,) = returns(counter)
    assert (await give_back(counter, card)).status is OperationStatus.UNKNOWN
    assert NoticeCode.TERMINAL_DIFFERS in counter.notices
    assert (await give_back(counter, card)).status is not OperationStatus.SUCCEEDED
    assert counter.terminal.booked == [other]


async def test_t6_what_another_terminal_booked_is_not_reversed_by_its_receipt_here(counter: Counter) -> None:
    """Handed to this till: that receipt is another booking of this terminal, so the buyer presents the card."""
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    booked = list(counter.terminal.booked)
    (card,) = returns(counter)
    assert counter.sale.order is not None
    (row,) = counter.server.house.orders.values()
    row.operations[:] = [
        replace(one, device_id=DeviceId(UUID(int=98))) if one.operation_id == card.parent_id else one
        for one in row.operations
    ]
    done = await return_money(counter.desk, counter.sale.order, card)
    assert done.status is OperationStatus.SUCCEEDED
    assert counter.terminal.booked == booked
    assert [result.amount_minor for result in counter.terminal.refunded] == [2000]


async def test_money_of_another_counter_is_not_given_back_here(counter: Counter) -> None:
    await pay_cash(counter.desk, 3000, part_minor=3000)
    sale = await leave_paid_parts(counter.desk)
    (cash,) = returns(counter)
    counter.desk.client.device_id = DeviceId(UUID(int=99))
    assert sale.order is not None
    with pytest.raises(SaleNotReadyError):
        await return_money(counter.desk, sale.order, cash)


async def test_a_return_that_is_not_reported_is_reported_later(counter: Counter, journal: AsyncJournal) -> None:
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    (card,) = returns(counter)
    counter.server.fail(Fault.REQUEST_LOST, "/result", times=99)
    with pytest.raises(AnswerUnknownError):
        await give_back(counter, card)
    counter.server.heal()
    again = counter.restart(journal)
    await again.open()
    await resume_open_sales(again.desk)
    assert again.sale.state is SaleState.EXPIRED, "reversed before, reported now"
    assert again.terminal.booked == []


async def test_an_order_that_is_not_cancelled_keeps_the_sale(counter: Counter) -> None:
    await pay_cash(counter.desk, 3000, part_minor=3000)
    counter.server.fail(Fault.BUSY, "/cancel", times=99)
    with pytest.raises(NothingDoneError):
        await leave_paid_parts(counter.desk)
    assert counter.sale.state is SaleState.HELD


async def test_leaving_is_for_sales_with_paid_parts(counter: Counter) -> None:
    with pytest.raises(SaleNotReadyError):
        await leave_paid_parts(counter.desk)


async def test_money_that_a_supervisor_has_taken_away_meanwhile_is_not_given_back_here(counter: Counter) -> None:
    """What is shown may be old: another till may be giving it back by now (T6)."""
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    (card,) = returns(counter)
    (row,) = counter.server.house.orders.values()
    at = row.operations.index(next(one for one in row.operations if one.operation_id == card.operation_id))
    row.operations[at] = replace(row.operations[at], device_id=DeviceId(UUID(int=99)))
    with pytest.raises(SaleNotReadyError):
        await give_back(counter, card)
    assert counter.terminal.reversals_asked + counter.terminal.refunds_asked == 0
    assert await counter.desk.journal.terminal_attempt(card.operation_id) is None


async def test_money_is_not_left_to_a_supervisor_while_the_terminal_gives_it_back(counter: Counter) -> None:
    await pay_card(counter.desk, part_minor=2000)
    await leave_paid_parts(counter.desk)
    (card,) = returns(counter)
    order = counter.sale.order
    assert order is not None
    counter.server.delay(f"/orders/{order.order_id}", 0.05)
    giving = asyncio.create_task(give_back(counter, card), name="return-money")
    await until(lambda: "return-money" in counter.desk.running)
    with pytest.raises(SaleNotReadyError):
        await give_up_return(counter.desk, order, card)
    assert (await giving).status is OperationStatus.SUCCEEDED
