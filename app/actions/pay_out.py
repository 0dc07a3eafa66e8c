"""Cash that goes back: what the clerk has handed over is written down, then told; nobody pays it out again (R33)."""

from __future__ import annotations

import logging
from contextlib import suppress

from app.actions.decline_stray import report_key
from app.actions.desk import Desk
from app.core.errors import JournalAfterAskingError, JournalError
from app.journal.terminal_record import CashReturn
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.wire import Order, PaymentOperation, ResultOutcome, ResultReport

_log = logging.getLogger(__name__)


async def pay_out(desk: Desk, order: Order, operation: PaymentOperation) -> PaymentOperation:
    """The clerk has handed the cash over: nobody is asked to do so again, whenever the API hears of it."""
    record = CashReturn(
        operation.operation_id, order.order_id, operation.amount_minor, operation.currency, desk.now()
    )  # fmt: skip
    desk.store.put_paid_out(desk.store.paid_out | {operation.operation_id})
    unwritten: JournalError | None = None
    try:
        await desk.journal.begin_cash_return(record)
    except JournalError as error:
        unwritten = error
    try:
        told = await tell_return(desk, operation, _report_of(record))
    except BookingClientError as error:
        desk.wake.set()
        if unwritten is not None:
            raise JournalAfterAskingError(str(unwritten)) from error
        raise
    if unwritten is None:
        with suppress(JournalError):  # told again at the latest at the next start: the same word is taken once
            await desk.journal.end_cash_return(operation.operation_id, taken=True)
    return told


def _report_of(record: CashReturn) -> ResultReport:
    return ResultReport(outcome=ResultOutcome.SUCCEEDED, amount_minor=record.amount_minor)


async def read_paid_out(desk: Desk) -> None:
    """Show as back what was paid out here and the API has not taken yet; call it before anybody looks.

    Raises:
        JournalError: it cannot be read.
    """
    kept = {record.operation_id for record in await desk.journal.cash_returns()}
    desk.store.put_paid_out(desk.store.paid_out | kept)


async def tell_paid_out(desk: Desk, record: CashReturn) -> None:
    """Tell the API of cash that was paid out before; a word that it does not take is not said again.

    Raises:
        BookingClientError: it did not hear it.
    """
    report = _report_of(record)
    key = report_key(record.operation_id, report)
    taken = True
    try:
        await desk.client.report_result(record.operation_id, report, key=key)
    except BookingRefusedError as error:
        if not error.is_word:
            raise
        _log.warning("cash paid out for refund %s is not taken: %s", record.operation_id, error.code)
        taken = False
    await desk.journal.end_cash_return(record.operation_id, taken=taken)


async def tell_return(desk: Desk, operation: PaymentOperation, report: ResultReport) -> PaymentOperation:
    """Report what became of a refund, under the key that follows from what is said."""
    key = report_key(operation.operation_id, report)
    return (await desk.client.report_result(operation.operation_id, report, key=key)).operation
