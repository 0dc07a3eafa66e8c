"""From hold to paid order: one grace, one charge at a time, nothing guessed (R7, R10, R22–R26)."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from booking.domain import errors
from booking.domain.caller import Role
from booking.domain.model import Advice, CheckoutLine, Evidence, OperationResult, Order, PaymentIntent, ResultOutcome
from booking.domain.states import (
    HoldStatus,
    OperationKind,
    OperationStatus,
    OrderStatus,
    SeatStatus,
)
from booking.services.check_out import check_out
from booking.services.hold_seats import read_hold
from booking.services.orders import cancel_order, read_order
from booking.services.take_payment import (
    due_operations,
    mark_sent,
    open_payment,
    read_operation,
    record_result,
)
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
    released,
    reported,
    seat_states,
    till,
)

CASH, SALE, AUTHORIZE = OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE
UNKNOWN = OperationResult(ResultOutcome.UNKNOWN, 0)
DECLINED = OperationResult(ResultOutcome.DECLINED, 0, decline_code="05")


def paid(amount: int, ref: str = "ref-1") -> OperationResult:
    return OperationResult(ResultOutcome.SUCCEEDED, amount, ref)


async def sweep(db: Database) -> int:
    return await count(db, "SELECT sweep_expired(100)")


async def items(db: Database) -> list[tuple[str, UUID]]:
    rows = await db.fetch("SELECT kind, operation_id FROM reconciliation_items ORDER BY opened_at")
    return [(row["kind"], row["operation_id"]) for row in rows]


# ---------------------------------------------------------------- checkout


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


# ---------------------------------------------------------------- cash and payments in general


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


# ---------------------------------------------------------------- terminals


async def test_a_terminal_sale_confirms_when_its_device_reports_it(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, 2, kind=SALE)
    assert (step.operation.status, step.order.status) == (OperationStatus.SENT, OrderStatus.PENDING)

    done = await reported(sound_database, desk.caller, step.operation.operation_id, paid(step.order.amount_minor))
    assert (done.advice, done.order.status) == (Advice.GOODS_ISSUED, OrderStatus.CONFIRMED)
    assert done.operation.provider_ref == "ref-1"


async def test_only_the_device_that_opened_an_operation_reports_it(sound_database: Database) -> None:
    event = await make_event(sound_database)
    step = await Desk(sound_database, till(), event).sell(1, kind=SALE)
    for stranger in (till(), till(Role.SUPERVISOR), fan()):
        with pytest.raises(errors.OperationNotYoursError):
            await reported(sound_database, stranger, step.operation.operation_id, paid(ADULT_PRICE))
    with pytest.raises(errors.OperationNotFoundError):
        await reported(sound_database, till(), uuid4(), paid(ADULT_PRICE))


async def test_a_repeated_report_gets_the_same_answer_and_a_contradiction_a_supervisor(
    sound_database: Database,
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    operation = step.operation.operation_id
    first = await reported(sound_database, desk.caller, operation, paid(ADULT_PRICE))
    again = await reported(sound_database, desk.caller, operation, paid(ADULT_PRICE))
    unknown = await reported(sound_database, desk.caller, operation, UNKNOWN)
    assert first.advice is again.advice is unknown.advice is Advice.GOODS_ISSUED
    assert unknown.operation.status is OperationStatus.SUCCEEDED
    assert await count(sound_database, "SELECT count(*) FROM outbox WHERE type = 'order-confirmed'") == 1

    for _ in range(2):
        with pytest.raises(errors.ResultConflictError):
            await reported(sound_database, desk.caller, operation, DECLINED)
    assert await items(sound_database) == [("result-conflict", operation)]


async def test_a_decline_gives_the_seats_back_to_the_hold_with_the_grace_spent(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    hold = await desk.hold(1, 2)
    await clock.stand_at(hold.expires_at - timedelta(seconds=30))
    order = await desk.check_out(hold)
    step = await desk.pay(order, SALE)
    declined = await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)

    assert (declined.operation.status, declined.operation.decline_code) == (OperationStatus.DECLINED, "05")
    assert (declined.advice, declined.order.status) == (Advice.REVERSE, OrderStatus.PENDING)
    assert declined.order.pay_until == order.pay_until
    assert (await seat_states(sound_database, event))[1] == (SeatStatus.HELD, hold.hold_id, None)
    with pytest.raises(errors.HoldNotOpenError):  # it has its order: pay that one
        await desk.check_out(hold)

    second = await desk.pay(declined.order, CASH)
    assert second.order.status is OrderStatus.CONFIRMED
    assert [operation.status for operation in second.order.operations] == ["DECLINED", "SUCCEEDED"]


async def test_after_a_decline_a_new_card_attempt_gets_no_more_time(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    again = await desk.pay(step.order, SALE)
    assert again.order.pay_until == step.order.pay_until
    assert (await seat_states(sound_database, event))[1][0] == SeatStatus.PAYING


async def test_after_a_decline_the_seats_can_be_lost_like_any_held_seat(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    declined = await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    assert declined.order.pay_until is not None
    await clock.stand_at(declined.order.pay_until)
    taken = await Desk(sound_database, fan(), event).hold(1)
    with pytest.raises(errors.HoldExpiredError):
        await desk.pay(step.order, CASH)
    await sweep(sound_database)
    assert (await seat_states(sound_database, event))[1][1] == taken.hold_id
    assert (await read_order(sound_database, desk.caller, step.order.order_id)).status is OrderStatus.EXPIRED


async def test_a_decline_after_the_time_is_over_frees_the_seats(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    assert step.order.pay_until is not None
    await clock.stand_at(step.order.pay_until)
    declined = await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    assert declined.order.status is OrderStatus.EXPIRED
    assert (await seat_states(sound_database, event))[1] == (SeatStatus.AVAILABLE, None, None)


async def test_r24_unknown_keeps_the_seats_even_after_grace_and_a_late_success_confirms(
    sound_database: Database, clock: Clock
) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, 2, kind=SALE)
    operation = step.operation.operation_id
    unknown = await reported(sound_database, desk.caller, operation, UNKNOWN)
    assert (unknown.operation.status, unknown.order.status) == (OperationStatus.UNKNOWN, OrderStatus.RECONCILING)
    assert unknown.advice is Advice.REVERSE

    await clock.move(seconds=10_000)
    assert await sweep(sound_database) == 0
    with pytest.raises(errors.SeatsTakenError):
        await Desk(sound_database, fan(), event).hold(1)
    with pytest.raises(errors.PaymentRunningError):
        await desk.pay(step.order, SALE)
    with pytest.raises(errors.PaymentRunningError):
        await cancel_order(sound_database, desk.caller, step.order.order_id, "gave up", False)

    late = await reported(sound_database, desk.caller, operation, paid(step.order.amount_minor))
    assert (late.advice, late.order.status) == (Advice.GOODS_ISSUED, OrderStatus.CONFIRMED)


async def test_unknown_that_turns_out_negative_in_time_can_be_paid_again(sound_database: Database) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    await reported(sound_database, desk.caller, step.operation.operation_id, UNKNOWN)
    back = await reported(sound_database, desk.caller, step.operation.operation_id, DECLINED)
    assert back.order.status is OrderStatus.PENDING
    assert (await desk.pay(step.order, CASH)).order.status is OrderStatus.CONFIRMED


async def test_an_amount_that_differs_is_an_item_never_a_guess(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    operation = step.operation.operation_id
    for _ in range(2):
        told = await reported(sound_database, desk.caller, operation, paid(ADULT_PRICE - 1))
        assert (told.advice, told.operation.status) == (Advice.REVERSE, OperationStatus.UNKNOWN)
        assert told.order.status is OrderStatus.RECONCILING
    assert await items(sound_database) == [("amount-mismatch", operation)]
    await clock.move(seconds=10_000)
    assert await sweep(sound_database) == 0
    reversed_ = await reported(sound_database, desk.caller, operation, DECLINED)
    assert reversed_.order.status is OrderStatus.EXPIRED


async def test_a_sale_that_comes_too_late_for_its_seats_is_reversed_and_frees_nothing(
    sound_database: Database, clock: Clock
) -> None:
    """B10 at a terminal: A was declared dead, B bought the seat, A's success arrives."""
    event = await make_event(sound_database)
    first, second = Desk(sound_database, till(), event), Desk(sound_database, till(), event)
    step = await first.sell(1, kind=SALE)
    operation = step.operation.operation_id
    # What only a supervisor's hand can do: the hold ends under a running charge.
    await sound_database.fetch("UPDATE holds SET status = 'RELEASED', ended_at = booking_now()")
    await sound_database.fetch(
        "UPDATE seats SET status = 0, holder = 0, hold_id = NULL, hold_expires_at = NULL, order_id = NULL,"
        " version = version + 1 WHERE status = 2"
    )
    sold = await second.sell(1)

    told = await reported(sound_database, first.caller, operation, paid(ADULT_PRICE))
    again = await reported(sound_database, first.caller, operation, paid(ADULT_PRICE))

    assert (told.advice, told.order.status, told.operation.status) == (
        Advice.REVERSE, OrderStatus.CANCELLED, OperationStatus.SUCCEEDED,
    )  # fmt: skip
    assert again.advice is Advice.REVERSE
    assert await items(sound_database) == [("paid-not-confirmed", operation)]
    assert (await seat_states(sound_database, event))[1] == (SeatStatus.SOLD, None, sold.order.order_id)


async def test_a_silent_terminal_becomes_an_item_once(sound_database: Database, clock: Clock) -> None:
    event = await make_event(sound_database)
    desk = Desk(sound_database, till(), event)
    step = await desk.sell(1, kind=SALE)
    assert await due_operations(sound_database, 10) == []
    assert await items(sound_database) == []
    await clock.move(seconds=301)
    for _ in range(2):
        assert await due_operations(sound_database, 10) == []
    assert await items(sound_database) == [("no-result", step.operation.operation_id)]


# ---------------------------------------------------------------- providers


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


# ---------------------------------------------------------------- cancelling


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
