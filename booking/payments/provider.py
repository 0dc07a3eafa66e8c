"""What a payment provider can be asked (R22–R25).

Every call about an operation is safe to repeat: the provider sees the operation's `idempotency_key` and does the thing
once. Such a call never raises for what happens on the way to the provider or back: any time-out, any 5xx, any answer
that is broken or not about this operation is UNKNOWN, never a failure (R24, P3). DECLINED is only what the provider
said of this operation.

Amounts are the order's minor units; how the provider counts is `exponents`. An amount that the provider cannot count
raises `UnknownExponentError` or `InexactAmountError`, before anything is sent.

`provider_ref` names the charge, whatever the kind: a capture, a void and a refund carry the reference of the charge
that they are about, in our records and in `list_movements` alike.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from booking.domain.model import OperationResult, PaymentOperation
from booking.domain.states import OperationKind

REDIRECT = "redirect:"
"""Before the address of a page on which the buyer does what an ACTION_REQUIRED authorization asks for."""
READER = "reader:"
"""Before the name of the card reader at which the customer is asked for a card."""

Remember = Callable[[PaymentOperation, str], Awaitable[None]]
"""Keeps the provider's reference of an operation, durably, before anything is done under it."""


class ProviderAwayError(Exception):
    """The provider did not answer a listing: no list is not an empty list."""

    code = "provider-away"


class MovementStatus(StrEnum):
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class ProviderMovement:
    """One movement in the provider's own books.

    `idempotency_key` is our operation's, "" when the provider knows none (made by hand there, or it keeps none of that
    kind): then (kind, provider_ref) tells. `amount_minor` is in ISO minor units; `at` aware UTC by the provider's
    clock; `movement_ref` the provider's own name of this very movement, for people.
    """

    provider_ref: str
    idempotency_key: str
    kind: OperationKind
    amount_minor: int
    currency: str
    at: datetime
    status: MovementStatus
    movement_ref: str = ""


@dataclass(frozen=True, slots=True)
class MovementPage:
    """A part of the list; `cursor` goes back for the next one, "" at the end."""

    movements: tuple[ProviderMovement, ...]
    cursor: str = ""


class PaymentProvider(Protocol):
    """One provider, chosen by `PaymentOperation.provider`."""

    @property
    def name(self) -> str:
        """As in `payment_operations.provider`."""
        ...

    async def authorize(self, operation: PaymentOperation) -> OperationResult:
        """Reserve `amount_minor` on `payment_method`. May come back ACTION_REQUIRED (3-D Secure and the like)."""
        ...

    async def capture(self, operation: PaymentOperation) -> OperationResult:
        """Take the money of the authorization that `provider_ref` names."""
        ...

    async def void(self, operation: PaymentOperation) -> OperationResult:
        """Let the authorization that `provider_ref` names go."""
        ...

    async def refund(self, operation: PaymentOperation) -> OperationResult:
        """Give back `amount_minor` of the captured charge that `provider_ref` names."""
        ...

    async def enquire(self, operation: PaymentOperation) -> OperationResult | None:
        """What became of an operation. None: the provider answers that it never heard of it, which is not a failure:
        the request may still be on its way, so the caller sends the same operation again (P3, P30).
        """
        ...

    async def withdraw(self, operation: PaymentOperation) -> OperationResult:
        """Make sure that an authorization that is not granted yet never will be, even when its request arrives later.

        SUCCEEDED: it was granted before, and stands. DECLINED: it is closed for good (`withdrawn`, or what it was).
        """
        ...

    async def page_secret(self, operation: PaymentOperation) -> str:
        """With what the provider's own page code asks the buyer of an authorization that waits for one.

        "" when it does not wait, or needs no such code. For the buyer's browser alone: never kept, never logged.

        Raises `ProviderAwayError` without an answer.
        """
        ...

    async def list_movements(self, since: datetime, until: datetime, cursor: str = "") -> MovementPage:
        """What moved at the provider in [since, until), in no order that is promised, each movement once.

        Raises `ProviderAwayError` without a whole answer, and ValueError for a cursor that is not one of its own.
        """
        ...

    async def close(self) -> None:
        """Let connections go."""
        ...
