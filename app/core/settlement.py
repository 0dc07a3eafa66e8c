"""What the API's word about an order and an operation makes of a sale (R22, R24, R25). Pure, and never a guess."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from app.core.sale import EndReason, Sale, SaleState, SaleStep, UnknownReason
from backend_client.wire import OperationStatus, Order, OrderStatus, PaymentOperation

PAID_STATES = frozenset({OrderStatus.CONFIRMED, OrderStatus.PARTLY_REFUNDED, OrderStatus.REFUNDED})
GONE_STATES = frozenset({OrderStatus.EXPIRED, OrderStatus.CANCELLED})
NOT_ATTEMPTED = "not-attempted"
"""Decline code of an operation that was opened and never came to the terminal."""
REVERSED = "reversed"
"""Decline code of a sale that the terminal has taken back, as it was advised to."""
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
        return sale.after(SaleStep.PAYMENT_CONFIRMED)
    succeeded = operation is not None and operation.status is OperationStatus.SUCCEEDED
    if order.status in GONE_STATES and operation is not None and operation.status in LIVE_STATES:
        return unclear(sale, UnknownReason.RECONCILING, now)
    if order.status in GONE_STATES:
        return expired(sale, EndReason.CHARGE_TO_RETURN if succeeded else EndReason.HOLD_ENDED)
    if succeeded:
        return unclear(sale, UnknownReason.RECONCILING, now)
    if operation is None:
        return withdrawn(sale)
    if operation.status is OperationStatus.DECLINED:
        return withdrawn(sale) if operation.decline_code == NOT_ATTEMPTED else declined(sale, operation.decline_code)
    return unclear(sale, UnknownReason.TERMINAL_SILENT, now)


def declined(sale: Sale, decline_code: str) -> Sale:
    """Not charged; the hold, the seats and the price types stay, the attempt is over."""
    return replace(sale.after(SaleStep.PAYMENT_DECLINED), decline_code=decline_code, payment=None)


def withdrawn(sale: Sale) -> Sale:
    """The attempt never came to a charge."""
    return replace(sale.after(SaleStep.PAYMENT_WITHDRAWN), payment=None)


def expired(sale: Sale, reason: EndReason) -> Sale:
    """The seats are gone."""
    return replace(sale.after(SaleStep.EXPIRED), end_reason=reason)


def unclear(sale: Sale, reason: UnknownReason, now: datetime) -> Sale:
    """UNKNOWN, since the payment began: that is the time on the terminal's receipt, however late it is asked about."""
    begun = now if sale.payment is None else sale.payment.begun_at
    since = sale.unknown_since if sale.state is SaleState.UNKNOWN and sale.unknown_since is not None else begun
    return replace(sale.after(SaleStep.PAYMENT_UNCLEAR), unknown_reason=reason, unknown_since=since)
