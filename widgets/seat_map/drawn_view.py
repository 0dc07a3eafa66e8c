"""The picture of the map on the screen: when it is drawn, and how much of it.

The picture of the seats lives in a `Renderer` and is drawn anew only when the view changes; changed seats are stamped
into it at most once in 16 ms (`FLUSH_MS`), however many changes were posted. `paintEvent` blits it and adds the
overlays. Positions are logical px of this widget; the map is never mirrored, whatever the layout direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from time import monotonic

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.seat_map.accessible_tree import SpokenMap
from widgets.seat_map.camera import Camera
from widgets.seat_map.damage import area_of, damaged_region
from widgets.seat_map.overlay_layer import paint_overlays, paint_spotlight
from widgets.seat_map.overlays import Overlays, ring_box
from widgets.seat_map.plan import Bytes, Flags, Indices, SeatMapPlan, empty_plan
from widgets.seat_map.renderer import Level, Stats
from widgets.seat_map.scene import Scene
from widgets.seat_map.texts import SeatMapTexts
from widgets.theme import Theme

FLUSH_MS = 16
SETTLE_MS = 250
COUNT_MS = 250
FRAME_MS = 33
TOUCH_RADIUS_PX = 11.0
_MOST_RECTANGLES = 12  # more are painted as one


class DrawnSeatMap(QWidget):
    """Draws one plan and its changes; what is shown is told by the class over it."""

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
        self._pending: list[tuple[Indices, Bytes]] = []
        self._needs_full = True
        self._seats_differ = True  # some seat looks otherwise than it is drawn
        self._drawn_dpr = 0.0
        self._last_flush_s = 0.0
        self._flush_timer = self._timer(FLUSH_MS, self._flush)
        self._settle_timer = self._timer(SETTLE_MS, self._settle)
        self._count_timer = self._timer(COUNT_MS, self._recount)
        self._labels_timer = self._timer(0, self._catch_up)
        self._motion_timer = self._timer(FRAME_MS, self._move_overlays)
        self.spoken = SpokenMap(self)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

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
    def level(self) -> Level:
        return Level.of(self._seat_px())

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
        slots = np.concatenate([slots for slots, _ in self._pending])
        states = np.concatenate([states for _, states in self._pending])
        self._pending.clear()
        changed = self._scene.states.apply_to_slots(slots, states)
        self._stamp(changed)
        focus = self._overlays.focus
        if focus >= 0 and self._scene.states.slot_of(focus) in changed:
            self.spoken.tell_changed(focus)

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
        stamps = self._scene.partial(slots, self.devicePixelRatioF())
        if not len(stamps.left):
            return
        self.update(damaged_region(stamps, self.rect(), self.devicePixelRatioF()))
        if self._scene.needs_settling:
            self._settle_timer.start()

    def _settle(self) -> None:
        """Once changes rest: draw all, for sprites of this size overlap and their order shows."""
        self._scene.rest()
        self._redraw_later()

    def _recount(self) -> None:
        stale = self._scene.recount()
        if len(stale) > _MOST_RECTANGLES:
            stale = [reduce(QRect.united, stale)]
        for box in stale:
            self.update(box)

    def _change_view(self) -> None:
        self._needs_full = True
        self.update()
        self.view_changed.emit()

    def _redraw_later(self) -> None:
        self._seats_differ = True
        self._needs_full = True
        self.update()

    def _redraw(self, dpr: float) -> None:
        moved = not (self._seats_differ or self._settle_timer.isActive())
        self._settle_timer.stop()
        self._scene.renderer.resize(math.ceil(self.width() * dpr), math.ceil(self.height() * dpr), dpr)
        self._camera.pixel = 1 / dpr
        place = self._scene.redraw(self._camera, dpr, moved=moved)
        self._seats_differ = False
        self._overlays.place = self._texts.write_place(place) if place else ""
        self._needs_full = False
        self._drawn_dpr = dpr
        if self._scene.behind:
            self._labels_timer.start()

    def _catch_up(self) -> None:
        """Between two frames: some of the labels that the last one had no time for."""
        if self._scene.catch_up():
            self.update()
        elif self._scene.behind:
            self._labels_timer.start()

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
            self.update(self._ring_of(seat_no))

    def _ring_of(self, seat_no: int) -> QRect:
        """What every ring of a seat stays in, logical px."""
        return ring_box(self._centre(seat_no), self._seat_px())

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
        self._scene.paint(painter, clip, dpr)
        self._scene.standing.paint(painter, clip, self._camera, self._scene.palette, self._texts.write_places)
        paint_spotlight(painter, self._scene, self._camera, self._overlays, clip, dpr)
        paint_overlays(
            painter, self._scene, self._camera, self._overlays, self.rect(), clip, has_keyboard=self.hasFocus()
        )
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
