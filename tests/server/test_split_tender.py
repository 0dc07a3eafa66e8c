"""An order paid in parts: confirmed with the last of them, given back when it ends before (R22, R24, R25)."""

from __future__ import annotations

import msgspec
import pytest
from uuid_utils.compat import uuid7

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.model import Advice, OperationResult, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus, OrderStatus, SeatStatus
from booking.services import take_payment
from booking.services.hold_seats import read_hold
from booking.services.orders import cancel_order
from booking.store.database import Database
from tests.server.box_office import ADULT_PRICE, Clock, Desk, count, fan, make_event, reported, seat_states, till
from tests.server.general_admission import Counter, make_standing, tier
from tests.server.refund_desk import call_off, follow_up, issued, items, order_now, pay_part, provider_says

CASH, SALE, AUTHORIZE = OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE
DECLINED = OperationResult(ResultOutcome.DECLINED, 0, decline_code="05")
UNKNOWN = OperationResult(ResultOutcome.UNKNOWN, 0)


def booked(amount: int) -> OperationResult:
    return OperationResult(ResultOutcome.SUCCEEDED, amount, "0007")


async def test_part_cash_part_terminal_is_confirmed_with_the_last(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = await desk.check_out(await desk.hold(1, 2))
    first = await pay_part(desk, order, CASH, 3_000)
    assert (first.order.status, first.order.paid_minor, first.operation.part) == (OrderStatus.PENDING, 3_000, 1)
    assert (first.operation.status, first.operation.change_minor) == (OperationStatus.SUCCEEDED, 0)
    assert (await seat_states(database, event))[1][0] == SeatStatus.PAYING
    card = (await pay_part(desk, order, SALE, 4_000)).operation
    told = await reported(database, desk.caller, card.operation_id, booked(4_000))
    assert (told.order.status, told.order.paid_minor, told.advice) == (OrderStatus.PENDING, 7_000, Advice.GOODS_ISSUED)
    last = (await pay_part(desk, order, SALE, 1_000, in_parts=False)).operation
    assert last.part == 3
    told = await reported(database, desk.caller, last.operation_id, booked(1_000))
    assert (told.order.status, told.order.paid_minor) == (OrderStatus.CONFIRMED, 2 * ADULT_PRICE)
    assert await count(database, "SELECT count(*) FROM payment_operations WHERE advice = 'goods-issued'") == 3


async def test_several_cards_are_captured_together_and_counted_each(database: Database) -> None:
    event = await make_event(database)
    buyer = Desk(database, fan(), event)
    order = await buyer.check_out(await buyer.hold(1, 2))
    first = (await pay_part(buyer, order, AUTHORIZE, 5_000)).operation
    after = await provider_says(database, first, card="visa-1")
    assert [one.kind for one in after.operations] == [AUTHORIZE]  # nothing is captured before all is there
    second = (await pay_part(buyer, order, AUTHORIZE, 3_000)).operation
    after = await provider_says(database, second, card="visa-2")
    assert after.status is OrderStatus.CONFIRMED
    for charge in (first, second):
        await provider_says(database, follow_up(after, charge.operation_id))
    rows = await database.fetch("SELECT fingerprint, sold FROM card_limits ORDER BY 1")
    assert [tuple(row) for row in rows] == [("sandbox:visa-1", 2), ("sandbox:visa-2", 2)]


async def test_a_card_that_pays_two_parts_has_each_ticket_once(database: Database) -> None:
    """R8: four tickets in two parts are four of its six, and go back as four."""
    event = await make_event(database)
    buyer = Desk(database, fan(), event)
    order = await buyer.check_out(await buyer.hold(1, 2, 3, 4))
    for amount, in_parts in ((ADULT_PRICE, True), (ADULT_PRICE, True), (2 * ADULT_PRICE, False)):
        part = (await pay_part(buyer, order, AUTHORIZE, amount, in_parts=in_parts)).operation
        order = await provider_says(database, part, card="visa-1")
    assert await count(database, "SELECT sold FROM card_limits") == 4
    other = (await Desk(database, fan(), event).sell(11, 12, kind=AUTHORIZE)).operation
    assert (await provider_says(database, other, card="visa-1")).status is OrderStatus.CONFIRMED
    tickets = await issued(database, buyer.caller, order.order_id)
    await call_off(database, till(Role.SUPERVISOR), order.order_id, tickets)
    assert await count(database, "SELECT sold FROM card_limits") == 2


async def test_a_batch_counts_the_cards_of_earlier_parts_before_it_asks_them_again(database: Database) -> None:
    """R8: the last part of one order is by another card; its first card pays a second order in the same batch."""
    event = await make_event(database, max_per_card=2)
    buyer = Desk(database, fan(), event)
    order = await buyer.check_out(await buyer.hold(1, 2))
    await provider_says(database, (await pay_part(buyer, order, AUTHORIZE, ADULT_PRICE)).operation, card="z")
    last = (await pay_part(buyer, order, AUTHORIZE, ADULT_PRICE, in_parts=False)).operation
    other = (await Desk(database, fan(), event).sell(3, 4, kind=AUTHORIZE)).operation
    asked = [
        {
            "operation_id": str(one.operation_id), "outcome": "succeeded", "amount": one.amount_minor,
            "provider_ref": "c", "decline_code": "", "card_brand": "", "next_action": "", "evidence": [],
            "source": "provider:sandbox", "spare": [str(uuid7()), str(uuid7())], "card_fingerprint": card,
        }
        for one, card in ((last, "a"), (other, "z"))
    ]  # fmt: skip
    for one in (last, other):
        assert await take_payment.mark_sent(database, one.operation_id)
    async with database.transaction() as connection:
        told = await connection.fetch(
            "SELECT code, detail FROM record_result_batch($1::jsonb, false)", msgspec.json.encode(asked).decode()
        )
    assert [tuple(row) for row in told] == [("", "goods-issued"), ("", "reverse")]
    assert await items(database) == [("paid-not-confirmed", other.operation_id)]


async def test_a_part_is_at_most_what_is_left_and_at_least_something(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    order = await desk.check_out(await desk.hold(1))
    await pay_part(desk, order, CASH, 1_000)
    left = ADULT_PRICE - 1_000
    for amount, in_parts in ((left + 1, True), (left - 1, False), (ADULT_PRICE, False), (ADULT_PRICE, True)):
        with pytest.raises(errors.AmountMismatchError, match=str(left)):
            await pay_part(desk, order, CASH, amount, in_parts=in_parts)
    with pytest.raises(errors.InvalidRequestError) as refused:
        await pay_part(desk, order, CASH, 0)
    assert [fault.pointer for fault in refused.value.fields] == ["/amount_minor"]
    for _ in range(7):
        await pay_part(desk, order, CASH, 1)
    with pytest.raises(errors.OrderNotPayableError):  # nine parts are no sale any more
        await pay_part(desk, order, CASH, 1)
    assert (await order_now(database, order.order_id)).paid_minor == 1_007
    await cancel_order(database, desk.caller, order.order_id, "too many coins", False)


async def test_r24_one_charge_of_an_order_at_a_time_whatever_its_part(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    order = await desk.check_out(await desk.hold(1))
    card = (await pay_part(desk, order, SALE, 1_000)).operation
    with pytest.raises(errors.PaymentRunningError):
        await pay_part(desk, order, CASH, 500)
    await reported(database, desk.caller, card.operation_id, DECLINED)
    again = (await pay_part(desk, order, SALE, 1_000)).operation
    assert again.part == 1  # a part that was declined leaves its number
    await reported(database, desk.caller, again.operation_id, booked(1_000))


async def test_a_declined_part_keeps_the_seats_of_what_is_paid_already(database: Database) -> None:
    """A hold could be taken over the moment that it ends; seats of which a part is paid could not."""
    event = await make_event(database)
    desk = Desk(database, till(), event)
    hold = await desk.hold(1)
    order = await desk.check_out(hold)
    await pay_part(desk, order, CASH, 1_000)
    card = (await pay_part(desk, order, SALE, 3_000)).operation
    told = await reported(database, desk.caller, card.operation_id, UNKNOWN)
    assert told.order.status is OrderStatus.RECONCILING
    told = await reported(database, desk.caller, card.operation_id, DECLINED)
    assert told.order.status is OrderStatus.PENDING
    assert (await seat_states(database, event))[1][0] == SeatStatus.PAYING
    assert (await pay_part(desk, order, CASH, 3_000)).order.status is OrderStatus.CONFIRMED


async def test_r25_the_customer_leaves_and_every_part_goes_back(database: Database) -> None:
    """Card at a provider: voided; at the terminal: refunded there; cash: paid out. The till is told by operations."""
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = await desk.check_out(await desk.hold(1, 2))
    await pay_part(desk, order, CASH, 1_000)
    sale = (await pay_part(desk, order, SALE, 2_000)).operation
    await reported(database, desk.caller, sale.operation_id, booked(2_000))
    charge = (await pay_part(desk, order, AUTHORIZE, 3_000)).operation
    await provider_says(database, charge)
    ended = (await cancel_order(database, desk.caller, order.order_id, "left", False)).value
    assert (ended.status, ended.paid_minor) == (OrderStatus.CANCELLED, 0)
    assert (await seat_states(database, event))[1][0] == SeatStatus.AVAILABLE
    back = {(one.kind, one.provider, one.status, one.amount_minor): one for one in ended.operations if one.parent_id}
    assert set(back) == {
        (OperationKind.REFUND, "cash", "SENT", 1_000), (OperationKind.REFUND, "zvt", "SENT", 2_000),
        (OperationKind.VOID, "sandbox", "CREATED", 3_000),
    }  # fmt: skip
    for (_, provider, _, amount), operation in back.items():
        if provider == "sandbox":
            await provider_says(database, operation)
            continue
        assert operation.device_id == desk.caller.device_id
        told = await reported(database, desk.caller, operation.operation_id, booked(amount))
        assert told.operation.status is OperationStatus.SUCCEEDED
    assert await count(database, "SELECT sum(amount_minor) FROM cash_movements") == -1_000
    assert await items(database) == []
    # The sale itself stays what it was: reported again as reversed it is a conflict, not a second way back.
    with pytest.raises(errors.ResultConflictError):
        await reported(database, desk.caller, sale.operation_id, DECLINED)
    assert await count(database, "SELECT count(*) FROM payment_operations WHERE kind = 'void'") == 1


async def test_r25_keeping_the_seats_gives_the_parts_back_too(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    hold = await desk.hold(1)
    order = await desk.check_out(hold)
    await pay_part(desk, order, CASH, 1_000)
    ended = (await cancel_order(database, desk.caller, order.order_id, "another price", True)).value
    assert [(one.kind, one.status) for one in ended.operations if one.parent_id] == [(OperationKind.REFUND, "SENT")]
    assert (await read_hold(database, desk.caller, hold.hold_id)).status == "HELD"


async def test_r25_time_runs_out_and_a_silent_till_becomes_an_item(database: Database, clock: Clock) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = await desk.check_out(await desk.hold(1))
    await pay_part(desk, order, CASH, 1_000)
    assert order.pay_until is not None
    await clock.stand_at(order.pay_until)
    # Nothing waits for the sweeper: whoever wants the seat ends the sale, and its part goes back.
    await Desk(database, fan(), event).hold(1)
    ended = await order_now(database, order.order_id)
    assert ended.status is OrderStatus.EXPIRED
    (back,) = (one for one in ended.operations if one.parent_id)
    await clock.move(seconds=301)
    await take_payment.due_operations(database, 10)
    assert await items(database) == [("no-result", back.operation_id)]
    await reported(database, desk.caller, back.operation_id, booked(1_000))
    assert await items(database) == []


async def test_the_sweeper_gives_parts_back_and_places_too(database: Database, clock: Clock) -> None:
    event = await make_standing(database, 4)
    counter = Counter(database, till(), event)
    order = await counter.check_out(await counter.hold(2))
    await pay_part(Desk(database, counter.caller, event), order, CASH, 1_000)
    await clock.move(seconds=1_000)
    assert await count(database, "SELECT sweep_expired(10)") == 1
    assert (await tier(database, event)).available == 4
    ended = await order_now(database, order.order_id)
    assert [(one.kind, one.provider) for one in ended.operations if one.parent_id] == [(OperationKind.REFUND, "cash")]


async def test_r25_the_event_is_cancelled_while_a_part_is_paid(database: Database) -> None:
    event = await make_event(database)
    desk = Desk(database, till(), event)
    order = await desk.check_out(await desk.hold(1))
    await pay_part(desk, order, CASH, 1_000)
    card = (await pay_part(desk, order, SALE, 1_000)).operation
    await database.fetch("UPDATE events SET status = 'CANCELLED'")
    assert await count(database, "SELECT ended FROM end_cancelled_sales($1, 10)", event) == 0
    told = await reported(database, desk.caller, card.operation_id, booked(1_000))
    assert (told.order.status, told.advice) == (OrderStatus.CANCELLED, Advice.REVERSE)
    assert [one.provider for one in told.order.operations if one.parent_id] == ["cash"]
    await reported(database, desk.caller, card.operation_id, DECLINED)
    assert await items(database) == []


async def test_r8_a_part_by_a_card_that_may_not_have_so_many_tickets_goes_back(database: Database) -> None:
    event = await make_event(database, max_per_card=2)
    buyer = Desk(database, fan(), event)
    order = await buyer.check_out(await buyer.hold(1, 2))
    charge = (await pay_part(buyer, order, AUTHORIZE, 1_000)).operation
    await provider_says(database, charge, card="visa-1")
    other = Desk(database, fan(), event)
    await provider_says(database, (await other.sell(3, kind=AUTHORIZE)).operation, card="visa-1")
    # The last part is of another card; the first one has reached its limit meanwhile.
    last = (await pay_part(buyer, order, AUTHORIZE, 7_000)).operation
    after = await provider_says(database, last, card="visa-2")
    assert after.status is OrderStatus.CANCELLED
    assert sorted(one.amount_minor for one in after.operations if one.kind is OperationKind.VOID) == [1_000, 7_000]
    assert [kind for kind, _ in await items(database)] == ["paid-not-confirmed"]


async def test_another_till_pays_no_part_and_a_supervisor_may(database: Database) -> None:
    desk = Desk(database, till(), await make_event(database))
    order = await desk.check_out(await desk.hold(1))
    with pytest.raises(errors.OrderNotFoundError):
        await pay_part(Desk(database, till(), desk.event_id), order, CASH, 1_000)
    leader = Desk(database, till(Role.SUPERVISOR), desk.event_id)
    await pay_part(leader, order, CASH, 1_000, key="k")
    again = await pay_part(leader, order, CASH, 1_000, key="k")
    assert again.order.paid_minor == 1_000  # one key, one part
    ended = (await cancel_order(database, desk.caller, order.order_id, "left", False)).value
    (back,) = (one for one in ended.operations if one.parent_id)
    assert back.device_id == leader.caller.device_id  # it has the money in its drawer
