"""Providers: authorization, capture, what is due, what comes too late (R22–R25)."""

from __future__ import annotations

from uuid import UUID

import pytest

from booking.domain import errors
from booking.domain.model import OperationResult, Order, ResultOutcome
from booking.domain.states import (
    OperationKind,
    OperationStatus,
    OrderStatus,
    SeatStatus,
)
from booking.services.orders import read_order
from booking.services.take_payment import (
    due_operations,
    mark_sent,
    read_operation,
    record_result,
)
from booking.store.database import Database
from tests.server.box_office import (
    Clock,
    Desk,
    fan,
    make_event,
    released,
    seat_states,
    till,
)
from tests.server.payment_results import AUTHORIZE, DECLINED, UNKNOWN, items, paid, sweep


async def authorized(db: Database, desk: Desk, *seats: int) -> tuple[UUID, Order]:
    step = await desk.sell(*seats, kind=AUTHORIZE)
    assert await mark_sent(db, step.operation.operation_id)
    return step.operation.operation_id, step.order


async def test_an_authorization_confirms_and_leaves_its_capture_to_be_done(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    operation, order = await authorized(sound_database, desk, 1)
    assert not await mark_sent(sound_database, operation)

    done = await record_result(sound_database, operation, paid(order.amount_minor, "auth-1"), source="provider:sandbox")

    assert done.order.status is OrderStatus.CONFIRMED
    charge, capture = done.order.operations
    assert (capture.kind, capture.status, capture.parent_id) == ("capture", "CREATED", charge.operation_id)
    assert (capture.provider_ref, capture.amount_minor) == ("auth-1", order.amount_minor)
    assert await mark_sent(sound_database, capture.operation_id)
    captured = await record_result(
        sound_database, capture.operation_id, paid(order.amount_minor), source="provider:sandbox"
    )
    assert captured.operation.status is OperationStatus.SUCCEEDED
    assert captured.order.status is OrderStatus.CONFIRMED


async def test_a_capture_that_fails_for_good_is_a_supervisors(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    operation, order = await authorized(sound_database, desk, 1)
    done = await record_result(sound_database, operation, paid(order.amount_minor), source="provider:sandbox")
    capture = done.order.operations[1]
    await record_result(sound_database, capture.operation_id, UNKNOWN, source="provider:sandbox")
    failed = await record_result(sound_database, capture.operation_id, DECLINED, source="provider:sandbox")
    assert failed.order.status is OrderStatus.CONFIRMED
    assert await items(sound_database) == [("capture-failed", capture.operation_id)]


async def test_a_step_for_the_buyer_is_kept_and_the_seats_too(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    operation, order = await authorized(sound_database, desk, 1)
    action = OperationResult(ResultOutcome.ACTION_REQUIRED, 0, next_action="https://bank.example/3ds")
    step = await record_result(sound_database, operation, action, source="provider:sandbox")
    assert (step.operation.status, step.operation.next_action) == ("ACTION_REQUIRED", "https://bank.example/3ds")
    await clock.move(seconds=10_000)
    assert await sweep(sound_database) == 0
    done = await record_result(sound_database, operation, paid(order.amount_minor), source="provider:sandbox")
    assert (done.order.status, done.operation.next_action) == (OrderStatus.CONFIRMED, "")


async def test_b10_a_late_authorization_is_voided_once_and_touches_nothing_of_the_next_buyer(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database)
    first, second = Desk(sound_database, fan(), event), Desk(sound_database, till(), event)
    operation, order = await authorized(sound_database, first, 1)
    assert order.pay_until is not None
    await clock.stand_at(order.pay_until)
    await record_result(sound_database, operation, DECLINED, source="provider:sandbox")
    sold = await second.sell(1)
    before = await seat_states(sound_database, event)

    for _ in range(3):
        with pytest.raises(errors.ResultConflictError):
            await record_result(sound_database, operation, paid(order.amount_minor, "late"), source="provider:sandbox")
        await sweep(sound_database)
        await released(sound_database, first.caller, order.hold_ids[0])

    assert await seat_states(sound_database, event) == before
    assert before[1][2] == sold.order.order_id
    operations = (await read_order(sound_database, first.caller, order.order_id)).operations
    voids = [each for each in operations if each.kind is OperationKind.VOID]
    assert [(void.status, void.provider_ref, void.amount_minor) for void in voids] == [
        ("CREATED", "late", order.amount_minor)
    ]
    assert await items(sound_database) == [("result-conflict", operation)]


async def test_a_limit_that_was_passed_meanwhile_voids_the_authorization(sound_database: Database) -> None:
    """R8: limits hold at confirmation as well."""
    event = await make_event(sound_database, max_per_account=4)
    desk = Desk(sound_database, fan(), event)
    operation, order = await authorized(sound_database, desk, 1, 2)
    await sound_database.fetch("UPDATE events SET max_per_account = 1 WHERE event_id = $1", event)
    refused = await record_result(sound_database, operation, paid(order.amount_minor), source="provider:sandbox")
    assert refused.order.status is OrderStatus.CANCELLED
    assert [each.kind for each in refused.order.operations] == ["authorize", "void"]
    assert await items(sound_database) == [("paid-not-confirmed", operation)]
    assert (await seat_states(sound_database, event))[1] == (SeatStatus.AVAILABLE, None, None)


async def test_an_authorization_that_was_never_sent_ends_with_its_time(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    step = await desk.sell(1, kind=AUTHORIZE)
    assert step.order.pay_until is not None
    await clock.stand_at(step.order.pay_until)
    assert [each.operation_id for each in await due_operations(sound_database, 10)] == [step.operation.operation_id]
    assert not await mark_sent(sound_database, step.operation.operation_id)
    ended = await read_operation(sound_database, step.operation.operation_id)
    assert (ended.status, ended.decline_code) == (OperationStatus.DECLINED, "not-sent")
    assert (await read_order(sound_database, desk.caller, step.order.order_id)).status is OrderStatus.EXPIRED
    assert (await seat_states(sound_database, event))[1][0] == SeatStatus.AVAILABLE


async def test_p5_due_operations_are_claimed_and_come_back_later_and_later(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database)
    operation, _ = await authorized(sound_database, Desk(sound_database, fan(), event), 1)
    assert await due_operations(sound_database, 10) == []
    waits = []
    await clock.stand_at(await clock.now())
    for _ in range(3):
        start = await clock.now()
        row = (await sound_database.fetch("SELECT next_attempt_at FROM payment_operations"))[0]
        await clock.stand_at(row["next_attempt_at"])
        assert [each.operation_id for each in await due_operations(sound_database, 10)] == [operation]
        assert await due_operations(sound_database, 10) == []
        waits.append(await clock.now() - start)
    assert waits == sorted(waits)
    assert len(set(waits)) == 3
