"""Drive a payment operation: ask its provider, outside any transaction, and record what was said (R22–R25).

The operation is SENT, committed, before the provider is asked; from then on whatever is not a definite answer stays
UNKNOWN and the same operation is asked about again, under the same idempotency key. A driver may be killed anywhere:
the next one looks the effect up before it asks for it (P5), and sends the same operation again when the provider has
never heard of it. An authorization that is not granted when the buyer's time is over, or that he has called off, is
closed at the provider instead: nobody is charged for seats that he gave up.

Each function returns the step that followed from the answer, or None when there was nothing to do: somebody else drives
the operation, it has ended, or its time ran out before it was sent.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from booking.domain.errors import ResultConflictError
from booking.domain.model import Evidence, OperationResult, PaymentOperation, ResultOutcome, SettledStep
from booking.domain.states import OperationKind, OperationStatus
from booking.payments.exponents import InexactAmountError, UnknownExponentError
from booking.payments.provider import PaymentProvider
from booking.services import take_payment
from booking.services.choose_provider import AT_READERS
from booking.services.orders import order_as_it_stands
from booking.store.database import Database

Ask = Callable[[PaymentOperation], Awaitable[OperationResult]]
_UNSETTLED = frozenset({OperationStatus.SENT, OperationStatus.UNKNOWN, OperationStatus.ACTION_REQUIRED})
_ENDED = frozenset({OperationStatus.SUCCEEDED, OperationStatus.DECLINED})

log = logging.getLogger(__name__)


async def authorize(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """Send an authorization that is CREATED. On success the order is confirmed, its capture CREATED: `follow_up`."""
    return await _send(db, provider, operation, provider.authorize)


async def capture(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """Send a capture that is CREATED."""
    return await _send(db, provider, operation, provider.capture)


async def void(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """Send a void that is CREATED."""
    return await _send(db, provider, operation, provider.void)


async def refund(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """Send a refund that is CREATED."""
    return await _send(db, provider, operation, provider.refund)


async def enquire(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """Look up what became of an operation that was sent, and settle it; see the module."""
    if operation.status not in _UNSETTLED or operation.kind not in _asks(provider):
        return None
    result = await provider.enquire(operation)
    if result is None or result.outcome is ResultOutcome.ACTION_REQUIRED:
        result = await _go_on(db, provider, operation, result)
    return await _record(db, provider, operation, result)


async def drive(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """Whatever the operation needs next, as a worker finds it."""
    if operation.status is not OperationStatus.CREATED:
        return await enquire(db, provider, operation)
    ask = _asks(provider).get(operation.kind)
    return None if ask is None else await _send(db, provider, operation, ask)


async def withdraw(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """Call off an authorization that is not granted: the buyer or the till has given it up. None: it has its answer.

    What a buyer calls off is marked first, so that an approval that crosses it is given back. At a card reader an abort
    is a wish: the card that was faster pays (T9).
    """
    if operation.kind is not OperationKind.AUTHORIZE or operation.status in _ENDED:
        return None
    if operation.provider != AT_READERS and not await take_payment.call_off(db, operation):
        return None
    return await _record(db, provider, operation, await _asked(provider.withdraw, operation))


async def look(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """Ask about an operation that waits for a person, and record only an end. Nothing is sent again."""
    result = await provider.enquire(operation)
    if result is None or result.outcome not in (ResultOutcome.SUCCEEDED, ResultOutcome.DECLINED):
        return None
    return await _record(db, provider, operation, result)


async def take_at_once(db: Database, provider: PaymentProvider, operation: PaymentOperation) -> SettledStep | None:
    """An operation that was just opened, and the capture or void that follows from it. The worker does the rest.

    Returns the newest step. An operation of another provider is left alone, and one that was sent before.
    """
    if operation.provider != provider.name or operation.status is not OperationStatus.CREATED:
        return None
    step = await drive(db, provider, operation)
    return None if step is None else await follow_up(db, provider, step)


async def end_unsent(db: Database, operation: PaymentOperation) -> None:
    """End an authorization that nobody could send, once the buyer's time is over; the order ends with it."""
    if (operation.kind, operation.status) != (OperationKind.AUTHORIZE, OperationStatus.CREATED):
        return
    if await _is_time_over(db, operation):
        await take_payment.mark_sent(db, operation.operation_id)


async def follow_up(db: Database, provider: PaymentProvider, step: SettledStep) -> SettledStep:
    """Try the capture or void that `step` made, at once. Returns the newest step; what fails is the worker's."""
    for operation in step.order.operations:
        made_by_step = operation.parent_id == step.operation.operation_id
        if made_by_step and operation.status is OperationStatus.CREATED and operation.provider == provider.name:
            step = await drive(db, provider, operation) or step
    return step


def _asks(provider: PaymentProvider) -> dict[OperationKind, Ask]:
    return {
        OperationKind.AUTHORIZE: provider.authorize,
        OperationKind.CAPTURE: provider.capture,
        OperationKind.VOID: provider.void,
        OperationKind.REFUND: provider.refund,
    }


async def _send(db: Database, provider: PaymentProvider, operation: PaymentOperation, ask: Ask) -> SettledStep | None:
    if not await take_payment.mark_sent(db, operation.operation_id):
        return None
    return await _record(db, provider, operation, await _asked(ask, operation))


async def _go_on(
    db: Database, provider: PaymentProvider, operation: PaymentOperation, told: OperationResult | None
) -> OperationResult:
    """An operation that its provider has never heard of (`told` is None), or that waits for the buyer."""
    if operation.kind is not OperationKind.AUTHORIZE:
        return await _asked(_asks(provider)[operation.kind], operation)
    if operation.void_requested or await _is_time_over(db, operation):
        return await _asked(provider.withdraw, operation)
    return await _asked(provider.authorize, operation) if told is None else told


async def _is_time_over(db: Database, operation: PaymentOperation) -> bool:
    order = await order_as_it_stands(db, operation.order_id)
    return order.pay_until is None or order.server_time >= order.pay_until


async def _asked(ask: Ask, operation: PaymentOperation) -> OperationResult:
    try:
        return await ask(operation)
    except (UnknownExponentError, InexactAmountError) as error:
        # The table refuses the amount each time, before anything leaves: this operation never reached the provider.
        note = Evidence(datetime.now(UTC), "note", f"not sent: {error}")
        return OperationResult(ResultOutcome.DECLINED, 0, decline_code=error.code, evidence=(note,))


async def _record(
    db: Database, provider: PaymentProvider, operation: PaymentOperation, result: OperationResult
) -> SettledStep | None:
    try:
        return await take_payment.record_result(db, operation.operation_id, result, source=f"provider:{provider.name}")
    except ResultConflictError:
        log.warning("operation %s: the provider contradicts what is recorded; an item is open", operation.operation_id)
        return None
