"""Words of picking: why seats could not be picked, what is offered instead, what the best are, what was found."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.errors import NoBlockLeftError, PlacesNotPickableError, SeatNotPickableError, TooManySeatsError
from app.core.find_seat import Found
from app.core.picking import BestShown, OfferKind, SeatOffer
from app.core.store import ConsoleStore
from app.i18n import _, figures, ngettext
from app.models.place_words import row_name, short_seats
from app.screens import keys
from app.screens.map_words import SeatWords, category_prices, places_words
from app.screens.words import Advice, advice_for, advice_for_error
from backend_client.plan_names import row_kinds, seat_ref
from backend_client.wire import MAX_SEATS_PER_HOLD
from widgets.pick_bar import PickBarWords
from widgets.places_button import PlacesChoice


def picking_advice(error: Exception, store: ConsoleStore) -> Advice:
    """Words for a refused pick."""
    if isinstance(error, TooManySeatsError):
        return Advice(advice_for(error.code).title, _limit_words(error.limit))
    if isinstance(error, NoBlockLeftError):
        return _no_block_words(error)
    if isinstance(error, PlacesNotPickableError):
        return _no_places_words(error)
    if isinstance(error, SeatNotPickableError):
        why = SeatWords(store).standing(error.seat_no)
        return Advice(advice_for(error.code).title, why) if why else advice_for(error.code)
    return advice_for_error(error)


def band_advice(count: int, wanted: int, limit: int) -> Advice:
    """Of the free seats under a rubber band only some were taken."""
    count_of = _("{count} of {wanted} seats picked")
    return Advice(count_of.format(count=figures().number(count), wanted=figures().number(wanted)), _limit_words(limit))


def together_advice(run: int) -> Advice:
    """A click wanted more seats than are free beside each other there."""
    title = ngettext(
        "Only {count} seat is free together here", "Only {count} seats are free together here", run
    ).format(count=figures().number(run))
    return Advice(title, _("Choose fewer seats, another place, or the best available ones (B)."))


def _no_block_words(error: NoBlockLeftError) -> Advice:
    if error.count == 1:
        return Advice(_("No seat is left there"), _("Look in all sections and categories."))
    title = ngettext("No {count} seat together is left", "No {count} seats together are left", error.count)
    most = ngettext("{count} seat together is left.", "{count} seats together are left.", error.most)
    detail = most if error.most > 1 else _("Single seats are left.") if error.most else ""
    return Advice(
        title.format(count=error.count), detail.format(count=error.most) or _("Look in all sections and categories.")
    )


def _no_places_words(error: PlacesNotPickableError) -> Advice:
    if error.left is None:
        return Advice(_("These places are not sold here"), error.name)
    if error.left == 0:
        return Advice(_("No place is left there"), error.name)
    title = ngettext("Only {count} place is left there", "Only {count} places are left there", error.left)
    detail = figures().joined((error.name, _("Choose fewer places.")))
    return Advice(title.format(count=figures().number(error.left)), detail)


def places_choices(store: ConsoleStore) -> tuple[PlacesChoice, ...]:
    """The tiers of the open event: name, places left, prices."""
    event = store.event
    if event is None:
        return ()
    return tuple(
        PlacesChoice(
            tier.tier_id,
            tier.name,
            figures().joined((places_words(tier.available), category_prices(event, tier.category_no))),
            tier.available > 0,
        )
        for tier in event.tiers
    )


def picked_places(name: str, count: int) -> str:
    """Said once places were picked, for people who listen."""
    words = ngettext("{count} place picked", "{count} places picked", count).format(count=figures().number(count))
    return figures().joined((name, words))


def _limit_words(limit: int) -> str:
    most = ngettext("One sale takes at most {count} seat.", "One sale takes at most {count} seats.", limit)
    then = _("Sell these first, then go on with the rest.")
    return f"{most.format(count=figures().number(limit))} {then}"


# ---------------------------------------------------------------- what is offered


def offer_words(offer: SeatOffer, store: ConsoleStore) -> tuple[str, str, str]:
    """Title, detail and the name of the button (empty: nothing is offered) of the callout on the map."""
    about, instead = _short(offer.about, store), _short(offer.instead, store)
    if offer.kind is OfferKind.LOST:
        title = _("Taken just now: {seats}").format(seats=about)
        detail = _("Free close by: {seats}") if instead else _("None like these are free. B shows what is left.")
        action = ngettext("Take {count} seat", "Take these {count} seats", len(offer.instead))
    else:
        title = _("Left single: {seats}").format(seats=about)
        none = _("The booking system does not allow that. Pick other seats.")
        warning = _("No shift avoids it. The booking system may refuse the hold.")
        detail = _("Without a gap: {seats}") if instead else none if offer.refused else warning
        action = ngettext("Move to {count} seat", "Move to these {count} seats", len(offer.instead))
    return title, detail.format(seats=instead), action.format(count=len(offer.instead)) if instead else ""


def best_words(best: BestShown | None) -> str:
    """Which of the best is shown."""
    if best is None:
        return ""
    return _("{rank} of {total}").format(rank=figures().number(best.rank), total=figures().number(best.total))


def best_spoken(best: BestShown, store: ConsoleStore) -> str:
    """The same with the seats, for people who listen."""
    return figures().joined((_("Best available"), best_words(best), _short(best.block, store)))


def _short(seats: Sequence[int], store: ConsoleStore) -> str:
    if store.plan is None:
        return ""
    return short_seats(tuple(seat_ref(store.plan, seat) for seat in seats))


# ---------------------------------------------------------------- finding


def noise_words() -> tuple[str, ...]:
    """What people type beside a label, and is none."""
    english = ("Section", "Row", "Table", "Booth", "Seat")
    return (_("Section"), _("Row"), _("Table"), _("Booth"), _("Seat"), *english)


def nothing_found() -> str:
    """Said where nothing is found."""
    return _("No seat, row or section of that name")


def found_words(found: Found, store: ConsoleStore) -> str:
    """One line of the list: its name, and how it stands or what is free there."""
    plan, seat_map = store.plan, store.seat_map
    if plan is None or seat_map is None:
        return ""
    if found.seat_no >= 0:
        return SeatWords(store).standing(found.seat_no)
    free = int(seat_map.pickable()[found.seats.start : found.seats.stop].sum())
    row = row_name(plan.rows[found.row_no].label, row_kinds(plan).get(found.row_no, "")) if found.row_no >= 0 else ""
    count = ngettext("{count} seat free", "{count} seats free", free).format(count=figures().number(free))
    return figures().joined((plan.sections[found.section_no].name, row, count))


# ---------------------------------------------------------------- the line over the map


def pick_bar_words() -> PickBarWords:
    """What the parts of the line over the map are called."""
    each = tuple(
        ngettext("{count} seat together", "{count} seats together", count).format(count=count)
        for count in range(1, MAX_SEATS_PER_HOLD + 1)
    )
    return PickBarWords(
        together=_("Together"), together_each=each, best=_("Best available"), next_best=_("Next best"),
        everywhere=_("All sections"), where=_("Section for the best available"), undo=_("Undo the pick"),
        redo=_("Redo the pick"), find=_("Find a seat"), key_best=keys.BEST.sequence, key_where=keys.WHERE.sequence,
        key_undo=keys.UNDO.sequence, key_redo=keys.REDO.sequence, key_find=keys.FIND.sequence,
        places=_("Places without numbers"), key_places=keys.PLACES.sequence,
    )  # fmt: skip
