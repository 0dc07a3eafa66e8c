"""What the API does with a payment once it is opened: takes it to its provider at once, and watches a card reader.

The worker does the same, later and for every process that died: nothing here is needed for a payment to end, only for
it to end soon.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from booking.domain.errors import OperationNotYoursError, UnavailableError
from booking.domain.model import PaymentOperation, SettledStep
from booking.domain.states import OperationKind, OperationStatus
from booking.payments.measured import MeasuredProvider
from booking.payments.pace import CheckoutPace
from booking.payments.provider import READER, REDIRECT, PaymentProvider, ProviderAwayError
from booking.services import drive_operation
from booking.store.database import Database

LOOK_EVERY_S = 1.0
WATCH_FOR_S = 180.0
_DEFINITE = frozenset({OperationStatus.SUCCEEDED, OperationStatus.DECLINED})

log = logging.getLogger(__name__)


class PaymentDesk:
    """See the module. `providers` by name; operations of others wait for a worker that has theirs."""

    def __init__(
        self,
        db: Database,
        providers: Mapping[str, PaymentProvider],
        pace: CheckoutPace,
        *,
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        self.pace = pace
        self._db = db
        self._providers: dict[str, PaymentProvider] = {
            name: MeasuredProvider(provider, pace) for name, provider in providers.items()
        }
        self._look_every_s = look_every_s
        self._watching: set[asyncio.Task[None]] = set()

    async def take(self, operation: PaymentOperation) -> SettledStep | None:
        """Take an operation that was just opened to its provider. The last step that followed, None when none did."""
        provider = self._providers.get(operation.provider)
        if provider is None:
            return None
        step = await drive_operation.take_at_once(self._db, provider, operation)
        if step is not None:
            self._after(provider, operation, step)
        return step

    async def withdraw(self, operation: PaymentOperation) -> SettledStep | None:
        """Close an authorization that is not granted yet. None: it had its answer before, or was never sent.

        Raises:
            OperationNotYoursError: nobody can call off an operation of another kind.
            UnavailableError: its provider is none of this process.
        """
        if operation.kind is not OperationKind.AUTHORIZE:
            raise OperationNotYoursError("Only an authorization can be called off.")
        provider = self._providers.get(operation.provider)
        if provider is None:
            raise UnavailableError("The provider cannot be asked here.")
        step = await drive_operation.withdraw(self._db, provider, operation)
        if step is None or step.operation.status in _DEFINITE:
            self.pace.ended(operation.order_id)
        if step is None:
            return None
        return await drive_operation.follow_up(self._db, provider, step)

    async def page_secret(self, operation: PaymentOperation) -> str:
        """What the provider's page code needs to ask an authorization's buyer; "" when nobody waits for that.

        An authorization whose buyer has answered is looked at then: the buyer waits, and the event of it may be late.

        Raises:
            UnavailableError: its provider is none of this process, or did not answer.
        """
        waits = operation.status is OperationStatus.ACTION_REQUIRED and operation.kind is OperationKind.AUTHORIZE
        if not waits or operation.next_action.startswith((REDIRECT, READER)):
            return ""
        provider = self._providers.get(operation.provider)
        if provider is None:
            raise UnavailableError("The provider cannot be asked here.")
        try:
            secret = await provider.page_secret(operation)
        except ProviderAwayError:
            raise UnavailableError("The provider does not answer just now.", retry_after_s=2) from None
        if not secret:
            await self._look(provider, operation)
        return secret

    async def close(self) -> None:
        """Stop watching; the worker goes on."""
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)

    def _after(self, provider: PaymentProvider, operation: PaymentOperation, step: SettledStep) -> None:
        now = next((one for one in step.order.operations if one.operation_id == operation.operation_id), step.operation)
        if now.status in _DEFINITE:
            self.pace.ended(operation.order_id)
        elif now.next_action.startswith(READER):
            task = asyncio.create_task(self._watch(provider, now), name=f"watch {operation.operation_id}")
            self._watching.add(task)
            task.add_done_callback(self._watching.discard)

    async def _watch(self, provider: PaymentProvider, operation: PaymentOperation) -> None:
        """Look at a reader until the customer is done. A look that tells nothing new is not recorded."""
        until = asyncio.get_running_loop().time() + WATCH_FOR_S
        while asyncio.get_running_loop().time() < until:
            await asyncio.sleep(self._look_every_s)
            try:
                if await self._look(provider, operation):
                    return
            except UnavailableError as error:
                log.warning("operation %s is not watched for a moment: %s", operation.operation_id, error.code)

    async def _look(self, provider: PaymentProvider, operation: PaymentOperation) -> bool:
        """Ask about an operation that waits for a person, and go on when it has ended. Whether it has."""
        step = await drive_operation.look(self._db, provider, operation)
        if step is None:
            return False
        self.pace.ended(operation.order_id)
        await drive_operation.follow_up(self._db, provider, step)
        return True
