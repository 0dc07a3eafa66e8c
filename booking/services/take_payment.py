"""Take a payment: the operation is on record before anybody is asked for money, results are recorded once (R22–R26).

Nobody talks to a provider or terminal in here. A fan's or till's call opens the operation; who drives it marks it sent,
asks outside any transaction, and records what was answered.
"""

from __future__ import annotations

from uuid import UUID

from booking.domain.caller import Caller, Channel
from booking.domain.errors import FieldFault, ForbiddenError, InvalidRequestError, OperationNotYoursError
from booking.domain.model import (
    MAX_AMOUNT_MINOR,
    Advice,
    OperationResult,
    PaymentIntent,
    PaymentOperation,
    PaymentStep,
    ResultOutcome,
    SettledStep,
)
from booking.domain.replay import Outcome
from booking.domain.states import OperationKind
from booking.domain.text import refuse_unstorable
from booking.payments.exponents import PROVIDERS
from booking.services.orders import order_as_it_stands
from booking.services.refusals import key_use, raise_refusal, refusal
from booking.store import order_queries, sale_calls
from booking.store.database import Database

CHARGES = frozenset({OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE})
AT_A_TILL = frozenset({OperationKind.CASH, OperationKind.SALE})
TERMINAL_PROTOCOLS = frozenset({"zvt"})
NOT_SENT = "not-sent"


async def open_payment(
    db: Database, caller: Caller, order_id: UUID, intent: PaymentIntent, *, key: str, digest: bytes
) -> Outcome[PaymentStep]:
    """Open a payment of an order. Cash is taken and the order confirmed in the same transaction.

    Raises:
        InvalidRequestError: not a kind of payment, no tendered money for cash.
        ForbiddenError: cash and terminals are for tills.
        PaymentRunningError: another payment of the order is live or not known (R24).
        AmountMismatchError, TenderedTooLittleError, HoldExpiredError, TooLittleTimeError, OrderNotPayableError,
        OrderNotFoundError, AccountLimitError, SeatsTakenError, KeyReusedError, BusyError, AuthorityAwayError.
    """
    use = key_use(key, digest)
    _check_intent(caller, intent)
    answer = await sale_calls.open_payment(db, caller, order_id, intent, use)
    await raise_refusal(db, answer, None)
    return Outcome(await _step(db, _made(answer)), answer.replayed)


async def mark_sent(db: Database, operation_id: UUID) -> bool:
    """Claim an operation for sending: True once, for one driver.

    False: ask nobody, another driver has sent it, it has ended, or the time for a new attempt is over.
    An authorization whose time ran out before it was sent ends here, and with it its order.
    """
    if await sale_calls.mark_sent(db, operation_id):
        return True
    operation = await read_operation(db, operation_id)
    if operation.kind is OperationKind.AUTHORIZE and operation.status == "CREATED":
        never_sent = OperationResult(ResultOutcome.DECLINED, operation.amount_minor, decline_code=NOT_SENT)
        await sale_calls.record_result(db, operation_id, None, never_sent, "authority")
    return False


async def record_result(db: Database, operation_id: UUID, result: OperationResult, *, source: str) -> SettledStep:
    """Record what a provider or supervisor said. Repeats change nothing; a success confirms or gives the money back.

    `advice` is goods-issued only when this operation paid its order. A `void` or `capture` that follows is among the
    order's operations, CREATED.

    Raises:
        OperationNotFoundError: there is none.
        ResultConflictError: another definite result was recorded before; a reconciliation item is open.
    """
    return await _record(db, operation_id, None, result, source)


async def report_device_result(
    db: Database, caller: Caller, operation_id: UUID, report: OperationResult
) -> SettledStep:
    """Record what a terminal said; only the device that opened the operation may report it.

    Raises:
        OperationNotYoursError: another device opened it.
        OperationNotFoundError, ResultConflictError: as for `record_result`.
    """
    if caller.device_id is None:
        raise OperationNotYoursError("Only the device that opened a payment may report its result.")
    return await _record(db, operation_id, caller.device_id, report, f"device:{caller.device_id}")


async def read_operation(db: Database, operation_id: UUID) -> PaymentOperation:
    """One operation.

    Raises:
        OperationNotFoundError: there is none.
    """
    found = await order_queries.read_operations(db, [operation_id])
    if not found:
        raise refusal("operation-not-found")
    return found[0]


async def due_operations(db: Database, limit: int) -> list[PaymentOperation]:
    """Operations that a worker has to send (CREATED) or to ask about; each is claimed for a while by this call.

    Captures and voids carry their charge's reference in `provider_ref` and its id in `parent_id`. Terminal payments are
    not among them: their device reports; those that are silent too long become reconciliation items here.
    """
    await sale_calls.note_silent_devices(db, limit)
    return await order_queries.read_operations(db, await sale_calls.claim_due_operations(db, limit))


async def _record(
    db: Database, operation_id: UUID, device_id: UUID | None, result: OperationResult, source: str
) -> SettledStep:
    refuse_unstorable(
        {"/provider_ref": result.provider_ref, "/decline_code": result.decline_code, "/card_brand": result.card_brand}
        | {f"/evidence/{index}/body": item.body for index, item in enumerate(result.evidence)}
        | {f"/evidence/{index}/direction": item.direction for index, item in enumerate(result.evidence)}
    )
    answer = await sale_calls.record_result(db, operation_id, device_id, result, source)
    await raise_refusal(db, answer, None)
    step = await _step(db, operation_id)
    return SettledStep(step.operation, step.order, Advice(answer.detail))


async def _step(db: Database, operation_id: UUID) -> PaymentStep:
    operation = await read_operation(db, operation_id)
    order = await order_as_it_stands(db, operation.order_id)
    newest = next((each for each in order.operations if each.operation_id == operation_id), operation)
    return PaymentStep(newest, order)


def _made(answer: sale_calls.SaleAnswer) -> UUID:
    if answer.result_id is None:
        raise RuntimeError("the database answered without saying what it made")
    return answer.result_id


def _check_intent(caller: Caller, intent: PaymentIntent) -> None:
    refuse_unstorable({"/provider": intent.provider, "/payment_method": intent.payment_method})
    if intent.kind not in CHARGES:
        raise InvalidRequestError(
            "This is no way to pay.", fields=(FieldFault("/kind", "one of cash, sale, authorize"),)
        )
    if not 0 <= intent.amount_minor <= MAX_AMOUNT_MINOR:
        raise InvalidRequestError("The amount is out of range.", fields=(FieldFault("/amount_minor", "out of range"),))
    if intent.kind in AT_A_TILL and caller.channel is not Channel.TILL:
        raise ForbiddenError("Cash and card terminals are for tills.")
    if not _is_known_provider(intent):
        raise InvalidRequestError("Nobody here takes this payment.", fields=(FieldFault("/provider", "is not known"),))
    if intent.kind is OperationKind.CASH and intent.tendered_minor is None:
        raise InvalidRequestError(
            "Cash needs the money that was given.", fields=(FieldFault("/tendered_minor", "is missing"),)
        )


def _is_known_provider(intent: PaymentIntent) -> bool:
    """An operation that nobody can drive would keep its seats PAYING until the buyer's time is over."""
    if intent.kind is OperationKind.AUTHORIZE:
        return intent.provider in PROVIDERS
    return intent.kind is OperationKind.CASH or intent.provider in TERMINAL_PROTOCOLS
