"""A provider whose answers are counted: how many, and how many of them were none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from booking.domain.model import OperationResult, PaymentOperation, ResultOutcome
from booking.payments.exponents import InexactAmountError, UnknownExponentError
from booking.payments.provider import MovementPage, PaymentProvider

R = TypeVar("R", bound=OperationResult | None)


class CountedProvider:
    """`provider`; `told` hears of each answer whether it was an error: UNKNOWN, or none at all. A decline is none."""

    def __init__(self, provider: PaymentProvider, told: Callable[[bool], None]) -> None:
        self._provider, self._told = provider, told

    @property
    def name(self) -> str:
        return self._provider.name

    async def authorize(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.authorize`."""
        return await self._counted(self._provider.authorize(operation))

    async def capture(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.capture`."""
        return await self._counted(self._provider.capture(operation))

    async def void(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.void`."""
        return await self._counted(self._provider.void(operation))

    async def refund(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.refund`."""
        return await self._counted(self._provider.refund(operation))

    async def enquire(self, operation: PaymentOperation) -> OperationResult | None:
        """See `PaymentProvider.enquire`. "Never heard of it" is an answer."""
        return await self._counted(self._provider.enquire(operation))

    async def withdraw(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.withdraw`."""
        return await self._counted(self._provider.withdraw(operation))

    async def page_secret(self, operation: PaymentOperation) -> str:
        """See `PaymentProvider.page_secret`: it decides nothing of a payment, it is not counted."""
        return await self._provider.page_secret(operation)

    async def list_movements(self, since: datetime, until: datetime, cursor: str = "") -> MovementPage:
        """See `PaymentProvider.list_movements`: no buyer waits for it, it is not counted."""
        return await self._provider.list_movements(since, until, cursor)

    async def close(self) -> None:
        """See `PaymentProvider.close`."""
        await self._provider.close()

    async def _counted(self, asked: Awaitable[R]) -> R:
        try:
            result = await asked
        except (UnknownExponentError, InexactAmountError):  # refused by our own table: nobody was asked
            raise
        except Exception:
            self._told(True)
            raise
        self._told(result is not None and result.outcome is ResultOutcome.UNKNOWN)
        return result
