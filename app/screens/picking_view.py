"""What is around the map for picking: the line over it, the small map, the word beside seats that were lost."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.core.picking import OfferKind, SeatOffer
from app.core.sale import SaleState
from app.core.session import Permission
from app.core.store import ConsoleStore
from app.i18n import _
from app.screens import keys
from app.screens.picking_words import best_words, offer_words, pick_bar_words, places_choices
from widgets.map_callout import MapCallout
from widgets.pick_bar import PickBar
from widgets.seat_map import SeatMapWidget
from widgets.seat_map.minimap import MiniMap
from widgets.theme import Theme


class PickingView(QObject):
    """Follows the store. `bar` is laid out by the screen; the rest lies over the map."""

    def __init__(self, theme: Theme, store: ConsoleStore, seat_map: SeatMapWidget, screen: QWidget) -> None:
        super().__init__(screen)
        self._store = store
        self._map = seat_map
        self._shown_offer: SeatOffer | None = None
        self.bar = PickBar(theme, pick_bar_words(), screen)
        self.minimap = MiniMap(theme, seat_map, _("The whole plan; drag the frame to move"))
        self.callout = MapCallout(theme, seat_map, _("Close"))

    def show_event(self) -> None:
        """The sections of the plan that is open."""
        plan = self._store.plan
        if plan is None:
            return
        used = np.unique([row.section_no for row in plan.rows if row.seat_count]).tolist()
        chosen = self._store.picking.sections
        self.bar.show_seats(bool(used))
        self.bar.show_sections([(no, plan.sections[no].name) for no in used], chosen[0] if chosen else -1)
        self.show_picking()

    def show_picking(self) -> None:
        """How many together, what is best, what can be undone, what is offered."""
        picking, sale = self._store.picking, self._store.sale
        picks = sale is None or sale.ended or sale.state is SaleState.PICKING
        self.bar.show_count(picking.together)
        self.bar.show_best(best_words(picking.best))
        self.bar.choose_section(picking.sections[0] if picking.sections else -1)
        self.bar.show_history(can_undo=bool(picking.history.past), can_redo=bool(picking.history.future))
        session = self._store.session
        self.bar.set_picking(may_sell=session is not None and session.may(Permission.SELL), picks=picks)
        self.show_places()
        self._map.refresh_preview()
        self._show_offer(picking.offer if picks else None)

    def show_places(self) -> None:
        """What is left of places without numbers: beside the map and on it."""
        self.bar.show_places(places_choices(self._store))
        tiers = () if self._store.event is None else self._store.event.tiers
        self._map.set_standing({tier.name: tier.available for tier in tiers})

    def _show_offer(self, offer: SeatOffer | None) -> None:
        """The word beside the seats. After a refused hold it takes the keyboard: nobody can go on without deciding."""
        if offer == self._shown_offer:
            return
        self._shown_offer = offer
        if offer is None or self._store.plan is None:
            self._map.show_offer((), ())
            self.callout.clear()
            return
        self._map.show_offer(offer.about, offer.instead)
        if offer.refused or offer.kind is OfferKind.LOST:
            self._map.reveal((*offer.about, *offer.instead[:1]))
        self.callout.tell((*offer.about, *offer.instead), *offer_words(offer, self._store), keys.OFFER.sequence)
        if offer.refused:
            self.callout.focus_take()
