"""A buyer calls off a payment that waits for him, and its approval crosses that (R22, R24; 3-D Secure).

What was committed first decides: an approval that was told before pays, and one that is told after is given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import pytest

from booking.domain.caller import Caller
from booking.domain.errors import ResultConflictError
from booking.domain.model import OperationResult, PaymentOperation, PaymentStep, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, SeatStatus
from booking.payments.pace import CheckoutPace
from booking.payments.sandbox_faults import Fault, Planned
from booking.payments.sandbox_ledger import ChargeStatus
from booking.services import drive_operation, take_payment
from booking.services.orders import order_as_it_stands
from booking.services.payment_desk import PaymentDesk
from booking.store.database import Database
from tests.payments_lab.haste import haste
from tests.server.box_office import Clock, Desk, count, seat_states
from tests.server.provider_house import ProviderHouse, provider_house

AUTHORIZE = OperationKind.AUTHORIZE


@pytest.fixture
async def house(database: Database) -> AsyncIterator[ProviderHouse]:
    async with provider_house(database) as house:
        yield house


async def challenged(house: ProviderHouse) -> tuple[PaymentStep, PaymentOperation]:
    """An authorization for which the buyer has to answer his bank."""
    step = await house.open_payment("card-3ds")
    await drive_operation.take_at_once(house.db, house.provider, step.operation)
    operation = await house.operation(step.order.order_id, AUTHORIZE)
    assert operation.status is OperationStatus.ACTION_REQUIRED
    house.events.clear()
    return step, operation


def approve(house: ProviderHouse, operation: PaymentOperation) -> None:
    """The buyer says yes on the provider's page."""
    house.sandbox.ledger.complete_action(operation.idempotency_key, approve=True)


async def told(house: ProviderHouse) -> None:
    """Each event of the provider arrives twice."""
    for event in [*house.events, *house.events]:
        await house.deliver(event)


async def withdraw(house: ProviderHouse, operation: PaymentOperation) -> None:
    desk = PaymentDesk(house.db, {"sandbox": house.provider}, CheckoutPace())
    await desk.withdraw(operation)


async def mark(house: ProviderHouse, operation: PaymentOperation) -> None:
    """Whoever withdraws dies after the mark, and before he asks the provider."""
    assert await take_payment.call_off(house.db, operation)


async def pays_nothing(house: ProviderHouse, step: PaymentStep) -> None:
    """The order waits for nobody, its seats are the buyer's while his time lasts, and the provider has no money."""
    order = await order_as_it_stands(house.db, step.order.order_id)
    assert order.status is OrderStatus.PENDING
    assert {one[0] for one in (await seat_states(house.db, house.event_id)).values()} == {
        SeatStatus.AVAILABLE, SeatStatus.HELD,
    }  # fmt: skip
    await house.work(2)
    taken = [(charge.status, charge.captured) for charge in house.sandbox.ledger.charges.values()]
    assert taken in ([], [(ChargeStatus.VOIDED, 0)], [(ChargeStatus.DECLINED, 0)])
    assert await house.items() == []


async def pays_with_another_card(house: ProviderHouse, step: PaymentStep) -> None:
    """The order can be paid as if the first attempt had never been."""
    row = (await house.db.fetch("SELECT principal FROM orders WHERE order_id = $1", step.order.order_id))[0]
    buyer = Caller.fan(UUID(row["principal"].removeprefix("account:")))
    desk = Desk(house.db, buyer, house.event_id)
    paid = await house.pay(desk, step.order.order_id, step.order.amount_minor, "card-approve")
    await drive_operation.take_at_once(house.db, house.provider, paid.operation)
    await house.work()
    order = await order_as_it_stands(house.db, step.order.order_id)
    assert order.status is OrderStatus.CONFIRMED
    assert sum(charge.captured for charge in house.sandbox.ledger.charges.values()) == step.order.amount_minor


async def test_an_approval_that_was_told_before_the_mark_stands(house: ProviderHouse) -> None:
    step, operation = await challenged(house)
    approve(house, operation)
    await told(house)
    await withdraw(house, operation)  # as the buyer still saw it
    await house.work()
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"
    assert [charge.captured for charge in house.sandbox.ledger.charges.values()] == [step.order.amount_minor]
    assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE void_requested") == 0


async def test_an_approval_between_the_mark_and_the_call_is_given_back(house: ProviderHouse) -> None:
    step, operation = await challenged(house)
    await mark(house, operation)
    approve(house, operation)
    await told(house)
    now = await house.operation(step.order.order_id, AUTHORIZE)
    assert now.status is OperationStatus.SUCCEEDED
    await withdraw(house, operation)  # the call that was on its way: it has its answer
    await pays_nothing(house, step)
    assert (await house.operation(step.order.order_id, OperationKind.VOID)).status is OperationStatus.SUCCEEDED
    await pays_with_another_card(house, step)


async def test_an_approval_that_only_the_withdrawal_tells_of_is_given_back(house: ProviderHouse) -> None:
    """Granted at the provider, told by nobody: the answer to the withdrawal is the first to say so."""
    step, operation = await challenged(house)
    approve(house, operation)
    await withdraw(house, operation)
    await told(house)  # the events come late
    await pays_nothing(house, step)
    await pays_with_another_card(house, step)


async def test_what_is_closed_cannot_be_approved_any_more(house: ProviderHouse) -> None:
    step, operation = await challenged(house)
    await withdraw(house, operation)
    closed = await house.operation(step.order.order_id, AUTHORIZE)
    assert (closed.status, closed.decline_code) == (OperationStatus.DECLINED, "withdrawn")
    await told(house)
    await pays_nothing(house, step)
    await pays_with_another_card(house, step)


async def test_a_provider_that_says_both_is_a_persons_to_settle(house: ProviderHouse) -> None:
    """Closed, and then "granted" all the same: nothing is sold for it, and somebody hears."""
    step, operation = await challenged(house)
    await withdraw(house, operation)
    granted = OperationResult(ResultOutcome.SUCCEEDED, operation.amount_minor, "ch_late")
    for _ in range(2):
        with pytest.raises(ResultConflictError):
            await take_payment.record_result(house.db, operation.operation_id, granted, source="provider:sandbox")
    assert (await house.statuses(step.order.order_id))["order"] == "PENDING"
    assert await house.items() == ["result-conflict"]
    assert await count(house.db, "SELECT count(*) FROM payment_operations WHERE kind = 'void'") == 1


@pytest.mark.parametrize("fault", [Fault.DROP_BEFORE, Fault.DROP_AFTER, Fault.HANG_BEFORE, Fault.HANG_AFTER])
@pytest.mark.parametrize("approved", [True, False])
async def test_a_lost_answer_keeps_nobody_from_paying_otherwise(
    house: ProviderHouse, fault: Fault, approved: bool
) -> None:
    step, operation = await challenged(house)
    if approved:
        approve(house, operation)
    house.sandbox.faults.planned.append(Planned("withdraw", fault, 1))
    with haste(house.provider, fault):
        await withdraw(house, operation)
    assert house.sandbox.faults.planned == []
    now = await house.operation(step.order.order_id, AUTHORIZE)
    assert (now.status, now.void_requested) == (OperationStatus.UNKNOWN, True)
    assert (await house.statuses(step.order.order_id))["order"] == "PENDING"
    await pays_with_another_card(house, step)
    await told(house)
    await house.work(2)
    assert (await house.operation(step.order.order_id, OperationKind.CAPTURE)).status is OperationStatus.SUCCEEDED
    assert sum(charge.captured for charge in house.sandbox.ledger.charges.values()) == step.order.amount_minor
    assert await house.items() == []


@pytest.mark.parametrize("approved", [True, False])
async def test_the_worker_closes_what_nobody_did(house: ProviderHouse, approved: bool) -> None:
    """The process that marked it died: a round of the worker does the rest, and waits for no buyer's time to end."""
    step, operation = await challenged(house)
    await mark(house, operation)
    await mark(house, operation)
    if approved:
        approve(house, operation)
    await house.work()
    now = await house.operation(step.order.order_id, AUTHORIZE)
    assert now.status is (OperationStatus.SUCCEEDED if approved else OperationStatus.DECLINED)
    await pays_nothing(house, step)


async def test_what_was_never_sent_ends_at_once_and_is_never_asked_for(house: ProviderHouse) -> None:
    step = await house.open_payment("card-3ds")
    await withdraw(house, step.operation)
    assert not await take_payment.mark_sent(house.db, step.operation.operation_id)
    ended = await house.operation(step.order.order_id, AUTHORIZE)
    assert (ended.status, ended.attempts) == (OperationStatus.DECLINED, 0)
    assert house.sandbox.ledger.operations == {}
    await pays_with_another_card(house, step)


async def test_after_the_buyers_time_the_seats_are_free_at_once(house: ProviderHouse, clock: Clock) -> None:
    """An approval that is told later buys nothing that is another's by now (B10)."""
    step, operation = await challenged(house)
    await clock.move(seconds=1_000)
    await mark(house, operation)
    assert (await house.statuses(step.order.order_id))["order"] == "EXPIRED"
    assert {one[0] for one in (await seat_states(house.db, house.event_id)).values()} == {SeatStatus.AVAILABLE}
    approve(house, operation)
    await house.work(2)
    assert [charge.status for charge in house.sandbox.ledger.charges.values()] == [ChargeStatus.VOIDED]


async def test_mark_and_approval_at_the_same_instant_have_one_meaning(
    house: ProviderHouse, other_database: Database
) -> None:
    for _ in range(8):
        step, operation = await challenged(house)
        approve(house, operation)
        granted = OperationResult(ResultOutcome.SUCCEEDED, operation.amount_minor, operation.provider_ref)
        marked, settled = await asyncio.gather(
            take_payment.call_off(other_database, operation),
            take_payment.record_result(house.db, operation.operation_id, granted, source="provider:sandbox"),
        )
        await told(house)
        await house.work(2)
        charge = list(house.sandbox.ledger.charges.values())[-1]
        order = await order_as_it_stands(house.db, step.order.order_id)
        assert (marked, settled.advice, order.status, charge.captured) in {
            (True, "reverse", OrderStatus.PENDING, 0),
            (False, "goods-issued", OrderStatus.CONFIRMED, step.order.amount_minor),
        }
        assert await house.items() == []


async def test_called_off_twice_at_once_it_is_closed_once(house: ProviderHouse) -> None:
    step, operation = await challenged(house)
    await asyncio.gather(withdraw(house, operation), withdraw(house, operation))
    await withdraw(house, replace(operation, status=OperationStatus.UNKNOWN))
    await pays_nothing(house, step)


async def test_at_a_card_reader_the_card_that_was_faster_pays(house: ProviderHouse) -> None:
    """T9: an abort is a wish there, and nothing is marked before the reader has answered."""
    step, operation = await challenged(house)
    approve(house, operation)
    at_reader = replace(operation, provider="stripe-terminal")
    await drive_operation.withdraw(house.db, house.provider, at_reader)
    await house.work()
    assert (await house.statuses(step.order.order_id))["order"] == "CONFIRMED"
