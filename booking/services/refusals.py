"""What the database refuses, as errors that name seats the way people do."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from booking.domain.errors import ERROR_OF_CODE, BookingError, FieldFault, InvalidRequestError
from booking.domain.model import SeatRef
from booking.domain.text import is_storable
from booking.store.database import Database
from booking.store.sale_calls import KeyUse
from booking.store.sale_lanes import SaleAnswer

MAX_KEY_LENGTH = 200

_WORDS: Mapping[str, str] = {
    "key-reused": "This idempotency key belongs to another request.",
    "event-not-found": "There is no such event.",
    "event-not-on-sale": "The event is not on sale.",
    "seat-unknown": "The plan of this event has no such seat.",
    "seats-taken": "Seats were taken by somebody else.",
    "account-limit": "This account has reached its ticket limit for the event.",
    "open-hold-exists": "Finish or release the sale that is still open first.",
    "access-code-refused": "This access code is not one of this event, is used up, or its time is over.",
    "admission-refused": "Your turn is over. Join the queue again.",
    "card-limit": "This card has reached its ticket limit for the event.",
    "seat-orphaned": "This choice would leave single seats behind.",
    "house-hold-not-found": "The house keeps none of these seats back under this id.",
    "tier-unknown": "The event has no such tier.",
    "tier-sold-out": "Too few places are left.",
    "tier-in-holds": "The last places are being bought right now. They may come back.",
    "hold-not-found": "There is no such hold.",
    "hold-expired": "The time for these seats is over.",
    "hold-not-open": "The hold is being paid or has ended.",
    "too-little-time": "Too little time is left to start a payment.",
    "paying-cap-reached": "Too many seats of this event are being paid right now. Try again in a moment.",
    "price-unknown": "There is no such price for these seats.",
    "price-changed": "The total is not the one that was shown.",
    "order-not-found": "There is no such order.",
    "order-not-payable": "The order cannot be paid in its state.",
    "order-not-cancellable": "The order cannot be cancelled in its state.",
    "payment-running": "Another payment of this order is running or not known yet.",
    "amount-mismatch": "The amount is not that of the order.",
    "tendered-too-little": "The money given does not cover the amount.",
    "operation-not-found": "There is no such payment operation.",
    "operation-not-yours": "Another device opened this payment operation.",
    "result-conflict": "Another result was recorded before. A supervisor has been told.",
    "ticket-not-found": "The order has no such ticket.",
    "ticket-not-refundable": "The money of this ticket cannot go back.",
    "refund-too-much": "That is more than can still go back.",
    "action-not-allowed": "This cannot be done in the state of the money.",
    "forbidden": "This is more than a clerk may give back. A supervisor can.",
    "unknown-exponent": "How the provider counts this currency is not known. It was not asked.",
    "inexact-amount": "The provider cannot charge exactly this amount. It was not asked.",
    "print-job-not-found": "There is no such print job.",
    "print-job-conflict": "The print job has ended in another state.",
    "alarm-not-found": "There is no such alarm.",
    "settings-changed": "The event was changed meanwhile. Read it again and decide anew.",
    "event-state-conflict": "The event is not in a state for this.",
    "plan-conflict": "The new plan does not go with what is taken.",
    "capacity-too-small": "More places are taken than the new capacity holds.",
    "event-has-no-room": "The event has no waiting room: whoever buys goes by none. Pause its sale instead.",
}


def refusal(code: str, seats: tuple[SeatRef, ...] = (), detail: str = "") -> BookingError:
    """The error for a code of the database."""
    words = _WORDS.get(code, "")
    if code == "invalid-request":
        return InvalidRequestError(
            "The lines are not those of the hold.",
            seats=seats,
            fields=(
                FieldFault("/places", "every place of the hold, tier by tier")
                if detail == "places"
                else FieldFault("/lines", "one line for each seat of the hold"),
            ),
        )
    if detail and code in ("price-changed", "amount-mismatch"):
        words = f"{words} It is {detail} in minor units."
    elif detail and code == "refund-too-much":
        words = f"{words} It is at most {detail} in minor units."
    elif detail and code in ("ticket-not-refundable", "action-not-allowed"):
        words = f"{words} ({detail})"
    return ERROR_OF_CODE[code](words, seats=seats) if seats else ERROR_OF_CODE[code](words)


async def raise_refusal(db: Database, answer: SaleAnswer, plan: tuple[UUID, int] | None) -> None:
    """Raise what an answer refuses; nothing when it does not. `plan` is where the seats' labels are."""
    if answer.code == "":
        return
    refs = tuple(SeatRef(seat) for seat in answer.seats)
    if plan is not None and answer.seats:
        refs = await db.seat_labels.refs(*plan, answer.seats)
    raise refusal(answer.code, refs, answer.detail)


def stale(expected: int) -> int:
    """A version that no row has: a replay finds its key first, everybody else is told that it was changed."""
    return -1 - expected


def key_use(key: str, digest: bytes) -> KeyUse:
    """A checked idempotency key.

    Raises:
        InvalidRequestError: it is empty, too long, or cannot be stored.
    """
    if not 1 <= len(key) <= MAX_KEY_LENGTH or not is_storable(key):
        raise InvalidRequestError(
            "The idempotency key is not usable.",
            fields=(FieldFault("header:Idempotency-Key", f"1 to {MAX_KEY_LENGTH} characters"),),
        )
    return KeyUse(key, digest)
