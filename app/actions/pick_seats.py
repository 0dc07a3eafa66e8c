"""Picking seats and their price types, before and after the hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from uuid_utils.compat import uuid7

from app.actions.desk import Desk
from app.actions.let_go import give_up_order
from app.core.errors import SaleNotReadyError, SeatNotPickableError, TooManySeatsError
from app.core.orphan_seats import orphans_of, without_orphans
from app.core.picking import OfferKind, SeatOffer
from app.core.sale import ENDED, Pick, Sale, SaleId, SaleState, SaleStep
from app.core.seat_rows import Flags
from backend_client.errors import BookingRefusedError
from backend_client.wire import MAX_SEATS_PER_HOLD, ErrorCode, OrphanRule

HOLD = "hold"
"""The step that asks for what is picked; see `Desk.running`."""


def toggle_seat(desk: Desk, seat_no: int) -> Sale:
    """Pick a seat, or let it go again. The first pick begins a sale; picks are the person's own and not held yet.

    Raises:
        NotAllowedError: the role may not sell.
        SaleNotReadyError: no event is open, or the sale at the counter is past picking.
        SeatNotPickableError: the map shows it as taken, or it has no price.
        TooManySeatsError: a hold takes no more.
    """
    before = picking_sale(desk)
    picked = seat_no in before.seats
    sale = before.without_seats(frozenset({seat_no})) if picked else _pick(desk, before, seat_no)
    return put_picks(desk, before, sale)


def pick_seats(desk: Desk, seats: list[int]) -> Sale:
    """Pick several seats, all that can be picked, up to what a hold takes (a rubber band). Raises as `toggle_seat`."""
    before = sale = picking_sale(desk)
    for seat_no in seats:
        if seat_no not in sale.seats and len(sale.picks) < MAX_SEATS_PER_HOLD and _is_free(desk, seat_no):
            sale = _pick(desk, sale, seat_no)
    return put_picks(desk, before, sale)


def place_party(desk: Desk, seats: Sequence[int]) -> Sale:
    """Seat the party exactly here: seats picked before go, price types stay with the first, second … of them.

    The same seats again are put back. Raises as `toggle_seat`.
    """
    before = picking_sale(desk)
    if frozenset(seats) == before.seats:
        return put_picks(desk, before, before.without_seats(before.seats))
    return put_picks(desk, before, party_at(desk, before, seats))


def party_at(desk: Desk, before: Sale, seats: Sequence[int]) -> Sale:
    """The sale on these seats, not kept yet; its places stay. Raises SeatNotPickableError and TooManySeatsError."""
    seated, places = before.seat_picks, before.place_picks
    if len(seats) + len(places) > MAX_SEATS_PER_HOLD:
        raise TooManySeatsError(MAX_SEATS_PER_HOLD)
    own = {pick.seat_no: pick for pick in seated}
    sale = replace(before, picks=places)
    for place, seat_no in enumerate(seats):
        if seat_no in own:
            sale = sale.with_pick(own[seat_no])
            continue
        sale = _pick(desk, sale, seat_no)
        if place < len(seated):
            sale = _at_price_type(desk, sale, seat_no, seated[place].price_type_id)
    return sale


def clear_picks(desk: Desk) -> None:
    """Let all picks go; a sale past picking stays, and one whose hold is being asked for."""
    sale = desk.store.sale
    if sale is not None and sale.state is SaleState.PICKING and HOLD not in desk.running:
        put_picks(desk, sale, None)


def put_picks(desk: Desk, before: Sale, sale: Sale | None) -> Sale:
    """Show the picks that `before` has become, remember the step for undo, and warn of seats that are left single."""
    now = () if sale is None else sale.picks
    picking = desk.store.picking
    history = picking.history.after(before.picks, now)
    best = picking.best if picking.best is not None and _seats(now) == frozenset(picking.best.block) else None
    shown = None if sale is None else replace(sale, lost_seats=())
    with desk.store.batch():
        desk.store.put_sale(shown)
        desk.store.put_picking(replace(picking, history=history, best=best, offer=warn_of_orphans(desk, now)))
    return before if shown is None else shown


def warn_of_orphans(desk: Desk, picks: Sequence[Pick]) -> SeatOffer | None:
    """The seats that these picks would leave single, with the shift that avoids it; None when there are none."""
    event, finder, seats = desk.store.event, desk.store.block_finder, _seats(picks)
    if event is None or finder is None or event.orphan_rule is OrphanRule.OFF or not seats:
        return None
    free = free_for_party(desk, picks)
    orphans = orphans_of(event.orphan_rule, finder.rows, free, seats)
    if not orphans:
        return None
    return SeatOffer(OfferKind.ORPHAN, orphans, without_orphans(event.orphan_rule, finder.rows, free, seats))


def free_for_party(desk: Desk, picks: Sequence[Pick]) -> Flags:
    """By seat number, what these people could sit on: free or their own already, and with a price."""
    seat_map, finder, prices = desk.store.seat_map, desk.store.block_finder, desk.store.prices
    if seat_map is None or finder is None or prices is None:
        return np.zeros(0, np.bool_)
    free = seat_map.pickable()
    free[list(_seats(picks))] = True
    unpriced = [category for category in finder.categories if prices.usual_type(category) is None]
    if unpriced:
        free &= ~np.isin(finder.rows.category_no, unpriced)
    return free


async def set_price_type(desk: Desk, seat_no: int, price_type_id: int) -> Sale:
    """Sell a seat of the sale at another price type. An order made for the old one is cancelled; the seats stay held.

    Raises:
        SaleNotReadyError: a payment runs, or the seat is none of the sale's, or is not sold at this price type.
        BookingClientError: the order could not be cancelled; the sale stays as it was.
    """
    with desk.once("price-type") as first:
        sale = desk.sale()
        if not first:
            return sale
        sale = await desk.until_asked(sale)
        pick = next((pick for pick in sale.picks if pick.seat_no == seat_no), None)
        if pick is None or not sale.editable:
            raise SaleNotReadyError("the price type cannot change now")
        prices = desk.store.prices
        amount = None if prices is None else prices.amount_minor(pick.category_no, price_type_id)
        if amount is None:
            raise SaleNotReadyError("the seat is not sold at this price type")
        if sale.state is not SaleState.PICKING:
            sale = await _withdraw_order(desk, sale)
        sale = sale.with_pick(replace(pick, price_type_id=price_type_id, amount_minor=amount))
        if sale.state is SaleState.PICKING:
            desk.store.put_sale(sale)
            return sale
        return await desk.keep(sale)


async def _withdraw_order(desk: Desk, sale: Sale) -> Sale:
    """Take back the order of a held sale, known or (after a lost answer) not: other lines will be checked out."""
    if sale.state is SaleState.DECLINED:
        sale = sale.after(SaleStep.DECLINE_SEEN)
    if sale.hold is None or not (sale.checkout_key or sale.order):
        return sale
    order_id = sale.order.order_id if sale.order is not None else (await desk.client.hold(sale.hold.hold_id)).order_id
    if order_id is not None:
        try:
            await give_up_order(desk, order_id, "price-type-changed", keep_seats=True, key=desk.new_key())
        except BookingRefusedError as error:
            if error.problem.code is not ErrorCode.ORDER_NOT_CANCELLABLE:
                raise
            raise SaleNotReadyError("the order cannot change any more") from error
        sale = replace(sale, hold=await desk.client.hold(sale.hold.hold_id))
    return replace(sale, order=None, checkout_key="", payment=None)


def picking_sale(desk: Desk) -> Sale:
    """The sale that picks go to: the one at the counter, or a new one. Raises as `toggle_seat`."""
    desk.require_seller()
    event = desk.store.event
    if event is None:
        raise SaleNotReadyError("no event is open")
    if HOLD in desk.running:
        raise SaleNotReadyError("the hold is being asked for")  # it asks for what was picked: a pick now would be lost
    sale = desk.store.sale
    if sale is None or sale.state in ENDED or (sale.state is SaleState.PICKING and sale.event_id != event.event_id):
        return Sale(sale_id=SaleId(uuid7()), event_id=event.event_id, currency=event.currency)
    if sale.state is not SaleState.PICKING:
        raise SaleNotReadyError("the sale is past picking")
    return sale


def _is_free(desk: Desk, seat_no: int) -> bool:
    return desk.store.seat_map is not None and desk.store.seat_map.is_pickable(seat_no)


def _pick(desk: Desk, sale: Sale, seat_no: int) -> Sale:
    plan, prices = desk.store.plan, desk.store.prices
    if plan is None or prices is None or not _is_free(desk, seat_no):
        raise SeatNotPickableError(seat_no)
    if len(sale.picks) >= MAX_SEATS_PER_HOLD:
        raise TooManySeatsError(MAX_SEATS_PER_HOLD)
    category_no = plan.seats.category_no[seat_no]
    price_type_id = prices.usual_type(category_no)
    amount = None if price_type_id is None else prices.amount_minor(category_no, price_type_id)
    if price_type_id is None or amount is None:
        raise SeatNotPickableError(seat_no)
    return sale.with_pick(Pick(seat_no, category_no, price_type_id, amount))


def _at_price_type(desk: Desk, sale: Sale, seat_no: int, price_type_id: int) -> Sale:
    """The seat at this price type where its category is sold so, else as it is."""
    pick = next(pick for pick in sale.picks if pick.seat_no == seat_no)
    prices = desk.store.prices
    amount = None if prices is None else prices.amount_minor(pick.category_no, price_type_id)
    return sale if amount is None else sale.with_pick(replace(pick, price_type_id=price_type_id, amount_minor=amount))


def _seats(picks: Sequence[Pick]) -> frozenset[int]:
    return frozenset(pick.seat_no for pick in picks if pick.tier_id is None)
