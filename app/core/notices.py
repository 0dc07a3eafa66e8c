"""What the person at the counter should hear, as codes; the shell has the words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.core.sale import SaleId
from backend_client.wire import SeatRef

NOTICES_KEPT = 20


class NoticeCode(StrEnum):
    """Something to hear."""

    SEATS_LOST = "seats-lost"
    HOLD_EXPIRED = "hold-expired"
    PRICES_CHANGED = "prices-changed"
    PAYMENT_DECLINED = "payment-declined"
    PAYMENT_UNKNOWN = "payment-unknown"
    CARD_REVERSED = "card-reversed"
    CHARGE_TO_RETURN = "charge-to-return"
    CASH_NOT_NEEDED = "cash-not-needed"
    CARD_GIVEN_BACK = "card-given-back"
    LEFT_UNCHARGED = "left-uncharged"
    LEFT_CHARGED = "left-charged"
    HANDED_OVER = "handed-over"
    MONEY_TO_RETURN = "money-to-return"
    CASH_NOT_TAKEN = "cash-not-taken"
    DAY_NOT_TOLD = "day-not-told"
    TERMINAL_DIFFERS = "terminal-differs"
    PRINT_UNKNOWN = "print-unknown"
    PRINT_FAILED = "print-failed"
    SALE_RESUMED = "sale-resumed"
    PARKED_SALE_PAID = "parked-sale-paid"
    PARKED_SALE_FREE = "parked-sale-free"
    SIGNED_OUT = "signed-out"
    SESSION_ONLY = "session-only"
    SETTINGS_NOT_KEPT = "settings-not-kept"


@dataclass(frozen=True, slots=True)
class Notice:
    """`seats`, `amount_minor`, `currency` and `detail` are filled where the code has use for them.

    `detail` is a code (a decline code, a storage state), never prose.
    """

    code: NoticeCode
    seats: tuple[SeatRef, ...] = ()
    amount_minor: int | None = None
    currency: str = ""
    detail: str = ""
    sale_id: SaleId | None = None


TO_BE_ANSWERED = frozenset({NoticeCode.CASH_NOT_NEEDED})
"""These stand until the clerk says that it is done: money of a buyer is in the clerk's hand."""


def with_notice(notices: tuple[Notice, ...], notice: Notice) -> tuple[Notice, ...]:
    """One more; the oldest goes when there are too many, but none that waits for an answer."""
    kept = [*notices, notice]
    passing = (one for one in tuple(kept) if one.code not in TO_BE_ANSWERED)
    while len(kept) > NOTICES_KEPT and (oldest := next(passing, None)) is not None:
        kept = [one for one in kept if one is not oldest]
    return tuple(kept)


def oldest_to_answer(notices: tuple[Notice, ...]) -> Notice | None:
    """What waits longest for an answer: it stands beside whatever else is said."""
    return next((notice for notice in notices if notice.code in TO_BE_ANSWERED), None)


def newest_to_hear(notices: tuple[Notice, ...]) -> Notice | None:
    """The newest of those that are read and gone."""
    return next((notice for notice in reversed(notices) if notice.code not in TO_BE_ANSWERED), None)
