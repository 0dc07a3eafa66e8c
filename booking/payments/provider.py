"""What a payment provider can be asked (R22–R25).

Every call is safe to repeat: the provider sees the operation's `idempotency_key` and does the thing once. A call never
raises for what happens on the way to the provider or back: any time-out, any 5xx, any answer that is broken or not
about this operation is UNKNOWN, never a failure (R24, P3). DECLINED is only what the provider said of this operation.

Amounts are the order's minor units; how the provider counts is `exponents`. An amount that the provider cannot count
raises `UnknownExponentError` or `InexactAmountError`, before anything is sent.
"""

from __future__ import annotations

from typing import Protocol

from booking.domain.model import OperationResult, PaymentOperation


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

    async def close(self) -> None:
        """Let connections go."""
        ...
