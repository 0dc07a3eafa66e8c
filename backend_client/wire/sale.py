"""A sale: hold, checkout, order, payment, and what a terminal said of it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from backend_client.wire.base import (
    MAX_SEATS_PER_HOLD,
    DeviceId,
    EventId,
    HoldId,
    Instant,
    Message,
    MinorAmount,
    OperationId,
    OrderId,
    RequestMessage,
    SeatNumber,
    ShortText,
)
from backend_client.wire.problems import SeatRef
from backend_client.wire.states import Advice, HoldStatus, OperationKind, OperationStatus, OrderStatus


class BestAvailable(RequestMessage, frozen=True, kw_only=True):
    """`count` seats beside each other (order in the row, never printed numbers), as near to the focal point as can be.

    `categories` and `sections` (indexes in the plan) narrow the choice; `accessible` of the seats are accessible
    places, the rest of such a block companion seats.
    """

    count: Annotated[int, Meta(ge=1, le=MAX_SEATS_PER_HOLD)]
    categories: Annotated[tuple[Annotated[int, Meta(ge=0, le=10_000)], ...], Meta(max_length=100)] = ()
    sections: Annotated[tuple[Annotated[int, Meta(ge=0, le=100_000)], ...], Meta(max_length=100)] = ()
    accessible: Annotated[int, Meta(ge=0, le=MAX_SEATS_PER_HOLD)] = 0


class TierQuantity(RequestMessage, frozen=True, kw_only=True):
    tier_id: Annotated[int, Meta(ge=0, le=1_000_000)]
    quantity: Annotated[int, Meta(ge=1, le=MAX_SEATS_PER_HOLD)]


class HoldRequest(RequestMessage, frozen=True, kw_only=True):
    """1–6 places, all or nothing (R3): distinct seats or a best-available request, and general-admission places.

    `access_code` raises the account's limit. `house_hold_id` lets staff take seats that the house keeps back.
    """

    seats: Annotated[tuple[SeatNumber, ...], Meta(max_length=MAX_SEATS_PER_HOLD)] = ()
    best_available: BestAvailable | None = None
    tiers: Annotated[tuple[TierQuantity, ...], Meta(max_length=MAX_SEATS_PER_HOLD)] = ()
    access_code: Annotated[str, Meta(max_length=60)] = ""
    house_hold_id: UUID | None = None


class HeldPlaces(Message, frozen=True, kw_only=True):
    """Places of a general-admission tier that a hold has."""

    tier_id: int
    name: str
    category_no: int
    quantity: int


class Hold(Message, frozen=True, kw_only=True):
    """`status` is as of `server_time`: a hold past its deadline reads EXPIRED, swept or not (R4, R5)."""

    hold_id: HoldId
    event_id: EventId
    status: HoldStatus
    seats: tuple[SeatRef, ...]
    expires_at: datetime
    grace_used: bool
    order_id: OrderId | None = None
    created_at: datetime
    server_time: datetime
    places: tuple[HeldPlaces, ...] = ()


class CheckoutLine(RequestMessage, frozen=True, kw_only=True):
    seat_no: SeatNumber
    price_type_id: Annotated[int, Meta(ge=0, le=1_000_000)]


class CheckoutPlaces(RequestMessage, frozen=True, kw_only=True):
    """Places of a tier at one price type."""

    tier_id: Annotated[int, Meta(ge=0, le=1_000_000)]
    price_type_id: Annotated[int, Meta(ge=0, le=1_000_000)]
    quantity: Annotated[int, Meta(ge=1, le=MAX_SEATS_PER_HOLD)]


class CheckoutRequest(RequestMessage, frozen=True, kw_only=True):
    """A price type for each seat and place of the hold.

    `shown_total_minor` is what the buyer was shown; it is compared with the server's own total, never believed.
    """

    lines: Annotated[tuple[CheckoutLine, ...], Meta(max_length=MAX_SEATS_PER_HOLD)] = ()
    shown_total_minor: MinorAmount
    places: Annotated[tuple[CheckoutPlaces, ...], Meta(max_length=MAX_SEATS_PER_HOLD)] = ()


class OrderLine(Message, frozen=True, kw_only=True):
    seat: SeatRef
    price_type_id: int
    price_type_name: str
    amount_minor: int


class OrderPlaces(Message, frozen=True, kw_only=True):
    """General-admission places of an order at one price type; `amount_minor` is that of all of them together."""

    tier_id: int
    tier_name: str
    price_type_id: int
    price_type_name: str
    quantity: int
    amount_minor: int


class PaymentOperation(Message, frozen=True, kw_only=True):
    """`next_action` is what the buyer must do (3-D Secure and the like) when status is ACTION_REQUIRED.

    `void_requested`: it is not wanted any more; a success that comes late is given back. `parent_id` is the charge of
    a capture, void or refund.
    """

    operation_id: OperationId
    order_id: OrderId
    part: int
    kind: OperationKind
    status: OperationStatus
    provider: str
    amount_minor: int
    currency: str
    device_id: DeviceId | None = None
    provider_ref: str = ""
    decline_code: str = ""
    next_action: str = ""
    tendered_minor: int | None = None
    change_minor: int | None = None
    created_at: datetime
    updated_at: datetime
    parent_id: OperationId | None = None
    card_brand: str = ""
    void_requested: bool = False


class Order(Message, frozen=True, kw_only=True):
    """`number` is what people read; `pay_until` the deadline of its hold, None once settled.

    `paid_minor` is what its payments have taken so far: less than `amount_minor` while it is paid in parts.
    """

    order_id: OrderId
    event_id: EventId
    number: str
    status: OrderStatus
    amount_minor: int
    currency: str
    price_version: int
    lines: tuple[OrderLine, ...]
    hold_ids: tuple[HoldId, ...]
    operations: tuple[PaymentOperation, ...]
    pay_until: datetime | None
    created_at: datetime
    server_time: datetime
    places: tuple[OrderPlaces, ...] = ()
    paid_minor: int = 0


class PaymentRequest(RequestMessage, frozen=True, kw_only=True):
    """Pays `amount_minor` of an order.

    `kind` is cash (with `tendered_minor`), sale (`provider` names the terminal protocol; the caller's device drives the
    terminal and reports), or authorize (`provider` names the provider, `default` that of the channel; `payment_method`
    is its reference of the card, never a card number, and empty where the card is read at the till's reader).

    `in_parts`: `amount_minor` is a part of what is left to pay; the order is confirmed with the last part. Without it
    the amount is all that is left. `instead_of` names a card payment of this order whose result is not known: from then
    on its success can only be given back (design §3).
    """

    kind: OperationKind
    provider: Annotated[str, Meta(min_length=1, max_length=40)]
    amount_minor: MinorAmount
    tendered_minor: MinorAmount | None = None
    payment_method: Annotated[str, Meta(max_length=200)] = ""
    in_parts: bool = False
    instead_of: OperationId | None = None


class PaymentAnswer(Message, frozen=True, kw_only=True):
    operation: PaymentOperation
    order: Order


class ResultOutcome(StrEnum):
    SUCCEEDED = "succeeded"
    DECLINED = "declined"
    UNKNOWN = "unknown"


class EvidenceItem(RequestMessage, frozen=True, kw_only=True):
    """One step that a device saw. Card numbers and track data never travel; what does is masked, not stored (R43)."""

    at: Instant
    direction: Annotated[str, Meta(max_length=20)]
    body: Annotated[str, Meta(max_length=4000)]


class ResultReport(RequestMessage, frozen=True, kw_only=True):
    """What a terminal said about an operation of kind `sale`; only the device that opened it may report it.

    Operations of every other kind are decided by their provider, or by the drawer: `operation-not-yours`. A till that
    was advised to reverse reports `declined` once the terminal has taken the sale back: that is recorded beside the
    sale, and is no conflict.
    """

    outcome: ResultOutcome
    amount_minor: MinorAmount
    provider_ref: Annotated[str, Meta(max_length=200)] = ""
    decline_code: Annotated[str, Meta(max_length=100)] = ""
    card_brand: Annotated[str, Meta(max_length=60)] = ""
    evidence: Annotated[tuple[EvidenceItem, ...], Meta(max_length=200)] = ()


class ResultAnswer(Message, frozen=True, kw_only=True):
    """`advice` answers a report `succeeded`, and no other: goods-issued, or reverse what was booked.

    After `unknown` and `declined` it reads `reverse` unless the order is paid by this operation: no goods are issued. A
    till must reverse nothing because of it: what a terminal may not have booked is never taken back on a guess (R24).
    """

    operation: PaymentOperation
    order: Order
    advice: Advice


class CancelRequest(RequestMessage, frozen=True, kw_only=True):
    """Cancels a PENDING order. `keep_seats` returns the seats to the hold while time is left, else they are freed."""

    reason: ShortText
    keep_seats: bool
