"""The map as a picture: values in, a drawn plan out; the hands and keys are added in `widget`.

The picture of the seats lives in a `Renderer` and is drawn anew only when the view changes; changed seats are stamped
into it at most once in 16 ms (`FLUSH_MS`), however many changes were posted. `paintEvent` blits it and adds the
overlays. Positions are logical px of this widget; the map is never mirrored, whatever the layout direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from time import monotonic

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.seat_map.accessible import describe
from widgets.seat_map.accessible_tree import SpokenMap
from widgets.seat_map.camera import Camera
from widgets.seat_map.damage import area_of, damaged_region
from widgets.seat_map.floors import floor_of_seat, floor_of_section, lay_apart
from widgets.seat_map.overlay_layer import paint_overlays, paint_spotlight
from widgets.seat_map.overlays import Overlays, ring_box
from widgets.seat_map.plan import Bytes, Indices, SeatMapPlan, empty_plan
from widgets.seat_map.renderer import Level, Stats
from widgets.seat_map.scene import Scene
from widgets.seat_map.seat_states import Flags
from widgets.seat_map.texts import SeatMapTexts
from widgets.theme import Theme

FLUSH_MS = 16
SETTLE_MS = 250
COUNT_MS = 250
FRAME_MS = 33
TOUCH_RADIUS_PX = 11.0
READABLE_SEAT_PX = 18.0
_EDGE_PX = 36.0


class SeatMapView(QWidget):
    """Shows one plan with live states."""

    view_changed = Signal()
    """Another plan, place or scale."""
    floor_shown = Signal(int)
    """Another floor of the plan."""
    seat_focused = Signal(int)
    """The keyboard stands on another seat."""
    seats_changed = Signal()
    """Seats look otherwise than before: their states, whose they are, what is put back."""
    marks_changed = Signal()
    """Other seats matter than before: mine, lost or offered ones."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, texts: SeatMapTexts | None = None) -> None:
        super().__init__(parent)
        self.stats = Stats()
        self._theme = theme
        self._texts = texts or SeatMapTexts()
        self._camera = Camera()
        self._scene = Scene(empty_plan(), theme, self._texts.write_count, self.stats)
        self._overlays = Overlays()
        self._pending: list[tuple[npt.NDArray[np.int64], Bytes]] = []
        self._needs_full = True
        self._drawn_dpr = 0.0
        self._last_flush_s = 0.0
        self._flush_timer = self._timer(FLUSH_MS, self._flush)
        self._settle_timer = self._timer(SETTLE_MS, self._settle)
        self._count_timer = self._timer(COUNT_MS, self._recount)
        self._motion_timer = self._timer(FRAME_MS, self._move_overlays)
        self.spoken = SpokenMap(self)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
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
        numbers = np.array(seats, np.int64)
        if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= self._scene.plan.seat_count):
            self._scene.states.slots_of(numbers)
        self._pending.append((numbers, np.array(states, np.uint8)))
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

    # ------------------------------------------------------------------ questions

    @property
    def plan(self) -> SeatMapPlan:
        return self._scene.plan

    @property
    def scene(self) -> Scene:
        return self._scene

    @property
    def camera(self) -> Camera:
        return self._camera

    @property
    def texts(self) -> SeatMapTexts:
        return self._texts

    @property
    def mine(self) -> tuple[int, ...]:
        """This person's own seats."""
        return self._overlays.mine

    @property
    def focused_seat(self) -> int:
        return self._overlays.focus

    @property
    def place_shown(self) -> str:
        """What the corner says of the part in view; empty from afar."""
        return self._overlays.place

    @property
    def level(self) -> Level:
        return Level.of(self._seat_px())

    def seat_rect(self, seat_no: int) -> QRect:
        """Where a seat is now, whether in view or not; raises SeatOutOfPlanError."""
        self._scene.states.slot_of(seat_no)
        centre = self._centre(seat_no)
        radius = max(1.0, self._seat_px() / 2)
        return QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius).toAlignedRect()

    def seats_rect(self, seats: Indices) -> QRect:
        """Where seats are now, all of them together."""
        corners = [self.seat_rect(int(seat)) for column in (self.plan.x[seats], self.plan.y[seats])
                   for seat in (seats[column.argmin()], seats[column.argmax()])] if len(seats) else []  # fmt: skip
        return reduce(QRect.united, corners, QRect())

    def pickable(self, seats: Indices) -> Flags:
        """Which of these seats this person can pick or has picked."""
        return self._scene.states.selectable(self._scene.states.slots_of(seats))

    def seat_at(self, point: QPointF) -> int:
        """Seat under a point within a finger's reach, -1 when there is none or seats are too small to pick."""
        if self.level is Level.FAR:
            return -1
        return self._nearest(point, max(self._seat_px() / 2 + 1, TOUCH_RADIUS_PX))

    def standing_at(self, point: QPointF) -> str:
        """Name of the area without numbered seats under a point, empty when there is none."""
        return self._scene.standing.at(*self._camera.to_plan(point.x(), point.y()))

    def section_at(self, point: QPointF) -> int:
        """Section under a point, -1 when there is none."""
        seat = self._nearest(point, max(3 * self._scene.grid.pitch * self._camera.scale, TOUCH_RADIUS_PX))
        return -1 if seat < 0 else int(self.plan.seat_section[seat])

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

    # ------------------------------------------------------------------ drawing

    def _timer(self, interval_ms: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.setInterval(interval_ms)
        timer.timeout.connect(slot)
        return timer

    def _flush(self) -> None:
        self._last_flush_s = monotonic()
        if not self._pending:
            return
        self.stats.flushes += 1
        seats = np.concatenate([seats for seats, _ in self._pending])
        states = np.concatenate([states for _, states in self._pending])
        self._pending.clear()
        self._stamp(self._scene.states.apply(seats, states))
        if self._overlays.focus in seats:
            self.spoken.tell_changed(self._overlays.focus)

    def _stamp(self, slots: Indices) -> None:
        """Draw changed seats, unless all will be drawn anyway."""
        if not len(slots):
            return
        self.seats_changed.emit()
        if self.level is Level.FAR and not self._count_timer.isActive():
            self._count_timer.start()
        if self._needs_full or not self.isVisible():
            self._redraw_later()
            return
        stamps = self._scene.renderer.partial(slots)
        if not len(stamps.left):
            return
        self.update(damaged_region(stamps, self.rect(), self.devicePixelRatioF()))
        if self._scene.renderer.overlaps:
            self._settle_timer.start()

    def _settle(self) -> None:
        """Once changes rest: draw all, for sprites of this size overlap and their order shows."""
        self._redraw_later()

    def _recount(self) -> None:
        for box in self._scene.recount():
            self.update(box)

    def _change_view(self) -> None:
        self._redraw_later()
        self.view_changed.emit()

    def _redraw_later(self) -> None:
        self._needs_full = True
        self.update()

    def _redraw(self, dpr: float) -> None:
        self._settle_timer.stop()
        self._scene.renderer.resize(math.ceil(self.width() * dpr), math.ceil(self.height() * dpr), dpr)
        self._scene.redraw(self._camera, dpr)
        place = self._scene.place_in_view(self._camera)
        self._overlays.place = self._texts.write_place(place.section, place.first_row, place.last_row) if place else ""
        self._needs_full = False
        self._drawn_dpr = dpr

    def _animate(self) -> None:
        if self._overlays.moving(monotonic()) and not self._motion_timer.isActive():
            self._motion_timer.start()

    def _move_overlays(self) -> None:
        now_s = monotonic()
        for seat in self._overlays.moving_seats(now_s):
            self._update_ring(seat)
        spot = self._overlays.spot
        if spot is not None and spot.fades(now_s):
            self.update()
        self._animate()

    def _update_ring(self, seat_no: int) -> None:
        if 0 <= seat_no < self.plan.seat_count:
            self.update(ring_box(self._centre(seat_no), self._seat_px()))

    def _seat_px(self) -> float:
        return self._scene.seat_diameter * self._camera.scale

    def _centre(self, seat_no: int) -> QPointF:
        return QPointF(*self._camera.to_px(*self._scene.position(seat_no)))

    def _nearest(self, point: QPointF, reach_px: float) -> int:
        x, y = self._camera.to_plan(point.x(), point.y())
        return self._scene.grid.nearest(x, y, reach_px / self._camera.scale) if self.plan.seat_count else -1

    # ------------------------------------------------------------------ Qt

    def sizeHint(self) -> QSize:
        return QSize(960, 640)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 180)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.stats.paints += 1
        dpr = self.devicePixelRatioF()
        if self._needs_full or dpr != self._drawn_dpr:
            self._redraw(dpr)
        clip = event.rect()
        self.stats.painted_px += area_of(event.region())
        painter = QPainter(self)
        self._scene.blit(painter, dpr)
        self._scene.paint_labels(painter, event.region(), dpr)
        self._scene.standing.paint(painter, clip, self._camera, self._scene.palette, self._texts.write_places)
        paint_spotlight(painter, self._scene, self._camera, self._overlays, clip, dpr)
        paint_overlays(painter, self._scene, self._camera, self._overlays, self.rect(), has_keyboard=self.hasFocus())
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._camera.resize(event.size().width(), event.size().height())
        self._change_view()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)

    def hideEvent(self, event: QHideEvent) -> None:
        self._motion_timer.stop()
        self._needs_full = True
        super().hideEvent(event)
