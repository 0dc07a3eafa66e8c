"""Giving the money of tickets back, and making tickets void without money: two acts, never one (R25).

Each goes out under one key until its answer is known, so that a lost answer gives nothing back twice.
"""

from __future__ import annotations

from app.actions.desk import Desk
from app.actions.find_orders import load_order
from app.core.refund import RefundChoice, cancel_request, detail_after, refund_request
from app.core.session import Permission, require
from backend_client.errors import AnswerUnknownError, BookingClientError, BookingRefusedError
from backend_client.wire import ErrorCode, RefundableOrder, RefundAnswer

_READ_AGAIN = frozenset({
    ErrorCode.AMOUNT_MISMATCH, ErrorCode.REFUND_TOO_MUCH, ErrorCode.TICKET_NOT_REFUNDABLE, ErrorCode.TICKET_NOT_FOUND,
    ErrorCode.ORDER_NOT_FOUND,
})  # fmt: skip
"""The order is not what the person saw: it is read again."""


async def refund_tickets(desk: Desk, detail: RefundableOrder, choice: RefundChoice) -> RefundAnswer:
    """Give the money of the chosen tickets back. The answer's operations say how each part of it stands.

    Raises:
        NotAllowedError: the role may not.
        AnswerUnknownError: nobody knows whether it took effect; the same again is done once.
        BookingRefusedError: nothing was done (`amount-mismatch`, `refund-too-much`, `ticket-not-refundable`, …).
        ServiceUnavailableError: the booking system is away, nothing was done.
    """
    require(desk.store.session, Permission.REFUND)
    order_id, request = detail.order.order_id, refund_request(detail, choice)
    key = desk.store.orders.key_for(order_id, request, desk.new_key)
    try:
        answer = await desk.client.refund(order_id, request, key=key)
    except BookingRefusedError as error:
        await _settle(desk, detail, error)
        raise
    except AnswerUnknownError:
        await _read_again(desk, detail)
        raise
    desk.store.orders.settle_key(order_id)
    await _show_after(desk, detail, answer, refunded=True)
    return answer


async def cancel_tickets(desk: Desk, detail: RefundableOrder, choice: RefundChoice) -> RefundAnswer:
    """Make the chosen tickets void; no money goes back. Raises as `refund_tickets`."""
    require(desk.store.session, Permission.REFUND)
    order_id, request = detail.order.order_id, cancel_request(detail, choice)
    key = desk.store.orders.key_for(order_id, request, desk.new_key)
    try:
        answer = await desk.client.cancel_tickets(order_id, request, key=key)
    except BookingRefusedError as error:
        await _settle(desk, detail, error)
        raise
    except AnswerUnknownError:
        await _read_again(desk, detail)
        raise
    desk.store.orders.settle_key(order_id)
    await _show_after(desk, detail, answer, refunded=False)
    return answer


async def _settle(desk: Desk, detail: RefundableOrder, error: BookingRefusedError) -> None:
    """A definite no: the next attempt is another act, and the order is read again where it is not what was seen."""
    desk.store.orders.settle_key(detail.order.order_id)
    if error.problem.code in _READ_AGAIN:
        await _read_again(desk, detail)


async def _show_after(desk: Desk, detail: RefundableOrder, answer: RefundAnswer, *, refunded: bool) -> None:
    """Read the order again after what was done; when that fails, show it as the answer to the act has it."""
    if not await _read_again(desk, detail):
        desk.store.orders.put_detail(detail_after(detail, answer, refunded=refunded))


async def _read_again(desk: Desk, detail: RefundableOrder) -> bool:
    """Whether the order could be read; if not, why is kept with it: the answer to the act itself is what counts."""
    try:
        await load_order(desk, detail.order.order_id)
    except BookingClientError:
        return False
    return True
