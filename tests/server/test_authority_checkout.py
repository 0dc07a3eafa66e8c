"""From hold to order: prices, the one grace, the cap of what is being paid (R7, R10)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from booking.domain import errors
from booking.domain.model import CheckoutLine
from booking.domain.states import (
    HoldStatus,
    OrderStatus,
    SeatStatus,
)
from booking.services.check_out import check_out
from booking.services.hold_seats import read_hold
from booking.services.orders import cancel_order
from booking.store.database import Database
from tests.server.box_office import (
    ADULT,
    ADULT_PRICE,
    CHILD,
    CHILD_PRICE,
    Clock,
    Desk,
    count,
    fan,
    make_event,
    seat_states,
    till,
)


async def test_checkout_moves_the_seats_to_paying_and_prices_them(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1, 2)
    lines = [CheckoutLine(1, ADULT), CheckoutLine(2, CHILD)]
    total = ADULT_PRICE + CHILD_PRICE
    order = (await check_out(sound_database, desk.caller, hold.hold_id, lines, total, key="c", digest=b"d")).value

    assert (order.status, order.amount_minor, order.currency) == (OrderStatus.PENDING, total, "EUR")
    assert [(line.seat.number, line.price_type_name, line.amount_minor) for line in order.lines] == [
        ("2", "Adult", ADULT_PRICE), ("3", "Child", CHILD_PRICE),
    ]  # fmt: skip
    assert order.hold_ids == (hold.hold_id,)
    assert len(order.number) == 9
    states = await seat_states(sound_database, event)
    assert states[1] == states[2] == (SeatStatus.PAYING, hold.hold_id, order.order_id)
    assert (await read_hold(sound_database, desk.caller, hold.hold_id)).status is HoldStatus.PAYMENT_PENDING


async def test_p2_checkout_is_replayed_and_another_body_or_hold_is_a_conflict(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold, other = await desk.hold(1), await desk.hold(2)
    lines = [CheckoutLine(1, ADULT)]
    args = (sound_database, desk.caller)
    first = await check_out(*args, hold.hold_id, lines, ADULT_PRICE, key="c", digest=b"d")
    again = await check_out(*args, hold.hold_id, lines, ADULT_PRICE, key="c", digest=b"d")
    assert (first.replayed, again.replayed) == (False, True)
    assert again.value.order_id == first.value.order_id
    for hold_id, digest in ((hold.hold_id, b"x"), (other.hold_id, b"d")):
        with pytest.raises(errors.KeyReusedError):
            await check_out(*args, hold_id, lines, ADULT_PRICE, key="c", digest=digest)


async def test_the_total_is_the_servers_never_the_clients(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1)
    with pytest.raises(errors.PriceChangedError, match="4000"):
        await check_out(sound_database, desk.caller, hold.hold_id, [CheckoutLine(1, ADULT)], 1, key="c", digest=b"d")
    assert (await read_hold(sound_database, desk.caller, hold.hold_id)).status is HoldStatus.HELD
    assert await count(sound_database, "SELECT count(*) FROM idempotency") == 0


async def test_r10_a_new_price_list_does_not_change_what_was_held(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1)
    await sound_database.fetch("INSERT INTO prices VALUES ($1, 2, 0, 1, 9999)", event)
    await sound_database.fetch("UPDATE events SET price_version = 2 WHERE event_id = $1", event)
    assert (await desk.check_out(hold)).amount_minor == ADULT_PRICE
    later = await desk.hold(2)
    with pytest.raises(errors.PriceChangedError):
        await desk.check_out(later)


async def test_lines_are_the_seats_of_the_hold_each_once(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1, 2)
    for seats in ([1], [1, 3], [1, 2, 3], [1, 1], []):
        lines = [CheckoutLine(seat, ADULT) for seat in seats]
        with pytest.raises(errors.InvalidRequestError) as refused:
            await check_out(
                sound_database, desk.caller, hold.hold_id, lines, ADULT_PRICE * len(seats), key="c", digest=b"d"
            )
        assert refused.value.fields[0].pointer == "/lines"
    lines = [CheckoutLine(1, ADULT), CheckoutLine(2, 77)]
    with pytest.raises(errors.PriceUnknownError) as unknown:
        await check_out(sound_database, desk.caller, hold.hold_id, lines, ADULT_PRICE, key="c", digest=b"d")
    assert [seat.number for seat in unknown.value.seats] == ["3"]


async def test_r7_the_grace_extends_once_and_never_again(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database, hold_ttl_s=300, grace_s=120)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1)
    await clock.stand_at(hold.expires_at - timedelta(seconds=20))
    order = await desk.check_out(hold)
    assert order.pay_until == hold.expires_at + timedelta(seconds=100)

    kept = (await cancel_order(sound_database, desk.caller, order.order_id, "other price", True)).value
    assert kept.status is OrderStatus.CANCELLED
    again = await read_hold(sound_database, desk.caller, hold.hold_id)
    assert (again.status, again.expires_at, again.grace_used) == (HoldStatus.HELD, order.pay_until, True)
    await clock.stand_at(again.expires_at - timedelta(seconds=15))
    second = await desk.check_out(again)
    assert second.order_id != order.order_id
    assert second.pay_until == order.pay_until


async def test_a_long_hold_keeps_its_own_deadline(sound_database: Database) -> None:
    event = await make_event(sound_database, hold_ttl_s=900, grace_s=60)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1)
    assert (await desk.check_out(hold)).pay_until == hold.expires_at


async def test_too_little_time_to_start_paying_is_refused(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1)
    await clock.stand_at(hold.expires_at - timedelta(seconds=10) + timedelta(microseconds=1))
    with pytest.raises(errors.TooLittleTimeError):
        await desk.check_out(hold)
    await clock.stand_at(hold.expires_at - timedelta(seconds=10))
    assert (await desk.check_out(hold)).status is OrderStatus.PENDING


@pytest.mark.parametrize("taken_over", [False, True])
async def test_an_expired_hold_is_not_checked_out(sound_database: Database, clock: Clock, taken_over: bool) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1)
    await clock.stand_at(hold.expires_at)
    if taken_over:
        await Desk(sound_database, fan(), event).hold(1)
    with pytest.raises(errors.HoldExpiredError):
        await desk.check_out(hold)


async def test_a_hold_is_checked_out_by_its_owner_once(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1)
    with pytest.raises(errors.HoldNotFoundError):
        await Desk(sound_database, till(), event).check_out(hold)
    await desk.check_out(hold)
    with pytest.raises(errors.HoldNotOpenError):
        await desk.check_out(hold)


async def test_r7_the_seats_being_paid_are_capped_for_the_event(sound_database: Database) -> None:
    event = await make_event(sound_database, paying_cap=3)
    first, second = Desk(sound_database, till(), event), Desk(sound_database, till(), event)
    await first.check_out(await first.hold(1, 2))
    hold = await second.hold(3, 4)
    with pytest.raises(errors.PayingCapReachedError):
        await second.check_out(hold)
    await second.check_out(await second.hold(5))
