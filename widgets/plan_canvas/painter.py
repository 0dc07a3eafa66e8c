"""Draws a hall: its ground and grid, pictures, shapes, where people look; rows and seats are `seat_painter`'s."""

from __future__ import annotations

import math
from base64 import b64decode
from binascii import Error as Base64Error

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from widgets.plan_canvas.scene import CanvasFocus, CanvasPicture, CanvasScene, CanvasShape, Chosen
from widgets.plan_canvas.seat_painter import SeatPainter, ink_on
from widgets.plan_canvas.view import CanvasView
from widgets.theme import Theme

_GRID_FROM_PX = 12.0
_FOCUS_PX, _FOCUS_ARM_PX = (22.0, 15.0), 8.0
_HALO_PX = 4.0
_TEXT_LEAST_PX, _TEXT_MOST_PX = 6, 96


class HallPicture:
    """The hall as it was painted last: what a hand does above it costs no painting of seats."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._picture = QPixmap()
        self._painted: tuple[object, ...] = (None,)
        self._pictures: dict[str, QPixmap] = {}

    def of(self, scene: CanvasScene, view: CanvasView, chosen: Chosen, size: QSize, ratio: float) -> QPixmap:
        """The picture of this scene; painted anew only when something of it is another than before."""
        wanted = (view.scale, view.left, view.top, chosen, size.width(), size.height(), ratio)
        if self._painted[1:] != wanted or self._painted[0] is not scene:
            self._painted = (scene, *wanted)
            self._picture = QPixmap(size * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(self._theme.map_color("ground"))
            painter = QPainter(self._picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            try:
                HallPainter(painter, self._theme, scene, view, chosen, size, self._decoded(scene)).paint(ratio)
            finally:
                painter.end()  # a picture that is let go while it is painted on ends the process
        return self._picture

    def _decoded(self, scene: CanvasScene) -> dict[str, QPixmap]:
        """The pictures under the drawing, each decoded once; one that cannot be is empty, and shows as its frame."""
        self._pictures = {
            picture.image: self._pictures.get(picture.image) or _pixmap_of(picture.image) for picture in scene.pictures
        }
        return self._pictures


def _pixmap_of(image: str) -> QPixmap:
    made = QPixmap()
    try:
        made.loadFromData(b64decode(image))
    except (Base64Error, ValueError):
        return made
    return made


class HallPainter:
    """Paints one scene through one view."""

    def __init__(
        self,
        painter: QPainter,
        theme: Theme,
        scene: CanvasScene,
        view: CanvasView,
        chosen: Chosen,
        size: QSize,
        pictures: dict[str, QPixmap],
    ) -> None:
        self._painter = painter
        self._theme = theme
        self._scene = scene
        self._view = view
        self._chosen = chosen
        self._size = size
        self._pictures = pictures

    def paint(self, ratio: float) -> None:
        """Everything, from the ground up; `ratio` is device pixels to a pixel."""
        self._paint_hall()
        for picture in self._scene.pictures:
            self._paint_picture(picture)
        for shape in self._scene.shapes:
            self._paint_shape(shape)
        seats = SeatPainter(self._painter, self._theme, self._scene, self._view, self._chosen, ratio)
        seats.paint(self._window())
        if self._scene.focus is not None:
            self._paint_focus(self._scene.focus)

    def _window(self) -> QRectF:
        """The part of the plan that is in view, with the width of a seat around it."""
        edge = 2 * self._scene.radius
        corner = self._view.to_plan(QPointF(0, 0))
        return QRectF(
            corner.x(), corner.y(), self._size.width() / self._view.scale, self._size.height() / self._view.scale
        ).adjusted(-edge, -edge, edge, edge)

    def _box(self, left: float, top: float, width: float, height: float) -> QRectF:
        corner = self._view.to_px(left, top)
        return QRectF(corner.x(), corner.y(), width * self._view.scale, height * self._view.scale)

    def _paint_hall(self) -> None:
        theme, painter = self._theme, self._painter
        hall = self._box(0, 0, self._scene.width, self._scene.height)
        painter.setPen(QPen(theme.map_color("bed_edge"), 1))
        painter.setBrush(theme.map_color("bed"))
        painter.drawRoundedRect(hall, 6, 6)
        step = self._scene.grid * 4
        while step * self._view.scale < _GRID_FROM_PX:
            step *= 5
        ink = QColor(theme.map_color("bed_edge"))
        ink.setAlphaF(0.45)
        painter.setPen(QPen(ink, 1))
        lines = [
            QLineF(self._view.to_px(step * n, 0), self._view.to_px(step * n, self._scene.height))
            for n in range(1, math.ceil(self._scene.width / step))
        ]
        lines += [
            QLineF(self._view.to_px(0, step * n), self._view.to_px(self._scene.width, step * n))
            for n in range(1, math.ceil(self._scene.height / step))
        ]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawLines(lines)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def _paint_picture(self, picture: CanvasPicture) -> None:
        painter, box = self._painter, self._box(picture.x, picture.y, picture.width, picture.height)
        pixmap = self._pictures.get(picture.image, QPixmap())
        is_chosen = picture.key in self._chosen.shapes
        if not pixmap.isNull():
            painter.save()
            painter.setOpacity(picture.opacity)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(box, pixmap, QRectF(pixmap.rect()))
            painter.restore()
        if is_chosen or pixmap.isNull():
            color = self._theme.color("accent") if is_chosen else self._theme.map_color("bed_edge")
            painter.setPen(QPen(color, 2, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box)

    def _paint_focus(self, focus: CanvasFocus) -> None:
        """Corners about the point where people look, and about a word that stands there. Dashed while it is derived."""
        painter, middle = self._painter, self._view.to_px(focus.x, focus.y)
        room = self._room_of_words(middle)
        style = Qt.PenStyle.DashLine if focus.is_derived else Qt.PenStyle.SolidLine
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in ((self._theme.map_color("ground"), _HALO_PX), (self._theme.map_color("lost"), 2.0)):
            painter.setPen(QPen(color, width, style if width < _HALO_PX else Qt.PenStyle.SolidLine))
            for right, down in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                corner = middle + QPointF(right * room.width(), down * room.height())
                painter.drawLine(corner, corner - QPointF(right * _FOCUS_ARM_PX, 0))
                painter.drawLine(corner, corner - QPointF(0, down * _FOCUS_ARM_PX))

    def _room_of_words(self, middle: QPointF) -> QSizeF:
        """How far the corners about a point stand from it in px: so that no word is crossed out."""
        room = QSizeF(*_FOCUS_PX)
        for shape in self._scene.shapes:
            away = self._view.to_px(*shape.text_at) - middle
            font = self._text_font(shape) if shape.text else None
            if font is None or abs(away.y()) > font.pixelSize():
                continue
            half = QFontMetricsF(font).horizontalAdvance(shape.text) / 2
            if abs(away.x()) <= half:
                wide = half + abs(away.x()) + _FOCUS_ARM_PX
                room = room.expandedTo(QSizeF(wide, abs(away.y()) + font.pixelSize() * 0.7))
        return room

    # ------------------------------------------------------------ shapes

    def _paint_shape(self, shape: CanvasShape) -> None:
        theme, painter = self._theme, self._painter
        is_chosen = shape.key in self._chosen.shapes
        painter.save()
        if shape.rotation:
            pivot = self._view.to_px(shape.x, shape.y)
            painter.translate(pivot)
            painter.rotate(shape.rotation)
            painter.translate(-pivot)
        if shape.shape != "text":
            fill = QColor(shape.color) if QColor.isValidColorName(shape.color) else theme.map_color("area")
            painter.setBrush(fill)
            edge: QPen | Qt.PenStyle = Qt.PenStyle.NoPen
            if shape.is_standing:
                edge = QPen(theme.map_color("label_muted"), 1.5, Qt.PenStyle.DashLine)
            painter.setPen(QPen(theme.color("accent"), 2) if is_chosen else edge)
            painter.drawPath(self.outline(shape))
            ink = ink_on(fill, theme)
        else:
            ink = theme.map_color("label")
        if shape.text:
            self._paint_text(shape, ink)
        painter.restore()
        if is_chosen and shape.shape == "text":
            left, top, right, bottom = shape.bounds
            painter.setPen(QPen(theme.color("accent"), 1.5, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self._box(left, top, right - left, bottom - top).adjusted(-4, -3, 4, 3))

    def outline(self, shape: CanvasShape) -> QPainterPath:
        """The shape in pixels, before its rotation."""
        path = QPainterPath()
        if shape.shape == "polygon":
            path.addPolygon(QPolygonF([self._view.to_px(x, y) for x, y in shape.points]))
            path.closeSubpath()
        elif shape.shape in {"circle", "ellipse"}:
            left, top = shape.x - shape.width / 2, shape.y - shape.height / 2
            path.addEllipse(self._box(left, top, shape.width, shape.height))
        else:
            path.addRoundedRect(self._box(shape.x, shape.y, shape.width, shape.height), 4, 4)
        return path

    def _paint_text(self, shape: CanvasShape, ink: QColor) -> None:
        font = self._text_font(shape)
        if font is None:
            return
        size = font.pixelSize()
        self._painter.setFont(font)
        self._painter.setPen(ink)
        middle = self._view.to_px(*shape.text_at)
        room = QRectF(middle.x() - 2000, middle.y() - size, 4000, 2 * size)
        self._painter.drawText(room, Qt.AlignmentFlag.AlignCenter, shape.text)

    def _text_font(self, shape: CanvasShape) -> QFont | None:
        """The font of a shape's words; None where they would be too small to be read."""
        size = round(shape.text_size * self._view.scale)
        if size < _TEXT_LEAST_PX:
            return None
        font = QFont(self._theme.font("body"))
        font.setPixelSize(min(size, _TEXT_MOST_PX))
        return font
