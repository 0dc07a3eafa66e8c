"""The wishes of picking, bound to the actions: clicks, parties, best available, undo, offers, finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.actions.desk import Desk
from app.actions.pick_places import drop_place, pick_places, tier_of_area
from app.actions.pick_seats import pick_seats, place_party, toggle_seat
from app.actions.propose_seats import (
    block_under,
    dismiss_offer,
    look_in,
    redo_pick,
    run_at,
    set_together,
    show_best,
    take_offer,
    undo_pick,
)
from app.core.errors import ConsoleError, TooManySeatsError
from app.core.find_seat import Found, SeatIndex
from app.screens import keys
from app.screens.main_window import MainWindow
from app.screens.picking_words import (
    band_advice,
    best_spoken,
    found_words,
    noise_words,
    nothing_found,
    picked_places,
    picking_advice,
    together_advice,
)
from backend_client.wire import MAX_SEATS_PER_HOLD, Plan
from widgets.focus import take_focus

NO_TIER = -1


class PickBindings(QObject):
    """Lives as long as the window; the screens behind it may be built anew."""

    hold_requested = Signal()
    """Seats that were offered after a refused hold were taken: go on where the hold was."""
    next_customer_began = Signal()
    """The first pick after a sale that ended."""

    def __init__(self, window: MainWindow, desk: Desk) -> None:
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._index: tuple[Plan, SeatIndex] | None = None
        self._found: tuple[Found, ...] = ()

    def connect_screens(self) -> None:
        """Connect the counter that was built just now."""
        counter = self._window.screens.counter
        seat_map, bar, callout = counter.map, counter.picking.bar, counter.picking.callout
        self._index = None
        counter.seat_chosen.connect(self.on_seat_chosen)
        counter.seats_banded.connect(self._on_seats_banded)
        counter.legend.categories_dimmed.connect(self._on_categories_dimmed)
        seat_map.block_chosen.connect(self._on_block_chosen)
        seat_map.standing_clicked.connect(self._on_standing_clicked)
        seat_map.count_typed.connect(self._on_count_chosen)
        seat_map.set_block_of(self._block_of)
        bar.count_chosen.connect(self._on_count_chosen)
        bar.best_requested.connect(self._on_best_requested)
        bar.section_chosen.connect(self._on_section_chosen)
        bar.places_chosen.connect(self._on_places_chosen)
        bar.undo_requested.connect(self._on_undo_requested)
        bar.redo_requested.connect(self._on_redo_requested)
        bar.search.search_requested.connect(self._on_search_requested)
        bar.search.found.connect(self._on_found)
        bar.search.closed.connect(counter.focus_map)
        callout.taken.connect(self.take_offer)
        callout.closed.connect(self._on_callout_closed)
        on_map = (
            (keys.BEST, self._on_best_requested), (keys.BEST_BEFORE, self._on_best_before), (keys.FIND, self.find),
            (keys.MINIMAP, self._on_minimap_key), (keys.WHERE, self._on_where_key), (keys.PLACES, bar.places.choose),
        )  # fmt: skip
        for key, slot in on_map:
            _shortcut(key, seat_map, slot, Qt.ShortcutContext.WidgetShortcut)
        anywhere = ((keys.UNDO, self._on_undo_requested), (keys.REDO, self._on_redo_requested))
        for key, slot in anywhere:
            _shortcut(key, counter, slot, Qt.ShortcutContext.WidgetWithChildrenShortcut)

    # ------------------------------------------------------------ clicks

    def on_seat_chosen(self, seat_no: int) -> None:
        """A click, Enter, or the cross in a line of the sale: one seat, unless more were wanted than are free there."""
        self._try(lambda: self._choose(seat_no))

    def _choose(self, seat_no: int) -> None:
        if seat_no < 0:
            drop_place(self._desk, seat_no)
            return
        store = self._desk.store
        own = store.sale is not None and not store.sale.ended and seat_no in store.sale.seats
        free = store.seat_map is not None and store.seat_map.is_pickable(seat_no)
        if store.picking.together > 1 and free and not own and not block_under(self._desk, seat_no):
            self._window.screens.counter.panel.tell(together_advice(run_at(self._desk, seat_no)))
            return
        toggle_seat(self._desk, seat_no)
        self._window.screens.counter.panel.forget_refusal()

    def _on_standing_clicked(self, name: str) -> None:
        """An area without numbered seats: as many of its places as a click takes."""
        tier = tier_of_area(self._desk, name)
        self._try(lambda: self._pick_places(NO_TIER if tier is None else tier.tier_id))

    def _on_places_chosen(self, tier_id: int) -> None:
        self._try(lambda: self._pick_places(tier_id))

    def _pick_places(self, tier_id: int) -> None:
        pick_places(self._desk, tier_id, self._desk.store.picking.together)
        counter, tier = self._window.screens.counter, self._desk.store.tier(tier_id)
        counter.panel.forget_refusal()
        if tier is not None:
            picked = sum(pick.tier_id == tier_id for pick in self._desk.sale().picks)
            counter.map.say(picked_places(tier.name, picked))

    def _on_block_chosen(self, seats: object) -> None:
        self._try(lambda: self._place(_listed(seats)))

    def _place(self, seats: Sequence[int]) -> None:
        place_party(self._desk, seats)
        self._window.screens.counter.panel.forget_refusal()

    def _on_seats_banded(self, seats: object) -> None:
        self._try(lambda: self._pick_under_band(_listed(seats)))

    def _pick_under_band(self, seats: list[int]) -> None:
        """Take what a sale has room for, and say so when that is not all."""
        store = self._desk.store
        before = frozenset[int]() if store.sale is None or store.sale.ended else store.sale.seats
        wanted = [seat for seat in seats if seat not in before and store.seat_map and store.seat_map.is_pickable(seat)]
        count = len(pick_seats(self._desk, seats).seats - before)
        if wanted and count == 0:
            raise TooManySeatsError(MAX_SEATS_PER_HOLD)
        panel = self._window.screens.counter.panel
        if count < len(wanted):
            panel.tell(band_advice(count, len(wanted), MAX_SEATS_PER_HOLD))
        else:
            panel.forget_refusal()

    def _block_of(self, seat_no: int) -> Sequence[int]:
        """What a click on this seat takes."""
        may_sell = self._window.screens.counter.panel.may_sell
        return block_under(self._desk, seat_no) if may_sell and self._desk.store.picking.together > 1 else ()

    # ------------------------------------------------------------ how many, and the best

    def _on_count_chosen(self, count: int) -> None:
        set_together(self._desk, count)

    def _on_section_chosen(self, section_no: int) -> None:
        look_in(self._desk, sections=() if section_no < 0 else (section_no,))

    def _on_categories_dimmed(self, dimmed: object) -> None:
        """The legend's filter says where best available looks, too."""
        away, finder = set(_listed(dimmed)), self._desk.store.block_finder
        every = () if finder is None else finder.categories
        look_in(self._desk, categories=[category for category in every if category not in away] if away else ())

    def _on_best_requested(self) -> None:
        plan = self._desk.store.plan
        if plan is not None and not plan.rows:
            # Of places without numbers none is better than another.
            self._window.screens.counter.picking.bar.places.choose()
            return
        self._try(self._show_best)

    def _on_best_before(self) -> None:
        self._try(lambda: self._show_best(back=True))

    def _show_best(self, *, back: bool = False) -> None:
        best = show_best(self._desk, back=back)
        counter = self._window.screens.counter
        counter.panel.forget_refusal()
        counter.map.reveal(best.block)
        counter.map.spotlight(best.block)
        counter.map.say(best_spoken(best, self._desk.store))

    # ------------------------------------------------------------ undo, offers

    def _on_undo_requested(self) -> None:
        self._try(lambda: undo_pick(self._desk))

    def _on_redo_requested(self) -> None:
        self._try(lambda: redo_pick(self._desk))

    def take_offer(self) -> None:
        """Take what is offered on the map; after a refused hold the hold goes on with it."""
        offer = self._desk.store.picking.offer
        self._try(lambda: take_offer(self._desk))
        self._window.screens.counter.picking.callout.take.set_busy(False)
        if offer is not None and offer.instead and offer.refused and self._desk.store.picking.offer is None:
            self.hold_requested.emit()

    def _on_callout_closed(self) -> None:
        dismiss_offer(self._desk)

    # ------------------------------------------------------------ finding

    def find(self) -> None:
        """Put the keyboard into the field that finds a seat."""
        self._window.screens.counter.picking.bar.search.begin()

    def _on_search_requested(self, text: str) -> None:
        plan = self._desk.store.plan
        if plan is None:
            return
        if self._index is None or self._index[0] is not plan:
            self._index = (plan, SeatIndex(plan, noise_words()))
        self._found = self._index[1].search(text)
        lines = [found_words(found, self._desk.store) for found in self._found]
        self._window.screens.counter.picking.bar.search.show_results(lines, nothing_found())

    def _on_found(self, place: int) -> None:
        """Show what was found, in the middle and lit up, with the keyboard on it."""
        seat_map, found = self._window.screens.counter.map, self._found[place]
        state = self._desk.store.seat_map
        free = [seat for seat in found.seats if state is not None and state.is_pickable(seat)]
        seat_map.centre_on(found.seats)
        seat_map.focus_seat(found.seat_no if found.seat_no >= 0 else (free or list(found.seats))[0])
        seat_map.spotlight(found.seats)
        self._window.screens.counter.focus_map()

    # ------------------------------------------------------------ other keys

    def _on_minimap_key(self) -> None:
        minimap = self._window.screens.counter.picking.minimap
        minimap.set_wished(not minimap.wished)

    def _on_where_key(self) -> None:
        where = self._window.screens.counter.picking.bar.where
        if where.isVisible() and where.isEnabled():
            take_focus(where, Qt.FocusReason.ShortcutFocusReason)
            where.showPopup()

    def _try(self, action: Callable[[], object]) -> None:
        """Do it if this person sells; a refusal is said in the panel."""
        panel = self._window.screens.counter.panel
        if not panel.may_sell:
            return
        sale = self._desk.store.sale
        if sale is not None and sale.ended:
            self.next_customer_began.emit()
        try:
            action()
        except ConsoleError as error:
            panel.tell(picking_advice(error, self._desk.store))


def _shortcut(key: keys.Key, parent: QWidget, slot: Callable[[], None], context: Qt.ShortcutContext) -> None:
    shortcut = QShortcut(QKeySequence(key.sequence), parent)
    shortcut.setContext(context)
    shortcut.activated.connect(slot)


def _listed(seats: object) -> list[int]:
    return [int(seat) for seat in seats] if hasattr(seats, "__iter__") else []
