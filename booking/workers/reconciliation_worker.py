"""The reconciliation worker: silence becomes an item, items end by themselves, days are compared (R25, R27).

It needs no provider for the first two; with providers it drives the daily comparisons as well, and those that people
have asked for. Each part is tried on its own: one that fails is logged and comes again, and never stops the others.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from booking.domain.errors import UnavailableError
from booking.payments.provider import PaymentProvider
from booking.services import daily_reconciliation, settle_items
from booking.services.providers import open_providers
from booking.store.database import Database

log = logging.getLogger(__name__)


async def run(db: Database, chosen: argparse.Namespace | None) -> None:
    """Work until cancelled, with the providers that were chosen, if any."""
    if chosen is None:
        await ReconciliationWorker(db, {}).run()
        return
    async with open_providers(db, chosen) as providers:
        await ReconciliationWorker(db, providers).run()


@dataclass(frozen=True, slots=True)
class Part:
    """Something that is done every `every_s` seconds, spread out so that two workers do not meet each time."""

    name: str
    every_s: float
    once: Callable[[], Awaitable[Any]]


class ReconciliationWorker:
    """See the module. `providers` by name; comparisons with others wait for a worker that has theirs."""

    def __init__(self, db: Database, providers: Mapping[str, PaymentProvider]) -> None:
        self._db, self._providers = db, providers
        self._begun: date | None = None
        self._parts = (
            Part("items that end by themselves", 2, lambda: settle_items.end_settled_items(db)),
            Part("payments that nobody sent", 5, lambda: settle_items.end_unsent_operations(db)),
            Part("silence", 10, lambda: settle_items.note_silence(db)),
            Part("comparisons", 2, lambda: _drive_runs(db, providers)),
            Part("comparisons of yesterday", 60, self._start_due_runs),
            Part("tickets that lack", 300, lambda: settle_items.note_missing_tickets(db)),
        )

    async def run(self) -> None:
        """Each part at its own pace, until cancelled."""
        async with asyncio.TaskGroup() as parts:
            for part in self._parts:
                parts.create_task(_keep_doing(part), name=part.name)

    async def _start_due_runs(self) -> None:
        self._begun = await daily_reconciliation.start_due_runs(self._db, self._providers, self._begun)

    async def work_once(self) -> None:
        """Every part once, in turn."""
        for part in self._parts:
            await _do(part)


async def _keep_doing(part: Part) -> None:
    while True:
        await _do(part)
        await asyncio.sleep(part.every_s * random.uniform(0.7, 1.3))  # noqa: S311 - jitter, not a secret


async def _do(part: Part) -> None:
    try:
        await part.once()
    except UnavailableError as error:
        log.warning("%s wait: %s", part.name, error.code)
    except Exception:  # a fault of ours in one part must not stop the others (P32)
        log.exception("%s failed", part.name)


async def _drive_runs(db: Database, providers: Mapping[str, PaymentProvider]) -> None:
    while await daily_reconciliation.drive_due_run(db, providers):
        pass
