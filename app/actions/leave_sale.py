"""The buyer goes: what parts have paid goes back, and what is not known yet goes back once it is known (R24, R33)."""

from __future__ import annotations

from dataclasses import replace

from app.actions.desk import Desk
from app.actions.pay_sale import conclude, decline_stray
from app.core.errors import SaleNotReadyError
from app.core.sale import PAYABLE, Sale, SaleState, SaleStep
from app.core.settlement import GONE_STATES, not_back_yet, returned, to_return
from app.core.store import Notice, NoticeCode
from backend_client.wire import Order

_REASON = "buyer-left"


async def leave_paid_parts(desk: Desk) -> Sale:
    """Give up a held sale of which parts are paid: its order is cancelled, and the parts go back.

    RETURNING until each part is back (`return_money`) or left to a supervisor (`give_up_return`); EXPIRED at once when
    nobody at the counter has to do anything.

    Raises:
        SaleNotReadyError: no part is paid, or a payment runs or is unknown.
        BookingClientError: the order is not cancelled; the sale stays held.
    """
    with desk.once("release") as first:
        sale = desk.sale()
        if not first:
            return sale
        sale = await desk.until_asked(sale)
        if sale.state not in PAYABLE or sale.order is None or not sale.paid_minor:
            raise SaleNotReadyError("no part of this sale is paid")
        return await _cancel(desk, sale)


async def _cancel(desk: Desk, sale: Sale) -> Sale:
    if sale.order is None:
        raise SaleNotReadyError("there is no order")
    await decline_stray(desk, sale)
    order = await desk.client.cancel_order(
        sale.order.order_id, _REASON, keep_seats=False, key=f"leave-{sale.order.order_id}"
    )
    return await after_cancel(desk, sale, order)


async def after_cancel(desk: Desk, sale: Sale, order: Order) -> Sale:
    """Where a held sale goes whose order is over."""
    paid = sale.paid_minor
    sale = replace(sale, order=order)
    if sale.state is SaleState.DECLINED:
        sale = sale.after(SaleStep.DECLINE_SEEN)
    if order.status not in GONE_STATES:
        return await desk.keep(sale)
    if not_back_yet(order) or paid:
        return await finish_return(desk, await conclude(desk, to_return(sale)))
    return await desk.keep_fact(sale.after(SaleStep.ABANDONED))


async def finish_return(desk: Desk, sale: Sale) -> Sale:
    """EXPIRED once nothing of a RETURNING sale waits for a till any more."""
    if sale.state is not SaleState.RETURNING or sale.order is None:
        return sale
    after = returned(sale, sale.order)
    return sale if after is sale else await conclude(desk, after)


async def leave_unknown(desk: Desk) -> Sale:
    """The buyer goes while the payment of the sale at the counter is unknown. It is asked about until it is known.

    Not charged: the seats are free again. Charged: the terminal takes it back first; what it cannot take back is paid,
    and is refunded from the list of orders.

    Raises:
        SaleNotReadyError: the sale is not unknown, or it is being cleared up right now.
    """
    with desk.once("release") as first:
        sale = desk.sale()
        if not first or sale.leaving:
            return sale
        sale = await desk.until_asked(sale)
        if sale.state is not SaleState.UNKNOWN:
            raise SaleNotReadyError("no payment is unclear here")
        sale = await desk.keep(replace(sale, leaving=True))
        desk.wake.set()
        return sale


async def let_go_if_left(desk: Desk, sale: Sale) -> Sale:
    """After an unclear payment turned out not to be charged: nobody wants the seats any more.

    Raises:
        BookingClientError: not cancelled yet; the seats go back at the end of the hold at the latest.
    """
    if not sale.leaving or sale.state not in PAYABLE:
        return sale
    total, currency, sale_id = sale.total_minor, sale.currency, sale.sale_id
    if sale.order is not None:
        sale = await _cancel(desk, sale)
    else:
        if sale.hold is not None:
            await desk.client.release_hold(sale.hold.hold_id, key=desk.new_key())
        sale = await desk.keep_fact(sale.after(SaleStep.ABANDONED))
    if sale.ended:
        desk.store.post(Notice(NoticeCode.LEFT_UNCHARGED, (), total, currency, sale_id=sale_id))
    return sale
