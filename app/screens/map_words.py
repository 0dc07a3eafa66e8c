"""The map's words: what its seats are called, what its colours cost, what its rings mean."""

from __future__ import annotations

import numpy as np

from app.core.house_seats import is_house_seat
from app.core.seat_map import SeatMapState
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.models.place_words import row_name, rows_between, seat_name, seat_parts
from app.screens.house_words import house_kind_words, house_letters, house_words_by_kind
from backend_client.plan_names import seat_ref
from backend_client.seat_frames import (
    HOLDER_MASK,
    HOLDER_SHIFT,
    PRINTED_BIT,
    STATUS_MASK,
    USED_BIT,
    HolderKind,
    StaffStatus,
)
from backend_client.wire import EventDetail, Plan
from widgets.map_legend import LegendCategory, LegendWords
from widgets.map_zoom import ZoomWords
from widgets.seat_map import PlaceInView, SeatMapTexts
from widgets.seat_map.seat_bits import ACCESSIBLE_FLAG, COMPANION_FLAG, RESTRICTED_FLAG


def legend_words() -> LegendWords:
    """What the rings and marks mean."""
    return LegendWords(
        mine=_("Yours"), till=_("Held at a counter"), fan=_("Held by a buyer"), house=_("House seats"),
        sold=_("Sold"), blocked=_("Blocked"), accessible=_("Accessible seat"), companion=_("Companion seat"),
        restricted=_("Restricted view"), printed=_("Ticket printed"),
        paying=_("Being paid"), used=_("Ticket used"),
        few=_("Few seats left"), sold_out=_("Sold out"),
        house_kinds=house_words_by_kind(), house_letters=house_letters(),
    )  # fmt: skip


def zoom_words() -> ZoomWords:
    """What the buttons over the map are called, and the keys that do the same on the map."""
    return ZoomWords(
        zoom_in=_("Zoom in"), zoom_out=_("Zoom out"), fit=_("Show the whole plan"),
        key_in="+", key_out="\N{MINUS SIGN}", key_fit="0",
    )  # fmt: skip


def legend_categories(plan: Plan, event: EventDetail) -> tuple[LegendCategory, ...]:
    """The plan's categories with the lowest and highest price of each."""
    named = {category.category_no: category for category in (*plan.categories, *event.categories)}
    used = sorted({*plan.seats.category_no, *(place.category_no for place in plan.standing)})
    return tuple(
        LegendCategory(number, named[number].color, named[number].name, category_prices(event, number))
        for number in used
        if number in named
    )


def category_prices(event: EventDetail, category_no: int) -> str:
    """The lowest and the highest price of a category."""
    amounts = [price.amount_minor for price in event.prices if price.category_no == category_no]
    if not amounts:
        return _("not on sale")
    shown = [figures().money(amount, event.currency) for amount in sorted({min(amounts), max(amounts)})]
    return " – ".join(shown)


def map_texts(store: ConsoleStore) -> SeatMapTexts:
    """Every text of the map, in the language in use; names come from the plan that is open."""
    words = SeatWords(store)
    return SeatMapTexts(
        name=_("Seat map"),
        hint=_("Arrow keys move from seat to seat, Enter picks, plus and minus zoom, 0 shows the whole plan."),
        stale="",
        write_count=figures().number,
        write_place=place_words,
        tooltip=words.tooltip,
        spoken=words.spoken,
        write_places=places_words,
        spoken_row=spoken_row,
        spoken_section=spoken_section,
        spoken_standing=spoken_standing,
        house_letters=house_letters(),
    )


def place_words(place: PlaceInView) -> str:
    """The part of the plan that is in view."""
    rows = rows_between(place.first_row, place.last_row, place.first_kind, place.last_kind)
    return figures().joined((place.section, rows))


def spoken_row(label: str, kind: str, free: int) -> str:
    """A row or a table as a screen reader names it, with how many seats of it are free."""
    return figures().spoken([row_name(label, kind), free_words(free)])


def spoken_section(name: str, free: int) -> str:
    """A section as a screen reader names it."""
    return figures().spoken([name, free_words(free)])


def spoken_standing(name: str, free: int) -> str:
    """An area without numbered seats as a screen reader names it."""
    return figures().spoken([name, places_words(free)])


def left_words(event: EventDetail, seats: SeatMapState) -> str:
    """What is left of an evening: seats, and places without numbers where there are some."""
    parts = [free_words(seats.counts().available)] if seats.seat_count else []
    if event.tiers:
        parts.append(places_words(sum(tier.available for tier in event.tiers)))
    return figures().joined(parts)


def places_words(free: int) -> str:
    """How many places of an area without numbered seats are free."""
    return ngettext("{count} place free", "{count} places free", free).format(count=figures().number(free))


def free_words(free: int) -> str:
    """How many seats are free."""
    return ngettext("{count} seat free", "{count} seats free", free).format(count=figures().number(free))


class SeatWords:
    """Says what a seat is and how it stands: `Stalls · Row A · Seat 12`, `€45.00`, `sold, printed`."""

    def __init__(self, store: ConsoleStore) -> None:
        self._store = store

    def tooltip(self, seat_no: int) -> str:
        """For the mouse: name, category and price, state."""
        return "\n".join(self._parts(seat_no))

    def spoken(self, seat_no: int) -> str:
        """For screen readers: `Stalls, Row K, Seat 12, €45.00, free`; the price is the one a pick starts with."""
        store = self._store
        if store.plan is None or not 0 <= seat_no < len(store.plan.seats.number):
            return ""
        nature = flag_words(store.plan.seats.flags[seat_no])
        name = seat_parts(seat_ref(store.plan, seat_no))
        return figures().spoken([*name, self._usual_price(seat_no), *nature, self.state(seat_no)])

    def _usual_price(self, seat_no: int) -> str:
        store = self._store
        if store.prices is None or store.plan is None:
            return ""
        category_no = store.plan.seats.category_no[seat_no]
        kind = store.prices.usual_type(category_no)
        amount = None if kind is None else store.prices.amount_minor(category_no, kind)
        return _("not on sale") if amount is None else figures().money(amount, store.prices.currency)

    def standing(self, seat_no: int) -> str:
        """Why this seat cannot be picked: its name and how it stands; empty when the plan does not know it."""
        store = self._store
        if store.plan is None or store.event is None or not 0 <= seat_no < len(store.plan.seats.number):
            return ""
        state = self.state(seat_no)
        if store.seat_map is not None and store.seat_map.is_pickable(seat_no):
            state = category_prices(store.event, store.plan.seats.category_no[seat_no])
        return figures().joined((seat_name(seat_ref(store.plan, seat_no)), state))

    def _parts(self, seat_no: int) -> list[str]:
        store = self._store
        if store.plan is None or store.event is None or not 0 <= seat_no < len(store.plan.seats.number):
            return []
        category_no = store.plan.seats.category_no[seat_no]
        names = {category.category_no: category.name for category in store.event.categories}
        offer = figures().joined((names.get(category_no, ""), category_prices(store.event, category_no)))
        nature = flag_words(store.plan.seats.flags[seat_no])
        return [seat_name(seat_ref(store.plan, seat_no)), offer, *nature, self.state(seat_no)]

    def state(self, seat_no: int) -> str:
        """How the map shows this seat to stand, in words; of a house seat also for whom it is kept."""
        seat_map = self._store.seat_map
        if seat_map is None:
            return ""
        if seat_no in seat_map.mine:
            return _("in your sale")
        byte = int(seat_map.states[seat_no])
        words = [state_words(byte)]
        kind = self._store.house_kinds.get(seat_no)
        if kind is not None and is_house_seat(np.array([byte], np.uint8))[0]:
            words.append(house_kind_words(kind))
        if byte & PRINTED_BIT:
            words.append(_("ticket printed"))
        if byte & USED_BIT:
            words.append(_("ticket used"))
        return figures().spoken(words)


def flag_words(flags: int) -> list[str]:
    """What a seat is by nature, as the legend calls it."""
    words = legend_words()
    named = (
        (ACCESSIBLE_FLAG, words.accessible),
        (COMPANION_FLAG, words.companion),
        (RESTRICTED_FLAG, words.restricted),
    )
    return [name for flag, name in named if flags & flag]


def state_words(byte: int) -> str:
    """The state of a seat, and who holds it."""
    holder = (byte & HOLDER_MASK) >> HOLDER_SHIFT
    held_by = {HolderKind.TILL: _("held at a counter"), HolderKind.FAN: _("held by a buyer"),
               HolderKind.HOUSE: _("held for the house")}  # fmt: skip
    words = {
        StaffStatus.AVAILABLE: _("free"),
        StaffStatus.HELD: held_by.get(HolderKind(holder), _("held")) if holder < len(HolderKind) else _("held"),
        StaffStatus.PAYING: _("being paid"),
        StaffStatus.SOLD: _("sold"),
        StaffStatus.BLOCKED: _("blocked"),
    }
    status = byte & STATUS_MASK
    if status == StaffStatus.BLOCKED and holder == HolderKind.HOUSE:
        return held_by[HolderKind.HOUSE]
    return words.get(StaffStatus(status), "") if status < len(StaffStatus) else ""
