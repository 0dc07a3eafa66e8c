"""A process that stands still between two of its steps while others go on: nothing is guessed, or told falsely."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

import asyncpg
import pytest

from booking.domain.item_actions import ItemAction
from booking.domain.items import RunState
from booking.domain.states import OperationKind, OperationStatus
from booking.services import daily_reconciliation, take_payment
from booking.store import database as database_module
from booking.store import reconciliation_queries_runs
from booking.store.connection import Connection, Limits
from booking.store.database import Database
from tests.server.box_office import Clock
from tests.server.reconciliation_books import Books, Comparison, everything_that_is_right, provider_only
from tests.server.reconciliation_house import House, failed_capture, open_house
from tests.server.refund_desk import follow_up, order_now, provider_says


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    async with open_house(database) as house:
        yield house


@pytest.mark.parametrize("stands_before", ["match_run", "read_differences", "open_difference", "end_run"])
async def test_a_comparison_that_lost_its_lease_tells_nothing(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch, stands_before: str
) -> None:
    """R27. Another driver has ended the run meanwhile, and what was read of the provider's list is gone."""
    comparison = Comparison(house, Books(house.provider))
    await everything_that_is_right(comparison)
    await provider_only(comparison)
    begun = await daily_reconciliation.start_run(
        house.db, house.ana, "sandbox", datetime.now(UTC).date(), key="k", digest=b""
    )
    run_id = begun.value.run_id
    step: Callable[..., Awaitable[object]] = getattr(reconciliation_queries_runs, stands_before)

    async def after_another(*arguments: object) -> object:
        monkeypatch.undo()
        await clock.move(seconds=daily_reconciliation.LEASE.total_seconds() + 1)
        assert await daily_reconciliation.drive_run(house.db, comparison.providers, run_id) is not None
        (item,) = await house.db.fetch("SELECT item_id FROM reconciliation_items WHERE resolved_at IS NULL")
        await house.act(await house.read(item["item_id"]), ItemAction.SETTLED_OUTSIDE, reference="by hand")
        return await step(*arguments)

    monkeypatch.setattr(reconciliation_queries_runs, stands_before, after_another)
    assert await daily_reconciliation.drive_run(house.db, comparison.providers, run_id) is None
    run = await daily_reconciliation.read_run(house.db, run_id)
    assert (run.state, run.differences) == (RunState.DONE, {"provider-only": 1})
    assert await house.open_kinds() == []


async def test_the_word_of_a_void_and_an_act_on_its_order_do_not_lock_each_other_out(house: House, dsn: str) -> None:
    """The capture that waits for the void is locked by both: by each after the order."""
    step = await house.open_payment()
    charge = step.operation.operation_id
    order = await provider_says(house.db, step.operation)
    capture = follow_up(order, charge)
    await house.db.fetch(
        "SELECT lock_order_for_money($1), open_money_back($2, 'void', 8000, 'same', gen_random_uuid(), 'p', NULL, 'r',"
        " booking_now())",
        order.order_id, charge,
    )  # fmt: skip
    void = follow_up(await order_now(house.db, order.order_id), charge, OperationKind.VOID)
    assert await take_payment.mark_sent(house.db, void.operation_id)
    holder, person, worker = [await asyncpg.connect(dsn) for _ in range(3)]
    hold = holder.transaction()
    await hold.start()
    await holder.execute(
        "SELECT FROM payment_operations WHERE operation_id = $1 FOR NO KEY UPDATE", capture.operation_id
    )
    acting = asyncio.create_task(person.fetch("SELECT lock_order_for_money($1)", order.order_id))
    await _is_waiting(holder, person)
    telling = asyncio.create_task(
        worker.fetch(
            "SELECT * FROM record_result($1, NULL, 'succeeded', 8000, '', '', '', '', '[]', 'provider:sandbox',"
            " ARRAY[gen_random_uuid(), gen_random_uuid()])",
            void.operation_id,
        )
    )
    await _is_waiting(holder, worker)
    await hold.commit()
    await asyncio.gather(acting, telling)
    for connection in (holder, person, worker):
        await connection.close()
    ended = await order_now(house.db, order.order_id)
    assert follow_up(ended, charge, OperationKind.VOID).status is OperationStatus.SUCCEEDED


async def test_an_act_that_a_deadlock_ended_is_done_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """G6. Who acts is not told to come again for what the database has undone by itself."""
    _, item = await failed_capture(house)
    limits_of, deadlocks = database_module.set_limits, iter(range(2))

    async def meet(connection: Connection, limits: Limits) -> None:
        await limits_of(connection, limits)
        if next(deadlocks, None) is not None:
            raise asyncpg.DeadlockDetectedError

    monkeypatch.setattr(database_module, "set_limits", meet)
    acted = await house.act(item, ItemAction.CAPTURE)
    assert next(deadlocks, None) is None
    assert [one.kind for one in acted.operations].count(OperationKind.CAPTURE) == 2


async def _is_waiting(observer: asyncpg.Connection, other: asyncpg.Connection) -> None:
    """Wait until another session waits for a lock."""
    async with asyncio.timeout(60):
        while not await observer.fetchval("SELECT cardinality(pg_blocking_pids($1)) > 0", other.get_server_pid()):
            await asyncio.sleep(0.01)
