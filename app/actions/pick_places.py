"""Picking places of general admission: places without numbers, of which a tier has so many left (R11)."""

from __future__ import annotations

from app.actions.desk import Desk
from app.actions.pick_seats import picking_sale, put_picks
from app.core.errors import PlacesNotPickableError, TooManySeatsError
from app.core.sale import Sale, SaleState
from backend_client.wire import MAX_SEATS_PER_HOLD, Tier


def pick_places(desk: Desk, tier_id: int, count: int) -> Sale:
    """Pick `count` more places of a tier, all or none of them; the first pick begins a sale.

    The counts shown are advice, as the map is: the hold decides (R2).

    Raises:
        NotAllowedError, SaleNotReadyError: as `toggle_seat`.
        PlacesNotPickableError: so many are not left, or the tier is not sold here.
        TooManySeatsError: a hold takes no more.
    """
    before = picking_sale(desk)
    tier, prices = desk.store.tier(tier_id), desk.store.prices
    if tier is None or prices is None:
        raise PlacesNotPickableError("", None)
    price_type_id = prices.usual_type(tier.category_no)
    amount = None if price_type_id is None else prices.amount_minor(tier.category_no, price_type_id)
    if price_type_id is None or amount is None:
        raise PlacesNotPickableError(tier.name, None)
    left = places_left(desk, tier)
    if count > left:
        raise PlacesNotPickableError(tier.name, left)
    if len(before.picks) + count > MAX_SEATS_PER_HOLD:
        raise TooManySeatsError(MAX_SEATS_PER_HOLD)
    sale = before
    for _ in range(count):
        sale = sale.with_place(tier_id, tier.category_no, price_type_id, amount)
    return put_picks(desk, before, sale)


def drop_place(desk: Desk, number: int) -> Sale:
    """Put one picked place back; `number` is the one that it has in the sale. Raises as `toggle_seat`."""
    before = picking_sale(desk)
    return put_picks(desk, before, before.without_seats(frozenset({number})))


def places_left(desk: Desk, tier: Tier) -> int:
    """How many places of a tier this sale could still have."""
    sale = desk.store.sale
    picks = () if sale is None or sale.state is not SaleState.PICKING else sale.place_picks
    return max(0, tier.available - sum(pick.tier_id == tier.tier_id for pick in picks))


def tier_of_area(desk: Desk, name: str) -> Tier | None:
    """The tier that is sold under the name of an area of the plan; None when there is none."""
    tiers = () if desk.store.event is None else desk.store.event.tiers
    return next((tier for tier in tiers if tier.name == name), None)
