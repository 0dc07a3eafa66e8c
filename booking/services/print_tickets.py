"""Print jobs: on record before the printer is spoken to; one whose end is not known is never sent again by itself."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from booking.domain.caller import Caller
from booking.domain.errors import FieldFault, InvalidRequestError, PrintJobNotFoundError
from booking.domain.model import PrintJob
from booking.domain.replay import Outcome
from booking.domain.states import PrintJobStatus
from booking.domain.text import storable_texts
from booking.services.refusals import key_use, raise_refusal
from booking.store import sale_calls, ticket_queries
from booking.store.database import Database

MAX_TICKETS = 100


async def open_print_job(
    db: Database, caller: Caller, order_id: UUID, ticket_ids: Sequence[UUID], printer: str, *, key: str, digest: bytes
) -> Outcome[PrintJob]:
    """Record that tickets of an order are about to be printed.

    Raises:
        InvalidRequestError: not 1–100 distinct tickets.
        OrderNotFoundError, TicketNotFoundError, KeyReusedError, BusyError, AuthorityAwayError.
    """
    use = key_use(key, digest)
    (printer,) = storable_texts({"/printer": printer})
    if not 1 <= len(ticket_ids) <= MAX_TICKETS or len(set(ticket_ids)) != len(ticket_ids):
        raise InvalidRequestError(
            "These are not tickets that can be printed together.",
            fields=(FieldFault("/ticket_ids", f"1 to {MAX_TICKETS} tickets, each once"),),
        )
    answer = await sale_calls.open_print_job(db, caller, order_id, ticket_ids, printer, use)
    await raise_refusal(db, answer, None)
    if answer.result_id is None:
        raise RuntimeError("open_print_job answered without a job")
    return Outcome(await _read(db, answer.result_id), answer.replayed)


async def report_print_job(
    db: Database, caller: Caller, print_job_id: UUID, status: PrintJobStatus, detail: str, *, key: str, digest: bytes
) -> Outcome[PrintJob]:
    """Record what became of a print job; the same again is a repeat. CONFIRMED marks tickets and seats printed.

    Raises:
        PrintJobNotFoundError: there is none that the caller may report.
        PrintJobConflictError: it has ended another way.
        KeyReusedError: the key was spent on another report.
    """
    use = key_use(key, digest)
    (detail,) = storable_texts({"/detail": detail})
    answer = await sale_calls.report_print_job(db, caller, print_job_id, status, detail, use)
    await raise_refusal(db, answer, None)
    return Outcome(await _read(db, print_job_id), answer.replayed)


async def _read(db: Database, print_job_id: UUID) -> PrintJob:
    job = await ticket_queries.read_print_job(db, print_job_id)
    if job is None:
        raise PrintJobNotFoundError("There is no such print job.")
    return job
