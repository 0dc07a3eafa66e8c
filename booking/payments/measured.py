"""A provider whose answers to buyers are measured: the pace of checkouts follows from them."""

from __future__ import annotations

from datetime import datetime

from booking.domain.model import OperationResult, PaymentOperation
from booking.payments.pace import CheckoutPace
from booking.payments.provider import MovementPage, PaymentProvider


class MeasuredProvider:
    """`provider`, its authorizations and captures told to `pace`."""

    def __init__(self, provider: PaymentProvider, pace: CheckoutPace) -> None:
        self._provider, self._pace = provider, pace

    @property
    def name(self) -> str:
        return self._provider.name

    async def authorize(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.authorize`."""
        with self._pace.asking() as told:
            result = await self._provider.authorize(operation)
            told(result)
            return result

    async def capture(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.capture`."""
        with self._pace.asking() as told:
            result = await self._provider.capture(operation)
            told(result)
            return result

    async def void(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.void`."""
        return await self._provider.void(operation)

    async def refund(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.refund`."""
        return await self._provider.refund(operation)

    async def enquire(self, operation: PaymentOperation) -> OperationResult | None:
        """See `PaymentProvider.enquire`."""
        return await self._provider.enquire(operation)

    async def withdraw(self, operation: PaymentOperation) -> OperationResult:
        """See `PaymentProvider.withdraw`."""
        return await self._provider.withdraw(operation)

    async def page_secret(self, operation: PaymentOperation) -> str:
        """See `PaymentProvider.page_secret`."""
        return await self._provider.page_secret(operation)

    async def list_movements(self, since: datetime, until: datetime, cursor: str = "") -> MovementPage:
        """See `PaymentProvider.list_movements`."""
        return await self._provider.list_movements(since, until, cursor)

    async def close(self) -> None:
        """See `PaymentProvider.close`."""
        await self._provider.close()
