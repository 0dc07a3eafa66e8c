"""Card payment at a reader that the server drives (Stripe Terminal): the till opens it and watches its order.

The till never speaks to the reader: there is nothing to journal beyond the sale, nothing to report, and the same rules
hold as anywhere: a lost answer keeps its key, UNKNOWN is watched and never charged again, a stop is a wish.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from app.actions.desk import Desk
from app.actions.pay_sale import (
    apply_order,
    before_asking,
    begin_payment,
    check_out,
    find_order,
    leave_paying,
    look_again,
    never_stuck,
    open_operation,
    stay_unknown,
)
from app.core.errors import TerminalUnsettledError
from app.core.sale import Sale, SaleState, UnknownReason
from app.core.settlement import LIVE_STATES, operation_of
from app.devices.card_terminal import Progress
from backend_client.errors import AnswerUnknownError, BookingClientError, BookingRefusedError, NothingDoneError
from backend_client.steady_time import steady_seconds
from backend_client.wire import OperationId, OperationKind, OperationStatus, Order, PaymentOperation

_log = logging.getLogger(__name__)
STRIPE_TERMINAL = "stripe-terminal"
_PROGRESS = {
    OperationStatus.CREATED: Progress.CONNECTING,
    OperationStatus.SENT: Progress.CONNECTING,
    OperationStatus.ACTION_REQUIRED: Progress.PRESENT_CARD,
}


async def pay_reader(desk: Desk, *, part_minor: int | None = None) -> Sale:
    """Charge the sale at the counter at the till's reader. A second tap while one runs is dropped (P1).

    PAID, DECLINED, HELD after a part, or UNKNOWN, as `pay_card`.

    Raises:
        SaleNotReadyError, NotAllowedError, PartNotPayableError: not now, or not this person.
        TerminalUnsettledError: the reader works on a payment that was parked.
        BookingRefusedError: this till has no reader (`invalid-request`), or it cannot be paid now; the sale is HELD.
        ServiceUnavailableError, AnswerUnknownError, JournalBeforeAskingError: not begun; the sale is HELD.
    """
    with desk.once("pay") as first:
        sale = desk.sale()
        if not first:
            return sale
        desk.require_seller()
        if desk.charging:
            raise TerminalUnsettledError("the reader still works on a payment that was parked")
        desk.store.wish_stop(False)
        sale = await begin_payment(desk, OperationKind.AUTHORIZE, STRIPE_TERMINAL, part_minor=part_minor)
        desk.store.put_terminal_progress(Progress.CONNECTING.value, sale.sale_id)
        try:
            with never_stuck(desk, sale.sale_id):
                async with before_asking(desk, sale.sale_id):
                    sale = await check_out(desk, sale)
                return await _open_and_watch(desk, sale)
        finally:
            desk.store.put_terminal_progress("")
            desk.store.wish_stop(False)


async def _open_and_watch(desk: Desk, sale: Sale) -> Sale:
    try:
        answer = await open_operation(desk, sale)
    except AnswerUnknownError:
        return await stay_unknown(desk, sale, UnknownReason.BOOKING_SILENT)
    except (NothingDoneError, BookingRefusedError) as error:
        await leave_paying(desk, sale, error)
        raise
    sale = await desk.keep(_with_operation(sale, answer.operation))
    desk.charging.add(sale.sale_id)
    try:
        return await _watch(desk, sale, answer.order, answer.operation)
    finally:
        desk.charging.discard(sale.sale_id)


def _with_operation(sale: Sale, operation: PaymentOperation) -> Sale:
    if sale.payment is None:
        return sale
    return replace(sale, payment=replace(sale.payment, operation_id=operation.operation_id))


async def _watch(desk: Desk, sale: Sale, order: Order, operation: PaymentOperation) -> Sale:
    """Look at the order until the operation is decided, or until the patience for it is over."""
    silent_since: float | None = None
    while operation.status in _PROGRESS:
        desk.store.put_terminal_progress(_PROGRESS[operation.status].value, sale.sale_id)
        if desk.store.stop_wished:
            await _withdraw_if_heard(desk, operation.operation_id)
        await desk.sleep(desk.patience.watch_s)
        try:
            order = await desk.client.order(order.order_id)
            silent_since = None
        except BookingClientError:
            silent_since = silent_since or steady_seconds()
            if steady_seconds() - silent_since > desk.patience.reader_silent_s:
                return await stay_unknown(desk, sale, UnknownReason.BOOKING_SILENT)
            continue
        found = operation_of(sale, order)
        if found is None:
            return await stay_unknown(desk, sale, UnknownReason.RECONCILING)
        operation = found
    return await apply_order(desk, sale, order, operation)


async def stop_reader(desk: Desk) -> None:
    """Wish that the payment at the reader ends. The watch still finds the truth: a card may have been faster (T9).

    The wish is kept until the payment is decided: the watch passes it on, from the payment's opening until it is heard.
    """
    sale = desk.store.sale
    if sale is None or sale.state is not SaleState.PAYING or sale.payment is None:
        return
    desk.store.wish_stop(True)
    if sale.payment.operation_id is not None:
        await _withdraw(desk, sale.payment.operation_id)


async def _withdraw(desk: Desk, operation_id: OperationId) -> None:
    """The same call however often: it is done once."""
    await desk.client.withdraw(operation_id, key=f"withdraw-{operation_id}")


async def _withdraw_if_heard(desk: Desk, operation_id: OperationId) -> None:
    try:
        await _withdraw(desk, operation_id)
    except BookingClientError as error:
        _log.info("the wish to stop is not heard: %s", error.code)


async def settle_reader(desk: Desk, sale: Sale) -> Sale:
    """One look at an UNKNOWN or PAYING sale whose card was at a reader: the server asks the provider itself.

    A payment that was opened and whose answer was lost is found by its key: the same call is made again.

    Raises:
        BookingClientError: the API does not answer; the sale stays as it was.
    """
    if sale.order is None:
        return await look_again(desk, sale)
    if sale.payment is not None and sale.payment.operation_id is None:
        try:
            answer = await open_operation(desk, sale)
        except BookingRefusedError as error:
            if not error.is_word:
                raise
            return await look_again(desk, sale)
        sale = await desk.keep(_with_operation(sale, answer.operation))
    found = await find_order(desk, sale)
    if found.order is None:
        return await stay_unknown(desk, sale, UnknownReason.RECONCILING)
    operation = operation_of(found, found.order)
    if operation is not None and operation.status in LIVE_STATES:
        if sale.leaving:
            await _withdraw(desk, operation.operation_id)
        return await stay_unknown(desk, sale, UnknownReason.RECONCILING)
    return await apply_order(desk, found, found.order, operation)
