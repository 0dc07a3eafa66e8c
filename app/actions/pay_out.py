"""Cash that goes back: what the clerk has handed over is written down, then told; nobody pays it out again (R33).

What the API does not take stays in sight at this till until it does, or until somebody has compared it.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from app.actions.decline_stray import report_key
from app.actions.desk import Desk
from app.core.errors import JournalAfterAskingError, JournalError
from app.core.order_search import UntakenCash
from app.core.session import Permission, require
from app.core.store import Notice, NoticeCode
from app.journal.terminal_record import CashReturn
from backend_client.errors import BookingClientError, BookingRefusedError
from backend_client.wire import (
    OperationId,
    OperationStatus,
    Order,
    PaymentOperation,
    ResultOutcome,
    ResultReport,
)

_log = logging.getLogger(__name__)


async def pay_out(desk: Desk, order: Order, operation: PaymentOperation) -> PaymentOperation:
    """The clerk has handed the cash over: nobody is asked to do so again, whenever the API hears of it."""
    record = CashReturn(
        operation.operation_id, order.order_id, operation.amount_minor, operation.currency, desk.now(),
        order_number=order.number,
    )  # fmt: skip
    desk.store.put_paid_out(desk.store.paid_out | {operation.operation_id})
    unwritten: JournalError | None = None
    try:
        # Also when the console is closed meanwhile: nothing but this knows that the money has left the drawer.
        await asyncio.shield(asyncio.ensure_future(desk.journal.begin_cash_return(record)))
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
    kept = await desk.journal.cash_returns()
    desk.store.put_paid_out(desk.store.paid_out | {record.operation_id for record in kept})
    waiting = (record for record in kept if record.refused and not record.compared_by)
    untaken = tuple(_untaken(record) for record in waiting)
    desk.store.orders.put_untaken(untaken)
    still = {str(one.operation_id) for one in untaken}
    for notice in desk.store.notices:
        if notice.code is NoticeCode.CASH_NOT_TAKEN and notice.detail not in still:
            desk.store.dismiss(notice)


def _untaken(record: CashReturn) -> UntakenCash:
    return UntakenCash(
        record.operation_id, record.order_id, record.order_number, record.amount_minor, record.currency, record.paid_at
    )


def post_untaken(desk: Desk) -> None:
    """Whoever begins to work here hears of what waits to be compared."""
    told = {notice.detail for notice in desk.store.notices if notice.code is NoticeCode.CASH_NOT_TAKEN}
    for one in desk.store.orders.untaken:
        if str(one.operation_id) not in told:
            desk.store.post(_not_taken(one.operation_id, one.amount_minor, one.currency))


def _not_taken(operation_id: OperationId, amount_minor: int, currency: str) -> Notice:
    return Notice(NoticeCode.CASH_NOT_TAKEN, (), amount_minor, currency, detail=str(operation_id))


async def look_at_untaken(desk: Desk) -> None:
    """What the API shows as given back by now, because somebody has settled it there, waits no longer.

    Raises:
        BookingClientError, JournalError: it cannot be read; nothing changes.
    """
    for one in desk.store.orders.untaken:
        try:
            order = await desk.client.order(one.order_id)
        except BookingRefusedError as error:
            if not error.is_word:
                raise
            continue  # it does not know the order
        found = (operation for operation in order.operations if operation.operation_id == one.operation_id)
        if any(operation.status is OperationStatus.SUCCEEDED for operation in found):
            await desk.journal.end_cash_return(one.operation_id, taken=True)
    await read_paid_out(desk)


async def note_compared(desk: Desk, operation_id: OperationId) -> None:
    """The person signed in has compared what the API does not take with the drawer.

    Raises:
        NotAllowedError: the role may not.
        JournalError: it cannot be written down.
    """
    session = require(desk.store.session, Permission.RECONCILE)
    await desk.journal.compare_cash_return(operation_id, session.name)
    _log.warning("cash paid out for refund %s was compared by %s", operation_id, session.name)
    await read_paid_out(desk)


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
    if not taken:
        desk.store.post(_not_taken(record.operation_id, record.amount_minor, record.currency))
        await read_paid_out(desk)


async def tell_return(desk: Desk, operation: PaymentOperation, report: ResultReport) -> PaymentOperation:
    """Report what became of a refund, under the key that follows from what is said."""
    key = report_key(operation.operation_id, report)
    return (await desk.client.report_result(operation.operation_id, report, key=key)).operation
