"""Authorizations end (P26): a capture that is too late is not asked for, and nobody has a ticket for nothing (R25)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, SeatStatus
from booking.services import issue_tickets, take_payment
from booking.services.countable_amounts import countable
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, seat_states, till
from tests.server.refund_desk import captured, follow_up, items, order_now, provider_says, take_back

AUTHORIZE = OperationKind.AUTHORIZE
DAY_S = 86_400


async def test_p26_a_capture_on_day_eight_of_a_seven_day_authorization(database: Database, clock: Clock) -> None:
    event = await make_event(database)
    buyer = Desk(database, fan(), event)
    charge = (await buyer.sell(1, kind=AUTHORIZE)).operation
    order = await provider_says(database, charge)
    capture = follow_up(order, charge.operation_id)
    await clock.move(seconds=8 * DAY_S)
    assert not await take_payment.mark_sent(database, capture.operation_id)  # the provider is not asked
    ended = await take_payment.read_operation(database, capture.operation_id)
    assert (ended.status, ended.decline_code, ended.attempts) == (OperationStatus.DECLINED, "authorization-expired", 0)
    assert await items(database) == [("capture-failed", capture.operation_id)]
    assert await issue_tickets.issue_for(database, [order.order_id]) == 0  # no ticket
    # The supervisor takes the order back: the seat is free, and nobody was charged.
    leader = till(Role.SUPERVISOR)
    for _ in range(2):  # its answer was lost
        assert (await take_back(database, leader, version=1)).status is OrderStatus.CANCELLED
    assert (await seat_states(database, event))[1][0] == SeatStatus.AVAILABLE
    assert await issue_tickets.issue_for(database, [order.order_id]) == 0
    with pytest.raises(errors.ItemChangedError):
        await take_back(database, leader, version=1, key="another")
    await Desk(database, fan(), event).sell(1, kind=AUTHORIZE)


@pytest.mark.parametrize("days", [1, 30])
async def test_p26_the_providers_own_time_counts_where_it_says_one(database: Database, clock: Clock, days: int) -> None:
    desk = Desk(database, fan(), await make_event(database))
    charge = (await desk.sell(1, kind=AUTHORIZE)).operation
    assert await take_payment.mark_sent(database, charge.operation_id)
    until = await clock.now() + timedelta(days=days)
    granted = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE, "ch_1")
    told = await take_payment.record_result(
        database, charge.operation_id, replace(granted, expires_at=until), source="provider:sandbox"
    )
    capture = follow_up(told.order, charge.operation_id)
    await clock.stand_at(until - timedelta(microseconds=1))
    rows = await database.fetch("SELECT DISTINCT expires_at FROM payment_operations")
    assert [row["expires_at"] for row in rows] == [until]
    await clock.stand_at(until)
    assert not await take_payment.mark_sent(database, capture.operation_id)
    assert [kind for kind, _ in await items(database)] == ["capture-failed"]


async def test_p26_a_capture_in_time_is_sent_and_the_provider_may_still_say_that_it_is_too_late(
    database: Database, clock: Clock
) -> None:
    desk = Desk(database, fan(), await make_event(database))
    charge = (await desk.sell(1, kind=AUTHORIZE)).operation
    order = await provider_says(database, charge)
    capture = follow_up(order, charge.operation_id)
    await clock.move(seconds=6.9 * DAY_S)
    await provider_says(database, capture, ResultOutcome.DECLINED, code="authorization-expired")
    assert (await order_now(database, order.order_id)).status is OrderStatus.CONFIRMED
    assert await issue_tickets.issue_for(database, [order.order_id]) == 0
    assert await items(database) == [("capture-failed", capture.operation_id)]


async def test_nobody_calls_a_capture_off_in_the_name_of_the_authority_while_it_can_be_made(database: Database) -> None:
    desk = Desk(database, fan(), await make_event(database))
    charge = (await desk.sell(1, kind=AUTHORIZE)).operation
    order = await provider_says(database, charge)
    capture = follow_up(order, charge.operation_id)
    refused = OperationResult(ResultOutcome.DECLINED, ADULT_PRICE, decline_code="authorization-expired")
    with pytest.raises(errors.OperationNotYoursError):
        await take_payment.record_result(database, capture.operation_id, refused, source="authority")


async def test_captured_in_time_it_ends_with_nothing(database: Database, clock: Clock) -> None:
    desk = Desk(database, fan(), await make_event(database))
    order = await captured(database, (await desk.sell(1, kind=AUTHORIZE)).operation)
    await clock.move(seconds=30 * DAY_S)
    await take_payment.due_operations(database, 10)
    assert await items(database) == []
    assert await issue_tickets.issue_for(database, [order.order_id]) == 1
    assert await count(database, "SELECT count(*) FROM payment_operations WHERE status <> 'SUCCEEDED'") == 0


def test_p21_p22_what_a_provider_counts_is_told_in_steps_of_our_minor_units() -> None:
    """Stripe counts ISK in hundredths that must be whole crowns, and three decimals only in tens."""
    sandbox, stripe = countable("sandbox") or "", countable("stripe") or ""
    assert countable("zvt") is None
    assert countable("drawer") is None
    steps = {text[n : n + 3]: int(text[n + 3 : n + 7]) for text in (stripe,) for n in range(0, len(text), 7)}
    assert len(stripe) == 7 * len(steps)
    assert {name: steps[name] for name in ("EUR", "JPY", "ISK", "UGX", "KWD")} == {
        "EUR": 1, "JPY": 1, "ISK": 1, "UGX": 1, "KWD": 10,
    }  # fmt: skip
    assert "ARS" not in sandbox
    assert "KWD0001" in sandbox


async def test_p21_the_database_refuses_what_does_not_fit_the_step(database: Database) -> None:
    for currency, amount, code in (
        ("KWD", 7_500, ""), ("KWD", 5_124, "inexact-amount"), ("XXX", 10, "unknown-exponent"), ("EUR", 1, ""),
    ):  # fmt: skip
        rows = await database.fetch(
            "SELECT why_not_countable($1, $2, $3) AS code", countable("stripe"), currency, amount
        )
        assert rows[0]["code"] == code
