"""Take a payment: the operation is on record before anybody is asked for money, results are recorded once (R22–R26).

Nobody talks to a provider or terminal in here. A fan's or till's call opens the operation; who drives it marks it sent,
asks outside any transaction, and records what was answered.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

from booking.domain.caller import Caller, Channel
from booking.domain.errors import FieldFault, ForbiddenError, InvalidRequestError, OperationNotYoursError
from booking.domain.model import (
    MAX_AMOUNT_MINOR,
    Advice,
    Evidence,
    OperationResult,
    Order,
    PaymentIntent,
    PaymentOperation,
    PaymentStep,
    ResultOutcome,
    SettledStep,
)
from booking.domain.replay import Outcome
from booking.domain.states import OperationKind, OperationStatus
from booking.domain.text import refuse_card_numbers, refuse_strange_instants, refuse_unstorable, storable_texts
from booking.payments.exponents import PROVIDERS
from booking.services.countable_amounts import countable
from booking.services.orders import order_as_it_stands, order_told_by
from booking.services.refusals import key_use, raise_refusal, refusal
from booking.store import order_queries, sale_calls
from booking.store.database import Database
from booking.store.sale_calls import Teller
from booking.store.sale_lanes import SaleAnswer

CHARGES = frozenset({OperationKind.CASH, OperationKind.SALE, OperationKind.AUTHORIZE})
AT_A_TILL = frozenset({OperationKind.CASH, OperationKind.SALE})
TERMINAL_PROTOCOLS = frozenset({"zvt"})
NOT_SENT = "not-sent"
AUTHORIZATION_EXPIRED = "authorization-expired"
CAPTURE_FAILED = "capture-failed"
LONG_EVIDENCE = 8_000
"""Characters of evidence that are checked beside the event loop, so that nobody waits for it."""


async def open_payment(
    db: Database, caller: Caller, order_id: UUID, intent: PaymentIntent, *, key: str, digest: bytes
) -> Outcome[PaymentStep]:
    """Open a payment of an order. Cash is taken and the order confirmed in the same transaction.

    Raises:
        InvalidRequestError: not a kind of payment, no tendered money for cash, a card number where a reference belongs.
        EventNotOnSaleError: the event is cancelled: nobody is asked for money that has to go back.
        ForbiddenError: cash and terminals are for tills.
        PaymentRunningError: another payment of the order is live or not known (R24).
        CurrencyNotTakenError, AmountNotTakenError: the provider cannot count it so; nothing is stored (P21, P22).
        OperationNotFoundError: `instead_of` is no card payment of this order.
        AmountMismatchError: not what is left to pay, or, in parts, more than that. CardLimitError: a card of its parts.
        TenderedTooLittleError, HoldExpiredError, TooLittleTimeError, OrderNotPayableError, OrderNotFoundError,
        AccountLimitError, SeatsTakenError, KeyReusedError, BusyError, AuthorityAwayError.
    """
    use = key_use(key, digest)
    _check_intent(caller, intent)
    answer = await sale_calls.open_payment(db, caller, order_id, intent, use, countable(intent.provider))
    await raise_refusal(db, answer, None)
    return Outcome(await _step(db, answer), answer.replayed)


async def payment_of_key(
    db: Database, caller: Caller, order_id: UUID, *, key: str, digest: bytes
) -> Outcome[PaymentStep] | None:
    """What this request has opened already; None when its key is new. What may be paid now is not asked again.

    Raises:
        KeyReusedError: the key was spent on another request.
    """
    answer = await sale_calls.seen_payment(db, caller, order_id, key_use(key, digest))
    if answer is None:
        return None
    await raise_refusal(db, answer, None)
    return Outcome(_step_of(await order_as_it_stands(db, order_id), answer.result_id), answer.replayed)


async def mark_sent(db: Database, operation_id: UUID) -> bool:
    """Claim an operation for sending: True once, for one driver.

    False: ask nobody, another driver has sent it, it has ended, or the time for a new attempt is over.
    An authorization whose time ran out before it was sent ends here, and with it its order. So does a capture after the
    end of its authorization (P26): a supervisor is told, and no ticket is issued meanwhile. A refund ends with the
    capture that it waited for, when that was refused: nothing was taken.
    """
    if await sale_calls.mark_sent(db, operation_id):
        return True
    operation = await read_operation(db, operation_id)
    if operation.status is not OperationStatus.CREATED or operation.void_requested:
        return False
    if operation.kind is OperationKind.AUTHORIZE:
        await _end_unsent(db, operation, NOT_SENT, "authority")
    elif operation.kind is OperationKind.CAPTURE:
        await _end_unsent(db, operation, AUTHORIZATION_EXPIRED, "authority")
    elif operation.kind is OperationKind.REFUND and await _capture_was_refused(db, operation):
        await _end_unsent(db, operation, CAPTURE_FAILED, f"provider:{operation.provider}")
    return False


async def call_off(db: Database, operation: PaymentOperation) -> bool:
    """Commit that the buyer does not want this authorization any more, before its provider is asked to close it.

    True: ask the provider. From here on a success is given back and pays nothing, and the order can be paid otherwise.
    False: it has its answer, which stands; one that was never sent ends here, and nobody need be asked.
    """
    return await sale_calls.withdraw_payment(db, operation.operation_id)


async def _end_unsent(db: Database, operation: PaymentOperation, why: str, source: str) -> None:
    never_sent = OperationResult(ResultOutcome.DECLINED, operation.amount_minor, decline_code=why)
    await sale_calls.record_result(db, operation.operation_id, never_sent, Teller(source))


async def _capture_was_refused(db: Database, refund: PaymentOperation) -> bool:
    """Whether every capture of the refund's charge was: one that was tried again may still succeed, or has."""
    found = await order_queries.read_order(db, refund.order_id)
    captures = {
        one.status
        for one in (() if found is None else found[0].operations)
        if one.kind is OperationKind.CAPTURE and one.parent_id == refund.parent_id
    }
    return captures == {OperationStatus.DECLINED}


async def record_result(db: Database, operation_id: UUID, result: OperationResult, *, source: str) -> SettledStep:
    """Record what a provider or supervisor said. Repeats change nothing; a success confirms or gives the money back.

    `advice` is goods-issued only when this operation paid its order. A `void` or `capture` that follows is among the
    order's operations, CREATED. `source` is `provider:NAME` or `supervisor:WHO`; the provider's own reference is kept
    to the letter, because captures, voids and refunds name the charge by it.

    Raises:
        OperationNotFoundError: there is none.
        OperationNotYoursError: it is another provider's, a terminal's, or cash.
        ResultConflictError: another definite result was recorded before; a reconciliation item is open.
    """
    return (await _record(db, operation_id, _storable(result), Teller(source))).value


async def report_device_result(
    db: Database, caller: Caller, operation_id: UUID, report: OperationResult, *, key: str, digest: bytes
) -> Outcome[SettledStep]:
    """Record what a terminal said, or that cash was paid out. Only the device of the operation may, and only of a
    terminal's sale or of money that it gives back.

    Once a till was advised to reverse, its report `declined` says that the terminal has done so: a void beside the
    sale. The advice answers a success. After any other report it means that no goods are issued, and nothing is to be
    reversed.

    Raises:
        OperationNotYoursError: another device opened it, or the provider (or the drawer) decides it.
        KeyReusedError: the key was spent on another report.
        OperationNotFoundError, ResultConflictError: as for `record_result`.
    """
    if caller.device_id is None:
        raise OperationNotYoursError("Only the device that opened a payment may report its result.")
    teller = Teller(f"device:{caller.device_id}", caller.device_id, caller.principal, key_use(key, digest))
    # 800 kB of digits take a second or two; what terminals say is not worth a thread.
    is_long = sum(len(item.body) for item in report.evidence) > LONG_EVIDENCE
    report = await asyncio.to_thread(_storable, report) if is_long else _storable(report)
    (reference,) = storable_texts({"/provider_ref": report.provider_ref})
    return await _record(db, operation_id, replace(report, provider_ref=reference), teller)


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
    not among them: their device reports; those that are silent too long become reconciliation items here, and so do
    captures that stay open.
    """
    await sale_calls.note_silent_devices(db, limit)
    await sale_calls.note_overdue_captures(db, limit)
    return await order_queries.read_operations(db, await sale_calls.claim_due_operations(db, limit))


async def _record(db: Database, operation_id: UUID, result: OperationResult, teller: Teller) -> Outcome[SettledStep]:
    answer = await sale_calls.record_result(db, operation_id, result, teller)
    await raise_refusal(db, answer, None)
    step = await _step(db, answer)
    return Outcome(SettledStep(step.operation, step.order, Advice(answer.detail)), answer.replayed)


def _storable(result: OperationResult) -> OperationResult:
    """As it may be stored: no card data (R43), nothing that PostgreSQL or a reader of instants trips over."""
    refuse_unstorable({"/provider_ref": result.provider_ref, "/next_action": result.next_action})
    refuse_strange_instants({f"/evidence/{index}/at": item.at for index, item in enumerate(result.evidence)})
    decline_code, card_brand, fingerprint = storable_texts(
        {
            "/decline_code": result.decline_code,
            "/card_brand": result.card_brand,
            "/card_fingerprint": result.card_fingerprint,
        }
    )
    directions = storable_texts({f"/evidence/{n}/direction": item.direction for n, item in enumerate(result.evidence)})
    bodies = storable_texts({f"/evidence/{n}/body": item.body for n, item in enumerate(result.evidence)})
    evidence = tuple(
        Evidence(item.at, direction, body)
        for item, direction, body in zip(result.evidence, directions, bodies, strict=True)
    )
    return replace(
        result, decline_code=decline_code, card_brand=card_brand, evidence=evidence, card_fingerprint=fingerprint
    )


async def _step(db: Database, answer: SaleAnswer) -> PaymentStep:
    return _step_of(await order_told_by(db, answer), answer.result_id)


def _step_of(order: Order, operation_id: UUID | None) -> PaymentStep:
    operation = next((each for each in order.operations if each.operation_id == operation_id), None)
    if operation is None:
        raise RuntimeError("the database answered without the operation that it made")
    return PaymentStep(operation, order)


def _check_intent(caller: Caller, intent: PaymentIntent) -> None:
    texts = {"/provider": intent.provider, "/payment_method": intent.payment_method}
    refuse_unstorable(texts)
    refuse_card_numbers(texts)
    if intent.kind not in CHARGES:
        raise InvalidRequestError(
            "This is no way to pay.", fields=(FieldFault("/kind", "one of cash, sale, authorize"),)
        )
    if not 0 <= intent.amount_minor <= MAX_AMOUNT_MINOR:
        raise InvalidRequestError("The amount is out of range.", fields=(FieldFault("/amount_minor", "out of range"),))
    if intent.in_parts and intent.amount_minor < 1:
        raise InvalidRequestError(
            "A part is not nothing.", fields=(FieldFault("/amount_minor", "at least 1 minor unit"),)
        )
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
