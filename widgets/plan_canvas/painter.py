"""Draws a hall: its ground and grid, shapes, rows with their labels, seats with numbers and marks, what is chosen."""

from __future__ import annotations

import math

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from widgets.plan_canvas.scene import CanvasRow, CanvasScene, CanvasSeat, CanvasShape, Chosen
from widgets.plan_canvas.view import CanvasView
from widgets.theme import Theme

_NUMBERS_FROM_PX = 8.0
_LABELS_FROM_PX = 4.0
_GRID_FROM_PX = 12.0
_TEXT_LEAST_PX, _TEXT_MOST_PX = 6, 96


class HallPicture:
    """The hall as it was painted last: what a hand does above it costs no painting of seats."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._picture = QPixmap()
        self._painted: tuple[object, ...] = ()

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
            HallPainter(painter, self._theme, scene, view, chosen, size).paint()
            painter.end()
        return self._picture


class HallPainter:
    """Paints one scene through one view."""

    def __init__(
        self, painter: QPainter, theme: Theme, scene: CanvasScene, view: CanvasView, chosen: Chosen, size: QSize
    ) -> None:
        self._painter = painter
        self._theme = theme
        self._scene = scene
        self._view = view
        self._chosen = chosen
        self._size = size

    def paint(self) -> None:
        """Everything, from the ground up."""
        self._paint_hall()
        for shape in self._scene.shapes:
            self._paint_shape(shape)
        window = self._window()
        for row in self._scene.rows:
            self._paint_row(row, window)

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
            painter.setPen(QPen(theme.color("accent"), 2) if is_chosen else Qt.PenStyle.NoPen)
            painter.drawPath(self.outline(shape))
            ink = _ink_on(fill, theme)
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
        size = round(shape.text_size * self._view.scale)
        if size < _TEXT_LEAST_PX:
            return
        font = QFont(self._theme.font("body"))
        font.setPixelSize(min(size, _TEXT_MOST_PX))
        self._painter.setFont(font)
        self._painter.setPen(ink)
        middle = self._view.to_px(*shape.text_at)
        room = QRectF(middle.x() - 2000, middle.y() - size, 4000, 2 * size)
        self._painter.drawText(room, Qt.AlignmentFlag.AlignCenter, shape.text)

    # ------------------------------------------------------------ rows and seats

    def _paint_row(self, row: CanvasRow, window: QRectF) -> None:
        if row.table is not None:
            self._paint_table(row)
        seats = [seat for seat in row.seats if window.contains(QPointF(seat.x, seat.y))]
        for seat in seats:
            self._paint_seat(seat)
        if row.label and row.seats and self._scene.radius * self._view.scale >= _LABELS_FROM_PX:
            self._paint_row_label(row)

    def _paint_table(self, row: CanvasRow) -> None:
        table = row.table
        if table is None:
            return
        painter = self._painter
        painter.save()
        painter.translate(self._view.to_px(table.x, table.y))
        painter.rotate(table.rotation)
        box = QRectF(-table.width / 2, -table.height / 2, table.width, table.height)
        scale = self._view.scale
        box = QRectF(box.x() * scale, box.y() * scale, box.width() * scale, box.height() * scale)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.map_color("area"))
        if table.shape == "circle":
            painter.drawEllipse(box)
        else:
            painter.drawRoundedRect(box, 4, 4)
        painter.restore()

    def _paint_seat(self, seat: CanvasSeat) -> None:
        theme, painter = self._theme, self._painter
        radius = max(self._scene.radius * self._view.scale, 1.5)
        middle = self._view.to_px(seat.x, seat.y)
        has_color = QColor.isValidColorName(seat.color)
        fill = QColor(seat.color) if has_color else theme.map_color("bed")
        painter.setBrush(QBrush(fill))
        edge = QPen(theme.map_color("sold_ink"), 1.2, Qt.PenStyle.SolidLine if has_color else Qt.PenStyle.DashLine)
        if has_color and theme.is_dark:
            edge = QPen(theme.map_color("label_muted"), 0.9)  # dark categories would sink into a dark ground
        painter.setPen(Qt.PenStyle.NoPen if has_color and not theme.is_dark else edge)
        if seat.marks & 1:
            painter.drawRoundedRect(QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius), 3, 3)
        else:
            painter.drawEllipse(middle, radius, radius)
        self._paint_marks(seat, middle, radius, fill)
        if self._chosen.has_seat(self._scene, seat):
            painter.setPen(QPen(theme.map_color("mine_halo"), 4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(middle, radius + 1.5, radius + 1.5)
            painter.setPen(QPen(theme.map_color("mine"), 1.5))
            painter.drawEllipse(middle, radius + 1.5, radius + 1.5)
        if seat.key in self._scene.wrong:
            painter.setPen(QPen(theme.map_color("lost"), 2, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(middle, radius + 4.5, radius + 4.5)

    def _paint_marks(self, seat: CanvasSeat, middle: QPointF, radius: float, fill: QColor) -> None:
        """Accessible: a square with a bar at the foot; companion: a ring inside; restricted view: a slash."""
        painter, ink = self._painter, _ink_on(fill, self._theme)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(ink, max(radius / 7, 1.0)))
        if seat.marks & 1:
            foot = middle.y() + radius * 0.72
            painter.drawLine(QPointF(middle.x() - radius * 0.6, foot), QPointF(middle.x() + radius * 0.6, foot))
        if seat.marks & 2:
            painter.drawEllipse(middle, radius * 0.8, radius * 0.8)
        if seat.marks & 4:
            reach = radius * 0.72
            painter.drawLine(middle + QPointF(-reach, reach), middle + QPointF(reach, -reach))
        if radius >= _NUMBERS_FROM_PX and seat.number:
            font = QFont(self._theme.font("caption"))
            font.setPixelSize(max(6, round(radius * (0.95 if len(seat.number) < 3 else 0.7))))
            painter.setFont(font)
            painter.setPen(ink)
            box = QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, seat.number)

    def _paint_row_label(self, row: CanvasRow) -> None:
        """At the ends that the plan names; a row without a place for its label shows it at its start."""
        painter = self._painter
        font = QFont(self._theme.font("caption", bold=True))
        font.setPixelSize(min(max(round(self._scene.radius * self._view.scale * 1.1), 8), 20))
        painter.setFont(font)
        is_chosen = row.key in self._chosen.rows
        painter.setPen(self._theme.color("accent_text") if is_chosen else self._theme.map_color("label_muted"))
        wanted = row.label_position or "start"
        if wanted in {"start", "both"}:
            self._label_at(row, row.seats[0], row.seats[1] if len(row.seats) > 1 else None)
        if wanted in {"end", "both"}:
            self._label_at(row, row.seats[-1], row.seats[-2] if len(row.seats) > 1 else None)

    def _label_at(self, row: CanvasRow, end: CanvasSeat, inner: CanvasSeat | None) -> None:
        away = QPointF(-1.0, 0.0)
        if inner is not None:
            length = math.hypot(end.x - inner.x, end.y - inner.y) or 1.0
            away = QPointF((end.x - inner.x) / length, (end.y - inner.y) / length)
        half = self._painter.fontMetrics().horizontalAdvance(row.label) / 2 + 4
        reach = self._scene.radius * self._view.scale + 6 + abs(away.x()) * half + abs(away.y()) * 8
        middle = self._view.to_px(end.x, end.y) + away * reach
        room = QRectF(middle.x() - half - 20, middle.y() - 14, 2 * half + 40, 28)
        self._painter.drawText(room, Qt.AlignmentFlag.AlignCenter, row.label)


def _ink_on(fill: QColor, theme: Theme) -> QColor:
    """The ink that can be read on a colour."""
    light = 0.299 * fill.redF() + 0.587 * fill.greenF() + 0.114 * fill.blueF()
    return theme.map_color("seat_dark_ink" if light > 0.56 else "seat_light_ink")
