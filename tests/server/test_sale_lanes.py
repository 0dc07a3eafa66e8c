"""Checkouts, payments, results and reads of orders through lanes: what a batch may and may not do to each request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID, uuid4

import msgspec
import pytest
from uuid_utils.compat import uuid7

from booking.domain import errors
from booking.domain.caller import Caller
from booking.domain.model import Advice, CheckoutLine, OperationResult, Order, PaymentIntent, ResultOutcome
from booking.domain.states import OperationKind, OrderStatus
from booking.services.check_out import check_out
from booking.services.orders import order_as_it_stands, read_order
from booking.services.take_payment import open_payment, record_result
from booking.store import database as database_module
from booking.store import sale_calls
from booking.store.connection import JOB_LIMITS, Connection, Limits
from booking.store.database import Database
from booking.store.sale_lanes import SaleAsk
from tests.server.box_office import ADULT, ADULT_PRICE, Desk, count, digest_of, fan, make_event, till

AUTHORIZE, CASH = OperationKind.AUTHORIZE, OperationKind.CASH
PROVIDER = "provider:sandbox"
ACCOUNT_OF_ORDER = """SELECT FROM account_limits a JOIN orders o USING (event_id, principal)
                       WHERE o.order_id = $1 FOR NO KEY UPDATE OF a"""


def granted(amount: int) -> OperationResult:
    return OperationResult(ResultOutcome.SUCCEEDED, amount, "ref")


async def orders_to_pay(db: Database, event: int, sales: int) -> list[tuple[Desk, Order]]:
    """So many fans with an order of one seat each."""
    desks = [Desk(db, fan(), event) for _ in range(sales)]
    holds = await asyncio.gather(*(desk.hold(seat) for seat, desk in enumerate(desks)))
    orders = await asyncio.gather(*(desk.check_out(hold) for desk, hold in zip(desks, holds, strict=True)))
    return list(zip(desks, orders, strict=True))


async def test_a_crowd_goes_through_the_sale_in_a_few_batches(sound_database: Database) -> None:
    db = sound_database
    event = await make_event(db)
    sales = await orders_to_pay(db, event, 30)
    steps = await asyncio.gather(*(desk.pay(order, AUTHORIZE) for desk, order in sales))
    settled = await asyncio.gather(
        *(record_result(db, step.operation.operation_id, granted(ADULT_PRICE), source=PROVIDER) for step in steps)
    )
    assert {step.advice for step in settled} == {Advice.GOODS_ISSUED}
    for step in settled:
        assert step.order.status is OrderStatus.CONFIRMED
        assert [(one.kind, one.status) for one in step.order.operations] == [
            (AUTHORIZE, "SUCCEEDED"), (OperationKind.CAPTURE, "CREATED"),
        ]  # fmt: skip
    for lane in (db.check_outs, db.payments, db.results):
        assert lane.figures.requests == 30
        assert lane.figures.batches < 10
        assert (lane.figures.alone, lane.figures.failed_batches) == (0, 0)
    assert await count(db, "SELECT count(*) FROM seats WHERE status = 3") == 30


async def test_p2_the_replay_of_a_step_is_told_in_the_batch_with_the_order_as_it_stands_now(
    sound_database: Database,
) -> None:
    db = sound_database
    desk = Desk(db, till(), await make_event(db))
    hold = await desk.hold(1, 2)
    order = await desk.check_out(hold, key="c")
    step = await desk.pay(order, CASH, key="p")
    lines = [CheckoutLine(1, ADULT), CheckoutLine(2, ADULT)]
    total = 2 * ADULT_PRICE
    again = await check_out(db, desk.caller, hold.hold_id, lines, total, key="c", digest=digest_of(lines, total))
    assert (again.replayed, again.value.order_id) == (True, order.order_id)
    assert again.value.status is OrderStatus.CONFIRMED
    intent = PaymentIntent(CASH, "drawer", total, total)
    paid = await open_payment(db, desk.caller, order.order_id, intent, key="p", digest=digest_of(intent))
    assert (paid.replayed, paid.value.operation.operation_id) == (True, step.operation.operation_id)


@pytest.fixture
async def patient(dsn: str, database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    """The same database, where who waits for a lock alone waits as long as a busy machine may need for the others."""
    monkeypatch.setattr(
        database_module,
        "SALE_LIMITS",
        Limits(lock_ms=60_000, statement_ms=60_000, idle_in_transaction_ms=60_000, transaction_ms=60_000),
    )
    db = await Database.open(dsn, application="test patient")
    yield db
    await db.close()


@pytest.mark.parametrize("lock", ["account", "order", "hold", "seat", "operation"])
async def test_who_meets_a_lock_waits_alone_and_the_others_do_not(
    patient: Database, other_database: Database, lock: str
) -> None:
    db = patient
    sales = await orders_to_pay(db, await make_event(db), 8)
    steps = await asyncio.gather(*(desk.pay(order, AUTHORIZE) for desk, order in sales))
    alone_before = db.results.figures.alone
    async with other_database.transaction(JOB_LIMITS) as connection:
        await lock_one(connection, lock, sales[3][1], steps[3].operation.operation_id)
        results = [
            asyncio.create_task(
                record_result(db, step.operation.operation_id, granted(ADULT_PRICE), source=PROVIDER),
                name=f"result {number}",
            )
            for number, step in enumerate(steps)
        ]
        async with asyncio.timeout(30):
            await asyncio.gather(*(task for task in results if task is not results[3]))
        assert not results[3].done()
    assert (await results[3]).advice is Advice.GOODS_ISSUED
    assert {task.result().advice for task in results} == {Advice.GOODS_ISSUED}
    assert db.results.figures.alone == alone_before + 1
    assert db.results.figures.failed_batches == 0


async def lock_one(connection: Connection, what: str, order: Order, operation_id: UUID) -> None:
    """Lock one row that the sale needs, as another process's step would."""
    query, subject = {
        "account": (ACCOUNT_OF_ORDER, order.order_id),
        "order": ("SELECT FROM orders WHERE order_id = $1 FOR NO KEY UPDATE", order.order_id),
        "hold": ("SELECT FROM holds WHERE hold_id = $1 FOR NO KEY UPDATE", order.hold_ids[0]),
        "seat": ("SELECT FROM seats WHERE order_id = $1 FOR NO KEY UPDATE", order.order_id),
        "operation": ("SELECT FROM payment_operations WHERE operation_id = $1 FOR NO KEY UPDATE", operation_id),
    }[what]  # fmt: skip
    await connection.fetch(query, subject)


async def test_a_locked_sale_whose_key_is_known_is_answered_at_once(
    sound_database: Database, other_database: Database
) -> None:
    db = sound_database
    desk = Desk(db, fan(), await make_event(db))
    hold = await desk.hold(1)
    order = await desk.check_out(hold, key="c")
    async with other_database.transaction() as connection:
        await connection.fetch("SELECT FROM holds WHERE hold_id = $1 FOR NO KEY UPDATE", hold.hold_id)
        async with asyncio.timeout(60):
            again = await desk.check_out(hold, key="c")
    assert again.order_id == order.order_id
    assert db.check_outs.figures.alone == 0


async def test_a_poisoned_request_fails_alone_and_the_others_are_answered(sound_database: Database) -> None:
    db = sound_database
    event = await make_event(db)
    desks = [Desk(db, fan(), event) for _ in range(6)]
    holds = await asyncio.gather(*(desk.hold(seat) for seat, desk in enumerate(desks)))
    poison = SaleAsk(uuid4(), b'{"hold_id": "no id", "key": "k", "principal": "p"}')
    answers = await asyncio.gather(
        db.check_outs.decide(poison),
        *(desk.check_out(hold) for desk, hold in zip(desks, holds, strict=True)),
        return_exceptions=True,
    )
    assert isinstance(answers[0], Exception)
    assert [order.status for order in answers[1:] if isinstance(order, Order)] == [OrderStatus.PENDING] * 6
    assert db.check_outs.figures.failed_batches == 1
    assert db.check_outs.figures.alone == 7


async def test_a_text_that_no_database_keeps_is_the_callers_fault_alone(sound_database: Database) -> None:
    db = sound_database
    desk = Desk(db, fan(), await make_event(db))
    order = await desk.check_out(await desk.hold(1))
    intent = PaymentIntent(AUTHORIZE, "sandbox", ADULT_PRICE, payment_method="\ud800")
    use = sale_calls.KeyUse("k", b"d")
    with pytest.raises(errors.InvalidRequestError):
        await sale_calls.open_payment(db, desk.caller, order.order_id, intent, use)
    assert db.payments.figures.requests == 0


async def test_g5_a_client_that_goes_away_does_not_undo_its_checkout(sound_database: Database) -> None:
    db = sound_database
    desk = Desk(db, fan(), await make_event(db))
    hold = await desk.hold(1)
    going = asyncio.create_task(desk.check_out(hold, key="c"), name="impatient")
    await asyncio.sleep(0)  # it is in the queue, and not under way
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    again = await desk.check_out(hold, key="c")
    assert await count(db, "SELECT count(*) FROM orders") == 1
    assert (await order_as_it_stands(db, again.order_id)).status is OrderStatus.PENDING


async def test_two_charges_of_one_account_in_one_batch_see_each_other(sound_database: Database) -> None:
    """A limit that was lowered meanwhile lets one of two confirm and gives the money of the other back (R8, R22)."""
    db = sound_database
    event = await make_event(db)
    caller = fan()
    first, second = Desk(db, caller, event), Desk(db, caller, event)
    steps = []
    for desk, seat in ((first, 1), (second, 2)):
        hold = await desk.hold(seat)
        order = await desk.check_out(hold)
        steps.append(await desk.pay(order, AUTHORIZE))
        # A fan has one open hold: the first sale is put out of the way of the second one's limit.
        await db.fetch("UPDATE holds SET principal = 'aside' WHERE hold_id = $1", hold.hold_id)
    await db.fetch("UPDATE holds SET principal = $1 WHERE principal = 'aside'", caller.principal)
    await db.fetch("UPDATE events SET max_per_account = 1 WHERE event_id = $1", event)
    asks = [success_as_the_lane_sends_it(step.operation.operation_id) for step in steps]
    rows = await db.fetch("SELECT * FROM record_result_batch($1::jsonb, false)", msgspec.json.encode(asks).decode())
    assert sorted(row["detail"] for row in rows) == ["goods-issued", "reverse"]
    assert await count(db, "SELECT sold FROM account_limits WHERE principal = $1", caller.principal) == 1


def success_as_the_lane_sends_it(operation_id: UUID) -> dict[str, object]:
    return {
        "operation_id": operation_id, "outcome": "succeeded", "amount": ADULT_PRICE, "provider_ref": "r",
        "decline_code": "", "card_brand": "", "next_action": "", "evidence": [], "source": PROVIDER,
        "spare": [uuid7(), uuid7()], "card_fingerprint": "",
    }  # fmt: skip


async def test_the_cap_of_seats_being_paid_counts_what_its_own_batch_has_not_written_yet(
    sound_database: Database,
) -> None:
    db = sound_database
    event = await make_event(db, paying_cap=5)
    desks = [Desk(db, fan(), event) for _ in range(12)]
    holds = await asyncio.gather(*(desk.hold(seat) for seat, desk in enumerate(desks)))
    answers = await asyncio.gather(
        *(desk.check_out(hold) for desk, hold in zip(desks, holds, strict=True)), return_exceptions=True
    )
    assert sum(isinstance(answer, Order) for answer in answers) == 5
    assert sum(isinstance(answer, errors.PayingCapReachedError) for answer in answers) == 7


async def test_reads_of_one_moment_share_a_round_trip_and_each_sees_its_own(sound_database: Database) -> None:
    db = sound_database
    sales = await orders_to_pay(db, await make_event(db), 20)
    before = replace(db.order_reads.figures)
    seen = await asyncio.gather(*(read_order(db, desk.caller, order.order_id) for desk, order in sales))
    assert [order.order_id for order in seen] == [order.order_id for _, order in sales]
    assert [order.lines for order in seen] == [order.lines for _, order in sales]
    assert db.order_reads.figures.requests - before.requests == 20
    assert db.order_reads.figures.batches - before.batches <= 2
    stranger: Caller = fan()
    for caller, order_id in ((stranger, sales[0][1].order_id), (stranger, uuid7())):
        with pytest.raises(errors.OrderNotFoundError):
            await read_order(db, caller, order_id)
