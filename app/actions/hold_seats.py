"""Holding the picked seats, giving them back, and noticing that their time is over (R3–R7, R14)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from app.actions.desk import Desk
from app.actions.leave_sale import after_cancel
from app.actions.let_go import GIVEN_UP, give_up_order, let_go
from app.actions.pay_sale import decline_stray, find_order
from app.actions.pick_seats import HOLD
from app.actions.propose_seats import offer_after_loss, offer_after_orphans
from app.core.errors import NothingPickedError, SaleNotReadyError
from app.core.sale import PAYABLE, EndReason, Sale, SaleState, SaleStep
from app.core.settlement import expired
from app.core.store import Notice, NoticeCode
from backend_client.errors import (
    AnswerUnknownError,
    AnswerUnreadableError,
    BookingClientError,
    BookingRefusedError,
    HoldGoneError,
    NothingDoneError,
    SeatOrphanedError,
    SeatsTakenError,
)
from backend_client.wire import Hold, HoldStatus, OrderId, SeatRef


async def hold_picked(desk: Desk) -> Sale:
    """Hold all picked seats and places, or none. Lost seats leave the picks; `lost_seats` and a notice name them.

    After a lost answer the sale stays HOLDING; calling again asks with the same key.

    Raises:
        NothingPickedError, SaleNotReadyError, NotAllowedError: nothing to hold, or not now.
        BookingRefusedError: refused for another reason (limits, not on sale …); back at PICKING.
        ServiceUnavailableError: the booking system is away; back at PICKING, stock is never guessed (R2). Still HOLDING
            when an earlier answer was lost.
        AnswerUnknownError: no answer; still HOLDING.
    """
    with desk.once(HOLD) as first:
        sale = desk.sale()
        if not first:
            return sale
        desk.require_seller()
        if not sale.picks:
            raise NothingPickedError("nothing is picked")
        event = desk.store.event
        if sale.state is SaleState.PICKING and event is not None and event.event_id != sale.event_id:
            raise SaleNotReadyError("the picks are of an event that is not open")
        sale = await desk.until_asked(sale)
        if sale.state is SaleState.PICKING:
            formed = replace(sale.after(SaleStep.HOLD_ASKED), hold_key=desk.new_key(), lost_seats=())
            return await ask_hold(desk, await desk.keep(formed), again=False)
        if sale.state is not SaleState.HOLDING:
            raise SaleNotReadyError("the seats are held already")
        return await ask_hold(desk, sale, again=True)


async def ask_hold(desk: Desk, sale: Sale, *, again: bool) -> Sale:
    """Send the hold of a HOLDING sale, with the key that was made for it. Raises as `hold_picked`.

    `again`: it was sent before, and nobody knows what became of it. Then only the API's word about the seats ends that:
    the same seats under another key would be taken, by this very buyer.
    """
    try:
        hold = await _ask(desk, sale)
    except SeatsTakenError as error:
        return await _lose_seats(desk, sale, error)
    except SeatOrphanedError as error:
        await desk.keep(replace(sale.after(SaleStep.HOLD_REFUSED), hold_key=""))
        offer = offer_after_orphans(desk, _numbers(error.seats), sale.seat_picks, _numbers(error.offer))
        desk.store.put_picking(replace(desk.store.picking, offer=offer))
        raise
    except (BookingRefusedError, NothingDoneError) as error:
        is_word = isinstance(error, BookingRefusedError) and error.is_word
        if is_word or not again:
            await desk.keep(replace(sale.after(SaleStep.HOLD_REFUSED), hold_key=""))
        raise
    return await take_hold(desk, sale, hold)


async def _ask(desk: Desk, sale: Sale) -> Hold:
    seats = [pick.seat_no for pick in sale.seat_picks]
    return await desk.client.hold_seats(sale.event_id, seats, tiers=sale.tiers, key=sale.hold_key)


async def take_hold(desk: Desk, sale: Sale, hold: Hold) -> Sale:
    """HELD, or EXPIRED when this is the replayed answer of a hold that is over."""
    sale = replace(sale, hold=hold)
    if hold.status in (HoldStatus.RELEASED, HoldStatus.EXPIRED):
        return await end_expired(desk, sale)
    held = await desk.keep(sale.after(SaleStep.HOLD_WON))
    desk.store.put_picking(desk.store.picking.begun_anew())
    return held


async def _lose_seats(desk: Desk, sale: Sale, error: SeatsTakenError) -> Sale:
    lost = frozenset(seat.seat_no for seat in error.seats)
    back = sale.after(SaleStep.HOLD_REFUSED).without_seats(lost)
    wanted = [pick.seat_no for pick in sale.seat_picks]
    sale = await desk.keep(replace(back, hold_key="", lost_seats=error.seats))
    offer = offer_after_loss(desk, sorted(lost), wanted, _numbers(error.offer))
    desk.store.put_picking(replace(desk.store.picking, best=None, offer=offer))
    desk.store.post(Notice(NoticeCode.SEATS_LOST, seats=error.seats, sale_id=sale.sale_id))
    return sale


def _numbers(seats: tuple[SeatRef, ...]) -> tuple[int, ...]:
    return tuple(seat.seat_no for seat in seats)


async def end_expired(desk: Desk, sale: Sale) -> Sale:
    """The hold is over: EXPIRED, with a notice. What may be open for its order at the API is declined later."""
    try:
        await let_go(desk, sale)
    finally:
        sale = await desk.keep_fact(expired(sale, EndReason.HOLD_ENDED))
    desk.store.post(Notice(NoticeCode.HOLD_EXPIRED, sale_id=sale.sale_id))
    return sale


async def expire_due(desk: Desk) -> bool:
    """Call it about once a second: ends held sales whose time is over by the server's clock. True when it did.

    Parked ones leave their list without a word. A payment that runs, or whose outcome is unknown, never ends so
    (R7, R24).
    """
    ended = False
    for sale_id in [sale.sale_id for sale in due_sales(desk)]:
        sale = desk.idle(sale_id)
        if sale is None or not _is_due(desk, sale):
            continue
        if sale is not desk.store.sale:
            with desk.asking(sale):
                ended = await _expire(desk, sale) or ended
            continue
        with desk.once("expire") as first:
            ended = (first and await _expire(desk, sale)) or ended
    return ended


def due_sales(desk: Desk) -> tuple[Sale, ...]:
    """Held sales, at the counter and parked, whose time is over."""
    shown = () if desk.store.sale is None else (desk.store.sale,)
    return tuple(sale for sale in (*shown, *desk.store.parked) if _is_due(desk, sale))


def _is_due(desk: Desk, sale: Sale) -> bool:
    return sale.state in PAYABLE and sale.deadline is not None and desk.store.clock.is_past(sale.deadline)


async def _expire(desk: Desk, sale: Sale) -> bool:
    if sale.paid_minor and sale.order is not None:
        return await _expire_part_paid(desk, sale, sale.order.order_id)
    await end_expired(desk, sale)
    return True


async def _expire_part_paid(desk: Desk, sale: Sale, order_id: OrderId) -> bool:
    """Parts are paid: only the API ends such a sale, and says what goes back. Not reached: asked again in a second."""
    try:
        await decline_stray(desk, sale)  # else the API waits for it, and the order never ends
        order = await desk.client.order(order_id)
    except BookingClientError:
        return False
    after = await after_cancel(desk, sale, order)
    return after.state not in PAYABLE


async def release_hold(desk: Desk) -> Sale:
    """Give up the sale at the counter: its order is cancelled, its seats go back.

    ABANDONED even when the booking system cannot be reached: the seats then go back by themselves at the hold's end,
    and an order that it may wait for is declined once it can be.

    Raises:
        SaleNotReadyError: a payment runs or is unknown, it is paid, or parts of it are (`leave_paid_parts`).
        BookingRefusedError: the API refuses to cancel the order (a payment is known there).
    """
    with desk.once("release") as first:
        sale = desk.sale()
        if not first or sale.state is SaleState.ABANDONED:
            return sale
        sale = await desk.until_asked(sale)
        if sale.state not in (*PAYABLE, SaleState.HOLDING, SaleState.PICKING) or sale.paid_minor:
            raise SaleNotReadyError("this sale cannot be given up now")
        try:
            with suppress(HoldGoneError):
                await _give_back(desk, sale)
        except (NothingDoneError, AnswerUnknownError, AnswerUnreadableError):
            await let_go(desk, sale)  # a hold ends by itself, an order for which a payment may be open does not
        abandoned = sale.after(SaleStep.ABANDONED)
        if sale.state is SaleState.PICKING:
            desk.store.put_sale(abandoned)
            return abandoned
        return await desk.keep_fact(abandoned)


async def _give_back(desk: Desk, sale: Sale) -> None:
    if sale.order is None and sale.checkout_key:
        sale = await find_order(desk, sale)  # the answer to the checkout was lost: the hold may be an order
    if sale.order is not None:
        await give_up_order(desk, sale.order.order_id, GIVEN_UP, keep_seats=False, key=desk.new_key())
    elif sale.hold is not None:
        await desk.client.release_hold(sale.hold.hold_id, key=desk.new_key())
    elif sale.state is SaleState.HOLDING:
        await _give_back_unknown(desk, sale)


async def _give_back_unknown(desk: Desk, sale: Sale) -> None:
    """The hold's answer was lost: the same key finds it, or takes it, and then it is released."""
    try:
        hold = await _ask(desk, sale)
    except BookingRefusedError as error:
        if not error.is_word:
            raise
        return  # there is no hold
    await desk.client.release_hold(hold.hold_id, key=desk.new_key())
