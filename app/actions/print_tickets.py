"""Printing the tickets of a paid sale: never silently twice (R28, R30, K7)."""

from __future__ import annotations

import logging
from dataclasses import replace

from app.actions.desk import Desk
from app.core.errors import SaleNotReadyError, TicketsNotReadyError
from app.core.sale import PrintAttempt, Sale, SaleState, SaleStep
from app.core.store import Notice, NoticeCode
from app.devices.ticket_printer import PrintOutcome, PrintState, TicketFace, TicketPrinter, TicketSheet
from backend_client.errors import BookingClientError
from backend_client.steady_time import steady_seconds
from backend_client.wire import EventDetail, PrintJobId, PrintJobStatus, Ticket, TicketStatus

_log = logging.getLogger(__name__)
_TROUBLES = {PrintJobStatus.FAILED: "printer-trouble", PrintJobStatus.UNKNOWN: "unclear"}
_STATUS_OF = {
    PrintState.CONFIRMED: PrintJobStatus.CONFIRMED,
    PrintState.FAILED: PrintJobStatus.FAILED,
    PrintState.UNKNOWN: PrintJobStatus.UNKNOWN,
}


async def print_tickets(desk: Desk) -> Sale:
    """Print the tickets of the sale at the counter: DONE; or PAID again, when printing failed or its end is not known.

    When all its tickets are void (their money went back meanwhile) there is nothing to print, and it is DONE.

    Raises:
        NoPrinterError, SaleNotReadyError: not now. `print_unclear`: a person must say first (`confirm_print`).
        TicketsNotReadyError: the issuer is late; try again.
        BookingClientError: the print job could not be opened; nothing was printed.
    """
    with desk.once("print") as first:
        sale = desk.sale()
        if not first:
            return sale
        desk.refuse_while_resolving(sale)
        printer = desk.need_printer()
        if sale.state is not SaleState.PAID or sale.print_unclear or sale.order is None:
            raise SaleNotReadyError("there is nothing to print now")
        if sale.print_job is not None and sale.print_job.status is PrintJobStatus.CONFIRMED:
            return await report_print(desk, sale)  # the tickets are out; only the API has not heard it
        event = await _event_of(desk, sale)
        tickets = await wait_for_tickets(desk, sale)
        if not tickets:
            return await desk.keep(replace(sale.after(SaleStep.FINISHED), print_job=None))
        sale = await _open_job(desk, sale, printer, tickets)
        return await _print(desk, sale, printer, _sheet_of(desk, sale, event, tickets))


async def wait_for_tickets(desk: Desk, sale: Sale) -> tuple[Ticket, ...]:
    """All tickets of the order that are not void, once the issuer has issued them.

    Raises:
        TicketsNotReadyError: not within the patience for it.
        BookingClientError: they cannot be read.
    """
    if sale.order is None:
        raise SaleNotReadyError("no order")
    deadline = steady_seconds() + desk.patience.tickets_s
    pause_s = 0.05
    while True:
        answer = await desk.client.tickets(sale.order.order_id)
        if answer.complete and answer.tickets:
            return tuple(ticket for ticket in answer.tickets if ticket.status is not TicketStatus.VOID)
        if steady_seconds() >= deadline:
            raise TicketsNotReadyError("the tickets are not issued yet")
        await desk.sleep(pause_s)
        pause_s = min(pause_s * 2, 1.0)


async def _event_of(desk: Desk, sale: Sale) -> EventDetail:
    shown = desk.store.event
    return shown if shown is not None and shown.event_id == sale.event_id else await desk.client.event(sale.event_id)


async def _open_job(desk: Desk, sale: Sale, printer: TicketPrinter, tickets: tuple[Ticket, ...]) -> Sale:
    """PRINTING, with a job that the API knows; a job whose opening was not answered keeps its key."""
    ticket_ids = tuple(ticket.ticket_id for ticket in tickets)
    job = sale.print_job
    if job is None or job.status is not None or job.ticket_ids != ticket_ids:
        job = PrintAttempt(desk.new_key(), ticket_ids)
    sale = await desk.keep(replace(sale.after(SaleStep.PRINT_BEGUN), print_job=job))
    try:
        opened = await desk.client.open_print_job(tickets[0].order_id, ticket_ids, printer.name, key=job.key)
        sent = replace(job, print_job_id=opened.print_job_id, status=PrintJobStatus.SENT)
        return await desk.keep(replace(sale, print_job=sent))
    except BaseException:
        # Nothing is printed, and nobody is at it any more; what the journal has of it says the same.
        desk.show(sale.after(SaleStep.PRINT_ENDED_OTHERWISE))
        raise


def _sheet_of(desk: Desk, sale: Sale, event: EventDetail, tickets: tuple[Ticket, ...]) -> TicketSheet:
    faces = tuple(
        TicketFace(
            ticket_id=str(ticket.ticket_id),
            section=ticket.seat.section,
            row=ticket.seat.row,
            number=ticket.seat.number,
            price_type=ticket.price_type_name,
            amount_minor=ticket.amount_minor,
            currency=ticket.currency,
            code=ticket.code,
            row_kind=ticket.seat.row_kind,
        )
        for ticket in tickets
    )
    return TicketSheet(
        print_job_id="" if sale.print_job is None else str(sale.print_job.print_job_id),
        order_number="" if sale.order is None else sale.order.number,
        event_name=event.name,
        venue_name=event.venue_name,
        starts_at=event.starts_at,
        zone=event.zone,
        language=desk.language,
        tickets=faces,
    )


async def _print(desk: Desk, sale: Sale, printer: TicketPrinter, sheet: TicketSheet) -> Sale:
    """From here on tickets may come out: whatever is not heard of the printer is UNKNOWN."""
    try:
        outcome = await printer.print_tickets(sheet)
    except Exception:  # noqa: BLE001  # the printer's promise is broken: paper may have moved
        _log.exception("the ticket printer's driver failed")
        outcome = PrintOutcome(PrintState.UNKNOWN)
    if outcome.state is not PrintState.CONFIRMED:
        _log.error("tickets not printed: %s %s %s", outcome.state.value, outcome.reason, outcome.detail)
    return await _end_job(desk, sale, _STATUS_OF[outcome.state], outcome.location, outcome.reason)


async def confirm_print(desk: Desk, *, printed: bool) -> Sale:
    """A person looked at the printer after an unclear print: all tickets are there (DONE), or they may be printed anew.

    Raises:
        SaleNotReadyError: no print is unclear.
    """
    with desk.once("print") as first:
        sale = desk.sale()
        if not first:
            return sale
        desk.refuse_while_resolving(sale)
        if not sale.print_unclear:
            raise SaleNotReadyError("no print is unclear")
        status = PrintJobStatus.CONFIRMED if printed else PrintJobStatus.FAILED
        return await _end_job(desk, sale.after(SaleStep.PRINT_BEGUN), status, "")


async def _end_job(desk: Desk, sale: Sale, status: PrintJobStatus, location: str, reason: str = "") -> Sale:
    """How the job ended goes into the journal, then to the API; a report that does not come through is made later."""
    if sale.print_job is None:
        raise SaleNotReadyError("no print job")
    where = location or sale.print_job.location
    job = replace(sale.print_job, status=status, location=where, reported=False, reason=reason)
    desk.printer_trouble = _TROUBLES.get(status, "") and (reason or _TROUBLES[status])
    sale = await desk.keep_fact(replace(sale.after(SaleStep.PRINT_ENDED_OTHERWISE), print_job=job))
    if status is not PrintJobStatus.CONFIRMED:
        code = NoticeCode.PRINT_UNKNOWN if status is PrintJobStatus.UNKNOWN else NoticeCode.PRINT_FAILED
        desk.store.post(Notice(code, detail=reason, sale_id=sale.sale_id))
    try:
        return await report_print(desk, sale)
    except BookingClientError as error:
        _log.warning("a print job is not reported yet: %s", error.code)
        desk.wake.set()
        return sale


def unreported_prints(desk: Desk) -> tuple[Sale, ...]:
    """Sales whose print job ended without the API knowing how."""
    shown = () if desk.store.sale is None else (desk.store.sale,)
    return tuple(sale for sale in (*desk.store.parked, *shown) if _job_to_report(sale) is not None)


def _job_to_report(sale: Sale) -> PrintJobId | None:
    job = sale.print_job
    if sale.state is not SaleState.PAID or job is None or job.reported or job.status in (None, PrintJobStatus.SENT):
        return None
    return job.print_job_id


async def report_print(desk: Desk, sale: Sale) -> Sale:
    """Tell the API how the print job of a PAID sale ended; a confirmed one makes the sale DONE.

    Raises:
        BookingClientError: it did not hear it.
    """
    job, print_job_id = sale.print_job, _job_to_report(sale)
    if job is None or print_job_id is None or job.status is None:
        return sale
    key = f"{job.key}/{job.status.value}"
    await desk.client.report_print_job(print_job_id, job.status, "", key=key)
    sale = replace(sale, print_job=replace(job, reported=True))
    if job.status is PrintJobStatus.CONFIRMED:
        sale = sale.after(SaleStep.PRINT_BEGUN).after(SaleStep.PRINT_CONFIRMED)
    return await desk.keep(sale)
