"""Money that goes back, as services speak of it (R25, R33). Field names equal the wire's; amounts are minor units."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from booking.domain.model import OperationId, Order, PaymentOperation, Ticket
from booking.domain.states import OperationKind

MAX_TICKETS_AT_ONCE = 100


class RefundWay(StrEnum):
    """SAME: to the card (or in the cash) that paid; CASH: out of the drawer, whatever paid."""

    SAME = "same"
    CASH = "cash"


@dataclass(frozen=True, slots=True)
class RefundWish:
    """Give the money of tickets back; `expected_minor` is the sum that the person saw."""

    ticket_ids: tuple[UUID, ...]
    way: RefundWay
    expected_minor: int
    seats_to_sale: bool
    reason: str


@dataclass(frozen=True, slots=True)
class CancelWish:
    """Make tickets void and move no money."""

    ticket_ids: tuple[UUID, ...]
    seats_to_sale: bool
    reason: str


@dataclass(frozen=True, slots=True)
class RefundableCharge:
    """A charge that took money, and what of it can go back. `pending_minor` is on its way and not decided (P18)."""

    operation_id: OperationId
    kind: OperationKind
    provider: str
    card_brand: str
    charged_minor: int
    refunded_minor: int
    pending_minor: int
    refundable_minor: int


@dataclass(frozen=True, slots=True)
class RefundableTicket:
    """`why_not`: empty, or why its money cannot go back now: refund-pending, refunded, void, used."""

    ticket: Ticket
    why_not: str


@dataclass(frozen=True, slots=True)
class RefundableOrder:
    """`approval_above_minor`: for more than this a supervisor is needed; None for who is one."""

    order: Order
    tickets: tuple[RefundableTicket, ...]
    charges: tuple[RefundableCharge, ...]
    refundable_minor: int
    approval_above_minor: int | None


@dataclass(frozen=True, slots=True)
class RefundStep:
    """An act of money back as it stands: its order, the operations that it opened, the tickets that it is about."""

    money_back_id: UUID
    order: Order
    refunds: tuple[PaymentOperation, ...]
    tickets: tuple[Ticket, ...]
