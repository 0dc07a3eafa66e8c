"""The counter: the map on one side, the sale on the other. The keyboard comes first."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.core.seat_map import SeatMapState
from app.core.store import Change, ConsoleStore, Notice, NoticeCode
from app.i18n import _, figures
from app.models.map_plan import map_plan
from app.screens.house_words import house_columns
from app.screens.map_words import left_words, legend_categories, legend_words, map_texts, zoom_words
from app.screens.picking_view import PickingView
from app.screens.sale_panel import SalePanel
from app.screens.seat_details import SeatDetails
from backend_client.feed_protocol import FeedState
from backend_client.wire import EventStatus
from widgets.async_button import AsyncButton
from widgets.build import column, frame, label, row
from widgets.elided_label import ElidedLabel
from widgets.floor_tabs import FloorTabs
from widgets.focus import take_focus
from widgets.map_legend import MapLegend
from widgets.map_zoom import MapZoom
from widgets.seat_map import Level, SeatMapWidget
from widgets.status_banner import StatusBanner
from widgets.theme import Theme

_PANEL_SHARE = 0.32
_LEGEND_FROM_PX = 600
_PANEL_LEAST_PX, _PANEL_MOST_PX = 340, 440


class CounterScreen(QWidget):
    """Follows the store: `show_change` draws what changed and nothing else."""

    seat_chosen = Signal(int)
    """A seat was clicked, or chosen with the keyboard."""
    seats_banded = Signal(object)
    events_requested = Signal()

    def __init__(self, theme: Theme, store: ConsoleStore, hold_warning_s: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._store = store
        self._shown_event: tuple[int, int] | None = None
        self._shown_revision = -1
        self._seen = store.notices
        self.map = SeatMapWidget(theme, texts=map_texts(store))
        self.picking = PickingView(theme, store, self.map, self)
        self.floors = FloorTabs(self.map, _("Floors"))
        self.zoom = MapZoom(theme, self.map, zoom_words())
        self.details = SeatDetails(theme, self.map)
        self.legend = MapLegend(theme, legend_words())
        self.panel = SalePanel(theme, store, hold_warning_s)
        self.stale = StatusBanner(theme)
        self.back = AsyncButton("‹ " + _("Events"))
        self._map_side = frame("card")
        self._seen_at = QSize(), QSize()  # the room that map and legend share, and the map's part of it
        self._name = ElidedLabel()
        self._name.setProperty("type", "title")
        self._when = ElidedLabel()
        self._when.setProperty("tone", "muted")
        self._free = label(kind="lead")
        self._build()
        self._connect()

    @property
    def buttons(self) -> dict[str, list[AsyncButton]]:
        """Buttons by the deed that keeps them busy."""
        return {**self.panel.buttons, "show-events": [self.back]}

    def show_all(self) -> None:
        """Show everything anew."""
        everything = Change.EVENT | Change.SEATS | Change.SALE | Change.PARKED | Change.FEED | Change.NOTICES
        self.show_change(everything | Change.PICKING | Change.HOUSE)

    def show_change(self, change: Change) -> None:
        """Show what changed in the store."""
        parts = (
            (Change.EVENT, self._show_event),
            (Change.SEATS, self._show_seats),
            (Change.HOUSE, self._show_house),
            (Change.PLACES, self._show_places),
            (Change.SALE | Change.EVENT, self.panel.show_sale),
            (Change.PICKING | Change.SALE | Change.SESSION, self.picking.show_picking),
            (Change.PARKED, self.panel.show_parked),
            (Change.TERMINAL, self.panel.show_progress),
            (Change.FEED, self._show_feed),
            (Change.NOTICES, self._show_notices),
            (Change.CONNECTION, self.panel.show_connection),
        )
        for part, show in parts:
            if change & part:
                show()

    def show_time(self) -> None:
        """Once a second and more: what the clocks say."""
        self.panel.show_time()

    def take_view_of(self, other: CounterScreen) -> None:
        """Go on where the screen before stood: the same part of the map, the same seat (the event is the store's)."""
        self._show_event()
        self.map.take_view_of(other.map)
        self.legend.choose(other.legend.chosen)

    def focus_first(self) -> None:
        """Put the keyboard where work goes on: on the next step of the sale, or on the map."""
        if not self.panel.focus_again():
            self.focus_map()

    def focus_map(self) -> None:
        """Put the keyboard on the map."""
        take_focus(self.map, Qt.FocusReason.ShortcutFocusReason)

    def _show_event(self) -> None:
        event, plan = self._store.event, self._store.plan
        if event is None or plan is None:
            return
        if self._shown_event != (event.event_id, plan.version):
            self._shown_event = (event.event_id, plan.version)
            self._shown_revision = -1
            self.legend.choose(())
            shown_plan = map_plan(plan, event)
            self.map.set_plan(shown_plan)
            self.floors.show_plan()
            self.picking.show_event()
            self.legend.show_seats(bool(shown_plan.seat_count))
            self.legend.show_flags(int(np.bitwise_or.reduce(shown_plan.flags)) if shown_plan.seat_count else 0)
        self.legend.show_categories(legend_categories(plan, event))
        self._show_places()
        shown = figures()
        self._name.setText(event.name)
        when = shown.date_time(event.starts_at, event.zone)
        parts = [when, event.venue_name]
        if event.status is EventStatus.PAUSED:
            parts.append(_("Sale paused"))
        self._when.setText(shown.joined(parts))
        self._when.setToolTip(shown.zone(event.starts_at, event.zone))

    def _show_seats(self) -> None:
        state = self._store.seat_map
        if state is None:
            return
        changes = state.changes_since(self._shown_revision) if self._shown_revision >= 0 else None
        if changes is None:
            self.map.set_states(state.states)
        elif len(changes.seats):
            self.map.apply_changes(changes.seats, changes.states)
        self._shown_revision = state.revision
        self.legend.show_states(state.states)
        self.map.set_mine(sorted(state.mine))
        self._show_free(state)
        self.panel.show_counts()

    def _show_places(self) -> None:
        """What is left of places without numbers: on the map, on its button, and in the head."""
        self.picking.show_places()
        if self._store.seat_map is not None:
            self._show_free(self._store.seat_map)

    def _show_free(self, state: SeatMapState) -> None:
        """How much is left: seats, and places without numbers where there are some."""
        event = self._store.event
        if event is not None:
            self._free.setText(left_words(event, state))
        self._free.setVisible(state.loaded)

    def _show_house(self) -> None:
        """For whom the house keeps seats back."""
        seats, kinds = house_columns(self._store.house_kinds, self.map.plan.seat_count)
        self.map.set_house_kinds(seats, kinds)
        self.legend.show_house_kinds(kinds.tolist())

    def _show_feed(self) -> None:
        self.map.set_stale(self._store.map_out_of_date)
        if not self._store.map_out_of_date:
            self.stale.clear()
            return
        if self._store.feed_state is FeedState.LAGGING:
            why = _("The booking system passes no changes of seats on at the moment. A hold is always checked.")
        elif self._store.feed_state is FeedState.BUFFERING:
            why = _("Changes of seats were missed, and the map is being loaded anew. A hold is always checked.")
        else:
            why = _("The connection for changes of seats is down and is being tried again. A hold is always checked.")
        self.stale.tell("warn", _("The map may be out of date"), why)

    def _show_notices(self) -> None:
        self.panel.show_notices()
        fresh = [notice for notice in self._store.notices if not any(notice is seen for seen in self._seen)]
        self._seen = self._store.notices
        lost = [
            seat.seat_no
            for notice in fresh
            for seat in notice.seats
            if notice.code is NoticeCode.SEATS_LOST and self._is_on_the_map(notice)
        ]
        if lost:
            self.map.show_lost(lost)

    def _is_on_the_map(self, notice: Notice) -> bool:
        """Seats of a sale of another event are none of this plan's."""
        store = self._store
        sales = (*store.parked, *(() if store.sale is None else (store.sale,)))
        events = [sale.event_id for sale in sales if sale.sale_id == notice.sale_id]
        return store.event is not None and all(event_id == store.event.event_id for event_id in events)

    def _build(self) -> None:
        theme = self._theme
        names = column(theme, gap="hair")
        names.addWidget(self._name)
        names.addWidget(self._when)
        head = row(theme, gap="medium")
        head.addWidget(self.back)
        head.addLayout(names, 1)
        head.addWidget(self._free)
        self.back.setAccessibleName(_("Back to the list of events"))
        inside = column(theme, gap="", parent=self._map_side)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.addWidget(self.picking.bar)
        inside.addWidget(self.floors)
        inside.addWidget(self.map, 1)
        inside.addWidget(self.legend)
        sides = row(theme, gap="medium")
        sides.addWidget(self._map_side, 1)
        sides.addWidget(self.panel, 0)
        page = column(theme, margin="medium", gap="medium", parent=self)
        page.addLayout(head)
        page.addWidget(self.stale)
        page.addLayout(sides, 1)

    def _fit_panel(self, width: int) -> None:
        self.panel.setFixedWidth(min(max(int(width * _PANEL_SHARE), _PANEL_LEAST_PX), _PANEL_MOST_PX))

    def _connect(self) -> None:
        self.map.seat_clicked.connect(self.seat_chosen)
        self.map.seat_activated.connect(self.seat_chosen)
        self.map.seats_banded.connect(self.seats_banded)
        self.legend.categories_dimmed.connect(self.map.dim_categories)
        self.map.view_changed.connect(self._on_map_view_changed)
        self.back.action_requested.connect(self.events_requested)

    def _on_map_view_changed(self) -> None:
        """Have the legend explain what is seen.

        Its height is taken from the map, and the map's says whether one sees it from afar: where the two would go on
        changing each other for ever, the legend keeps its room.
        """
        far, (room, size) = self.map.level is Level.FAR, self._seen_at
        card = self._map_side.size()
        self._seen_at = QSize(card.width(), card.height() - self.map.y()), self.map.size()
        if far == self.legend.is_far and not (self.legend.keeps_room and room != self._seen_at[0]):
            return
        by_itself = far != self.legend.is_far and room == self._seen_at[0] and size != self.map.size()
        self.legend.show_far(far or by_itself, keeps_room=by_itself)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_panel(event.size().width())
        self.legend.show_marks(event.size().height() >= _LEGEND_FROM_PX)
