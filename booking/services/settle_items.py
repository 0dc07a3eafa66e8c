"""What becomes an item by time alone, and which items end by themselves: no state waits for ever, and nobody guesses.

Each function is one round, safe to run twice and by two workers at once. README.md has the table of states.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final
from uuid import UUID

from booking.domain.errors import ResultConflictError, UnavailableError
from booking.domain.model import Evidence, OperationResult, PaymentOperation, ResultOutcome
from booking.payments.provider import PaymentProvider
from booking.services import take_payment
from booking.store import reconciliation_queries, sale_calls
from booking.store.database import Database

BATCH: Final = 100
TICKETS_AFTER: Final = timedelta(minutes=5)
ORDERS_WITHIN: Final = timedelta(hours=1)
"""How far back tickets that lack are looked for; the daily comparison looks at all of a day."""

log = logging.getLogger(__name__)


async def end_settled_items(db: Database) -> int:
    """End every open item whose cause is gone. Returns how many ended."""
    ended = 0
    place: UUID | None = None
    while True:
        of_batch, place = await reconciliation_queries.end_settled_items(db, place, BATCH)
        ended += of_batch
        if place is None:
            return ended


async def note_silence(db: Database) -> int:
    """An item for whatever nobody has answered for too long: tills, captures, providers. Returns how many are new."""
    tills = await sale_calls.note_silent_devices(db, BATCH)
    captures = await sale_calls.note_overdue_captures(db, BATCH)
    return tills + captures + await reconciliation_queries.note_unknown_operations(db, BATCH)


async def note_missing_tickets(db: Database) -> int:
    """An item for each order of the last hour whose tickets are not issued (R28). Returns how many are new."""
    return await reconciliation_queries.note_missing_tickets(db, BATCH, TICKETS_AFTER, ORDERS_WITHIN)


async def end_unsent_operations(db: Database) -> int:
    """End authorizations that nobody has sent within their buyer's time, and their orders. Returns how many ended."""
    ended = 0
    for operation_id in await reconciliation_queries.list_unsent_operations(db, BATCH):
        try:
            await take_payment.mark_sent(db, operation_id)
            ended += 1
        except UnavailableError:
            raise
        except Exception:  # one bad row never stops the run (P32)
            log.exception("operation %s could not be ended", operation_id)
    return ended


async def reconfirm(db: Database, provider: PaymentProvider | None, operation: PaymentOperation) -> None:
    """Ask again about an operation that has its answer, because a person wants to know; keep what is said.

    Without the provider here nothing is asked, and it is not due any more.
    """
    heard = OperationResult(ResultOutcome.UNKNOWN, 0) if provider is None else await provider.enquire(operation)
    if heard is None:
        now = (await reconciliation_queries.count_open_items(db))[1]
        never = Evidence(now, "received", "never heard of this operation")
        heard = OperationResult(ResultOutcome.UNKNOWN, 0, evidence=(never,))
    if provider is not None:
        try:
            await take_payment.record_result(db, operation.operation_id, heard, source=f"provider:{provider.name}")
        except ResultConflictError:
            log.warning("operation %s: the provider says otherwise; an item is open", operation.operation_id)
    await reconciliation_queries.note_reconfirmed(db, operation.operation_id, heard.outcome, heard.amount_minor)
