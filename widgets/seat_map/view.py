"""The map as a picture: values in, a drawn plan out; the hands and keys are added in `widget`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import monotonic

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QWidget

from widgets.seat_map.accessible import describe
from widgets.seat_map.drawn_view import FLUSH_MS, DrawnSeatMap
from widgets.seat_map.floors import floor_of_seat, floor_of_section, lay_apart
from widgets.seat_map.overlays import Overlays
from widgets.seat_map.plan import Bytes, SeatMapPlan
from widgets.seat_map.scene import Scene
from widgets.seat_map.texts import SeatMapTexts
from widgets.theme import Theme

READABLE_SEAT_PX = 18.0
_EDGE_PX = 36.0


class SeatMapView(DrawnSeatMap):
    """Shows one plan with live states."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, texts: SeatMapTexts | None = None) -> None:
        super().__init__(theme, parent, texts=texts)
        self.set_texts(self._texts)

    # ------------------------------------------------------------------ values in

    def set_plan(self, plan: SeatMapPlan) -> None:
        """Show another plan, whole. Changes posted for the old one and not yet drawn are dropped (S7)."""
        self._pending.clear()
        self.spoken.forget()
        self._overlays = Overlays(
            stale=self._overlays.stale,
            stale_text=self._overlays.stale_text,
            reduced_motion=self._overlays.reduced_motion,
        )
        plan = lay_apart(plan)
        self._scene = Scene(plan, self._theme, self._texts.write_count, self.stats)
        self._scene.set_house_letters(self._texts.house_letters)
        self._camera.set_plan(self._scene.bounds, self._scene.seat_diameter)
        self._change_view()

    def set_states(self, states: Bytes) -> None:
        """All state bytes by seat number; raises SeatOutOfPlanError when their number is not the plan's."""
        self._pending.clear()
        self._scene.states.set_all(np.asarray(states, np.uint8))
        self._redraw_later()
        self.seats_changed.emit()

    def apply_changes(self, seats: npt.NDArray[np.integer], states: Bytes) -> None:
        """Post changes in order; drawn at the next flush. Raises SeatOutOfPlanError at once for a foreign seat."""
        self._pending.append((self._scene.states.slots_of(seats), np.array(states, np.uint8)))
        if not self._flush_timer.isActive():
            since_ms = (monotonic() - self._last_flush_s) * 1000
            self._flush_timer.start(max(0, FLUSH_MS - int(since_ms)))

    def set_mine(self, seats: Iterable[int]) -> None:
        """Exactly these seats are mine, picked or held; new ones pulse."""
        mine = tuple(seats)
        before = self._overlays.mine
        if mine == before:
            return
        changed = self._scene.states.set_mine(mine)
        self._overlays.own(mine, monotonic())
        for seat in {*before, *mine}:
            self._overlays.lost.pop(seat, None)
            self._update_ring(seat)
            self.spoken.tell_changed(seat)
        self._stamp(changed)
        self._animate()
        self.marks_changed.emit()

    def set_sellable(self, sellable: npt.NDArray[np.bool_] | None) -> None:
        """By seat number, which seats this person may sell; None: all. A free seat that is not stands faded."""
        closed = None if sellable is None else ~np.asarray(sellable, np.bool_)
        self._stamp(self._scene.states.set_closed(closed))

    def dim_categories(self, categories: Iterable[int]) -> None:
        """Put seats of these categories back (the legend's filter); none: all show as they are."""
        self._stamp(self._scene.states.dim_categories(categories))

    def set_house_kinds(self, seats: npt.NDArray[np.integer], kinds: Bytes) -> None:
        """Exactly these seats are kept back by the house for these kinds (`HouseKind`), all others for nobody named.

        It shows once a seat's state says that it is the house's. Raises SeatOutOfPlanError for a foreign seat and
        ValueError when there are more or fewer kinds than seats.
        """
        self._stamp(self._scene.states.set_house_kinds(seats, kinds))

    def set_standing(self, free: Mapping[str, int]) -> None:
        """How many places are left in areas without numbered seats, by name."""
        if self._scene.standing.set_free(free):
            self.update()

    def set_stale(self, stale: bool, text: str | None = None) -> None:
        """Hatch the map while it is not live; `text` stands in for the host's word of it."""
        words = self._texts.stale if text is None else text
        if (self._overlays.stale, self._overlays.stale_text) != (stale, words):
            self._overlays.stale, self._overlays.stale_text = stale, words
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Other colours, the same view."""
        self._theme = theme
        self._scene.set_theme(theme)
        self._redraw_later()

    def set_texts(self, texts: SeatMapTexts) -> None:
        """Words in the person's language."""
        self._texts = texts
        self._overlays.stale_text = texts.stale
        self.setAccessibleName(texts.name)
        self.setAccessibleDescription(texts.hint)
        self._scene.set_count_writer(texts.write_count)
        self._scene.set_house_letters(texts.house_letters)
        self._redraw_later()

    def set_reduced_motion(self, reduced: bool) -> None:
        """No pulses and no blinking."""
        self._overlays.reduced_motion = reduced

    def take_view_of(self, other: SeatMapView) -> None:
        """Look where a map of the same plan looked, with the keyboard on the same seat; another plan is left alone."""
        if other.plan.seat_count != self.plan.seat_count:
            return
        self.show_floor(other.scene.floor)
        self._camera.take_view(other.camera.looks_at)
        self._overlays.focus = other.focused_seat
        self._change_view()

    def show_floor(self, floor: int) -> None:
        """Show another floor, whole."""
        if floor != self._scene.floor and 0 <= floor < len(self.plan.floor_name):
            self._scene.show_floor(floor)
            self._camera.set_plan(self._scene.bounds, self._scene.seat_diameter)
            self._change_view()
            self.floor_shown.emit(floor)

    def fit(self) -> None:
        """The whole plan in view, or the whole of the floor that is shown."""
        self._camera.fit()
        self._change_view()

    def zoom(self, factor: float, about: QPointF | None = None) -> None:
        """Zoom about a point, the middle by default."""
        point = about or QPointF(self.width() / 2, self.height() / 2)
        if self._camera.zoom_about(point.x(), point.y(), factor):
            self._change_view()

    def show_section(self, section: int) -> None:
        """A section as large as it fits, its seats at least large enough to pick."""
        self.show_floor(floor_of_section(self.plan, section))
        bounds = self._scene.section_bounds(section)
        self._camera.show(bounds)
        least = READABLE_SEAT_PX / self._scene.seat_diameter
        if self._camera.scale < least * 0.5:
            self._camera.look_at((bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2, least * 0.5)
        self._change_view()

    def ensure_visible(self, seat_no: int) -> None:
        """Bring a seat into view, large enough to pick."""
        self._scene.states.slot_of(seat_no)
        self.show_floor(floor_of_seat(self.plan, seat_no))
        x, y = self._scene.position(seat_no)
        at_x, at_y = self._camera.to_px(x, y)
        inside = _EDGE_PX <= at_x <= self.width() - _EDGE_PX and _EDGE_PX <= at_y <= self.height() - _EDGE_PX
        small = self._seat_px() < READABLE_SEAT_PX * 0.6
        if small or not inside:
            self._camera.look_at(x, y, READABLE_SEAT_PX / self._scene.seat_diameter if small else None)
            self._change_view()

    def focus_seat(self, seat_no: int) -> None:
        """Put the keyboard on a seat and speak it."""
        before = self._overlays.focus
        self._overlays.focus = seat_no
        for seat in {before, seat_no}:
            self._update_ring(seat)
        if seat_no >= 0:
            self.ensure_visible(seat_no)
            describe(self, self._texts.spoken(seat_no))
            self.spoken.tell_focus(seat_no)
        if seat_no != before:
            self.seat_focused.emit(seat_no)
