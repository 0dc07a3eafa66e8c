"""Money that goes back: refunds, cancelled tickets, and what of an order can still be given back (R25, R33)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from backend_client.wire.after_sale import Ticket
from backend_client.wire.base import (
    EventId,
    Message,
    MinorAmount,
    OperationId,
    OrderId,
    RequestMessage,
    ShortText,
    TicketId,
)
from backend_client.wire.sale import Order, PaymentOperation
from backend_client.wire.states import OperationKind, OrderStatus


class RefundWay(StrEnum):
    """SAME: to the card (or in the cash) that paid; CASH: out of the drawer, whatever paid."""

    SAME = "same"
    CASH = "cash"


class RefundableCharge(Message, frozen=True, kw_only=True):
    """One charge that took money. `pending_minor` counts refunds that are not decided: they cannot be given twice."""

    operation_id: OperationId
    kind: OperationKind
    provider: str
    card_brand: str = ""
    charged_minor: int
    refunded_minor: int
    pending_minor: int
    refundable_minor: int


class RefundableTicket(Message, frozen=True, kw_only=True):
    """A ticket of an order; `why_not` is empty, or a kebab-case reason why its money cannot go back now."""

    ticket: Ticket
    why_not: str = ""


class RefundableOrder(Message, frozen=True, kw_only=True):
    """What a person sees before giving money back. `approval_above_minor`: a second person is needed above it."""

    order: Order
    tickets: tuple[RefundableTicket, ...]
    charges: tuple[RefundableCharge, ...]
    refundable_minor: int
    approval_above_minor: int | None = None


class RefundRequest(RequestMessage, frozen=True, kw_only=True):
    """Gives the money of tickets back; `expected_minor` is the sum that the person saw (else `amount-mismatch`).

    The tickets die with the refund's acceptance. `seats_to_sale` false keeps the seats blocked.
    """

    ticket_ids: Annotated[tuple[TicketId, ...], Meta(min_length=1, max_length=100)]
    way: RefundWay
    expected_minor: MinorAmount
    seats_to_sale: bool
    reason: ShortText


class TicketCancelRequest(RequestMessage, frozen=True, kw_only=True):
    """Makes tickets void and gives no money back: a refund is another act."""

    ticket_ids: Annotated[tuple[TicketId, ...], Meta(min_length=1, max_length=100)]
    seats_to_sale: bool
    reason: ShortText


class RefundAnswer(Message, frozen=True, kw_only=True):
    """`refunds` are the operations that this act opened: one for each charge that money goes back to."""

    order: Order
    refunds: tuple[PaymentOperation, ...]
    tickets: tuple[Ticket, ...]


class OrderSummary(Message, frozen=True, kw_only=True):
    """An order as a list shows it. `buyer` is what a member of staff may know of who bought; `open_items` wait."""

    order_id: OrderId
    event_id: EventId
    event_name: str
    number: str
    status: OrderStatus
    amount_minor: int
    currency: str
    seats: tuple[str, ...]
    buyer: str = ""
    open_items: int = 0
    created_at: datetime


class OrderList(Message, frozen=True, kw_only=True):
    """Newest first; `next` is given back as `?after=` for more, empty at the end."""

    orders: tuple[OrderSummary, ...]
    next: str = ""
    server_time: datetime
