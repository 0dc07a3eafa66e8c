"""What every message is made of: ids, bounded values, headers, the two bases of messages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, NewType
from uuid import UUID

from msgspec import Meta, Struct

EventId = NewType("EventId", int)
HoldId = NewType("HoldId", UUID)
OrderId = NewType("OrderId", UUID)
OperationId = NewType("OperationId", UUID)
TicketId = NewType("TicketId", UUID)
PrintJobId = NewType("PrintJobId", UUID)
DeviceId = NewType("DeviceId", UUID)
AccountId = NewType("AccountId", UUID)
SeatNumber = Annotated[int, Meta(ge=0, lt=1 << 24)]
MinorAmount = Annotated[int, Meta(ge=0, le=10**12)]
Instant = Annotated[datetime, Meta(tz=True)]
"""An instant in a request: with its offset, from 2000 to 2099; others are refused (422) by the name of the field."""
ShortText = Annotated[str, Meta(min_length=1, max_length=200)]
IDEMPOTENCY_KEY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
REQUEST_ID_HEADER = "X-Request-Id"
PROBLEM_MEDIA_TYPE = "application/problem+json"
SEATS_MEDIA_TYPE = "application/vnd.taquilla.seats"
MAX_SEATS_PER_HOLD = 6


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all messages. Unknown members are ignored: old consoles meet new servers."""


class RequestMessage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of request bodies. Unknown members are refused: a misspelt member must not be dropped in silence."""
