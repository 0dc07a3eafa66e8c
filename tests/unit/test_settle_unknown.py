"""UNKNOWN at the counter: cash instead, the buyer leaves, a supervisor takes over (T1, T3, T9, P1, R24, DESIGN §3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from app.actions.finish_sale import finish_sale, park_sale, resume_parked
from app.actions.follow_given_up import follow_given_up
from app.actions.leave_sale import leave_unknown
from app.actions.pay_card import pay_card
from app.actions.pay_cash import pay_cash_instead
from app.actions.resolve_unknown import hand_over_if_due, keep_resolving, resolve_unknown
from app.actions.resume_sales import resume_open_sales
from app.core.errors import SaleNotReadyError, TenderedTooLittleError
from app.core.sale import SaleState
from app.core.store import NoticeCode
from app.devices.fake_terminal import AwaitAbort, LoseLine
from app.journal.async_journal import AsyncJournal
from app.journal.terminal_record import Reversal
from backend_client.errors import BookingRefusedError, NothingDoneError, refusal
from backend_client.testing import Fault
from backend_client.wire import (
    ErrorCode,
    OperationKind,
    OperationStatus,
    Problem,
    ResultAnswer,
    ResultOutcome,
    ResultReport,
)
from tests.unit.counter import FAST, Counter, make_counter, open_journal, until


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[AsyncJournal]:
    kept = open_journal(tmp_path)
    yield kept
    await kept.close()


@pytest.fixture
async def counter(journal: AsyncJournal) -> Counter:
    made = make_counter(journal)
    await made.open()
    await sell_before(made)
    return made


async def sell_before(counter: Counter) -> None:
    """A sale to somebody else, so that the terminal has a last transaction; 45.00."""
    await counter.hold(20)
    assert (await pay_card(counter.desk)).state is SaleState.PAID
    await finish_sale(counter.desk)
    counter.server.house.orders.clear()
    counter.server.house.reports.clear()


def charged(counter: Counter) -> list[int]:
    """What the terminal has booked and keeps, after the sale to somebody else."""
    return [result.amount_minor for result in counter.terminal.booked[1:]]


def state_of(counter: Counter) -> SaleState:
    return counter.sale.state


async def lose_card(counter: Counter, *, booked: bool, seat: int = 0) -> None:
    """A card payment of 45.00 whose end nobody heard."""
    await counter.hold(seat)
    counter.terminal.play(LoseLine(booked=booked))
    assert (await pay_card(counter.desk)).state is SaleState.UNKNOWN


def charges(counter: Counter) -> list[tuple[OperationKind, OperationStatus, bool]]:
    (order,) = counter.server.house.orders.values()
    return [(one.kind, one.status, one.void_requested) for one in order.operations]


# ------------------------------------------------------------ cash instead


@pytest.mark.parametrize("booked", [True, False])
async def test_cash_instead_sells_once_and_the_card_goes_back(counter: Counter, *, booked: bool) -> None:
    """DESIGN §3: from then on a success of the card can only be given back, by its receipt (T6)."""
    await lose_card(counter, booked=booked)
    sale = await pay_cash_instead(counter.desk, 5000)
    assert (sale.state, sale.payment and sale.payment.change_minor) == (SaleState.PAID, 500)
    assert charges(counter)[0][2], "void-requested"
    assert await follow_given_up(counter.desk) == 0
    assert charged(counter) == []
    kinds = [(kind, status) for kind, status, _void in charges(counter)]
    card = OperationStatus.SUCCEEDED if booked else OperationStatus.DECLINED
    assert kinds == [(OperationKind.SALE, card), (OperationKind.CASH, OperationStatus.SUCCEEDED)]
    assert (NoticeCode.CARD_GIVEN_BACK in counter.notices) is booked
    if booked:
        assert len(counter.server.house.reversals) == 1, "the API hears that it went back"
    assert await counter.desk.journal.unsettled_attempts() == ()


async def test_the_card_is_followed_while_the_next_customers_are_served(counter: Counter) -> None:
    await lose_card(counter, booked=True)
    await pay_cash_instead(counter.desk, 4500)
    await finish_sale(counter.desk)
    await counter.hold(1)
    assert (await pay_card(counter.desk)).state is SaleState.PAID, "the earlier attempt was asked about first"
    assert await follow_given_up(counter.desk) == 0
    assert charged(counter) == [4500], "the one of the next customer"


async def test_a_restart_follows_the_card_too(counter: Counter, journal: AsyncJournal) -> None:
    await lose_card(counter, booked=True)
    await pay_cash_instead(counter.desk, 4500)
    again = counter.restart(journal)
    await again.open()
    await resume_open_sales(again.desk)
    task = asyncio.create_task(keep_resolving(again.desk))
    await until(lambda: not charged(again))
    task.cancel()
    assert again.sale.state is SaleState.PAID


async def test_less_cash_than_the_card_was_to_pay_changes_nothing(counter: Counter) -> None:
    await lose_card(counter, booked=False)
    with pytest.raises(TenderedTooLittleError):
        await pay_cash_instead(counter.desk, 4499)
    assert state_of(counter) is SaleState.UNKNOWN
    assert not charges(counter)[0][2]


async def test_cash_that_was_refused_leaves_the_card_unknown(counter: Counter) -> None:
    await lose_card(counter, booked=True)
    counter.server.fail(Fault.BUSY, "/payments", times=99)
    with pytest.raises(NothingDoneError):
        await pay_cash_instead(counter.desk, 4500)
    assert state_of(counter) is SaleState.UNKNOWN
    counter.server.heal()
    sale = await resolve_unknown(counter.desk)
    assert (sale.state, sale.payment and sale.payment.kind) == (SaleState.PAID, OperationKind.SALE)


async def test_cash_instead_whose_answer_was_lost_is_taken_once(counter: Counter) -> None:
    await lose_card(counter, booked=True)
    counter.server.fail(Fault.ANSWER_LOST, "/payments", times=99)
    assert (await pay_cash_instead(counter.desk, 4500)).state is SaleState.UNKNOWN
    counter.server.heal()
    assert (await resolve_unknown(counter.desk)).state is SaleState.PAID
    assert await follow_given_up(counter.desk) == 0
    assert charged(counter) == []


async def test_a_console_that_died_before_the_cash_was_taken_is_about_the_card_again(
    counter: Counter, journal: AsyncJournal
) -> None:
    await lose_card(counter, booked=True)
    counter.server.fail(Fault.REQUEST_LOST, "/payments", times=99)
    await pay_cash_instead(counter.desk, 4500)
    counter.server.heal()
    dead = await counter.desk.journal.open_sales()
    kept = replace(dead[0], state=SaleState.PAYING, unknown_since=None, unknown_reason=None)
    await counter.desk.journal.save_sale(kept)  # as it stood when the cash was on its way
    again = counter.restart(journal)
    await again.open()
    await resume_open_sales(again.desk)
    await resolve_unknown(again.desk, again.sale.sale_id) if state_of(again) is SaleState.UNKNOWN else None
    assert (again.sale.state, again.sale.payment and again.sale.payment.kind) == (SaleState.PAID, OperationKind.SALE)
    assert charged(again) == [4500]


async def test_a_card_that_was_faster_than_the_cash_wins_and_the_cash_goes_back(counter: Counter) -> None:
    """A supervisor settled it meanwhile: the sale is paid by card, and the clerk is told to give the cash back (T9)."""
    await lose_card(counter, booked=True)
    sale = counter.sale
    assert sale.payment is not None
    assert sale.payment.operation_id is not None

    counter.server.house.report_result(
        sale.payment.operation_id, ResultReport(outcome=ResultOutcome.SUCCEEDED, amount_minor=4500)
    )
    with pytest.raises(BookingRefusedError):
        await pay_cash_instead(counter.desk, 5000)
    assert state_of(counter) is SaleState.PAID
    assert counter.sale.payment is not None
    assert counter.sale.payment.kind is OperationKind.SALE
    assert NoticeCode.CASH_NOT_NEEDED in counter.notices
    assert charged(counter) == [4500]


async def test_a_clerk_who_steps_in_while_it_is_asked_waits_for_the_answer(counter: Counter) -> None:
    """The card turns out to be paid while the cash is counted: the cash goes back, and nobody pays twice."""
    await lose_card(counter, booked=True)
    counter.server.delay("/result", 0.05)
    asking = asyncio.create_task(resolve_unknown(counter.desk))
    await until(lambda: bool(counter.desk.resolving))
    sale = await pay_cash_instead(counter.desk, 5000)
    await asking
    assert sale.state is SaleState.PAID
    assert NoticeCode.CASH_NOT_NEEDED in counter.notices
    assert [kind for kind, _status, _void in charges(counter)] == [OperationKind.SALE]


async def test_p1_cash_instead_pressed_twice_is_taken_once(counter: Counter) -> None:
    await lose_card(counter, booked=False)
    counter.server.delay("/payments", 0.05)
    await asyncio.gather(pay_cash_instead(counter.desk, 4500), pay_cash_instead(counter.desk, 4500))
    cash = [status for kind, status, _void in charges(counter) if kind is OperationKind.CASH]
    assert cash == [OperationStatus.SUCCEEDED]


async def test_p1_pay_pressed_twice_is_one_authorization(counter: Counter) -> None:
    """Within 100 ms, and Enter held down: the terminal sees one payment, the API one operation."""
    await counter.hold(0)
    asked = counter.terminal.payments_asked
    counter.server.delay("/checkout", 0.05)
    await asyncio.gather(*(pay_card(counter.desk) for _ in range(10)))
    assert counter.terminal.payments_asked == asked + 1
    assert len(charges(counter)) == 1


async def test_cash_instead_is_for_unknown_cards_only(counter: Counter) -> None:
    await counter.hold(0)
    with pytest.raises(SaleNotReadyError):
        await pay_cash_instead(counter.desk, 4500)


async def test_t9_an_abort_that_crosses_the_approval_is_paid(counter: Counter) -> None:
    await counter.hold(0)
    counter.terminal.play(AwaitAbort(approve_anyway=True))
    task = asyncio.create_task(pay_card(counter.desk))
    await until(lambda: counter.desk.store.terminal_progress != "")
    await counter.terminal.abort()
    assert (await task).state is SaleState.PAID


# ------------------------------------------------------------ the buyer leaves


@pytest.mark.parametrize("booked", [True, False])
async def test_a_buyer_who_left_pays_nothing_and_the_seats_are_free(counter: Counter, *, booked: bool) -> None:
    await lose_card(counter, booked=booked)
    sale = await leave_unknown(counter.desk)
    assert (sale.state, sale.leaving) == (SaleState.UNKNOWN, True)
    await park_sale(counter.desk)
    after = await resolve_unknown(counter.desk, sale.sale_id)
    assert after.state is SaleState.ABANDONED
    assert charged(counter) == []
    assert counter.desk.store.parked == ()
    assert NoticeCode.LEFT_UNCHARGED in counter.notices
    (order,) = counter.server.house.orders.values()
    assert order.status.value == "CANCELLED"
    assert int(counter.server.house.states[0]) & 7 == 0, "free"


async def test_a_charge_of_a_buyer_who_left_that_cannot_be_taken_back_is_paid_and_said(counter: Counter) -> None:
    await lose_card(counter, booked=True)
    await leave_unknown(counter.desk)
    counter.terminal.takes_back = False
    after = await resolve_unknown(counter.desk)
    assert after.state is SaleState.PAID
    assert NoticeCode.LEFT_CHARGED in counter.notices
    assert charged(counter) == [4500], "one charge, one sale: it is refunded from the list of orders"


async def test_a_restart_remembers_that_the_buyer_left(counter: Counter, journal: AsyncJournal) -> None:
    await lose_card(counter, booked=True)
    await leave_unknown(counter.desk)
    again = counter.restart(journal)
    await again.open()
    await resume_open_sales(again.desk)
    assert charged(again) == []
    assert state_of(again) is SaleState.ABANDONED


async def test_leaving_twice_is_leaving_once(counter: Counter) -> None:
    await lose_card(counter, booked=False)
    first = await leave_unknown(counter.desk)
    assert await leave_unknown(counter.desk) == first
    with pytest.raises(SaleNotReadyError):
        await pay_cash_instead(counter.desk, 4500)


# ------------------------------------------------------------ a supervisor takes over


async def test_t3_after_the_patience_a_supervisor_takes_over_and_asking_goes_on(journal: AsyncJournal) -> None:
    counter = make_counter(journal, patience=replace(FAST, hand_over_s=0.0))
    await counter.open()
    await sell_before(counter)
    await counter.hold(0)
    counter.terminal.play(LoseLine(booked=False))
    counter.terminal.silent = True
    await pay_card(counter.desk)
    sale = await hand_over_if_due(counter.desk, counter.sale)
    assert sale.handed_over_at is not None
    assert counter.notices.count(NoticeCode.HANDED_OVER) == 1
    await hand_over_if_due(counter.desk, counter.sale)
    assert counter.notices.count(NoticeCode.HANDED_OVER) == 1, "said once"
    counter.terminal.silent = False
    assert (await resolve_unknown(counter.desk)).handed_over_at is None


async def test_how_often_it_was_asked_is_counted(counter: Counter) -> None:
    await lose_card(counter, booked=False)
    counter.terminal.silent = True
    task = asyncio.create_task(keep_resolving(counter.desk))
    sale_id = counter.sale.sale_id
    await until(lambda: sale_id in counter.desk.store.asks and counter.desk.store.asks[sale_id].count >= 3)
    asks = counter.desk.store.asks[sale_id]
    assert asks.next_in_s is not None
    counter.terminal.silent = False
    await until(lambda: counter.sale.state is SaleState.HELD)
    task.cancel()


async def test_a_terminal_that_tells_of_something_else_is_evidence_once(counter: Counter) -> None:
    """A mismatch is never a guess: the API gets what the terminal said, with the item, and one time only."""
    await lose_card(counter, booked=False)
    counter.terminal.booked.append(replace(counter.terminal.booked[0], trace=77, receipt_no=77, amount_minor=9900))
    for _ in range(3):
        await resolve_unknown(counter.desk)
    assert state_of(counter) is SaleState.UNKNOWN
    told = [report.decline_code for report in counter.server.house.reports]
    assert told.count("terminal-differs") == 1


async def test_parked_unknown_sales_are_counted_and_come_back(counter: Counter) -> None:
    await lose_card(counter, booked=False)
    counter.terminal.silent = True
    first = counter.sale.sale_id
    await park_sale(counter.desk)
    await counter.hold(1)
    assert len(counter.desk.store.unknown_sales) == 1
    assert (await resume_parked(counter.desk, first)).state is SaleState.UNKNOWN


@pytest.mark.parametrize("code", [ErrorCode.NOT_SIGNED_IN, ErrorCode.FORBIDDEN, ErrorCode.RATE_LIMITED])
async def test_a_refusal_of_the_person_is_no_word_about_the_payment_and_nothing_is_taken_back(
    counter: Counter, monkeypatch: pytest.MonkeyPatch, code: ErrorCode
) -> None:
    """Signed out, or somebody who may not sell signed in, while the terminal worked: the charge stands and pays."""
    real = counter.desk.client.report_result

    async def refuse(*_words: object, **_named: object) -> ResultAnswer:
        raise refusal(Problem(type="", title="", status=403, code=code))

    monkeypatch.setattr(counter.desk.client, "report_result", refuse)
    await counter.hold(1)
    with suppress(BookingRefusedError):
        await pay_card(counter.desk)
    for _look in range(3):
        with suppress(BookingRefusedError):
            await resolve_unknown(counter.desk)
    assert state_of(counter) is SaleState.UNKNOWN
    assert len(charged(counter)) == 1
    monkeypatch.setattr(counter.desk.client, "report_result", real)
    await resolve_unknown(counter.desk)
    assert state_of(counter) is SaleState.PAID
    assert len(charged(counter)) == 1


async def test_a_charge_that_went_back_is_never_sold_for(counter: Counter, journal: AsyncJournal) -> None:
    """Whatever became of the telling: the journal knows that the terminal has taken it back."""
    counter.server.fail(Fault.UNREACHABLE, "/result", times=50)
    await counter.hold(1)
    await pay_card(counter.desk)
    assert state_of(counter) is SaleState.UNKNOWN
    payment = counter.sale.payment
    assert payment is not None
    assert payment.operation_id is not None
    await journal.mark_reversal(payment.operation_id, Reversal.DONE)
    counter.server.heal()
    await resolve_unknown(counter.desk)
    assert state_of(counter) is not SaleState.PAID
    (order,) = counter.server.house.orders.values()
    assert [operation.status for operation in order.operations] == [OperationStatus.DECLINED]
