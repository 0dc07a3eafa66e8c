"""The states of everything that is sold, each machine as one table (design §3).

A table maps a state to the states that may follow it. The database enforces the rest by predicates; a test drives
every SQL function and checks that no transition it makes is missing here. A repeated report is no transition.

hold:       HELD → PAYMENT_PENDING → SOLD | HELD (declined or cancelled, time left) | RELEASED | EXPIRED (at the end of
            grace, nothing paid); HELD → RELEASED | EXPIRED. An expired hold never returns: the next one is new (R9).
seat:       AVAILABLE → HELD → PAYING → SOLD; HELD → HELD when a new hold takes over an expired one. PAYING is never
            taken over: a sale past its deadline with every charge negative is ended first (PAYING → AVAILABLE), by the
            hold that meets it or by the sweeper. SOLD is left only by refund, cancel or exchange.
operation:  nothing leaves SUCCEEDED or DECLINED; a void or refund is another operation. CREATED → DECLINED when it was
            never sent and the time ran out.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import TypeVar

S = TypeVar("S", bound="StrEnum | IntEnum")


class SeatStatus(IntEnum):
    """As in `seats.status` and in the low bits of a staff byte."""

    AVAILABLE = 0
    HELD = 1
    PAYING = 2
    SOLD = 3
    BLOCKED = 4


class HolderKind(IntEnum):
    """As in `seats.holder` and in bits 3–5 of a staff byte."""

    NONE = 0
    TILL = 1
    FAN = 2
    HOUSE = 3


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
    AUTHORIZE = "authorize"
    CAPTURE = "capture"
    SALE = "sale"
    VOID = "void"
    REFUND = "refund"
    CASH = "cash"


class OperationStatus(StrEnum):
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


# HELD → HELD and → BLOCKED: a hold that is over, tidied or not. BLOCKED → HELD: by a till that names its house
# hold, or by anybody once that has run out. BLOCKED without a holder: a seat that its plan has no longer.
SEAT_TRANSITIONS: Mapping[SeatStatus, frozenset[SeatStatus]] = {
    SeatStatus.AVAILABLE: frozenset({SeatStatus.HELD, SeatStatus.BLOCKED}),
    SeatStatus.HELD: frozenset({SeatStatus.HELD, SeatStatus.PAYING, SeatStatus.AVAILABLE, SeatStatus.BLOCKED}),
    SeatStatus.PAYING: frozenset({SeatStatus.SOLD, SeatStatus.HELD, SeatStatus.AVAILABLE}),
    SeatStatus.SOLD: frozenset({SeatStatus.AVAILABLE, SeatStatus.BLOCKED}),
    SeatStatus.BLOCKED: frozenset({SeatStatus.AVAILABLE, SeatStatus.HELD}),
}

HOLD_TRANSITIONS: Mapping[HoldStatus, frozenset[HoldStatus]] = {
    HoldStatus.HELD: frozenset({HoldStatus.PAYMENT_PENDING, HoldStatus.RELEASED, HoldStatus.EXPIRED}),
    HoldStatus.PAYMENT_PENDING: frozenset({HoldStatus.SOLD, HoldStatus.HELD, HoldStatus.RELEASED, HoldStatus.EXPIRED}),
    HoldStatus.SOLD: frozenset(),
    HoldStatus.RELEASED: frozenset(),
    HoldStatus.EXPIRED: frozenset(),
}

ORDER_TRANSITIONS: Mapping[OrderStatus, frozenset[OrderStatus]] = {
    OrderStatus.PENDING: frozenset(
        {OrderStatus.CONFIRMED, OrderStatus.RECONCILING, OrderStatus.EXPIRED, OrderStatus.CANCELLED}
    ),
    OrderStatus.RECONCILING: frozenset(
        {OrderStatus.PENDING, OrderStatus.CONFIRMED, OrderStatus.CANCELLED, OrderStatus.EXPIRED}
    ),
    OrderStatus.CONFIRMED: frozenset({OrderStatus.PARTLY_REFUNDED, OrderStatus.REFUNDED, OrderStatus.CANCELLED}),
    OrderStatus.PARTLY_REFUNDED: frozenset({OrderStatus.REFUNDED}),
    OrderStatus.REFUNDED: frozenset(),
    OrderStatus.CANCELLED: frozenset(),
    OrderStatus.EXPIRED: frozenset(),
}

_DEFINITE = frozenset({OperationStatus.SUCCEEDED, OperationStatus.DECLINED})
OPERATION_TRANSITIONS: Mapping[OperationStatus, frozenset[OperationStatus]] = {
    OperationStatus.CREATED: _DEFINITE
    | {OperationStatus.SENT, OperationStatus.ACTION_REQUIRED, OperationStatus.UNKNOWN},
    OperationStatus.SENT: _DEFINITE | {OperationStatus.ACTION_REQUIRED, OperationStatus.UNKNOWN},
    OperationStatus.ACTION_REQUIRED: _DEFINITE | {OperationStatus.UNKNOWN},
    OperationStatus.UNKNOWN: _DEFINITE | {OperationStatus.ACTION_REQUIRED},
    OperationStatus.SUCCEEDED: frozenset(),
    OperationStatus.DECLINED: frozenset(),
}

TICKET_TRANSITIONS: Mapping[TicketStatus, frozenset[TicketStatus]] = {
    TicketStatus.ISSUED: frozenset({TicketStatus.PRINTED, TicketStatus.USED, TicketStatus.VOID}),
    TicketStatus.PRINTED: frozenset({TicketStatus.USED, TicketStatus.VOID}),
    TicketStatus.USED: frozenset({TicketStatus.VOID}),
    TicketStatus.VOID: frozenset(),
}

PRINT_JOB_TRANSITIONS: Mapping[PrintJobStatus, frozenset[PrintJobStatus]] = {
    PrintJobStatus.QUEUED: frozenset(
        {PrintJobStatus.SENT, PrintJobStatus.CONFIRMED, PrintJobStatus.UNKNOWN, PrintJobStatus.FAILED}
    ),
    PrintJobStatus.SENT: frozenset({PrintJobStatus.CONFIRMED, PrintJobStatus.UNKNOWN, PrintJobStatus.FAILED}),
    PrintJobStatus.UNKNOWN: frozenset({PrintJobStatus.CONFIRMED, PrintJobStatus.FAILED}),
    PrintJobStatus.CONFIRMED: frozenset(),
    PrintJobStatus.FAILED: frozenset(),
}

LIVE_OPERATIONS = frozenset(
    {OperationStatus.CREATED, OperationStatus.SENT, OperationStatus.ACTION_REQUIRED, OperationStatus.UNKNOWN}
)
OPEN_HOLDS = frozenset({HoldStatus.HELD, HoldStatus.PAYMENT_PENDING})


def may_follow(table: Mapping[S, frozenset[S]], before: S, after: S) -> bool:
    """Whether `after` may follow `before` in the table."""
    return after in table[before]
