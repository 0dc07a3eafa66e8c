"""The map in a person's hands: pointer, wheel, fingers and keys over the view."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QHelpEvent, QKeyEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip, QWidget

from widgets.seat_map.gestures import Gesture, Hand, SpaceBar
from widgets.seat_map.navigation import Step, next_seat, seats_between, section_step
from widgets.seat_map.plan import SeatMapPlan
from widgets.seat_map.renderer import Level
from widgets.seat_map.texts import SeatMapTexts
from widgets.seat_map.tip_place import point_for_qt, tip_corner, tip_size
from widgets.seat_map.view import SeatMapView
from widgets.theme import Theme

ZOOM_STEP = 1.25
_STEPS = {
    Qt.Key.Key_Left: Step.LEFT,
    Qt.Key.Key_Right: Step.RIGHT,
    Qt.Key.Key_Up: Step.UP,
    Qt.Key.Key_Down: Step.DOWN,
}


class SeatMapWidget(SeatMapView):
    """The seat map; the package's docstring tells the visual grammar, the gestures and the keys."""

    seat_clicked = Signal(int)
    seats_banded = Signal(object)
    """Seat numbers (ascending int64 array) of a rubber band or a range that this person can pick or has picked."""
    seat_hovered = Signal(int)
    """Seat under the pointer, -1 when there is none."""
    seat_activated = Signal(int)
    """Space or Enter on the focused seat."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, texts: SeatMapTexts | None = None) -> None:
        super().__init__(theme, parent, texts=texts)
        self._hand = Hand()
        self._space = SpaceBar()
        self._band_mode = False
        self._anchor = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.installEventFilter(self)

    def set_plan(self, plan: SeatMapPlan) -> None:
        self._anchor = -1
        self._hand = Hand()
        super().set_plan(plan)

    def set_band_mode(self, on: bool) -> None:
        """A plain drag draws the rubber band instead of moving the map."""
        self._band_mode = on
        self.setCursor(Qt.CursorShape.CrossCursor if on else Qt.CursorShape.ArrowCursor)

    def zoom_by_steps(self, steps: int) -> None:
        """As keys and buttons do: in (above 0) or out, about the focused seat while that is in view."""
        self.zoom(ZOOM_STEP**steps, self._zoom_centre())

    def _hover(self, seat_no: int) -> None:
        before = self._overlays.hover
        if seat_no == before:
            return
        self._overlays.hover = seat_no
        self._update_ring(before)
        self._update_ring(seat_no)
        self.seat_hovered.emit(seat_no)

    def _click(self, point: QPointF, *, extends: bool) -> None:
        seat = self.seat_at(point)
        if seat < 0:
            return
        if extends and self._anchor >= 0:
            self._emit_selectable(np.array(seats_between(self.plan, self._anchor, seat), np.int64))
        else:
            self.seat_clicked.emit(seat)
        self._anchor = seat
        self._overlays.focus, before = seat, self._overlays.focus
        self._update_ring(before)
        self._update_ring(seat)

    def _end_band(self) -> None:
        left, top, right, bottom = self._hand.band()
        self._set_band(None)
        first, last = self._camera.to_plan(left, top), self._camera.to_plan(right, bottom)
        self._emit_selectable(self._scene.grid.seats_in(*first, *last))

    def _emit_selectable(self, seats: npt.NDArray[np.integer]) -> None:
        if len(seats):
            slots = self._scene.states.slots_of(seats)
            seats = seats[self._scene.states.selectable(slots)]
        if len(seats):
            self.seats_banded.emit(seats.astype(np.int64))

    def _set_band(self, band: QRectF | None) -> None:
        for box in (self._overlays.band, band):
            if box is not None:
                self.update(box.toAlignedRect().adjusted(-3, -3, 3, 3))
        self._overlays.band = band

    def _step(self, step: Step) -> None:
        at = self._overlays.focus
        if at < 0:
            self._focus_first()
        else:
            self.focus_seat(next_seat(self.plan, self._scene.grid, at, step))

    def _focus_first(self) -> None:
        """Put the keyboard on the seat nearest to the middle of the view that can be picked, if there is one."""
        if not self.plan.seat_count:
            return
        view = self._camera.view()
        x, y = (view.left + view.right) / 2, (view.top + view.bottom) / 2
        seats = self._scene.grid.seats_in(view.left, view.top, view.right, view.bottom)
        if len(seats):
            seats = seats[self._scene.states.selectable(self._scene.states.slots_of(seats))]
        if len(seats):
            away = np.hypot(self.plan.x[seats] - x, self.plan.y[seats] - y)
            self.focus_seat(int(seats[int(away.argmin())]))
        else:
            self.focus_seat(self._scene.grid.nearest(x, y, view.width + view.height))

    def _activate(self) -> None:
        """The focused seat; without one, the first key only shows where the keyboard is."""
        if self._overlays.focus < 0:
            self._focus_first()
            return
        self._anchor = self._overlays.focus
        self.seat_activated.emit(self._overlays.focus)

    def _press_key(self, key: int) -> bool:
        """Do what a key says; False when it says nothing here."""
        if key in _STEPS and self.plan.seat_count:
            self._step(_STEPS[Qt.Key(key)])
        elif key in {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown} and self.plan.seat_count:
            self.focus_seat(section_step(self.plan, self._overlays.focus, 1 if key == Qt.Key.Key_PageDown else -1))
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._activate()
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom_by_steps(1)
        elif key == Qt.Key.Key_Minus:
            self.zoom_by_steps(-1)
        elif key in {Qt.Key.Key_0, Qt.Key.Key_Home}:
            self.fit()
        elif key == Qt.Key.Key_Escape and self._hand.gesture is Gesture.BANDING:
            self._hand.release()
            self._set_band(None)
        else:
            return False
        return True

    def _zoom_centre(self) -> QPointF | None:
        """Keys zoom about the focused seat while it is in view."""
        focus = self._overlays.focus
        if focus >= 0 and self.rect().contains(self._centre(focus).toPoint()):
            return self._centre(focus)
        return None

    def _show_tooltip(self, point: QPoint) -> None:
        seat = self.seat_at(QPointF(point))
        text = self._texts.tooltip(seat) if seat >= 0 else ""
        if not text:
            QToolTip.hideText()
            return
        centre = self.mapToGlobal(self._centre(seat).toPoint())
        pitch_px = self._scene.grid.pitch * self._camera.scale
        corner = tip_corner(centre, pitch_px, tip_size(text), self.screen().availableGeometry())
        QToolTip.showText(point_for_qt(corner), text, self, self.seat_rect(seat))

    # ------------------------------------------------------------------ Qt

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.angleDelta().x()
        if turned:
            self.zoom(ZOOM_STEP ** (turned / 120), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        middle = event.button() == Qt.MouseButton.MiddleButton
        if not middle and event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        point = event.position()
        self._space.dragged |= self._space.held
        self._hand.press(point.x(), point.y(), bands=shifted or self._band_mode, pans_only=middle or self._space.held)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        if self._hand.gesture is Gesture.NONE:
            self._hover(self.seat_at(point))
            return
        dx, dy = self._hand.move(point.x(), point.y())
        if self._hand.gesture is Gesture.BANDING:
            left, top, right, bottom = self._hand.band()
            self._set_band(QRectF(left, top, right - left, bottom - top))
        elif (dx or dy) and self._camera.pan(dx, dy):
            self._hover(-1)
            self._change_view()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        ended = self._hand.release()
        if ended is Gesture.PRESSED:
            # Shift and Ctrl extend from the last seat within its row.
            extending = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
            self._click(event.position(), extends=bool(event.modifiers() & extending))
        elif ended is Gesture.BANDING:
            self._end_band()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.level is Level.FAR:
            section = self.section_at(event.position())
            if section >= 0:
                self.show_section(section)
            return
        # The second click of a double click on one seat is not a second wish; on another seat it is.
        if self.seat_at(event.position()) != self._anchor:
            self.mousePressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)
        super().leaveEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self._hover(self.seat_at(event.position()))
        super().enterEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self._space.press(repeated=event.isAutoRepeat())
        elif not self._press_key(event.key()):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Space or event.isAutoRepeat():
            super().keyReleaseEvent(event)
        elif self._space.release():
            self._activate()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tooltips and pinches; a filter on itself, for an error in a handler below an `event` override ends Qt."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_tooltip(event.pos())
            return True
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
                self.zoom(1 + event.value(), event.position())
            return True
        return super().eventFilter(watched, event)
