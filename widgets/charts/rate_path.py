"""A small curve of what would come: from now to the end of a preview, with the values at both ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.charts.polylines import polygon_of
from widgets.charts.scale import round_up
from widgets.theme import Theme

_HEIGHT_PX = 84
_SIDE_PX = 64


class RatePath(QWidget):
    """Dumb: told points (s from now, value) and the words at both ends."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._points: tuple[tuple[float, float], ...] = ()
        self._words = ("", "")
        self._write: Callable[[float], str] = str
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_path(
        self, points: Sequence[tuple[float, float]], now: str, then: str, write: Callable[[float], str]
    ) -> None:
        """Show these points; time runs from left to right."""
        self._points, self._words, self._write = tuple(points), (now, then), write
        if points:
            self.setAccessibleName(f"{now}: {write(points[0][1])}, {then}: {write(points[-1][1])}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, _HEIGHT_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if len(self._points) < 2:
            return
        theme, painter = self._theme, QPainter(self)
        painter.setFont(theme.font("caption"))
        height = painter.fontMetrics().height()
        plot = QRectF(_SIDE_PX, height / 2, self.width() - 2 * _SIDE_PX, self.height() - 1.5 * height - 4)
        points = np.array(self._points)
        top = round_up(float(points[:, 1].max())) or 1.0
        x = plot.left() + points[:, 0] / max(points[-1, 0], 1e-9) * plot.width()
        y = plot.bottom() - points[:, 1] / top * plot.height()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("border_strong"), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.drawPolyline(polygon_of(x, y))
        painter.setBrush(theme.color("accent"))
        for place in (0, -1):
            painter.drawEllipse(QPointF(x[place], y[place]), 3, 3)
        painter.setPen(theme.color("text"))
        sides = ((0, 0.0, Qt.AlignmentFlag.AlignRight), (-1, plot.right() + 8, Qt.AlignmentFlag.AlignLeft))
        for place, left, side in sides:
            box = QRectF(left, y[place] - height / 2, _SIDE_PX - 8, height)
            painter.drawText(box, side | Qt.AlignmentFlag.AlignAbsolute, self._write(float(points[place, 1])))
        painter.setPen(theme.color("text_muted"))
        foot = QRectF(plot.left(), self.height() - height, plot.width(), height)
        for words, side in zip(self._words, (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight), strict=True):
            painter.drawText(foot, side | Qt.AlignmentFlag.AlignAbsolute, words)
        painter.end()
