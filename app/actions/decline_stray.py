"""Operations that the API has as running, and that no terminal was ever asked about: they are declined (R24, R31)."""

from __future__ import annotations

from uuid import uuid5

import msgspec

from app.actions.desk import Desk
from app.core.settlement import LIVE_STATES, NOT_ATTEMPTED
from backend_client.wire import OperationId, OperationKind, Order, PaymentOperation, ResultOutcome, ResultReport


async def decline_strays_of(desk: Desk, order: Order) -> bool:
    """Report as declined what this order, as the API has it now, has running here for nothing; True if any."""
    found = False
    for operation in order.operations:
        if operation.kind is OperationKind.SALE and await _never_asked(desk, operation):
            report = ResultReport(outcome=ResultOutcome.DECLINED, amount_minor=0, decline_code=NOT_ATTEMPTED)
            await desk.client.report_result(
                operation.operation_id, report, key=report_key(operation.operation_id, report)
            )
            found = True
    return found


async def _never_asked(desk: Desk, operation: PaymentOperation) -> bool:
    ours = operation.device_id == desk.client.device_id and operation.status in LIVE_STATES
    return ours and await desk.journal.terminal_attempt(operation.operation_id) is None


def report_key(operation_id: OperationId, report: ResultReport) -> str:
    """The key of a report follows from what it says: the same word again is the same call, another word another."""
    return str(uuid5(operation_id, msgspec.json.encode(report).decode()))
