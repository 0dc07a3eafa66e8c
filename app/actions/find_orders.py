"""Looking up orders by number, seat, ticket code or buyer, and reading one with what of it can be given back."""

from __future__ import annotations

from app.actions.desk import Desk
from app.actions.pay_out import look_at_untaken
from app.core.errors import JournalError
from app.core.order_search import OrderQuery
from app.core.refund import has_pending_refund, returns_here
from app.core.session import Permission, require
from app.core.settlement import with_paid_out
from backend_client.errors import BookingClientError, NotSignedInError
from backend_client.wire import OrderId, OrderSummary


async def find_orders(desk: Desk, query: OrderQuery, *, more: bool = False) -> None:
    """Look for `query`; without words, the newest orders. `more` reads on where the list ended.

    Raises:
        NotAllowedError: the role may not.
        BookingClientError: it did not work; what was found before stays.
    """
    require(desk.store.session, Permission.FIND_ORDERS)
    orders = desk.store.orders
    after = orders.next if more else ""
    if not more:
        orders.ask(query)
    try:
        answer = await desk.client.orders(q=query.words, event=query.event_id, after=after)
    except BookingClientError as error:
        orders.put_trouble(query, error.code)
        raise
    if desk.store.session is not None:
        orders.put_found(query, answer, more=more)
        if not more:
            await _find_returns(desk)


async def _find_returns(desk: Desk) -> None:
    """What a supervisor has handed to this till, or it has not given back yet; kept as it was if it cannot be read."""
    session = desk.store.session
    if session is None or not session.may(Permission.REFUND):
        return
    await _look_at_untaken(desk)
    try:
        answer = await desk.client.returns()
    except NotSignedInError:
        raise
    except BookingClientError:
        return
    if desk.store.session is not None:
        desk.store.orders.put_returns(tuple([order for order in answer.orders if await _is_owed(desk, order)]))


async def _look_at_untaken(desk: Desk) -> None:
    try:
        await look_at_untaken(desk)
    except NotSignedInError:
        raise
    except (BookingClientError, JournalError):
        return


async def _is_owed(desk: Desk, summary: OrderSummary) -> bool:
    """Whether money of it is still to be handed over: what was paid out here is back, whatever the API has heard."""
    try:
        paid_out = {record.order_id for record in await desk.journal.cash_returns()}
        if summary.order_id not in paid_out:
            return True
        order = with_paid_out(await desk.client.order(summary.order_id), desk.store.paid_out)
    except NotSignedInError:
        raise
    except (BookingClientError, JournalError):
        return True
    return bool(returns_here(order, desk.client.device_id))


async def load_order(desk: Desk, order_id: OrderId) -> None:
    """Read the open order. Trouble is kept with it, what was read before stays. Raises as `find_orders`."""
    require(desk.store.session, Permission.FIND_ORDERS)
    turn = desk.store.orders.next_turn()
    try:
        detail = await desk.client.refundable(order_id)
    except BookingClientError as error:
        desk.store.orders.put_detail_trouble(order_id, error.code)
        raise
    orders, session = desk.store.orders, desk.store.session
    orders.put_detail(detail, turn)
    order = with_paid_out(detail.order, desk.store.paid_out)
    if session is not None and not returns_here(order, session.device_id):
        orders.put_returns(tuple(one for one in orders.returns if one.order_id != order_id))


async def follow_refund(desk: Desk, order_id: OrderId) -> None:
    """Read the open order, with growing pauses, until nobody waits for a refund of it any more.

    Raises:
        NotSignedInError: nobody is signed in any more.
    """
    pause_s = desk.patience.ask_first_s
    while True:
        orders = desk.store.orders
        if orders.order_id != order_id or orders.detail is None or not has_pending_refund(orders.detail.order):
            return
        await desk.sleep(pause_s)
        pause_s = min(pause_s * 2, desk.patience.ask_longest_s)
        if orders.order_id != order_id or desk.store.session is None:
            return
        try:
            await load_order(desk, order_id)
        except NotSignedInError:
            raise
        except BookingClientError:
            continue  # shown with the order; asked again
