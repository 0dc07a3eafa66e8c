"""The payment worker: asks again until every operation has its answer (R24, R25).

It claims operations that are due (each claim is a short transaction that moves `next_attempt_at`: no other worker takes
the same, and nothing is locked while a provider is asked), drives each on its own, and waits. Captures, voids and
refunds that a sale left behind are due like the rest. Killed anywhere it loses nothing: a claim runs out by itself. One
operation that cannot be driven is logged and comes again; it never stops the others (P32).
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
from collections.abc import Callable, Mapping

from booking.domain.errors import UnavailableError
from booking.domain.model import PaymentOperation
from booking.domain.states import OperationStatus
from booking.payments.provider import PaymentProvider
from booking.services import drive_operation, settle_items, take_payment
from booking.services.providers import open_providers
from booking.store.database import Database

BATCH = 32
AT_ONCE = 8
PAUSE_S = 0.5
_ENDED = frozenset({OperationStatus.SUCCEEDED, OperationStatus.DECLINED})

log = logging.getLogger(__name__)


async def run(db: Database, chosen: argparse.Namespace, told: Callable[[bool], None] | None = None) -> None:
    """Work until cancelled, with the providers that were chosen; `told` as of `open_providers`.

    Raises:
        UnavailableError: the database is away.
    """
    async with open_providers(db, chosen, told) as providers:
        await PaymentWorker(db, providers).run()


class PaymentWorker:
    """See the module. `providers` by name; operations of others wait for a worker that has theirs."""

    def __init__(self, db: Database, providers: Mapping[str, PaymentProvider]) -> None:
        self._db = db
        self._providers = providers
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def run(self) -> None:
        """Round after round, with a pause that differs each time when nothing is due."""
        while True:
            if await self.work_once() == 0:
                await asyncio.sleep(PAUSE_S * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, not a secret

    async def work_once(self) -> int:
        """Drive what is due now; how many operations that were."""
        due = await take_payment.due_operations(self._db, BATCH)
        await asyncio.gather(*(self._drive(operation) for operation in due))
        return len(due)

    async def _drive(self, operation: PaymentOperation) -> None:
        async with self._slots:
            try:
                await self._settle(operation)
            except UnavailableError as error:
                log.warning("operation %s waits: %s", operation.operation_id, error.code)
            except Exception:  # one bad row never stops the run (P32); it is due again by itself
                log.exception("operation %s could not be driven", operation.operation_id)

    async def _settle(self, operation: PaymentOperation) -> None:
        provider = self._providers.get(operation.provider)
        if operation.status in _ENDED:
            await settle_items.reconfirm(self._db, provider, operation)  # a person has asked for it
            return
        if provider is None:
            log.warning("operation %s: no provider %r here", operation.operation_id, operation.provider)
            await drive_operation.end_unsent(self._db, operation)
            return
        step = await drive_operation.drive(self._db, provider, operation)
        if step is not None:
            await drive_operation.follow_up(self._db, provider, step)
