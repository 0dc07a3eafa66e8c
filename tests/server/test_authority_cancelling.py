"""Orders that are not paid: who sees them, how they are cancelled."""

from __future__ import annotations

from uuid import uuid4

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.states import (
    HoldStatus,
    OrderStatus,
    SeatStatus,
)
from booking.services.hold_seats import read_hold
from booking.services.orders import cancel_order, read_order
from booking.services.take_payment import mark_sent
from booking.store.database import Database
from tests.server.box_office import (
    Desk,
    count,
    fan,
    make_event,
    released,
    reported,
    seat_states,
    till,
)
from tests.server.payment_results import AUTHORIZE, CASH, DECLINED, SALE


async def test_cancelling_frees_the_seats_or_keeps_them_in_the_hold(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    kept, freed = await desk.hold(1), await desk.hold(2)
    for hold, keep, status, seat_state in (
        (kept, True, HoldStatus.HELD, SeatStatus.HELD),
        (freed, False, HoldStatus.RELEASED, SeatStatus.AVAILABLE),
    ):
        order = await desk.check_out(hold)
        done = await cancel_order(
            sound_database, desk.caller, order.order_id, "buyer left", keep, key=str(uuid4()), digest=b"d"
        )
        assert done.value.status is OrderStatus.CANCELLED
        now = await read_hold(sound_database, desk.caller, hold.hold_id)
        assert (now.status, now.order_id) == (status, None if keep else order.order_id)
        assert (await seat_states(sound_database, event))[hold.seats[0].seat_no][0] == seat_state


async def test_cancelling_twice_is_cancelling_once_and_its_key_is_kept(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    order = await desk.check_out(await desk.hold(1))
    args = (sound_database, desk.caller, order.order_id, "why", False)
    assert not (await cancel_order(*args, key="x", digest=b"d")).replayed
    again = await cancel_order(*args, key="x", digest=b"d")
    assert (again.value.status, again.replayed) == (OrderStatus.CANCELLED, True)
    assert (await cancel_order(*args)).value.status is OrderStatus.CANCELLED
    with pytest.raises(errors.KeyReusedError):
        await cancel_order(*args, key="x", digest=b"other")
    assert await count(sound_database, "SELECT count(*) FROM outbox WHERE type = 'seats-released'") == 1


async def test_what_is_paid_or_strange_is_not_cancelled(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    sold = await desk.sell(1)
    running = await desk.sell(2, kind=SALE)
    with pytest.raises(errors.OrderNotCancellableError):
        await cancel_order(sound_database, desk.caller, sold.order.order_id, "why", False)
    with pytest.raises(errors.PaymentRunningError):
        await cancel_order(sound_database, desk.caller, running.order.order_id, "why", False)
    with pytest.raises(errors.OrderNotFoundError):
        await cancel_order(sound_database, till(), running.order.order_id, "why", False)
    with pytest.raises(errors.InvalidRequestError):
        await cancel_order(sound_database, desk.caller, running.order.order_id, "a\x00", False)


async def test_cancelling_ends_an_authorization_that_was_not_sent(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    step = await desk.sell(1, kind=AUTHORIZE)
    done = await cancel_order(sound_database, desk.caller, step.order.order_id, "changed my mind", False)
    assert [(each.status, each.decline_code) for each in done.value.operations] == [("DECLINED", "cancelled")]
    assert not await mark_sent(sound_database, step.operation.operation_id)


async def test_orders_are_seen_by_their_owner_and_by_those_who_see_all(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, fan(), event)
    order = await desk.check_out(await desk.hold(1))
    for caller in (desk.caller, till(Role.SUPERVISOR), till(Role.OPS), till(Role.ADMIN)):
        assert (await read_order(sound_database, caller, order.order_id)).number == order.number
    for caller in (fan(), till()):
        with pytest.raises(errors.OrderNotFoundError):
            await read_order(sound_database, caller, order.order_id)


async def test_releasing_a_declined_hold_ends_its_order(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    ended = await released(sound_database, desk.caller, step.order.hold_ids[0])
    assert ended.status is HoldStatus.RELEASED
    assert (await read_order(sound_database, desk.caller, step.order.order_id)).status is OrderStatus.CANCELLED
    with pytest.raises(errors.OrderNotPayableError):
        await desk.pay(step.order, CASH)
