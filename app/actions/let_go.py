"""Orders that this counter gives up: what was opened for them and never asked for is declined first (R24).

An operation that was opened, and whose answer was lost, keeps the order and its seats for ever: nobody but this counter
knows that the terminal was never asked. While the API cannot be told, the journal remembers it.
"""

from __future__ import annotations

import logging
from functools import partial

from app.actions.decline_stray import decline_strays_of
from app.actions.desk import Desk
from app.actions.each_in_turn import each_in_turn
from app.core.sale import Sale
from app.core.settlement import GONE_STATES, PAID_STATES
from backend_client.errors import BookingRefusedError
from backend_client.wire import OrderId

_log = logging.getLogger(__name__)
GIVEN_UP = "given-up"


async def give_up_order(desk: Desk, order_id: OrderId, reason: str, *, keep_seats: bool, key: str) -> None:
    """Cancel an order of this counter for which nobody is asked to pay any more.

    Raises:
        BookingClientError: it is not cancelled; a payment may be known there.
    """
    await decline_strays_of(desk, await desk.client.order(order_id))
    await desk.client.cancel_order(order_id, reason, keep_seats=keep_seats, key=key)


async def let_go(desk: Desk, sale: Sale) -> None:
    """The sale ends here, and the API is told of its order later (`follow_let_go`); call it before it ends.

    Raises:
        JournalError: it could not be written down.
    """
    if sale.order is not None:
        await desk.journal.let_order_go(sale.order.order_id)
        desk.wake.set()


async def follow_let_go(desk: Desk) -> int:
    """Tell the API of all orders that were let go; how many are left.

    An order of a sale that is still open is left alone, and stays on the list: it may be written down and not ended
    yet, at this very moment. When the sale has ended, the order tells what there is to do.

    Raises:
        BookingClientError: it did not answer.
    """
    return await each_in_turn([partial(_take_turn, desk, order_id) for order_id in await desk.journal.orders_let_go()])


async def _take_turn(desk: Desk, order_id: OrderId) -> bool:
    if _is_wanted(desk, order_id):
        return False
    await _tell(desk, order_id)
    await desk.journal.forget_order(order_id)
    return True


def _is_wanted(desk: Desk, order_id: OrderId) -> bool:
    """The sale is about to end, or the console died before it ended: then it goes on."""
    shown = () if desk.store.sale is None else (desk.store.sale,)
    open_ones = (sale for sale in (*desk.store.parked, *shown) if not sale.ended)
    return any(sale.order is not None and sale.order.order_id == order_id for sale in open_ones)


async def _tell(desk: Desk, order_id: OrderId) -> None:
    try:
        order = await desk.client.order(order_id)
        await decline_strays_of(desk, order)
        if order.status not in GONE_STATES | PAID_STATES:
            await desk.client.cancel_order(order_id, GIVEN_UP, keep_seats=False, key=f"let-go-{order_id}")
    except BookingRefusedError as error:
        if not error.is_word:
            raise
        _log.warning("order %s that was let go is not cancelled: %s", order_id, error.code)
