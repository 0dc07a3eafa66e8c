"""Payments as they begin: cash, what is refused, keys, the end of grace (R6, R7, R22)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from booking.domain import errors
from booking.domain.model import Evidence, OperationResult, PaymentIntent, ResultOutcome
from booking.domain.states import (
    HoldStatus,
    OperationKind,
    OperationStatus,
    OrderStatus,
    SeatStatus,
)
from booking.services.hold_seats import read_hold
from booking.services.orders import read_order
from booking.services.take_payment import open_payment
from booking.store.database import Database
from tests.server.box_office import (
    ADULT_PRICE,
    Clock,
    Desk,
    count,
    fan,
    make_event,
    reported,
    seat_states,
    till,
)
from tests.server.payment_results import AUTHORIZE, CASH, SALE, sweep


async def test_cash_confirms_in_the_same_transaction(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1, 2)
    order = await desk.check_out(hold)
    intent = PaymentIntent(CASH, "drawer", order.amount_minor, 10_000)
    step = (await open_payment(sound_database, desk.caller, order.order_id, intent, key="p", digest=b"d")).value

    assert (step.operation.status, step.operation.change_minor) == (OperationStatus.SUCCEEDED, 2_000)
    assert (step.order.status, step.order.pay_until) == (OrderStatus.CONFIRMED, None)
    assert (await seat_states(sound_database, event))[1] == (SeatStatus.SOLD, None, order.order_id)
    assert (await read_hold(sound_database, desk.caller, hold.hold_id)).status is HoldStatus.SOLD
    rows = await sound_database.fetch("SELECT type, aggregate_id, seat_states FROM outbox ORDER BY id")
    assert [row["type"] for row in rows] == ["seats-held", "seats-paying", "seats-sold", "order-confirmed"]
    assert rows[2]["seat_states"] == [3 | 1 << 3] * 2
    assert rows[3]["aggregate_id"] == order.order_id
    sold = await count(sound_database, "SELECT sold FROM account_limits WHERE principal = $1", desk.caller.principal)
    assert sold == 2


async def test_payments_that_do_not_fit_are_refused_and_change_nothing(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk, buyer = Desk(sound_database, till(), event), Desk(sound_database, fan(), event)
    order = await desk.check_out(await desk.hold(1))
    fans = await buyer.check_out(await buyer.hold(2))
    amount = order.amount_minor
    for desk_, of, intent, refusal in (
        (desk, order, PaymentIntent(CASH, "drawer", amount, amount - 1), errors.TenderedTooLittleError),
        (desk, order, PaymentIntent(CASH, "drawer", amount), errors.InvalidRequestError),
        (desk, order, PaymentIntent(CASH, "drawer", amount - 1, amount), errors.AmountMismatchError),
        (desk, order, PaymentIntent(SALE, "zvt", amount + 1), errors.AmountMismatchError),
        (desk, order, PaymentIntent(SALE, "zvt", -1), errors.InvalidRequestError),
        (desk, order, PaymentIntent(OperationKind.CAPTURE, "zvt", amount), errors.InvalidRequestError),
        (desk, order, PaymentIntent(SALE, "z\x00", amount), errors.InvalidRequestError),
        (desk, order, PaymentIntent(SALE, "sandbox", amount), errors.InvalidRequestError),
        (desk, order, PaymentIntent(OperationKind.AUTHORIZE, "nobody", amount), errors.InvalidRequestError),
        (desk, fans, PaymentIntent(CASH, "drawer", amount, amount), errors.OrderNotFoundError),
        (buyer, fans, PaymentIntent(CASH, "drawer", amount, amount), errors.ForbiddenError),
    ):  # fmt: skip
        with pytest.raises(refusal):
            await open_payment(sound_database, desk_.caller, of.order_id, intent, key="p", digest=b"d")
    assert await count(sound_database, "SELECT count(*) FROM payment_operations") == 0


async def test_p2_a_payment_key_is_spent_on_one_body(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    order = await desk.check_out(await desk.hold(1))
    intent = PaymentIntent(SALE, "zvt", order.amount_minor)
    args = (sound_database, desk.caller, order.order_id, intent)
    first = await open_payment(*args, key="p", digest=b"d")
    again = await open_payment(*args, key="p", digest=b"d")
    assert again.replayed
    assert again.value.operation.operation_id == first.value.operation.operation_id
    with pytest.raises(errors.KeyReusedError):
        await open_payment(*args, key="p", digest=b"other amount")
    assert await count(sound_database, "SELECT count(*) FROM payment_operations") == 1


async def test_at_the_end_of_grace_no_new_attempt_begins(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    order = await desk.check_out(await desk.hold(1))
    assert order.pay_until is not None
    await clock.stand_at(order.pay_until - timedelta(seconds=9))
    with pytest.raises(errors.TooLittleTimeError):
        await desk.pay(order, SALE)
    await clock.stand_at(order.pay_until)
    for kind in (CASH, SALE, AUTHORIZE):
        with pytest.raises(errors.HoldExpiredError):
            await desk.pay(order, kind)
    assert await sweep(sound_database) == 1
    assert (await read_order(sound_database, desk.caller, order.order_id)).status is OrderStatus.EXPIRED
    with pytest.raises(errors.HoldExpiredError):
        await desk.pay(order, CASH)


async def test_money_is_exact_and_kept_with_its_evidence(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    seen = (Evidence(await clock.now(), "in", "04 0F …"), Evidence(await clock.now(), "out", "80 00 00"))
    report = OperationResult(ResultOutcome.SUCCEEDED, ADULT_PRICE, "trace 7", card_brand="girocard", evidence=seen)
    await reported(sound_database, desk.caller, step.operation.operation_id, report)
    rows = await sound_database.fetch("SELECT source, direction, body FROM operation_evidence ORDER BY evidence_id")
    assert [(row["direction"], row["body"]) for row in rows] == [("in", "04 0F …"), ("out", "80 00 00")]
    assert rows[0]["source"] == f"device:{desk.caller.device_id}"
