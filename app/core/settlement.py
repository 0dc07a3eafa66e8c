"""What the API's word about an order and an operation makes of a sale (R22, R24, R25). Pure, and never a guess."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

import msgspec

from app.core.sale import EndReason, PaymentAttempt, Sale, SaleState, SaleStep, UnknownReason
from backend_client.wire import OperationId, OperationKind, OperationStatus, Order, OrderStatus, PaymentOperation

PAID_STATES = frozenset({OrderStatus.CONFIRMED, OrderStatus.PARTLY_REFUNDED, OrderStatus.REFUNDED})
GONE_STATES = frozenset({OrderStatus.EXPIRED, OrderStatus.CANCELLED})
NOT_ATTEMPTED = "not-attempted"
"""Decline code of an operation that was opened and never came to the terminal."""
REVERSED = "reversed"
"""Decline code of a sale that the terminal has taken back, as it was advised to."""
CHARGES = frozenset({OperationKind.SALE, OperationKind.CASH, OperationKind.AUTHORIZE})
LIVE_STATES = frozenset(
    {OperationStatus.CREATED, OperationStatus.SENT, OperationStatus.ACTION_REQUIRED, OperationStatus.UNKNOWN}
)


def operation_of(sale: Sale, order: Order) -> PaymentOperation | None:
    """The operation of the sale's payment attempt, as the order tells it."""
    if sale.payment is None or sale.payment.operation_id is None:
        return None
    wanted = sale.payment.operation_id
    return next((operation for operation in order.operations if operation.operation_id == wanted), None)


def settled(sale: Sale, order: Order, operation: PaymentOperation | None, now: datetime) -> Sale:
    """The sale (PAYING or UNKNOWN) after the API's word. `operation` None: the API knows of none for this attempt."""
    sale = replace(sale, order=order)
    if order.status in PAID_STATES:
        paid = sale.after(SaleStep.PAYMENT_CONFIRMED)
        return replace(paid, payment=_what_paid(sale, order), replaced=None)
    if operation is None and sale.replaced is not None:
        # The cash instead was never taken: it is all about the card again.
        sale = replace(sale, payment=sale.replaced, replaced=None)
        operation = operation_of(sale, order)
    if order.status in GONE_STATES:
        return _over(sale, order, operation, now)
    if operation is None:
        return withdrawn(sale)
    if operation.status is OperationStatus.SUCCEEDED:
        return part_paid(sale) if is_part(order, operation) else unclear(sale, UnknownReason.RECONCILING, now)
    if operation.status is OperationStatus.DECLINED:
        return withdrawn(sale) if operation.decline_code == NOT_ATTEMPTED else declined(sale, operation.decline_code)
    return unclear(sale, UnknownReason.TERMINAL_SILENT, now)


def _over(sale: Sale, order: Order, operation: PaymentOperation | None, now: datetime) -> Sale:
    """The order came to nothing: what parts have paid goes back before anything else is said."""
    if not_back_yet(order):
        return to_return(sale)
    if operation is not None and operation.status in LIVE_STATES:
        return unclear(sale, UnknownReason.RECONCILING, now)
    succeeded = operation is not None and operation.status is OperationStatus.SUCCEEDED
    return expired(sale, EndReason.CHARGE_TO_RETURN if succeeded else EndReason.HOLD_ENDED)


def _what_paid(sale: Sale, order: Order) -> PaymentAttempt | None:
    """The cash that was counted instead of a card, or that card, when it was faster."""
    card = sale.replaced
    if card is None:
        return sale.payment
    given_up = any(one.operation_id == card.operation_id and one.void_requested for one in order.operations)
    return sale.payment if given_up else card


def is_part(order: Order, operation: PaymentOperation) -> bool:
    """Whether a charge that succeeded counts towards an order that is not paid in full yet."""
    counts = not operation.void_requested and order.paid_minor >= operation.amount_minor
    return order.status is OrderStatus.PENDING and counts and order.paid_minor < order.amount_minor


def paid_parts(order: Order) -> tuple[PaymentOperation, ...]:
    """The charges that took money and keep it, in the order in which they were made."""
    return tuple(
        operation
        for operation in order.operations
        if operation.kind in CHARGES and operation.status is OperationStatus.SUCCEEDED and not operation.void_requested
    )


def not_back_yet(order: Order) -> tuple[PaymentOperation, ...]:
    """Refunds of an order that are not known to have reached their owner, and that a till must see to.

    What a provider gives back by itself needs nobody at the counter.
    """
    return tuple(
        operation
        for operation in order.operations
        if operation.kind is OperationKind.REFUND
        and operation.device_id is not None
        and operation.status is not OperationStatus.SUCCEEDED
    )


def with_paid_out(order: Order, paid_out: Collection[OperationId]) -> Order:
    """The order as it stands with its owner: cash that was handed over is back, though the API has not heard it yet."""
    if not any(one.operation_id in paid_out for one in order.operations):
        return order
    operations = tuple(
        msgspec.structs.replace(one, status=OperationStatus.SUCCEEDED) if one.operation_id in paid_out else one
        for one in order.operations
    )
    return msgspec.structs.replace(order, operations=operations)


def part_paid(sale: Sale) -> Sale:
    """A part is paid: the seats are held for the rest. A decline before it is forgotten."""
    return replace(sale.after(SaleStep.PART_PAID), payment=None, replaced=None, decline_code="")


def to_return(sale: Sale) -> Sale:
    """The sale comes to nothing, and money that parts have paid goes back first."""
    return replace(sale.after(SaleStep.MONEY_TO_RETURN), payment=None)


def returned(sale: Sale, order: Order) -> Sale:
    """Nothing of it waits for a till any more: all is back, or the rest is a supervisor's. Else the sale as it is."""
    left = not_back_yet(order)
    if any(one.status is not OperationStatus.DECLINED for one in left):
        return sale
    reason = EndReason.CHARGE_TO_RETURN if left else EndReason.MONEY_RETURNED
    return replace(sale.after(SaleStep.MONEY_RETURNED), end_reason=reason)


def declined(sale: Sale, decline_code: str) -> Sale:
    """Not charged; the hold, the seats and the price types stay, the attempt is over."""
    return replace(sale.after(SaleStep.PAYMENT_DECLINED), decline_code=decline_code, payment=None)


def withdrawn(sale: Sale) -> Sale:
    """The attempt never came to a charge."""
    return replace(sale.after(SaleStep.PAYMENT_WITHDRAWN), payment=None)


def stepped_back(sale: Sale, now: datetime) -> Sale:
    """A payment that was begun and not opened is over: HELD, or UNKNOWN again when it was instead of a card's."""
    if sale.replaced is None:
        return withdrawn(sale)
    back = replace(sale, payment=sale.replaced, replaced=None)
    return unclear(back, UnknownReason.TERMINAL_SILENT, now)


def expired(sale: Sale, reason: EndReason) -> Sale:
    """The seats are gone."""
    return replace(sale.after(SaleStep.EXPIRED), end_reason=reason)


def unclear(sale: Sale, reason: UnknownReason, now: datetime) -> Sale:
    """UNKNOWN, since the payment began: that is the time on the terminal's receipt, however late it is asked about."""
    begun = now if sale.payment is None else sale.payment.begun_at
    since = sale.unknown_since if sale.state is SaleState.UNKNOWN and sale.unknown_since is not None else begun
    return replace(sale.after(SaleStep.PAYMENT_UNCLEAR), unknown_reason=reason, unknown_since=since)
