"""The checker's rules about items, second persons and comparisons: clean after real acts, and each breach is found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from booking import sql
from booking.domain.item_actions import ItemAction
from booking.domain.model import ResultOutcome
from booking.domain.states import OperationKind
from booking.services import daily_reconciliation, drive_operation, settle_items, take_payment
from booking.services.check_invariants import breaches_of, check
from booking.store import reconciliation_queries_runs
from booking.store.database import Database
from tests.server.reconciliation_house import ITEM_PLANTS, House, open_house

HOLDER = UUID(int=7)
RULES = {rule.name: rule for rule in sql.invariants()}
PLANTS = [(rule, number) for rule, plants in ITEM_PLANTS.items() for number in range(len(plants))]


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    """An item that one person ended, one that two did, one that waits, and a comparison that is half read."""
    async with open_house(database) as house:
        unknown = await house.open_payment()
        await take_payment.mark_sent(house.db, unknown.operation.operation_id)
        await house.record(unknown.operation.operation_id, ResultOutcome.UNKNOWN)
        await house.db.fetch("UPDATE payment_operations SET created_at = created_at - interval '20 min'")
        await settle_items.note_silence(house.db)
        await house.act(
            await house.item("unknown-overdue"), ItemAction.SETTLED_OUTSIDE, reference="bank 1",
            outcome=ResultOutcome.DECLINED,
        )  # fmt: skip
        for _ in range(2):
            step = await house.open_payment()
            settled = await drive_operation.authorize(house.db, house.provider, step.operation)
            assert settled is not None
            capture = next(op for op in settled.order.operations if op.kind is OperationKind.CAPTURE)
            await house.record(capture.operation_id, ResultOutcome.DECLINED, code="expired")
            if len(await house.open_kinds()) == 1 and await house.db.fetch("SELECT FROM item_approvals") == []:
                await house.limit(0)
                asked = await house.act(
                    await house.item("capture-failed"), ItemAction.SETTLED_OUTSIDE, reference="bank 2"
                )
                await house.decide(asked, house.bo, approve=True)
        await _take_one_back(house)
        begun = await daily_reconciliation.start_run(
            house.db, house.ana, "sandbox", datetime.now(UTC).date(), key="k", digest=b""
        )
        lease = timedelta(minutes=5)
        claimed = await reconciliation_queries_runs.claim_run(house.db, ["sandbox"], HOLDER, lease, begun.value.run_id)
        assert claimed is not None
        movements = (await house.provider.list_movements(claimed["list_since"], claimed["list_until"])).movements
        rows = [daily_reconciliation.row_of(movement) for movement in movements]
        assert rows != []
        assert await reconciliation_queries_runs.keep_page(house.db, begun.value.run_id, HOLDER, lease, rows, "more")
        yield house


async def _take_one_back(house: House) -> None:
    """A third order whose capture is refused; it is taken back."""
    await house.limit(None)
    step = await house.open_payment()
    settled = await drive_operation.authorize(house.db, house.provider, step.operation)
    assert settled is not None
    capture = next(op for op in settled.order.operations if op.kind is OperationKind.CAPTURE)
    await house.record(capture.operation_id, ResultOutcome.DECLINED, code="expired")
    found = "SELECT item_id FROM reconciliation_items WHERE operation_id = $1"
    (row,) = await house.db.fetch(found, capture.operation_id)
    await house.act(await house.read(row["item_id"]), ItemAction.TAKE_BACK)


async def test_real_acts_break_no_rule(dsn: str, house: House) -> None:
    assert (await check(dsn)).breaches == ()
    assert await house.open_kinds() == ["capture-failed"]


@pytest.mark.parametrize(("rule", "number"), PLANTS)
async def test_each_thing_that_a_rule_says_is_looked_for(house: House, rule: str, number: int) -> None:
    async with house.db.general.trip(10) as connection:
        transaction = connection.transaction()
        await transaction.start()
        try:
            assert await breaches_of(connection, RULES[rule]) == ()
            await connection.execute("SET LOCAL session_replication_role = replica")
            await connection.execute(ITEM_PLANTS[rule][number])
            found = await breaches_of(connection, RULES[rule])
        finally:
            await transaction.rollback()
    assert found != ()
    assert all(len(breach.detail) > 10 for breach in found)
