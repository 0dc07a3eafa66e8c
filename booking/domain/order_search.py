"""Orders as staff look them up. Field names equal the wire's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from booking.domain.model import EventId, OrderId
from booking.domain.states import OrderStatus


@dataclass(frozen=True, slots=True)
class OrderQuestion:
    """What is asked for; None and "" leave a thing open. `after`: older than this order."""

    text: str = ""
    event_id: int | None = None
    status: OrderStatus | None = None
    after: UUID | None = None


@dataclass(frozen=True, slots=True)
class OrderSummary:
    """An order as a list shows it. `buyer`: what staff may know of who bought; `open_items` wait for a supervisor."""

    order_id: OrderId
    event_id: EventId
    event_name: str
    number: str
    status: OrderStatus
    amount_minor: int
    currency: str
    seats: tuple[str, ...]
    buyer: str
    open_items: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OrderList:
    """Newest first; `next` goes back as `after` for more, empty at the end."""

    orders: tuple[OrderSummary, ...]
    next: str
    server_time: datetime
