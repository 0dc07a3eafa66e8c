"""Taking cash: the operation and the confirmation are one call at the API, so its answer is the whole truth."""

from __future__ import annotations

from app.actions.desk import Desk
from app.actions.pay_sale import (
    CASH,
    apply_order,
    before_asking,
    begin_instead,
    begin_payment,
    check_out,
    leave_paying,
    look_again,
    never_stuck,
    open_operation,
    part_of,
    stay_unknown,
)
from app.core.errors import SaleNotReadyError
from app.core.prices import change_minor
from app.core.sale import Sale, SaleState, UnknownReason
from app.core.store import Notice, NoticeCode
from backend_client.errors import AnswerUnknownError, BookingRefusedError, NothingDoneError
from backend_client.wire import OperationKind


async def pay_cash(desk: Desk, tendered_minor: int, *, part_minor: int | None = None) -> Sale:
    """Take `tendered_minor` in cash: PAID (`sale.payment.change_minor` goes back), or UNKNOWN after a lost answer.

    `part_minor` pays so much of what is left; the sale is then HELD again, and the change is that of the operation.

    Raises:
        TenderedTooLittleError: less than what is paid; nothing changes.
        PartNotPayableError: a part of nothing, or of more than is left.
        SaleNotReadyError, NotAllowedError: not now, or not this person.
        JournalBeforeAskingError: it could not be written down, nothing was booked; the sale is HELD.
        JournalAfterAskingError: what was booked could not be written down; the sale is UNKNOWN.
        ServiceUnavailableError, BookingRefusedError, AnswerUnknownError: not begun; the sale is HELD (or EXPIRED).
    """
    with desk.once("pay") as first:
        sale = desk.sale()
        if not first:
            return sale
        desk.require_seller()
        change_minor(part_of(sale, part_minor), tendered_minor)
        sale = await begin_payment(desk, OperationKind.CASH, CASH, tendered_minor, part_minor=part_minor)
        with never_stuck(desk, sale.sale_id):
            async with before_asking(desk, sale.sale_id):
                sale = await check_out(desk, sale)
            return await _hand_over(desk, sale)


async def pay_cash_instead(desk: Desk, tendered_minor: int) -> Sale:
    """Take cash for the UNKNOWN sale at the counter, in place of its unclear card payment.

    From then on a success of the card can only be given back (DESIGN §3): `follow_given_up` asks the terminal and gives
    it back. PAID; UNKNOWN when the answer was lost; PAID by card when the card was faster (the notice says to give the
    cash back).

    Raises:
        TenderedTooLittleError: less than what is paid; nothing changes.
        SaleNotReadyError, NotAllowedError: not now, or not this person.
        JournalBeforeAskingError, JournalAfterAskingError, BookingClientError: as `pay_cash`; the sale is UNKNOWN.
    """
    with desk.once("pay") as first:
        sale = desk.sale()
        if not first:
            return sale
        desk.require_seller()
        sale = await desk.until_asked(sale)
        card = sale.payment
        if sale.state is SaleState.PAID:
            desk.store.post(Notice(NoticeCode.CASH_NOT_NEEDED, (), tendered_minor, sale.currency, sale_id=sale.sale_id))
            return sale
        if sale.state is not SaleState.UNKNOWN or card is None or card.kind is OperationKind.CASH or sale.leaving:
            raise SaleNotReadyError("no unclear card payment is at the counter")
        change_minor(card.amount_minor, tendered_minor)
        with desk.asking(sale):
            sale = await begin_instead(desk, sale, tendered_minor)
            with never_stuck(desk, sale.sale_id):
                return await _hand_over(desk, sale)


async def _hand_over(desk: Desk, sale: Sale) -> Sale:
    try:
        answer = await open_operation(desk, sale)
    except AnswerUnknownError:
        return await stay_unknown(desk, sale, UnknownReason.BOOKING_SILENT)
    except (NothingDoneError, BookingRefusedError) as error:
        await leave_paying(desk, sale, error)
        raise
    return await apply_order(desk, sale, answer.order, answer.operation)


async def settle_cash(desk: Desk, sale: Sale) -> Sale:
    """Ask again about cash whose answer was lost: the same call with the same key takes it once, or tells that it did.

    Raises:
        BookingClientError: still no word; the sale stays UNKNOWN.
    """
    if sale.order is None:
        return await look_again(desk, sale)
    try:
        answer = await open_operation(desk, sale)
    except BookingRefusedError as error:
        if not error.is_word:
            raise
        return await look_again(desk, sale)
    return await apply_order(desk, sale, answer.order, answer.operation)
