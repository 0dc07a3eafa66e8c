"""The map in a person's hands: pointer, wheel, fingers and keys over the view."""

from __future__ import annotations

from time import monotonic

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from widgets.seat_map.gestures import Gesture, Hand, SpaceBar
from widgets.seat_map.key_steps import RowTyping, is_arrow, moves, needs_seat, row_mate, seat_after
from widgets.seat_map.lasso import Lasso, seats_inside
from widgets.seat_map.marked_view import MarkedSeatMap
from widgets.seat_map.navigation import seats_between
from widgets.seat_map.plan import SeatMapPlan
from widgets.seat_map.renderer import Level
from widgets.seat_map.texts import SeatMapTexts
from widgets.seat_map.tip_place import point_for_qt, tip_corner, tip_size
from widgets.theme import Theme

ZOOM_STEP = 1.25


class SeatMapWidget(MarkedSeatMap):
    """The seat map; the package's docstring tells the visual grammar, the gestures and the keys."""

    seat_clicked = Signal(int)
    seats_banded = Signal(object)
    """Seat numbers (ascending int64 array) of a rubber band, lasso or range that this person can pick or has picked."""
    block_chosen = Signal(object)
    """Seat numbers (tuple) of the block that was shown under the pointer or the keyboard, clicked or chosen."""
    seat_hovered = Signal(int)
    """Seat under the pointer, -1 when there is none."""
    seat_activated = Signal(int)
    """Space or Enter on the focused seat."""
    standing_clicked = Signal(str)
    """An area without numbered seats, by its name."""

    count_typed = Signal(int)
    """A digit from 1 to 9."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, texts: SeatMapTexts | None = None) -> None:
        super().__init__(theme, parent, texts=texts)
        self._hand = Hand()
        self._space = SpaceBar()
        self._row_typing = RowTyping()
        self._anchor = -1
        self._lasso = Lasso()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.installEventFilter(self)

    def set_plan(self, plan: SeatMapPlan) -> None:
        self._anchor = -1
        self._hand = Hand()
        super().set_plan(plan)

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
        self.refresh_preview()
        self.seat_hovered.emit(seat_no)

    def _click(self, point: QPointF, *, extends: bool) -> None:
        seat = self.seat_at(point)
        if seat < 0:
            standing = self.standing_at(point)
            if standing:
                self.standing_clicked.emit(standing)
            return
        if extends and self._anchor >= 0:
            self._emit_selectable(np.array(seats_between(self.plan, self._anchor, seat), np.int64))
        elif len(block := tuple(self._block_of(seat))) > 1:
            self.block_chosen.emit(block)
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

    def _reach_lasso(self, point: QPointF) -> None:
        if self._lasso.reach(point.x(), point.y()):
            self._set_lasso(tuple(QPointF(x, y) for x, y in self._lasso.points))

    def _end_lasso(self) -> None:
        loop = self._lasso.close()
        self._set_lasso(())
        camera = self._camera
        in_plan = (loop - np.array(camera.origin)) / camera.scale
        self._emit_selectable(seats_inside(self.plan, self._scene.grid, in_plan))

    def _set_lasso(self, points: tuple[QPointF, ...]) -> None:
        for path in (self._overlays.lasso, points):
            if path:
                self.update(QPolygonF(list(path)).boundingRect().toAlignedRect().adjusted(-3, -3, 3, 3))
        self._overlays.lasso = points

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

    def _step(self, key: int, *, ctrl: bool) -> None:
        at = self._overlays.focus
        if at < 0 and needs_seat(key, ctrl=ctrl):
            self._focus_first()
        else:
            self.focus_seat(seat_after(self.plan, self._scene.grid, at, key, ctrl=ctrl))

    def _type(self, letter: str, *, begins: bool) -> bool:
        """A letter of a row's name, which `begins` with Shift; a digit that goes on with none says how many."""
        if len(letter) != 1 or not letter.isalnum():
            return False
        now_s = monotonic()
        if not self._row_typing.under_way(now_s):
            if letter.isdecimal() and letter != "0":
                self.count_typed.emit(int(letter))
                return True
            if letter == "0" or not begins or not self.plan.seat_count:
                return False
        seat = self._row_typing.type(self.plan, self._overlays.focus, letter, now_s)
        if seat >= 0:
            self.focus_seat(seat)
        return seat >= 0

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
        if len(block := tuple(self._block_of(self._anchor))) > 1:
            self.block_chosen.emit(block)
        else:
            self.seat_activated.emit(self._anchor)

    def _extend(self, key: int) -> bool:
        """Shift and an arrow: one seat on in the row, and pick all from where the range began."""
        at = self._overlays.focus
        if not is_arrow(key) or not self.plan.seat_count:
            return False
        if at < 0:
            self._focus_first()
            return True
        if self._anchor < 0 or self.plan.row_no[self._anchor] != self.plan.row_no[at]:
            self._anchor = at
        to = row_mate(self.plan, at, key)
        self.focus_seat(to)
        self._emit_selectable(np.array(seats_between(self.plan, self._anchor, to), np.int64))
        return True

    def _drag_of(self, keys: Qt.KeyboardModifier) -> Gesture:
        """What a drag with these keys held means."""
        if keys & Qt.KeyboardModifier.ShiftModifier:
            return Gesture.BANDING
        return Gesture.LASSOING if keys & Qt.KeyboardModifier.ControlModifier else Gesture.PANNING

    def _press_key(self, key: int, *, ctrl: bool) -> bool:
        """Do what a key says; False when it says nothing here."""
        if moves(key, ctrl=ctrl) and self.plan.seat_count:
            self._step(key, ctrl=ctrl)
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._activate()
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom_by_steps(1)
        elif key == Qt.Key.Key_Minus:
            self.zoom_by_steps(-1)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_Escape and self._hand.gesture in {Gesture.BANDING, Gesture.LASSOING}:
            self._let_go()
        else:
            return False
        return True

    def _let_go(self) -> None:
        """Whatever the hand was drawing is not meant."""
        self._hand.release()
        self._lasso.close()
        self._set_band(None)
        self._set_lasso(())

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
        point = event.position()
        self._space.dragged |= self._space.held
        self._lasso.begin(point.x(), point.y())
        self._hand.press(
            point.x(), point.y(), drags=self._drag_of(event.modifiers()), pans_only=middle or self._space.held
        )

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        if self._hand.gesture is Gesture.NONE:
            self._hover(self.seat_at(point))
            return
        dx, dy = self._hand.move(point.x(), point.y())
        if self._hand.gesture is Gesture.BANDING:
            left, top, right, bottom = self._hand.band()
            self._set_band(QRectF(left, top, right - left, bottom - top))
        elif self._hand.gesture is Gesture.LASSOING:
            self._reach_lasso(point)
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
        elif ended is Gesture.LASSOING:
            self._end_lasso()

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

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.refresh_preview()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """What is held down now goes up elsewhere, unheard."""
        super().focusOutEvent(event)
        self._space.release()
        self._let_go()
        self.refresh_preview()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = event.modifiers()
        ctrl, shift = bool(held & Qt.KeyboardModifier.ControlModifier), bool(held & Qt.KeyboardModifier.ShiftModifier)
        other = bool(held & (Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier))
        if event.key() == Qt.Key.Key_Space and not ctrl and not other:
            self._space.press(repeated=event.isAutoRepeat())
            return
        typed = not ctrl and not other and self._type(event.text(), begins=shift)
        extended = shift and not ctrl and not other and self._extend(event.key())
        if not (typed or extended or self._press_key(event.key(), ctrl=ctrl)):
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
