"""What terminals and providers say in the tests of payments, and what becomes of it."""

from __future__ import annotations

from uuid import UUID

from booking.domain.model import OperationResult, ResultOutcome
from booking.domain.states import OperationKind
from booking.store.database import Database
from tests.server.box_office import count

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
