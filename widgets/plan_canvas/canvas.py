"""The canvas itself: shows a scene, turns the mouse and the keyboard into wishes. See the package."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.plan_canvas.gestures import Doing, Gesture, led, shaped_by, sized_by
from widgets.plan_canvas.overlay import Overlay
from widgets.plan_canvas.painter import HallPicture
from widgets.plan_canvas.picking import (
    Grip,
    anchor_of,
    bounds_of,
    chosen_in,
    handle_at,
    handle_px,
    handles_of,
    thing_at,
)
from widgets.plan_canvas.scene import CanvasScene, Chosen, Place
from widgets.plan_canvas.snapping import Guides
from widgets.plan_canvas.stepping import spoken, step_seat, step_thing
from widgets.plan_canvas.tools import AT_A_POINT, FIRST_HEIGHTS, Tool
from widgets.plan_canvas.view import CanvasView
from widgets.theme import Theme

_ZOOM_STEP = 1.25
_ARROWS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, -1.0),
    Qt.Key.Key_Down: (0.0, 1.0),
}
_FIRST_SHARE = 0.3


class PlanCanvas(QWidget):
    """See the package."""

    chosen_changed = Signal(object)
    """A `Chosen`."""
    move_requested = Signal(float, float)
    row_shaped = Signal(int, object, object, float)
    """Row, both ends and the bend."""
    shape_resized = Signal(int, float, float)
    """Shape, picture, or row of a table; width and height."""
    drawn = Signal(object, float, float, float, float)
    """A tool and where it was drawn: both ends of a row, else two corners; twice the same point where a click was."""
    tool_changed = Signal(object)
    inspect_requested = Signal()
    removal_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.scene = CanvasScene(800, 600, 8)
        self.chosen = Chosen()
        self.view = CanvasView()
        self.tool = Tool.CHOOSE
        self.tool_keys: dict[str, Tool] = {}
        """Letters that take a tool in hand."""
        self._gesture: Gesture | None = None
        self._is_fitted = False
        self._hall = HallPicture(theme)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(220, 160)

    # ------------------------------------------------------------ what is shown

    def show_scene(self, scene: CanvasScene, chosen: Chosen) -> None:
        """Draw this; a gesture that is under way is given up when its things are gone."""
        hall_changed = (scene.width, scene.height) != (self.scene.width, self.scene.height)
        self.scene, told = scene, chosen != self.chosen
        self.chosen = chosen
        if hall_changed or not self._is_fitted:
            self.fit()
        if told:
            self._speak()
        self.update()

    def set_tool(self, tool: Tool) -> None:
        """What the next gesture does."""
        if tool is not self.tool:
            self.tool = tool
            self._gesture = None
            self.setCursor(Qt.CursorShape.ArrowCursor if tool is Tool.CHOOSE else Qt.CursorShape.CrossCursor)
            self.tool_changed.emit(tool)
            self.update()

    def fit(self) -> None:
        """Show the whole hall."""
        self.view.fit(self.width(), self.height(), self._everything())
        self._is_fitted = self.isVisible()
        self.update()

    def zoom_in(self) -> None:
        """Nearer, about the middle."""
        self._zoom(_ZOOM_STEP, QPointF(self.width() / 2, self.height() / 2))

    def zoom_out(self) -> None:
        """Farther, about the middle."""
        self._zoom(1 / _ZOOM_STEP, QPointF(self.width() / 2, self.height() / 2))

    def reveal(self) -> None:
        """Bring what is chosen into view."""
        box = bounds_of(self.scene, self.chosen)
        if not box.isNull():
            self.view.show(box, self.width(), self.height())
            self.update()

    def show_place(self, x: float, y: float) -> None:
        """Bring a place of the plan into view."""
        reach = 4 * self.scene.radius
        self.view.show(QRectF(x - reach, y - reach, 2 * reach, 2 * reach), self.width(), self.height())
        self.update()

    def take_view_of(self, other: PlanCanvas) -> None:
        """Go on with the part of the plan that another canvas showed."""
        self.view = copy(other.view)
        self.view.resize(self.width(), self.height())
        self._is_fitted = other._is_fitted

    def seat_px(self, key: str) -> QPointF:
        """Where a seat is drawn."""
        seat = self.scene.seat_of_key[key]
        return self.view.to_px(seat.x, seat.y)

    def handle_px(self, grip: Grip) -> QPointF | None:
        """Where a handle of what is chosen is drawn; None when there is no such handle."""
        for handle in handles_of(self.scene, self.chosen):
            if handle.grip is grip:
                return handle_px(self.scene, handle, self.view, self._lift_px)
        return None

    def _everything(self) -> QRectF:
        hall = QRectF(0, 0, self.scene.width, self.scene.height)
        everything = Chosen(
            frozenset(row.key for row in self.scene.rows),
            shapes=frozenset(thing.key for thing in self.scene.laid),
        )
        return hall.united(bounds_of(self.scene, everything))

    @property
    def _lift_px(self) -> float:
        """How far handles stand from their seats."""
        return self.scene.radius * self.view.scale + 30.0

    def _zoom(self, factor: float, at: QPointF) -> None:
        self.view.zoom(factor, at)
        self.update()

    def _choose(self, chosen: Chosen, *, reveal: bool = False) -> None:
        if chosen != self.chosen:
            self.chosen = chosen
            self._speak()
            self.chosen_changed.emit(chosen)
        if reveal:
            self.reveal()
        self.update()

    def _speak(self) -> None:
        self.setAccessibleDescription(spoken(self.scene, self.chosen))
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    # ------------------------------------------------------------ the mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        place = self._place(at)
        if event.button() is Qt.MouseButton.MiddleButton:
            self._gesture = Gesture(Doing.PAN, at, place, place)
        elif event.button() is Qt.MouseButton.LeftButton:
            self._begin(at, place, event.modifiers())
        event.accept()

    def _begin(self, at: QPointF, place: Place, modifiers: Qt.KeyboardModifier) -> None:
        adds = bool(modifiers & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier))
        if self.tool is not Tool.CHOOSE:
            snapped = Guides.of(self.scene, Chosen()).snap(*place, self.view.scale)
            start = snapped.x, snapped.y
            self._gesture = Gesture(Doing.DRAW, at, start, start, guides=Guides.of(self.scene, Chosen()))
            return
        handle = handle_at(self.scene, self.chosen, self.view, at, self._lift_px)
        if handle is not None:
            guides = Guides.of(self.scene, self.chosen)
            self._gesture = Gesture(Doing.GRIP, at, place, place, handle=handle, guides=guides)
            return
        alone = bool(modifiers & Qt.KeyboardModifier.AltModifier)
        under = thing_at(self.scene, self.chosen, self.view, at, alone=alone)
        if not under:
            self._gesture = Gesture(Doing.BAND, at, place, place, self.chosen if adds else Chosen(), adds=adds)
            return
        if adds:
            self._choose(self.chosen.toggled(under))
        elif not self.chosen.has_all(under):
            self._choose(under)
        self._gesture = Gesture(Doing.PRESS, at, place, place, under)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        gesture, at = self._gesture, event.position()
        if gesture is None:
            handle = handle_at(self.scene, self.chosen, self.view, at, self._lift_px)
            if self.tool is Tool.CHOOSE:
                self.setCursor(Qt.CursorShape.ArrowCursor if handle is None else Qt.CursorShape.SizeAllCursor)
            return
        if gesture.doing is Doing.PAN:
            self.view.pan(at.x() - gesture.start_px.x(), at.y() - gesture.start_px.y())
            self._gesture = replace(gesture, start_px=at)
            self.update()
            return
        if gesture.doing is Doing.PRESS and gesture.has_begun(at):
            guides = Guides.of(self.scene, self.chosen)
            gesture = replace(gesture, doing=Doing.MOVE, guides=guides, anchor=anchor_of(self.scene, self.chosen))
        free = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        self._gesture = led(gesture, self._place(at), self.view.scale, free=free)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            self._end(gesture, event.position())
        self.update()
        event.accept()

    def _end(self, gesture: Gesture, at: QPointF) -> None:
        if gesture.doing is Doing.MOVE and gesture.moved != (0.0, 0.0):
            self.move_requested.emit(*gesture.moved)
        elif gesture.doing is Doing.BAND:
            found = chosen_in(self.scene, gesture.frame) if gesture.has_begun(at) else Chosen()
            self._choose(gesture.chosen.with_all(found))
        elif gesture.doing is Doing.GRIP and gesture.has_begun(at):
            self._end_grip(gesture)
        elif gesture.doing is Doing.DRAW and (gesture.has_begun(at) or self.tool in AT_A_POINT):
            tool = self.tool
            self.set_tool(Tool.CHOOSE)
            self.drawn.emit(tool, *gesture.start, *gesture.at)

    def _end_grip(self, gesture: Gesture) -> None:
        handle = gesture.handle
        shaped = shaped_by(self.scene, gesture)
        if handle is not None and shaped is not None:
            self.row_shaped.emit(handle.key, shaped.start, shaped.end, shaped.bend)
        size = sized_by(self.scene, gesture)
        if handle is not None and shaped is None and size is not None:
            self.shape_resized.emit(handle.key, *size)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """On a row: the one seat under the pointer; elsewhere on a thing: its words at the side."""
        under = thing_at(self.scene, self.chosen, self.view, event.position(), alone=True)
        if self.tool is Tool.CHOOSE and under:
            self._choose(under)
            if under.shapes:
                self.inspect_requested.emit()
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._zoom(_ZOOM_STEP ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.accept()

    def _place(self, at: QPointF) -> Place:
        place = self.view.to_plan(at)
        return place.x(), place.y()

    # ------------------------------------------------------------ the keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ARROWS:
            self._press_arrow(_ARROWS[Qt.Key(event.key())], event.modifiers())
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._press_enter()
        elif event.key() == Qt.Key.Key_Escape and (self._gesture or self.tool is not Tool.CHOOSE or self.chosen):
            self._press_escape()
        elif event.key() in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.removal_requested.emit()
        elif event.text() in {"+", "="}:
            self.zoom_in()
        elif event.text() in {"-", "\u2212"}:
            self.zoom_out()
        elif event.text() == "0":
            self.fit()
        elif event.text().upper() in self.tool_keys:
            self.set_tool(self.tool_keys[event.text().upper()])
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def _press_arrow(self, way: Place, modifiers: Qt.KeyboardModifier) -> None:
        extend = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            step = 1.0 if extend else self.scene.grid
            if self.chosen:
                self.move_requested.emit(way[0] * step, way[1] * step)
        elif way[0]:
            self._choose(step_seat(self.scene, self.chosen, int(way[0]), extend=extend), reveal=True)
        else:
            self._choose(step_thing(self.scene, self.chosen, int(way[1]), extend=extend), reveal=True)

    def _press_enter(self) -> None:
        """With a tool: draw what it draws in the middle of the view; else go to the words of what is chosen."""
        if self.tool is Tool.CHOOSE:
            self.inspect_requested.emit()
            return
        tool = self.tool
        self.set_tool(Tool.CHOOSE)
        middle = self.view.to_plan(QPointF(self.width() / 2, self.height() / 2))
        snapped = Guides((), (), self.scene.grid).snap(middle.x(), middle.y(), self.view.scale)
        half_x = 0.0 if tool in AT_A_POINT else self.scene.width * _FIRST_SHARE / 2
        half_y = self.scene.height * FIRST_HEIGHTS.get(tool, 0.0)
        self.drawn.emit(tool, snapped.x - half_x, snapped.y - half_y, snapped.x + half_x, snapped.y + half_y)

    def _press_escape(self) -> None:
        """The gesture, else the tool, else the choice."""
        if self._gesture is not None:
            self._gesture = None
        elif self.tool is not Tool.CHOOSE:
            self.set_tool(Tool.CHOOSE)
        else:
            self._choose(Chosen())
        self.update()

    # ------------------------------------------------------------ painting

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.drawPixmap(
            0, 0, self._hall.of(self.scene, self.view, self.chosen, self.size(), self.devicePixelRatioF())
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        overlay = Overlay(painter, self._theme, self.scene, self.view, self.chosen)
        if self._gesture is None:
            overlay.paint_handles(self._lift_px)
        else:
            overlay.paint_gesture(self._gesture, as_line=self.tool is Tool.ROW)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("focus"), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def sizeHint(self) -> QSize:
        return QSize(600, 420)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.view.follows:
            self.fit()
        else:
            self.view.resize(self.width(), self.height())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Arrows, Enter and Escape are the canvas's own while it has something to do with them."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            own = {Qt.Key.Key_Delete, Qt.Key.Key_Backspace, *_ARROWS}
            busy = bool(self._gesture or self.tool is not Tool.CHOOSE or self.chosen)
            if event.key() in own or (event.key() == Qt.Key.Key_Escape and busy):
                event.accept()
                return True
        return super().event(event)
