"""What paying by card and by cash have in common: checkout, opening the operation, and reading refusals (R22–R25)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace

from app.actions.decline_stray import decline_strays_of
from app.actions.desk import Desk
from app.actions.show_event import reprice
from app.core.errors import (
    JournalAfterAskingError,
    JournalBeforeAskingError,
    JournalError,
    PartNotPayableError,
    SaleNotReadyError,
)
from app.core.sale import EndReason, PaymentAttempt, Sale, SaleId, SaleState, SaleStep, UnknownReason
from app.core.settlement import (
    expired,
    operation_of,
    settled,
    stepped_back,
    unclear,
    withdrawn,
)
from app.core.store import Notice, NoticeCode
from backend_client.errors import (
    AnswerUnknownError,
    BookingClientError,
    BookingRefusedError,
    HoldGoneError,
    NothingDoneError,
)
from backend_client.wire import (
    CheckoutLine,
    ErrorCode,
    HoldStatus,
    OperationKind,
    Order,
    PaymentAnswer,
    PaymentOperation,
    PaymentRequest,
)

CASH = "cash"


async def begin_payment(
    desk: Desk,
    kind: OperationKind,
    provider: str,
    tendered_minor: int | None = None,
    *,
    part_minor: int | None = None,
) -> Sale:
    """Form the payment of the sale at the counter and write it down: PAYING.

    `part_minor` pays so much of what is left, None all of it. A try of the same kind whose opening was not answered
    keeps its key.

    Raises:
        SaleNotReadyError: the sale is not held, or its time is over.
        PartNotPayableError: the part is nothing, or more than what is left.
    """
    sale = await desk.until_asked(desk.sale())
    if sale.state is SaleState.DECLINED:
        sale = sale.after(SaleStep.DECLINE_SEEN)
    if sale.state is not SaleState.HELD or sale.hold is None:
        raise SaleNotReadyError("nothing is held")
    amount_minor = part_of(sale, part_minor)
    tried = sale.payment
    same = tried is not None and (tried.kind, tried.provider, tried.amount_minor, tried.tendered_minor) == (
        kind, provider, amount_minor, tendered_minor,
    )  # fmt: skip
    if same and tried is not None:
        sale = replace(sale, payment=replace(tried, begun_at=desk.now()))
    else:
        attempt = PaymentAttempt(
            desk.new_key(), kind, provider, amount_minor, desk.now(), tendered_minor,
            in_parts=amount_minor < sale.left_minor,
        )  # fmt: skip
        sale = replace(sale, payment=attempt)
    if not sale.checkout_key:
        sale = replace(sale, checkout_key=desk.new_key())
    async with before_asking(desk, sale.sale_id):
        return await desk.keep(sale.after(SaleStep.PAYMENT_BEGUN))


def part_of(sale: Sale, part_minor: int | None) -> int:
    """What a payment pays: a part of what is left, or all of it.

    Raises:
        PartNotPayableError: the part is nothing, or more than what is left.
    """
    if part_minor is None:
        return sale.left_minor
    if not 0 < part_minor <= sale.left_minor:
        raise PartNotPayableError(sale.left_minor)
    return part_minor


async def begin_instead(desk: Desk, sale: Sale, tendered_minor: int) -> Sale:
    """Form a cash payment in place of the unclear card payment of an UNKNOWN sale, and write it down: PAYING.

    A try whose answer was lost keeps its key.
    """
    if sale.payment is None or sale.payment.operation_id is None:
        raise SaleNotReadyError("there is no card payment to take the place of")
    attempt = PaymentAttempt(
        desk.new_key(), OperationKind.CASH, CASH, sale.payment.amount_minor, desk.now(), tendered_minor,
        in_parts=sale.payment.in_parts, instead_of=sale.payment.operation_id,
    )  # fmt: skip
    begun = replace(sale.after(SaleStep.CASH_INSTEAD), payment=attempt, replaced=sale.payment)
    async with before_asking(desk, sale.sale_id):
        return await desk.keep(begun)


@contextmanager
def never_stuck(desk: Desk, sale_id: SaleId) -> Iterator[None]:
    """Whatever goes wrong inside, no sale stays PAYING with nobody at work on it: it is UNKNOWN and asked about.

    Raises:
        JournalAfterAskingError: in place of any JournalError that is not known to have come before asking.
    """
    reason = UnknownReason.BOOKING_SILENT
    try:
        yield
    except JournalBeforeAskingError:
        reason = UnknownReason.NOT_WRITTEN
        raise
    except JournalError as error:
        reason = UnknownReason.NOT_WRITTEN
        raise JournalAfterAskingError(str(error)) from error
    finally:
        sale = desk.find(sale_id)
        if sale is not None and sale.state is SaleState.PAYING:
            desk.show(unclear(sale, reason, desk.now()))
            desk.wake.set()


@asynccontextmanager
async def before_asking(desk: Desk, sale_id: SaleId) -> AsyncIterator[None]:
    """Nobody is asked for money inside; what cannot be written down there is taken back, and the sale is HELD again.

    While the API cannot be told of that, the sale stays as it is.

    Raises:
        JournalBeforeAskingError: in place of JournalError.
    """
    try:
        yield
    except JournalError as error:
        sale = desk.find(sale_id)
        if sale is not None and sale.state is SaleState.PAYING:
            with suppress(BookingClientError):
                await decline_stray(desk, sale)
                desk.show(stepped_back(sale, desk.now()))
        raise JournalBeforeAskingError(str(error)) from error


async def check_out(desk: Desk, sale: Sale) -> Sale:
    """The PAYING sale with its order. Whatever ends otherwise leaves PAYING, as `leave_paying` says, and is raised."""
    if sale.order is not None:
        return sale
    if sale.hold is None:
        raise SaleNotReadyError("nothing is held")
    lines = [CheckoutLine(seat_no=pick.seat_no, price_type_id=pick.price_type_id) for pick in sale.seat_picks]
    try:
        order = await desk.client.check_out(
            sale.hold.hold_id, lines, sale.total_minor, key=sale.checkout_key, places=sale.priced_places
        )
    except BookingClientError as error:
        await leave_paying(desk, sale, error)
        raise
    return await desk.keep(replace(sale, order=order))


async def open_operation(desk: Desk, sale: Sale) -> PaymentAnswer:
    """Open the payment operation of a PAYING sale with an order; the same key is the same operation for ever.

    An operation of ours that was opened for nothing (its answer was lost) stands in the way once: it is declined first.
    """
    try:
        return await _open(desk, sale)
    except BookingRefusedError as error:
        if error.problem.code is not ErrorCode.PAYMENT_RUNNING or not await decline_stray(desk, sale):
            raise
    return await _open(desk, sale)


async def _open(desk: Desk, sale: Sale) -> PaymentAnswer:
    attempt, order = sale.payment, sale.order
    if attempt is None or order is None:
        raise SaleNotReadyError("no payment is formed")
    request = PaymentRequest(
        kind=attempt.kind,
        provider=attempt.provider,
        amount_minor=attempt.amount_minor,
        tendered_minor=attempt.tendered_minor,
        in_parts=attempt.in_parts,
        instead_of=attempt.instead_of,
    )
    return await desk.client.pay(order.order_id, request, key=attempt.key)


async def decline_stray(desk: Desk, sale: Sale) -> bool:
    """Report as declined what the API has as running for this order, and the terminal was never asked; True if any."""
    return sale.order is not None and await decline_strays_of(desk, await desk.client.order(sale.order.order_id))


async def leave_paying(desk: Desk, sale: Sale, error: BookingClientError) -> Sale:
    """Where a PAYING sale goes when checkout or opening failed before any money could move."""
    unheard = isinstance(error, BookingRefusedError) and not error.is_word  # an earlier try may be open under its key
    if unheard or isinstance(error, AnswerUnknownError | NothingDoneError):
        if sale.replaced is not None:
            return await desk.keep(stepped_back(sale, desk.now()))
        return await desk.keep(sale.after(SaleStep.PAYMENT_WITHDRAWN))  # both keys stay, for the next try
    if not isinstance(error, BookingRefusedError):
        return await desk.keep(stepped_back(sale, desk.now()))
    if isinstance(error, HoldGoneError) or error.problem.code in _LOOK_AGAIN:
        try:
            return await look_again(desk, sale)
        except BookingClientError:
            return await desk.keep(stepped_back(sale, desk.now()))  # nothing was charged; the next try learns the rest
    if sale.replaced is not None:
        return await desk.keep(stepped_back(sale, desk.now()))
    back = replace(withdrawn(sale), checkout_key=sale.checkout_key if sale.order is not None else "")
    if error.problem.code is ErrorCode.PRICE_CHANGED:
        with suppress(BookingClientError):  # the prices are read again before the next try
            back = await reprice(desk, back)
    return await desk.keep(back)


_LOOK_AGAIN = frozenset({ErrorCode.ORDER_NOT_PAYABLE, ErrorCode.AMOUNT_MISMATCH, ErrorCode.OPERATION_NOT_FOUND})
"""The order is not what we think it is: what it is says where the sale goes."""


async def look_again(desk: Desk, sale: Sale) -> Sale:
    """What the API says about a PAYING or UNKNOWN sale whose terminal, if any, was never asked; kept and shown.

    Raises:
        BookingClientError: it does not say.
    """
    sale = await find_order(desk, sale)
    if sale.order is None:
        hold = sale.hold if sale.hold is None else await desk.client.hold(sale.hold.hold_id)
        if hold is not None and hold.status is HoldStatus.HELD:
            return await desk.keep(replace(withdrawn(sale), hold=hold, checkout_key=""))
        return await conclude(desk, replace(expired(sale, EndReason.HOLD_ENDED), hold=hold))
    return await apply_order(desk, sale, sale.order)


async def find_order(desk: Desk, sale: Sale) -> Sale:
    """The sale with its order as the API has it now, if it has one."""
    if sale.order is not None:
        return replace(sale, order=await desk.client.order(sale.order.order_id))
    if sale.hold is None:
        return sale
    hold = await desk.client.hold(sale.hold.hold_id)
    if hold.order_id is None:
        return replace(sale, hold=hold)
    return replace(sale, hold=hold, order=await desk.client.order(hold.order_id))


async def apply_order(desk: Desk, sale: Sale, order: Order, operation: PaymentOperation | None = None) -> Sale:
    """Take the API's word about the order, keep what it makes of the sale, and say so."""
    after = await conclude(desk, settled(sale, order, operation or operation_of(sale, order), desk.now()))
    if sale.replaced is not None and after.state is SaleState.PAID and after.payment is sale.replaced:
        tendered = None if sale.payment is None else sale.payment.tendered_minor
        desk.store.post(Notice(NoticeCode.CASH_NOT_NEEDED, (), tendered, sale.currency, sale_id=sale.sale_id))
    return after


async def conclude(desk: Desk, sale: Sale) -> Sale:
    """Keep the sale, and post what the person at the counter must hear about its new state."""
    parked = any(kept.sale_id == sale.sale_id for kept in desk.store.parked)
    sale = await desk.keep(sale)
    notice = _NOTICES.get(sale.state)
    if sale.state is SaleState.EXPIRED and sale.end_reason is EndReason.CARD_REVERSED:
        notice = NoticeCode.CARD_REVERSED
    elif sale.state is SaleState.EXPIRED and sale.end_reason is EndReason.CHARGE_TO_RETURN:
        notice = NoticeCode.CHARGE_TO_RETURN
    elif sale.state is SaleState.EXPIRED and sale.end_reason is EndReason.MONEY_RETURNED:
        notice = None
    elif parked and sale.state is SaleState.PAID:
        notice = NoticeCode.PARKED_SALE_PAID
    elif parked and sale.state in (SaleState.HELD, SaleState.DECLINED):
        notice = NoticeCode.PARKED_SALE_FREE
    if notice is not None:
        desk.store.post(Notice(notice, (), sale.total_minor, sale.currency, sale.decline_code, sale.sale_id))
    return sale


_NOTICES = {
    SaleState.DECLINED: NoticeCode.PAYMENT_DECLINED,
    SaleState.EXPIRED: NoticeCode.HOLD_EXPIRED,
    SaleState.RETURNING: NoticeCode.MONEY_TO_RETURN,
}


async def stay_unknown(desk: Desk, sale: Sale, reason: UnknownReason) -> Sale:
    """UNKNOWN for this reason; said once, when it becomes so."""
    new = sale.state is not SaleState.UNKNOWN
    if new or sale.unknown_reason is not reason:
        sale = await desk.keep(unclear(sale, reason, desk.now()))
    if new:
        notice = NoticeCode.PAYMENT_UNKNOWN
        desk.store.post(Notice(notice, (), sale.total_minor, sale.currency, reason.value, sale.sale_id))
        desk.wake.set()
    return sale
