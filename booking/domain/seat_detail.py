"""One seat as staff see it: how it stands, what it costs, and everything that it has been through.

Field names equal the wire's. A buyer is never named: `short_id` is the same within an event and says nothing beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from booking.domain.control import HouseHoldKind
from booking.domain.model import EventId, SeatRef
from booking.domain.states import OrderStatus, TicketStatus


class SeatStatus(StrEnum):
    """How a seat stands at the time of the answer; what was held beyond its deadline is AVAILABLE (R5)."""

    AVAILABLE = "AVAILABLE"
    HELD = "HELD"
    PAYING = "PAYING"
    SOLD = "SOLD"
    BLOCKED = "BLOCKED"


class SeatActorKind(StrEnum):
    """Who has a seat, or did something to it."""

    TILL = "till"
    FAN = "fan"
    HOUSE = "house"


class SeatEventKind(StrEnum):
    """What happened to a seat."""

    HELD = "held"
    RELEASED = "released"
    EXPIRED = "expired"
    PAYING = "paying"
    PAYMENT_DECLINED = "payment-declined"
    PAYMENT_VOIDED = "payment-voided"
    ORDER_CANCELLED = "order-cancelled"
    ORDER_EXPIRED = "order-expired"
    SOLD = "sold"
    REFUNDED = "refunded"
    TICKET_CANCELLED = "ticket-cancelled"
    TICKET_ISSUED = "ticket-issued"
    PRINTED = "printed"
    PRINT_FAILED = "print-failed"
    PRINT_UNCLEAR = "print-unclear"
    USED = "used"
    KEPT_BACK = "kept-back"
    GIVEN_BACK = "given-back"
    PLAN_CHANGED = "plan-changed"


@dataclass(frozen=True, slots=True)
class SeatActor:
    """`name` is a person's, `till` the device's; a fan has a `short_id` only."""

    kind: SeatActorKind
    name: str = ""
    till: str = ""
    short_id: str = ""


@dataclass(frozen=True, slots=True)
class SeatPrice:
    price_type_id: int
    name: str
    amount_minor: int


@dataclass(frozen=True, slots=True)
class SeatHouseHold:
    """For whom the house keeps the seat back, why, and until when."""

    house_hold_id: UUID
    kind: HouseHoldKind
    reason: str
    release_at: datetime | None
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class SeatHistoryItem:
    """One thing that happened. Members are filled where the kind has use for them."""

    at: datetime
    kind: SeatEventKind
    by: SeatActor | None = None
    hold_id: UUID | None = None
    order_id: UUID | None = None
    order_number: str = ""
    amount_minor: int | None = None
    price_type_name: str = ""
    reason: str = ""
    house_kind: HouseHoldKind | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SeatDetail:
    """See the module. `since` and `until` are those of the state that the seat is in now."""

    event_id: EventId
    seat: SeatRef
    category_no: int
    category_name: str
    currency: str
    prices: tuple[SeatPrice, ...]
    flags: int
    status: SeatStatus
    printed: bool
    used: bool
    held_by: SeatActor | None
    since: datetime | None
    until: datetime | None
    hold_id: UUID | None
    order_id: UUID | None
    order_number: str
    order_status: OrderStatus | None
    amount_minor: int | None
    price_type_name: str
    ticket_status: TicketStatus | None
    house_hold: SeatHouseHold | None
    history: tuple[SeatHistoryItem, ...]
    history_complete: bool
    server_time: datetime
