"""After the sale: tickets and their printing."""

from __future__ import annotations

from starlette.responses import Response

from backend_client import wire
from booking.domain.states import PrintJobStatus
from booking.services import print_tickets
from booking.services import tickets as ticket_service
from booking.web.calls import Call, TypedBody, answer, answer_outcome, to_wire

_print_job = TypedBody(wire.PrintJobRequest)
_print_report = TypedBody(wire.PrintJobReport)


async def tickets(call: Call) -> Response:
    """The tickets of an order; not complete while the issuer is behind."""
    found = await ticket_service.tickets_of_order(call.db, call.signed_in, call.id("order_id"))
    return answer(to_wire(found, wire.TicketList))


async def open_print_job(call: Call) -> Response:
    """Announce a print before the printer is spoken to."""
    body = _print_job(call)
    outcome = await print_tickets.open_print_job(
        call.db, call.signed_in, call.id("order_id"), body.ticket_ids, body.printer, key=call.key, digest=call.digest
    )
    return answer_outcome(outcome, wire.PrintJob)


async def report_print_job(call: Call) -> Response:
    """How the print went."""
    body = _print_report(call)
    outcome = await print_tickets.report_print_job(
        call.db, call.signed_in, call.id("print_job_id"), PrintJobStatus(body.status), body.detail,
        key=call.key, digest=call.digest,
    )  # fmt: skip
    return answer_outcome(outcome, wire.PrintJob, 200)
