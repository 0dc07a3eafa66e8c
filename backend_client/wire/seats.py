"""One seat: how it stands and all that happened to it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from backend_client.wire.base import EventId, HoldId, Message, OrderId
from backend_client.wire.control import HouseHoldKind
from backend_client.wire.problems import SeatRef
from backend_client.wire.states import OrderStatus, TicketStatus


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


class SeatActor(Message, frozen=True, kw_only=True):
    """`name` is a person's, `till` the device's. A fan has a `short_id` only, the same within an event."""

    kind: SeatActorKind
    name: str = ""
    till: str = ""
    short_id: str = ""


class SeatPrice(Message, frozen=True, kw_only=True):
    price_type_id: int
    name: str
    amount_minor: int


class SeatHouseHold(Message, frozen=True, kw_only=True):
    """For whom the house keeps a seat back, why, and until when (None: until it is released)."""

    house_hold_id: UUID
    kind: HouseHoldKind
    reason: str
    release_at: datetime | None = None
    created_at: datetime
    created_by: str


class SeatHistoryItem(Message, frozen=True, kw_only=True):
    """One thing that happened to a seat; members are filled where the kind has use for them.

    `kind` is an open set (held, released, expired, paying, payment-declined, payment-voided, order-cancelled,
    order-expired, sold, refunded, ticket-cancelled, ticket-issued, printed, print-failed, print-unclear, used,
    kept-back, given-back, plan-changed): show one that you do not know by its `reason`, or leave it out. `by` is None
    where it was the booking system itself, or where nobody wrote down who it was.
    """

    at: datetime
    kind: str
    by: SeatActor | None = None
    hold_id: HoldId | None = None
    order_id: OrderId | None = None
    order_number: str = ""
    amount_minor: int | None = None
    price_type_name: str = ""
    reason: str = ""
    house_kind: HouseHoldKind | None = None
    until: datetime | None = None


class SeatDetail(Message, frozen=True, kw_only=True):
    """One seat, for staff: how it stands, what it costs, and everything that it has been through, oldest first.

    `held_by`, `since`, `until`, the hold and the order are those of `status`; `until` is the deadline of a hold, or
    when the house gives the seat back. `amount_minor` and `price_type_name` are those of the order's line. `prices` are
    those that a buyer pays now, or that its hold has locked. `history_complete` is false when its oldest items are left
    out.
    """

    event_id: EventId
    seat: SeatRef
    category_no: int
    category_name: str
    currency: str
    prices: tuple[SeatPrice, ...]
    flags: int
    status: SeatStatus
    printed: bool = False
    used: bool = False
    held_by: SeatActor | None = None
    since: datetime | None = None
    until: datetime | None = None
    hold_id: HoldId | None = None
    order_id: OrderId | None = None
    order_number: str = ""
    order_status: OrderStatus | None = None
    amount_minor: int | None = None
    price_type_name: str = ""
    ticket_status: TicketStatus | None = None
    house_hold: SeatHouseHold | None = None
    history: tuple[SeatHistoryItem, ...]
    history_complete: bool = True
    server_time: datetime
