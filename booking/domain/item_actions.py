"""What may be done with an item, by the situation that it is in: one table (R33).

The database puts each item into one situation (`situation_of_item`), allows what the table says, and refuses the rest
under its locks; a test asks it for every situation, so that this table and the database's cannot differ. There is no
"force done": an act opens an operation, or records who says that it was settled elsewhere, and where.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class ItemAction(StrEnum):
    ASK_AGAIN = "ask-again"
    CAPTURE = "capture"
    TAKE_BACK = "take-back"
    VOID = "void"
    REFUND = "refund"
    HAND_TO_TILL = "hand-to-till"
    ATTACH = "attach"
    SETTLED_OUTSIDE = "settled-outside"
    NOTE = "note"


class Situation(StrEnum):
    """How things stand with what an item is about."""

    RESOLVED = "resolved"
    """It has ended: nothing is done with it any more."""
    ASKED_OF_PROVIDER = "asked-of-provider"
    """An operation has no answer yet, and the worker asks its provider."""
    AT_A_TILL = "at-a-till"
    """An operation has no answer yet, and only its till can ask for it."""
    AMOUNT_UNCLEAR = "amount-unclear"
    """A provider granted another amount than was asked for."""
    UNDER_WAY = "under-way"
    """A capture, void or refund of the charge has no answer yet."""
    CAPTURE_MISSING = "capture-missing"
    """The order is confirmed, its money was authorized, and the capture was refused."""
    LATE_CAPTURE = "late-capture"
    """A provider says that it captured after all what it had refused, and the order was taken back meanwhile."""
    TO_BE_LET_GO = "to-be-let-go"
    """An authorization that pays no order stands at the provider."""
    TO_BE_PAID_BACK = "to-be-paid-back"
    """Money was taken that pays no order."""
    OWED_AT_A_TILL = "owed-at-a-till"
    """A terminal or a drawer took money that goes back, and its till could not give it."""
    STRAY_CHARGE = "stray-charge"
    """The provider has a charge that is no operation of ours."""
    STRAY_REFUND = "stray-refund"
    """The provider has a refund of a charge of ours that is no operation of ours."""
    TICKETS_WAITING = "tickets-waiting"
    """An order is confirmed and its tickets are not issued."""
    COMPARED = "compared"
    """The provider tells of an operation of ours otherwise than we do."""
    TO_BE_TOLD = "to-be-told"
    """Only people can do something, and say here what they did."""


_A = ItemAction
_OUTSIDE: Final = (_A.SETTLED_OUTSIDE, _A.NOTE)

ALLOWED: Final[Mapping[Situation, tuple[ItemAction, ...]]] = {
    Situation.RESOLVED: (),
    Situation.ASKED_OF_PROVIDER: (_A.ASK_AGAIN, *_OUTSIDE),
    Situation.AT_A_TILL: _OUTSIDE,
    Situation.AMOUNT_UNCLEAR: (_A.ASK_AGAIN, _A.VOID, *_OUTSIDE),
    Situation.UNDER_WAY: (_A.ASK_AGAIN, _A.NOTE),
    Situation.CAPTURE_MISSING: (_A.CAPTURE, _A.TAKE_BACK, *_OUTSIDE),
    Situation.LATE_CAPTURE: (_A.REFUND, *_OUTSIDE),
    Situation.TO_BE_LET_GO: (_A.VOID, *_OUTSIDE),
    Situation.TO_BE_PAID_BACK: (_A.REFUND, _A.HAND_TO_TILL, *_OUTSIDE),
    Situation.OWED_AT_A_TILL: (_A.HAND_TO_TILL, *_OUTSIDE),
    Situation.STRAY_CHARGE: (_A.ATTACH, *_OUTSIDE),
    Situation.STRAY_REFUND: (_A.ATTACH, *_OUTSIDE),
    Situation.TICKETS_WAITING: (_A.ASK_AGAIN, *_OUTSIDE),
    Situation.COMPARED: (_A.ASK_AGAIN, *_OUTSIDE),
    Situation.TO_BE_TOLD: _OUTSIDE,
}
"""In the order in which people are shown them."""

NEEDS_OUTCOME: Final = frozenset({Situation.ASKED_OF_PROVIDER, Situation.AT_A_TILL, Situation.AMOUNT_UNCLEAR})
"""Where nobody knows what became of the operation: who settles it outside has to say."""

MOVES_MONEY: Final = frozenset(
    {_A.CAPTURE, _A.TAKE_BACK, _A.VOID, _A.REFUND, _A.HAND_TO_TILL, _A.ATTACH, _A.SETTLED_OUTSIDE}
)
"""Acts that need a second person above the limit."""
