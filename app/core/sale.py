"""A counter sale from pick to ticket: its states as one table, and the immutable `Sale` that moves through them.

PICKING → HOLDING → HELD → PAYING → PAID → PRINTING → DONE is the straight way. The rest of the theory:

- a decline keeps seats, price types and the hold: DECLINED is shown until the clerk goes on, then HELD;
- UNKNOWN means that money may have moved. Only a definite word (the API's, or the terminal's through the API) leads
  out: to PAID, HELD (nothing was charged) or EXPIRED (nothing stays charged, and the seats are gone);
- PAYING and UNKNOWN never expire by the local clock: while a payment runs, nobody takes the seats (R7, R24);
- an order may be paid in parts: after each the sale is HELD again with less left to pay. When it comes to nothing after
  that, money has to go back first: RETURNING, until each part is known to be back with its owner;
- each mutating step has an idempotency key that is made when the step is formed and kept until the step is settled, so
  that the same key is sent again after a lost answer or a crash (R6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from app.core.errors import IllegalTransitionError
from app.core.prices import change_minor, total_minor
from backend_client.wire import (
    CheckoutPlaces,
    EventId,
    Hold,
    OperationId,
    OperationKind,
    Order,
    PrintJobId,
    PrintJobStatus,
    SeatRef,
    TicketId,
    TierQuantity,
)

SaleId = NewType("SaleId", UUID)


class SaleState(StrEnum):
    PICKING = "PICKING"
    HOLDING = "HOLDING"
    HELD = "HELD"
    PAYING = "PAYING"
    DECLINED = "DECLINED"
    UNKNOWN = "UNKNOWN"
    PAID = "PAID"
    PRINTING = "PRINTING"
    RETURNING = "RETURNING"
    DONE = "DONE"
    EXPIRED = "EXPIRED"
    ABANDONED = "ABANDONED"


class SaleStep(StrEnum):
    """What happened to a sale."""

    HOLD_ASKED = "hold-asked"
    HOLD_WON = "hold-won"
    HOLD_REFUSED = "hold-refused"
    PAYMENT_BEGUN = "payment-begun"
    CASH_INSTEAD = "cash-instead"
    PAYMENT_WITHDRAWN = "payment-withdrawn"
    PAYMENT_DECLINED = "payment-declined"
    PAYMENT_UNCLEAR = "payment-unclear"
    PAYMENT_CONFIRMED = "payment-confirmed"
    PART_PAID = "part-paid"
    MONEY_TO_RETURN = "money-to-return"
    MONEY_RETURNED = "money-returned"
    DECLINE_SEEN = "decline-seen"
    PRINT_BEGUN = "print-begun"
    PRINT_CONFIRMED = "print-confirmed"
    PRINT_ENDED_OTHERWISE = "print-ended-otherwise"
    FINISHED = "finished"
    EXPIRED = "expired"
    ABANDONED = "abandoned"


_S, _T = SaleState, SaleStep
TRANSITIONS: Mapping[tuple[SaleState, SaleStep], SaleState] = {
    (_S.PICKING, _T.HOLD_ASKED): _S.HOLDING,
    (_S.PICKING, _T.ABANDONED): _S.ABANDONED,
    (_S.HOLDING, _T.HOLD_WON): _S.HELD,
    (_S.HOLDING, _T.HOLD_REFUSED): _S.PICKING,
    (_S.HOLDING, _T.EXPIRED): _S.EXPIRED,
    (_S.HOLDING, _T.ABANDONED): _S.ABANDONED,
    (_S.HELD, _T.PAYMENT_BEGUN): _S.PAYING,
    (_S.HELD, _T.PAYMENT_CONFIRMED): _S.PAID,
    (_S.HELD, _T.MONEY_TO_RETURN): _S.RETURNING,
    (_S.HELD, _T.EXPIRED): _S.EXPIRED,
    (_S.HELD, _T.ABANDONED): _S.ABANDONED,
    (_S.PAYING, _T.PAYMENT_CONFIRMED): _S.PAID,
    (_S.PAYING, _T.PAYMENT_DECLINED): _S.DECLINED,
    (_S.PAYING, _T.PAYMENT_WITHDRAWN): _S.HELD,
    (_S.PAYING, _T.PAYMENT_UNCLEAR): _S.UNKNOWN,
    (_S.PAYING, _T.PART_PAID): _S.HELD,
    (_S.PAYING, _T.MONEY_TO_RETURN): _S.RETURNING,
    (_S.PAYING, _T.EXPIRED): _S.EXPIRED,
    (_S.DECLINED, _T.DECLINE_SEEN): _S.HELD,
    (_S.DECLINED, _T.EXPIRED): _S.EXPIRED,
    (_S.DECLINED, _T.MONEY_TO_RETURN): _S.RETURNING,
    (_S.DECLINED, _T.ABANDONED): _S.ABANDONED,
    (_S.UNKNOWN, _T.PAYMENT_CONFIRMED): _S.PAID,
    (_S.UNKNOWN, _T.PAYMENT_DECLINED): _S.HELD,
    (_S.UNKNOWN, _T.PAYMENT_WITHDRAWN): _S.HELD,
    (_S.UNKNOWN, _T.PAYMENT_UNCLEAR): _S.UNKNOWN,
    (_S.UNKNOWN, _T.EXPIRED): _S.EXPIRED,
    (_S.UNKNOWN, _T.CASH_INSTEAD): _S.PAYING,
    (_S.UNKNOWN, _T.PART_PAID): _S.HELD,
    (_S.UNKNOWN, _T.MONEY_TO_RETURN): _S.RETURNING,
    (_S.RETURNING, _T.MONEY_RETURNED): _S.EXPIRED,
    (_S.PAID, _T.PRINT_BEGUN): _S.PRINTING,
    (_S.PAID, _T.FINISHED): _S.DONE,
    (_S.PRINTING, _T.PRINT_CONFIRMED): _S.DONE,
    (_S.PRINTING, _T.PRINT_ENDED_OTHERWISE): _S.PAID,
}

ENDED = frozenset({SaleState.DONE, SaleState.EXPIRED, SaleState.ABANDONED})
"""No step leads out of these."""
PAYABLE = frozenset({SaleState.HELD, SaleState.DECLINED})
EDITABLE = frozenset({SaleState.PICKING, SaleState.HELD, SaleState.DECLINED})
"""Price types may change here."""


def next_state(state: SaleState, step: SaleStep) -> SaleState:
    """The state after `step`.

    Raises:
        IllegalTransitionError: the table has no such step from there.
    """
    try:
        return TRANSITIONS[state, step]
    except KeyError:
        raise IllegalTransitionError(f"{step} cannot happen in {state}") from None


class UnknownReason(StrEnum):
    """Whose answer is missing while a sale is UNKNOWN; decides what the clerk is told to do."""

    TERMINAL_SILENT = "terminal-silent"
    """The card terminal has not said whether it charged."""
    BOOKING_SILENT = "booking-silent"
    """The terminal said what it did (or cash was taken); the booking system has not answered."""
    RECONCILING = "reconciling"
    """The booking system knows no more either; it needs evidence from outside, and is asked whether it has any."""
    NOT_WRITTEN = "not-written"
    """The payment had begun when the journal of this counter could no longer be written."""


class EndReason(StrEnum):
    """Why a sale is EXPIRED."""

    HOLD_ENDED = "hold-ended"
    CARD_REVERSED = "card-reversed"
    """The card had been charged too late; the charge was taken back."""
    MONEY_RETURNED = "money-returned"
    """Parts had been paid; all of it is back with its owner."""
    CHARGE_TO_RETURN = "charge-to-return"
    """Charged, the seats are gone, and the charge is not known to be taken back: a supervisor returns the money."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A seat of the sale at a price type. `amount_minor` is the price shown; the server computes its own (R10).

    A place of general admission has no number: its `tier_id` says of which tier it is, and `seat_no` is negative and
    tells it from the other places of the sale, so that each can have a price type of its own.
    """

    seat_no: int
    category_no: int
    price_type_id: int
    amount_minor: int
    tier_id: int | None = None


@dataclass(frozen=True, slots=True)
class PaymentAttempt:
    """One try to pay. `key` names it at the API for ever; `operation_id` is the API's name, once it has told it."""

    key: str
    kind: OperationKind
    provider: str
    amount_minor: int
    begun_at: datetime
    tendered_minor: int | None = None
    operation_id: OperationId | None = None
    in_parts: bool = False
    """It pays a part of what is left, and is not the last one."""
    instead_of: OperationId | None = None
    """A card payment whose result is not known: if it was charged, that goes back."""

    @property
    def change_minor(self) -> int | None:
        """What goes back to the buyer; None for a card."""
        return None if self.tendered_minor is None else change_minor(self.amount_minor, self.tendered_minor)


@dataclass(frozen=True, slots=True)
class PrintAttempt:
    """One print job. `status` None means that it was formed and not yet known to be opened at the API."""

    key: str
    ticket_ids: tuple[TicketId, ...]
    print_job_id: PrintJobId | None = None
    status: PrintJobStatus | None = None
    location: str = ""
    reported: bool = False
    """The API knows how it ended."""
    reason: str = ""
    """Why it FAILED (`PrintOutcome.reason`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sale:
    """One sale at this counter; every change makes a new one. Amounts are minor units of `currency`."""

    sale_id: SaleId
    event_id: EventId
    currency: str
    state: SaleState = SaleState.PICKING
    picks: tuple[Pick, ...] = ()
    hold_key: str = ""
    hold: Hold | None = None
    checkout_key: str = ""
    order: Order | None = None
    payment: PaymentAttempt | None = None
    decline_code: str = ""
    unknown_reason: UnknownReason | None = None
    unknown_since: datetime | None = None
    end_reason: EndReason | None = None
    lost_seats: tuple[SeatRef, ...] = ()
    print_job: PrintAttempt | None = None
    replaced: PaymentAttempt | None = None
    """The unclear card payment that cash is taken instead of; it is asked about until it is known."""
    leaving: bool = False
    """The buyer went while the payment was unclear: whatever it was goes back once it is known."""
    handed_over_at: datetime | None = None
    """Since when a supervisor clears it up; it is still asked about."""

    def after(self, step: SaleStep) -> Sale:
        """The sale after `step`; what belongs to the state that was left is cleared.

        Raises:
            IllegalTransitionError: the table has no such step from here.
        """
        state = next_state(self.state, step)
        moved = replace(self, state=state)
        if state is not SaleState.UNKNOWN:
            moved = replace(moved, unknown_reason=None, unknown_since=None, handed_over_at=None)
        if state in (SaleState.PAYING, SaleState.PAID):
            moved = replace(moved, decline_code="")
        return moved

    @property
    def seats(self) -> frozenset[int]:
        """The numbered seats of the sale, held or only picked."""
        return frozenset(pick.seat_no for pick in self.seat_picks)

    @property
    def seat_picks(self) -> tuple[Pick, ...]:
        """The picks of numbered seats."""
        return tuple(pick for pick in self.picks if pick.tier_id is None)

    @property
    def place_picks(self) -> tuple[Pick, ...]:
        """The picks of places without numbers."""
        return tuple(pick for pick in self.picks if pick.tier_id is not None)

    @property
    def tiers(self) -> tuple[TierQuantity, ...]:
        """How many places of each tier, by tier: what a hold asks for."""
        counts = Counter(pick.tier_id for pick in self.picks if pick.tier_id is not None)
        return tuple(TierQuantity(tier_id=tier_id, quantity=counts[tier_id]) for tier_id in sorted(counts))

    @property
    def priced_places(self) -> tuple[CheckoutPlaces, ...]:
        """How many places of each tier at each price type: what a checkout says."""
        counts = Counter((pick.tier_id, pick.price_type_id) for pick in self.picks if pick.tier_id is not None)
        return tuple(
            CheckoutPlaces(tier_id=tier_id, price_type_id=price_type_id, quantity=counts[tier_id, price_type_id])
            for tier_id, price_type_id in sorted(counts)
        )

    @property
    def total_minor(self) -> int:
        """What the buyer pays: the server's figure once there is an order, until then the sum of the lines."""
        if self.order is not None:
            return self.order.amount_minor
        return total_minor(pick.amount_minor for pick in self.picks)

    @property
    def paid_minor(self) -> int:
        """What parts have paid so far, as the server said last."""
        return 0 if self.order is None else self.order.paid_minor

    @property
    def left_minor(self) -> int:
        """What is left to pay."""
        return max(self.total_minor - self.paid_minor, 0)

    @property
    def deadline(self) -> datetime | None:
        """When the seats go back, as the server said last; None without a hold or once paid."""
        if self.hold is None or self.state in (SaleState.PAID, SaleState.PRINTING, SaleState.DONE):
            return None
        if self.order is not None and self.order.pay_until is not None:
            return self.order.pay_until
        return self.hold.expires_at

    @property
    def ended(self) -> bool:
        """True when nothing more happens to it."""
        return self.state in ENDED

    @property
    def payable(self) -> bool:
        """True when a payment may begin."""
        return self.state in PAYABLE

    @property
    def editable(self) -> bool:
        """True while price types may change: not once a part is paid."""
        return self.state in EDITABLE and not self.paid_minor

    @property
    def print_unclear(self) -> bool:
        """True when tickets may have been printed and only a person can see whether they were (K7)."""
        return (
            self.state is SaleState.PAID
            and self.print_job is not None
            and (self.print_job.status is PrintJobStatus.UNKNOWN)
        )

    def with_pick(self, pick: Pick) -> Sale:
        """The sale with one more seat, or the same seat at another price type; picks stay in their order."""
        if any(kept.seat_no == pick.seat_no for kept in self.picks):
            picks = tuple(pick if kept.seat_no == pick.seat_no else kept for kept in self.picks)
        else:
            picks = (*self.picks, pick)
        return replace(self, picks=picks)

    def with_place(self, tier_id: int, category_no: int, price_type_id: int, amount_minor: int) -> Sale:
        """The sale with one more place of a tier."""
        number = min((pick.seat_no for pick in self.place_picks), default=0) - 1
        pick = Pick(number, category_no, price_type_id, amount_minor, tier_id)
        return replace(self, picks=(*self.picks, pick))

    def without_seats(self, seats: frozenset[int]) -> Sale:
        """The sale without these seats; places go by the numbers that they have here."""
        return replace(self, picks=tuple(pick for pick in self.picks if pick.seat_no not in seats))
