"""Orders of general-admission places: prices, payments, grace, tickets and prints, as for seats (R7, R10, R22–R28)."""

from __future__ import annotations

import asyncio
from uuid import UUID

import asyncpg
import pytest

from booking.domain.caller import Caller, Role
from booking.domain.errors import (
    HoldExpiredError,
    HoldNotOpenError,
    InvalidRequestError,
    PriceChangedError,
    PriceUnknownError,
    TierInHoldsError,
)
from booking.domain.model import (
    AccessCodeTerms,
    CheckoutLine,
    CheckoutPlaces,
    OperationResult,
    OrderPlaces,
    ResultOutcome,
    TierQuantity,
)
from booking.domain.states import HoldStatus, OperationKind, OrderStatus, PrintJobStatus, TicketStatus
from booking.services import issue_tickets
from booking.services.access_codes import set_access_code
from booking.services.check_out import check_out
from booking.services.hold_seats import hold_seats, read_hold
from booking.services.orders import cancel_order, read_order
from booking.services.print_tickets import open_print_job, report_print_job
from booking.services.sweep_expired import sweep_once
from booking.services.take_payment import mark_sent, record_result
from booking.services.tickets import tickets_of_order
from booking.store.database import Database
from tests.server.box_office import ADULT, ADULT_PRICE, CHILD, CHILD_PRICE, Clock, count, fan, released, till
from tests.server.general_admission import (
    FLOOR,
    GALLERY,
    Counter,
    counted,
    make_standing,
    make_tier,
    places_in,
    stored,
    tier,
)

DECLINED = OperationResult(ResultOutcome.DECLINED, 0, "ref", "05")
UNKNOWN = OperationResult(ResultOutcome.UNKNOWN, 0)


async def test_r10_places_cost_what_their_tier_and_price_type_cost_and_the_order_shows_them(
    sound_database: Database,
) -> None:
    db = sound_database
    event_id = await make_standing(db, 10)
    await make_tier(db, event_id, GALLERY, 10, name="Gallery")
    clerk = till()
    hold = await Counter(db, clerk, event_id).hold(1, 3, tiers=(TierQuantity(FLOOR, 3), TierQuantity(GALLERY, 1)))
    lines = [CheckoutLine(3, ADULT)]
    places = [CheckoutPlaces(FLOOR, ADULT, 2), CheckoutPlaces(FLOOR, CHILD, 1), CheckoutPlaces(GALLERY, CHILD, 1)]
    total = 3 * ADULT_PRICE + 2 * CHILD_PRICE
    with pytest.raises(PriceChangedError, match=str(total)):
        await check_out(db, clerk, hold.hold_id, lines, total - 1, key="a", digest=b"", places=places)
    order = (await check_out(db, clerk, hold.hold_id, lines, total, key="b", digest=b"", places=places)).value
    assert order.amount_minor == total
    assert order.places == (
        OrderPlaces(FLOOR, "Floor", ADULT, "Adult", 2, 2 * ADULT_PRICE),
        OrderPlaces(FLOOR, "Floor", CHILD, "Child", 1, CHILD_PRICE),
        OrderPlaces(GALLERY, "Gallery", CHILD, "Child", 1, CHILD_PRICE),
    )
    paid = await Counter(db, clerk, event_id).pay(order, OperationKind.CASH)
    assert paid.order.status is OrderStatus.CONFIRMED
    assert (await read_order(db, clerk, order.order_id)).places == order.places
    assert await stored(db, event_id) == [(FLOOR, 0, 0, 3), (GALLERY, 0, 0, 1)] == await counted(db, event_id)


async def test_r10_lines_that_are_not_the_places_of_the_hold_make_no_order(sound_database: Database) -> None:
    db = sound_database
    event_id = await make_standing(db, 10)
    clerk = till()
    hold = await Counter(db, clerk, event_id).hold(3)
    wrong: tuple[tuple[CheckoutPlaces, ...], ...] = (
        (CheckoutPlaces(FLOOR, ADULT, 2),),
        (CheckoutPlaces(FLOOR, ADULT, 4),),
        (CheckoutPlaces(FLOOR, ADULT, 3), CheckoutPlaces(GALLERY, ADULT, 1)),
        (CheckoutPlaces(FLOOR, ADULT, 2), CheckoutPlaces(FLOOR, ADULT, 1)),
        (CheckoutPlaces(FLOOR, ADULT, -3), CheckoutPlaces(FLOOR, CHILD, 6)),
    )
    for number, places in enumerate(wrong):
        with pytest.raises(InvalidRequestError) as refused:
            await check_out(db, clerk, hold.hold_id, [], 3 * ADULT_PRICE, key=str(number), digest=b"", places=places)
        assert any(fault.pointer.startswith("/places") for fault in refused.value.fields)
    with pytest.raises(InvalidRequestError):
        await check_out(db, clerk, hold.hold_id, [], 0, key="none", digest=b"")
    with pytest.raises(PriceUnknownError):
        await check_out(db, clerk, hold.hold_id, [], 0, key="x", digest=b"", places=[CheckoutPlaces(FLOOR, 9, 3)])
    assert await count(db, "SELECT count(*) FROM orders") == 0
    assert (await read_hold(db, clerk, hold.hold_id)).status is HoldStatus.HELD


async def test_r7_an_unknown_payment_keeps_its_places_past_its_grace_until_it_is_known(
    sound_database: Database, clock: Clock
) -> None:
    db = sound_database
    event_id = await make_standing(db, 4)
    buyer = Counter(db, fan(), event_id)
    order = await buyer.check_out(await buyer.hold(4))
    operation = (await buyer.pay(order, OperationKind.AUTHORIZE)).operation
    assert await mark_sent(db, operation.operation_id)
    await record_result(db, operation.operation_id, UNKNOWN, source="provider:sandbox")
    await clock.move(seconds=1_000)
    assert await sweep_once(db) == 0
    assert (await tier(db, event_id)).in_holds == 4
    with pytest.raises(TierInHoldsError):
        await Counter(db, fan(), event_id).hold(1)
    paid = OperationResult(ResultOutcome.SUCCEEDED, order.amount_minor, "late")
    step = await record_result(db, operation.operation_id, paid, source="provider:sandbox")
    assert step.order.status is OrderStatus.CONFIRMED
    assert await stored(db, event_id) == [(FLOOR, 0, 0, 4)]


async def test_r7_a_decline_returns_the_places_to_the_hold_and_they_are_paid_another_way(
    sound_database: Database,
) -> None:
    db = sound_database
    event_id = await make_standing(db, 4)
    buyer = Counter(db, fan(), event_id)
    hold = await buyer.hold(2, 5)
    order = await buyer.check_out(hold)
    operation = (await buyer.pay(order, OperationKind.AUTHORIZE)).operation
    assert await mark_sent(db, operation.operation_id)
    await record_result(db, operation.operation_id, DECLINED, source="provider:sandbox")
    assert (await read_hold(db, buyer.caller, hold.hold_id)).status is HoldStatus.HELD
    assert await places_in(db, hold.hold_id) == 2
    assert (await buyer.buy_online(order)).status is OrderStatus.CONFIRMED
    changes = await db.fetch("SELECT payload ->> 'change' FROM outbox WHERE type = 'places-changed' ORDER BY id")
    assert [row[0] for row in changes] == ["held", "paying", "returned", "paying", "sold"]


async def test_r5_places_of_a_dead_sale_go_to_the_next_buyer_with_the_sweeper_stopped(
    sound_database: Database, clock: Clock
) -> None:
    db = sound_database
    event_id = await make_standing(db, 6, buckets=2)
    late = Counter(db, fan(), event_id)
    hold = await late.hold(5, 3)
    order = await late.check_out(hold)
    await clock.move(seconds=1_000)
    view = await tier(db, event_id)
    assert (view.available, view.in_holds) == (6, 0), "nobody can pay for them any more"
    assert (await Counter(db, fan(), event_id).hold(5)).places[0].quantity == 5
    assert (await read_order(db, late.caller, order.order_id)).status is OrderStatus.EXPIRED
    with pytest.raises(HoldExpiredError):
        await late.pay(order, OperationKind.AUTHORIZE)
    assert (await Counter(db, fan(), event_id).hold(1, 3)).places[0].quantity == 1


async def test_r5_seats_and_places_of_two_dead_sales_go_to_one_mixed_hold(
    sound_database: Database, clock: Clock
) -> None:
    db = sound_database
    event_id = await make_standing(db, 6)
    for seats, places in (((3, 4), 2), ((5,), 4)):
        late = Counter(db, fan(), event_id)
        await late.check_out(await late.hold(places, *seats))
    await clock.move(seconds=1_000)
    hold = await Counter(db, fan(), event_id).hold(4, 3, 5)
    assert ([seat.seat_no for seat in hold.seats], hold.places[0].quantity) == ([3, 5], 4)
    assert await count(db, "SELECT count(*) FROM orders WHERE status = 'EXPIRED'") == 2


async def test_b17_a_mixed_hold_waits_for_its_code_with_nothing_of_a_dead_sale_in_hand(
    sound_database: Database, clock: Clock, dsn: str
) -> None:
    """The locking rules: account, then the access code, and only then orders, holds, seats and counters."""
    db = sound_database
    event_id = await make_standing(db, 6)
    late = Counter(db, fan(), event_id)
    await late.check_out(await late.hold(6, tier_id=FLOOR))
    terms = AccessCodeTerms("friends", 6, max_uses=2)
    await set_access_code(db, till(Role.SUPERVISOR), event_id, terms, key="made", digest=b"")
    await clock.move(seconds=1_000)
    other = await asyncpg.connect(dsn)
    try:
        async with other.transaction():
            await other.execute("SELECT FROM access_codes WHERE code = 'friends' FOR NO KEY UPDATE")
            wanted = TierQuantity(FLOOR, 2)
            asked = asyncio.create_task(
                hold_seats(db, fan(), event_id, (3,), key="k", digest=b"", tiers=[wanted], access_code="friends")
            )
            while not await count(db, "SELECT count(*) FROM pg_locks WHERE NOT granted"):
                assert not asked.done(), asked
                await asyncio.sleep(0)
            for table, rows in (("orders", 1), ("holds", 1), ("ga_tiers", 1), ("seats", 40)):
                assert len(await other.fetch(f"SELECT FROM {table} FOR NO KEY UPDATE SKIP LOCKED")) == rows, table
        assert (await asked).value.places[0].quantity == 2
    finally:
        await other.close()


async def test_r24_a_cancelled_order_gives_its_places_back_or_keeps_them_in_the_hold(sound_database: Database) -> None:
    db = sound_database
    event_id = await make_standing(db, 6)
    clerk = till()
    counter = Counter(db, clerk, event_id)
    hold = await counter.hold(3)
    order = await counter.check_out(hold)
    with pytest.raises(HoldNotOpenError):
        await released(db, clerk, hold.hold_id)
    await cancel_order(db, clerk, order.order_id, "", True)
    assert (await read_hold(db, clerk, hold.hold_id)).status is HoldStatus.HELD
    again = await counter.check_out(hold)
    await cancel_order(db, clerk, again.order_id, "", False)
    assert await stored(db, event_id) == [(FLOOR, 0, 0, 0)]
    assert (await read_hold(db, clerk, hold.hold_id)).status is HoldStatus.RELEASED


async def test_b13_the_end_of_the_time_ends_an_order_of_places(sound_database: Database, clock: Clock) -> None:
    db = sound_database
    event_id = await make_standing(db, 6)
    buyer = Counter(db, fan(), event_id)
    order = await buyer.check_out(await buyer.hold(6, key="k"))
    await clock.move(seconds=1_000)
    assert await sweep_once(db) == 1
    assert (await read_order(db, buyer.caller, order.order_id)).status is OrderStatus.EXPIRED
    assert await stored(db, event_id) == [(FLOOR, 0, 0, 0)]
    assert (await buyer.hold(6, key="k")).status is HoldStatus.EXPIRED, "a replay makes nothing new"


async def test_r25_money_for_places_that_are_gone_is_given_back(sound_database: Database) -> None:
    db = sound_database
    event_id = await make_standing(db, 6)
    buyer = Counter(db, fan(), event_id)
    order = await buyer.check_out(await buyer.hold(2))
    operation = (await buyer.pay(order, OperationKind.AUTHORIZE)).operation
    assert await mark_sent(db, operation.operation_id)
    await db.fetch("UPDATE events SET max_per_account = 1 WHERE event_id = $1", event_id)
    paid = OperationResult(ResultOutcome.SUCCEEDED, order.amount_minor, "ref")
    step = await record_result(db, operation.operation_id, paid, source="provider:sandbox")
    assert step.order.status is OrderStatus.CANCELLED
    assert [one.kind for one in step.order.operations] == [OperationKind.AUTHORIZE, OperationKind.VOID]
    assert await stored(db, event_id) == [(FLOOR, 0, 0, 0)] == await counted(db, event_id)


async def test_r28_each_place_has_a_ticket_of_its_own_issued_once_and_printed(sound_database: Database) -> None:
    db = sound_database
    event_id = await make_standing(db, 10, buckets=4)
    clerk = till()
    order = (await Counter(db, clerk, event_id).sell(5, 7)).order
    await issue_tickets.prepare(db)
    assert await issue_tickets.issue_new(db) == 6
    assert await issue_tickets.issue_for(db, [order.order_id]) == 0
    issued = await tickets_of_order(db, clerk, order.order_id)
    assert issued.complete
    seat, *places = issued.tickets
    assert (seat.seat.seat_no, seat.tier_id) == (7, None)
    assert {(one.tier_id, one.seat.section, one.seat.seat_no, one.amount_minor) for one in places} == {
        (FLOOR, "Floor", -1, ADULT_PRICE)
    }
    assert len({one.code for one in issued.tickets}) == 6
    await _print(db, clerk, order.order_id, issued.tickets[1].ticket_id, seat.ticket_id)
    states = [one.status for one in (await tickets_of_order(db, clerk, order.order_id)).tickets]
    assert states == [TicketStatus.PRINTED] * 2 + [TicketStatus.ISSUED] * 4


async def _print(db: Database, clerk: Caller, order_id: UUID, *ticket_ids: UUID) -> None:
    job = (await open_print_job(db, clerk, order_id, ticket_ids, "p", key="job", digest=b"")).value
    await report_print_job(db, clerk, job.print_job_id, PrintJobStatus.CONFIRMED, "", key="report", digest=b"")
