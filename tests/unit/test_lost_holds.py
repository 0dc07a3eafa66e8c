"""A hold whose answer was lost is the buyer's own: its key is kept until the API has a word about it (R6, R3)."""

from __future__ import annotations

from typing import Any

import pytest

from app.actions.finish_sale import park_sale, resume_parked
from app.actions.hold_seats import due_sales, expire_due, hold_picked, release_hold
from app.actions.leave_sale import leave_paid_parts
from app.actions.pay_cash import pay_cash
from app.actions.resume_sales import resume_open_sales
from app.core.sale import Sale, SaleState
from app.core.store import NoticeCode
from backend_client.errors import AnswerUnknownError, BookingClientError, refusal
from backend_client.testing import Fault
from backend_client.wire import ErrorCode, Problem
from tests.unit.counter import Counter


async def lose_hold(counter: Counter) -> Sale:
    counter.server.fail(Fault.ANSWER_LOST, "/holds", times=3)
    with pytest.raises(AnswerUnknownError):
        await counter.hold(0)
    counter.server.heal()
    return counter.sale


def refuse(counter: Counter, monkeypatch: pytest.MonkeyPatch, code: ErrorCode) -> None:
    async def refused(*_words: Any, **_more: Any) -> Any:
        raise refusal(Problem(type="about:blank", title=code.value, status=403, code=code, request_id="r"))

    monkeypatch.setattr(counter.desk.client, "hold_seats", refused)


async def test_an_api_that_is_away_at_the_second_try_leaves_it_unknown(counter: Counter) -> None:
    lost = await lose_hold(counter)
    counter.server.fail(Fault.UNREACHABLE, "/holds", times=3)
    with pytest.raises(BookingClientError):
        await hold_picked(counter.desk)
    assert (counter.sale.state, counter.sale.hold_key) == (SaleState.HOLDING, lost.hold_key)
    counter.server.heal()
    held = await hold_picked(counter.desk)
    assert (held.state, held.lost_seats) == (SaleState.HELD, ())


@pytest.mark.parametrize("code", [ErrorCode.NOT_SIGNED_IN, ErrorCode.FORBIDDEN, ErrorCode.RATE_LIMITED])
@pytest.mark.parametrize("act", ["again", "release", "resume"])
async def test_a_refusal_of_the_caller_is_no_word_about_the_seats(
    counter: Counter, monkeypatch: pytest.MonkeyPatch, code: ErrorCode, act: str
) -> None:
    lost = await lose_hold(counter)
    desk = counter.desk
    if act == "resume":
        counter = counter.restart(desk.journal)
        await counter.open()
    with monkeypatch.context() as patch:
        refuse(counter, patch, code)
        if act == "resume":
            await resume_open_sales(counter.desk)
        else:
            with pytest.raises(BookingClientError):
                await (hold_picked if act == "again" else release_hold)(counter.desk)
    assert (counter.sale.state, counter.sale.hold_key) == (SaleState.HOLDING, lost.hold_key)
    assert (await hold_picked(counter.desk)).state is SaleState.HELD


async def test_a_first_try_that_did_nothing_goes_back_to_picking(counter: Counter) -> None:
    counter.server.fail(Fault.UNREACHABLE, "/holds", times=3)
    with pytest.raises(BookingClientError):
        await counter.hold(0)
    assert (counter.sale.state, counter.sale.hold_key) == (SaleState.PICKING, "")


async def test_a_parked_hold_whose_time_is_over_leaves_the_list_and_the_map(counter: Counter) -> None:
    held = await counter.hold(0)
    await park_sale(counter.desk)
    await counter.hold(1)
    counter.server.pass_time(900)
    assert held.hold is not None
    await counter.desk.client.hold(held.hold.hold_id)
    assert len(due_sales(counter.desk)) == 2
    assert await expire_due(counter.desk)
    assert counter.desk.store.parked == ()
    assert counter.sale.state is SaleState.EXPIRED
    assert counter.desk.store.seat_map is not None
    assert not counter.desk.store.seat_map.mine
    assert await counter.desk.journal.open_sales() == ()
    assert not await expire_due(counter.desk)


async def test_a_parked_hold_of_which_a_part_is_paid_goes_back_when_its_time_is_over(counter: Counter) -> None:
    held = await counter.hold(0, 1)
    await pay_cash(counter.desk, 3000, part_minor=3000)
    await park_sale(counter.desk)
    assert held.hold is not None
    counter.server.pass_time(900)
    await counter.desk.client.hold(held.hold.hold_id)
    await expire_due(counter.desk)
    assert [sale.state for sale in counter.desk.store.parked] in ([SaleState.RETURNING], [SaleState.HELD])
    await resume_parked(counter.desk, held.sale_id)
    if counter.sale.state is SaleState.HELD:
        await leave_paid_parts(counter.desk)
    assert counter.sale.state is SaleState.RETURNING
    assert NoticeCode.MONEY_TO_RETURN in counter.notices
