"""Take operations to their provider while the caller waits, for a few seconds (R23): outside any transaction.

What is left is the worker's, which finds every operation by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from booking.domain.model import PaymentOperation, SettledStep
from booking.domain.states import OperationStatus
from booking.web.calls import Call

PROVIDER_PATIENCE_S = 8.0

log = logging.getLogger(__name__)

_driving: set[asyncio.Task[SettledStep | None]] = set()


async def take_at_once(call: Call, operations: Sequence[PaymentOperation]) -> list[SettledStep | None]:
    """Drive those that are CREATED, side by side; for each the step that came of it, None where none is known yet."""
    start = call.services.payments
    if start is None:
        return [None] * len(operations)
    tasks = [
        _started(asyncio.create_task(start(one), name=f"{one.kind} {one.operation_id}"))
        if one.status is OperationStatus.CREATED
        else None
        for one in operations
    ]
    waited = [task for task in tasks if task is not None]
    if waited:
        await asyncio.wait(waited, timeout=PROVIDER_PATIENCE_S)
    return [task.result() if task is not None and task.done() and task.exception() is None else None for task in tasks]


def _started(task: asyncio.Task[SettledStep | None]) -> asyncio.Task[SettledStep | None]:
    _driving.add(task)
    task.add_done_callback(_end_driving)
    return task


def _end_driving(task: asyncio.Task[SettledStep | None]) -> None:
    _driving.discard(task)
    if not task.cancelled() and task.exception() is not None:
        log.warning("%s goes on in the worker", task.get_name(), exc_info=task.exception())
