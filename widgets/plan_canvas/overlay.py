"""What is drawn above the hall while a hand works: handles of what is chosen, the preview of a gesture, guide lines."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from widgets.plan_canvas.gestures import Doing, Gesture, shaped_by, sized_by
from widgets.plan_canvas.painter import HallPainter
from widgets.plan_canvas.picking import Grip, box_rect, handle_px, handles_of
from widgets.plan_canvas.scene import CanvasScene, Chosen
from widgets.plan_canvas.view import CanvasView
from widgets.theme import Theme

_HANDLE_PX = 6.0
_SEATS_PREVIEWED = 1_500
"""Of more the preview of a move shows the boxes of their rows."""


class Overlay:
    """Paints over one scene through one view."""

    def __init__(self, painter: QPainter, theme: Theme, scene: CanvasScene, view: CanvasView, chosen: Chosen) -> None:
        self._painter = painter
        self._theme = theme
        self._scene = scene
        self._view = view
        self._chosen = chosen

    def paint_handles(self, lift_px: float) -> None:
        """The handles of the one row or shape that is chosen."""
        for handle in handles_of(self._scene, self._chosen):
            place = handle_px(self._scene, handle, self._view, lift_px)
            self._painter.setPen(QPen(self._theme.color("accent"), 2))
            self._painter.setBrush(self._theme.color("surface"))
            if handle.grip is Grip.MIDDLE:
                self._painter.drawEllipse(place, _HANDLE_PX, _HANDLE_PX)
            else:
                corner = QPointF(_HANDLE_PX, _HANDLE_PX)
                self._painter.drawRoundedRect(QRectF(place - corner, place + corner), 2, 2)

    def paint_gesture(self, gesture: Gesture, *, as_line: bool) -> None:
        """What would come of the gesture if it ended here; `as_line`: a row is being drawn."""
        painter, accent = self._painter, self._theme.color("accent")
        self._paint_guides(gesture)
        painter.setPen(QPen(accent, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if gesture.doing is Doing.MOVE:
            self._paint_moved(gesture)
        elif gesture.doing is Doing.GRIP:
            self._paint_grip(gesture)
        elif gesture.doing is Doing.DRAW and as_line:
            painter.drawLine(self._view.to_px(*gesture.start), self._view.to_px(*gesture.at))
        elif gesture.doing in {Doing.BAND, Doing.DRAW}:
            soft = QColor(accent)
            soft.setAlphaF(0.14)
            painter.setBrush(soft)
            painter.drawRect(QRectF(self._view.to_px(*gesture.start), self._view.to_px(*gesture.at)).normalized())

    def _paint_guides(self, gesture: Gesture) -> None:
        if gesture.snapped is None:
            return
        window = self._painter.window()
        self._painter.setPen(QPen(self._theme.map_color("lost"), 1, Qt.PenStyle.DashLine))
        if gesture.snapped.upright is not None:
            x = self._view.to_px(gesture.snapped.upright, 0).x()
            self._painter.drawLine(QPointF(x, 0), QPointF(x, window.height()))
        if gesture.snapped.level is not None:
            y = self._view.to_px(0, gesture.snapped.level).y()
            self._painter.drawLine(QPointF(0, y), QPointF(window.width(), y))

    def _paint_moved(self, gesture: Gesture) -> None:
        dx, dy = gesture.moved
        radius = self._scene.radius * self._view.scale
        moved = [(row, places) for row in self._scene.rows if (places := self._chosen.places_in(row))]
        if sum(len(places) for _row, places in moved) > _SEATS_PREVIEWED:
            for row, _places in moved:
                box = box_rect(row.box).translated(dx, dy)
                self._painter.drawRect(
                    QRectF(self._view.to_px(box.left(), box.top()), self._view.to_px(box.right(), box.bottom()))
                )
            moved = []
        for row, places in moved:
            for seat in (row.seats[place] for place in places):
                self._painter.drawEllipse(self._view.to_px(seat.x + dx, seat.y + dy), radius, radius)
        outlines = HallPainter(self._painter, self._theme, self._scene, self._view, self._chosen, QSize(), {})
        for picture in self._scene.pictures:
            if picture.key in self._chosen.shapes:
                corner = self._view.to_px(picture.x + dx, picture.y + dy)
                scale = self._view.scale
                self._painter.drawRect(QRectF(corner.x(), corner.y(), picture.width * scale, picture.height * scale))
        for shape in self._scene.shapes:
            if shape.key in self._chosen.shapes:
                outline = outlines.outline(shape).translated(dx * self._view.scale, dy * self._view.scale)
                self._painter.drawPath(outline)

    def _paint_grip(self, gesture: Gesture) -> None:
        shaped, size = shaped_by(self._scene, gesture), sized_by(self._scene, gesture)
        box = None if gesture.handle is None else self._scene.box_of(gesture.handle.key)
        if shaped is not None:
            start, end = self._view.to_px(*shaped.start), self._view.to_px(*shaped.end)
            top = self._view.to_px(*shaped.middle)
            path = QPainterPath(start)
            path.quadTo(top * 2 - (start + end) / 2, end)
            self._painter.drawPath(path)
        elif size is not None and box is not None:
            corner, scale = self._view.to_px(box[0], box[1]), self._view.scale
            self._painter.drawRect(QRectF(corner.x(), corner.y(), size[0] * scale, size[1] * scale))
