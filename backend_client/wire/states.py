"""The states of everything that is sold, as they travel (design §3)."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Who calls (R35). The API enforces roles; the console mirrors them."""

    FAN = "fan"
    CLERK = "clerk"
    OPS = "ops"
    SUPERVISOR = "supervisor"
    ADMIN = "admin"


class EventStatus(StrEnum):
    ON_SALE = "ON_SALE"
    PAUSED = "PAUSED"
    CANCELLED = "CANCELLED"


class HoldStatus(StrEnum):
    HELD = "HELD"
    PAYMENT_PENDING = "PAYMENT_PENDING"
    SOLD = "SOLD"
    RELEASED = "RELEASED"
    EXPIRED = "EXPIRED"


class OrderStatus(StrEnum):
    PENDING = "PENDING"
    RECONCILING = "RECONCILING"
    CONFIRMED = "CONFIRMED"
    PARTLY_REFUNDED = "PARTLY_REFUNDED"
    REFUNDED = "REFUNDED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"


class OperationKind(StrEnum):
    """What a payment operation does. `sale` books at once (ZVT); `authorize` is followed by `capture`."""

    AUTHORIZE = "authorize"
    CAPTURE = "capture"
    SALE = "sale"
    VOID = "void"
    REFUND = "refund"
    CASH = "cash"


class OperationStatus(StrEnum):
    """CREATED → SENT → SUCCEEDED | DECLINED | UNKNOWN | ACTION_REQUIRED; nothing leaves SUCCEEDED or DECLINED."""

    CREATED = "CREATED"
    SENT = "SENT"
    ACTION_REQUIRED = "ACTION_REQUIRED"
    UNKNOWN = "UNKNOWN"
    SUCCEEDED = "SUCCEEDED"
    DECLINED = "DECLINED"


class TicketStatus(StrEnum):
    ISSUED = "ISSUED"
    PRINTED = "PRINTED"
    USED = "USED"
    VOID = "VOID"


class PrintJobStatus(StrEnum):
    QUEUED = "QUEUED"
    SENT = "SENT"
    CONFIRMED = "CONFIRMED"
    UNKNOWN = "UNKNOWN"
    FAILED = "FAILED"


class Advice(StrEnum):
    """What the till tells the terminal after it reported that it succeeded; see `ResultAnswer`."""

    GOODS_ISSUED = "goods-issued"
    REVERSE = "reverse"
