"""Operations marked as sent, many in one commit: each for one driver, written before anybody is asked (R23, P1)."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from uuid import UUID

import asyncpg
import pytest

from booking.domain.caller import Role
from booking.domain.model import OperationResult, PaymentOperation, ResultOutcome
from booking.domain.states import OperationKind, OperationStatus
from booking.services import drive_operation, take_payment
from booking.store.database import Database
from tests.server.box_office import Clock, Desk, fan, make_event, till
from tests.server.postgres_proxy import Cut, relay
from tests.server.provider_house import provider_house
from tests.server.refund_desk import follow_up, issued, provider_says, refund

AUTHORIZE = OperationKind.AUTHORIZE
MANY = 24


@pytest.fixture
def short_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="tq-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


async def unsent(db: Database, event: int, many: int) -> list[PaymentOperation]:
    """Authorizations that nobody has sent."""
    desks = [Desk(db, fan(), event) for _ in range(many)]
    steps = await asyncio.gather(*(desk.sell(seat, kind=AUTHORIZE) for seat, desk in enumerate(desks)))
    return [step.operation for step in steps]


async def statuses(db: Database, operations: list[PaymentOperation]) -> set[OperationStatus]:
    return {(await take_payment.read_operation(db, one.operation_id)).status for one in operations}


async def test_each_is_marked_for_one_of_two_drivers_and_many_share_a_commit(database: Database) -> None:
    operations = await unsent(database, await make_event(database), MANY)
    told = await asyncio.gather(
        *(take_payment.mark_sent(database, one.operation_id) for one in [*operations, *operations])
    )
    assert sum(told) == MANY
    assert all(first + second == 1 for first, second in zip(told[:MANY], told[MANY:], strict=True))
    assert await statuses(database, operations) == {OperationStatus.SENT}
    figures = database.sendings.figures
    assert (figures.requests, figures.failed_batches) == (2 * MANY, 0)
    assert figures.batches + figures.alone < MANY
    rows = await database.fetch("SELECT DISTINCT attempts FROM payment_operations")
    assert [row["attempts"] for row in rows] == [1]


async def test_it_is_committed_before_the_provider_is_asked(database: Database, other_database: Database) -> None:
    """Whoever looks from elsewhere while the provider is being asked sees it SENT."""
    seen: list[str] = []

    async with provider_house(database) as house:
        asked = house.provider.authorize

        async def authorize(operation: PaymentOperation) -> OperationResult:
            rows = await other_database.fetch(
                "SELECT status FROM payment_operations WHERE operation_id = $1", operation.operation_id
            )
            seen.append(rows[0]["status"])
            return await asked(operation)

        house.provider.authorize = authorize  # type: ignore[method-assign]
        operations = await unsent(database, house.event_id, 8)
        await asyncio.gather(
            *(drive_operation.take_at_once(database, house.provider, operation) for operation in operations)
        )
    assert seen == ["SENT"] * 8


async def test_what_somebody_else_has_locked_waits_alone_and_keeps_nobody_waiting(database: Database, dsn: str) -> None:
    operations = await unsent(database, await make_event(database), 4)
    locker = await asyncpg.connect(dsn)
    async with locker.transaction():
        await locker.execute(
            "SELECT FROM payment_operations WHERE operation_id = $1 FOR NO KEY UPDATE", operations[0].operation_id
        )
        late, *others = [
            asyncio.create_task(take_payment.mark_sent(database, one.operation_id)) for one in operations
        ]  # fmt: skip
        assert all(await asyncio.gather(*others))
        assert not late.done()
    assert await late
    assert database.sendings.figures.alone == 1
    await locker.close()


async def test_a_batch_knows_what_alone_is_known(database: Database, clock: Clock) -> None:
    """Good ones, past the buyer's time, past the authorization's end, before its capture, and a parked one."""
    event = await make_event(database)
    leader = till(Role.SUPERVISOR)
    late, expired, waiting, parked = await unsent(database, event, 4)
    captures = []
    for charge in (expired, waiting, parked):
        order = await provider_says(database, charge)
        captures.append(follow_up(order, charge.operation_id))
        await issued(database, leader, charge.order_id)
    await database.fetch(
        "UPDATE payment_operations SET expires_at = booking_now() WHERE operation_id = $1", captures[0].operation_id
    )
    assert await take_payment.mark_sent(database, captures[1].operation_id)
    (back,) = await refunded(database, waiting)
    (void,) = await refunded(database, parked)
    await clock.move(seconds=1_000)
    good = (await Desk(database, fan(), event).sell(9, kind=AUTHORIZE)).operation
    asked = {"good": good, "late": late, "expired": captures[0], "waiting": back, "parked": captures[2], "void": void}
    told = await asyncio.gather(*(database.sendings.decide(one.operation_id) for one in asked.values()))
    assert dict(zip(asked, told, strict=True)) == {
        "good": True, "late": False, "expired": False, "waiting": False, "parked": False, "void": True,
    }  # fmt: skip
    for operation in (late, captures[0]):
        assert not await take_payment.mark_sent(database, operation.operation_id)
    assert await statuses(database, [late, captures[0]]) == {OperationStatus.DECLINED}
    due = await database.fetch(
        "SELECT next_attempt_at - booking_now() < interval '7 s' AS soon FROM payment_operations"
        " WHERE operation_id = $1",
        back.operation_id,
    )
    assert [row["soon"] for row in due] == [True]


async def refunded(db: Database, charge: PaymentOperation) -> tuple[PaymentOperation, ...]:
    """The money of all tickets of a charge's order goes back."""
    leader = till(Role.SUPERVISOR)
    return (await refund(db, leader, charge.order_id, await issued(db, leader, charge.order_id))).value.refunds


@pytest.mark.parametrize("after", [False, True], ids=["before it took effect", "after it took effect"])
async def test_a_batch_whose_line_is_cut_asks_for_nothing_twice(
    database: Database, dsn: str, short_folder: str, after: bool
) -> None:
    """After it took effect nobody knows whose it is: nobody asks, and the worker drives it when it is due again."""
    async with provider_house(database) as house, relay(dsn, short_folder) as (relaying, through):
        operations = await unsent(database, house.event_id, 6)
        db = await Database.open(through)
        relaying.cut = Cut(b"mark_sent_batch", after_the_answer=after)
        await db.sendings.decide(UUID(int=7))  # prepares the statement, or is cut in doing so
        relaying.cut = Cut(b"mark_sent_batch", after_the_answer=after)
        told = await asyncio.gather(*(take_payment.mark_sent(db, one.operation_id) for one in operations))
        await db.close()
        marked = await statuses(database, operations)
        assert marked == {OperationStatus.SENT}
        assert set(told) <= {True, False}
        sent = [operation for operation, mine in zip(operations, told, strict=True) if mine]
        await asyncio.gather(*(house.provider.authorize(operation) for operation in sent))
        await house.work(3)
        assert len(house.sandbox.ledger.charges) == len(operations)
        assert await statuses(database, operations) == {OperationStatus.SUCCEEDED}
        rows = await database.fetch("SELECT status FROM orders")
        assert {row["status"] for row in rows} == {"CONFIRMED"}


async def test_an_operation_that_is_not_there_is_nobodys_to_send(database: Database) -> None:
    assert await database.sendings.decide(UUID(int=7)) is False
    declined = OperationResult(ResultOutcome.DECLINED, 0)
    (operation,) = await unsent(database, await make_event(database), 1)
    assert await take_payment.mark_sent(database, operation.operation_id)
    await take_payment.record_result(database, operation.operation_id, declined, source="provider:sandbox")
    assert not await take_payment.mark_sent(database, operation.operation_id)
