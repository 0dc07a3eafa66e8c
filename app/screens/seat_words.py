"""Seats of the open plan in words: names, lines of a sale."""

from __future__ import annotations

from app.core.sale import Pick, Sale, SaleState
from app.core.store import ConsoleStore
from app.i18n import _, figures
from app.models.place_words import seat_in_section, seat_name
from backend_client.plan_names import seat_ref
from backend_client.wire import SeatRef
from widgets.sale_line import SaleLineFace


def line_faces(sale: Sale | None, store: ConsoleStore) -> list[SaleLineFace]:
    """The lines of a sale as the sale page shows them."""
    if sale is None:
        return []
    return [_face(sale, pick, store) for pick in sale.picks]


def _ref(sale: Sale, pick: Pick, store: ConsoleStore) -> SeatRef:
    """The seat's name: from the hold, which knows it for every event, else from the open plan."""
    if sale.hold is not None:
        for seat in sale.hold.seats:
            if seat.seat_no == pick.seat_no:
                return seat
    if store.plan is not None and store.event is not None and store.event.event_id == sale.event_id:
        return seat_ref(store.plan, pick.seat_no)
    return SeatRef(seat_no=pick.seat_no)


def _face(sale: Sale, pick: Pick, store: ConsoleStore) -> SaleLineFace:
    """A place without a number is named as its tier is."""
    if pick.tier_id is not None:
        shown = name = _tier_name(sale, pick, store)
        place = figures().joined((_category(sale, pick, store), _("no numbered seat")))
    else:
        ref = _ref(sale, pick, store)
        name = seat_name(ref)
        shown = seat_in_section(ref)
        place = figures().joined((ref.section, _category(sale, pick, store)))
    return SaleLineFace(
        seat_no=pick.seat_no,
        name=shown,
        place=place,
        types=_types(sale, pick, store),
        chosen_type=pick.price_type_id,
        price=figures().money(pick.amount_minor, sale.currency),
        can_change=sale.editable,
        can_drop=sale.state is SaleState.PICKING,
        spoken_type=_("Price type of {seat}").format(seat=name),
        spoken_drop=_("Put {seat} back").format(seat=name),
    )


def _tier_name(sale: Sale, pick: Pick, store: ConsoleStore) -> str:
    """From the hold, which knows it for every event, else from the open one."""
    held = () if sale.hold is None else sale.hold.places
    named = {places.tier_id: places.name for places in held}
    tier = store.tier(pick.tier_id) if store.event is not None and store.event.event_id == sale.event_id else None
    return named.get(pick.tier_id or 0) or ("" if tier is None else tier.name)


def _category(sale: Sale, pick: Pick, store: ConsoleStore) -> str:
    """Numbers of categories are those of their event."""
    if store.event is None or store.event.event_id != sale.event_id:
        return ""
    names = {category.category_no: category.name for category in store.event.categories}
    return names.get(pick.category_no, "")


def _types(sale: Sale, pick: Pick, store: ConsoleStore) -> tuple[tuple[int, str, str], ...]:
    prices = store.prices
    if prices is None or store.event is None or store.event.event_id != sale.event_id:
        return ((pick.price_type_id, "", ""),)
    kinds = prices.types_of(pick.category_no)
    amounts = [prices.amount_minor(pick.category_no, kind.price_type_id) for kind in kinds]
    return tuple(
        (kind.price_type_id, kind.name, "" if amount is None else figures().money(amount, sale.currency))
        for kind, amount in zip(kinds, amounts, strict=True)
    )
