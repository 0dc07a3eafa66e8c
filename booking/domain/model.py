"""What services answer with. Field names equal the wire's, so that the web converts by attribute.

Money is integer minor units beside a currency; instants are aware UTC; ids are UUIDv7 made by the API.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from booking.domain.states import (
    HoldStatus,
    OperationKind,
    OperationStatus,
    OrderStatus,
    PrintJobStatus,
    TicketStatus,
)

EventId = NewType("EventId", int)
HoldId = NewType("HoldId", UUID)
OrderId = NewType("OrderId", UUID)
OperationId = NewType("OperationId", UUID)
TicketId = NewType("TicketId", UUID)
PrintJobId = NewType("PrintJobId", UUID)

MAX_SEATS_PER_HOLD = 6
MAX_AMOUNT_MINOR = 10**12
MAX_SEAT_NO = (1 << 24) - 2


class EventStatus(StrEnum):
    ON_SALE = "ON_SALE"
    PAUSED = "PAUSED"
    CANCELLED = "CANCELLED"


class OrphanRule(StrEnum):
    """Whether a hold may leave a single free seat behind."""

    STRICT = "strict"
    LENIENT = "lenient"
    OFF = "off"


class Advice(StrEnum):
    """What a till tells its terminal once the result is reported."""

    GOODS_ISSUED = "goods-issued"
    REVERSE = "reverse"


class ResultOutcome(StrEnum):
    """What a provider or a terminal said. `action_required` is a provider's (3-D Secure and the like)."""

    SUCCEEDED = "succeeded"
    DECLINED = "declined"
    UNKNOWN = "unknown"
    ACTION_REQUIRED = "action_required"


@dataclass(frozen=True, slots=True)
class SeatRef:
    """A seat as people name it, beside its dense index in the plan. `row_kind`: its row is a table or a booth."""

    seat_no: int
    section: str = ""
    row: str = ""
    number: str = ""
    row_kind: str = ""


@dataclass(frozen=True, slots=True)
class EventSummary:
    event_id: EventId
    name: str
    venue_name: str
    starts_at: datetime
    zone: str
    currency: str
    status: EventStatus
    sale_opens_at: datetime
    plan_id: UUID
    plan_version: int
    seat_count: int


@dataclass(frozen=True, slots=True)
class PriceCategory:
    category_no: int
    name: str
    color: str


@dataclass(frozen=True, slots=True)
class PriceType:
    price_type_id: int
    name: str


@dataclass(frozen=True, slots=True)
class Price:
    category_no: int
    price_type_id: int
    amount_minor: int


@dataclass(frozen=True, slots=True)
class Tier:
    """A general-admission tier (R11). `in_holds` may come back; nothing is ever below zero."""

    tier_id: int
    name: str
    category_no: int
    capacity: int
    available: int
    in_holds: int
    sold: int
    overbooked: int


@dataclass(frozen=True, slots=True)
class TierCount:
    """How many places of a tier are left, of how many."""

    tier_id: int
    available: int
    capacity: int


@dataclass(frozen=True, slots=True)
class TierList:
    event_id: EventId
    tiers: tuple[Tier, ...]
    server_time: datetime


@dataclass(frozen=True, slots=True)
class EventDetail(EventSummary):
    hold_ttl_s: int
    grace_s: int
    max_per_account: int
    price_version: int
    categories: tuple[PriceCategory, ...]
    price_types: tuple[PriceType, ...]
    prices: tuple[Price, ...]
    server_time: datetime
    orphan_rule: OrphanRule = OrphanRule.OFF
    settings_version: int = 1
    tiers: tuple[Tier, ...] = ()


@dataclass(frozen=True, slots=True)
class EventList:
    events: tuple[EventSummary, ...]
    server_time: datetime


@dataclass(frozen=True, slots=True)
class BestAvailable:
    """Wish for `count` seats beside each other, `accessible` of them accessible; no categories or sections: any."""

    count: int
    categories: tuple[int, ...] = ()
    sections: tuple[int, ...] = ()
    accessible: int = 0


@dataclass(frozen=True, slots=True)
class TierQuantity:
    """Places wanted of a general-admission tier."""

    tier_id: int
    quantity: int


@dataclass(frozen=True, slots=True)
class HeldPlaces:
    """Places of a general-admission tier that a hold has."""

    tier_id: int
    name: str
    category_no: int
    quantity: int


@dataclass(frozen=True, slots=True)
class Hold:
    """`status` is as of `server_time`: past its deadline a HELD hold reads EXPIRED, swept or not (R4, R5)."""

    hold_id: HoldId
    event_id: EventId
    status: HoldStatus
    seats: tuple[SeatRef, ...]
    expires_at: datetime
    grace_used: bool
    order_id: OrderId | None
    created_at: datetime
    server_time: datetime
    places: tuple[HeldPlaces, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessCodeTerms:
    """`max_uses` bounds the accounts that may use the code, `valid_until` the time of their first use."""

    code: str
    max_per_account: int
    max_uses: int | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AccessCode:
    """Raises the limit of each account that uses it to `max_per_account`. `uses`: the accounts that have."""

    event_id: EventId
    code: str
    max_per_account: int
    uses: int
    max_uses: int | None
    valid_until: datetime | None


@dataclass(frozen=True, slots=True)
class AccessCodeList:
    event_id: EventId
    access_codes: tuple[AccessCode, ...]
    server_time: datetime


@dataclass(frozen=True, slots=True)
class CheckoutLine:
    seat_no: int
    price_type_id: int


@dataclass(frozen=True, slots=True)
class CheckoutPlaces:
    """Places of a tier at one price type."""

    tier_id: int
    price_type_id: int
    quantity: int


@dataclass(frozen=True, slots=True)
class OrderPlaces:
    """Places of an order of one tier at one price type; `amount_minor` is that of all of them together."""

    tier_id: int
    tier_name: str
    price_type_id: int
    price_type_name: str
    quantity: int
    amount_minor: int


@dataclass(frozen=True, slots=True)
class OrderLine:
    seat: SeatRef
    price_type_id: int
    price_type_name: str
    amount_minor: int


@dataclass(frozen=True, slots=True)
class PaymentOperation:
    """One thing asked of a provider, a terminal or the drawer. `idempotency_key` is what the provider sees (R24).

    `parent_id` is the charge of a capture, void or refund; `void_requested`: a success that comes late is given back.
    """

    operation_id: OperationId
    order_id: OrderId
    part: int
    kind: OperationKind
    status: OperationStatus
    provider: str
    amount_minor: int
    currency: str
    device_id: UUID | None
    provider_ref: str
    decline_code: str
    next_action: str
    tendered_minor: int | None
    change_minor: int | None
    created_at: datetime
    updated_at: datetime
    parent_id: OperationId | None
    idempotency_key: str
    payment_method: str
    attempts: int
    card_brand: str = ""
    void_requested: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """`pay_until` is the deadline of its hold, None once the order is settled.

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


@dataclass(frozen=True, slots=True)
class PaymentIntent:
    """How an order is to be paid; `kind` is cash, sale (the caller's terminal) or authorize (a provider).

    `in_parts`: the amount is a part of what is left to pay. `instead_of`: a charge that is not decided and not wanted
    any more; a success of it can only be given back from here on (design §3).
    """

    kind: OperationKind
    provider: str
    amount_minor: int
    tendered_minor: int | None = None
    payment_method: str = ""
    in_parts: bool = False
    instead_of: UUID | None = None


@dataclass(frozen=True, slots=True)
class PaymentStep:
    operation: PaymentOperation
    order: Order


@dataclass(frozen=True, slots=True)
class Evidence:
    """One step that a device or provider saw. No card numbers, no track data (R43)."""

    at: datetime
    direction: str
    body: str


@dataclass(frozen=True, slots=True)
class OperationResult:
    """What a provider, a terminal or a supervisor says about an operation. `amount_minor` is what was booked.

    `card_fingerprint` is the provider's name for a card, the same whenever it pays; no part of its number. `expires_at`
    is when an authorization ends, where the provider says it (P26).
    """

    outcome: ResultOutcome
    amount_minor: int
    provider_ref: str = ""
    decline_code: str = ""
    card_brand: str = ""
    next_action: str = ""
    evidence: tuple[Evidence, ...] = ()
    card_fingerprint: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SettledStep:
    """An operation after a result; `advice` is what a till tells its terminal."""

    operation: PaymentOperation
    order: Order
    advice: Advice


@dataclass(frozen=True, slots=True)
class Ticket:
    ticket_id: TicketId
    order_id: OrderId
    seat: SeatRef
    price_type_name: str
    amount_minor: int
    currency: str
    code: str
    status: TicketStatus
    tier_id: int | None = None
    refund_pending: bool = False


@dataclass(frozen=True, slots=True)
class TicketList:
    """`complete` is false while the issuer is still behind the confirmation (R28)."""

    order_id: OrderId
    complete: bool
    tickets: tuple[Ticket, ...]


@dataclass(frozen=True, slots=True)
class PrintJob:
    print_job_id: PrintJobId
    order_id: OrderId
    ticket_ids: tuple[TicketId, ...]
    printer: str
    status: PrintJobStatus
    detail: str
    created_at: datetime
